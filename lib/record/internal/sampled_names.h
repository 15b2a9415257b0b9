/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names that samples are counted under: paths of cgroups, names of threads. Each is kept once, so
 * that equal names are equal pointers. They belong to the table and live until
 * sampled_names_sweep() or sampled_names_forget(): every container that ever ran would stay in it.
 *
 *	const char *cgroup = sampled_names_get(t, path);
 *	...
 *	if (sampled_names_are_many(t)) {
 *		sampled_names_use(t, held);
 *		...			let go of those that sampled_names_is_old()
 *		sampled_names_sweep(t);
 *	}
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct sampled_names;

/* Caller frees. */
struct sampled_names *sampled_names_new(void);
/* NULL is fine. */
void sampled_names_free(struct sampled_names *t);

/* Returns the table's copy of @name; NULL for NULL. */
const char *sampled_names_get(struct sampled_names *t, const char *name);
/* Whether @name is in the table. */
bool sampled_names_has(const struct sampled_names *t, const char *name);
/* Returns whether there are so many names that those unused for long are to be swept. */
bool sampled_names_are_many(const struct sampled_names *t);
/* Whether @name, the table's or NULL, would be swept now: it was not used since the last sweep. */
bool sampled_names_is_old(const struct sampled_names *t, const char *name);
/* Keeps @name, the table's or NULL, from being swept. */
void sampled_names_use(struct sampled_names *t, const char *name);
/* Frees the old names. Returns how many. */
size_t sampled_names_sweep(struct sampled_names *t);
/* Frees all names. */
void sampled_names_forget(struct sampled_names *t);
/* How many there are. */
size_t sampled_names_count(const struct sampled_names *t);
