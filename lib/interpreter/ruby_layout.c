/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "interpreter/ruby_layout.h"

#include "base/macro.h"
#include "base/span.h"
#include "elf/elffile.h"
#include "interpreter/interpreter_symbols.h"
#include "interpreter/ruby_places.h"

#include <string.h>

/* The symbols that are looked for. */
enum symbol {
	SYMBOL_VERSION, /* what it is recognised by */
	SYMBOL_LOOP,	/* these two not in a stripped file since 3.3, */
	SYMBOL_CURRENT,
	SYMBOL_YIELD, /* but what leads there is */
	SYMBOL_RECEIVER,
	SYMBOL_NAME_OF,
	SYMBOL_CORE, /* these two in no stripped file */
	SYMBOL_SYMBOLS,
	SYMBOL_COUNT_
};

static const char *const symbol_names[] = {
	[SYMBOL_LOOP] = "rb_vm_exec",	   [SYMBOL_CURRENT] = "ruby_current_ec",
	[SYMBOL_VERSION] = "ruby_version", [SYMBOL_NAME_OF] = "rb_id2str",
	[SYMBOL_YIELD] = "rb_yield",	   [SYMBOL_RECEIVER] = "rb_current_receiver",
	[SYMBOL_CORE] = "vm_exec_core",	   [SYMBOL_SYMBOLS] = "ruby_global_symbols",
};
static_assert(ARRAY_SIZE(symbol_names) == SYMBOL_COUNT_, "one name each");

/* Offsets by version, as measured with the headers of its source. */
static const struct ruby_layout versions[] = {
	{ .version = 0x0301,
	  .frame_bytes = 64,
	  .body_path = 64,
	  .body_line = 88,
	  .body_lines = 120,
	  .line_bytes = 12,
	  .last_operator = 169,
	  .is_short = 1 },
	{ .version = 0x0303,
	  .frame_bytes = 56,
	  .body_path = 64,
	  .body_line = 88,
	  .body_lines = 112,
	  .line_bytes = 12,
	  .last_operator = 169 },
};

/* The version in "3.1.2"; 0 if that is none. */
static uint16_t find_version(const struct elffile *ef, const GElf_Sym *symbol)
{
	const char *text;
	uint64_t offset;

	if (!symbol->st_value || !elffile_offset(ef, symbol->st_value, &offset))
		return 0;
	text = elffile_bytes(ef, offset, 4);
	if (!text || text[0] < '0' || text[0] > '9' || text[1] != '.' || text[2] < '0' ||
	    text[2] > '9' || text[3] != '.')
		return 0;
	return (uint16_t)((text[0] - '0') << 8 | (text[2] - '0'));
}

static bool find_header(const struct elffile *ef, uint32_t type, GElf_Phdr *ret)
{
	size_t count = 0, i;

	if (elf_getphdrnum(elffile_elf(ef), &count) < 0)
		return false;
	for (i = 0; i < count; i++)
		if (gelf_getphdr(elffile_elf(ef), (int)i, ret) && ret->p_type == type)
			return true;
	return false;
}

/* Whether the file needs the C library musl. */
static bool needs_musl(const struct elffile *ef)
{
	static const char name[] = "libc.musl-";
	struct elf_section section;
	const Elf_Data *data;

	return elffile_find_section(ef, ".dynstr", &section) && (data = elffile_data(&section)) &&
	       data->d_buf && memmem(data->d_buf, data->d_size, name, strlen(name));
}

/* Fills in where a thread has ruby_current_ec. Those of a program are at a fixed offset below its
 * thread pointer, on x86-64; those of a library where the dynamic linker puts them. */
static bool find_current(const struct elffile *ef, const GElf_Sym *s, uint64_t base,
			 struct ruby_layout *ret)
{
	const GElf_Sym *symbol = &s[SYMBOL_CURRENT], *receiver = &s[SYMBOL_RECEIVER];
	const bool is_named = GELF_ST_TYPE(symbol->st_info) == STT_TLS;
	uint64_t module, align, current = symbol->st_value;
	GElf_Phdr tls, interpreter;

