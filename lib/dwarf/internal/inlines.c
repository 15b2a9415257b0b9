/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dwarf/internal/inlines.h"

#include "base/hash.h"
#include "base/intern.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "dwarf/internal/dwarf_ranges.h"
#include "dwarf/internal/dwarf_scopes.h"
#include "dwarf/internal/dwarf_walk.h"
#include "dwarf/internal/nested_ranges.h"

#include <dwarf.h>

/* Limits, as damaged data may nest and refer without end. */
enum { DEPTH_MAX = 256, ORIGINS_MAX = 16, CALL_BYTES_MAX = 48 << 20 };

/* An inlined call. */
struct call {
	uint32_t parent;	   /* the call around it, or UINT32_MAX */
	struct dwarf_value origin; /* the function */
	struct inlines_call known; /* ->function is NULL until needed */
};

/* The calls in a function. */
struct calls {
	struct nested_ranges pieces; /* indexes of ->calls */
	struct call *calls;
	size_t count, room;
};

struct function {
	uint64_t entry;
	struct calls *calls; /* NULL until needed */
};

/* The functions of a unit. */
struct unit_code {
	struct dwarf_unit *unit;
	struct dwarf_abbrevs *abbrevs; /* only of the last unit looked up */
	bool is_deep;		       /* functions in functions were looked for */
	struct nested_ranges pieces;   /* indexes of ->functions */
	struct function *functions;
	size_t count, room;
};

struct inlines {
	struct map units; /* by unit */
	struct unit_code *last;
	size_t call_bytes; /* in use by all calls */
	uint64_t read;
	struct map names; /* of called functions, by unit and offset */
	struct intern scoped;
	struct dwarf_scopes *scopes; /* NULL until needed */
	struct inlines_call *found;
	size_t found_room;
};

struct inlines *inlines_new(void)
{
	return xcalloc(1, sizeof(struct inlines));
}

static void calls_free(struct calls *c)
{
	if (!c)
		return;
	nested_ranges_done(&c->pieces);
	free(c->calls);
	free(c);
}

static void forget_functions(struct unit_code *code)
{
	size_t i;

	for (i = 0; i < code->count; i++)
		calls_free(code->functions[i].calls);
	free(code->functions);
	nested_ranges_done(&code->pieces);
	code->functions = NULL;
	code->count = code->room = 0;
}

void inlines_free(struct inlines *in)
{
	if (!in)
		return;
	if (in->last)
		dwarf_unit_done(in->last->abbrevs);
	map_for_each (&in->units, slot) {
		forget_functions(slot->value);
		free(slot->value);
	}
	map_done(&in->units);
	map_done(&in->names);
	intern_done(&in->scoped);
	dwarf_scopes_free(in->scopes);
	free(in->found);
	free(in);
}

uint64_t inlines_read(struct inlines *in)
{
	uint64_t read = in->read;

	in->read = 0;
	return read;
}

/* --- the functions of a unit --- */

struct adding {
	struct nested_ranges *pieces;
	uint32_t depth, value;
};

static void add_piece(uint64_t start, uint64_t end, void *data)
{
	const struct adding *adding = data;

	nested_ranges_add(adding->pieces, start, end, adding->depth, adding->value);
}

static void add_function(struct unit_code *code, uint32_t depth, uint64_t entry,
			 const struct dwarf_value *values)
{
	struct adding adding = { &code->pieces, depth, (uint32_t)code->count };

	if (!dwarf_ranges_each(code->unit, values, add_piece, &adding))
		return;
	array_grow(&code->functions, code->count + 1, &code->room);
	code->functions[code->count++] = (struct function){ entry, NULL };
}

/* Functions with code are children of the unit and of namespaces. Some compilers also put them into
 * types, some languages into other functions: for these the walk goes @deep. */
static void read_functions(struct inlines *in, struct unit_code *code, bool deep)
{
	struct dwarf_walk w = dwarf_walk_from(code->unit, code->abbrevs, code->unit->entries);
	struct dwarf_value values[DWARF_FACT_COUNT_];
	const struct dwarf_abbrev *a;
	uint64_t offset;
	size_t depth;

	code->is_deep = deep;
	forget_functions(code);
	while ((a = dwarf_walk_next(&w, &offset))) {
		if (a->tag != DW_TAG_subprogram) {
			(void)dwarf_walk_past(&w, a,
					      deep || a->tag == DW_TAG_compile_unit ||
						      a->tag == DW_TAG_namespace ||
						      a->tag == DW_TAG_module);
			continue;
		}
		depth = w.depth;
		if (dwarf_walk_read(&w, a, values) && !deep)
			dwarf_walk_over(&w, values);
		if (w.b.bad)
			break;
		add_function(code, (uint32_t)depth, offset, values);
	}
	nested_ranges_settle(&code->pieces);
	in->read += code->unit->end - code->unit->offset;
}

