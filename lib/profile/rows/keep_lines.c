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
#include "symbol/function_lines.h"
#include "symbol/function_file.h"
#include "symbol/symtab.h"

#include <string.h>

struct keeping {
	const struct gather *gather;
	const struct by_image *by_image;
	struct binaries *binaries;
	uint64_t end_ns; /* when time is up */
	size_t kept;
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

		if (f->image != image || file_counts_open(f, &counts, NULL) < 0)
			continue;
		file_counts_at_functions(counts);
		(void)file_counts_read(counts, 0, &s);
	}
	for (i = 0; i < s.count; i++) {
		const struct symbol *sym = symtab_find(st, s.samples[i].offset);

		if (sym)
			is_sampled[sym->whole] = true;
	}
	return is_sampled;
}

static uint32_t find_text(void *texts, const char *file, unsigned int line)
{
	return line_texts_find(texts, file, line);
}

/* Keeps the lines of an image, whose functions are in the file @path. */
static void keep_image(struct keeping *k, uint32_t image, const struct binary *b, const char *path)
{
	_cleanup_(lines_freep) struct lines *lines = lines_new(b->file, b->debug);
	_cleanup_(line_texts_freep) struct line_texts *texts =
		line_texts_new(binaries_root(k->binaries, image), b->file);
	_cleanup_free_ bool *is_sampled = NULL;
	struct function_lines found = {
		.lines = lines, .text = find_text, .data = texts, .end_ns = k->end_ns
	};
	struct error err = ERROR_INIT;

	if (!lines_exist(lines))
		return;
	is_sampled = sampled_functions(k, image, b->symtab);
	(void)function_lines_add(&found, b->symtab, is_sampled);
	if (found.kept.file_count) {
		if (function_file_add_lines(path, &found.kept, &err) < 0)
			log_debug("lines are not kept: %s", err.text);
		else
			k->kept++;
	}
	function_lines_done(&found);
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
