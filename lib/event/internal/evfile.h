/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The event description files of a CPU type, "events" and "unit_masks" (opevents(5)), with what
 * they include. All that is read is the evfile's until evfile_done(), and does not move once the
 * reading is finished.
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

/* A file's text and where it was found; the reader takes text and path, to be freed. */
struct evfile_text {
	char *text, *path;
	size_t directory; /* number of the directory in the search path */
};

/* Finds the file @name ("events", "unit_masks") of the CPU type @key in the search path, from its
 * directory @from on. 0, -ENOENT where there is none (no error text), or another -errno. */
typedef int evfile_source(void *data, const char *key, const char *name, size_t from,
			  struct evfile_text *ret, struct error *err);

struct evfile {
	struct catalog_event *events; /* in the order of the files */
	unsigned int *depth;	      /* of each, while reading */
	size_t count, room, depth_room;
	struct evmask_table masks;
	struct arena arena;
	uint32_t unavailable; /* events with filter:N are left out if bit N is set here */
	unsigned int files;   /* read so far */
};

/* Adds the events of the CPU type @key to what was read before; an event of a name that is there
 * already is left out, as is an included one that the including file has. 0; -ENOENT if there is
 * no such type; -EBADMSG with path and line of the first mistake; the evfile is then to be thrown
 * away. */
int evfile_read(struct evfile *f, const char *key, evfile_source *source, void *data,
		struct error *err);
/* Frees everything. */
void evfile_done(struct evfile *f);
