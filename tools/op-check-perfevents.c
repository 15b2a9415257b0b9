/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows what can be profiled on this machine with this user's rights, and how to enable the
 * rest. */
#include "perf/probe.h"
#include "tools/common/tool.h"

#include <stdio.h>

static bool verbose, json;

static const struct opt opts[] = { { 'v', "verbose", OPT_FLAG, &verbose, NULL,
				     "explain what each facility is for" },
				   { 0, "json", OPT_FLAG, &json, NULL, "print JSON" },
				   OPT_END };

static const struct opt_cmdline cmdline = {
	.tool = "op-check-perfevents",
	.usage = "[OPTION]...",
	.summary = "Show what can be profiled on this machine, and how to enable the rest. Exit "
		   "status: "
		   "0 if at least your own processes can be profiled.",
	.opts = opts,
};

int main(int argc, char **argv)
{
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;
	int operands = tool_options(&cmdline, argc, argv);
	bool usable;

	if (operands < argc)
		return tool_usage("unexpected operand '%s'", argv[operands]);
	usable = json ? probe_report_json("", &out) : probe_report("", verbose, &out);
	(void)fputs(strbuf_text(&out), stdout);
	return tool_finish(usable ? 0 : TOOL_FAILURE);
}
