/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the name of an image in a session to its symbols: finds the file on this machine (or in the
 * archive, or below other roots), checks that it is the one that was profiled, and reads the
 * symbols of file, kernel, module or vdso. Missing or wrong files are reported once per image.
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
#include <sys/types.h>

struct binaries;
struct elffile;
struct gather;
struct lines;
struct sfile_header;
struct symcache;
struct symtab;

struct binaries_config {
	const char *root;	 /* prefix of every path: archive or --root; NULL: this machine */
	const char *image_paths; /* --image-path: directories to search too, comma list; or NULL */
	bool keep;		 /* keep images open, so that opening one again is free */
	struct symcache *cache;	 /* cache of symbols between reports; NULL: none */
	bool code;		 /* find the code of kernel and modules, too */
	const char *vmlinux;	 /* with ->code: the kernel's file, or NULL */
	bool symbols_only; /* ->file and ->debug are not needed: with a cache no file is opened */
	/* Of an earlier profile of the same session, with ->keep: lends what it keeps of images
	 * that are certainly the same. Borrowed, and must outlive these; NULL: none. */
	const struct binaries *lender;
	char *reading; /* PATH_MAX bytes that get the name of each image opened; or NULL */
};

struct binary {
	struct symtab *symtab; /* NULL if there are no symbols; then see ->why */
	enum binary_why why;
	/* What the symbols were read from, held by ->symtab: the file, and its debug file or NULL.
	 * Both are NULL if the symbols come from kallsyms, and may be NULL with ->symbols_only. */
	struct elffile *file, *debug;
	const char
		*no_code; /* of a kernel: why there is no file with code, if requested; or NULL */
	/* The path of the functions that were kept of it (function_store.h), which are ->symtab and
	 * hold this; NULL: they are of the file. */
	const char *kept;
	bool is_kept; /* belongs to the binaries: binary_close() leaves it open */
};

/* Creates the state shared by all images of a report. @g and the strings of @config are borrowed.
 * Caller frees. */
struct binaries *binaries_new(const struct gather *g, const struct binaries_config *config);
/* NULL is fine. */
void binaries_free(struct binaries *bs);
DEFINE_CLEANUP(struct binaries *, binaries_free);

/* Returns whether image number @image has its own file on this machine; *@ret_lines: whether it has
 * debug information, inside or separate. Unlike binary_find(), it does not warn. */
bool binary_is_here(struct binaries *bs, uint32_t image, const struct sfile_header *header,
		    bool *ret_lines);
/* Names a downloaded file (or, with @is_debug, debug file) of image number @image, to be used if
 * this machine has none. Takes @path. */
void binaries_take_fetched(struct binaries *bs, uint32_t image, bool is_debug, char *path);
/* Opens image number @image of the gather, whose sample file has @header. Always fills @ret; caller
 * closes. */
void binary_open(struct binaries *bs, uint32_t image, const struct sfile_header *header,
		 struct binary *ret);
/* Finds the file of image number @image, and its debug file, without reading symbols. Returns true
 * with both in @ret, ->file and ->debug (NULL if there is none), which the caller closes by hand;
 * false if there is no file, or only one that is not the profiled one, with the reason in ->why. */
bool binary_find(struct binaries *bs, uint32_t image, const struct sfile_header *header,
		 struct binary *ret);
/* The key under which samples at the linked address @address are counted: an offset in the file or,
 * for a kernel, in its text. False if no part of the file is loaded there. @b must have symbols. */
bool binary_offset(const struct binary *b, bool is_kernel, uint64_t address, uint64_t *ret);
/* Whether it has a symbol at @offset and its code, which a compact archive need not have. @b must
 * have symbols, and not be the kernel. */
bool binary_has_code(const struct binary *b, uint64_t offset);
/* Looks up lines in the open file of @b or, if it is gone, among those that were kept of it. There
 * may be none. Caller frees, before it closes @b. */
struct lines *binary_lines(const struct binary *b);
/* The user whose file it is, for sources_open(); (uid_t)-1, nobody in particular, if it is gone. */
uid_t binary_owner(const struct binary *b);
/* When it was built, in seconds, for sources_compare(): the time of its file or, if that is later,
 * the one in its samples' @header. 0 if it is gone. */
uint64_t binary_built(const struct binary *b, const struct sfile_header *header);
/* Frees its symbols, unless they are kept. */
void binary_close(struct binary *b);
/* The root of image number @image: its archive, or that of the configuration; or NULL. Borrowed. */
const char *binaries_root(const struct binaries *bs, uint32_t image);
/* The path of the functions kept of image number @image when it was sampled; caller frees. NULL if
 * there are none. */
char *binaries_kept_path(struct binaries *bs, uint32_t image);
/* Counts the files of images that were opened, and those of them that are gone, so that their
 * functions are shown as kept when they were sampled. */
void binaries_count(const struct binaries *bs, size_t *ret_files, size_t *ret_gone);
/* Whether it keeps images that it can lend, besides those that were lent to it. */
bool binaries_lends(const struct binaries *bs);
/* How often binary_open() opened an image's own file, for tests. */
size_t binaries_opened(const struct binaries *bs);
