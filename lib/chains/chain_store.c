/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "chains/chain_store.h"

#include "base/hash.h"
#include "base/mem.h"
#include "file/path.h"
#include "chains/chain_history.h"
#include "chains/chain_table.h"
#include "chains/internal/chain_lookup.h"
#include "chains/internal/chain_slicer.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

/* Number of nodes at which a pair of files is full. Starting a new pair then bounds the mapping (9
 * MiB) and the lookup (4 MiB: 2^20 slots, which more nodes would soon double) in long sessions.
 * Chains seen before are stored again in the new pair. */
enum { NODES_MAX = 750000 };

/* Number of images at which a pair is full: then those of another chain still have numbers. */
enum { IMAGES_FULL = CHAIN_IMAGES_MAX - CHAIN_FRAMES_MAX - 1 };

/* Memory for names at which a pair is full: tasks that are kept apart have a context each. */
enum { NAMES_BYTES = 8 << 20 };

enum { AHEAD = 16 }; /* prefetch distance in records */

/* How long a pair of files is added to in a session with a history. */
enum { PAIR_MS = 3600 * 1000 };
#define NO_HOUR INT64_MIN

/* A frame of a chain and its position in the tree. */
struct step {
	struct chain_frame frame;
	struct chain_callers at;
};

/* The chain added last, outermost first: the next one usually starts with the same frames. */
struct memo {
	uint32_t context; /* 0: none */
	struct chain_callers root;
	struct step *steps;
	size_t count, room;
};

struct chain_store {
	char *dir;
	struct chain_names *names;
	uint32_t generation; /* which pair of files */
	struct chain_table places, nodes;
	struct lookup by_place, by_node;
	struct memo memo;
	uint32_t *paths; /* of the chain being added, outermost first */
	size_t path_room;

	/* The history, if there is one. */
	bool has_slices;
	struct chain_slicer slicer;
	int64_t hour; /* of the first slice of the pair; NO_HOUR before it */
	bool is_over; /* the hour, or there is no room for more slices: the pair ends */
};

static uint64_t pack(const struct chain_frame *f)
{
	return (uint64_t)f->image << CHAIN_OFFSET_BITS |
	       (f->offset & (((uint64_t)1 << CHAIN_OFFSET_BITS) - 1));
}

static uint64_t place_hash(uint64_t image_offset)
{
	return hash_u64(image_offset);
}

/* A node is looked up by a hash of all places on the path to it. The hashes of all frames of a
 * chain are thus known before any of them is found, and the memory for all can be prefetched at
 * once. */
static uint32_t path_of_context(uint32_t context)
{
	return (uint32_t)hash_u64(context);
}

static uint32_t path_below(uint32_t path, uint64_t image_offset)
{
	return (uint32_t)hash_u64(image_offset ^ path * 0x9e3779b97f4a7c15ULL);
}

static uint64_t place_value(const struct chain_store *s, uint32_t i)
{
	return ((const struct chain_place *)chain_table_at(&s->places, i))->image_offset;
}

static struct chain_node *node_at(const struct chain_store *s, uint32_t i)
{
	return chain_table_at(&s->nodes, i);
}

/* --- the lookups --- */

static void index_places(struct chain_store *s)
{
	uint32_t i;

	lookup_reset(&s->by_place, s->places.count);
	for (i = 1; i < s->places.count; i++) {
		if (i + AHEAD < s->places.count)
			lookup_fetch(&s->by_place, place_hash(place_value(s, i + AHEAD)));
		lookup_put(&s->by_place, place_hash(place_value(s, i)), i);
	}
}

/* Returns the path hash of each node; parents precede their children. The caller frees it. */
static uint32_t *node_paths(const struct chain_store *s)
{
	uint32_t *paths = xcalloc(s->nodes.count, sizeof(*paths)), i;

	for (i = 1; i < s->nodes.count; i++) {
		const struct chain_node *n = node_at(s, i);

		paths[i] = n->parent ? path_below(paths[n->parent], place_value(s, n->place))
				     : path_of_context(n->place);
	}
	return paths;
}

static void index_nodes(struct chain_store *s)
{
	_cleanup_free_ uint32_t *paths = node_paths(s);
	uint32_t i;

	lookup_reset(&s->by_node, s->nodes.count);
	for (i = 1; i < s->nodes.count; i++) {
		if (i + AHEAD < s->nodes.count)
			lookup_fetch(&s->by_node, paths[i + AHEAD]);
		lookup_put(&s->by_node, paths[i], i);
	}
}

