/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/functions.h"

#include "base/arena.h"
#include "base/mem.h"
#include "base/span.h"
#include "base/strbuf.h"
#include "symbol/elfcode.h"
#include "symbol/symtab.h"

#include <errno.h>
#include <inttypes.h>
#include <zstd.h>
#include <zstd_errors.h>

/*
 * Before compression, numbers are LEB128:
 *
 *	count
 *	per symbol	bytes from the end of the one before to its start; its size;
 *			number of symbols since its first piece; rank;
 *			address less offset, as a signed difference to the one before
 *	per symbol	name with its NUL; none: elfcode_name()
 */
enum { LEVEL = 3, SYMBOL_BYTES_MIN = 6 };

/* --- writing --- */

/* Small numbers of both signs become small ones. */
static uint64_t fold_sign(uint64_t value)
{
	return (value << 1) ^ (value >> 63 ? UINT64_MAX : 0);
}

static uint64_t unfold_sign(uint64_t value)
{
	return (value >> 1) ^ (value & 1 ? UINT64_MAX : 0);
}

/* The symbols that are written: all, or the functions for whose first piece ->wanted is true. */
struct chosen {
	const struct symtab *st;
	const bool *wanted; /* NULL: all */
};

static bool is_chosen(const struct chosen *c, size_t i)
{
	return !c->wanted || c->wanted[symtab_at(c->st, i)->whole];
}

static size_t count_chosen(const struct chosen *c)
{
	size_t i, count = 0;

	for (i = 0; i < symtab_count(c->st); i++)
		count += is_chosen(c, i);
	return count;
}

static void put_places(struct strbuf *out, const struct chosen *c)
{
	size_t i, n = 0, count = symtab_count(c->st);
	_cleanup_free_ size_t *numbers = xcalloc(count + 1, sizeof(*numbers)); /* as written */
	uint64_t end = 0, shift = 0;

	for (i = 0; i < count; i++) {
		const struct symbol *s = symtab_at(c->st, i);

		if (!is_chosen(c, i))
			continue;
		numbers[i] = n++;
		strbuf_add_uleb(out, s->offset - end);
		strbuf_add_uleb(out, s->end - s->offset);
		strbuf_add_uleb(out, numbers[i] - numbers[s->whole]);
		strbuf_add_uleb(out, s->rank);
		strbuf_add_uleb(out, fold_sign(s->address - s->offset - shift));
		end = s->end;
		shift = s->address - s->offset;
	}
}

static void put_symbols(struct strbuf *out, const struct chosen *c)
{
	size_t i, count = symtab_count(c->st);

	strbuf_add_uleb(out, count_chosen(c));
	put_places(out, c);
	for (i = 0; i < count; i++) {
		const char *name = symtab_at(c->st, i)->name;

		if (!is_chosen(c, i))
			continue;
		strbuf_add(out, name, elfcode_is_name(name) ? 0 : strlen(name));
		strbuf_add(out, "", 1);
	}
}

ssize_t functions_pack_some(const struct symtab *st, const bool *wanted, void *to, size_t room)
{
	_cleanup_(strbuf_done) struct strbuf plain = STRBUF_INIT;
	ZSTD_CCtx *zstd;
	size_t n;

	put_symbols(&plain, &(struct chosen){ st, wanted });
	if (plain.length > FUNCTIONS_PLAIN_MAX)
		return -EFBIG;
	zstd = ZSTD_createCCtx();
	if (!zstd)
		mem_exhausted();
	n = ZSTD_compressCCtx(zstd, to, MIN(room, (size_t)FUNCTIONS_PACKED_MAX), plain.text,
			      plain.length, LEVEL);
	(void)ZSTD_freeCCtx(zstd);
	if (ZSTD_getErrorCode(n) == ZSTD_error_memory_allocation)
		mem_exhausted();
	return ZSTD_isError(n) ? -EFBIG : (ssize_t)n;
}

ssize_t functions_pack(const struct symtab *st, void *to, size_t room)
{
	return functions_pack_some(st, NULL, to, room);
}

/* --- reading --- */

