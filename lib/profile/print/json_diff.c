/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/print/json_diff.h"

#include "base/json.h"
#include "profile/print/json_head.h"
#include "profile/print/report.h"
#include "profile/select/gather.h"

/* Writes which files have several builds that are compared as one, if there are any. */
static void write_builds(const struct gather *g, struct json *j)
{
	bool is_open = false;
	size_t i;

	for (i = 0; i < g->image_count; i++) {
		if (!g->images[i].has_builds)
			continue;
		if (!is_open)
			json_open(j, "joined_builds", '[');
		is_open = true;
		json_bytes(j, NULL, g->images[i].shown);
	}
	if (is_open)
		json_close(j, ']');
}

void json_comparison(const struct report *r, struct json *j)
{
	size_t i;

	json_open(j, "comparison", '{');
	json_string(j, "first", r->before->words[0]);
	json_string(j, "second", r->before->words[1]);
	json_string(j, "compared", diff_by_meaning(r->view->compare_by));
	json_open(j, "first_samples", '[');
	for (i = 0; i < r->container->class_count; i++)
		json_u64(j, NULL, r->container->before_totals[i]);
	json_close(j, ']');
	json_sessions(r->before->gather, "first_sessions", j);
	json_other_sessions(r->before->gather, "first_other_sessions", j);
	write_builds(r->gather, j);
	json_u64(j, "first_skipped_files", r->before->skipped);
	json_losses(r->before->losses, "first_losses", j);
	if (r->container->first)
		json_noise(r, r->container->first, "first_noise", j);
	json_close(j, '}');
}

void json_difference(const struct report *r, const char *name, struct json_changed changed,
		     struct json *j)
{
	const struct container *c = changed.container;
	size_t class = changed.class;
	double percent;
	enum diff_verdict verdict;
	enum diff_change change =
		diff_of_row(c, changed.row, class, r->view->compare_by, &percent, &verdict);

	json_open(j, name, '{');
	json_u64(j, "before", changed.row->before ? changed.row->before[class] : 0);
	json_double(j, "before_percent", report_share_before(c, changed.row, class));
	json_double(j, "points", report_points(c, changed.row, class));
	json_string(j, "change", diff_change_name(change));
	if (change == DIFF_CHANGED)
		json_double(j, "diff_percent", percent);
	json_bool(j, "significant", verdict != DIFF_CHANCE);
	json_string(j, "verdict", diff_verdict_name(verdict));
	json_close(j, '}');
}