static struct unit_code *code_of(struct inlines *in, struct dwarf_unit *unit)
{
	uint64_t key = (uintptr_t)unit;

	struct unit_code *code = in->last;

	if (code && code->unit == unit)
		return code;
	if (code)
		dwarf_unit_done(code->abbrevs);
	in->last = code = map_get(&in->units, key);
	if (code) {
		code->abbrevs = dwarf_unit_abbrevs(unit);
		return code;
	}
	in->last = code = xcalloc(1, sizeof(*code));
	*code = (struct unit_code){ .unit = unit, .abbrevs = dwarf_unit_abbrevs(unit) };
	(void)map_set(&in->units, key, code);
	read_functions(in, code, false);
	return code;
}

static struct function *function_at(struct inlines *in, struct unit_code *code, uint64_t address)
{
	uint32_t index;

	if (nested_ranges_find(&code->pieces, address, &index))
		return &code->functions[index];
	if (code->is_deep)
		return NULL;
	read_functions(in, code, true);
	return nested_ranges_find(&code->pieces, address, &index) ? &code->functions[index] : NULL;
}

/* --- names --- */

static bool read_entry(const struct dwarf_unit *u, uint64_t offset,
		       struct dwarf_value values[DWARF_FACT_COUNT_])
{
	struct dwarf_abbrevs *t = dwarf_unit_abbrevs(u);
	struct dwarf_bytes b = dwarf_unit_bytes(u, offset);
	const struct dwarf_abbrev *a = dwarf_abbrevs_find(t, dwarf_uleb(&b));
	bool is_read = a && dwarf_entry_read(&b, u, t, a, values);

	dwarf_unit_done(t);
	return is_read;
}

/* The name of a function, and the entry that declares it. */
struct named {
	const char *name;
	struct dwarf_unit *unit;
	uint64_t offset; /* 0: not known */
	bool is_linked;	 /* it is a linkage name */
};

/* Finds the name of an entry's function: its own, or that of an entry that it refers to. */
static struct named find_name(struct dwarf_unit *u, struct dwarf_value *values)
{
	struct named n = { .unit = u };
	unsigned int i;

	for (i = 0; i < ORIGINS_MAX; i++) {
		const char *linked = dwarf_text(n.unit, &values[DWARF_LINKAGE_NAME]);

		n.is_linked = linked != NULL;
		n.name = linked ?: n.name ?: dwarf_text(n.unit, &values[DWARF_NAME]);
		if (linked ||
		    (!dwarf_reference(n.unit, &values[DWARF_ORIGIN], &n.unit, &n.offset) &&
		     !dwarf_reference(n.unit, &values[DWARF_SPECIFICATION], &n.unit, &n.offset)))
			break;
		if (!read_entry(n.unit, n.offset, values))
			break;
	}
	n.name = n.name ?: "(unnamed)";
	return n;
}

/* The name of a function that the unit @u calls. Compilers of C++ give no linkage name to what
 * other units cannot call; then it is put together. */
static const char *name_of(struct inlines *in, struct dwarf_unit *u, struct dwarf_value *values)
{
	const struct named n = find_name(u, values);
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;

	if (n.is_linked || !n.offset || !dwarf_scopes_exist(u))
		return n.name;
	if (!in->scopes)
		in->scopes = dwarf_scopes_new();
	dwarf_scopes_add(in->scopes, n.unit, n.offset, n.name, &text);
	return intern(&in->scoped, strbuf_text(&text));
}

/* The name of a called function; cached, as many calls have the same one. */
static const char *called(struct inlines *in, struct dwarf_unit *u,
			  const struct dwarf_value *origin)
{
	struct dwarf_value values[DWARF_FACT_COUNT_] = { [DWARF_ORIGIN] = *origin };
	struct dwarf_unit *there;
	uint64_t offset, key;
	const char *name;

	if (!dwarf_reference(u, origin, &there, &offset))
		return name_of(in, u, values);
	key = hash_add(hash_u64((uintptr_t)there), offset);
	name = map_get(&in->names, key);
	if (!name) {
		name = name_of(in, u, values);
		(void)map_set(&in->names, key, (void *)name);
	}
	return name;
}

/* --- the calls in a function --- */

static size_t calls_bytes(const struct calls *c)
{
	return sizeof(*c) + nested_ranges_bytes(&c->pieces) + c->room * sizeof(*c->calls);
}

static void forget_calls(struct inlines *in)
{
	map_for_each (&in->units, slot) {
		struct unit_code *code = slot->value;
		size_t i;

		for (i = 0; i < code->count; i++) {
			calls_free(code->functions[i].calls);
			code->functions[i].calls = NULL;
		}
	}
	in->call_bytes = 0;
}

