/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/annotate/internal/annotate_code.h"

#include "base/mem.h"
#include "base/sequence.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "disasm/disasm.h"
#include "elf/elffile.h"
#include "profile/annotate/annotate.h"
#include "profile/annotate/internal/code_text.h"
#include "profile/select/gather.h"
#include "symbol/symtab.h"

#include <ctype.h>
#include <elf.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

/* The whole symbol at an address, or NULL. */
static const struct symbol *symbol_at(const struct annotate_view *v, uint64_t address)
{
	const struct symtab *st = v->binary.symtab;
	const struct symbol *sym;
	uint64_t offset;

	if (!binary_offset(&v->binary, v->image->header.is_kernel, address, &offset))
		return NULL;
	sym = symtab_find(st, offset);
	return sym ? symtab_at(st, sym->whole) : NULL;
}

void annotate_code_name(uint64_t address, struct strbuf *out, void *view)
{
	const struct symbol *sym = symbol_at(view, address);

	if (!sym)
		return;
	strbuf_adds(out, " <");
	text_visible(out, sym->name);
	if (address != sym->address)
		strbuf_addf(out, "+0x%" PRIx64, address - sym->address);
	strbuf_adds(out, ">");
}

const char *annotate_code_file(const struct annotate *a, const struct annotate_view *v)
{
	const struct gather_image *image = &a->report.gather->images[v->image->image];
	bool is_kernel = image->id.kind == SNAME_KERN || image->kernel;

	return is_kernel ? elffile_path(v->binary.file) : image->shown;
}

/* A disasm_namer that replaces the address, which another build has elsewhere, by the symbol. */
static void replace_address(uint64_t address, struct strbuf *out, void *view)
{
	const struct symbol *sym = symbol_at(view, address);

	while (out->length && isxdigit((unsigned char)out->text[out->length - 1]))
		out->text[--out->length] = '\0';
	strbuf_adds(out, "<");
	strbuf_adds(out, sym ? sym->name : "");
	strbuf_adds(out, ">");
}

/* Reads the code of one piece with both disassemblers: for people, and without addresses. */
static void read_piece(struct disasm *shown, struct disasm *plain, const struct symbol *piece,
		       struct annotate_code *to)
{
	struct code_text texts = { .is_aarch64 = to->is_aarch64 };
	uint64_t start = piece->address, end = start + (piece->end - piece->offset);
	struct disasm_insn insn, same;

	if (!disasm_seek(shown, start, end) || !disasm_seek(plain, start, end))
		return;
	while (disasm_next(shown, &insn) && disasm_next(plain, &same)) {
		array_grow(&to->list, to->count + 1, &to->room);
		to->list[to->count++] = (struct annotate_instruction){
			.address = insn.address,
			.offset = piece->offset + (insn.address - start),
			.hash = code_text_hash(&texts, same.text),
			.text = arena_strdup(&to->arena, insn.text),
			.bytes = insn.bytes,
			.size = insn.size,
		};
	}
}

int annotate_code_read(const struct annotate_view *v, const struct annotate_symbol *sym,
		       const char *options, struct annotate_code *ret)
{
	_cleanup_(disasm_freep) struct disasm *shown = NULL, *plain = NULL;
	const struct symtab *st = v->binary.symtab;
	struct error err = ERROR_INIT;
	int r;
	size_t i;

	*ret = (struct annotate_code){ 0 };
	if (!v->binary.file)
		return 0;
	r = disasm_new(v->binary.file, options, annotate_code_name, (void *)v, &shown, &err);
	if (r == 0)
		r = disasm_new(v->binary.file, NULL, replace_address, (void *)v, &plain, &err);
	if (r < 0)
		return r;
	ret->is_aarch64 = elffile_header(v->binary.file)->e_machine == EM_AARCH64;
	for (i = sym->first; i <= sym->last; i++)
		if (symtab_at(st, i)->whole == sym->first)
			read_piece(shown, plain, symtab_at(st, i), ret);
	return 0;
}

void annotate_code_done(struct annotate_code *c)
{
	free(c->list);
	arena_done(&c->arena);
	*c = (struct annotate_code){ 0 };
}

static uint64_t *hashes_of(const struct annotate_code *c)
{
	uint64_t *hashes = xcalloc(c->count + 1, sizeof(*hashes));
	size_t i;

	for (i = 0; i < c->count; i++)
		hashes[i] = c->list[i].hash;
	return hashes;
}

/* Whether instruction @i and the one after it have partners that follow each other. */
static bool goes_on(const uint32_t *partners, size_t i, size_t count)
{
	return i + 1 < count && partners[i] != SEQUENCE_NONE && partners[i + 1] == partners[i] + 1;
}

uint32_t *annotate_code_match(const struct annotate_code *first, const struct annotate_code *second)
{
	_cleanup_free_ uint64_t *a = hashes_of(first), *b = hashes_of(second);
	uint32_t *partners = sequence_match((struct sequence){ a, first->count },
					    (struct sequence){ b, second->count });
	bool is_run = first->count == 1 && second->count == 1, next;
	size_t i;

	/* A single one between others may be any that looks so. */
	for (i = 0; i < first->count; i++) {
		next = goes_on(partners, i, first->count);
		if (!is_run && !next)
			partners[i] = SEQUENCE_NONE;
		is_run = next;
	}
	return partners;
}
