/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/print/format_chains.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "profile/rows/chains.h"
#include "profile/rows/diff.h"
#include "profile/print/report_header.h"
#include "profile/print/report.h"
#include "profile/print/internal/chains_lists.h"
#include "profile/print/internal/chains_quality.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Frames are indented below the line of their chain. */
static const char indent[] = "    ";

/* The row of a line that two profiles are compared by, or NULL. */
static const struct row *row_of(const struct chains *c, const struct chains_line *line)
{
	return c->by_line.count ? &c->by_line.rows[line->id] : NULL;
}

struct chains_samples chains_line_samples(const struct chains *c, const struct chains_line *line)
{
	const struct row *row = row_of(c, line);

	return (struct chains_samples){ row && row->is_gone ? 0 : line->samples,
					row && row->before ? row->before[0] : 0 };
}

struct chains_samples chains_child_samples(const struct child *child)
{
	const struct row *row = child->row;

	return (struct chains_samples){ row && row->is_gone ? 0 : child->inclusive,
					row && row->before ? row->before[CHAINS_INCLUSIVE] : 0 };
}

static double share_of(const struct report *r, struct chains_samples samples)
{
	double before = samples.before ? container_share(samples.before,
							 r->chains->by_line.before_totals[0])
				       : 0;

	return MAX(container_share(samples.now, r->chains->samples), before);
}

bool chains_take(const struct report *r, size_t i, struct chains_samples samples, uint64_t own,
		 struct left_out *left)
{
	if ((!r->view->top || i < r->view->top) && share_of(r, samples) >= r->view->threshold)
		return true;
	left->count++;
	left->samples += own;
	return false;
}

static void print_line(struct strbuf *line, FILE *out)
{
	(void)fprintf(out, "%s\n", strbuf_text(line));
	strbuf_clear(line);
}

/* The room that the terminal has after @used characters; 0: any number. */
static unsigned int room_after(const struct report *r, unsigned int used)
{
	enum { LEAST = 24 };

	return r->view->width ? MAX(r->view->width, used + LEAST) - used : 0;
}

void chains_add_bracketed(struct strbuf *b, const struct report *r, uint32_t image)
{
	const char *name = report_image(r, image);
	bool is_bare = *name != '[';

	strbuf_adds(b, is_bare ? "[" : "");
	text_visible(b, name);
	strbuf_adds(b, is_bare ? "]" : "");
}

/* Adds blanks, at least one, up to a length. */
static void pad(struct strbuf *line, size_t length)
{
	do
		strbuf_adds(line, " ");
	while (line->length < length);
}

/* Whether there is room for the share in the first profile; without it, it is the share minus the
 * points. */
static bool has_room(const struct report *r)
{
	enum { WIDE = 140 };

	return !r->view->width || r->view->width >= WIDE;
}

/* Heads of what follows samples and percentage if two profiles are compared. */
static const char *difference_heads(const struct report *r)
{
	return !r->before    ? ""
	       : has_room(r) ? "before %  points    diff %       "
			     : "points    diff %       ";
}

/* Adds the columns of samples and percentage, and of the difference of two profiles. */
static void add_counts(const struct report *r, const struct container *c, const struct row *row,
		       size_t class, struct strbuf *line)
{
	enum { SHARE_WIDTH = 10, WIDTH = 13 };
	char count[REPORT_COUNT_MAX], percent[16];
	size_t column;

	report_count(r, 0, row->counts[class], count);
	if (row->is_gone)
		strbuf_addf(line, "%-8s     ---  ", count);
	else
		chains_add_counts(line, r, row->counts[class]);
	if (!r->before)
		return;
	column = line->length;
	if (has_room(r)) {
		report_percent(r->view->decimals, report_share_before(c, row, class), percent);
		strbuf_adds(line, percent);
		column += SHARE_WIDTH;
		pad(line, column);
	}
	report_add_points(line, r, report_points(c, row, class));
	pad(line, column + SHARE_WIDTH);
	report_add_difference(line, r, c, row, class);
	pad(line, column + SHARE_WIDTH + WIDTH);
}

