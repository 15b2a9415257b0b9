/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/internal/chain_frames.h"

#include "base/map.h"
#include "base/mem.h"
#include "dwarf/lines.h"
#include "symbol/symtab.h"
#include "profile/binary/binary.h"
#include "profile/select/file_counts.h"
#include "profile/select/gather.h"
#include "profile/select/programs.h"
#include "profile/select/samples.h"
#include "profile/rows/internal/inline_rows.h"
#include "profile/rows/row_join.h"
#include "chains/chain.h"
#include "sfile/sfile.h"

#include <string.h>

/* What a frame has instead of the number of a symbol. */
#define UNKNOWN	   CHAIN_FRAMES_UNKNOWN
#define IS_IN_NONE (CHAIN_FRAMES_UNKNOWN - 1)
#define IS_RARE	   (CHAIN_FRAMES_UNKNOWN - 2)

/* An image of the gather that frames are in. */
struct place {
	bool is_open, is_kernel;
	struct binary binary;
	uint32_t file; /* index + 1 of its first sample file; 0: it has none */
	/* Ids + 1 of rows, 0 if there is none yet: by number of the symbol, of whose zeros most are
	 * never touched; NULL: none has one. Of code in no symbol, and of what is rare. */
	uint32_t *rows, unnamed, rare;
	/* By role: index + 1 of a frame's functions in ->ids, their number, then the functions; by
	 * offset. NULL: none was looked for yet. */
	struct map *by_offset;
	struct lines *lines;
	struct inline_rows *inlined; /* NULL: inlined functions are not requested, or unknown */
};

struct chain_frames {
	struct chain_frames_config config;
	struct row_join programs; /* rows of joined regions */
	struct place *places;
	uint32_t *ids;
	size_t id_count, id_room;
};

struct chain_frames *chain_frames_new(const struct chain_frames_config *config)
{
	struct chain_frames *f = xcalloc(1, sizeof(*f));
	const struct gather *g = config->gather;
	size_t i;

	f->config = *config;
	f->programs.by_address = true;
	f->places = xcalloc(g->image_count + 1, sizeof(*f->places));
	for (i = g->file_count; i > 0; i--)
		if (!g->files[i - 1].arcs)
			f->places[g->files[i - 1].image].file = (uint32_t)i;
	return f;
}

static void done_place(struct place *p)
{
	size_t i;

	for (i = 0; p->by_offset && i < CODE_ROLE_COUNT_; i++)
		map_done(&p->by_offset[i]);
	free(p->by_offset);
	free(p->rows);
	inline_rows_free(p->inlined);
	lines_free(p->lines);
	if (p->is_open)
		binary_close(&p->binary);
}

void chain_frames_free(struct chain_frames *f)
{
	size_t i;

	if (!f)
		return;
	for (i = 0; i < f->config.gather->image_count; i++)
		done_place(&f->places[i]);
	free(f->places);
	row_join_done(&f->programs);
	free(f->ids);
	free(f);
}

static bool looks_like_kernel(const struct gather *g, uint32_t image)
{
	const struct gather_image *i = &g->images[image];

	return i->id.kind == SNAME_KERN || i->kernel;
}

/* The header of a sample file of the image, for its time and whether it is the kernel. */
static struct sfile_header header_of(const struct chain_frames *f, uint32_t image)
{
	const struct gather *g = f->config.gather;
	struct sfile_header header = { .is_kernel = looks_like_kernel(g, image) };
	size_t i;

	for (i = f->places[image].file; i && i <= g->file_count; i++) {
		struct sfile_header of_file;

		if (g->files[i - 1].image == image && !g->files[i - 1].arcs &&
		    file_counts_read_header(&g->files[i - 1], &of_file, NULL) == 0)
			return of_file;
	}
	return header;
}

/* The place of an image, which is opened if necessary. */
static struct place *open_place(struct chain_frames *f, uint32_t image)
{
	struct place *p = &f->places[image];
	struct sfile_header header;