static int out_of_space(const struct chain_store *s, struct error *err)
{
	return error_errno(err, -errno, "cannot add call chains to %s", s->dir);
}

/* Gets the number of a place, adding it if it is new. Returns 0 or -errno. */
static int find_place(struct chain_store *s, uint64_t value, uint32_t *ret, struct error *err)
{
	const struct chain_place place = { value };
	uint32_t i, number;

	for (i = (uint32_t)place_hash(value) & s->by_place.mask; (number = s->by_place.slots[i]);
	     i = (i + 1) & s->by_place.mask) {
		if (place_value(s, number) != value)
			continue;
		*ret = number;
		return 0;
	}
	number = chain_table_add(&s->places, &place);
	if (!number)
		return out_of_space(s, err);
	if (lookup_is_full(&s->by_place))
		index_places(s);
	else
		lookup_put(&s->by_place, place_hash(value), number);
	*ret = number;
	return 0;
}

/* Returns the node below @parent at the place with that value, or 0. */
static uint32_t find_node(const struct chain_store *s, uint32_t parent, uint32_t path,
			  uint64_t value)
{
	const struct lookup *l = &s->by_node;
	uint32_t i, number;

	for (i = path & l->mask; (number = l->slots[i]); i = (i + 1) & l->mask) {
		const struct chain_node *n = node_at(s, number);

		if (n->parent == parent && place_value(s, n->place) == value)
			return number;
	}
	return 0;
}

static int add_node(struct chain_store *s, const struct chain_node *node, uint32_t path,
		    uint32_t *ret, struct error *err)
{
	uint32_t number = chain_table_add(&s->nodes, node);

	if (!number)
		return out_of_space(s, err);
	if (lookup_is_full(&s->by_node))
		index_nodes(s);
	else
		lookup_put(&s->by_node, path, number);
	*ret = number;
	return 0;
}

/* Adds a node for a place below @parent. Returns 0 or -errno. */
static int add_below(struct chain_store *s, uint32_t parent, uint32_t path, uint64_t value,
		     uint32_t *ret, struct error *err)
{
	struct chain_node node = { .parent = parent };
	int r = find_place(s, value, &node.place, err);

	return r < 0 ? r : add_node(s, &node, path, ret, err);
}

/* Gets the root node of a context, adding it if it is new. Returns 0 or -errno. */
static int find_root(struct chain_store *s, uint32_t context, struct chain_callers *ret,
		     struct error *err)
{
	const struct chain_node node = { .place = context };
	uint32_t path = path_of_context(context), i, number;
	int r;

	for (i = path & s->by_node.mask; (number = s->by_node.slots[i]);
	     i = (i + 1) & s->by_node.mask)
		if (!node_at(s, number)->parent && node_at(s, number)->place == context)
			break;
	r = number ? 0 : add_node(s, &node, path, &number, err);
	if (r == 0)
		*ret = (struct chain_callers){ number, path };
	return r;
}

/* --- opening --- */

static void close_tables(struct chain_store *s)
{
	chain_names_close(s->names);
	s->names = NULL;
	chain_table_close(&s->places);
	chain_table_close(&s->nodes);
	s->memo.count = 0;
	s->memo.context = 0;
}

/* Returns the first invalid record, or the count; the records after it are discarded. */
static uint32_t sound_places(const struct chain_store *s)
{
	uint32_t i;

	for (i = 1; i < s->places.count; i++) {
		uint64_t image = place_value(s, i) >> CHAIN_OFFSET_BITS;

		if (!image || image > chain_names_images(s->names))
			break;
	}
	return i;
}

static uint32_t sound_nodes(const struct chain_store *s)
{
	uint32_t i;

	for (i = 1; i < s->nodes.count; i++) {
		const struct chain_node *n = node_at(s, i);
		uint32_t most = n->parent ? s->places.count - 1 : chain_names_contexts(s->names);

		if (n->parent >= i || !n->place || n->place > most)
			break;
	}
	return i;
}

static int open_tables(struct chain_store *s, struct error *err)
{
	_cleanup_free_ char *places = xasprintf("%s/places.%" PRIu32, s->dir, s->generation);
	_cleanup_free_ char *nodes = xasprintf("%s/nodes.%" PRIu32, s->dir, s->generation);
	/* The nodes last: readers take the pair for one that exists. */
	int r = chain_names_open(s->dir, s->generation, true, &s->names, err);

	if (r == 0)
		r = chain_table_open(&s->places, places, CHAIN_TABLE_PLACES, true, err);
	if (r == 0)
		r = chain_table_open(&s->nodes, nodes, CHAIN_TABLE_NODES, true, err);
	if (r < 0) {
		close_tables(s);
		return r;
	}
	chain_table_cut(&s->places, sound_places(s));
	chain_table_cut(&s->nodes, sound_nodes(s));
	index_places(s);
	index_nodes(s);
	return 0;
}

