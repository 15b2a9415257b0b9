/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/symtab.h"

#include "base/mem.h"
#include "base/radix.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct held {
	void *owned;
	void (*release)(void *);
};

struct symtab {
	struct symbol *symbols; /* with a source: ->name is NULL until needed */
	size_t count, room;
	struct symtab_source source; /* ->read NULL: there is none */
	struct held *held;
	size_t held_count, held_room;
};

struct symtab *symtab_new(void)
{
	return xcalloc(1, sizeof(struct symtab));
}

struct symtab *symtab_new_from(const struct symtab_source *source)
{
	struct symtab *st = symtab_new();

	st->source = *source;
	st->count = st->room = source->count;
	/* Pages that are not needed are never touched, and so take no memory. */
	st->symbols = xcalloc(st->count, sizeof(*st->symbols));
	return st;
}

void symtab_free(struct symtab *st)
{
	if (!st)
		return;
	while (st->held_count) {
		struct held *held = &st->held[--st->held_count];

		held->release(held->owned);
	}
	free(st->held);
	free(st->symbols);
	free(st);
}

void symtab_add(struct symtab *st, const struct symbol *symbol)
{
	array_grow(&st->symbols, st->count + 1, &st->room);
	/* ->whole keeps the order of adding, which decides last among aliases. */
	st->symbols[st->count] = *symbol;
	st->symbols[st->count].whole = (uint32_t)st->count;
	st->count++;
}

void symtab_hold(struct symtab *st, void *owned, void (*release)(void *))
{
	array_grow(&st->held, st->held_count + 1, &st->held_room);
	st->held[st->held_count++] = (struct held){ owned, release };
}

void symtab_limit(struct symtab *st, symtab_limiter *limit, void *data)
{
	size_t i;

	for (i = 0; i < st->count; i++)
		if (st->symbols[i].end <= st->symbols[i].offset)
			st->symbols[i].limit =
				MIN(st->symbols[i].limit, limit(&st->symbols[i], data));
}

/* How bad an alias is as a name; the highest bit weighs most. */
static unsigned int alias_badness(const struct symbol *s)
{
	return (s->rank & SYMBOL_SYNTHETIC ? 16u : 0u) | (s->rank & SYMBOL_LOCAL ? 8u : 0u) |
	       (s->name[0] == '_' ? 4u : 0u) | (s->rank & SYMBOL_WEAK ? 2u : 0u) |
	       (s->end <= s->offset ? 1u : 0u);
}

/* By offset; among aliases the name to keep comes first. */
static int compare_symbols(const void *pa, const void *pb)
{
	const struct symbol *a = pa, *b = pb;
	unsigned int bad_a, bad_b;

	if (a->offset != b->offset)
		return (a->offset > b->offset) - (a->offset < b->offset);
	bad_a = alias_badness(a);
	bad_b = alias_badness(b);
	if (bad_a != bad_b)
		return (bad_a > bad_b) - (bad_a < bad_b);
	return (a->whole > b->whole) - (a->whole < b->whole);
}

/* Keeps the first symbol at each offset, with the largest size of all aliases. */
static void drop_aliases(struct symtab *st)
{
	size_t i, n = 0;

	for (i = 0; i < st->count; i++) {
		const struct symbol *sym = &st->symbols[i];
		struct symbol *last = n ? &st->symbols[n - 1] : NULL;

		if (last && last->offset == sym->offset) {
			last->end = MAX(last->end, sym->end);
			last->limit = MAX(last->limit, sym->limit);
			continue;
		}
		st->symbols[n++] = *sym;
	}
	st->count = n;
}

/* Drops the labels inside sized symbols and gives the other sizeless ones an end. */
static void bound_sizeless(struct symtab *st)
{
	uint64_t covered = 0; /* end of the sized symbols so far */
	size_t i, n = 0;

	for (i = 0; i < st->count; i++) {
		struct symbol *sym = &st->symbols[i];

		if (sym->end <= sym->offset && sym->offset < covered)
			continue;
		covered = MAX(covered, sym->end);
		st->symbols[n++] = *sym;
	}
	st->count = n;
	for (i = 0; i < n; i++) {
		struct symbol *sym = &st->symbols[i];

		if (sym->end > sym->offset)
			continue;
		sym->end = i + 1 < n ? st->symbols[i + 1].offset : sym->limit;
		if (sym->limit > sym->offset)
			sym->end = MIN(sym->end, sym->limit);
		sym->rank |= SYMBOL_ASSUMED_END;
	}
}

