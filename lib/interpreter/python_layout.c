/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "interpreter/python_layout.h"

#include "base/macro.h"
#include "base/span.h"
#include "elf/elffile.h"
#include "interpreter/interpreter_symbols.h"

#include <string.h>

/* The symbols that are looked for. */
enum symbol {
	SYMBOL_RUNTIME,
	SYMBOL_CODE_TYPE,
	SYMBOL_EVAL,
	SYMBOL_EVAL_COLD,
	SYMBOL_VERSION, /* since 3.11 */
	SYMBOL_SINCE_3_10,
	SYMBOL_SINCE_3_9,
	SYMBOL_SINCE_3_8,
	SYMBOL_COUNT_
};

static const char *const symbol_names[] = {
	[SYMBOL_RUNTIME] = "_PyRuntime",
	[SYMBOL_CODE_TYPE] = "PyCode_Type",
	[SYMBOL_EVAL] = "_PyEval_EvalFrameDefault",
	[SYMBOL_EVAL_COLD] = "_PyEval_EvalFrameDefault.cold",
	[SYMBOL_VERSION] = "Py_Version",
	[SYMBOL_SINCE_3_10] = "PyModule_AddObjectRef",
	[SYMBOL_SINCE_3_9] = "PyFrame_GetCode",
	[SYMBOL_SINCE_3_8] = "PyConfig_InitPythonConfig",
};
static_assert(ARRAY_SIZE(symbol_names) == SYMBOL_COUNT_, "one name each");

struct symbols {
	GElf_Sym all[SYMBOL_COUNT_]; /* 0: not there */
};

/* Offsets in what 3.8, 3.9 and 3.10 have alike: threads, frames, code and str. */
#define SINCE_3_8                                                                                  \
	.runtime_interpreters = 32, .interpreter_threads = 8, .thread_next = 8, .thread_id = 176,  \
	.thread_frame = 24, .frame_code = 32, .frame_previous = 24, .code_line = 40,               \
	.code_name = 112, .code_file = 104, .code_lines = 120, .code_bytes = 128, .code_text = 48, \
	.text_data = 48

/* Versions without a description of themselves, as measured in builds of 3.8.18, 3.9.18, 3.10.13,
 * 3.11.2, 3.11.7 and 3.12.1. */
static const struct python_layout versions[] = {
	{ .version = 0x0308,
	  .entry = PYTHON_ENTRY_CODE,
	  .runtime_current = 1368,
	  .frame_instruction = 104,
	  .frame_bytes = 112,
	  SINCE_3_8 },
	{ .version = 0x0309,
	  .entry = PYTHON_ENTRY_CODE,
	  .runtime_current = 568,
	  .frame_instruction = 104,
	  .frame_bytes = 112,
	  SINCE_3_8 },
	{ .version = 0x030a,
	  .entry = PYTHON_ENTRY_EACH,
	  .runtime_current = 568,
	  .thread_cframe = 48,
	  .cframe_previous = 8,
	  .frame_instruction = 96,
	  .frame_bytes = 104,
	  SINCE_3_8 },
	{ .version = 0x030b,
	  .entry = PYTHON_ENTRY_FLAG,
	  .runtime_current = 576,
	  .runtime_interpreters = 40,
	  .interpreter_threads = 16,
	  .thread_next = 8,
	  .thread_id = 152,
	  .thread_cframe = 56,
	  .cframe_current = 8,
	  .cframe_previous = 16,
	  .frame_code = 32,
	  .frame_previous = 48,
	  .frame_instruction = 56,
	  .frame_owner = 68,
	  .frame_bytes = 72,
	  .code_line = 72,
	  .code_name = 128,
	  .code_file = 112,
	  .code_lines = 136,
	  .code_bytes = 144,
	  .code_start = 184,
	  .text_data = 48 },
	{ .version = 0x030c,
	  .entry = PYTHON_ENTRY_SHIM,
	  .runtime_interpreters = 40,
	  .interpreter_threads = 72,
	  .thread_next = 8,
	  .thread_id = 136,
	  .thread_status = 24,
	  .thread_cframe = 56,
	  .frame_code = 0,
	  .frame_previous = 8,
	  .frame_instruction = 56,
	  .frame_owner = 70,
	  .frame_bytes = 72,
	  .code_line = 68,
	  .code_name = 128,
	  .code_file = 112,
	  .code_lines = 136,
	  .code_bytes = 144,
	  .code_start = 192,
	  .text_data = 40 },
};

