/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines that are kept as bytes, and back. */
#include "base/mem.h"
#include "base/span.h"
#include "base/strbuf.h"
#include "dwarf/kept_lines.h"

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

/*
 * Before compression, numbers are LEB128:
 *
 *	number of files; the name of each with its NUL
 *	number of rows
 *	per row		address minus that of the row before
 *	per row		file
 *	per row		line, as a signed difference to the one before
 *	per row		hash of the text, 4 bytes, little-endian
 *
 * and, if there are inlined calls:
 *
 *	number of functions; the name of each with its NUL
 *	number of calls
 *	per call	the call that contains it plus 1, or 0
 *	per call	function
 *	per call	file plus 1, or 0
 *	per call	line
 *	per call	start of its code, as a signed difference to the one before
 *	per row		innermost call plus 1, or 0
 */
enum { LEVEL = 9, ROW_BYTES_MIN = 7, CALL_BYTES_MIN = 5 };

/* --- writing --- */

static uint64_t fold_sign(int64_t value)
{
	return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static int64_t unfold_sign(uint64_t value)
{
	return (int64_t)(value >> 1 ^ -(value & 1));
}

static void put_rows(const struct kept_lines *l, struct strbuf *out)
{
	uint64_t address = 0;
	int64_t line = 0;
	size_t i;

	strbuf_add_uleb(out, l->count);
	for (i = 0; i < l->count; i++) {
		strbuf_add_uleb(out, l->list[i].address - address);
		address = l->list[i].address;
	}
	for (i = 0; i < l->count; i++)
		strbuf_add_uleb(out, l->list[i].file);
	for (i = 0; i < l->count; i++) {
		strbuf_add_uleb(out, fold_sign(l->list[i].line - line));
		line = l->list[i].line;
	}
	for (i = 0; i < l->count; i++) {
		const uint32_t text = htole32(l->list[i].text);

		strbuf_add(out, &text, sizeof(text));
	}
}

/* The numbers of strings by their pointers: plus 1, in the order in which they were added. */
struct numbers {
	struct map by_pointer;
	const char **list;
	size_t count, room;
};

static uint64_t number_of(struct numbers *n, const char *text)
{
	uintptr_t number = (uintptr_t)map_get(&n->by_pointer, (uintptr_t)text);

	if (number)
		return number;
	array_grow(&n->list, n->count + 1, &n->room);
	n->list[n->count++] = text;
	(void)map_set(&n->by_pointer, (uintptr_t)text, (void *)(uintptr_t)n->count);
	return n->count;
}

static void numbers_done(struct numbers *n)
{
	map_done(&n->by_pointer);
	free(n->list);
}

static void put_strings(const char *const *list, size_t count, struct strbuf *out)
{
	size_t i;

	strbuf_add_uleb(out, count);
	for (i = 0; i < count; i++)
		strbuf_add(out, list[i], strlen(list[i]) + 1);
}

/* Adds the columns of the calls, in which files and functions have @files and @functions. */
static void put_columns(const struct kept_lines *l, struct numbers *files,
			struct numbers *functions, struct strbuf *out)
{
	uint64_t start = 0;
	size_t i;

	strbuf_add_uleb(out, l->call_count);
	for (i = 0; i < l->call_count; i++)
		strbuf_add_uleb(out, l->calls[i].caller);
	for (i = 0; i < l->call_count; i++)
		strbuf_add_uleb(out, number_of(functions, l->calls[i].function) - 1);
	for (i = 0; i < l->call_count; i++)
		strbuf_add_uleb(out, l->calls[i].file ? number_of(files, l->calls[i].file) : 0);
	for (i = 0; i < l->call_count; i++)
		strbuf_add_uleb(out, l->calls[i].line);
	for (i = 0; i < l->call_count; i++) {
		strbuf_add_uleb(out, fold_sign((int64_t)(l->calls[i].start - start)));
		start = l->calls[i].start;
	}
}

static void put_calls(const struct kept_lines *l, struct strbuf *out)
{
	struct numbers files = { .list = NULL }, functions = { .list = NULL };
	size_t i;

	for (i = 0; i < l->file_count; i++)
		(void)number_of(&files, l->files[i]);
	for (i = 0; i < l->call_count; i++)
		(void)number_of(&functions, l->calls[i].function);
	put_strings(functions.list, functions.count, out);
	put_columns(l, &files, &functions, out);
	for (i = 0; i < l->count; i++)
		strbuf_add_uleb(out, l->list[i].call);
	numbers_done(&files);
	numbers_done(&functions);
}

int kept_lines_pack(const struct kept_lines *l, struct strbuf *out)
{
	_cleanup_(strbuf_done) struct strbuf plain = STRBUF_INIT;
	_cleanup_free_ char *packed = NULL;
	size_t bound, n;

	if (l->count > KEPT_LINES_ROWS_MAX)
		return -EFBIG;
	put_strings(l->files, l->file_count, &plain);
	put_rows(l, &plain);
	if (l->call_count)
		put_calls(l, &plain);
	if (plain.length > KEPT_LINES_PLAIN_MAX)
		return -EFBIG;
	bound = ZSTD_compressBound(plain.length);
	packed = xmalloc(bound);
	n = ZSTD_compress(packed, bound, strbuf_text(&plain), plain.length, LEVEL);
	if (ZSTD_getErrorCode(n) == ZSTD_error_memory_allocation)
		mem_exhausted();
	if (ZSTD_isError(n) || n > KEPT_LINES_PACKED_MAX)
		return -EFBIG;
	strbuf_add(out, packed, n);
	return 0;
}

/* --- reading --- */

/* Reads a list of strings, of which *@ret gets copies; the caller frees it, not them. */
static bool take_strings(struct span *in, struct kept_lines *l, const char ***ret,
			 size_t *ret_count)
{
	uint64_t count;

	if (span_uleb(in, &count) < 0 || count > in->left)
		return false;
	*ret = xcalloc(count + 1, sizeof(**ret));
	while (*ret_count < count) {
		const char *name = span_string(in);

		if (!name)
			return false;
		(*ret)[(*ret_count)++] = intern(&l->names, name);
	}
	return true;
}

/* Reads the columns of addresses, files and lines. */
static bool take_numbers(struct span *in, struct kept_lines *l, size_t count)
{
	uint64_t address = 0, line = 0, number;
	size_t i;

	for (i = 0; i < count; i++) {
		if (span_uleb(in, &number) < 0 ||
		    __builtin_add_overflow(address, number, &address) || (i && !number))
			return false;
		l->list[i].address = address;
	}
	for (i = 0; i < count; i++) {
		if (span_uleb(in, &number) < 0 || (number && number >= l->file_count))
			return false;
		l->list[i].file = (uint32_t)number;
	}
	for (i = 0; i < count; i++) {
		if (span_uleb(in, &number) < 0)
			return false;
		line += (uint64_t)unfold_sign(number);
		if (line > UINT32_MAX || (line && !l->file_count))
			return false;
		l->list[i].line = (uint32_t)line;
	}
	return true;
}

static bool take_rows(struct span *in, struct kept_lines *l)
{
	uint64_t count;

	if (span_uleb(in, &count) < 0 || count > in->left / ROW_BYTES_MIN ||
	    count > KEPT_LINES_ROWS_MAX)
		return false;
	l->list = xcalloc(count + 1, sizeof(*l->list));
	if (!take_numbers(in, l, count) || in->left < count * sizeof(uint32_t))
		return false;
	for (; l->count < count; l->count++)
		l->list[l->count].text = get_le32(span_take(in, sizeof(uint32_t)));
	return true;
}

/* Reads a column of the calls: @count numbers below @end. */
static bool take_column(struct span *in, size_t count, uint64_t end, uint32_t *ret)
{
	uint64_t number;
	size_t i;

	for (i = 0; i < count; i++) {
		if (span_uleb(in, &number) < 0 || number >= end)
			return false;
		ret[i] = (uint32_t)number;
	}
	return true;
}

/* Reads the columns of @count calls, with @columns for four of them and their depths. */
static bool take_call_columns(struct span *in, struct kept_lines *l, struct numbers *functions,
			      size_t count, uint32_t *columns)
{
	uint32_t *callers = columns, *function = callers + count, *files = function + count,
		 *line = files + count, *depths = line + count;
	uint64_t start = 0, number;
	size_t i;

	if (!take_column(in, count, count + 1, callers) ||
	    !take_column(in, count, functions->count, function) ||
	    !take_column(in, count, l->file_count + 1, files) ||
	    !take_column(in, count, (uint64_t)UINT32_MAX + 1, line))
		return false;
	for (i = 0; i < count; i++) {
		/* A call that contains itself would have no end. */
		if (callers[i] > i || span_uleb(in, &number) < 0)
			return false;
		depths[i] = callers[i] ? depths[callers[i] - 1] + 1 : 1;
		if (depths[i] > KEPT_LINES_DEPTH_MAX)
			return false;
		start += (uint64_t)unfold_sign(number);
		l->calls[l->call_count++] =
			(struct kept_call){ callers[i], functions->list[function[i]],
					    files[i] ? l->files[files[i] - 1] : NULL, line[i],
					    start };
	}
	return true;
}

static bool take_calls(struct span *in, struct kept_lines *l, struct numbers *functions)
{
	_cleanup_free_ uint32_t *columns = NULL;
	uint64_t count, number;
	size_t i;

	if (!take_strings(in, l, &functions->list, &functions->count) ||
	    span_uleb(in, &count) < 0 || count > in->left / CALL_BYTES_MIN)
		return false;
	l->calls = xcalloc(count + 1, sizeof(*l->calls));
	columns = xcalloc(5 * count + 1, sizeof(*columns));
	if (!take_call_columns(in, l, functions, count, columns))
		return false;
	for (i = 0; i < l->count; i++) {
		if (span_uleb(in, &number) < 0 || number > count)
			return false;
		l->list[i].call = (uint32_t)number;
	}
	return true;
}

/* Reads the inlined calls, which an older version did not write, up to the end. */
static bool take_inlines(struct span *in, struct kept_lines *l)
{
	struct numbers functions = { .list = NULL };
	bool is_right = !in->left || take_calls(in, l, &functions);

	numbers_done(&functions);
	return is_right && !in->left;
}

int kept_lines_unpack(const void *bytes, size_t size, struct kept_lines *ret)
{
	_cleanup_(kept_lines_done) struct kept_lines l = { 0 };
	unsigned long long plain = ZSTD_getFrameContentSize(bytes, size);
	_cleanup_free_ char *text = NULL;
	struct span in;

	/* Both special values are larger. */
	if (plain > KEPT_LINES_PLAIN_MAX)
		return -EBADMSG;
	text = xmalloc((size_t)plain + 1);
	if (ZSTD_decompress(text, (size_t)plain, bytes, size) != plain)
		return -EBADMSG;
	in = span_of(text, (size_t)plain);
	if (!take_strings(&in, &l, &l.files, &l.file_count) || !take_rows(&in, &l) ||
	    !take_inlines(&in, &l))
		return -EBADMSG;
	*ret = l;
	l = (struct kept_lines){ 0 };
	return 0;
}
