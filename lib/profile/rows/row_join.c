/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/row_join.h"

#include "base/hash.h"
#include "base/mem.h"
#include "file/path.h"
#include "profile/rows/callgraph.h"
#include "profile/rows/code_kind.h"
#include "profile/rows/row_detail.h"
#include "profile/select/gather.h"
#include "profile/select/programs.h"
#include "sfile/source_image.h"

#include <string.h>

static const char *name_of(const struct row *row)
{
	return row->symbol ? row->symbol->name : "";
}

static uint64_t hash_of(const struct row *row)
{
	uint64_t hash = hash_bytes(name_of(row), strlen(name_of(row)));

	return hash_add(hash_add(hash, (uint64_t)row->image << 32 | row->app),
			(uint64_t)row->kind << 1 | row->is_inlined);
}

/* Whether two functions of one name in the image can be told apart by their addresses: those of a
 * file, which may have several. */
static bool has_addresses(const struct gather *g, uint32_t image)
{
	return g->images[image].id.kind != SNAME_ANON &&
	       !source_image_is(g->images[image].manifest);
}

static bool is_same(const struct row_join *j, const struct gather *g, const struct row *a,
		    const struct row *b)
{
	return a->image == b->image && a->app == b->app && a->kind == b->kind &&
	       a->is_inlined == b->is_inlined && !strcmp(name_of(a), name_of(b)) &&
	       (!j->by_address || a->address == b->address || !has_addresses(g, a->image));
}

size_t row_join_find(const struct row_join *j, const struct container *c, const struct gather *g,
		     const struct row *row)
{
	uintptr_t number;

	map_for_each_of(&j->by_hash, hash_of(row),
			number) if (is_same(j, g, &c->rows[number - 1], row)) return number -
		1;
	return SIZE_MAX;
}

void row_join_note(struct row_join *j, const struct row *row, size_t index)
{
	map_add(&j->by_hash, hash_of(row), (void *)(uintptr_t)(index + 1));
}

void row_join_done(struct row_join *j)
{
	map_done(&j->by_hash);
}

/* Lets arcs lead to other rows: @ids has the id of that for each. */
static void move_arcs(struct callgraph *graph, const uint32_t *ids)
{
	size_t i;

	for (i = 0; i < graph->raw.count; i++) {
		uint64_t *key = &graph->raw.samples[i].offset;

		*key = (uint64_t)ids[*key >> 32] << 32 | ids[*key & UINT32_MAX];
	}
}

/* Moves row number @i to its program: it stays there as number @to, or is added to one that is
 * there already. Returns whether it stays. */
static bool join(struct container *c, const struct gather *g, struct row_join *join, size_t i,
		 size_t to, uint32_t *ids)
{
	const struct row *row = &c->rows[i];
	size_t at = row_join_find(join, c, g, row), k;

	if (at == SIZE_MAX) {
		row_join_note(join, row, to);
		return true;
	}
	for (k = 0; k < c->class_count; k++)
		c->rows[at].counts[k] += row->counts[k];
	detail_join(&c->rows[at], row);
	ids[row->id] = (uint32_t)at;
	return false;
}

struct moving {
	struct map known; /* for what a move_fn finds */
	bool merge_lib;	  /* the rows of all applications are one */
	bool by_address;  /* as in struct row_join */
	bool regions;	  /* regions stay */
};

/* Changes what a row is of. Returns whether there may be others that are the same then. */
typedef bool (*move_fn)(struct container *c, const struct gather *g, struct row *row,
			struct moving *m);

static void join_moved(struct container *c, const struct gather *g, move_fn move, struct moving *m,
		       struct callgraph *graph)
{
	_cleanup_free_ uint32_t *ids = xcalloc(c->count + 1, sizeof(*ids));
	struct row_join programs = { .by_hash = MAP_INIT, .by_address = m->by_address };
	size_t i, n = 0;

	for (i = 0; i < c->count; i++) {
		struct row *row = &c->rows[i];

		ids[row->id] = (uint32_t)n;
		if (move(c, g, row, m) && !join(c, g, &programs, i, n, ids))
			continue;
		c->rows[n] = *row;
		c->rows[n].id = (uint32_t)n;
		n++;
	}
	c->count = n;
	row_join_done(&programs);
	map_done(&m->known);
	if (graph)
		move_arcs(graph, ids);
}

