/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/common/page_calls.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "profile/profile.h"
#include "profile/rows/chain_calls.h"
#include "profile/select/file_counts.h"
#include "symbol/symtab.h"
#include "tools/common/tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The code of the functions, which are known by their images. */
struct code {
	struct profile *profile;
	struct binaries *binaries;
	const struct page_function *functions;
	struct map by_image; /* by hash of its name: index in ->functions, + 1 */
	struct chain_calls_wanted found;
	size_t room;
};

static void add_piece(struct code *c, uint32_t image, const struct symbol *piece)
{
	array_grow(&c->found.list, c->found.count + 1, &c->room);
	/* A call returns to the end of a piece. */
	c->found.list[c->found.count++] =
		(struct chain_calls_code){ image, piece->offset, piece->end };
}

/* Adds all pieces of the symbols that have an address. */
static void add_symbols(struct code *c, uint32_t image, const struct symtab *st, uint64_t address)
{
	const size_t count = symtab_count(st);
	size_t i, k;

	for (i = 0; i < count; i++) {
		const struct symbol *s = symtab_at(st, i);

		if (address < s->address || address - s->address >= s->end - s->offset)
			continue;
		for (k = s->whole; k < count; k++)
			if (symtab_at(st, k)->whole == s->whole)
				add_piece(c, image, symtab_at(st, k));
	}
}

/* The header of a sample file of an image. It may have none, if it only calls. */
static struct sfile_header header_of(const struct gather *g, uint32_t image)
{
	const struct gather_image *i = &g->images[image];
	struct sfile_header header = { .is_kernel = i->id.kind == SNAME_KERN || i->kernel };

	if (i->file)
		(void)file_counts_read_header(&g->files[i->file - 1], &header, NULL);
	return header;
}

/* Adds the code of the functions in an image. */
static void add_image(struct code *c, uint32_t image)
{
	const struct gather *g = c->profile->gather;
	const char *name = gather_image_name(g, image, true);
	const struct sfile_header header = header_of(g, image);
	struct binary binary = { 0 };
	uintptr_t at;

	map_for_each_of(&c->by_image, hash_text(name, strlen(name)), at)
	{
		const struct page_function *f = &c->functions[at - 1];

		if (strcmp(f->image, name) != 0)
			continue;
		if (!binary.symtab)
			binary_open(c->binaries, image, &header, &binary);
		if (binary.symtab)
			add_symbols(c, image, binary.symtab, f->address);
	}
	if (binary.symtab)
		binary_close(&binary);
}

/* Finds the code of the functions. Samples of one archive may be in the code of another, so of
 * several there is no telling: then all code is wanted. */
static const struct chain_calls_wanted *find_code(struct code *c, size_t count)
{
	const struct gather *g = c->profile->gather;
	uint32_t image;
	size_t i;

	if (g->has_archives)
		return NULL;
	for (i = 0; i < count; i++)
		map_add(&c->by_image,
			hash_text(c->functions[i].image, strlen(c->functions[i].image)),
			(void *)(uintptr_t)(i + 1));
	for (image = 0; image < g->image_count; image++)
		add_image(c, image);
	return &c->found;
}

struct chain_calls *page_calls(struct profile *p, struct binaries *bs,
			       const struct page_function *functions, size_t count)
{
	struct code c = { .profile = p, .binaries = bs, .functions = functions };
	struct chain_calls *calls = NULL;
	struct error err = ERROR_INIT;
	int r;

	if (!p->chains.source_count || p->classes.count != 1)
		return NULL;
	r = chain_calls_collect(&p->chains, find_code(&c, count), &calls, &err);
	if (r < 0 && r != -ENODATA)
		tool_warn("%s; the page does not show how many samples are in what lines call",
			  err.text);
	map_done(&c.by_image);
	free(c.found.list);
	return calls;
}