/* What a table is made of. */
struct unpacked {
	struct symbol *symbols;
	uint64_t *ends;
	char *plain; /* which has the names */
	struct arena made_up;
};

static void release(void *data)
{
	struct unpacked *u = data;

	free(u->symbols);
	free(u->ends);
	free(u->plain);
	arena_done(&u->made_up);
	free(u);
}

static void release_pointer(struct unpacked **u)
{
	if (*u)
		release(*u);
}

static void read_symbol(void *data, size_t i, struct symbol *ret)
{
	*ret = ((const struct unpacked *)data)->symbols[i];
}

/* Decompresses, and returns what came out as a span; empty if it is damaged. */
static struct span decompress(const void *bytes, size_t size, char **ret)
{
	unsigned long long plain = ZSTD_getFrameContentSize(bytes, size);

	/* Both special values are larger. */
	if (plain > FUNCTIONS_PLAIN_MAX)
		return (struct span){ 0 };
	*ret = xmalloc((size_t)plain + 1);
	if (ZSTD_decompress(*ret, (size_t)plain, bytes, size) != plain)
		return (struct span){ 0 };
	return span_of(*ret, (size_t)plain);
}

/* Reads the @i-th symbol, which starts at *@end or later; *@end becomes its end. */
static int take_symbol(struct span *in, size_t i, uint64_t *end, struct symbol *s)
{
	uint64_t gap, size, pieces, rank, address;

	if (span_uleb(in, &gap) < 0 || span_uleb(in, &size) < 0 || span_uleb(in, &pieces) < 0 ||
	    span_uleb(in, &rank) < 0 || span_uleb(in, &address) < 0)
		return -EBADMSG;
	if (!size || pieces > i || __builtin_add_overflow(*end, gap, &s->offset) ||
	    __builtin_add_overflow(s->offset, size, &s->end))
		return -EBADMSG;
	s->limit = *end = s->end;
	s->whole = (uint32_t)(i - pieces);
	s->rank = rank &
		  (SYMBOL_LOCAL | SYMBOL_WEAK | SYMBOL_SYNTHETIC | SYMBOL_ASSUMED_END | SYMBOL_GO);
	s->address = unfold_sign(address);
	return 0;
}

static int take_symbols(struct span *in, size_t count, const char *file, struct unpacked *u)
{
	uint64_t end = 0, shift = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		struct symbol *s = &u->symbols[i];

		if (take_symbol(in, i, &end, s) < 0)
			return -EBADMSG;
		u->ends[i] = end;
		shift += s->address;
		s->address = s->offset + shift;
	}
	for (i = 0; i < count; i++) {
		struct symbol *s = &u->symbols[i];

		s->name = span_string(in);
		if (!s->name)
			return -EBADMSG;
		if (!*s->name)
			s->name = elfcode_name(&u->made_up, file, s->address);
	}
	return in->left ? -EBADMSG : 0;
}

size_t functions_memory(const void *bytes, size_t size)
{
	const struct unpacked *u = NULL;
	unsigned long long plain = ZSTD_getFrameContentSize(bytes, size);

	if (plain > FUNCTIONS_PLAIN_MAX)
		return SIZE_MAX;
	return (size_t)plain + plain / SYMBOL_BYTES_MIN * (sizeof(*u->symbols) + sizeof(*u->ends));
}

int functions_unpack(const void *bytes, size_t size, const char *name, struct symtab **ret)
{
	_cleanup_(release_pointer) struct unpacked *u = xcalloc(1, sizeof(*u));
	struct span in = decompress(bytes, size, &u->plain);
	uint64_t count;

	if (span_uleb(&in, &count) < 0 || count > in.left / SYMBOL_BYTES_MIN)
		return -EBADMSG;
	u->symbols = xcalloc(count + 1, sizeof(*u->symbols));
	u->ends = xcalloc(count + 1, sizeof(*u->ends));
	if (take_symbols(&in, count, name, u) < 0)
		return -EBADMSG;
	*ret = symtab_new_from(&(struct symtab_source){
		.count = count, .ends = u->ends, .read = read_symbol, .data = u });
	symtab_hold(*ret, STEAL(u), release);
	return 0;
}