	if (elffile_header(ef)->e_machine != EM_X86_64 || !find_header(ef, PT_TLS, &tls) ||
	    tls.p_memsz > UINT32_MAX || tls.p_align > UINT32_MAX)
		return false;
	if (!is_named &&
	    (!ruby_places_variable(ef, receiver->st_value, receiver->st_size, &current) ||
	     current % 8 || current >= tls.p_memsz))
		return false;
	ret->current = (int64_t)current;
	if (find_header(ef, PT_INTERP, &interpreter) || elffile_header(ef)->e_type == ET_EXEC) {
		align = MAX(tls.p_align, (uint64_t)1);
		ret->thread = RUBY_THREAD_FIXED;
		ret->current -= (int64_t)((tls.p_memsz + align - 1) / align * align);
		return true;
	}
	module = ruby_places_module(ef);
	ret->module = (int64_t)(module - base);
	ret->thread = needs_musl(ef) ? RUBY_THREAD_MUSL : RUBY_THREAD_GLIBC;
	return module != 0;
}

/* Fills in where the code and the names of methods are. */
static void find_code(const struct elffile *ef, const GElf_Sym *s, uint64_t base,
		      struct ruby_layout *ret)
{
	const GElf_Sym *yield = &s[SYMBOL_YIELD], *name_of = &s[SYMBOL_NAME_OF];
	struct ruby_extent loop = { s[SYMBOL_LOOP].st_value, s[SYMBOL_LOOP].st_size };
	struct ruby_extent core = { s[SYMBOL_CORE].st_value, s[SYMBOL_CORE].st_size };
	uint64_t symbols = s[SYMBOL_SYMBOLS].st_value;

	if (!loop.bytes)
		(void)ruby_places_loop(ef, yield->st_value, yield->st_size, &loop, &core);
	if (!core.bytes)
		core = ruby_places_callee(ef, loop.start, loop.bytes);
	if (!symbols && name_of->st_value)
		symbols = ruby_places_symbols(ef, name_of->st_value, name_of->st_size);
	ret->loop_start = (int64_t)(loop.start - base);
	ret->loop_bytes = (uint32_t)loop.bytes;
	ret->core_start = (int64_t)(core.start - base);
	ret->core_bytes = (uint32_t)core.bytes;
	ret->symbols = symbols ? (int64_t)(symbols - base) : 0;
}

bool ruby_layout_read(const struct elffile *ef, uint64_t base, struct ruby_layout *ret)
{
	struct ruby_layout layout = { 0 };
	GElf_Sym s[SYMBOL_COUNT_];
	uint16_t version;
	size_t i;

	if (elffile_header(ef)->e_ident[EI_CLASS] != ELFCLASS64 ||
	    !interpreter_symbols_find(ef, symbol_names, SYMBOL_COUNT_, s))
		return false;
	version = find_version(ef, &s[SYMBOL_VERSION]);
	for (i = 0; i < ARRAY_SIZE(versions); i++) {
		if (versions[i].version != version)
			continue;
		layout = versions[i];
		layout.is_known = find_current(ef, s, base, &layout);
		find_code(ef, s, base, &layout);
	}
	layout.version = version;
	if (!ruby_layout_makes_sense(&layout))
		layout.is_known = 0;
	*ret = layout;
	return true;
}

/* Whether there are @bytes at @offset in what is copied of a function. */
static bool has(uint16_t offset, uint16_t bytes)
{
	return offset % 8 == 0 && offset + bytes <= RUBY_BODY_BYTES;
}

bool ruby_layout_makes_sense(const struct ruby_layout *l)
{
	if (!l->is_known)
		return true; /* nothing of it is used */
	return l->is_known == 1 && l->loop_bytes && l->thread < RUBY_THREAD_COUNT_ &&
	       has(l->body_path, 24) && has(l->body_line, 8) && has(l->body_lines, 32) &&
	       l->frame_bytes >= 40 && l->frame_bytes % 8 == 0 && l->frame_bytes <= 128 &&
	       l->line_bytes == 12 && l->is_short <= 1;
}