/* --- the hottest chains --- */

/* Adds "    function [image]". */
static void add_frame(const struct report *r, const struct row *row, struct strbuf *line)
{
	_cleanup_(strbuf_done) struct strbuf image = STRBUF_INIT;

	strbuf_adds(&image, " ");
	chains_add_bracketed(&image, r, row->image);
	strbuf_adds(line, indent);
	report_add_name(line, row,
			room_after(r,
				   (unsigned int)strlen(indent) + text_width(strbuf_text(&image))));
	strbuf_adds(line, strbuf_text(&image));
}

static void print_frames(const struct report *r, const struct chains *c,
			 const struct chains_line *l, FILE *out)
{
	_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT;
	size_t i, times;

	for (i = 0; i < l->count; i += times) {
		const struct row *row = chains_frame(c, l, i);

		for (times = 1; i + times < l->count && chains_frame(c, l, i + times) == row;)
			times++;
		add_frame(r, row, &line);
		if (times > 1)
			strbuf_addf(&line, " %zu times", times);
		print_line(&line, out);
	}
}

static void print_left_out(const struct report *r, struct left_out left, FILE *out)
{
	bool functions = r->view->chains == CHAINS_CHILDREN;
	char count[REPORT_COUNT_MAX + 8];

	chains_unchosen_print(r, out);
	if (!left.count)
		return;
	report_count_noun(r, 0, left.samples, count);
	(void)fprintf(out, "(%zu %s%s not shown: %s%s, ", left.count, functions ? "row" : "chain",
		      text_plural(left.count), count, functions ? " in them" : "");
	(void)fprintf(out, r->view->decimals ? "%.*f %%" : "%.*g %%",
		      (int)(r->view->decimals ?: REPORT_DECIMALS_MAX),
		      container_share(left.samples, r->chains->samples));
	(void)fputs(report_all_hint(r->view), out);
}

static void print_chains(const struct report *r, const struct chains *c, FILE *out)
{
	_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT;
	struct left_out left = { 0 };
	size_t i;

	if (!r->view->no_header)
		(void)fprintf(out, "%-7s  %%        %sapplication\n", report_unit(r, 0),
			      difference_heads(r));
	for (i = 0; i < c->line_count; i++) {
		const struct chains_line *l = &c->lines[i];
		struct chains_samples samples = chains_line_samples(c, l);

		if (!chains_take(r, i, samples, samples.now, &left))
			continue;
		if (r->before)
			add_counts(r, &c->by_line, row_of(c, l), 0, &line);
		else
			chains_add_counts(&line, r, l->samples);
		text_visible(&line, report_image(r, l->app));
		print_line(&line, out);
		print_frames(r, c, l, out);
		if (c->ends[l->end].mark)
			(void)fprintf(out, "%s%s\n", indent, c->ends[l->end].mark);
	}
	print_left_out(r, left, out);
}

/* --- folded stacks --- */

/* Prints a stack; of two profiles with both counts, as flame graphs of differences expect. */
static void print_stack(const struct report *r, const char *text, struct chains_samples samples,
			void *out)
{
	(void)fputs(text, out);
	if (r->before)
		(void)fprintf(out, " %" PRIu64, samples.before);
	(void)fprintf(out, " %" PRIu64 "\n", samples.now);
}

/* The samples of stacks that are not shown keep their width in a flame graph. */
static void print_folded(const struct report *r, FILE *out)
{
	const struct chains_rest rest = chains_fold(r, print_stack, out);

	if (rest.left.count)
		print_stack(r, "[rest]", (struct chains_samples){ rest.left.samples, rest.before },
			    out);
}

/* --- functions --- */

