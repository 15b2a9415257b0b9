/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Notes the names of the containers that are sampled, in the session's file of them
 * (sfile/session_names.h), at the first sample of each: afterwards it may be gone. A thread reads
 * the files of the runtimes and writes that of the session.
 *
 *	struct container_namer *n = container_namer_new(root, samples);
 *	container_namer_see(n, "/system.slice/docker-0a1b....scope");
 *	container_namer_free(n);
 */
#pragma once

struct container_namer;

/* A namer for the session whose sample files are in @samples; both are copied. Caller frees. */
struct container_namer *container_namer_new(const char *root, const char *samples);
/* @cgroup has samples; for the first one of a container, begins to look for its name. Equal paths
 * are the same pointer, borrowed until the next call of a function that lets go of it. The
 * session's directory must exist. */
void container_namer_see(struct container_namer *n, const char *cgroup);
/* Lets go of all cgroups: the names of those that are sampled again are looked for again, and
 * written again, which they are once in thousands of containers. */
void container_namer_let_go(struct container_namer *n);
/* Waits for the thread, but not long, and lets go of all cgroups: the session is another one. */
void container_namer_forget(struct container_namer *n);
/* Waits for the thread, but not long. NULL is fine. */
void container_namer_free(struct container_namer *n);
