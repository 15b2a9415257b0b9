/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where text that a process moved to memory counts for its file. The kernel does not report every
 * change of memory, so each piece is looked at again at every sync; identity/cookie.h compares it
 * every few seconds. The caller has the struct.
 *
 *	struct moved_text moved = { 0 };
 *	mapping = moved_text_find(&moved, &from, process, mapping, pc);
 *	moved_text_check(&moved, &from);		at each sync
 *	moved_text_done(&moved);
 */
#pragma once

#include "process/maps.h"
#include "process/process.h"

struct cookie_table;

struct moved_piece {
	uint32_t tgid;
	uint64_t memory, file; /* cookies */
	struct mapping before; /* the memory */
};

struct moved_text {
	struct moved_piece *pieces; /* the oldest first */
	size_t count, room;
};

/* What it works with; all borrowed. */
struct moved_text_from {
	struct process_table *processes;
	struct cookie_table *cookies;
	const char *root;
};

/* Frees what is in @m. */
void moved_text_done(struct moved_text *m);

/* Returns @mapping, of @p; or, if it is memory that contains a copy of a file's text, a mapping of
 * that file, which takes its place in the process. @pc is in it. */
const struct mapping *moved_text_find(struct moved_text *m, const struct moved_text_from *from,
				      struct process *p, const struct mapping *mapping,
				      uint64_t pc);
/* Puts the memory back in its place where it is no copy any more. */
void moved_text_check(struct moved_text *m, const struct moved_text_from *from);
