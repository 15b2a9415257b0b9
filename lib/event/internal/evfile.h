/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the event description files of a CPU type, "events" and "unit_masks" (opevents(5)), and the
 * files they include. The struct evfile owns everything read until evfile_done(); nothing moves
 * once reading is finished.
 *
 *	struct evfile f = { 0 };
 *	if (evfile_read(&f, "x86-64/generic", evdir_source, &dirs, &err) < 0) ...
 *	for (i = 0; i < f.count; i++)
 *		puts(f.events[i].name);
 *	evfile_done(&f);
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "event/catalog_types.h"
#include "event/internal/evmask.h"

#include <stddef.h>
#include <stdint.h>

/* A file's text and where it was found; the reader takes and frees text and path. */
struct evfile_text {
	char *text, *path;
	size_t directory; /* index of the directory in the search path */
};

/* Finds the file @name ("events", "unit_masks") of the CPU type @key in the search path,
 * starting at directory @from. Returns 0, -ENOENT without an error text if there is none, or
 * another -errno. */
typedef int evfile_source(void *data, const char *key, const char *name, size_t from,
			  struct evfile_text *ret, struct error *err);

struct evfile {
	struct catalog_event *events; /* in the order of the files */
	unsigned int *depth;	      /* include depth of each event, while reading */
	size_t count, room, depth_room;
	struct evmask_table masks;
	struct arena arena;
	uint32_t unavailable;  /* events with filter:N are omitted if bit N is set here */
	unsigned int files;    /* number read so far */
	unsigned int mistakes; /* in them */
};

/* Adds the events of the CPU type @key to those already read. An event whose name is already
 * present is skipped; an including file's event overrides an included one. If a file describes an
 * event twice, both are added. A line that cannot be read is ignored, with a warning that names its
 * file and number. Returns 0, -ENOENT if there is no such type, or -errno if its files cannot be
 * read. After an error the evfile can only be released. */
int evfile_read(struct evfile *f, const char *key, evfile_source *source, void *data,
		struct error *err);
/* Frees everything. */
void evfile_done(struct evfile *f);
