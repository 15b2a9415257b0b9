/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/annotate/annotate_asm.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "disasm/disasm.h"
#include "dwarf/lines.h"
#include "profile/rows/container.h"
#include "symbol/symtab.h"
#include "profile/annotate/internal/annotate_calls.h"
#include "profile/annotate/internal/annotate_code.h"
#include "profile/annotate/internal/annotate_mix.h"
#include "profile/annotate/annotate_text.h"

#include <inttypes.h>
#include <string.h>

/* An image being printed. */
struct listing {
	struct annotate *a;
	const struct annotate_view *view;
	const struct annotate_asm_output *to;
	struct disasm *disasm;
	struct annotate_mix *mix; /* NULL: no source */
	char *section;		  /* the last one printed, or NULL */
	char *blank;		  /* the prefix of a line without samples */
	uint64_t *no_code;	  /* samples whose code is not in the file */
	uint64_t *counts;	  /* of one instruction */
	uint64_t *called;	  /* by each of the symbol; NULL: not wanted */
	size_t next;		  /* of these */
	struct strbuf text;
};

static void flush(struct listing *l)
{
	(void)fwrite(strbuf_text(&l->text), 1, l->text.length, l->to->out);
	strbuf_clear(&l->text);
}

/* Sums the samples from index @i on that are before @end into @counts; returns the index after
 * them. */
static size_t sum_samples(const struct samples *s, size_t i, uint64_t end, uint64_t *counts)
{
	for (; i < s->count && s->samples[i].offset < end; i++)
		counts[s->samples[i].class] += s->samples[i].count;
	return i;
}

static void print_instruction(struct listing *l, const struct disasm_insn *insn)
{
	unsigned int i;

	if (l->mix)
		annotate_mix_at(l->mix, insn->address, l->blank, &l->text);
	annotate_prefix(l->a, l->counts, &l->text);
	strbuf_addf(&l->text, "%8" PRIx64 ":\t", insn->address);
	for (i = 0; l->to->show_bytes && i < insn->size; i++)
		strbuf_addf(&l->text, "%02x ", insn->bytes[i]);
	strbuf_addf(&l->text, "%s%s\n", l->to->show_bytes ? "\t" : "", insn->text);
}

/* Prints the code of one piece of a symbol. */
static void print_piece(struct listing *l, const struct symbol *piece)
{
	const struct samples *s = &l->view->image->samples;
	size_t size = l->a->totals.class_count * sizeof(*l->counts);
	uint64_t start = piece->address, end = start + (piece->end - piece->offset);
	size_t i = samples_first(s, piece->offset);
	struct disasm_insn insn;

	if (disasm_seek(l->disasm, start, end)) {
		while (disasm_next(l->disasm, &insn)) {
			memset(l->counts, 0, size);
			i = sum_samples(s, i, piece->offset + (insn.address + insn.size - start),
					l->counts);
			if (l->called)
				l->counts[ANNOTATE_WITH_CALLS] =
					l->counts[0] + l->called[l->next++];
			print_instruction(l, &insn);
		}
	}
	(void)sum_samples(s, i, piece->end, l->no_code);
}

static void print_section(struct listing *l, const struct annotate_symbol *sym)
{
	const char *name;

	if (!disasm_seek(l->disasm, sym->symbol->address, sym->symbol->address + 1))
		return;
	name = disasm_section(l->disasm);
	if (l->section && !strcmp(l->section, name))
		return;
	free(l->section);
	l->section = xstrdup(name);
	strbuf_addf(&l->text, "%s\n%s\n%sDisassembly of section %s:\n", l->blank, l->blank,
		    l->blank, name);
}

static void print_symbol(struct listing *l, const struct annotate_symbol *sym)
{
	const struct symtab *st = l->view->binary.symtab;
	size_t i;

	print_section(l, sym);
	strbuf_addf(&l->text, "%s\n%016" PRIx64 " <", l->blank, sym->symbol->address);
	text_visible(&l->text, sym->symbol->name);
	strbuf_adds(&l->text, ">:");
	annotate_symbol_total(l->a, sym->text, false, sym->counts, &l->text);
	strbuf_adds(&l->text, "\n");
	if (l->mix)
		annotate_mix_start(l->mix);
	if (l->a->config->calls)
		l->called = annotate_calls_code(l->a, l->view, sym, l->disasm);
	l->next = 0;
	for (i = sym->first; i <= sym->last; i++)
		if (symtab_at(st, i)->whole == sym->first)
			print_piece(l, symtab_at(st, i));
	free(l->called);
	flush(l);
}

