/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dwarf/internal/dwarf_scopes.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "dwarf/internal/dwarf_walk.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

/* Limits, as damaged data may nest and refer without end, and of the memory for all units. */
enum { DEPTH_MAX = 64, ORIGINS_MAX = 8, ENTRIES_MAX = 1 << 18 };

/* An entry with children. */
struct entry {
	uint64_t start, end; /* offsets */
	uint32_t first;	     /* of those in it that have children */
	uint32_t count;
	uint16_t tag;
	bool is_read; /* what is in it is known */
};

/* The entries of a unit, level by level; the first one is that of the unit. */
struct entries {
	struct dwarf_unit *unit;
	struct dwarf_abbrevs *abbrevs; /* while it is looked up */
	struct entry *list;
	size_t count, room;
};

struct dwarf_scopes {
	struct map units;   /* entries by unit */
	size_t count;	    /* of all entries */
	unsigned int depth; /* how many functions in others are looked up */
};

struct dwarf_scopes *dwarf_scopes_new(void)
{
	return xcalloc(1, sizeof(struct dwarf_scopes));
}

static void forget(struct dwarf_scopes *s)
{
	map_for_each (&s->units, slot) {
		struct entries *e = slot->value;

		free(e->list);
		free(e);
	}
	map_done(&s->units);
	s->count = 0;
}

void dwarf_scopes_free(struct dwarf_scopes *s)
{
	if (!s)
		return;
	forget(s);
	free(s);
}

bool dwarf_scopes_exist(const struct dwarf_unit *u)
{
	static const uint16_t cplusplus[] = { DW_LANG_C_plus_plus,    DW_LANG_C_plus_plus_03,
					      DW_LANG_C_plus_plus_11, DW_LANG_C_plus_plus_14,
					      0x2b /* 17 */,	      0x2c /* 20 */ };
	uint64_t language;
	size_t i;

	if (!dwarf_number(&u->root[DWARF_LANGUAGE], &language))
		return false;
	for (i = 0; i < ARRAY_SIZE(cplusplus); i++)
		if (language == cplusplus[i])
			return true;
	return false;
}

/* --- reading --- */

static bool is_scope(uint16_t tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
		return true;
	}
	return false;
}

static void add_entry(struct entries *e, const struct entry *entry)
{
	array_grow(&e->list, e->count + 1, &e->room);
	e->list[e->count++] = *entry;
}

/* Reads what is in entry number @index and can be around another. */
static void read_level(struct entries *e, size_t index)
{
	struct dwarf_walk w = dwarf_walk_from(e->unit, e->abbrevs, e->list[index].start);
	const struct dwarf_abbrev *a;
	struct entry entry = { 0 };
	const size_t first = e->count;
	uint64_t offset;

	a = dwarf_walk_next(&w, &offset);
	if (a && dwarf_walk_past(&w, a, true)) {
		while ((a = dwarf_walk_next(&w, &offset))) {
			bool is_child = w.depth == 1;

			if (is_child && entry.start)
				e->list[e->count - 1].end = offset;
			if (is_child)
				entry = (struct entry){ .start = offset, .tag = a->tag };
			if (is_child && a->has_children && is_scope(a->tag))
				add_entry(e, &entry);
			else if (is_child)
				entry.start = 0;
			(void)dwarf_walk_past(&w, a, false);
		}
	}
	if (entry.start)
		e->list[e->count - 1].end = e->list[index].end;
	e->list[index].first = (uint32_t)first;
	e->list[index].count = (uint32_t)(e->count - first);
	e->list[index].is_read = true;
}

static struct entries *entries_of(struct dwarf_scopes *s, struct dwarf_unit *u)
{
	struct entries *e;

	if (s->depth == 1 && s->count > ENTRIES_MAX)
		forget(s);
	e = map_get(&s->units, (uintptr_t)u);
	if (e)
		return e;
	e = xcalloc(1, sizeof(*e));
	e->unit = u;
	add_entry(e, &(struct entry){ .start = u->entries, .end = u->end });
	(void)map_set(&s->units, (uintptr_t)u, e);
	return e;
}

/* The entry in entry number @index that is around the one at @offset; 0: none. */
static size_t find_in(struct dwarf_scopes *s, struct entries *e, size_t index, uint64_t offset)
{
	const size_t before = e->count;
	size_t first, end, at;

	if (!e->list[index].is_read)
		read_level(e, index);
	s->count += e->count - before;
	first = e->list[index].first;
	end = first + e->list[index].count;
	at = FIRST_NOT(i, first, end, e->list[i].start < offset);
	return at > first && offset < e->list[at - 1].end ? at - 1 : 0;
}