/* The symbols that contain the present one, innermost last. */
struct nest {
	struct symbol *open;
	size_t depth, room;
};

/* Writes the pieces of the open symbols before @until, and closes those that end there. */
static void emit_until(struct symtab *out, struct nest *nest, uint64_t *at, uint64_t until)
{
	while (nest->depth && *at < until) {
		struct symbol piece = nest->open[nest->depth - 1];

		if (piece.end <= *at) {
			nest->depth--;
			continue;
		}
		if (piece.whole == UINT32_MAX)
			nest->open[nest->depth - 1].whole = piece.whole = (uint32_t)out->count;
		piece.offset = *at;
		piece.end = MIN(piece.end, until);
		*at = piece.end;
		array_grow(&out->symbols, out->count + 1, &out->room);
		out->symbols[out->count++] = piece;
	}
}

/* Makes the symbols disjoint: one that starts before the last has ended takes its range, and the
 * rest of the other becomes pieces. */
static void cut_overlaps(struct symtab *st)
{
	struct symtab out = { .held = st->held,
			      .held_count = st->held_count,
			      .held_room = st->held_room };
	struct nest nest = { 0 };
	uint64_t at = 0;
	size_t i;

	array_grow(&out.symbols, st->count, &out.room);
	for (i = 0; i < st->count; i++) {
		struct symbol *sym = &st->symbols[i];

		emit_until(&out, &nest, &at, sym->offset);
		while (nest.depth && nest.open[nest.depth - 1].end <= sym->offset)
			nest.depth--;
		at = sym->offset;
		array_grow(&nest.open, nest.depth + 1, &nest.room);
		nest.open[nest.depth] = *sym;
		nest.open[nest.depth++].whole = UINT32_MAX;
	}
	emit_until(&out, &nest, &at, UINT64_MAX);
	free(nest.open);
	free(st->symbols);
	*st = out;
}

/* Whether no symbol starts before the last one has ended, as in most files. */
static bool is_disjoint(const struct symtab *st)
{
	size_t i;

	for (i = 1; i < st->count; i++)
		if (st->symbols[i - 1].end > st->symbols[i].offset)
			return false;
	return true;
}

/* Drops empty symbols, and makes each of the others its own first piece. */
static void number(struct symtab *st)
{
	size_t i, n = 0;

	for (i = 0; i < st->count; i++) {
		if (st->symbols[i].end <= st->symbols[i].offset)
			continue;
		st->symbols[n] = st->symbols[i];
		st->symbols[n].whole = (uint32_t)n;
		n++;
	}
	st->count = n;
}

/* Orders the symbols by offset. */
static void sort_by_offset(struct symtab *st)
{
	_cleanup_free_ struct radix_entry *entries = xcalloc(st->count, sizeof(*entries));
	_cleanup_free_ struct radix_entry *spare = xcalloc(st->count, sizeof(*spare));
	struct symbol *sorted;
	size_t i;

	for (i = 0; i < st->count; i++)
		entries[i] = (struct radix_entry){ st->symbols[i].offset, i };
	radix_sort(entries, spare, st->count);
	sorted = xcalloc(st->count, sizeof(*sorted));
	for (i = 0; i < st->count; i++)
		sorted[i] = st->symbols[entries[i].value];
	free(st->symbols);
	st->symbols = sorted;
	st->room = st->count;
}

