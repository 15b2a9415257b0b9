/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/opweb/web_files.h"

#include "profile/profile_report.h"
#include "tools/common/reporting.h"

#include <errno.h>

/* Prints the files of the functions in call chains, or of those with samples. */
static int print_of(const struct profile_config *config, const struct report_view *view,
		    char *const *words, struct error *err)
{
	_cleanup_(profile_closep) struct profile *p = NULL;
	struct profile_config how = *config;
	struct profile_report report;
	size_t count = 0;
	int r;

	while (words[count])
		count++;
	how.merge = CLASSES_MERGE_ALL;
	profile_report_configure(view, &how);
	r = reporting_open(&how, count, words, &p, err);
	if (r == 0)
		r = profile_report_collect(p, view, &report, err);
	if (r < 0)
		return r;
	profile_report_print(&report, stdout);
	profile_report_done(&report);
	return 0;
}

int web_files_print(const struct profile_config *config, bool inlines, char *const *words,
		    struct error *err)
{
	struct report_view view = { .form = REPORT_FILES,
				    .chains = CHAINS_CHILDREN,
				    .rows = { .inlines = inlines } };
	struct error none = ERROR_INIT;
	int r;

	(void)sort_parse(NULL, &view.sort, err);
	r = print_of(config, &view, words, &none);
	if (r != -ENODATA)
		return r < 0 ? error_set(err, r, "%s", none.text) : 0;
	view.chains = CHAINS_NONE;
	view.rows.symbols = true;
	return print_of(config, &view, words, err);
}
