/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/print/internal/chains_quality.h"

#include "base/strbuf.h"
#include "base/text.h"
#include "file/path.h"
#include "profile/print/report.h"
#include "profile/rows/chains.h"
#include "profile/select/gather.h"

#include <string.h>

/* The number of a class with the unit of the chains. */
static size_t unit_class(const struct report *r)
{
	bool is_time = r->chains->event && sname_event_is_time(r->chains->event);
	size_t i;

	for (i = 0; i < r->classes->count; i++)
		if (report_is_time(r, i) == is_time)
			return i;
	return 0;
}

void chains_add_counts(struct strbuf *line, const struct report *r, uint64_t samples)
{
	char percent[16], count[REPORT_COUNT_MAX];

	report_percent(r->view->decimals, container_share(samples, r->chains->samples), percent);
	report_count(r, unit_class(r), samples, count);
	strbuf_addf(line, "%-8s %s  ", count, percent);
}

void chains_unchosen_print(const struct report *r, FILE *out)
{
	char count[REPORT_COUNT_MAX];

	report_count(r, unit_class(r), r->chains->unchosen, count);
	if (r->chains->unchosen)
		(void)fprintf(out,
			      "(%s %s in chains not selected, and not part of any percentage)\n",
			      count, report_unit(r, unit_class(r)));
}

static void print_quality_line(const struct report *r, const struct chains *c, FILE *out)
{
	char count[REPORT_COUNT_MAX];
	const char *separator = ":";
	size_t i;

	(void)fprintf(out, "Call chains");
	for (i = 0; i < c->end_count; i++) {
		if (!c->ends[i].samples)
			continue;
		(void)fprintf(out, "%s %.4g %% %s", separator,
			      container_share(c->ends[i].samples, c->samples), c->ends[i].name);
		separator = ",";
	}
	report_count(r, unit_class(r), c->samples, count);
	(void)fprintf(out, " (of %s%s)\n", count, report_is_time(r, unit_class(r)) ? " ms" : "");
}

/* A runtime whose compiler keeps no frame pointers unless an option asks for them. */
static const struct {
	const char *image, *remedy;
} runtimes[] = {
	{ "libjvm.so", "Java code has no frame pointers; run java with -XX:+PreserveFramePointer" },
};

/* A share of chains that end for a reason whose remedy is worth a line, in percent. */
static const double worth_remedy = 5;

static bool has_image(const struct gather *g, const char *name)
{
	for (size_t i = 0; i < g->image_count; i++)
		if (!strcmp(path_base(g->images[i].display), name))
			return true;
	return false;
}

/* Names what would lead callers through JIT code, and make room for all callers. */
static void print_remedies(const struct report *r, const struct chains *c, FILE *out)
{
	double share = container_share(chains_end_in_jit(c), c->samples);
	double cut = container_share(chains_end_by_depth(c), c->samples);

	if (cut >= worth_remedy)
		(void)fprintf(out,
			      "%.4g %% depth: --callgraph=DEPTH records deeper chains, up to 1024 "
			      "frames\n",
			      cut);
	for (size_t i = 0; share >= worth_remedy && i < ARRAY_SIZE(runtimes); i++)
		if (has_image(r->gather, runtimes[i].image))
			(void)fprintf(out, "%.4g %% no_code: %s\n", share, runtimes[i].remedy);
}

static void print_quality_table(const struct report *r, const struct chains *c, FILE *out)
{
	_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT;
	size_t i;

	(void)fprintf(out, "%-7s  %%        chains end     in image\n",
		      report_unit(r, unit_class(r)));
	for (i = 0; i < c->quality_count; i++) {
		const struct chains_quality *q = &c->quality[i];

		chains_add_counts(&line, r, q->samples);
		strbuf_addf(&line, "%-14s ", c->ends[q->end].name);
		text_visible(&line, report_image(r, q->image));
		(void)fprintf(out, "%s\n", strbuf_text(&line));
		strbuf_clear(&line);
	}
	for (i = 0; i < c->end_count; i++)
		if (c->ends[i].samples)
			(void)fprintf(out, "%s: %s\n", c->ends[i].name, c->ends[i].meaning);
}

/* Prints how many chains end early because what was rare was not kept. */
static void print_rare(const struct report *r, uint64_t samples, const char *where,
		       const char *what, FILE *out)
{
	char count[REPORT_COUNT_MAX + 8];

	report_count_noun(r, unit_class(r), samples, count);
	if (samples)
		(void)fprintf(out, "%.4g %% end %s: %s, whose %s were too rare to be kept\n",
			      container_share(samples, r->chains->samples), where, count, what);
}

void chains_quality_print(const struct report *r, FILE *out)
{
	const struct chains *c = r->chains;

	print_quality_line(r, c, out);
	print_rare(r, c->folded, "in [rare]", "other frames", out);
	print_rare(r, c->of_functions, "at the beginning of a function", "places in it", out);
	print_remedies(r, c, out);
	if (r->view->quality)
		print_quality_table(r, c, out);
}
