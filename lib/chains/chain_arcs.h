/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The arcs of a session's call chains: what call graph files ({cg}) would hold of each application,
 * caller's and callee's image, made of the chain store when somebody asks.
 *
 *	struct chain_arcs *a;
 *	if (chain_arcs_read(samples, &a, err) == 0)	-ENOENT: there are no chains
 *		for (i = 0; i < chain_arcs_count(a); i++)
 *			puts(chain_arcs_at(a, i)->name.image.name);
 *	chain_arcs_free(a);
 *
 * The application stands in a name as the session's sample files have it: where these are not kept
 * apart by application (setup says so), it is the caller's image.
 */
#pragma once

#include "base/error.h"
#include "base/macro.h"
#include "sfile/sname.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chain_arc_count {
	uint64_t key; /* as in the file: low 32 bits of the caller's offset, of the callee's */
	uint64_t samples;
};

/* Several may have one name. */
struct chain_arcs_file {
	struct sname name;
	bool is_kernel, callee_is_kernel;
	const struct chain_arc_count *arcs; /* a key may come more than once: readers add */
	size_t count;
};

struct chain_arcs;

/* Reads the chains of the session at @samples. 0, the caller frees; or -errno: -ENOENT if there are
 * none. */
int chain_arcs_read(const char *samples, struct chain_arcs **ret, struct error *err);
/* NULL is fine. */
void chain_arcs_free(struct chain_arcs *a);
DEFINE_CLEANUP(struct chain_arcs *, chain_arcs_free);

/* Number of sample files that the arcs would be in. */
size_t chain_arcs_count(const struct chain_arcs *a);
/* Borrowed. */
const struct chain_arcs_file *chain_arcs_at(const struct chain_arcs *a, size_t i);
