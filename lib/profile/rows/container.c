/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/container.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/radix.h"
#include "base/parallel.h"
#include "base/strbuf.h"
#include "symbol/smartname.h"
#include "profile/select/classes.h"
#include "profile/select/gather.h"
#include "profile/select/symfilter.h"

#include <string.h>

static const char *const kind_text[] = {
#define X(kind, text) [ROW_##kind] = text,
	ROW_KINDS(X)
#undef X
};
static_assert(ARRAY_SIZE(kind_text) == ROW_KIND_COUNT_, "a text for each kind");

const char *row_kind_text(enum row_kind kind)
{
	return kind_text[kind];
}

void container_init(struct container *c, size_t class_count)
{
	*c = (struct container){ .class_count = class_count, .weight = 1 };
	c->totals = xcalloc(class_count, sizeof(*c->totals));
	c->events = xcalloc(class_count, sizeof(*c->events));
	c->squares = xcalloc(class_count, sizeof(*c->squares));
	c->none = xcalloc(class_count, sizeof(*c->none));
	c->hidden = xcalloc(class_count, sizeof(*c->hidden));
	c->beyond = xcalloc(class_count, sizeof(*c->beyond));
	c->unchosen = xcalloc(class_count, sizeof(*c->unchosen));
}

void container_init_classes(struct container *c, const struct classes *classes)
{
	size_t i;

	container_init(c, classes->count);
	for (i = 1; i < classes->count; i++)
		c->events[i] = c->events[i - 1] +
			       !class_same_event(&classes->classes[i - 1], &classes->classes[i]);
}

void container_init_like(struct container *c, const struct container *other)
{
	container_init(c, other->class_count);
	memcpy(c->events, other->events, c->class_count * sizeof(*c->events));
	memcpy(c->totals, other->totals, c->class_count * sizeof(*c->totals));
}

void container_done(struct container *c)
{
	free(c->rows);
	free(c->events);
	free(c->squares);
	free(c->totals);
	free(c->none);
	free(c->hidden);
	free(c->beyond);
	free(c->unchosen);
	free(c->block_totals);
	free(c->block_lengths);
	arena_done(&c->arena);
	*c = (struct container){ 0 };
}

struct row *container_add_row(struct container *c, const struct row *row)
{
	size_t size = c->class_count * sizeof(*row->counts);
	struct row *added;

	array_grow(&c->rows, c->count + 1, &c->room);
	added = &c->rows[c->count];
	*added = *row;
	added->id = (uint32_t)c->count++;
	added->counts = memset(arena_alloc(&c->arena, size), 0, size);
	return added;
}

const uint64_t *container_counts(const struct container *c, const struct row *row)
{
	return row->is_gone ? c->none : row->counts;
}

uint64_t container_sum(const uint64_t *counts, size_t class_count)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < class_count; i++)
		sum += counts[i];
	return sum;
}

struct statistics_noise container_noise(const struct container *c, size_t class)
{
	return (struct statistics_noise){ .weight = c->weight, .squares = c->squares[class] };
}

struct statistics_interval container_interval(const struct container *c, size_t class,
					      uint64_t count, uint64_t total)
{
	return statistics_share(
		(struct statistics_part){ count, total, container_noise(c, class) });
}

struct statistics_blocks container_blocks(const struct container *c, const uint64_t *blocks,
					  const uint64_t *totals, size_t class)
{
	size_t at = class * (c->block_count + 1) + 1;

	if (!c->block_count || !blocks || !totals)
		return (struct statistics_blocks){ 0 };
	return (struct statistics_blocks){ blocks + at, totals + at, c->block_count,
					   c->blocks_are_sessions, c->block_lengths };
}

struct container_measured container_measured(const struct container *c, bool of_share)
{
	struct container_measured m = { 0 };
	size_t i;

	for (i = 0; i < c->class_count; i++) {
		/* The counts do not matter here, only which blocks have samples. */
		const struct statistics_blocks b =
			container_blocks(c, c->block_totals, c->block_totals, i);
		size_t count = statistics_measured_blocks(&b, of_share);

		if (!c->totals[i])
			continue;
		m.is_partial |= !count;
		m.least = m.least && count ? MIN(m.least, count) : MAX(m.least, count);
		m.most = MAX(m.most, count);
	}
	return m;
}

struct statistics_interval container_row_interval(const struct container *c, const struct row *row,
						  const struct row *whole, size_t class)
{
	const struct statistics_blocks blocks =
		container_blocks(c, row->is_gone ? NULL : row->blocks,
				 whole ? whole->blocks : c->block_totals, class);

	return statistics_share((struct statistics_part){
		container_counts(c, row)[class], (whole ? whole->counts : c->totals)[class],
		statistics_share_noise(&blocks, container_noise(c, class)) });
}

