/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/archive/internal/archive_arcs.h"

#include "base/mem.h"
#include "base/path.h"
#include "profile/select/callgraph_arcs.h"
#include "profile/select/gather.h"
#include "chains/chain_arcs.h"
#include "chains/chain_store.h"
#include "sfile/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

/* What a sample file of the same event says that chains do not. */
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

/* Gives the file the time of the chains that it is made of: archives of one session are the same.
 */
static int take_time(const char *path, const char *samples, struct error *err)
{
	_cleanup_free_ char *names = path_join(samples, CHAIN_DIRECTORY "/names");
	struct stat st;

	if (stat(names, &st) < 0 ||
	    utimensat(AT_FDCWD, path, (struct timespec[]){ st.st_atim, st.st_mtim }, 0) < 0)
		return error_errno(err, -errno, "cannot write %s", path);
	return 0;
}

int archive_arcs_write(const struct gather *g, const struct gather_file *f, const char *directory,
		       char **ret, struct error *err)
{
	const struct manifest_image *image = g->images[f->image].manifest;
	_cleanup_free_ char *below = sname_mangle(&f->arcs->name), *path = NULL;
	struct sfile_header header;
	int r = callgraph_arcs_header(f, &header, err);

	if (r < 0)
		return r;
	path = xasprintf("%s/%s/%s", directory, g->sessions[f->session].name, below);
	header.mtime = image ? image->mtime : 0;
	add_event(g, f, &header);
	r = write_file(path, f, &header, err);
	if (r == 0)
		r = take_time(path, g->sessions[f->session].samples, err);
	if (r == 0)
		*ret = STEAL(path);
	return r;
}