static int store_open(const char *samples, bool has_slices, struct chain_store **ret,
		      struct error *err)
{
	_cleanup_(chain_store_closep) struct chain_store *s = xcalloc(1, sizeof(*s));
	int r;

	s->places = s->nodes = CHAIN_TABLE_INIT;
	s->has_slices = has_slices;
	s->hour = NO_HOUR;
	s->dir = path_join(samples, CHAIN_DIRECTORY);
	r = path_make_dirs(s->dir, 0755, err);
	if (r < 0)
		return r;
	r = chain_history_pair(s->dir, has_slices, &s->generation, err);
	if (r == 0)
		r = open_tables(s, err);
	if (r == 0)
		*ret = STEAL(s);
	return r;
}

int chain_store_open(const char *samples, struct chain_store **ret, struct error *err)
{
	return store_open(samples, false, ret, err);
}

int chain_store_open_sliced(const char *samples, struct chain_store **ret, struct error *err)
{
	return store_open(samples, true, ret, err);
}

void chain_store_close(struct chain_store *s)
{
	if (!s)
		return;
	close_tables(s);
	chain_slicer_done(&s->slicer);
	free(s->by_place.slots);
	free(s->by_node.slots);
	free(s->memo.steps);
	free(s->paths);
	free(s->dir);
	free(s);
}

int chain_store_image(struct chain_store *s, const struct sname_image *image, bool is_kernel,
		      uint32_t *ret, struct error *err)
{
	return chain_names_image(s->names, image, is_kernel, ret, err);
}

int chain_store_context(struct chain_store *s, const struct chain_context *context, uint32_t *ret,
			struct error *err)
{
	return chain_names_context(s->names, context, ret, err);
}

/* --- adding --- */

static void remember(struct memo *m, const struct chain_frame *frame, uint32_t node, uint32_t path)
{
	array_grow(&m->steps, m->count + 1, &m->room);
	m->steps[m->count++] = (struct step){ *frame, { node, path } };
}

/* Returns the position of the first @count frames of the chain added last. */
static struct chain_callers reached(const struct memo *m, size_t count)
{
	return count ? m->steps[count - 1].at : m->root;
}

/* Returns the @i-th of the chain's @count innermost frames, counted from the outermost. */
static const struct chain_frame *frame_at(const struct chain *chain, size_t count, size_t i)
{
	return &chain->frames[count - 1 - i];
}

/* Returns the number of frames, from the outermost on, that the chain shares with the one before
 * it. */
static size_t common(const struct memo *m, const struct chain *chain, size_t count)
{
	size_t n = 0;

	while (n < count && n < m->count) {
		const struct chain_frame *f = frame_at(chain, count, n);

		if (f->image != m->steps[n].frame.image || f->offset != m->steps[n].frame.offset)
			break;
		n++;
	}
	return n;
}

/* Computes the paths of the chain's frames from the @from-th on, outermost first, and prefetches
 * the memory to be read. This takes several passes because each needs what the one before has
 * fetched. */
static void make_paths(struct chain_store *s, const struct chain *chain, size_t from, size_t count)
{
	uint32_t path = reached(&s->memo, from).path;
	const struct lookup *l = &s->by_node;
	size_t i;

	array_grow(&s->paths, count, &s->path_room);
	for (i = from; i < count; i++) {
		path = s->paths[i] = path_below(path, pack(frame_at(chain, count, i)));
		lookup_fetch(l, path);
	}
	for (i = from; i < count; i++)
		__builtin_prefetch(node_at(s, l->slots[s->paths[i] & l->mask]));
	for (i = from; i < count; i++)
		__builtin_prefetch(chain_table_at(
			&s->places, node_at(s, l->slots[s->paths[i] & l->mask])->place));
}

/* Adds the chain's frames from the @from-th on. Returns 0 or -errno. */
static int add_frames(struct chain_store *s, const struct chain *chain, size_t from, size_t count,
		      struct error *err)
{
	uint32_t node = reached(&s->memo, from).node;
	size_t i;
	int r = 0;

	for (i = from; i < count; i++)
		lookup_fetch(&s->by_place, place_hash(pack(frame_at(chain, count, i))));
	for (i = from; i < count && r == 0; i++) {
		r = add_below(s, node, s->paths[i], pack(frame_at(chain, count, i)), &node, err);
		if (r == 0)
			remember(&s->memo, frame_at(chain, count, i), node, s->paths[i]);
	}
	return r;
}

