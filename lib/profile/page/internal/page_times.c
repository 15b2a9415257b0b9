/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/page/internal/page_times.h"

#include "base/json.h"
#include "base/macro.h"
#include "base/mem.h"
#include "history/history.h"
#include "profile/print/report.h"
#include "profile/rows/chains.h"

#include <stdlib.h>

/* The steps of time of the report. */
static struct steps steps_of(const struct report *r)
{
	return r->view->chains ? r->chains->steps : r->gather->steps;
}

static bool wants_no_keys(const struct sname *name _unused_, void *data _unused_)
{
	return false;
}

/* Adds the samples that sample files counted, of the same event and selection as the chains. */
static void add_sampled(const struct chains *c, const struct history *h, uint64_t *sampled)
{
	size_t i, k;

	for (i = 0; i < history_files(h); i++) {
		const struct history_file *f = history_file_at(h, i);
		const struct sname name = sname_of_parts(&f->name);

		if (!chains_select(c, &name))
			continue;
		for (k = 0; k < f->count; k++)
			sampled[f->counts[k].step] += f->counts[k].count;
	}
}

/* Whether the chains' event is the only one, and all of it is selected: then slices tell how many
 * samples they have. */
static bool are_all(const struct report *r)
{
	const struct classes *c = r->classes;
	size_t i;

	for (i = 1; i < c->count; i++)
		if (!class_same_event(&c->classes[i], &c->classes[0]))
			return false;
	return spec_wants_all(r->chains->spec);
}

/* Adds what a slice says of itself to that of its step. */
static void add_cover(struct history_cover *sum, const struct history_cover *c)
{
	if (c->slices) {
		sum->span.begin_ms =
			sum->slices ? MIN(sum->span.begin_ms, c->span.begin_ms) : c->span.begin_ms;
		sum->span.end_ms = MAX(sum->span.end_ms, c->span.end_ms);
	}
	sum->slices += c->slices;
	sum->covered_ms += c->covered_ms;
	sum->touching += c->touching;
	sum->lost += c->lost;
}

/* Adds what the history of a session knows. */
static void add_facts(const struct report *r, const struct gather_session *s,
		      struct page_times *ret)
{
	const struct steps *steps = &ret->steps;
	const bool counts_them = r->view->chains && !are_all(r);
	const struct window all = { steps->begin_ms,
				    steps->begin_ms + (int64_t)steps->count * steps->length_ms };
	/* The steps may reach farther than the slices of the profile. */
	const struct history_wanted wanted = { .window = gather_window(s) ?: &all,
					       .steps = steps,
					       .wants_keys = wants_no_keys,
					       .covers_only = !counts_them };
	_cleanup_(history_freep) struct history *h = NULL;
	uint32_t i;

	if (history_read_wanted(s->samples, &wanted, &h, NULL) < 0)
		return;
	if (counts_them)
		add_sampled(r->chains, h, ret->sampled);
	for (i = 0; i < steps->count; i++) {
		const struct history_cover *c = history_covers_step(h, i);

		if (!counts_them)
			ret->sampled[i] += c->samples;
		add_cover(&ret->cover[i], c);
	}
}

/* What is written of each step. */
static int64_t covered(const struct history_cover *c)
{
	return c->covered_ms;
}

static int64_t is_recorded(const struct history_cover *c)
{
	return c->touching > 0;
}

static int64_t lost(const struct history_cover *c)
{
	return (int64_t)MIN(c->lost, (uint64_t)INT64_MAX);
}

/* The slices counted in the step: opreport counts the same ones for a window from the begin of one
 * step's to the end of another's. */
static int64_t slices_from(const struct history_cover *c)
{
	return c->span.begin_ms;
}

static int64_t slices_to(const struct history_cover *c)
{
	return c->span.end_ms;
}

static void write_facts(const struct report *r, const struct page_times *times, struct json *j)
{
	static const struct {
		const char *name;
		int64_t (*value)(const struct history_cover *c);
	} lists[] = {
		{ "covered_ms", covered },  { "recorded", is_recorded }, { "lost", lost },
		{ "from_ms", slices_from }, { "to_ms", slices_to },
	};
	const uint32_t count = times->steps.count;
	size_t k;
	uint32_t i;

	for (k = 0; k < ARRAY_SIZE(lists); k++) {
		json_open(j, lists[k].name, '[');
		for (i = 0; i < count; i++)
			json_i64(j, NULL, lists[k].value(&times->cover[i]));
		json_close(j, ']');
	}
	if (!r->view->chains)
		return;
	json_open(j, "sampled", '[');
	for (i = 0; i < count; i++)
		json_u64(j, NULL, times->sampled[i]);
	json_close(j, ']');
}

void page_times_collect(const struct report *r, struct page_times *ret)
{
	size_t i;

	*ret = (struct page_times){ .steps = steps_of(r) };
	ret->cover = xcalloc(ret->steps.count + 1, sizeof(*ret->cover));
	ret->sampled = xcalloc(ret->steps.count + 1, sizeof(*ret->sampled));
	for (i = 0; ret->steps.count && i < r->gather->session_count; i++)
		add_facts(r, &r->gather->sessions[i], ret);
}

void page_times_write(const struct report *r, const struct page_times *times, struct json *j)
{
	const struct steps *steps = &times->steps;

	if (!steps->count)
		return;
	json_open(j, "steps", '{');
	json_i64(j, "begin_ms", steps->begin_ms);
	json_i64(j, "length_ms", steps->length_ms);
	json_u64(j, "count", steps->count);
	json_i64(j, "east_ms", steps_east_ms(steps));
	write_facts(r, times, j);
	json_close(j, '}');
}

void page_times_done(struct page_times *times)
{
	free(times->cover);
	free(times->sampled);
	*times = (struct page_times){ 0 };
}
