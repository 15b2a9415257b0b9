/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the name of an image in a session to its symbols: finds the file on this machine (or in the
 * archive, or below other roots), makes sure that it is the one that was profiled, and reads the
 * symbols of file, kernel, module or vdso. What is missing or does not fit is warned of once an
 * image.
 *
 *	struct binaries *bs = binaries_new(gather, &config);
 *	binary_open(bs, image, header, &b);
 *	symtab_find(b.symtab, offset);
 *	binary_close(&b);
 *	binaries_free(bs);
 */
#pragma once

#include "base/macro.h"
#include "profile/binary/binary_why.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct binaries;
struct elffile;
struct gather;
struct sfile_header;
struct symcache;
struct symtab;

struct binaries_config {
	const char *root;	 /* before every path: archive or --root; NULL: this machine */
	const char *image_paths; /* --image-path: directories to search too, comma list; or NULL */
	bool keep;		 /* images stay open, so that opening one again costs nothing */
	struct symcache *cache;	 /* where symbols are kept between reports; NULL: nowhere */
	bool code;		 /* the code of kernel and modules is wanted, too */
	const char *vmlinux;	 /* with ->code: the kernel's file, or NULL */
	bool symbols_only; /* ->file and ->debug are not wanted: with a cache no file is opened */
};

struct binary {
	struct symtab *symtab; /* NULL if there are no symbols; then see ->why */
	enum binary_why why;
	/* What the symbols were read from, held by ->symtab: the file, and its debug file or NULL.
	 * Both NULL where it is no file (kernel symbols out of kallsyms), or may be with
	 * ->symbols_only. */
	struct elffile *file, *debug;
	const char *no_code; /* of a kernel: why there is no file, where code was wanted; or NULL */
	bool is_kept;	     /* belongs to the binaries: binary_close() leaves it open */
};

/* What is shared by all images of a report: where to look, kernel symbols. @g and @config's strings
 * are borrowed. Caller frees. */
struct binaries *binaries_new(const struct gather *g, const struct binaries_config *config);
/* NULL is fine. */
void binaries_free(struct binaries *bs);
DEFINE_CLEANUP(struct binaries *, binaries_free);

/* Whether image number @image has its own file on this machine, and in *@ret_lines whether it has
 * debug information, in itself or apart. Unlike binary_find() it warns of nothing. */
bool binary_is_here(struct binaries *bs, uint32_t image, const struct sfile_header *header,
		    bool *ret_lines);
/* Names a downloaded file (or, with @is_debug, debug file) of image number @image, to be used if
 * this machine has none. Takes @path. */
void binaries_take_fetched(struct binaries *bs, uint32_t image, bool is_debug, char *path);
/* Opens image number @image of the gather, whose samples stand in a file with @header. Always
 * fills @ret; the caller closes. */
void binary_open(struct binaries *bs, uint32_t image, const struct sfile_header *header,
		 struct binary *ret);
/* Finds the file of image number @image, and its debug file, without reading symbols. True with
 * both in *ret, ->file and ->debug (NULL where there is none), which the caller closes by hand;
 * false where there is no such file, or only one that is not the profiled one: ->why says which. */
bool binary_find(struct binaries *bs, uint32_t image, const struct sfile_header *header,
		 struct binary *ret);
/* Where samples at @address, as linked, are counted: an offset in the file, or of a kernel in its
 * text. False if no part of the file is loaded there. @b has symbols. */
bool binary_offset(const struct binary *b, bool is_kernel, uint64_t address, uint64_t *ret);
/* Frees its symbols, unless they are kept. */
void binary_close(struct binary *b);
/* How often binary_open() opened an image's own file; for the test that each is opened once. */
size_t binaries_opened(const struct binaries *bs);
