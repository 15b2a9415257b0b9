/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The instructions of a function, and those that two builds of it have in common.
 *
 *	struct annotate_code first, second;
 *	annotate_code_read(&view, symbol, NULL, &first);
 *	annotate_code_read(&other_view, other, NULL, &second);
 *	partners = annotate_code_match(&first, &second);
 *	...first.list[i] is second.list[partners[i]]
 *	free(partners);
 *	annotate_code_done(&first);
 */
#pragma once

#include "base/arena.h"

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

struct annotate;
struct annotate_symbol;
struct annotate_view;
struct strbuf;

struct annotate_instruction {
	uint64_t address;
	uint64_t offset;      /* of its samples */
	uint64_t hash;	      /* of its text without addresses */
	const char *text;     /* for people */
	const uint8_t *bytes; /* in the file */
	unsigned int size;
};

struct annotate_code {
	struct annotate_instruction *list; /* NULL: there is no code */
	size_t count, room;
	struct arena arena; /* holds the text */
	bool is_aarch64;
};

/* Reads all pieces of a symbol; @options are those of the disassembler, or NULL. The caller calls
 * annotate_code_done(). 0, or negative: there is no disassembler for the machine. */
int annotate_code_read(const struct annotate_view *v, const struct annotate_symbol *sym,
		       const char *options, struct annotate_code *ret);
/* Frees all; a zeroed one is fine. */
void annotate_code_done(struct annotate_code *c);
/* Of each instruction of @first, the index of its counterpart in @second, or SEQUENCE_NONE: at
 * least two that follow each other are equal. Caller frees. */
uint32_t *annotate_code_match(const struct annotate_code *first,
			      const struct annotate_code *second);

/* A disasm_namer, whose data is a view: adds the symbol at an address, " <main+0x10>". */
void annotate_code_name(uint64_t address, struct strbuf *out, void *view);
/* The file of a view's code: its name when it was profiled; for a kernel, the file that was found.
 * Borrowed. */
const char *annotate_code_file(const struct annotate *a, const struct annotate_view *v);
