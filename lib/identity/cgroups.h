/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cgroups by the numbers that samples carry. New ones the kernel reports; those that there were
 * before are read from where their hierarchy is mounted, when the first number comes that is not
 * known. What has a number keeps its path here after it was removed.
 *
 *	struct cgroups *t = cgroups_new("", CGROUPS_UNIFIED, cookies);
 *	cgroups_add(t, id, path);
 *	cookie = cgroups_cookie(t, id, now_ns);
 *	cgroups_free(t);
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct cgroups;
struct cookie_table;

/* Whose numbers they are. */
enum cgroups_of {
	CGROUPS_UNIFIED, /* version 2 */
	CGROUPS_PERF,	 /* of the controller perf_event: version 1 if it is there, else 2 */
};

/* The cgroup of a process that was never reported, or whose cgroup was gone too early. */
#define CGROUPS_UNKNOWN "/(unknown)"

/* An empty table; @root, copied, is the prefix of /proc and /sys; @cookies is borrowed. Caller
 * frees. */
struct cgroups *cgroups_new(const char *root, enum cgroups_of of, struct cookie_table *cookies);
/* NULL is fine. */
void cgroups_free(struct cgroups *t);

/* There is a cgroup with this number, new or known. */
void cgroups_add(struct cgroups *t, uint64_t id, const char *path);
/* The cookie of the cgroup, of which the lower half of the number is enough; looks where they are
 * mounted if it is not known, but not again and again. */
uint64_t cgroups_cookie(struct cgroups *t, uint64_t id, uint64_t now_ns);