	if (p->is_open)
		return p;
	p->is_open = true;
	header = header_of(f, image);
	p->is_kernel = header.is_kernel;
	binary_open(f->config.binaries, image, &header, &p->binary);
	if (f->config.inlines && (p->binary.file || p->binary.kept)) {
		p->lines = binary_lines(&p->binary);
		p->inlined = inline_rows_new(f->config.rows, p->lines, false);
	}
	return p;
}

bool chain_frames_is_kernel(struct chain_frames *f, uint32_t image)
{
	return open_place(f, image)->is_kernel;
}

/* The id of the new row @row; if another image stands for its own, of the same row of that. */
static uint32_t put_row(struct chain_frames *f, struct row *row)
{
	const struct gather *g = f->config.gather;
	const uint32_t shown =
		f->config.regions ? programs_same(g, row->image) : programs_shown(g, row->image);
	size_t at;

	if (shown == row->image && !g->has_archives)
		return container_add_row(f->config.rows, row)->id;
	row->image = shown;
	at = row_join_find(&f->programs, f->config.rows, g, row);
	if (at == SIZE_MAX) {
		at = container_add_row(f->config.rows, row)->id;
		row_join_note(&f->programs, row, at);
	}
	return (uint32_t)at;
}

/* The id of a row for @sym; without one, of a row of the kind @without. */
static uint32_t add_row(struct chain_frames *f, uint32_t image, const struct symbol *sym,
			enum row_kind without)
{
	struct place *p = &f->places[image];
	struct row row = { .image = image, .app = GATHER_NONE, .kind = without };

	if (sym) {
		row.kind = ROW_SYMBOL;
		row.symbol = container_symbol(f->config.rows, sym->name);
		row.symbol_index = sym->whole;
		row.address = sym->address;
		row.is_go = sym->rank & SYMBOL_GO;
	} else if (without == ROW_UNNAMED && !p->binary.symtab) {
		row.kind = row_kind_without_symbols(p->binary.why);
	}
	return put_row(f, &row);
}

static uint32_t inlined_row(struct chain_frames *f, uint32_t image, struct inline_rows_call *call,
			    const struct symbol *sym)
{
	struct row row = { .image = image,
			   .app = GATHER_NONE,
			   .kind = ROW_SYMBOL,
			   .symbol = call->symbol,
			   .symbol_index = UINT32_MAX,
			   .address = call->address,
			   .is_inlined = true,
			   .is_go = sym->rank & SYMBOL_GO };

	if (call->row == UINT32_MAX)
		call->row = put_row(f, &row);
	return call->row;
}

static void add_id(struct chain_frames *f, uint32_t id)
{
	array_grow(&f->ids, f->id_count + 1, &f->id_room);
	f->ids[f->id_count++] = id;
}

/* The code of a frame. */
struct code {
	uint64_t offset;
	const struct symbol *symbol; /* NULL: it is in none */
};

/* Finds the code of a frame with @offset, whose image is open. */
static struct code code_at(const struct place *p, uint64_t offset, enum code_role role)
{
	const struct symtab *st = p->binary.symtab;
	struct code code = { .offset = offset };

	if (st && offset != SAMPLE_RARE)
		code.symbol = symtab_find_code(st, &code.offset, role);
	return code;
}

/* The row of code in a symbol, by number, of an image that is open. */
static uint32_t row_of_symbol(struct chain_frames *f, uint32_t image, uint32_t number)
{
	struct place *p = &f->places[image];
	const struct symtab *st = p->binary.symtab;
	uint32_t whole;

	if (!p->rows)
		p->rows = xcalloc(symtab_count(st) + 1, sizeof(*p->rows));
	if (p->rows[number])
		return p->rows[number] - 1;
	whole = symtab_at(st, number)->whole;
	if (!p->rows[whole])
		p->rows[whole] = add_row(f, image, symtab_at(st, whole), ROW_UNNAMED) + 1;
	p->rows[number] = p->rows[whole];
	return p->rows[number] - 1;
}

