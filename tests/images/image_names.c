/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * image_names FILE < ADDRESSES: prints what we know of each address of a file, one line for each
 * (hexadecimal) address:
 *
 *	ADDRESS  SYMBOL  FILE:LINE  [FUNCTION FILE:LINE]...
 *
 * with tabs between, and "?" for what is unknown; the inlined calls come last, the innermost first.
 * Symbols and lines come from the file and from its debug file on this machine. For tests that
 * compare them with other tools.
 */
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "elf/debugfile.h"
#include "symbol/elfsym.h"
#include "dwarf/lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct image {
	struct elffile *ef, *debug;
	struct symtab *symtab;
	struct lines *lines;
};

static int image_open(const char *path, struct image *ret, struct error *err)
{
	static const char *const roots[] = { "" };
	_cleanup_free_ char *absolute = realpath(path, NULL);
	int r = elffile_open(absolute ?: path, &ret->ef, err);

	if (r < 0)
		return r;
	if (debugfile_open(ret->ef, absolute ?: path, roots, 1, &ret->debug) < 0 &&
	    debugfile_inside(ret->ef, &ret->debug) < 0)
		ret->debug = NULL;
	ret->symtab = symtab_new();
	(void)elfsym_load(ret->ef, ret->debug, ELFSYM_FILE_OFFSET, ret->symtab);
	elfsym_load_plt(ret->ef, ret->symtab);
	symtab_settle(ret->symtab);
	ret->lines = lines_new(ret->ef, ret->debug);
	return 0;
}

static void image_close(struct image *i)
{
	lines_free(i->lines);
	symtab_free(i->symtab);
	elffile_close(i->debug);
	elffile_close(i->ef);
}

static void print_place(const struct lines_place *at)
{
	(void)printf("%s:%u", at->file ?: "?", at->line);
}

static void print_address(struct image *image, uint64_t address)
{
	const struct lines_call *calls = NULL;
	struct lines_place at = { NULL, 0 };
	const struct symbol *symbol = NULL;
	uint64_t offset;
	size_t i, n = lines_inlines(image->lines, address, &calls);

	if (elffile_offset(image->ef, address, &offset))
		symbol = symtab_find(image->symtab, offset);
	(void)lines_find(image->lines, address, &at);
	(void)printf("%" PRIx64 "\t%s\t", address, symbol ? symbol->name : "?");
	print_place(&at);
	for (i = 0; i < n; i++) {
		(void)printf("\t%s ", calls[i].function);
		print_place(&calls[i].at);
	}
	(void)putchar('\n');
}

static void say(enum log_level level, const char *text, void *data)
{
	(void)data;
	(void)fprintf(stderr, "image_names: %s%s\n", log_prefix(level), text);
}

int main(int argc, char **argv)
{
	_cleanup_(image_close) struct image image = { NULL, NULL, NULL, NULL };
	struct error err = ERROR_INIT;
	char line[64];

	log_to(LOG_LEVEL_WARNING, say, NULL);
	if (argc != 2 || image_open(argv[1], &image, &err) < 0) {
		(void)fprintf(stderr, "image_names: %s\n",
			      argc == 2 ? err.text : "FILE is missing");
		return 1;
	}
	while (fgets(line, sizeof(line), stdin))
		print_address(&image, strtoull(line, NULL, 16));
	return 0;
}