/* Puts the chain in the memo with its nodes, which are added if they are new. Returns 0 or
 * -errno. */
static int find_chain(struct chain_store *s, uint32_t context, const struct chain *chain,
		      size_t count, struct error *err)
{
	struct memo *m = &s->memo;
	uint32_t node;
	size_t i;
	int r;

	if (m->context != context) {
		m->context = 0;
		m->count = 0;
		r = find_root(s, context, &m->root, err);
		if (r < 0)
			return r;
		m->context = context;
	}
	m->count = i = common(m, chain, count);
	make_paths(s, chain, i, count);
	node = reached(m, i).node;
	for (; i < count; i++) {
		node = find_node(s, node, s->paths[i], pack(frame_at(chain, count, i)));
		if (!node)
			break;
		remember(m, frame_at(chain, count, i), node, s->paths[i]);
	}
	return add_frames(s, chain, i, count, err);
}

static uint32_t add_saturated(uint32_t count, uint64_t samples)
{
	return samples > UINT32_MAX - count ? UINT32_MAX : count + (uint32_t)samples;
}

/* Adds @samples to the chain of @node. */
static void count_chain(struct chain_store *s, uint32_t node, uint64_t samples)
{
	uint32_t *count = &node_at(s, node)->count;

	if (s->has_slices)
		chain_slicer_note(&s->slicer, node, *count);
	*count = add_saturated(*count, samples);
}

int chain_store_turn(struct chain_store *s, struct error *err)
{
	bool is_full = chain_store_is_full(s);
	int r = 0;

	if (is_full) {
		chain_slicer_leave(&s->slicer, &s->nodes, s->generation);
		close_tables(s);
		s->generation++;
		s->hour = NO_HOUR;
		s->is_over = false;
	}
	/* If the last attempt failed, try again: its cause may be gone. */
	if (s->nodes.fd < 0)
		r = open_tables(s, err);
	return r < 0 ? r : is_full;
}

int chain_store_add(struct chain_store *s, uint32_t context, const struct chain *chain,
		    struct error *err)
{
	size_t count = MIN(chain->count, (size_t)CHAIN_FRAMES_MAX);
	int r = find_chain(s, context, chain, count, err);

	if (r < 0)
		return r;
	count_chain(s, reached(&s->memo, count).node, chain->samples);
	return 0;
}

struct chain_callers chain_store_callers(const struct chain_store *s)
{
	return reached(&s->memo, s->memo.count - 1);
}

int chain_store_add_called(struct chain_store *s, const struct chain_callers *callers,
			   const struct chain_frame *leaf, uint64_t samples)
{
	uint64_t value = pack(leaf);
	uint32_t path = path_below(callers->path, value);
	uint32_t node = find_node(s, callers->node, path, value);
	int r = node ? 0 : add_below(s, callers->node, path, value, &node, NULL);

	if (r == 0)
		count_chain(s, node, samples);
	return r;
}

int chain_store_end_slice(struct chain_store *s, const struct slice *slice, struct error *err)
{
	const struct chain_slicer_place place = { s->dir, s->generation };
	int64_t hour = slice->span.end_ms / PAIR_MS;
	int r = chain_slicer_end(&s->slicer, &s->nodes, &place, slice, err);

	s->hour = s->hour == NO_HOUR ? hour : s->hour;
	s->is_over |= hour != s->hour || chain_slicer_is_full(&s->slicer);
	return r;
}

void chain_store_end_pair(struct chain_store *s)
{
	s->is_over = true;
}

uint32_t chain_store_live(const struct chain_store *s)
{
	/* Once it is over, nothing is added to a pair before the next one begins. */
	return s->slicer.left_count ? s->slicer.left[0].pair : s->generation + s->is_over;
}

bool chain_store_is_full(const struct chain_store *s)
{
	return s->nodes.count >= NODES_MAX || s->is_over ||
	       (s->names && (chain_names_images(s->names) >= IMAGES_FULL ||
			     chain_names_memory(s->names) >= NAMES_BYTES));
}

size_t chain_store_memory(const struct chain_store *s)
{
	size_t slots = (size_t)s->by_place.mask + s->by_node.mask + 2;

	return s->places.mapped + s->nodes.mapped + slots * sizeof(uint32_t) +
	       chain_slicer_memory(&s->slicer) + (s->names ? chain_names_memory(s->names) : 0);
}
