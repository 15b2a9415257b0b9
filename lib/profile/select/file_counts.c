/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/select/file_counts.h"

#include "base/log.h"
#include "base/mem.h"
#include "file/open_regular.h"
#include "file/path.h"
#include "chains/chain_arcs.h"
#include "chains/chain_store.h"
#include "history/history.h"
#include "profile/select/gather.h"
#include "profile/select/samples.h"
#include "sfile/idle.h"
#include "sfile/manifest.h"
#include "sfile/odb.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

/* Number of counts read from a file before their pages are released. */
enum { STRIDE = 64 << 10 };

static_assert(SAMPLE_RARE == HISTORY_RARE, "a key of the history is an offset");

struct file_counts {
	struct sfile *sf; /* one of these three */
	const struct chain_arcs_file *arcs;
	const struct history_file *past;
	struct sfile_header of_arcs;
	bool are_offsets;  /* keys are; those of arcs are two in one */
	bool at_functions; /* file_counts_at_functions() */
};

static struct sfile_header header_of_arcs(const struct chain_arcs_file *arcs)
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

bool file_counts_callees_enter(const struct gather_file *f)
{
	return !f->arcs || f->arcs->callee_entered;
}

int file_counts_open(const struct gather_file *f, struct file_counts **ret, struct error *err)
{
	struct file_counts c = { .arcs = f->arcs,
				 .past = f->past,
				 .are_offsets = f->callee == GATHER_NONE };
	struct error why = ERROR_INIT;
	int r = f->path ? sfile_open(f->path, &c.sf, &why) : 0;
	_cleanup_free_ char *moved = r == -ENOENT ? idle_find(f->path) : NULL;

	if (moved) /* since it was listed */
		r = sfile_open(moved, &c.sf, &why);
	if (r < 0 && !err && error_is_of_machine(r))
		log_warn("%s; its samples are missing", why.text);
	if (r < 0)
		return error_set(err, r, "%s", why.text);
	if (c.arcs)
		c.of_arcs = header_of_arcs(c.arcs);
	*ret = xmemdup(&c, sizeof(c));
	return 0;
}

void file_counts_close(struct file_counts *c)
{
	if (!c)
		return;
	sfile_close(c->sf);
	free(c);
}

const struct sfile_header *file_counts_header(const struct file_counts *c)
{
	return c->sf ? sfile_header(c->sf) : c->arcs ? &c->of_arcs : c->past->header;
}

int file_counts_read_header(const struct gather_file *f, struct sfile_header *ret,
			    struct error *err)
{
	_cleanup_(file_counts_closep) struct file_counts *c = NULL;
	int r = file_counts_open(f, &c, err);

	if (r == 0)
		*ret = *file_counts_header(c);
	return r;
}

/* --- reading --- */

void file_counts_at_functions(struct file_counts *c)
{
	c->at_functions = true;
}

/* The offset of a key. */
static uint64_t offset_of(const struct file_counts *c, uint64_t key)
{
	if (!c->are_offsets || !history_is_function(key))
		return key;
	return c->at_functions ? key & ~HISTORY_FUNCTION : SAMPLE_RARE;
}

/* Counts of samples are narrower, so a larger one becomes several. */
static void add_count(struct samples *s, uint64_t offset, uint64_t left, uint32_t class)
{
	while (left) {
		uint32_t count = (uint32_t)MIN(left, (uint64_t)UINT32_MAX);

		array_grow(&s->samples, s->count + 1, &s->room);
		s->samples[s->count++] = (struct sample){ offset, count, class };
		left -= count;
	}
}

static bool read_nodes(const struct file_counts *c, uint32_t class, struct samples *s, size_t *at,
		       size_t most)
{
	const struct odb *db = sfile_odb(c->sf);
	const struct odb_node *nodes;
	size_t i = *at, n, end;

	nodes = odb_nodes(db, &n);
	end = s->count < most ? i + MIN(n - i, most - s->count) : i;
	array_grow(&s->samples, s->count + (end - i), &s->room);
	for (; i < end; i++) {
		if (i && i % STRIDE == 0)
			odb_forget(db, i);
		s->samples[s->count++] =
			(struct sample){ offset_of(c, nodes[i].key), nodes[i].value, class };
	}
	*at = i;
	return i < n;
}

