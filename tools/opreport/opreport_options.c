/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/opreport/opreport_options.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "profile/select/classes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

bool opreport_of_chains(const struct opreport_options *o)
{
	return o->chains || o->folded || o->children;
}

/* Which form is asked for, and that nothing is asked for that it does not have. */
static int check_form(struct opreport_options *o, struct error *err)
{
	if (o->xml + o->json + o->csv > 1)
		return error_set(err, -EINVAL, "--xml, --json and --csv exclude each other");
	o->form = o->xml ? REPORT_XML : o->json ? REPORT_JSON : o->csv ? REPORT_CSV : REPORT_TEXT;
	if (!report_form(o->form)->is_for_programs)
		return 0;
	if (o->accumulated)
		return error_set(err, -EINVAL, "--accumulated is for text: %s has no running sums",
				 report_form(o->form)->name);
	if (o->global_percent && o->xml)
		return error_set(err, -EINVAL, "--global-percent: XML has no percentages");
	o->merge |= CLASSES_MANY_AXES;
	return 0;
}

static int check_rows(struct opreport_options *o, struct error *err)
{
	const struct {
		bool is_given;
		const char *name;
	} of_symbols[] = {
		{ o->show_address, "--show-address" },
		{ o->accumulated, "--accumulated" },
		{ o->lines, "--debug-info" },
		{ o->inlines && !opreport_of_chains(o), "--inlines" },
		{ o->chosen.include.count, "--include-symbols" },
		{ o->chosen.exclude.count, "--exclude-symbols" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(of_symbols) && !o->symbols; i++)
		if (of_symbols[i].is_given)
			return error_set(err, -EINVAL, "%s needs --symbols", of_symbols[i].name);
	if (o->exclude_dependent && o->merge & CLASSES_MERGE_LIB)
		return error_set(err, -EINVAL,
				 "--merge=lib and --exclude-dependent exclude each other: one puts "
				 "all libraries together, the other leaves them out");
	if (o->calls && o->details)
		return error_set(err, -EINVAL,
				 "--callgraph and --details exclude each other: calls are of whole "
				 "functions");
	if (o->calls && o->inlines)
		return error_set(err, -EINVAL,
				 "--callgraph and --inlines exclude each other: calls were counted "
				 "between whole functions; --chains shows inlined ones");
	if (o->global_percent && o->symbols && !o->details && !o->calls)
		return error_set(err, -EINVAL,
				 "--global-percent is for the summary and --details, --callgraph: "
				 "with --symbols "
				 "percentages are of all samples anyway");
	return check_form(o, err);
}

/* What whole chains go together with. */
static int check_chains(const struct opreport_options *o, struct error *err)
{
	const struct {
		bool is_given;
		const char *name;
	} others[] = {
		{ o->symbols, "--symbols, --details or --callgraph" },
		{ o->merge & ~(unsigned int)CLASSES_MANY_AXES, "--merge" },
		{ o->exclude_dependent, "--exclude-dependent" },
		{ o->xml, "--xml" },
		{ o->csv, "--csv" },
		{ o->errors, "--errors" },
	};
	const char *name = o->chains ? "--chains" : o->folded ? "--folded" : "--children";
	size_t i;

	if (o->chains + o->folded + o->children > 1)
		return error_set(err, -EINVAL,
				 "--chains, --folded and --children exclude each other");
	if (!opreport_of_chains(o))
		return o->quality && !o->calls
			       ? error_set(err, -EINVAL,
					   "--quality needs --chains, --children or --callgraph")
			       : 0;
	for (i = 0; i < ARRAY_SIZE(others); i++)
		if (others[i].is_given)
			return error_set(err, -EINVAL, "%s and %s exclude each other", name,
					 others[i].name);
	return 0;
}

int opreport_check(struct opreport_options *o, struct error *err)
{
	int r = check_rows(o, err);

	return r < 0 ? r : check_chains(o, err);
}

int opreport_check_pair(const struct opreport_options *o, struct error *err)
{
	const struct {
		bool is_given;
		const char *name;
	} alone[] = {
		{ o->calls, "--callgraph" },
		{ o->details, "--details" },
		{ o->xml, "--xml" },
		{ opreport_of_chains(o), "a report of chains" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(alone); i++)
		if (alone[i].is_given)
			return error_set(err, -EINVAL,
					 "%s is of one profile, and two are to be compared",
					 alone[i].name);
	if (!o->symbols)
		return error_set(err, -EINVAL, "profiles are compared by symbols: give --symbols");
	return 0;
}

char *opreport_words(const char *first, int count, char *const *words)
{
	struct strbuf text = STRBUF_INIT;
	int i;

	strbuf_adds(&text, first);
	for (i = 0; i < count; i++)
		strbuf_addf(&text, "%s%s", text.length ? " " : "", words[i]);
	return strbuf_take(&text);
}

void opreport_show(const struct opreport_options *o, struct opreport_shown *ret, int count,
		   char *const *words)
{
	char *specification = opreport_words("", count, words);
	const struct report_option shown[] = {
		{ "specification", count ? specification : NULL },
		{ "sessiondir", o->session_dir },
		{ "imagepath", o->image_path },
		{ "root", o->root },
		{ "symbols", o->symbols ? "true" : NULL },
		{ "callgraph", o->calls ? "true" : NULL },
		{ "details", o->details ? "true" : NULL },
		{ "debuginfo", o->lines ? "true" : NULL },
		{ "inlines", o->inlines ? "true" : NULL },
		{ "excludedependent", o->exclude_dependent ? "true" : NULL },
		{ "mergelib", o->merge & CLASSES_MERGE_LIB ? "true" : NULL },
		{ "threshold", o->threshold > 0 ? ret->threshold : NULL },
		{ "demangle", o->names.mangled ? "none"
			      : o->names.rules ? "smart"
					       : "normal" },
	};
	static_assert(ARRAY_SIZE(shown) < ARRAY_SIZE(ret->list), "room for the end");

	ret->words = specification;
	(void)snprintf(ret->threshold, sizeof(ret->threshold), "%g", o->threshold);
	memcpy(ret->list, shown, sizeof(shown));
}

void opreport_shown_done(struct opreport_shown *s)
{
	free(s->words);
	s->words = NULL;
}
