/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes an ELF file section by section, for any machine: keeps the tables of names and symbols,
 * and lays everything out at the end. An error is remembered and reported by the last call.
 *
 * Bytes handed in are borrowed until elf_writer_done(); elf_writer_keep() makes the writer their
 * owner.
 *
 *	_cleanup_(elf_writer_done) struct elf_writer w = { 0 };
 *	GElf_Shdr text = { .sh_type = SHT_PROGBITS, .sh_addr = 0x1000, .sh_addralign = 1 };
 *	GElf_Sym sym = { .st_value = 0x1000, .st_info = GELF_ST_INFO(STB_GLOBAL, STT_FUNC) };
 *
 *	elf_writer_begin(&w, fd, &header);
 *	sym.st_shndx = (GElf_Section)elf_writer_section(&w, ".text", &text, bytes, size);
 *	elf_writer_symbol(&w, &sym, "main", NULL);
 *	if (elf_writer_finish(&w, NULL) < 0)
 *		return error_set(err, -EIO, "%s", elf_errmsg(-1));
 */
#pragma once

#include "base/strbuf.h"

#include <gelf.h>
#include <stdbool.h>

struct line_table_section;
struct elf_writer_segment;

struct elf_writer {
	Elf *elf;
	struct strbuf names, strings; /* of sections, of symbols */
	GElf_Sym *symbols;
	size_t symbol_count, symbol_room;
	struct elf_writer_segment *segments;
	size_t segment_count, segment_room;
	void **kept;
	size_t kept_count, kept_room;
	bool failed; /* a call of libelf failed */
};

/* Starts a file in @fd with the class, byte order, OS ABI, type, machine and flags of @like. */
void elf_writer_begin(struct elf_writer *w, int fd, const GElf_Ehdr *like);
/* Hands heap memory over; returns it. */
void *elf_writer_keep(struct elf_writer *w, void *memory);
/* Adds a section; name and size of @header are set here. Returns its number, 0 on failure. */
size_t elf_writer_section(struct elf_writer *w, const char *name, const GElf_Shdr *header,
			  const void *bytes, size_t size);
/* Adds a global or other non-local symbol; its name is set here. @next, if not NULL, is a string
 * to follow the name in the string table. */
void elf_writer_symbol(struct elf_writer *w, const GElf_Sym *symbol, const char *name,
		       const char *next);
/* Adds a program header. If @section is not 0 its offset is that of the section. */
void elf_writer_segment(struct elf_writer *w, const GElf_Phdr *segment, size_t section);
/* Adds the symbol table and @debug (LINE_TABLE_SECTIONS of them, or NULL) and writes the file;
 * 0 or -EIO, with the reason in elf_errmsg(-1). */
int elf_writer_finish(struct elf_writer *w, const struct line_table_section *debug);
/* Frees what it holds. */
void elf_writer_done(struct elf_writer *w);