/* --- names --- */

static bool read_entry(const struct dwarf_unit *u, uint64_t offset, struct dwarf_abbrevs *t,
		       struct dwarf_value values[DWARF_FACT_COUNT_])
{
	struct dwarf_bytes b = dwarf_unit_bytes(u, offset);
	const struct dwarf_abbrev *a = dwarf_abbrevs_find(t, dwarf_uleb(&b));

	return a && dwarf_entry_read(&b, u, t, a, values);
}

/* What is being named. */
struct naming {
	struct dwarf_scopes *scopes;
	struct entries *entries;
	const char *function;
	size_t from; /* where its name begins in ->out */
	struct strbuf *out;
};

/* Adds the name of a function with its scopes, in place of those it has here: a member of a class
 * is declared elsewhere. */
static void add_function(struct naming *n, uint64_t offset, struct dwarf_value *values)
{
	struct dwarf_unit *u = n->entries->unit;
	const char *name = dwarf_text(u, &values[DWARF_NAME]);
	unsigned int i;

	for (i = 0; i < ORIGINS_MAX; i++) {
		struct dwarf_abbrevs *t;
		bool is_read;

		if (!dwarf_reference(u, &values[DWARF_ORIGIN], &u, &offset) &&
		    !dwarf_reference(u, &values[DWARF_SPECIFICATION], &u, &offset))
			break;
		t = dwarf_unit_abbrevs(u);
		is_read = read_entry(u, offset, t, values);
		dwarf_unit_done(t);
		if (!is_read)
			break;
		name = name ?: dwarf_text(u, &values[DWARF_NAME]);
	}
	strbuf_cut(n->out, n->from);
	dwarf_scopes_add(n->scopes, u, offset, name ?: "(unnamed)", n->out);
}

/* Adds the name of a class. Compilers call that of a lambda <lambda(int)>, or nothing. */
static void add_class(const char *name, const char *function, struct strbuf *out)
{
	static const char lambda[] = "<lambda", call[] = "operator()";
	const size_t length = name ? strlen(name) : 0;

	if (name && !strncmp(name, lambda, strlen(lambda)) && name[length - 1] == '>')
		strbuf_addf(out, "{%.*s}", (int)length - 2, name + 1);
	else if (name)
		strbuf_adds(out, name);
	else
		strbuf_adds(out,
			    strncmp(function, call, strlen(call)) ? "{unnamed type}" : "{lambda}");
}

/* Adds the name of an entry around the function. */
static void add_part(struct naming *n, uint64_t offset, uint16_t tag)
{
	const struct entries *e = n->entries;
	struct dwarf_value values[DWARF_FACT_COUNT_];
	const char *name;

	if (tag == DW_TAG_lexical_block || !read_entry(e->unit, offset, e->abbrevs, values))
		return;
	name = dwarf_text(e->unit, &values[DWARF_NAME]);
	if (tag == DW_TAG_subprogram)
		add_function(n, offset, values);
	else if (tag == DW_TAG_namespace)
		strbuf_adds(n->out, name ?: "(anonymous namespace)");
	else
		add_class(name, n->function, n->out);
	strbuf_adds(n->out, "::");
}

static void add_parts(struct naming *n, uint64_t offset)
{
	struct entries *e = n->entries;
	size_t at = 0;
	unsigned int i;

	for (i = 0; i < DEPTH_MAX && (at = find_in(n->scopes, e, at, offset)); i++)
		add_part(n, e->list[at].start, e->list[at].tag);
}

void dwarf_scopes_add(struct dwarf_scopes *s, struct dwarf_unit *u, uint64_t offset,
		      const char *function, struct strbuf *out)
{
	struct naming n = { .scopes = s, .function = function, .from = out->length, .out = out };
	struct dwarf_abbrevs *t = dwarf_unit_abbrevs(u);

	if (s->depth < ORIGINS_MAX) {
		s->depth++;
		n.entries = entries_of(s, u);
		n.entries->abbrevs = t;
		add_parts(&n, offset);
		s->depth--;
	}
	dwarf_unit_done(t);
	strbuf_adds(out, function);
}
