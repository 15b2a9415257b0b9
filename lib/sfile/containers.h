/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names that containers had when they were sampled: the file samples/NAME/containers (man
 * opsample.5). The path of a container's cgroup has only its id; the name is known to its runtime,
 * as long as the container exists.
 *
 *	containers_add(samples, id, "web-1", err);
 *	...
 *	struct containers *c = containers_new();
 *	containers_read(c, samples);
 *	name = containers_name(c, containers_id("/system.slice/docker-0a1b....scope"));
 *	containers_free(c);
 */
#pragma once

#include "base/error.h"
#include "base/macro.h"

struct containers;

/* The digits of an id. */
enum { CONTAINERS_ID = 64 };

/* Returns the first id in the path of a cgroup, CONTAINERS_ID hexadecimal digits that begin a part
 * of it or follow a dash, within @path; NULL if there is none. */
const char *containers_id(const char *path);

/* Adds a name to those of the session in @samples; the last one of an id counts. 0 or -errno. */
int containers_add(const char *samples, const char *id, const char *name, struct error *err);

/* No names. Caller frees. */
struct containers *containers_new(void);
/* Adds those of the session in @samples; if @c is NULL, does nothing. Lines that are damaged are
 * skipped, and logged. */
void containers_read(struct containers *c, const char *samples);
/* The name of the container whose id @id begins with, borrowed; NULL if it is not known, or @c or
 * @id is NULL. */
const char *containers_name(const struct containers *c, const char *id);
/* NULL is fine. */
void containers_free(struct containers *c);
DEFINE_CLEANUP(struct containers *, containers_free);