static int compare_children(const void *a, const void *b)
{
	const struct child *x = a, *y = b;
	int i;

	if (x->rank != y->rank)
		return x->rank > y->rank ? 1 : -1;
	if (x->inclusive != y->inclusive)
		return x->inclusive < y->inclusive ? 1 : -1;
	if (x->self != y->self)
		return x->self < y->self ? 1 : -1;
	i = strcmp(x->text, y->text);
	return i || !x->row || !y->row ? i : (x->row->id > y->row->id) - (x->row->id < y->row->id);
}

struct child *chains_children(const struct chains *c, bool marks, size_t *ret_count)
{
	struct child *all = xcalloc(c->rows.count + c->end_count, sizeof(*all));
	size_t i, n = 0;

	for (i = 0; i < c->rows.count; i++) {
		const struct row *row = &c->rows.rows[i];

		if (row->counts[CHAINS_INCLUSIVE]) /* else in no chain that is chosen */
			all[n++] = (struct child){
				.row = row,
				.text = row->text,
				.inclusive = row->counts[CHAINS_INCLUSIVE],
				.self = row->counts[CHAINS_SELF],
				.rank = c->by_difference ? diff_rank(&c->rows, row) : 0,
			};
	}
	for (i = 0; marks && i < c->end_count; i++)
		if (c->ends[i].mark && c->ends[i].samples)
			all[n++] = (struct child){ .text = c->ends[i].mark,
						   .inclusive = c->ends[i].samples };
	qsort(all, n, sizeof(*all), compare_children);
	*ret_count = n;
	return all;
}

/* Adds the columns of counts. */
static void add_child(const struct report *r, const struct child *child, struct strbuf *line)
{
	const struct container *c = &r->chains->rows;

	if (child->row) {
		add_counts(r, c, child->row, CHAINS_INCLUSIVE, line);
		add_counts(r, c, child->row, CHAINS_SELF, line);
	} else {
		chains_add_counts(line, r, child->inclusive);
		chains_add_counts(line, r, child->self);
	}
}

static void print_heads(const struct report *r, FILE *out)
{
	const char *difference = difference_heads(r);

	(void)fprintf(out, "%-18s%s%-18s%s%-25ssymbol name\n",
		      report_is_time(r, 0) ? "children ms, %" : "children %", difference,
		      report_is_time(r, 0) ? "self ms, %" : "self     %", difference, "image name");
}

static void print_children(const struct report *r, const struct chains *c, FILE *out)
{
	_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT;
	struct left_out left = { 0 };
	size_t i, count;
	_cleanup_free_ struct child *all = chains_children(c, !r->before, &count);

	if (!r->view->no_header)
		print_heads(r, out);
	for (i = 0; i < count; i++) {
		const struct child *child = &all[i];
		struct chains_samples samples = chains_child_samples(child);
		size_t column;

		if (!chains_take(r, i, samples, samples.now ? child->self : 0, &left))
			continue;
		add_child(r, child, &line);
		column = line.length;
		text_visible(&line, child->row ? report_image(r, child->row->image) : "-");
		do
			strbuf_adds(&line, " ");
		while (line.length < column + 25);
		if (child->row)
			report_add_name(&line, child->row,
					room_after(r, text_width(strbuf_text(&line))));
		else
			strbuf_adds(&line, child->text);
		print_line(&line, out);
	}
	print_left_out(r, left, out);
}

void report_chains_text(const struct report *r, FILE *out)
{
	const struct chains *c = r->chains;

	/* Readers of folded stacks take every line for a stack. */
	if (!r->view->no_header && r->view->chains != CHAINS_FOLDED)
		report_header_text(r, out);
	switch (r->view->chains) {
	case CHAINS_NONE:
		break;
	case CHAINS_LIST:
		print_chains(r, c, out);
		break;
	case CHAINS_FOLDED:
		print_folded(r, out);
		break;
	case CHAINS_CHILDREN:
		print_children(r, c, out);
		break;
	}
}
