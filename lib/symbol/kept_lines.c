/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/kept_lines.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/strbuf.h"

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
 */
enum { LEVEL = 9, ROW_BYTES_MIN = 7 };

static uint32_t file_number(struct kept_lines *l, const char *file)
{
	size_t i;

	/* Neighbours are mostly of the file that was added last. */
	for (i = l->file_count; i > 0; i--)
		if (!strcmp(l->files[i - 1], file))
			return (uint32_t)i - 1;
	array_grow(&l->files, l->file_count + 1, &l->file_room);
	l->files[l->file_count] = arena_strdup(&l->arena, file);
	return (uint32_t)l->file_count++;
}

void kept_lines_add(struct kept_lines *l, uint64_t address, const char *file, uint32_t line,
		    uint32_t text)
{
	const struct kept_line row = { address, line ? file_number(l, file) : 0, line,
				       line ? text : 0 };
	const struct kept_line *last;

	/* What follows a function may be another one. */
	if (l->count && l->list[l->count - 1].address == address)
		l->count--;
	last = l->count ? &l->list[l->count - 1] : NULL;
	if (last && last->line == row.line && last->file == row.file)
		return;
	array_grow(&l->list, l->count + 1, &l->room);
	l->list[l->count++] = row;
}

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

int kept_lines_pack(const struct kept_lines *l, struct strbuf *out)
{
	_cleanup_(strbuf_done) struct strbuf plain = STRBUF_INIT;
	_cleanup_free_ char *packed = NULL;
	size_t i, bound, n;

	strbuf_add_uleb(&plain, l->file_count);
	for (i = 0; i < l->file_count; i++)
		strbuf_add(&plain, l->files[i], strlen(l->files[i]) + 1);
	put_rows(l, &plain);
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

static bool take_files(struct span *in, struct kept_lines *l)
{
	uint64_t count, i;

	if (span_uleb(in, &count) < 0 || count > in->left)
		return false;
	l->files = xcalloc(count + 1, sizeof(*l->files));
	for (i = 0; i < count; i++) {
		const char *name = span_string(in);

		if (!name)
			return false;
		l->files[l->file_count++] = arena_strdup(&l->arena, name);
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

	if (span_uleb(in, &count) < 0 || count > in->left / ROW_BYTES_MIN)
		return false;
	l->list = xcalloc(count + 1, sizeof(*l->list));
	if (!take_numbers(in, l, count) || in->left != count * sizeof(uint32_t))
		return false;
	for (; l->count < count; l->count++)
		l->list[l->count].text = get_le32(span_take(in, sizeof(uint32_t)));
	return true;
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
	if (!take_files(&in, &l) || !take_rows(&in, &l))
		return -EBADMSG;
	*ret = l;
	l = (struct kept_lines){ 0 };
	return 0;
}

const struct kept_line *kept_lines_find(const struct kept_lines *l, uint64_t address)
{
	size_t low = 0, high = l->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (l->list[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && l->list[low - 1].line ? &l->list[low - 1] : NULL;
}

void kept_lines_done(struct kept_lines *l)
{
	free(l->list);
	free(l->files);
	arena_done(&l->arena);
	*l = (struct kept_lines){ 0 };
}