/* Makes the count of each class from those of its slots. */
static void join_slots(uint64_t *to, const uint64_t *from, const struct container *c,
		       bool has_whole)
{
	size_t slots = c->block_count + 1, i;

	for (i = 0; i < c->class_count; i++)
		to[i] = has_whole ? from[i * slots] : container_sum(from + i * slots, slots);
}

void container_join_blocks(struct container *c, size_t slots, bool has_whole, bool are_sessions)
{
	size_t i, n = 0;

	c->class_count /= slots;
	c->block_count = slots - 1;
	c->blocks_are_sessions = are_sessions;
	c->block_totals = c->totals;
	c->totals = xcalloc(c->class_count, sizeof(*c->totals));
	join_slots(c->totals, c->block_totals, c, has_whole);
	for (i = 0; i < c->class_count; i++)
		c->events[i] = c->events[i * slots];
	for (i = 0; i < c->count; i++) {
		struct row *row = &c->rows[i];
		uint64_t *counts = arena_alloc(&c->arena, c->class_count * sizeof(*counts));

		join_slots(counts, row->counts, c, has_whole);
		row->blocks = row->counts;
		row->counts = counts;
		if (container_sum(counts, c->class_count))
			c->rows[n++] = *row;
	}
	c->count = n;
	/* Few parts of the time show nothing. */
	if (!are_sessions && c->block_count < STATISTICS_BLOCKS_LEAST)
		c->block_count = 0;
}

void container_join_blocks_of(struct container *c, const struct gather *g, size_t slots)
{
	container_join_blocks(c, slots, g->has_whole, g->blocks == GATHER_BLOCKS_OF_SESSIONS);
	c->block_lengths = gather_block_lengths(g);
}

double container_share(uint64_t count, uint64_t total)
{
	return count ? 100.0 * (double)count / (double)total : 0;
}

double container_percent(const struct container *c, uint64_t count, size_t class)
{
	return container_share(count, c->totals[class]);
}

bool container_counts_reach(const struct container *c, const uint64_t *counts,
			    const uint64_t *totals, double percent)
{
	size_t i, end;

	for (i = 0; i < c->class_count; i = end) {
		uint64_t sum;

		for (end = i; end < c->class_count && c->events[end] == c->events[i];)
			end++;
		sum = container_sum(counts + i, end - i);
		if (sum && container_share(sum, container_sum(totals + i, end - i)) >= percent)
			return true;
	}
	return false;
}

bool container_reaches(const struct container *c, const struct row *row, double percent)
{
	if (!row->is_gone && container_counts_reach(c, row->counts, c->totals, percent))
		return true;
	return row->before && container_counts_reach(c, row->before, c->before_totals, percent);
}

void container_choose(struct container *c, const struct gather *g,
		      const struct symbol_filter *filter, bool keep)
{
	size_t i, j, n = 0;

	for (i = 0; i < c->count; i++) {
		struct row *row = &c->rows[i];
		const char *name = row->kind == ROW_SYMBOL ? row->symbol->name : NULL;

		if (row->is_end ||
		    symbol_filter_wants(filter, name, g->images[row->image].display)) {
			c->rows[n++] = *row;
			continue;
		}
		for (j = 0; j < c->class_count; j++) {
			c->unchosen[j] += row->counts[j];
			c->totals[j] -= row->counts[j];
		}
		for (j = 0; row->blocks && j < c->class_count * (c->block_count + 1); j++)
			c->block_totals[j] -= row->blocks[j];
		c->unchosen_rows++;
		row->is_unchosen = true;
		if (keep)
			c->rows[n++] = *row;
	}
	c->count = n;
}

void container_choose_rows(struct container *c)
{
	size_t i, j;

	memcpy(c->unchosen, c->totals, c->class_count * sizeof(*c->totals));
	memset(c->totals, 0, c->class_count * sizeof(*c->totals));
	for (i = 0; i < c->count; i++)
		for (j = 0; j < c->class_count; j++)
			c->totals[j] += c->rows[i].counts[j];
	for (j = 0; j < c->class_count; j++)
		c->unchosen[j] -= c->totals[j];
}

void container_fold_apps(struct container *c)
{
	struct map places = MAP_INIT; /* by application: index + 1 of its row */
	size_t i, j, n = 0;

	for (i = 0; i < c->count; i++) {
		struct row *row = &c->rows[i];
		uintptr_t at = (uintptr_t)map_get(&places, row->app);

		for (j = 0; at && j < c->class_count; j++)
			c->rows[at - 1].counts[j] += row->counts[j];
		if (at)
			continue;
		row->image = row->app;
		c->rows[n++] = *row;
		(void)map_set(&places, row->app, (void *)(uintptr_t)n);
	}
	c->count = n;
	map_done(&places);
}

