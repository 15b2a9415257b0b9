/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "interpreter/php_layout.h"

#include "base/macro.h"
#include "base/span.h"
#include "elf/elffile.h"
#include "interpreter/interpreter_symbols.h"

#include <string.h>

/* The symbols that are looked for. */
enum symbol {
	SYMBOL_LOOP,
	SYMBOL_LOOP_COLD,
	SYMBOL_GLOBALS,	   /* not in builds with threads */
	SYMBOL_ZTS_OFFSET, /* only in those */
	SYMBOL_COUNT_
};

static const char *const symbol_names[] = {
	[SYMBOL_LOOP] = "execute_ex",
	[SYMBOL_LOOP_COLD] = "execute_ex.cold",
	[SYMBOL_GLOBALS] = "executor_globals",
	[SYMBOL_ZTS_OFFSET] = "executor_globals_offset",
};
static_assert(ARRAY_SIZE(symbol_names) == SYMBOL_COUNT_, "one name each");

/* What the program always reads of a function. */
enum { FUNCTION_BYTES = PHP_FUNCTION_WORDS * 8 };

/* Offsets by version: 8.2 as measured with its headers, the others as read in one of 8.1. */
static const struct {
	uint16_t version;
	uint16_t current, file, lines;
} versions[] = {
	{ 0x0800, 488, 144, 152 },
	{ 0x0801, 488, 144, 152 },
	{ 0x0802, 488, 152, 160 },
};

/* Takes a number below 100 and what follows it. */
static bool take_number(struct span *in, uint32_t *ret, uint8_t *after)
{
	*ret = 0;
	while (span_u8(in, after) == 0) {
		if (*after < '0' || *after > '9')
			return true;
		*ret = *ret * 10 + (uint32_t)(*after - '0');
		if (*ret >= 100)
			return false;
	}
	return false;
}

/* The version in the header of answers that each build contains: "X-Powered-By: PHP/8.2.1". */
static uint16_t find_version(const struct elffile *ef)
{
	static const char header[] = "X-Powered-By: PHP/";
	const size_t length = strlen(header);
	struct elf_section section;
	const Elf_Data *data;
	uint32_t major, minor;
	const char *at;
	struct span in;
	uint8_t after;

	if (!elffile_find_section(ef, ".rodata", &section) || !(data = elffile_data(&section)) ||
	    !data->d_buf)
		return 0;
	at = memmem(data->d_buf, data->d_size, header, length);
	if (!at)
		return 0;
	at += length;
	in = span_of(at, data->d_size - (size_t)(at - (const char *)data->d_buf));
	if (!take_number(&in, &major, &after) || after != '.' || !take_number(&in, &minor, &after))
		return 0;
	return (uint16_t)(major << 8 | minor);
}

bool php_layout_read(const struct elffile *ef, uint64_t base, struct php_layout *ret)
{
	GElf_Sym s[SYMBOL_COUNT_];
	const GElf_Sym *loop = &s[SYMBOL_LOOP], *cold = &s[SYMBOL_LOOP_COLD];
	struct php_layout layout = { 0 };
	size_t i;

	if (elffile_header(ef)->e_ident[EI_CLASS] != ELFCLASS64 ||
	    !interpreter_symbols_find(ef, symbol_names, SYMBOL_COUNT_, s) ||
	    (!s[SYMBOL_GLOBALS].st_value && !s[SYMBOL_ZTS_OFFSET].st_value))
		return false;
	layout.version = find_version(ef);
	for (i = 0; i < ARRAY_SIZE(versions); i++) {
		if (versions[i].version != layout.version)
			continue;
		layout.is_known = s[SYMBOL_GLOBALS].st_value != 0;
		layout.current = (int64_t)(s[SYMBOL_GLOBALS].st_value + versions[i].current - base);
		layout.function_file = versions[i].file;
		layout.function_lines = versions[i].lines;
	}
	layout.loop_start = (int64_t)(loop->st_value - base);
	layout.loop_bytes = (uint32_t)loop->st_size;
	if (cold->st_value)
		layout.cold_start = (int64_t)(cold->st_value - base);
	layout.cold_bytes = (uint32_t)cold->st_size;
	if (!php_layout_makes_sense(&layout))
		layout.is_known = 0;
	*ret = layout;
	return true;
}

/* Whether there is a word at @offset in what is copied of a function. */
static bool has_word(uint16_t offset)
{
	return offset % 8 == 0 && offset + 8 <= FUNCTION_BYTES;
}

bool php_layout_makes_sense(const struct php_layout *l)
{
	if (!l->is_known)
		return true; /* nothing of it is used */
	return l->is_known == 1 && l->loop_bytes && has_word(l->function_file) &&
	       has_word(l->function_lines);
}
