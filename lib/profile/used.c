/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/used.h"

#include "base/mem.h"
#include "profile/gather.h"
#include "profile/samples.h"
#include "sfile/sfile.h"

#include <stdlib.h>

static void add(struct used *u, uint64_t offset)
{
	array_grow(&u->offsets, u->count + 1, &u->room);
	u->offsets[u->count++] = offset;
}

/* A caller's place is where it goes on: the call, whose line is shown, ends there. */
static void add_arcs(struct used *u, const struct samples *s, bool as_caller, bool as_callee)
{
	size_t i;

	for (i = 0; i < s->count; i++) {
		uint64_t from = s->samples[i].offset >> 32;

		if (as_callee)
			add(u, s->samples[i].offset & UINT32_MAX);
		if (as_caller)
			add(u, from);
		if (as_caller && from)
			add(u, from - 1);
	}
}

static void read_file(struct used *u, const struct gather_file *f, uint32_t image)
{
	_cleanup_(samples_done) struct samples s = SAMPLES_INIT;
	_cleanup_(sfile_closep) struct sfile *sf = NULL;
	size_t i;

	if (sfile_open(f->path, &sf, NULL) < 0)
		return; /* reports of the archive say so */
	(void)samples_read(&s, sf, 0);
	if (f->callee != GATHER_NONE) {
		add_arcs(u, &s, f->image == image, f->callee == image);
		return;
	}
	for (i = 0; i < s.count; i++)
		add(u, s.samples[i].offset);
}

static int compare(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

static void settle(struct used *u)
{
	size_t i, n = 0;

	if (u->count)
		qsort(u->offsets, u->count, sizeof(*u->offsets), compare);
	for (i = 0; i < u->count; i++)
		if (n == 0 || u->offsets[n - 1] != u->offsets[i])
			u->offsets[n++] = u->offsets[i];
	u->count = n;
}

void used_read(const struct gather *g, uint32_t image, bool exclude_dependent, struct used *u)
{
	size_t i;

	for (i = 0; i < g->file_count; i++) {
		const struct gather_file *f = &g->files[i];

		if ((f->image == image || f->callee == image) &&
		    !(exclude_dependent && f->app != f->image))
			read_file(u, f, image);
	}
	settle(u);
}

void used_done(struct used *u)
{
	free(u->offsets);
	*u = (struct used){ 0 };
}
