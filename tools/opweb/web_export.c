/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/opweb/web_export.h"

#include "base/mem.h"
#include "profile/profile_report.h"
#include "tools/common/reporting.h"
#include "tools/opweb/web_window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char prefix[] = "export/", json[] = "application/json",
		  text[] = "text/plain; charset=utf-8";

static const struct export
{
	const char *name;
	enum report_form form;
	enum chains_form chains;
	const char *type;
}
exports[] = {
	{ "folded", REPORT_TEXT, CHAINS_FOLDED, text },
	{ "pprof", REPORT_PPROF, CHAINS_LIST, "application/gzip" },
	{ "chains.json", REPORT_JSON, CHAINS_LIST, json },
	{ "functions.json", REPORT_JSON, CHAINS_NONE, json },
	{ "functions.csv", REPORT_CSV, CHAINS_NONE, "text/csv; charset=utf-8" },
};

/* The export that is asked for, and where its name ends in the question; or NULL. */
static const struct export *find_export(const char *question, const char **ret_rest)
{
	const char *name = question + strlen(prefix);
	size_t length, i;

	if (strncmp(question, prefix, strlen(prefix)) != 0)
		return NULL;
	length = strcspn(name, "/");
	*ret_rest = name + length;
	for (i = 0; i < ARRAY_SIZE(exports); i++)
		if (strlen(exports[i].name) == length && !strncmp(exports[i].name, name, length))
			return &exports[i];
	return NULL;
}

static int parse_question(const char *question, const struct export **ret, char **ret_window,
			  struct error *err)
{
	const char *rest = "";

	*ret_window = NULL;
	*ret = find_export(question, &rest);
	if (!*ret)
		return error_set(err, -EINVAL,
				 "'%s' is not one of export/folded, pprof, chains.json, "
				 "functions.json, functions.csv",
				 question);
	if (!*rest++)
		return 0;
	if (web_window_parse(&rest, ret_window) < 0 || *rest)
		return error_set(err, -EINVAL, "'%s': after the name comes FROM..TO, or nothing",
				 question);
	return 0;
}

int web_export_print(const struct profile_config *config, const struct report_view *pages,
		     char *const *words, const char *question, struct error *err)
{
	_cleanup_(profile_closep) struct profile *p = NULL;
	_cleanup_free_ char **all = NULL, *window = NULL;
	struct profile_config how = *config;
	struct profile_report report;
	const struct export *e;
	size_t count;
	int r = parse_question(question, &e, &window, err);
	struct report_view view = { .names = pages->names };

	if (r < 0)
		return r;
	view.form = e->form;
	view.chains = e->chains;
	view.rows.symbols = e->chains == CHAINS_NONE;
	view.rows.inlines = pages->rows.inlines;
	(void)sort_parse(NULL, &view.sort, err);
	all = web_window_words(words, window, &count);
	profile_report_configure(&view, &how);
	r = reporting_open(&how, count, all, &p, err);
	if (r == 0)
		r = profile_report_collect(p, &view, &report, err);
	if (r < 0)
		return r;
	profile_report_print(&report, stdout);
	profile_report_done(&report);
	return 0;
}

const char *web_export_type(const char *question)
{
	const char *rest;
	const struct export *e = find_export(question, &rest);

	return e ? e->type : text;
}
