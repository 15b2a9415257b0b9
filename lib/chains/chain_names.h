/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The images and contexts that the numbers in a chain store refer to. A context is everything that
 * distinguishes chains apart from their frames. The names are lines of a text file that only grows,
 * samples/NAME/chains/names.N for each pair of files; the n-th line of a kind has number n, from 1
 * on. Each line is written by one write(). A struct chain_names owns the strings it returns.
 *
 *	struct chain_names *n;
 *	if (chain_names_open(dir, pair, true, &n, err) == 0)
 *		r = chain_names_image(n, &image, false, &id, err);
 *	chain_names_close(n);
 */
#pragma once

#include "base/error.h"
#include "base/macro.h"
#include "sfile/sname.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct strbuf;

/* A place stores an image's number in 16 bits. */
enum { CHAIN_IMAGES_MAX = UINT16_MAX };

/* The application and task of a chain, the event counted, and why the chain ends. */
struct chain_context {
	uint32_t app;	   /* number of the application's image */
	const char *event; /* "NAME.COUNT.UNITMASK" as in sample file names */
	const char *end;   /* one word: "complete", "depth", ... */
	struct sname_task task;
};

struct chain_names;

/* Opens @dir/names.@pair; if it is missing, but @dir/names is not, which older sessions have for
 * all pairs, opens that. With @write it is opened for adding and created if missing. Reading stops
 * at the first invalid line. Returns 0 (the caller closes) or -errno. */
int chain_names_open(const char *dir, uint32_t pair, bool write, struct chain_names **ret,
		     struct error *err);
/* Returns names that are in no file, and as many as wanted. The caller closes them. */
struct chain_names *chain_names_new(void);
/* Closes the file and frees the names; NULL is allowed. */
void chain_names_close(struct chain_names *n);
DEFINE_CLEANUP(struct chain_names *, chain_names_close);

/* Gets the number of @image and writes a line for it if it is new. Returns 0 or -errno (-EOVERFLOW:
 * too many images). */
int chain_names_image(struct chain_names *n, const struct sname_image *image, bool is_kernel,
		      uint32_t *ret, struct error *err);
/* Gets the number of @context and writes a line for it if it is new. Returns 0 or -errno. */
int chain_names_context(struct chain_names *n, const struct chain_context *context, uint32_t *ret,
			struct error *err);

/* Bytes of memory. */
size_t chain_names_memory(const struct chain_names *n);
/* Returns the number of images; they are numbered from 1. */
uint32_t chain_names_images(const struct chain_names *n);
/* Returns the number of contexts; they are numbered from 1. */
uint32_t chain_names_contexts(const struct chain_names *n);
/* Returns the image with a number, which must exist; borrowed until chain_names_close(). */
const struct sname_image *chain_names_image_at(const struct chain_names *n, uint32_t number);
/* Returns whether the image is the kernel or a module. */
bool chain_names_is_kernel(const struct chain_names *n, uint32_t number);
/* Returns the context with a number, which must exist; borrowed until chain_names_close(). */
const struct chain_context *chain_names_context_at(const struct chain_names *n, uint32_t number);
/* Splits a context's "NAME.COUNT.UNITMASK" in place and sets these parts of a sample file's name in
 * @ret. Returns false if it is malformed. */
bool chain_event_split(char *text, struct sname *ret);
/* Adds the line of an image, without the newline, to @out. */
void chain_names_put_image(const struct chain_names *n, uint32_t number, struct strbuf *out);
/* The same of a context: in place of the application's number is its image, after the other
 * columns. */
void chain_names_put_context(const struct chain_names *n, uint32_t number, struct strbuf *out);
/* Gets the number of the image or the context of such a line, which is changed; the other one is
 * set to 0. Returns 0 or -EBADMSG. */
int chain_names_take(struct chain_names *n, char *line, uint32_t *ret_image, uint32_t *ret_context);
/* Returns the number of invalid bytes at the end of the file. */
size_t chain_names_damaged(const struct chain_names *n);
