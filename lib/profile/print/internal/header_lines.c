/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/print/internal/header_lines.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "history/history.h"
#include "profile/print/losses.h"
#include "profile/print/report.h"
#include "profile/rows/container.h"
#include "profile/select/gather.h"

#include <inttypes.h>
#include <string.h>

void header_percent(const char *before, double share, const char *after, FILE *out)
{
	double percent = 100.0 * share;

	if (percent > 0 && percent < 0.01)
		(void)fprintf(out, "%s<0.01%s", before, after);
	else
		(void)fprintf(out, percent < 9.95 ? "%s%.2g%s" : "%s%.1f%s", before, percent,
			      after);
}

/* Prints which hosts have most of the loss. */
static void print_parts(const struct loss *loss, FILE *out)
{
	enum { SHOWN = 8 };
	uint64_t others = 0;
	size_t i;

	for (i = 0; i < loss->part_count; i++) {
		_cleanup_(strbuf_done) struct strbuf host = STRBUF_INIT;

		if (i >= SHOWN) {
			others += loss->parts[i].value;
			continue;
		}
		text_visible(&host, loss->parts[i].host);
		(void)fprintf(out, "%s%s %" PRIu64, i ? ", " : ": ", host.text,
			      loss->parts[i].value);
	}
	if (others) {
		_cleanup_free_ char *hosts = text_count(i - SHOWN, "other host");

		(void)fprintf(out, ", %s %" PRIu64, hosts, others);
	}
}

void header_loss(const struct loss *loss, double all, FILE *out)
{
	_cleanup_free_ char *samples = text_count(loss->value, "sample");

	if (loss->is_samples) {
		(void)fprintf(out, "Lost: %s", samples);
		header_percent(" (", (double)loss->value / all, " %), ", out);
		(void)fprintf(out, "%s [%s]", loss->meaning, loss->name);
	} else {
		(void)fprintf(out, "Note: %" PRIu64 " %s%s[%s]", loss->value, loss->meaning,
			      *loss->meaning ? " " : "", loss->name);
	}
	print_parts(loss, out);
	(void)fputc('\n', out);
}

void header_facts(const struct gather *g, enum session_facts which, const char *before, FILE *out)
{
	size_t i;

	for (i = 0; g && i < g->session_count; i++) {
		_cleanup_free_ char *line = session_facts_line(&g->sessions[i], which);

		if (line && *line)
			(void)fprintf(out, "%s%s\n", before, line);
	}
}

void header_others(const struct gather *g, const char *before, FILE *out)
{
	_cleanup_free_ char *others = NULL, *all = NULL;
	_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT;
	const char *quote;

	if (!g || !g->other_count)
		return;
	others = gather_others_text(g, false);
	all = gather_others_text(g, true);
	strbuf_adds(&line, "session:");
	text_visible(&line, others);
	quote = all[strcspn(all, " \\")] ? "'" : "";
	strbuf_addf(&line, " %s samples of this time, too; add %ssession:",
		    g->other_count == 1 ? "has" : "have", quote);
	text_visible(&line, all);
	strbuf_adds(&line, quote);
	(void)fprintf(out, "%sNote: %s to see them\n", before, strbuf_text(&line));
}

static void print_samples(const struct report *r, const uint64_t *totals, size_t classes, FILE *out)
{
	char count[REPORT_COUNT_MAX];
	size_t i;

	for (i = 0; i < classes; i++) {
		report_count(r, i, totals[i], count);
		(void)fprintf(out, "%s%s", i ? ", " : "", count);
		if (i + 1 == classes || report_is_time(r, i) != report_is_time(r, i + 1))
			(void)fprintf(out, " %s", report_unit(r, i));
	}
}

/* Prints which samples of a session both profiles have, as slices are counted whole. */
static void print_shared_time(const struct gather_session *a, const struct gather_session *b,
			      FILE *out)
{
	_cleanup_free_ char *text = NULL;
	struct window shared;

	if (!a->history || !b->history || strcmp(a->samples, b->samples) != 0)
		return;
	shared =
		window_shared(&history_covers(a->history)->span, &history_covers(b->history)->span);
	if (shared.begin_ms >= shared.end_ms)
		return;
	text = window_text(&shared);
	(void)fprintf(out, "Note: Both profiles have the samples of %s\n", text);
}

/* Prints which time the first profile is of, and which samples are in both. */
static void print_times(const struct report *r, FILE *out)
{
	const struct gather *first = r->before->gather, *second = r->gather;
	size_t i, k;

	header_facts(first, SESSION_FACTS_TIME, "First profile: ", out);
	header_others(first, "First profile: ", out);
	for (i = 0; first && second && i < first->session_count; i++)
		for (k = 0; k < second->session_count; k++)
			print_shared_time(&first->sessions[i], &second->sessions[k], out);
}

/* Prints which files have several builds that are compared as one: the first, and the number of
 * others. */
static void print_builds(const struct gather *g, FILE *out)
{
	const char *path = NULL;
	size_t n = 0, i;

	for (i = 0; i < g->image_count; i++) {
		path = g->images[i].has_builds && !path ? g->images[i].shown : path;
		n += g->images[i].has_builds;
	}
	if (n == 0)
		return;
	(void)fprintf(out, "Note: several builds of %s", path);
	if (n > 1)
		(void)fprintf(out, ", and of %zu other file%s,", n - 1, text_plural(n - 1));
	(void)fputs(" are added up and compared as one\n", out);
}

void header_comparison(const struct report *r, FILE *out)
{
	const struct report_before *before = r->before;
	const struct container *c = r->container;
	uint64_t recorded = before->losses->recorded;
	size_t i;

	(void)fprintf(out, "First profile: {%s%s }, ", *before->words[0] ? " " : "",
		      before->words[0]);
	print_samples(r, c->before_totals, c->class_count, out);
	(void)fprintf(out, "\nSecond profile: {%s%s }, ", *before->words[1] ? " " : "",
		      before->words[1]);
	print_samples(r, c->totals, c->class_count, out);
	(void)fprintf(out,
		      ", shown %s\nCompared: %s; %s\n"
		      "~: chance alone makes such a difference in more than 1 of 20 cases\n"
		      "?: in fewer, but among so many rows some differ this much by chance\n",
		      before->is_annotated ? "before the lines" : "in the rows",
		      diff_by_meaning(r->view->compare_by),
		      before->is_annotated ? "samples, %, % of the first, points, diff %"
					   : "\"diff %\" is relative to the first");
	print_times(r, out);
	if (r->gather)
		print_builds(r->gather, out);
	if (before->skipped)
		(void)fprintf(out, "Note: %zu file%s of the first profile could not be read\n",
			      before->skipped, text_plural(before->skipped));
	if (!recorded)
		recorded = container_sum(c->before_totals, c->class_count);
	for (i = 0; i < before->losses->count; i++) {
		(void)fputs("First profile: ", out);
		header_loss(&before->losses->list[i], (double)(recorded + before->losses->samples),
			    out);
	}
}