static bool to_shown(struct container *c _unused_, const struct gather *g, struct row *row,
		     struct moving *m)
{
	const uint32_t shown =
		m->regions ? programs_same(g, row->image) : programs_shown(g, row->image);
	const bool may_join = shown != row->image || g->has_archives;

	row->image = shown;
	if (row->app != GATHER_NONE)
		row->app = programs_same(g, row->app);
	return may_join;
}

void row_join_images(struct container *c, const struct gather *g, bool regions,
		     struct callgraph *graph)
{
	join_moved(c, g, to_shown,
		   &(struct moving){ .known = MAP_INIT, .by_address = true, .regions = regions },
		   graph);
}

static bool runs(const struct gather *g, uint32_t image, enum code_kind kind)
{
	enum code_kind found;

	return code_kind_image_runs(g, image, &found) && found == kind;
}

static bool is_library(const struct gather *g, uint32_t image)
{
	return !strncmp(path_base(g->images[image].display), "lib", 3);
}

/* Whether image @a is the interpreter rather than @b: a library, then the first by name. */
static bool is_rather(const struct gather *g, uint32_t a, uint32_t b)
{
	if (is_library(g, a) != is_library(g, b))
		return is_library(g, a);
	return strcmp(g->images[a].shown, g->images[b].shown) < 0;
}

/* The image of the interpreter that runs code of @kind in the application: a library, if it has
 * samples, else the program. GATHER_NONE: neither. */
static uint32_t find_interpreter(const struct gather *g, uint32_t app, enum code_kind kind)
{
	uint32_t found = app != GATHER_NONE && runs(g, app, kind) ? app : GATHER_NONE;
	size_t i;

	for (i = 0; i < g->file_count; i++) {
		const struct gather_file *f = &g->files[i];

		const uint32_t image = programs_shown(g, f->image);

		if (programs_shown(g, f->app) != app || image == found || !runs(g, image, kind))
			continue;
		if (found == GATHER_NONE || (found == app && is_library(g, image)) ||
		    (found != app && is_rather(g, image, found)))
			found = image;
	}
	return found;
}

/* The same; each is searched once. */
static uint32_t interpreter_of(const struct gather *g, uint32_t app, enum code_kind kind,
			       struct map *known)
{
	const uint64_t key = (uint64_t)app * CODE_KIND_COUNT_ + kind;
	uintptr_t found = (uintptr_t)map_get(known, key);

	if (!found) {
		found = (uintptr_t)find_interpreter(g, app, kind) + 1;
		(void)map_set(known, key, (void *)found);
	}
	return (uint32_t)(found - 1);
}

static bool to_interpreter(struct container *c, const struct gather *g, struct row *row,
			   struct moving *m)
{
	const enum code_kind kind = code_kind_of(g, row);
	enum code_kind code;
	uint32_t image;

	if (!source_image_is(g->images[row->image].manifest))
		return row->kind == ROW_SYMBOL && code_kind_is_runtime(g, row, &code) &&
		       code_kind_loop(code) && !strcmp(name_of(row), code_kind_loop(code));
	image = interpreter_of(g, row->app, kind, &m->known);
	if (m->merge_lib)
		row->app = GATHER_NONE;
	if (image == GATHER_NONE || !code_kind_loop(kind))
		return true;
	row->image = image;
	row->kind = ROW_SYMBOL;
	row->symbol = container_symbol(c, code_kind_loop(kind));
	row->symbol_index = UINT32_MAX;
	row->address = 0;
	row->place = (struct row_place){ 0 };
	return true;
}

bool row_join_loop(struct container *c, const struct gather *g, struct row *row, struct map *known)
{
	struct moving m = { .known = *known, .merge_lib = true };
	bool is_loop = to_interpreter(c, g, row, &m);

	*known = m.known;
	return is_loop;
}

void row_join_native(struct container *c, const struct gather *g, bool merge_lib)
{
	struct moving m = { .known = MAP_INIT, .merge_lib = merge_lib };

	join_moved(c, g, to_interpreter, &m, NULL);
}
