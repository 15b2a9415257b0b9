/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "chains/chain_arcs.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/parse.h"
#include "chains/chain_read.h"
#include "sfile/setup.h"

#include <string.h>

struct chain_arcs {
	struct chain_reader *reader; /* owns the names */
	struct arena strings;
	struct chain_arcs_file *files;
	size_t count, room;
	struct chain_arc_count *arcs; /* of all files, one file after the other */
};

/* What the arcs of a file have in common. */
struct ends {
	uint32_t context, caller, callee;
	bool callee_entered;
	uint32_t file; /* UINT32_MAX: none */
};

/* An arc as read, with the file that it belongs to. */
struct found {
	uint32_t file;
	struct chain_arc_count arc;
};

struct collect {
	struct chain_arcs *out;
	const struct chain_names *names;
	bool by_library, by_kernel; /* applications are separated */
	uint32_t *owners;   /* by context: a representative of those that differ only in ->end */
	struct map by_ends; /* hash to index + 1 in ->ends */
	struct ends *ends;
	size_t ends_count, ends_room;
	struct found *found;
	size_t found_count, found_room;
};

/* --- the files and their owners --- */

/* Compares contexts without ->end: 0 if they differ in nothing else. */
static int compare_contexts(const void *pa, const void *pb, void *data)
{
	const struct chain_names *names = data;
	const struct chain_context *a = chain_names_context_at(names, *(const uint32_t *)pa);
	const struct chain_context *b = chain_names_context_at(names, *(const uint32_t *)pb);
	int r = (a->app > b->app) - (a->app < b->app);

	r = r ? r : strcmp(a->event, b->event);
	return r ? r : sname_task_compare(&a->task, &b->task);
}

/* Chooses one context to represent all that differ only in ->end. */
static void find_owners(struct collect *c)
{
	uint32_t count = chain_names_contexts(c->names), owner = 0, i;
	_cleanup_free_ uint32_t *order = xcalloc((size_t)count + 1, sizeof(*order));

	c->owners = xcalloc((size_t)count + 1, sizeof(*c->owners));
	for (i = 0; i < count; i++)
		order[i] = i + 1;
	if (count)
		qsort_r(order, count, sizeof(*order), compare_contexts, (void *)c->names);
	for (i = 0; i < count; i++) {
		if (!owner || compare_contexts(&order[i], &owner, (void *)c->names))
			owner = order[i];
		c->owners[order[i]] = owner;
	}
}

/* Returns the application that sample files name for the caller; an anonymous region cannot be the
 * application. */
static uint32_t app_of(const struct collect *c, uint32_t app, uint32_t caller)
{
	const struct sname_image *image = chain_names_image_at(c->names, caller);

	if (image->kind == SNAME_ANON)
		return app;
	if (!(chain_names_is_kernel(c->names, caller) ? c->by_kernel : c->by_library) ||
	    chain_names_image_at(c->names, app)->kind == SNAME_ANON)
		return caller;
	return app;
}

/* Makes the file for arcs with these ends in the chains of a context, or of those that it
 * represents; with caller 0, for where the context's chains end. Returns the file's number, or
 * UINT32_MAX if the context's event is invalid. */
static uint32_t add_file(struct collect *c, const struct ends *ends)
{
	struct chain_arcs *out = c->out;
	const struct chain_context *x = chain_names_context_at(c->names, ends->context);
	const char *end = ends->caller ? NULL : x->end;
	uint32_t caller = ends->caller ?: ends->callee;
	struct sname name = { .callee = *chain_names_image_at(c->names, ends->callee),
			      .has_callee = true,
			      .task = x->task };

	name.app = *chain_names_image_at(c->names, app_of(c, x->app, caller));
	name.image = *chain_names_image_at(c->names, caller);
	if (!chain_event_split(arena_strdup(&out->strings, x->event), &name))
		return UINT32_MAX;
	array_grow(&out->files, out->count + 1, &out->room);
	out->files[out->count] = (struct chain_arcs_file){
		.name = name,
		.end = end,
		.is_kernel = chain_names_is_kernel(c->names, caller),
		.callee_is_kernel = chain_names_is_kernel(c->names, ends->callee),
		.callee_entered = ends->callee_entered,
	};
	return (uint32_t)out->count++;
}