/* The same of code in no symbol. */
static uint32_t row_without(struct chain_frames *f, uint32_t image, bool is_rare)
{
	struct place *p = &f->places[image];
	uint32_t *row = is_rare ? &p->rare : &p->unnamed;

	if (!*row)
		*row = add_row(f, image, NULL, is_rare ? ROW_RARE : ROW_UNNAMED) + 1;
	return *row - 1;
}

/* Adds the functions of the code at @offset to ->ids: their number, then the functions. */
static void resolve(struct chain_frames *f, uint32_t image, uint64_t offset, enum code_role role)
{
	struct place *p = open_place(f, image);
	const struct code code = code_at(p, offset, role);
	const struct symbol *sym = code.symbol;
	struct inline_rows_call *const *calls;
	size_t i, n = 0;

	if (sym && p->inlined)
		n = inline_rows_find(p->inlined, sym->address + (code.offset - sym->offset),
				     &calls);
	add_id(f, (uint32_t)n + 1);
	for (i = 0; i < n; i++)
		add_id(f, inlined_row(f, image, calls[i], sym));
	add_id(f, sym ? row_of_symbol(f, image, sym->whole)
		      : row_without(f, image, offset == SAMPLE_RARE));
}

/* Whether @offset is in a symbol, and none of its functions is inlined. */
static bool is_in(const struct place *p, size_t symbol, uint64_t offset)
{
	const struct symtab *st = p->binary.symtab;
	const struct symbol *sym;

	if (p->inlined || symbol >= symtab_count(st))
		return false;
	sym = symtab_at(st, symbol);
	return sym->offset <= offset && offset < sym->end;
}

void chain_frames_seek(struct chain_frames *f, const struct chain_frame *frame,
		       struct chain_frames_code *code)
{
	struct place *p = open_place(f, frame->image);
	const struct symtab *st = p->binary.symtab;
	const uint64_t offset = frame->offset;
	const uint32_t from = code->offset <= offset ? code->from : 0;

	*code = (struct chain_frames_code){ UNKNOWN, UNKNOWN, from, offset };
	if (offset == SAMPLE_RARE)
		code->called = code->sampled = IS_RARE;
	else if (!st)
		code->called = code->sampled = IS_IN_NONE;
	if (!st || !offset || offset == SAMPLE_RARE)
		return;
	code->from = (uint32_t)symtab_seek(st, from, offset - 1);
	if (is_in(p, code->from, offset - 1))
		code->called = code->from;
	if (is_in(p, code->from, offset))
		code->sampled = code->from;
}

uint32_t chain_frames_row(struct chain_frames *f, uint32_t image, uint32_t code)
{
	return code < IS_RARE ? row_of_symbol(f, image, code)
			      : row_without(f, image, code == IS_RARE);
}

size_t chain_frames_find(struct chain_frames *f, uint32_t image, uint64_t offset,
			 enum code_role role, const uint32_t **ret)
{
	struct place *p = open_place(f, image);
	uintptr_t at;

	if (!p->by_offset)
		p->by_offset = xcalloc(CODE_ROLE_COUNT_, sizeof(*p->by_offset));
	at = (uintptr_t)map_get(&p->by_offset[role], offset);
	if (!at) {
		at = f->id_count + 1;
		resolve(f, image, offset, role);
		(void)map_set(&p->by_offset[role], offset, (void *)at);
	}
	*ret = f->ids + at;
	return f->ids[at - 1];
}

size_t chain_frames_look(struct chain_frames *f, const struct chain_frame *frame,
			 enum code_role role, const uint32_t **ret)
{
	size_t at = f->id_count;

	resolve(f, frame->image, frame->offset, role);
	f->id_count = at;
	*ret = f->ids + at + 1;
	return f->ids[at];
}
