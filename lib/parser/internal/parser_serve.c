/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The worker's half of a parser: it runs without privileges, and its answers are not trusted. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "dwarf/lines.h"
#include "elf/debugfile.h"
#include "elf/elf_build_id.h"
#include "elf/elffile.h"
#include "jit/jit.h"
#include "parser/internal/parser_wire.h"
#include "symbol/elfcode.h"
#include "symbol/function_lines.h"
#include "symbol/functions.h"
#include "symbol/symtab.h"
#include "unwind/unwind.h"
#include "unwind/unwind_code.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* An answer being written; ->full says that something did not fit and was left out. */
struct writer {
	char *at;
	size_t left;
	bool full;
};

static void put(struct writer *w, const void *bytes, size_t size)
{
	w->full = w->full || size > w->left;
	if (w->full || !size)
		return;
	memcpy(w->at, bytes, size);
	w->at += size;
	w->left -= size;
}

static void put_u32(struct writer *w, uint32_t value)
{
	put(w, &value, sizeof(value));
}

static void put_u64(struct writer *w, uint64_t value)
{
	put(w, &value, sizeof(value));
}

static void put_string(struct writer *w, const char *text)
{
	put(w, text, strlen(text) + 1);
}

static struct writer begin(const struct sandbox_reply *reply)
{
	return (struct writer){ .at = reply->memory, .left = reply->room };
}

static void finish(const struct writer *w, struct sandbox_reply *reply, int code)
{
	reply->size = w->full ? 0 : reply->room - w->left;
	reply->code = code == 0 && w->full ? -EFBIG : code;
}

static void serve_build_id(int fd, struct sandbox_reply *reply)
{
	struct build_id id = { 0 };
	struct writer w = begin(reply);
	int r = elf_build_id_read_fd(fd, &id);

	put(&w, &id, sizeof(id));
	finish(&w, reply, r);
}

/* In the order of parsing: the longest array is last. */
static void put_table(struct writer *w, const struct unwind_table *t,
		      const struct unwind_rules *rules)
{
	const struct unwind_rule *all;
	size_t count;

	all = unwind_rules_all(rules, &count);
	put_u64(w, t->machine);
	put_u64(w, t->base);
	put_u64(w, t->fde_count);
	put_u64(w, t->bad_fde_count);
	put_u64(w, t->cfi_bytes);
	put_u64(w, t->segment_count);
	put_u64(w, count);
	put_u64(w, t->page_count);
	put_u64(w, t->row_count);
	put(w, &t->interpreter, sizeof(t->interpreter));
	put(w, t->segments, t->segment_count * sizeof(*t->segments));
	put(w, all, count * sizeof(*all));
	put(w, t->pages, (t->page_count + 1) * sizeof(*t->pages));
	put(w, t->rows, t->row_count * sizeof(*t->rows));
}

static void serve_table(int fd, struct sandbox_reply *reply)
{
	_cleanup_(unwind_rules_freep) struct unwind_rules *rules = unwind_rules_new();
	_cleanup_(unwind_table_freep) struct unwind_table *table = NULL;
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	struct writer w = begin(reply);
	int r = elffile_open_fd(dup(fd), "file", &ef, NULL);

	if (r == 0)
		r = unwind_table_build(ef, rules, &table, NULL);
	if (r == 0)
		put_table(&w, table, rules);
	finish(&w, reply, r);
}

static void serve_functions(int fd, struct sandbox_reply *reply)
{
	_cleanup_(symtab_freep) struct symtab *st = NULL;
	struct elffile *ef, *debug = NULL;
	ssize_t n;

	reply->code = elffile_open_fd(dup(fd), "file", &ef, NULL);
	if (reply->code < 0)
		return;
	if (debugfile_inside(ef, &debug) < 0)
		debug = NULL;
	/* Who shows the pieces knows the name of the file. */
	st = elfcode_symbols(ef, debug, "");
	n = symtab_count(st) ? functions_pack(st, reply->memory, reply->room) : -ENODATA;
	reply->code = (int)MIN(n, 0);
	reply->size = (size_t)MAX(n, 0);
}

