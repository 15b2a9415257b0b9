/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call chains as perf script(1) prints samples, for the tools that read that. */
#include "profile/print/format_chains.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "profile/print/internal/chains_lists.h"
#include "profile/print/report.h"
#include "profile/rows/chains.h"

#include <inttypes.h>
#include <string.h>

enum { NS_PER_US = 1000, NS_PER_MS = 1000000, NS_PER_S = 1000000000 };

struct script {
	const struct report *report;
	const char *event;
	uint64_t step_ns; /* between samples */
	uint64_t at_ns;	  /* when the next one was taken, as far as readers know */
	struct strbuf frames;
	FILE *out;
};

/* Adds the name of an image as perf has it: "[kernel.kallsyms]", "[module]", or the path. */
static void add_image(struct script *s, uint32_t image)
{
	const struct report *r = s->report;
	const char *name = report_image(r, image);

	size_t from = s->frames.length;
	char *at;

	if (!r->chains->is_kernel[image])
		text_visible(&s->frames, gather_image_name(r->gather, image, true));
	else if (!strcmp(name, "[kernel]"))
		strbuf_adds(&s->frames, "[kernel.kallsyms]");
	else
		strbuf_addf(&s->frames, "[%s]", name);
	/* Readers skip frames whose image has a blank. */
	for (at = s->frames.text + from; s->frames.text && *at; at++)
		if (*at == ' ')
			*at = '_';
}

static void add_frame(struct script *s, const struct row *row)
{
	strbuf_addf(&s->frames, "\t%16" PRIx64 " ", row->address);
	if (row->kind == ROW_SYMBOL)
		text_visible(&s->frames, row->text);
	else
		chains_add_bracketed(&s->frames, s->report, row->image);
	strbuf_adds(&s->frames, " (");
	if (row->kind == ROW_SYMBOL && row->is_inlined)
		strbuf_adds(&s->frames, "inlined");
	else
		add_image(s, row->image);
	strbuf_adds(&s->frames, ")\n");
}

/* The frames of a line, the innermost first; then why the chain ends early, if it does. */
static void set_frames(struct script *s, const struct chains_line *line)
{
	const struct chains *c = s->report->chains;
	size_t i;

	strbuf_clear(&s->frames);
	for (i = 0; i < line->count; i++)
		add_frame(s, chains_frame(c, line, i));
	if (c->ends[line->end].mark)
		strbuf_addf(&s->frames, "\t%16x %s ([unknown])\n", 0, c->ends[line->end].mark);
}

/* The application as the name of a thread: without blanks, as readers look for a number after one.
 */
static char *thread_name(const struct report *r, uint32_t app)
{
	struct strbuf name = STRBUF_INIT;
	char *at;

	text_visible(&name, report_image(r, app));
	for (at = name.text; at && *at; at++)
		if (*at == ' ')
			*at = '_';
	return strbuf_take(&name);
}

/* Prints a record of each sample, because readers count records; of time, one with all of it. */
static void print_line(struct script *s, const struct chains_line *line)
{
	_cleanup_free_ char *name = thread_name(s->report, line->app);
	bool is_time = report_is_time(s->report, 0);
	uint64_t i, records = is_time ? line->samples > 0 : line->samples;
	uint64_t period = is_time ? line->samples * NS_PER_US : 1;

	set_frames(s, line);
	for (i = 0; i < records; i++) {
		(void)fprintf(s->out, "%s %u %" PRIu64 ".%09" PRIu64 ": %" PRIu64 " %s: \n%s\n",
			      name, line->app + 1, s->at_ns / NS_PER_S, s->at_ns % NS_PER_S, period,
			      s->event, strbuf_text(&s->frames));
		s->at_ns += is_time ? period : s->step_ns;
	}
}

void report_chains_perf(const struct report *r, FILE *out)
{
	const struct chains *c = r->chains;
	_cleanup_free_ char *event = chains_event_text(c->event);
	const bool is_clock = r->classes->count && !r->classes->classes[0].count && r->timer_hz;
	struct script s = { .report = r,
			    .event = event,
			    .step_ns = is_clock ? NS_PER_S / r->timer_hz : NS_PER_MS,
			    .out = out };
	size_t i;

	for (i = 0; i < c->line_count; i++)
		print_line(&s, &c->lines[i]);
	strbuf_done(&s.frames);
}
