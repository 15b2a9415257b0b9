/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/internal/generations.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "history/segment.h"
#include "history/segment_made.h"
#include "sfile/check.h"
#include "sfile/odb.h"
#include "sfile/session.h"
#include "sfile/sfile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A generation that is read into memory. */
struct reading {
	struct segment_made made;
	uint32_t *roots; /* the node of each line, from 1 on; 0: the line is damaged */
	size_t lines, room;
	size_t damaged;	    /* bytes */
	struct strbuf *bad; /* paths of damaged files */
	int error;	    /* -errno: some files cannot be read at present */
};

/* Whether @code says that a file is damaged, not that it cannot be read at present. */
static bool is_damage(int code)
{
	return code == -EBADMSG || code == -EINVAL || code == -EIO;
}

static void take_line(char *line, size_t bytes, void *data)
{
	struct reading *r = data;

	array_grow(&r->roots, r->lines + 2, &r->room);
	r->roots[++r->lines] = line ? segment_tree_node(&r->made.tree, 0,
							segment_tree_line(&r->made.tree, line), 0)
				    : 0;
	r->damaged += line ? 0 : bytes;
}

static void take_count(uint32_t line, uint64_t key, uint64_t count, void *data)
{
	struct reading *r = data;
	struct segment_tree *t = &r->made.tree;
	uint32_t root = r->roots[line];

	if (root)
		segment_made_count(&r->made, segment_tree_node(t, root, t->nodes[root].line, key),
				   count);
}

static void take_slice(struct reading *r, struct slices *s, const struct slice *slice,
		       uint32_t number)
{
	struct generation_content c = { .lines = r->lines };
	size_t before = r->made.count;

	c.bytes = slices_content(s, &c.size);
	if (!c.bytes || !generation_each_count(&c, take_count, r)) {
		r->made.count = before; /* as if there were no such slice */
		r->damaged += c.size;
		return;
	}
	segment_made_slice(&r->made, &(struct segment_slice){
					     .slice = *slice,
					     .covered_ms = (uint64_t)(slice->span.end_ms -
								      slice->span.begin_ms),
					     .generation = number,
				     });
}

static void reading_done(struct reading *r)
{
	segment_made_done(&r->made);
	free(r->roots);
}

int generation_to_segment(const char *dir, uint32_t number, struct segment **ret, size_t *damaged)
{
	_cleanup_free_ char *names = generation_names_path(dir, number),
			    *path = generation_slices_path(dir, number);
	_cleanup_(slices_freep) struct slices *s = NULL;
	struct reading r = { 0 };
	struct slice slice;
	int status = slices_read(path, &s, NULL);

	if (status < 0)
		return status;
	segment_tree_init(&r.made.tree);
	status = generation_each_line(names, take_line, &r);
	if (status < 0 && status != -ENOENT && !is_damage(status)) {
		reading_done(&r);
		return status;
	}
	while (slices_next(s, &slice))
		take_slice(&r, s, &slice, number);
	*damaged += r.damaged + slices_damaged(s);
	*ret = segment_of(&r.made);
	reading_done(&r);
	return 0;
}

/* --- sample files --- */

/* Adds the line of the sample file @name with @header. */
static void take_name(struct reading *r, const struct sname *name,
		      const struct sfile_header *header)
{
	const struct history_name about = { .name = *name, .header = *header };
	_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT;
	_cleanup_free_ char *path = sname_mangle(name);

	generation_add_name(&line, &about, path);
	strbuf_cut(&line, line.length - 1);
	take_line(line.text, line.length, r);
}

static void add_bad(struct reading *r, const char *path)
{
	strbuf_add(r->bad, path, strlen(path) + 1);
}

/* Opens a sample file that nobody writes; a damaged one is repaired, as its next writer would. */
static int open_file(const char *path, struct sfile **ret)
{
	struct error err = ERROR_INIT;
	struct check_result found;
	int r = sfile_open(path, ret, &err);

	if (!is_damage(r) || check_repair(path, &found, NULL) < 0)
		return r;
	log_warn("%s; repaired: %" PRIu64 " node%s with %" PRIu64 " sample%s", err.text,
		 found.nodes, text_plural(found.nodes), found.samples, text_plural(found.samples));
	return sfile_open(path, ret, NULL);
}

static int take_file(const char *path, const struct sname *name, void *data)
{
	struct reading *r = data;
	_cleanup_(sfile_closep) struct sfile *sf = NULL;
	const struct odb_node *nodes;
	size_t count, i;
	int status = name->has_callee ? -EBADMSG : open_file(path, &sf);

	if (status < 0) {
		if (!is_damage(status))
			return status;
		add_bad(r, path);
		return 0;
	}
	take_name(r, name, sfile_header(sf));
	nodes = odb_nodes(sfile_odb(sf), &count);
	for (i = 0; i < count; i++)
		if (nodes[i].value)
			take_count((uint32_t)r->lines, nodes[i].key, nodes[i].value, r);
	return 0;
}

static void take_bad(const char *path, const struct error *why, void *data)
{
	struct reading *r = data;

	if (is_damage(why->code))
		add_bad(r, path);
	else
		r->error = why->code;
}

int files_to_segment(const char *samples, struct segment **ret, struct strbuf *damaged)
{
	const struct segment_slice slice = { .slice.span = { 0, 1 },
					     .covered_ms = 1,
					     .generation = 1 };
	struct reading r = { .bad = damaged };
	int status;

	segment_tree_init(&r.made.tree);
	status = session_walk(samples, take_file, take_bad, &r, NULL);
	if (status == 0)
		status = r.error;
	if (status == 0) {
		segment_made_slice(&r.made, &slice);
		*ret = segment_of(&r.made);
	}
	reading_done(&r);
	return status;
}
