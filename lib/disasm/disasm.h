/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Disassembles the code of an ELF file with objdump's own engine (binutils' libopcodes), so that it
 * decodes whatever objdump does.
 *
 *	struct disasm *d;
 *	struct disasm_insn insn;
 *	if (disasm_new(ef, NULL, NULL, NULL, &d, err) == 0 && disasm_seek(d, start, end))
 *		while (disasm_next(d, &insn))
 *			printf("%" PRIx64 ":\t%s\n", insn.address, insn.text);
 *	disasm_free(d);					before the file is closed
 */
#pragma once

#include "elf/elffile.h"

struct disasm;
struct strbuf;

/* Adds the text that follows an address in an instruction (" <main+0x10>"), or nothing. */
typedef void disasm_namer(uint64_t address, struct strbuf *out, void *data);

struct disasm_insn {
	uint64_t address;
	unsigned int size;    /* bytes, at least 1 */
	const uint8_t *bytes; /* borrowed from the file */
	const char *text;     /* "mov    %esi,%eax"; borrowed until the next call */
};

/* A disassembler for the machine of @ef, which is borrowed, with @options as for objdump's -M
 * ("intel"; or NULL). @namer may be NULL. 0, caller frees; -ENOTSUP if the machine is unknown. */
int disasm_new(const struct elffile *ef, const char *options, disasm_namer *namer, void *data,
	       struct disasm **ret, struct error *err);
/* NULL is fine. */
void disasm_free(struct disasm *d);
DEFINE_CLEANUP(struct disasm *, disasm_free);

/* Moves to the code from @start up to @end, or to the end of the section; false if there is no
 * code. In a relocatable file addresses are those of elffile_section_base(). */
bool disasm_seek(struct disasm *d, uint64_t start, uint64_t end);
/* Name of the present section; borrowed. */
const char *disasm_section(const struct disasm *d);
/* The next instruction; false at the end. Bytes that are not one are returned as "(bad)" or
 * ".byte 0x..", as in objdump. */
bool disasm_next(struct disasm *d, struct disasm_insn *ret);