/* The call that the entries at each depth of a walk belong to. */
struct nesting {
	uint32_t call[DEPTH_MAX + 1], depth[DEPTH_MAX + 1]; /* the call, and its nesting */
};

struct adding_call {
	struct adding piece;
	uint64_t start;
};

static void add_call_piece(uint64_t start, uint64_t end, void *data)
{
	struct adding_call *adding = data;

	add_piece(start, end, &adding->piece);
	adding->start = MIN(adding->start, start);
}

/* Reads the file and line of the call. */
static struct inlines_call call_of(struct dwarf_unit *u, struct dwarf_value *values, uint64_t start)
{
	struct inlines_call call = { .start = start };

	if (!dwarf_number(&values[DWARF_CALL_FILE], &call.file))
		call.file = 0;
	if (!dwarf_number(&values[DWARF_CALL_LINE], &call.line))
		call.line = 0;
	if (values[DWARF_LINKAGE_NAME].form || values[DWARF_NAME].form ||
	    !values[DWARF_ORIGIN].form)
		call.function = find_name(u, values).name;
	return call;
}

static void add_call(struct calls *c, struct nesting *n, const struct dwarf_walk *w, size_t at,
		     struct dwarf_value *values)
{
	uint32_t depth = n->depth[at];
	struct adding_call adding = { { &c->pieces, depth, (uint32_t)c->count }, UINT64_MAX };

	(void)dwarf_ranges_each(w->unit, values, add_call_piece, &adding);
	array_grow(&c->calls, c->count + 1, &c->room);
	c->calls[c->count] = (struct call){ n->call[at], values[DWARF_ORIGIN],
					    call_of(w->unit, values, adding.start) };
	n->call[at + 1] = (uint32_t)c->count++;
	n->depth[at + 1] = depth + 1;
}

/* Reads the calls in the function where the walk starts, without those in functions nested in
 * it. */
static void walk_calls(struct dwarf_walk *w, struct calls *c)
{
	struct nesting n = { .call = { UINT32_MAX, UINT32_MAX } };
	struct dwarf_value values[DWARF_FACT_COUNT_];
	const struct dwarf_abbrev *a;
	size_t shut = SIZE_MAX; /* deeper entries are skipped */
	uint64_t offset;

	a = dwarf_walk_next(w, &offset);
	if (!a || !dwarf_walk_past(w, a, true))
		return;
	while ((a = dwarf_walk_next(w, &offset))) {
		size_t at = w->depth;

		if (at > shut) {
			(void)dwarf_walk_past(w, a, false);
			continue;
		}
		shut = SIZE_MAX;
		if (at >= DEPTH_MAX)
			return;
		n.call[at + 1] = n.call[at];
		n.depth[at + 1] = n.depth[at];
		if (a->tag == DW_TAG_inlined_subroutine) {
			(void)dwarf_walk_read(w, a, values);
			if (!w->b.bad)
				add_call(c, &n, w, at, values);
		} else if (a->tag == DW_TAG_lexical_block) {
			(void)dwarf_walk_past(w, a, true);
		} else if (dwarf_walk_past(w, a, false)) {
			shut = at;
		}
	}
}

static struct calls *calls_of(struct inlines *in, const struct unit_code *code, struct function *f)
{
	struct dwarf_walk w = dwarf_walk_from(code->unit, code->abbrevs, f->entry);
	uint64_t left = w.b.in.left;

	if (f->calls)
		return f->calls;
	if (in->call_bytes > CALL_BYTES_MAX)
		forget_calls(in);
	f->calls = xcalloc(1, sizeof(*f->calls));
	walk_calls(&w, f->calls);
	nested_ranges_settle(&f->calls->pieces);
	in->call_bytes += calls_bytes(f->calls);
	in->read += left - w.b.in.left;
	return f->calls;
}

size_t inlines_find(struct inlines *in, struct dwarf_unit *u, uint64_t address,
		    const struct inlines_call **ret)
{
	struct unit_code *code = code_of(in, u);
	struct function *function = function_at(in, code, address);
	struct calls *calls = function ? calls_of(in, code, function) : NULL;
	size_t n = 0;
	uint32_t i;

	if (!calls || !nested_ranges_find(&calls->pieces, address, &i))
		return 0;
	for (; i != UINT32_MAX; i = calls->calls[i].parent) {
		struct call *call = &calls->calls[i];

		if (!call->known.function)
			call->known.function = called(in, u, &call->origin);
		array_grow(&in->found, n + 1, &in->found_room);
		in->found[n++] = call->known;
	}
	*ret = in->found;
	return n;
}
