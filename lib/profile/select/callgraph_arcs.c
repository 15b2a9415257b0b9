/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/select/callgraph_arcs.h"

#include "base/mem.h"
#include "base/open_regular.h"
#include "base/path.h"
#include "profile/select/gather.h"
#include "profile/select/samples.h"
#include "chains/chain_arcs.h"
#include "chains/chain_store.h"
#include "sfile/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

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

/* Counts of samples are narrower, so a larger one becomes several. */
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

/* --- writing --- */

/* Copies from a sample file of the same event what chains do not record. */
static void add_event(const struct gather *g, const struct gather_file *f,
		      struct sfile_header *header)
{
	size_t i;

	for (i = 0; i < g->file_count; i++) {
		const struct gather_file *flat = &g->files[i];
		struct sfile_header of_flat;

		if (!flat->path || flat->session != f->session || flat->event != f->event ||
		    flat->count != f->count || flat->unit_mask != f->unit_mask ||
		    callgraph_arcs_header(flat, &of_flat, NULL) < 0)
			continue;
		header->cpu_type = of_flat.cpu_type;
		header->cpu_mhz = of_flat.cpu_mhz;
		header->event = of_flat.event;
		return;
	}
}

static int write_file(const char *path, const struct gather_file *f,
		      const struct sfile_header *header, struct error *err)
{
	_cleanup_(sfile_closep) struct sfile *sf = NULL;
	int r = sfile_create(path, header, &sf, err);
	size_t i;

	for (i = 0; r == 0 && i < f->arcs->count; i++) {
		const struct chain_arc_count *arc = &f->arcs->arcs[i];

		r = odb_add(sfile_odb(sf), arc->key,
			    (uint32_t)MIN(arc->samples, (uint64_t)UINT32_MAX));
		if (r < 0)
			(void)error_errno(err, r, "cannot write %s", path);
	}
	return r;
}

/* Gives the file the time of the chains that it comes from, so that archives of one session are
 * equal. */
static int take_time(const char *path, const char *samples, struct error *err)
{
	_cleanup_free_ char *names = path_join(samples, CHAIN_DIRECTORY "/names");
	_cleanup_close_ int fd = open_regular(path, O_RDONLY | O_NOFOLLOW);
	struct stat st;

	if (fd < 0 || stat(names, &st) < 0 ||
	    futimens(fd, (struct timespec[]){ st.st_atim, st.st_mtim }) < 0)
		return error_errno(err, fd < 0 ? fd : -errno, "cannot write %s", path);
	return 0;
}

int callgraph_arcs_write(const struct gather *g, const struct gather_file *f, const char *directory,
			 char **ret, struct error *err)
{
	const struct manifest_image *image = g->images[f->image].manifest;
	_cleanup_free_ char *below = sname_mangle(&f->arcs->name), *path = NULL;
	struct sfile_header header;
	int r = callgraph_arcs_header(f, &header, err);

	if (r < 0)
		return r;
	path = xasprintf("%s/%s/%s", directory, g->sessions[f->session].name, below);
	header.mtime = image ? image->version.mtime : 0;
	add_event(g, f, &header);
	r = write_file(path, f, &header, err);
	if (r == 0)
		r = take_time(path, g->sessions[f->session].samples, err);
	if (r == 0)
		*ret = STEAL(path);
	return r;
}
