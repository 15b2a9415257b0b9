/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/select/used_offsets.h"

#include "base/log.h"
#include "base/mem.h"
#include "profile/select/file_counts.h"
#include "profile/select/gather.h"
#include "profile/select/samples.h"
#include "chains/chain_read.h"

#include <errno.h>
#include <stdlib.h>

/* Number of places from which on duplicates are removed early, because chains repeat places. */
enum { SETTLE_FROM = 1 << 16 };

static int compare(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

void used_offsets_settle(struct used_offsets *u)
{
	size_t i, n = 0;

	if (u->count)
		qsort(u->offsets, u->count, sizeof(*u->offsets), compare);
	for (i = 0; i < u->count; i++)
		if (n == 0 || u->offsets[n - 1] != u->offsets[i])
			u->offsets[n++] = u->offsets[i];
	u->count = u->settled = n;
}

void used_offsets_add(struct used_offsets *u, uint64_t offset)
{
	if (u->count > SETTLE_FROM && u->count / 2 > u->settled)
		used_offsets_settle(u);
	array_grow(&u->offsets, u->count + 1, &u->room);
	u->offsets[u->count++] = offset;
}

/* A caller's offset is its return address: the call, whose line is shown, ends there. */
static void add_return(struct used_offsets *u, uint64_t offset)
{
	used_offsets_add(u, offset);
	if (offset)
		used_offsets_add(u, offset - 1);
}

/* --- sample files --- */

static void read_file(struct used_offsets_places *p, const struct gather_file *f)
{
	_cleanup_(samples_done) struct samples s = SAMPLES_INIT;
	_cleanup_(file_counts_closep) struct file_counts *counts = NULL;
	size_t i;

	if (f->arcs) /* whole chains are read in any case */
		return;
	if (file_counts_open(f, &counts, NULL) < 0)
		return; /* reports of the archive say so */
	file_counts_at_functions(counts);
	(void)file_counts_read(counts, 0, &s);
	for (i = 0; i < s.count; i++) {
		uint64_t offset = s.samples[i].offset;

		if (f->callee == GATHER_NONE) {
			used_offsets_add(&p->of[f->image], offset);
			continue;
		}
		add_return(&p->of[f->image], offset >> 32);
		used_offsets_add(&p->of[f->callee], offset & UINT32_MAX);
	}
}

/* --- chains --- */

/* The chains of a session, and the images of the gather by their numbers there. */
struct source {
	struct used_offsets_places *places;
	struct chain_reader *reader;
	uint32_t *images;
	uint32_t count;
};

static void source_done(struct source *s)
{
	chain_reader_close(s->reader);
	free(s->images);
}

static bool source_open(struct gather *g, uint32_t session, struct source *ret)
{
	const struct chain_names *names;
	struct error err = ERROR_INIT;
	uint32_t i;
	const struct gather_session *s = &g->sessions[session];
	int r = chain_reader_open(s->samples, gather_window(s), &ret->reader, &err);

	if (r < 0 && r != -ENOENT)
		log_warn("%s", err.text);
	if (r < 0)
		return false;
	names = chain_reader_names(ret->reader);
	ret->count = chain_names_images(names);
	ret->images = xcalloc((size_t)ret->count + 1, sizeof(*ret->images));
	for (i = 1; i <= ret->count; i++)
		ret->images[i] = gather_image(g, session, chain_names_image_at(names, i));
	return true;
}

static int add_chain(uint32_t context _unused_, const struct chain *chain, void *data)
{
	struct source *s = data;
	size_t i;

	for (i = 0; i < chain->count; i++) {
		uint32_t image = s->images[chain->frames[i].image];

		if (image < s->places->count && chain->frames[i].offset != SAMPLE_RARE)
			add_return(&s->places->of[image], chain->frames[i].offset);
	}
	return 0;
}

void used_offsets_collect(struct gather *g, bool exclude_dependent, struct used_offsets_places *ret)
{
	struct used_offsets_places p = { .count = g->image_count };
	uint32_t i;

	p.of = xcalloc(p.count + 1, sizeof(*p.of));
	for (i = 0; i < g->file_count; i++)
		if (!exclude_dependent || g->files[i].app == g->files[i].image)
			read_file(&p, &g->files[i]);
	for (i = 0; i < g->session_count; i++) {
		_cleanup_(source_done) struct source s = { .places = &p };

		if (source_open(g, i, &s))
			(void)chain_reader_each(s.reader, add_chain, &s);
	}
	for (i = 0; i < p.count; i++)
		used_offsets_settle(&p.of[i]);
	*ret = p;
}

void used_offsets_done(struct used_offsets_places *p)
{
	size_t i;

	for (i = 0; i < p->count; i++)
		free(p->of[i].offsets);
	free(p->of);
	*p = (struct used_offsets_places){ 0 };
}
