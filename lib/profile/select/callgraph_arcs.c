/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/select/callgraph_arcs.h"

#include "base/mem.h"
#include "profile/select/gather.h"
#include "profile/select/samples.h"
#include "chains/chain_arcs.h"

static struct sfile_header header_of_chains(const struct chain_arcs_file *arcs)
{
	return (struct sfile_header){
		.count = (uint32_t)arcs->name.count,
		.unit_mask = (uint32_t)arcs->name.unit_mask,
		.is_kernel = arcs->is_kernel,
		.cg_to_is_kernel = arcs->callee_is_kernel,
		.anon_start = arcs->name.image.start,
		.cg_to_anon_start = arcs->name.callee.start,
	};
}

int callgraph_arcs_header(const struct gather_file *f, struct sfile_header *ret, struct error *err)
{
	_cleanup_(sfile_closep) struct sfile *sf = NULL;
	int r = f->arcs ? 0 : sfile_open(f->path, &sf, err);

	if (r == 0)
		*ret = sf ? *sfile_header(sf) : header_of_chains(f->arcs);
	return r;
}

/* Counts of samples are narrower: one that is too large becomes several. */
static void add_arc(struct samples *s, const struct chain_arc_count *arc, uint32_t class)
{
	uint64_t left = arc->samples;

	while (left) {
		uint32_t count = (uint32_t)MIN(left, (uint64_t)UINT32_MAX);

		array_grow(&s->samples, s->count + 1, &s->room);
		s->samples[s->count++] = (struct sample){ arc->key, count, class };
		left -= count;
	}
}

int callgraph_arcs_read(const struct gather_file *f, uint32_t class, struct samples *s,
			struct sfile_header *ret, struct error *err)
{
	_cleanup_(sfile_closep) struct sfile *sf = NULL;
	size_t i;
	int r;

	if (f->arcs) {
		*ret = header_of_chains(f->arcs);
		array_grow(&s->samples, s->count + f->arcs->count, &s->room);
		for (i = 0; i < f->arcs->count; i++)
			add_arc(s, &f->arcs->arcs[i], class);
		return 0;
	}
	r = sfile_open(f->path, &sf, err);
	if (r < 0)
		return r;
	*ret = *sfile_header(sf);
	(void)samples_read(s, sf, class);
	return 0;
}
