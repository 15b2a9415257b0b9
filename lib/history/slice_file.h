/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file of slices: what was counted in one short time after the other (man ophistory.5). It only
 * grows, by one write(2) for each slice. Each slice has a checksum, so that one that a power cut or
 * a full disk left incomplete costs only itself.
 *
 *	slice_file_open("SESSION/history/3.slices", &f, err);
 *	slice_file_add(f, &slice, numbers, size, err);
 *	slice_file_close(f);
 *
 *	slices_read("SESSION/history/3.slices", &s, err);
 *	while (slices_next(s, &slice))
 *		if (window_overlaps(&slice.span, &wanted))
 *			numbers = slices_content(s, &size);
 *	slices_free(s);
 *
 * The content is bytes of the caller's. The numbers in it are best written with strbuf_add_uleb().
 */
#pragma once

#include "base/macro.h"
#include "base/strbuf.h"
#include "history/window.h"

#include <stddef.h>

/* One slice. The samples are those of all its events. */
struct slice {
	struct window span;
	uint64_t samples; /* that the counts stand for */
	uint64_t taken;	  /* samples taken: fewer if they were made rarer to save time */
	uint64_t lost;
	uint64_t cpu_ms; /* of all CPUs together, busy or idle */
};

struct slice_file;

/* Opens the file at @path for adding; it is created if missing. What a writer that was killed left
 * incomplete at its end is removed. Returns 0 (the caller closes) or -errno. */
int slice_file_open(const char *path, struct slice_file **ret, struct error *err);
/* Adds a slice with @size bytes. Returns 0 or -errno, with the file as it was. */
int slice_file_add(struct slice_file *f, const struct slice *slice, const void *content,
		   size_t size, struct error *err);
/* Whether it is so large that another one should be begun: readers refuse one much larger. */
bool slice_file_is_full(const struct slice_file *f);
/* NULL is allowed. */
void slice_file_close(struct slice_file *f);
DEFINE_CLEANUP(struct slice_file *, slice_file_close);

/* The slices of a file, one after the other. */
struct slices;

/* Reads the file at @path. Returns 0 (the caller frees) or -errno. */
int slices_read(const char *path, struct slices **ret, struct error *err);
/* NULL is allowed. */
void slices_free(struct slices *s);
DEFINE_CLEANUP(struct slices *, slices_free);
/* Goes on to the next whole slice; false at the end. */
bool slices_next(struct slices *s, struct slice *ret);
/* The content of the slice that slices_next() returned, valid until its next call. NULL if it is
 * damaged, although the checksum is right. */
const void *slices_content(struct slices *s, size_t *ret_size);
/* Bytes that were skipped so far, because they are not part of a whole slice. */
size_t slices_damaged(const struct slices *s);

/* Finds from when to when the slices of the file at @path are, by their headers alone. Returns 0 or
 * -errno: -ENODATA if there is no slice. */
int slices_span(const char *path, struct window *ret);

/* Numbers that strbuf_add_uleb() wrote. */
struct slice_numbers {
	const uint8_t *at, *end;
	bool damaged; /* they ended within a number, or before one */
};
/* The next number; 0, and ->damaged, if there is none. */
static inline uint64_t slice_get(struct slice_numbers *n)
{
	uint64_t value = 0;
	unsigned int shift;

	if (n->at < n->end && *n->at < 128) /* nearly always */
		return *n->at++;
	for (shift = 0; n->at < n->end && shift < 64; shift += 7) {
		uint8_t byte = *n->at++;

		value |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			return value;
	}
	n->damaged = true;
	return 0;
}
