/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/internal/sampled_places.h"

#include "base/macro.h"
#include "base/mem.h"
#include "chains/chain_history.h"
#include "file/path.h"
#include "history/history_kind.h"
#include "history/history_source.h"
#include "history/segment.h"
#include "sfile/idle.h"
#include "sfile/manifest.h"
#include "sfile/odb.h"
#include "sfile/session.h"
#include "sfile/sfile.h"
#include "sfile/sname.h"

#include <errno.h>
#include <stdlib.h>

struct visit {
	struct manifest *manifest;
	sampled_place *each;
	void *data;
	int error;
};

static bool is_damage(int code)
{
	return code == -EBADMSG || code == -EINVAL || code == -EFBIG;
}

/* What the manifest has for an image; NULL: it is no file, or not there. */
static const struct manifest_image *image_of(const struct visit *v, const struct sname_image *image)
{
	return image->kind == SNAME_ROOT ? manifest_find(v->manifest, image->name) : NULL;
}

/* --- sample files --- */

static void visit_key(const struct visit *v, const struct sname *name, uint64_t key)
{
	const struct manifest_image *image = image_of(v, &name->image),
				    *callee = name->has_callee ? image_of(v, &name->callee) : NULL;

	if (image)
		v->each(image, name->has_callee ? key >> 32 : key, v->data);
	if (callee)
		v->each(callee, key & UINT32_MAX, v->data);
}

static int visit_file(const char *path, const struct sname *name, void *data)
{
	struct visit *v = data;
	_cleanup_(sfile_closep) struct sfile *sf = NULL;
	int r = sfile_open(path, &sf, NULL);
	const struct odb_node *nodes;
	size_t count, i;

	/* It may just have been moved: those in idle/ are visited next. */
	if (r < 0)
		return is_damage(r) || r == -ENOENT ? 0 : r;
	nodes = odb_nodes(sfile_odb(sf), &count);
	for (i = 0; i < count; i++)
		visit_key(v, name, nodes[i].key);
	return 0;
}

static void note_error(const char *path _unused_, const struct error *why, void *data)
{
	struct visit *v = data;

	if (!is_damage(why->code))
		v->error = why->code;
}

/* --- segments --- */

/* A segment, and the images that its lines are of. */
struct reading {
	struct visit *visit;
	const struct history_kind *kind;
	struct segment *segment;
	const struct manifest_image **images; /* by line */
};

static const void *find_image(void *data, const struct sname_image *image, bool is_kernel _unused_)
{
	return image_of(data, image);
}

static void visit_node(const struct reading *r, const struct segment_node *node)
{
	uint64_t key = segment_is_function(node->key) ? node->key & ~SEGMENT_FUNCTION : node->key;

	if (r->images[node->line] && key != SEGMENT_RARE)
		r->visit->each(r->images[node->line], key, r->visit->data);
}

static void visit_nodes(const struct reading *r)
{
	const struct segment_about *about = segment_about(r->segment);
	uint32_t i;

	for (i = 1; i <= about->places; i++) {
		const struct segment_node place = segment_place_at(r->segment, i);

		visit_node(r, &place);
	}
	for (i = 1; !about->places && i <= about->nodes; i++) {
		const struct segment_node node = segment_node_at(r->segment, i);

		visit_node(r, &node);
	}
}

static void visit_segment(struct visit *v, const struct history_kind *kind, struct segment *s)
{
	const size_t lines = segment_about(s)->lines;
	_cleanup_free_ const struct manifest_image **images = xcalloc(lines + 1, sizeof(*images));
	const struct reading r = { v, kind, s, images };
	uint32_t i;

	for (i = 1; i <= lines; i++)
		images[i] = kind->image(segment_line(s, i), find_image, v);
	visit_nodes(&r);
}

/* Opens and loads what is at @path, or the generation @source. */
static int load(const char *dir, const struct history_source *source, const char *path,
		struct segment **ret)
{
	size_t damaged = 0;
	int r;

	if (!source->is_segment)
		return source->kind->to_segment(dir, source->first, ret, &damaged);
	r = segment_open(path, ret, NULL);
	return r < 0 ? r : segment_load(*ret, NULL);
}

static int visit_source(struct visit *v, const char *dir, const struct history_source *source,
			const char *path)
{
	_cleanup_(segment_freep) struct segment *s = NULL;
	int r = load(dir, source, path, &s);

	if (r == 0)
		visit_segment(v, source->kind, s);
	/* The keeper alone removes segments, so it is a generation without a slice. */
	return is_damage(r) || r == -ENODATA || r == -ENOENT ? 0 : r;
}

/* Visits the sum of all generations of call chains, some of which may be in it only. */
static int visit_sum(struct visit *v, const char *dir)
{
	const struct history_source source = { .kind = &history_chains, .is_segment = true };
	_cleanup_free_ char *path = NULL;
	uint32_t last;
	int r = sources_sum(dir, &last, NULL);

	if (r <= 0)
		return r;
	path = source_sum_path(dir, last);
	return visit_source(v, dir, &source, path);
}

static int visit_directory(struct visit *v, const char *samples, const char *below,
			   const struct history_kind *kind)
{
	_cleanup_free_ char *dir = path_join(samples, below);
	_cleanup_free_ struct history_source *list = NULL;
	size_t count = 0, i;
	int r = sources_list(dir, kind, &list, &count, NULL);

	for (i = 0; r == 0 && i < count; i++) {
		_cleanup_free_ char *path = source_path(dir, &list[i]);

		r = visit_source(v, dir, &list[i], path);
	}
	return r == 0 && kind->to_sum ? visit_sum(v, dir) : r;
}

int sampled_places(const char *samples, sampled_place *each, void *data)
{
	struct visit v = { .each = each, .data = data };
	int r = manifest_open(samples, false, &v.manifest, NULL);

	/* A session of OProfile 1.x has none; nor does anything of it have a table. */
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	r = session_walk(samples, visit_file, note_error, &v, NULL);
	if (r == 0)
		r = idle_walk(samples, 0, visit_file, note_error, &v, NULL);
	if (r == 0)
		r = visit_directory(&v, samples, SESSION_IDLE, &history_flat);
	if (r == 0)
		r = visit_directory(&v, samples, history_flat.directory, &history_flat);
	if (r == 0)
		r = visit_directory(&v, samples, history_chains.directory, &history_chains);
	manifest_close(v.manifest);
	return r < 0 ? r : v.error;
}