/* Counts a row as not shown; one that is gone has no samples in this profile. */
static void leave_out(const struct container *c, const struct row *row, uint64_t *counts,
		      size_t *rows)
{
	size_t i;

	for (i = 0; i < c->class_count && !row->is_gone; i++)
		counts[i] += row->counts[i];
	++*rows;
}

void container_cut(struct container *c, double percent)
{
	size_t i, n = 0;

	for (i = 0; i < c->count; i++) {
		if (container_reaches(c, &c->rows[i], percent)) {
			c->rows[n++] = c->rows[i];
			continue;
		}
		leave_out(c, &c->rows[i], c->hidden, &c->hidden_rows);
	}
	c->count = n;
}

void container_most(struct container *c, size_t count)
{
	_cleanup_free_ struct radix_entry *sums = NULL;
	uint64_t least;
	size_t i, n = 0;

	if (count == 0 || c->count <= count)
		return;
	sums = xcalloc(2 * c->count, sizeof(*sums));
	for (i = 0; i < c->count; i++)
		sums[i].key = container_sum(c->rows[i].counts, c->class_count);
	radix_sort(sums, sums + c->count, c->count);
	least = sums[c->count - count].key;
	for (i = 0; i < c->count; i++) {
		if (container_sum(c->rows[i].counts, c->class_count) >= least)
			c->rows[n++] = c->rows[i];
		else
			leave_out(c, &c->rows[i], c->beyond, &c->beyond_rows);
	}
	c->count = n;
}

void container_top(struct container *c, size_t count)
{
	size_t i;

	if (count == 0)
		return;
	for (i = count; i < c->count; i++)
		leave_out(c, &c->rows[i], c->beyond, &c->beyond_rows);
	c->count = MIN(c->count, count);
}

/* Length of a name without its version; "@plt" is not a version. */
static size_t unversioned_length(const char *name)
{
	const char *at = strchr(name, '@');

	return at && at > name && strcmp(at, "@plt") ? (size_t)(at - name) : strlen(name);
}

char *container_plain_name(const char *name)
{
	return xstrndup(name, unversioned_length(name));
}

struct row_symbol *container_symbol(struct container *c, const char *name)
{
	size_t length = unversioned_length(name);
	struct row_symbol *symbol = arena_alloc(&c->arena, sizeof(*symbol) + length + 1);

	*symbol = (struct row_symbol){ 0 };
	memcpy(symbol->name, name, length);
	symbol->name[length] = '\0';
	return symbol;
}

/* Names to be demangled; threads take chunks of them by turns. */
struct naming {
	const struct name_style *style;
	struct row_symbol **symbols;
	size_t count;
	struct {
		struct arena arena;
		struct strbuf text;
	} threads[PARALLEL_MAX];
};

enum { NAMES_A_CHUNK = 256 };

static void demangle_chunk(size_t chunk, unsigned int thread, void *data)
{
	struct naming *n = data;
	struct strbuf *text = &n->threads[thread].text;
	size_t i = chunk * NAMES_A_CHUNK, end = MIN(n->count, i + NAMES_A_CHUNK);

	for (; i < end; i++) {
		struct row_symbol *symbol = n->symbols[i];

		strbuf_clear(text);
		if (name_style_add(n->style, text, symbol->name))
			symbol->text =
				arena_strndup(&n->threads[thread].arena, text->text, text->length);
	}
}

/* Lists the symbols of rows without a text, each once. The text is the name until it turns out to
 * be mangled. */
static struct row_symbol **collect_unnamed(struct container *c, size_t *ret_count)
{
	struct row_symbol **symbols = xcalloc(c->count, sizeof(*symbols));
	size_t i, n = 0;

	for (i = 0; i < c->count; i++) {
		struct row_symbol *symbol = c->rows[i].symbol;

		if (c->rows[i].kind != ROW_SYMBOL || symbol->text)
			continue;
		symbol->text = symbol->name;
		symbols[n++] = symbol;
	}
	*ret_count = n;
	return symbols;
}

static void demangle_all(struct container *c, const struct name_style *style,
			 struct row_symbol **symbols, size_t count)
{
	struct naming n = { .style = style, .symbols = symbols, .count = count };
	size_t i;

	parallel_each((count + NAMES_A_CHUNK - 1) / NAMES_A_CHUNK, demangle_chunk, &n);
	for (i = 0; i < ARRAY_SIZE(n.threads); i++) {
		arena_join(&c->arena, &n.threads[i].arena);
		strbuf_done(&n.threads[i].text);
	}
}

void container_name(struct container *c, const struct name_style *style)
{
	size_t i, n;
	_cleanup_free_ struct row_symbol **symbols = collect_unnamed(c, &n);

	if (style && !style->mangled)
		demangle_all(c, style, symbols, n);
	for (i = 0; i < c->count; i++) {
		struct row *row = &c->rows[i];

		row->text = row->kind == ROW_SYMBOL ? row->symbol->text
						    : kind_text[row->kind] ?: "";
	}
}