static int compare_symbols(const void *pa, const void *pb, void *data)
{
	const struct annotate_symbol *a = *(const struct annotate_symbol *const *)pa;
	const struct annotate_symbol *b = *(const struct annotate_symbol *const *)pb;
	const struct annotate *all = data;
	uint64_t na = annotate_sum(all, a->counts);
	uint64_t nb = annotate_sum(all, b->counts);

	if (na != nb)
		return (na < nb) - (na > nb);
	return (a->symbol->address > b->symbol->address) -
	       (a->symbol->address < b->symbol->address);
}

/* Prints all symbols that are shown, most samples first. */
static void print_symbols(struct listing *l)
{
	const struct annotate_view *v = l->view;
	_cleanup_free_ const struct annotate_symbol **sorted =
		xcalloc(v->symbol_count + 1, sizeof(*sorted));
	size_t i, n = 0;

	for (i = 0; i < v->symbol_count; i++) {
		const struct annotate_symbol *sym = &v->symbols[i];

		if (!sym->is_wanted)
			continue;
		if (annotate_reaches(l->a, sym->counts))
			sorted[n++] = sym;
		else
			annotate_add_rest(l->a, ANNOTATE_NONE, "in symbols below the threshold",
					  sym->counts);
	}
	if (n == 0)
		return;
	strbuf_addf(&l->text, "%s\n%s", l->blank, l->blank);
	text_visible(&l->text, annotate_code_file(l->a, v));
	strbuf_addf(&l->text, ":     file format elf%u\n",
		    elffile_header(v->binary.file)->e_ident[EI_CLASS] == ELFCLASS64 ? 64 : 32);
	qsort_r(sorted, n, sizeof(const struct annotate_symbol *), compare_symbols, l->a);
	for (i = 0; i < n; i++)
		print_symbol(l, sorted[i]);
}

static void print_file(struct annotate *a, const struct annotate_view *v,
		       const struct annotate_asm_output *to, struct listing *l)
{
	_cleanup_(lines_freep) struct lines *lines = NULL;
	_cleanup_(annotate_mix_freep) struct annotate_mix *mix = NULL;
	_cleanup_(strbuf_done) struct strbuf blank = STRBUF_INIT;

	if (to->sources) {
		lines = lines_new(v->binary.file, v->binary.debug);
		mix = annotate_mix_new(&(struct annotate_mix_config){
			.lines = lines,
			.sources = to->sources,
			.names = &a->config->names,
			.owner = elffile_owner(v->binary.file),
			.built = binary_built(&v->binary, &v->image->header),
			.is_terminal = isatty(fileno(to->out)) });
		l->mix = mix;
	}
	annotate_prefix(a, NULL, &blank);
	l->blank = blank.text;
	l->no_code = annotate_counts(a);
	l->counts = annotate_counts(a);
	print_symbols(l);
	annotate_add_rest(a, v->image->image, "no code in the file", l->no_code);
	strbuf_done(&l->text);
	free(l->section);
}

void annotate_asm_print(struct annotate *a, const struct annotate_view *v,
			const struct annotate_asm_output *to)
{
	_cleanup_(disasm_freep) struct disasm *disasm = NULL;
	struct listing listing = { .a = a, .view = v, .to = to };
	struct error err = ERROR_INIT;

	if (!v->binary.symtab)
		return;
	if (!v->binary.file) {
		annotate_give_up(a, v,
				 v->binary.no_code ? v->binary.no_code
						   : "symbols only, no file with code");
		return;
	}
	if (disasm_new(v->binary.file, to->options, annotate_code_name, (void *)v, &disasm, &err) <
	    0) {
		log_warn("%s; its samples are not shown", err.text);
		annotate_give_up(a, v, "no disassembler for its machine");
		return;
	}
	listing.disasm = disasm;
	print_file(a, v, to, &listing);
}