/* --- lines --- */

/* Debug information in one file, and how long it is read for. */
enum { DEBUG_BYTES_MAX = 128 << 20, LINES_MS = 100 };

/* Whether there is so much debug information that reading it would take too long. */
static bool is_too_much(const struct elffile *ef)
{
	struct elf_section info;

	return elffile_find_section(ef, ".debug_info", &info) &&
	       info.header.sh_size > DEBUG_BYTES_MAX;
}

/* Marks the functions at @places, by the number of their first piece, and puts the ranges of code
 * that the answer is about. */
static void put_ranges(struct writer *w, const struct symtab *st,
		       const struct parser_places *places, bool *is_wanted)
{
	uint32_t *count = (uint32_t *)w->at;
	size_t i, n = 0;

	put_u64(w, 0);
	for (i = 0; i < places->count; i++) {
		const uint64_t offset = places->offsets[i];
		const struct symbol *sym = symtab_find(st, offset);

		if (sym) {
			is_wanted[sym->whole] = true;
			continue;
		}
		/* Code of no function has no lines. */
		put_u64(w, offset);
		put_u64(w, offset + 1);
		n++;
	}
	for (i = 0; i < symtab_count(st); i++) {
		const struct symbol *piece = symtab_at(st, i);

		if (!is_wanted[piece->whole])
			continue;
		put_u64(w, piece->offset);
		put_u64(w, piece->end);
		n++;
	}
	if (!w->full)
		*count = (uint32_t)n;
}

/* Puts the @lines of the functions of @st at @places. */
static int put_lines(struct writer *w, struct lines *lines, const struct symtab *st,
		     const struct parser_places *places)
{
	_cleanup_(strbuf_done) struct strbuf packed = STRBUF_INIT;
	_cleanup_free_ bool *is_wanted = xcalloc(symtab_count(st) + 1, sizeof(*is_wanted));
	struct function_lines found = { .lines = lines,
					.end_ns = clock_now_ns() + LINES_MS * (NS_PER_S / 1000) };
	uint32_t *is_cut = (uint32_t *)w->at + 1;
	int r = 0;

	put_ranges(w, st, places, is_wanted);
	if (!function_lines_add(&found, st, is_wanted))
		*is_cut = 1;
	if (found.kept.file_count)
		r = kept_lines_pack(&found.kept, &packed);
	put(w, packed.text, packed.length);
	function_lines_done(&found);
	return r;
}

static int read_lines(struct elffile *ef, const struct parser_places *places, struct writer *w)
{
	_cleanup_(symtab_freep) struct symtab *st = NULL;
	_cleanup_(lines_freep) struct lines *lines = is_too_much(ef) ? NULL : lines_new(ef, NULL);
	struct elffile *debug = NULL;

	if (!lines || !lines_exist(lines)) {
		int r = lines ? -ENODATA : -EFBIG;

		lines_free(STEAL(lines));
		elffile_close(ef);
		return r;
	}
	if (debugfile_inside(ef, &debug) < 0)
		debug = NULL;
	st = elfcode_symbols(ef, debug, "");
	return symtab_count(st) ? put_lines(w, lines, st, places) : -ENODATA;
}

static void serve_lines(const struct parser_places *places, int fd, struct sandbox_reply *reply)
{
	struct writer w = begin(reply);
	struct elffile *ef;
	int r = elffile_open_fd(dup(fd), "file", &ef, NULL);

	finish(&w, reply, r < 0 ? r : read_lines(ef, places, &w));
}

