/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Caller/callee arcs of a session's call chains, grouped into the call graph files ({cg}) that
 * would hold them: by application, caller's image, callee's image, event and task. They are
 * computed from the chain store on request. The struct chain_arcs owns all that is returned from
 * it.
 *
 *	struct chain_arcs *a;
 *	if (chain_arcs_read(samples, NULL, &a, err) == 0)	-ENOENT: there are no chains
 *		for (i = 0; i < chain_arcs_count(a); i++)
 *			puts(chain_arcs_at(a, i)->name.image.name);
 *	chain_arcs_free(a);
 *
 * The application in a name is the one in the session's sample files: if these are not separated by
 * application (see setup), it is the caller's image.
 *
 * Where chains end is in further elements, one per reason, which are no call graph files (->end).
 */
#pragma once

#include "base/error.h"
#include "base/macro.h"
#include "sfile/sname.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chain_arc_count {
	uint64_t key; /* as in the file: low 32 bits of the caller's offset, then of the callee's */
	uint64_t samples;
};

/* The arcs of one sample file; several can have the same name. */
struct chain_arcs_file {
	struct sname name;
	/* NULL: these are arcs. Else why chains end at the callees, their outermost frames. The
	 * caller is not known; its image in ->name is that of the callee, and its offset 0. */
	const char *end;
	bool is_kernel, callee_is_kernel;
	bool callee_entered;		    /* the kernel: the offset is where it goes on */
	const struct chain_arc_count *arcs; /* a key can occur more than once: readers add up */
	size_t count;
};

struct chain_arcs;
struct chain_skipped;
struct window;

/* Reads the chains of the session at @samples, with a window as chain_reader_open(). Returns 0 (the
 * caller frees), or -errno: -ENOENT if there are none. */
int chain_arcs_read(const char *samples, const struct window *window, struct chain_arcs **ret,
		    struct error *err);
/* Returns what chain_reader_skipped() does. */
struct chain_skipped chain_arcs_skipped(const struct chain_arcs *a);
/* Frees the arcs; NULL is allowed. */
void chain_arcs_free(struct chain_arcs *a);
DEFINE_CLEANUP(struct chain_arcs *, chain_arcs_free);

/* Returns the number of sample files that the arcs would be in. */
size_t chain_arcs_count(const struct chain_arcs *a);
/* Returns the arcs of the @i-th file, borrowed. */
const struct chain_arcs_file *chain_arcs_at(const struct chain_arcs *a, size_t i);
