/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sfile/sname_event.h"

#include "base/macro.h"
#include "base/mem.h"
#include "base/strbuf.h"

#include <ctype.h>
#include <string.h>

/* PMUs of Linux, or what the names of several begin with. The events of some others, such as
 * power/energy-pkg/, have a dash, which no tracepoint has. */
static const struct {
	const char *name;
	bool is_prefix;
} pmus[] = {
	{ "cpu", false },	   { "cpu_core", false },  { "cpu_atom", false },
	{ "cpu_lowpower", false }, { "msr", false },	   { "uncore_", true },
	{ "cstate_", true },	   { "ibs_", true },	   { "amd_df", true },
	{ "amd_l3", true },	   { "amd_nb", false },	   { "amd_umc_", true },
	{ "amd_iommu_", true },	   { "intel_bts", false }, { "intel_cqm", false },
	{ "intel_pt", false },	   { "armv", true },	   { "arm_cmn_", true },
	{ "arm_dsu_", true },	   { "arm_spe_", true },   { "arm_cspmu_", true },
	{ "smmuv3_pmcg_", true },  { "apple_", true },	   { "hisi_", true },
	{ "dmar", true },	   { "cxl_pmu_", true },   { "breakpoint", false },
};

/* The tracepoints of a group that is called like a PMU. */
static const char *const msr_tracepoints[] = { "read_msr", "write_msr", "rdpmc" };

static bool is_pmu(const char *name, size_t length)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(pmus); i++) {
		size_t known = strlen(pmus[i].name);

		if (pmus[i].is_prefix ? length > known : length == known)
			if (!strncmp(name, pmus[i].name, known))
				return true;
	}
	return false;
}

static bool is_tracepoint(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(msr_tracepoints); i++)
		if (!strcmp(name, msr_tracepoints[i]))
			return true;
	return false;
}

/* Whether PMU~EVENT, the first part of @length letters, is an event of a PMU. */
static bool is_of_pmu(const char *event, size_t length)
{
	const char *rest = event + length + 1;

	return strpbrk(rest, "=-") || (is_pmu(event, length) && !is_tracepoint(rest));
}

/* Whether the name is that of a probe: its parts are separated by colons. */
static bool is_probe(const char *event)
{
	static const char *const kinds[] = { "kprobe~", "kretprobe~", "uprobe~", "uretprobe~",
					     "usdt~" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strncmp(event, kinds[i], strlen(kinds[i])))
			return true;
	return false;
}

static void replace(char *text, char from, char to)
{
	for (; *text; text++)
		if (*text == from)
			*text = to;
}

char *sname_event_text(const char *event)
{
	size_t length = strcspn(event, "~");
	const char *rest = event[length] ? event + length + 1 : "";
	char *text;

	/* "cycles~2" is the second of two events that perf recorded under one name. */
	if (!*rest || !length || strspn(rest, "0123456789") == strlen(rest))
		return xstrdup(event);
	if (is_probe(event) || !is_of_pmu(event, length)) {
		text = xstrdup(event);
		replace(text, '~', ':');
		return text;
	}
	text = xasprintf("%.*s/%s/", (int)length, event, rest);
	replace(text, '+', ',');
	return text;
}

char *sname_event_word(const char *event)
{
	_cleanup_free_ char *text = sname_event_text(event);
	_cleanup_(strbuf_done) struct strbuf word = STRBUF_INIT;
	const char *at;

	for (at = text; *at; at++)
		strbuf_addf(&word, "%s%c", *at == ',' ? "\\" : "", *at);
	return strbuf_take(&word);
}

/* A letter as names of sample files have it. */
static char letter_of(char c)
{
	return c == ':' || c == '/' ? '~' : c == ',' ? '+' : c;
}

bool sname_event_is(const char *word, const char *event)
{
	const char *slash = strchr(word, '/');

	for (; *event; word++, event++)
		if (!*word || letter_of(*word) != *event)
			return false;
	/* What is after the last slash says how precise samples are: the name does not. */
	return !*word || (slash && slash < word && word[strspn(word, "/p")] == '\0');
}