/* Where versions that describe themselves do so: index of the word in _Py_DebugOffsets. */
struct self {
	uint16_t version;
	uint8_t words; /* to read */
	uint8_t interpreter, thread, frame, code, text;
	uint8_t thread_id, thread_status; /* within those of the thread */
};

static const struct self selves[] = {
	{ 0x030d, 71, 6, 19, 28, 34, 67, 5, 8 },
	{ 0x030e, 81, 6, 22, 31, 39, 77, 5, 8 },
	{ 0x030f, 93, 6, 22, 39, 47, 89, 7, 11 },
};

/* What the program has room for, and what it always reads of a code object. */
enum { FRAME_BYTES_MAX = 128, CODE_BYTES_MAX = 256, CODE_HEAD_BYTES = 24 };

enum { SELF_COOKIE, SELF_VERSION, SELF_FREE_THREADED, SELF_INTERPRETERS = 5, SELF_WORDS_MAX = 93 };

/* Finds the symbols; returns whether they are those of an interpreter. */
static bool find_symbols(const struct elffile *ef, struct symbols *s)
{
	return interpreter_symbols_find(ef, symbol_names, SYMBOL_COUNT_, s->all) &&
	       s->all[SYMBOL_CODE_TYPE].st_value;
}

/* The @size bytes of the file that are at @address in memory. */
static struct span bytes_at(const struct elffile *ef, uint64_t address, size_t size)
{
	const void *bytes;
	uint64_t offset;

	if (!elffile_offset(ef, address, &offset))
		return span_of(NULL, 0);
	bytes = elffile_bytes(ef, offset, size);
	return span_of(bytes, bytes ? size : 0);
}

/* The version as PY_VERSION_HEX >> 16; 0 if it is older than all that are supported. */
static uint16_t find_version(const struct elffile *ef, const struct symbols *s)
{
	struct span in = bytes_at(ef, s->all[SYMBOL_VERSION].st_value, sizeof(uint64_t));
	uint64_t hex;

	if (s->all[SYMBOL_VERSION].st_value)
		return span_u64(&in, &hex) < 0 ? 0 : (uint16_t)(hex >> 16);
	return s->all[SYMBOL_SINCE_3_10].st_value  ? 0x030a
	       : s->all[SYMBOL_SINCE_3_9].st_value ? 0x0309
	       : s->all[SYMBOL_SINCE_3_8].st_value ? 0x0308
						   : 0;
}

/* Fills in the layout from the words of _Py_DebugOffsets. */
static bool fill_self(const struct self *self, const uint64_t *words, struct python_layout *ret)
{
	const uint64_t *interpreter = words + self->interpreter, *thread = words + self->thread;
	const uint64_t *frame = words + self->frame, *code = words + self->code;
	const uint64_t *text = words + self->text;
	size_t i;

	for (i = SELF_INTERPRETERS; i < self->words; i++)
		if (words[i] > UINT16_MAX && i != self->interpreter)
			return false;
	ret->entry = PYTHON_ENTRY_SHIM;
	ret->is_tagged = self->version >= 0x030e;
	ret->runtime_interpreters = (uint16_t)words[SELF_INTERPRETERS];
	ret->interpreter_next = (uint16_t)interpreter[2];
	ret->interpreter_threads = (uint16_t)interpreter[3];
	ret->thread_next = (uint16_t)thread[2];
	ret->thread_frame = (uint16_t)thread[4];
	ret->thread_id = (uint16_t)thread[self->thread_id];
	ret->thread_status = (uint16_t)thread[self->thread_status];
	ret->frame_previous = (uint16_t)frame[1];
	ret->frame_code = (uint16_t)frame[2];
	ret->frame_instruction = (uint16_t)frame[3];
	ret->frame_owner = (uint16_t)frame[5];
	ret->frame_bytes = (uint16_t)((frame[5] & ~7ULL) + 8);
	ret->code_file = (uint16_t)code[1];
	ret->code_name = (uint16_t)code[3]; /* the qualified one */
	ret->code_lines = (uint16_t)code[4];
	ret->code_line = (uint16_t)code[5];
	ret->code_start = (uint16_t)code[9];
	ret->code_bytes = (uint16_t)(code[4] + 8);
	ret->text_data = (uint16_t)text[3];
	return true;
}