bool file_counts_read_some(struct file_counts *c, uint32_t class, struct samples *s, size_t *at,
			   size_t most)
{
	size_t i;

	if (c->sf)
		return read_nodes(c, class, s, at, most);
	for (i = *at; c->arcs && i < c->arcs->count && s->count < most; i++)
		add_count(s, c->arcs->arcs[i].key, c->arcs->arcs[i].samples, class);
	for (; c->past && i < c->past->count && s->count < most; i++) {
		const struct history_count *past = &c->past->counts[i];

		add_count(s, offset_of(c, past->key), past->count, class + past->step);
	}
	*at = i;
	return i < (c->arcs ? c->arcs->count : c->past->count);
}

uint64_t file_counts_read(struct file_counts *c, uint32_t class, struct samples *s)
{
	size_t first = s->count, at = 0, i;
	uint64_t sum = 0;

	while (file_counts_read_some(c, class, s, &at, s->count + STRIDE))
		;
	for (i = first; i < s->count; i++)
		sum += s->samples[i].count;
	return sum;
}

static uint64_t sum_of_nodes(struct sfile *sf)
{
	const struct odb *db = sfile_odb(sf);
	const struct odb_node *nodes;
	uint64_t sum = 0;
	size_t i = 0, n, end;

	nodes = odb_nodes(db, &n);
	while (i < n) {
		for (end = MIN(n, i + STRIDE); i < end; i++)
			sum += nodes[i].value;
		if (i < n)
			odb_forget(db, i);
	}
	return sum;
}

uint64_t file_counts_sum(struct file_counts *c)
{
	uint64_t sum = 0;
	size_t i;

	if (c->sf)
		return sum_of_nodes(c->sf);
	for (i = 0; c->arcs && i < c->arcs->count; i++)
		sum += c->arcs->arcs[i].samples;
	for (i = 0; c->past && i < c->past->count; i++)
		sum += c->past->counts[i].count;
	return sum;
}

void file_counts_add_sums(struct file_counts *c, uint32_t class, uint64_t *sums)
{
	size_t i;

	if (!c->past)
		sums[class] += file_counts_sum(c);
	for (i = 0; c->past && i < c->past->count; i++)
		sums[class + c->past->counts[i].step] += c->past->counts[i].count;
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

		if (flat->arcs || flat->session != f->session || flat->event != f->event ||
		    flat->count != f->count || flat->unit_mask != f->unit_mask ||
		    file_counts_read_header(flat, &of_flat, NULL) < 0)
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
	_cleanup_(file_counts_closep) struct file_counts *c = NULL;
	_cleanup_(samples_done) struct samples s = SAMPLES_INIT;
	_cleanup_(sfile_closep) struct sfile *sf = NULL;
	int r = file_counts_open(f, &c, err);
	size_t i;

	if (r == 0)
		r = sfile_create(path, header, &sf, err);
	if (r == 0) {
		c->are_offsets = false; /* copies of keys */
		(void)file_counts_read(c, 0, &s);
	}
	for (i = 0; r == 0 && i < s.count; i++) {
		r = odb_add(sfile_odb(sf), s.samples[i].offset, s.samples[i].count);
		if (r < 0)
			(void)error_errno(err, r, "cannot write %s", path);
	}
	return r;
}

/* Gives the file the time of the chains that it comes from, so that archives of one session are
 * equal. */
static int take_time(const char *path, const char *samples, struct error *err)
{
	_cleanup_free_ char *chains = path_join(samples, CHAIN_DIRECTORY);
	_cleanup_close_ int fd = open_regular(path, O_RDONLY | O_NOFOLLOW);
	struct stat st;

	if (fd < 0 || stat(chains, &st) < 0 ||
	    futimens(fd, (struct timespec[]){ st.st_atim, st.st_mtim }) < 0)
		return error_errno(err, fd < 0 ? fd : -errno, "cannot write %s", path);
	return 0;
}

int file_counts_write(const struct gather *g, const struct gather_file *f, const char *directory,
		      char **ret, struct error *err)
{
	const struct manifest_image *image = g->images[f->image].manifest;
	const struct sname name = f->arcs ? f->arcs->name : sname_of_parts(&f->past->name);
	_cleanup_free_ char *below = sname_mangle(&name), *path = NULL;
	struct sfile_header header;
	int r = file_counts_read_header(f, &header, err);

	if (r < 0)
		return r;
	path = xasprintf("%s/%s/%s", directory, g->sessions[f->session].name, below);
	if (f->arcs) {
		header.mtime = image ? image->version.mtime : 0;
		add_event(g, f, &header);
	}
	r = write_file(path, f, &header, err);
	if (r == 0 && f->arcs)
		r = take_time(path, g->sessions[f->session].samples, err);
	if (r == 0)
		*ret = STEAL(path);
	return r;
}