/* Orders the symbols by offset, and those of one offset with the one to keep first. */
static void sort_symbols(struct symtab *st)
{
	size_t i, end;

	for (i = 1; i < st->count && st->symbols[i - 1].offset <= st->symbols[i].offset; i++)
		;
	if (i < st->count)
		sort_by_offset(st);
	for (i = 0; i < st->count; i = end) {
		const struct symbol *first = &st->symbols[i];

		for (end = i + 1; end < st->count && st->symbols[end].offset == first->offset;)
			end++;
		if (end - i > 1)
			qsort(&st->symbols[i], end - i, sizeof(*first), compare_symbols);
	}
}

void symtab_settle(struct symtab *st)
{
	if (st->count == 0)
		return;
	sort_symbols(st);
	drop_aliases(st);
	bound_sizeless(st);
	if (is_disjoint(st))
		number(st);
	else
		cut_overlaps(st);
}

void symtab_shorten(struct symtab *st, size_t i, uint64_t size)
{
	struct symbol *sym = &st->symbols[i];

	assert(sym->rank & SYMBOL_ASSUMED_END && size <= sym->end - sym->offset);
	sym->end = sym->offset + size;
}

void symtab_insert(struct symtab *st, const struct symbol *symbols, size_t count)
{
	_cleanup_free_ uint32_t *moved = xcalloc(st->count + 1, sizeof(*moved));
	struct symbol *all = xcalloc(st->count + count + 1, sizeof(*all));
	size_t i = 0, k = 0, n;

	for (n = 0; n < st->count + count; n++) {
		if (k < count && (i == st->count || symbols[k].offset < st->symbols[i].offset)) {
			all[n] = symbols[k++];
			all[n].whole = (uint32_t)n;
		} else {
			moved[i] = (uint32_t)n;
			all[n] = st->symbols[i++];
			/* The first piece comes before the others. */
			all[n].whole = moved[all[n].whole];
		}
	}
	free(st->symbols);
	st->symbols = all;
	st->count = n;
	st->room = n + 1;
}

size_t symtab_count(const struct symtab *st)
{
	return st->count;
}

const struct symbol *symtab_at(const struct symtab *st, size_t i)
{
	struct symbol *sym = &st->symbols[i];

	if (!sym->name && st->source.read)
		st->source.read(st->source.data, i, sym);
	return sym;
}

static uint64_t end_of(const struct symtab *st, size_t i)
{
	return st->source.read ? st->source.ends[i] : st->symbols[i].end;
}

size_t symtab_seek(const struct symtab *st, size_t from, uint64_t offset)
{
	size_t step = 1, low = from, high = from;

	while (high < st->count && end_of(st, high) <= offset) {
		low = high + 1;
		high = high + step < st->count ? high + step : st->count;
		step *= 2;
	}
	return FIRST_NOT(i, low, high, end_of(st, i) <= offset);
}

/* The first of the ends that is after an offset, without branches, which nobody could predict. */
static size_t first_after(const uint64_t *ends, size_t count, uint64_t offset)
{
	const uint64_t *at = ends;
	size_t left = count, half;

	for (; left > 1; left -= half) {
		half = left / 2;
		at += at[half - 1] <= offset ? half : 0;
	}
	return (size_t)(at - ends) + (left && *at <= offset);
}

const struct symbol *symtab_find(const struct symtab *st, uint64_t offset)
{
	size_t i = st->source.read ? first_after(st->source.ends, st->count, offset)
				   : symtab_seek(st, 0, offset);
	const struct symbol *sym = i < st->count ? symtab_at(st, i) : NULL;

	return sym && sym->offset <= offset ? sym : NULL;
}

const struct symbol *symtab_find_code(const struct symtab *st, uint64_t *offset,
				      enum code_role role)
{
	const struct symbol *before, *here;

	if (role == CODE_SAMPLED || !*offset)
		return symtab_find(st, *offset);
	before = symtab_find(st, *offset - 1);
	if (role == CODE_CALLED && before) {
		--*offset;
		return before;
	}
	here = symtab_find(st, *offset);
	if (here || (role == CODE_ENTERED && !before))
		return here;
	--*offset;
	return before;
}

uint64_t symtab_code_at(const struct symtab *st, uint64_t offset, enum code_role role)
{
	(void)symtab_find_code(st, &offset, role);
	return offset;
}