/* Reads what the interpreter says about itself. */
static bool read_self(const struct elffile *ef, const struct self *self, struct python_layout *ret)
{
	struct span in = bytes_at(ef, (uint64_t)ret->runtime, self->words * sizeof(uint64_t));
	uint64_t words[SELF_WORDS_MAX];

	if (span_copy(&in, words, self->words * sizeof(uint64_t)) < 0 ||
	    memcmp(&words[SELF_COOKIE], "xdebugpy", 8) != 0 ||
	    words[SELF_VERSION] >> 16 != self->version || words[SELF_FREE_THREADED])
		return false;
	return fill_self(self, words, ret);
}

/* Fills in what depends on the version. */
static bool fill_version(const struct elffile *ef, uint16_t version, struct python_layout *ret)
{
	const int64_t runtime = ret->runtime;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(versions); i++) {
		if (versions[i].version != version)
			continue;
		*ret = versions[i];
		ret->runtime = runtime;
		return true;
	}
	for (i = 0; i < ARRAY_SIZE(selves); i++)
		if (selves[i].version == version)
			return read_self(ef, &selves[i], ret);
	return false;
}

bool python_layout_read(const struct elffile *ef, uint64_t base, struct python_layout *ret)
{
	struct python_layout layout = { 0 };
	struct symbols s = { 0 };
	const GElf_Sym *eval = &s.all[SYMBOL_EVAL], *cold = &s.all[SYMBOL_EVAL_COLD];

	if (elffile_header(ef)->e_ident[EI_CLASS] != ELFCLASS64 || !find_symbols(ef, &s))
		return false;
	layout.runtime = (int64_t)s.all[SYMBOL_RUNTIME].st_value;
	layout.version = find_version(ef, &s);
	if (!fill_version(ef, layout.version, &layout) || !python_layout_makes_sense(&layout) ||
	    (layout.entry == PYTHON_ENTRY_CODE && !eval->st_size))
		layout.entry = PYTHON_ENTRY_NONE;
	layout.version = find_version(ef, &s);
	layout.runtime -= (int64_t)base;
	layout.code_type = (int64_t)(s.all[SYMBOL_CODE_TYPE].st_value - base);
	if (layout.entry == PYTHON_ENTRY_CODE) {
		layout.eval_start = (int64_t)(eval->st_value - base);
		layout.eval_bytes = (uint32_t)eval->st_size;
		layout.cold_start = (int64_t)(cold->st_value - base);
		layout.cold_bytes = (uint32_t)cold->st_size;
	}
	*ret = layout;
	return true;
}

/* Whether there are @bytes at @offset in what is copied of a structure. */
static bool has(uint16_t size, uint16_t offset, uint16_t bytes)
{
	return offset % bytes == 0 && offset + bytes <= size;
}

bool python_layout_makes_sense(const struct python_layout *l)
{
	const uint16_t in_frame[] = { l->frame_code, l->frame_previous, l->frame_instruction };
	const uint16_t in_code[] = { l->code_name, l->code_file, l->code_lines, l->code_text };
	size_t i;

	if (l->entry == PYTHON_ENTRY_NONE)
		return true; /* nothing of it is used */
	for (i = 0; i < ARRAY_SIZE(in_frame); i++)
		if (!has(l->frame_bytes, in_frame[i], 8))
			return false;
	for (i = 0; i < ARRAY_SIZE(in_code); i++)
		if (!has(l->code_bytes, in_code[i], 8))
			return false;
	return l->entry < PYTHON_ENTRY_COUNT_ && has(l->frame_bytes, l->frame_owner, 1) &&
	       has(l->code_bytes, l->code_line, 4) && l->code_bytes >= CODE_HEAD_BYTES &&
	       l->frame_bytes <= FRAME_BYTES_MAX && l->code_bytes <= CODE_BYTES_MAX &&
	       l->is_tagged <= 1;
}
