/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/common/page_report.h"

#include "tools/common/reporting.h"

#include "base/macro.h"
#include "base/mem.h"
#include "tools/common/tool.h"

#include <errno.h>
#include <stdlib.h>

void page_report_done(struct page_report *p)
{
	profile_report_done(&p->report);
	profile_close(p->profile);
	free(p->no_chains);
	*p = (struct page_report){ 0 };
}

/* The most tasks that rows are divided by, and the most counts of a row: one for each task and step
 * of time. */
enum { TASKS_MAX = 100, COUNTS_MAX = 6000 };

/* The words of a specification. */
struct words {
	size_t count;
	char *const *list;
};

static int collect(const struct profile_config *config, const struct report_view *view,
		   const struct words *words, struct page_report *ret, struct error *err)
{
	_cleanup_(page_report_done) struct page_report p = { 0 };
	int r = reporting_open(config, words->count, words->list, &p.profile, err);

	if (r == 0)
		r = profile_report_collect(p.profile, view, &p.report, err);
	if (r < 0)
		return r;
	*ret = p;
	p = (struct page_report){ 0 };
	return 0;
}

bool page_report_has_one_event(const struct page_report *p)
{
	const struct classes *c = &p->profile->classes;

	return class_same_event(&c->classes[0], &c->classes[c->count - 1]);
}

/* Refuses a profile of several events: a page adds all samples up. */
static int check_one_event(const struct page_report *p, struct error *err)
{
	const struct classes *c = &p->profile->classes;
	const struct class *a = &c->classes[0], *b = &c->classes[c->count - 1];

	if (page_report_has_one_event(p))
		return 0;
	return error_set(err, -EINVAL, "a page shows one event; choose event:%s or event:%s",
			 a->event_text, b->event_text);
}

static uint64_t samples_of(const struct page_report *p)
{
	const struct container *rows = &p->report.rows;

	return container_sum(rows->totals, rows->class_count);
}

/* Merges threads, and then all that separates tasks, if there are too many for a page. */
static int merge_tasks(struct profile_config *config, const struct words *words, struct error *err)
{
	static const unsigned int merges[] = { 0, CLASSES_MERGE_TID, CLASSES_MERGE_TGID,
					       CLASSES_MERGE_TGID | CLASSES_MERGE_CPU |
						       CLASSES_MERGE_CGROUP };
	const unsigned int merge = config->merge | CLASSES_MERGE_COMM; /* no grouping has them */
	size_t i;

	for (i = 0; i < ARRAY_SIZE(merges); i++) {
		_cleanup_(profile_closep) struct profile *p = NULL;
		int r;

		config->merge = merge | merges[i];
		r = reporting_open(config, words->count, words->list, &p, err);
		if (r < 0)
			return r;
		if (p->classes.count <= TASKS_MAX)
			break;
	}
	return 0;
}

/* Collects rows by symbol, with the time of their samples if all of them have one. */
static int collect_rows(const struct profile_config *config, const struct report_view *view,
			const struct words *words, struct page_report *ret, struct error *err)
{
	_cleanup_(page_report_done) struct page_report whole = { 0 }, timed = { 0 };
	struct profile_config divided = *config;
	struct error none = ERROR_INIT;
	int r = merge_tasks(&divided, words, err);

	if (r == 0)
		r = collect(&divided, view, words, &whole, err);
	if (r == 0)
		r = check_one_event(&whole, err);
	if (r < 0)
		return r;
	divided.division.most = (uint32_t)MIN(report_form(view->form)->chain_steps,
					      COUNTS_MAX / whole.profile->classes.count);
	if (collect(&divided, view, words, &timed, &none) == 0 &&
	    samples_of(&timed) == samples_of(&whole)) {
		*ret = timed;
		timed = (struct page_report){ 0 };
	} else {
		*ret = whole;
		whole = (struct page_report){ 0 };
	}
	return 0;
}

int page_report_collect_rows(const struct profile_config *config, struct report_view *view,
			     size_t count, char *const *words, struct page_report *ret,
			     struct error *err)
{
	const struct words selection = { count, words };
	struct profile_config rows = *config;

	view->chains = CHAINS_NONE;
	view->no_chains = NULL;
	profile_report_configure(view, &rows);
	return collect_rows(&rows, view, &selection, ret, err);
}

/* Collects rows of a profile whose call chains cannot be read, which the page says, too. */
static int collect_unchained(const struct profile_config *config, struct report_view *view,
			     const struct words *words, const struct error *why,
			     struct page_report *ret, struct error *err)
{
	if (page_report_collect_rows(config, view, words->count, words->list, ret, NULL) < 0)
		return error_set(err, why->code, "%s", why->text);
	tool_warn("%s; the page has no call chains", why->text);
	view->no_chains = ret->no_chains = xstrdup(why->text);
	return 0;
}

int page_report_collect(const struct profile_config *config, struct report_view *view, size_t count,
			char *const *words, struct page_report *ret, struct error *err)
{
	const struct words selection = { count, words };
	struct profile_config chains = *config;
	struct error why = ERROR_INIT;
	int r;

	view->no_chains = NULL;
	view->chains = CHAINS_LIST;
	profile_report_configure(view, &chains);
	r = collect(&chains, view, &selection, ret, &why);
	if (r == 0)
		return 0;
	/* Of several events, or of a session that is gone, there are no rows either. */
	if (r == -EINVAL || r == -ESTALE || view->apps_only)
		return error_set(err, r, "%s", why.text);
	if (r == -ENODATA)
		return page_report_collect_rows(config, view, count, words, ret, err);
	return collect_unchained(config, view, &selection, &why, ret, err);
}
