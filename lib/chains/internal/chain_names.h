/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the numbers in a chain store stand for: images, and contexts, which are what tells chains
 * apart beside their frames. A file of lines of text, samples/NAME/chains/names, that only grows;
 * the n-th line of a kind has the number n, from 1 on. Each line is one write.
 *
 *	struct chain_names *n;
 *	if (chain_names_open(dir, true, &n, err) == 0)
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

/* An image's number stands in 16 bits of a place. */
enum { CHAIN_IMAGES_MAX = UINT16_MAX };

/* Whose a chain is, what was counted, and why the chain goes no further. */
struct chain_context {
	uint32_t app;	   /* number of the application's image */
	const char *event; /* "NAME.COUNT.UNITMASK" as in sample file names */
	const char *end;   /* one word: "complete", "depth", ... */
	struct sname_task task;
};

struct chain_names;

/* Opens @dir/names, with @write for adding, made where missing. A line that makes no sense ends
 * what is read. 0 or -errno. Caller closes. */
int chain_names_open(const char *dir, bool write, struct chain_names **ret, struct error *err);
/* NULL is fine. */
void chain_names_close(struct chain_names *n);
DEFINE_CLEANUP(struct chain_names *, chain_names_close);

/* The number of @image, which is written out where it is new, with what it is: 0 or -errno
 * (-EOVERFLOW if there are too many). */
int chain_names_image(struct chain_names *n, const struct sname_image *image, bool is_kernel,
		      uint32_t *ret, struct error *err);
/* The number of @context; likewise. */
int chain_names_context(struct chain_names *n, const struct chain_context *context, uint32_t *ret,
			struct error *err);

/* How many there are; numbers go from 1 to this one. */
uint32_t chain_names_images(const struct chain_names *n);
/* Number of contexts; they are numbered in the same way. */
uint32_t chain_names_contexts(const struct chain_names *n);
/* What a number stands for, which must be one; borrowed until chain_names_close(). */
const struct sname_image *chain_names_image_at(const struct chain_names *n, uint32_t number);
/* Whether the image is the kernel or a module. */
bool chain_names_is_kernel(const struct chain_names *n, uint32_t number);
/* The context with a number, which must exist; borrowed until chain_names_close(). */
const struct chain_context *chain_names_context_at(const struct chain_names *n, uint32_t number);
/* Cuts the "NAME.COUNT.UNITMASK" of a context apart, in place, into the name of a sample file;
 * false if it is none. */
bool chain_event_split(char *text, struct sname *ret);
/* Bytes at the end of the file that make no sense. */
size_t chain_names_damaged(const struct chain_names *n);
