/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/keep_lines.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "dwarf/lines.h"
#include "profile/binary/binary.h"
#include "profile/binary/keep.h"
#include "profile/rows/line_texts.h"
#include "profile/select/by_image.h"
#include "profile/select/file_counts.h"
#include "profile/select/gather.h"
#include "profile/select/samples.h"
#include "symbol/function_store.h"
#include "symbol/kept_lines.h"
#include "symbol/symtab.h"

#include <string.h>

enum {
	FUNCTION_MAX = 256 << 10, /* bytes of the code of a function: longer ones are left out */
	ROWS_MAX = 1 << 18,	  /* of a file */
};

struct keeping {
	const struct gather *gather;
	const struct by_image *by_image;
	struct binaries *binaries;
	uint64_t end_ns; /* when time is up */
	size_t kept;
};

/* The file of an image whose lines are kept. */
struct image_lines {
	const struct keeping *k;
	struct lines *lines;
	struct line_texts *texts;
	struct kept_lines kept;
};

/* Marks the functions that have samples, by the number of their first piece; the caller frees. */
static bool *sampled_functions(const struct keeping *k, uint32_t image, const struct symtab *st)
{
	bool *is_sampled = xcalloc(symtab_count(st) + 1, sizeof(*is_sampled));
	_cleanup_(samples_done) struct samples s = SAMPLES_INIT;
	size_t i;

	for (i = 0; i < k->by_image->file_count; i++) {
		const struct gather_file *f = &k->gather->files[k->by_image->files[i]];
		_cleanup_(file_counts_closep) struct file_counts *counts = NULL;

		if (f->image == image && file_counts_open(f, &counts, NULL) == 0)
			(void)file_counts_read(counts, 0, &s);
	}
	for (i = 0; i < s.count; i++) {
		const struct symbol *sym = symtab_find(st, s.samples[i].offset);

		if (sym)
			is_sampled[sym->whole] = true;
	}
	return is_sampled;
}

/* Adds the lines of a piece of a function. */
static void add_piece(struct image_lines *l, const struct symbol *sym)
{
	uint64_t address = sym->address, end = address + (sym->end - sym->offset);

	for (; address < end; address++) {
		struct lines_place at;

		if (lines_find(l->lines, address, &at) && at.line)
			kept_lines_add(&l->kept, address, at.file, at.line,
				       line_texts_find(l->texts, at.file, at.line));
		else
			kept_lines_add(&l->kept, address, NULL, 0, 0);
	}
	kept_lines_add(&l->kept, end, NULL, 0, 0);
}

/* Adds the lines of the functions with samples, until time is up. */
static void add_functions(struct image_lines *l, uint32_t image, const struct symtab *st)
{
	_cleanup_free_ bool *is_sampled = sampled_functions(l->k, image, st);
	uint64_t end = 0;
	size_t i;

	for (i = 0; i < symtab_count(st) && l->kept.count < ROWS_MAX; i++) {
		const struct symbol *sym = symtab_at(st, i);

		if (!is_sampled[sym->whole] || sym->end - sym->offset > FUNCTION_MAX ||
		    sym->address < end)
			continue;
		if (clock_now_ns() > l->k->end_ns)
			return;
		add_piece(l, sym);
		end = sym->address + (sym->end - sym->offset);
	}
}

/* Keeps the lines of an image, whose functions are in the file @path. */
static void keep_image(struct keeping *k, uint32_t image, const struct binary *b, const char *path)
{
	_cleanup_(lines_freep) struct lines *lines = lines_new(b->file, b->debug);
	_cleanup_(line_texts_freep) struct line_texts *texts =
		line_texts_new(binaries_root(k->binaries, image), b->file);
	struct image_lines l = { .k = k, .lines = lines, .texts = texts };
	struct error err = ERROR_INIT;

	if (!lines_exist(lines))
		return;
	add_functions(&l, image, b->symtab);
	if (l.kept.file_count) {
		if (function_store_add_lines(path, &l.kept, &err) < 0)
			log_debug("lines are not kept: %s", err.text);
		else
			k->kept++;
	}
	kept_lines_done(&l.kept);
}

static void take(uint32_t image, const struct binary *b, void *data)
{
	struct keeping *k = data;
	_cleanup_free_ char *path = binaries_kept_path(k->binaries, image);

	if (path && b->symtab && b->file)
		keep_image(k, image, b, path);
}

size_t keep_lines(const struct gather *g, const struct by_image *by_image, struct binaries *bs,
		  const struct keep_limits *limits)
{
	struct keeping k = { .gather = g,
			     .by_image = by_image,
			     .binaries = bs,
			     .end_ns = clock_now_ns() + limits->time_ns };

	keep_images(g, bs, limits, take, &k);
	return k.kept;
}