static void put_load(void *data, const struct jit_code *code)
{
	struct writer *w = data;
	const char *file = NULL;
	size_t i;

	put_u32(w, PARSER_JIT_LOAD);
	put_u32(w, (code->late ? PARSER_JIT_LATE : 0u) | (code->bytes ? PARSER_JIT_BYTES : 0u));
	put_u64(w, code->address);
	put_u64(w, code->size);
	put_u64(w, code->from);
	put_string(w, code->name);
	if (code->bytes)
		put(w, code->bytes, code->size);
	put_u32(w, code->line_count);
	for (i = 0; i < code->line_count; i++) {
		const struct jit_line *line = &code->lines[i];

		put_u64(w, line->address);
		put_u32(w, line->line);
		/* No name: the file of the row before. */
		put_string(w, file && !strcmp(file, line->file) ? "" : line->file);
		file = line->file;
	}
	put_u32(w, code->row_count);
	put(w, code->rows, code->row_count * sizeof(*code->rows));
	put_u32(w, code->inlined_bytes);
	put(w, code->inlined, code->inlined_bytes);
}

static void put_move(void *data, uint64_t address, uint64_t to, uint64_t time)
{
	struct writer *w = data;

	put_u32(w, PARSER_JIT_MOVE);
	put_u64(w, address);
	put_u64(w, to);
	put_u64(w, time);
}

static void put_unload(void *data, uint64_t address, uint64_t time)
{
	struct writer *w = data;

	put_u32(w, PARSER_JIT_UNLOAD);
	put_u64(w, address);
	put_u64(w, time);
}

static void serve_jit(const struct parser_request *request, int fd, struct sandbox_reply *reply)
{
	_cleanup_(jit_source_freep) struct jit_source *s = jit_source_new(dup(fd), "");
	struct writer w = begin(reply);
	const struct jit_sink sink = { put_load, put_move, put_unload, &w };
	struct jit_source_state state;
	struct error err = ERROR_INIT;
	int64_t n;

	jit_source_resume(s, &request->state);
	n = jit_source_read_some(s, &sink, request->now, PARSER_JIT_PORTION, &err);
	jit_source_state(s, &state);
	put_u32(&w, PARSER_JIT_END);
	put(&w, &state, sizeof(state));
	put_u64(&w, (uint64_t)n);
	/* Of a source without name. */
	put_string(&w, err.text + (strncmp(err.text, ": ", 2) ? 0 : 2));
	finish(&w, reply, 0);
}

int parser_read_pages(int fd, const struct parser_pages *pages, void *ret)
{
	uint8_t *at = ret;
	uint32_t i;
	ssize_t n;

	memset(ret, 0, (size_t)pages->count * PARSER_PAGE_BYTES);
	for (i = 0; i < pages->count; i++, at += PARSER_PAGE_BYTES) {
		n = pread(fd, at, PARSER_PAGE_BYTES, (off_t)(pages->offset + i * pages->step));
		if (n < 0 && i == 0)
			return -errno;
	}
	return 0;
}

static void serve_pages(const struct parser_pages *pages, int fd, struct sandbox_reply *reply)
{
	size_t bytes = (size_t)pages->count * PARSER_PAGE_BYTES;

	if (bytes > reply->room)
		return;
	reply->code = parser_read_pages(fd, pages, reply->memory);
	reply->size = bytes;
}

void parser_serve(const void *bytes, size_t size, int fd, struct sandbox_reply *reply)
{
	const struct parser_request *request = bytes;

	reply->code = -EINVAL;
	if (size != sizeof(*request))
		return;
	switch ((enum parser_what)request->what) {
	case PARSER_BUILD_ID:
		serve_build_id(fd, reply);
		break;
	case PARSER_TABLE:
		serve_table(fd, reply);
		break;
	case PARSER_FUNCTIONS:
		serve_functions(fd, reply);
		break;
	case PARSER_JIT:
		serve_jit(request, fd, reply);
		break;
	case PARSER_LINES:
		if (request->places.count <= PARSER_PLACES_MAX)
			serve_lines(&request->places, fd, reply);
		break;
	case PARSER_PAGES:
		serve_pages(&request->pages, fd, reply);
		break;
	}
}
