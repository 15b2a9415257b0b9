/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Says what this machine and this user's rights allow, and what to do about the rest. */
#include "perf/probe.h"
#include "tools/common/tool.h"

#include <stdio.h>

static bool verbose, json;

static const struct opt opts[] = { { 'v', "verbose", OPT_FLAG, &verbose, NULL,
				     "say what each line is good for" },
				   { 0, "json", OPT_FLAG, &json, NULL, "print JSON" },
				   OPT_END };

static const struct opt_cmdline cmdline = {
	.tool = "op-check-perfevents",
	.usage = "[OPTION]...",
	.summary = "Say what can be profiled here, and what to do about the rest. Exits 0 where "
		   "own processes, at least, can be profiled.",
	.opts = opts,
};

int main(int argc, char **argv)
{
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;
	int operands = tool_options(&cmdline, argc, argv);
	bool usable;

	if (operands < argc)
		return tool_usage("there is nothing to do with '%s'", argv[operands]);
	usable = json ? probe_report_json("", &out) : probe_report("", verbose, &out);
	(void)fputs(strbuf_text(&out), stdout);
	return tool_finish(usable ? 0 : TOOL_FAILURE);
}