static uint32_t file_of(struct collect *c, const struct chain_arc *arc, bool callee_entered)
{
	struct ends ends = { .context = arc->caller.image ? c->owners[arc->context] : arc->context,
			     .caller = arc->caller.image,
			     .callee = arc->callee.image,
			     .callee_entered = callee_entered };
	uint64_t hash = hash_add(hash_add(hash_u64(ends.context), ends.caller), ends.callee);
	uintptr_t i;

	map_for_each_of(&c->by_ends, hash, i)
	{
		const struct ends *known = &c->ends[i - 1];

		if (known->context == ends.context && known->caller == ends.caller &&
		    known->callee == ends.callee && known->callee_entered == callee_entered)
			return known->file;
	}
	ends.file = add_file(c, &ends);
	array_grow(&c->ends, c->ends_count + 1, &c->ends_room);
	c->ends[c->ends_count++] = ends;
	map_add(&c->by_ends, hash, (void *)(uintptr_t)c->ends_count);
	return ends.file;
}

/* --- arcs --- */

static void add_arc(struct collect *c, const struct chain_arc *arc, bool callee_entered,
		    uint64_t callee_offset, uint64_t samples)
{
	uint32_t file = samples ? file_of(c, arc, callee_entered) : UINT32_MAX;

	if (file == UINT32_MAX)
		return;
	array_grow(&c->found, c->found_count + 1, &c->found_room);
	c->found[c->found_count++] =
		(struct found){ file,
				{ arc->caller.offset << 32 | (uint32_t)callee_offset, samples } };
	c->out->files[file].count++;
}

/* A callee's offset is where it executes. If it waits for a call to return, that is the call, which
 * may be the last instruction of its function: the return address is then in the next one. */
static void take_arc(const struct chain_arc *arc, void *data)
{
	struct collect *c = data;
	uint64_t offset = arc->callee.offset;

	add_arc(c, arc, false, offset, arc->samples - arc->returns - arc->entries);
	add_arc(c, arc, false, offset - (offset > 0), arc->returns);
	add_arc(c, arc, true, offset, arc->entries);
}

/* Distributes the arcs to their files. */
static void deal_out(struct collect *c)
{
	struct chain_arcs *out = c->out;
	_cleanup_free_ struct chain_arc_count **next = xcalloc(out->count + 1, sizeof(*next));
	struct chain_arc_count *at;
	size_t i;

	at = out->arcs = xcalloc(c->found_count + 1, sizeof(*out->arcs));
	for (i = 0; i < out->count; i++) {
		out->files[i].arcs = next[i] = at;
		at += out->files[i].count;
	}
	for (i = 0; i < c->found_count; i++)
		*next[c->found[i].file]++ = c->found[i].arc;
}

static int read_separation(const char *part, void *data)
{
	struct collect *c = data;

	c->by_library |= !strcmp(part, "library");
	c->by_kernel |= !strcmp(part, "kernel");
	return 0;
}

/* Reads how the session's files are separated; if the session does not record it, assumes
 * separation by application. */
static void find_separation(struct collect *c, const char *samples)
{
	struct setup setup = { 0 };

	(void)setup_read(samples, &setup, NULL);
	if (setup.separate)
		(void)parse_list(setup.separate, ',', read_separation, c);
	else
		c->by_library = c->by_kernel = true;
	setup_done(&setup);
}

int chain_arcs_read(const char *samples, const struct window *window, struct chain_arcs **ret,
		    struct error *err)
{
	_cleanup_(chain_arcs_freep) struct chain_arcs *a = xcalloc(1, sizeof(*a));
	struct collect c = { .out = a };
	int r = chain_reader_open(samples, window, &a->reader, err);

	if (r < 0)
		return r;
	c.names = chain_reader_names(a->reader);
	find_separation(&c, samples);
	find_owners(&c);
	chain_reader_arcs(a->reader, take_arc, &c);
	deal_out(&c);
	map_done(&c.by_ends);
	free(c.ends);
	free(c.owners);
	free(c.found);
	*ret = STEAL(a);
	return 0;
}

void chain_arcs_free(struct chain_arcs *a)
{
	if (!a)
		return;
	chain_reader_close(a->reader);
	arena_done(&a->strings);
	free(a->files);
	free(a->arcs);
	free(a);
}

struct chain_skipped chain_arcs_skipped(const struct chain_arcs *a)
{
	return chain_reader_skipped(a->reader);
}

size_t chain_arcs_count(const struct chain_arcs *a)
{
	return a->count;
}

const struct chain_arcs_file *chain_arcs_at(const struct chain_arcs *a, size_t i)
{
	return &a->files[i];
}
