/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of sample files: what a file counts is encoded ("mangled") in its path below the session's
 * samples directory, as the original did it:
 *
 *	{root}/usr/bin/xmms/{dep}/{root}/lib/libc.so.6/CPU_CLK_UNHALTED.100000.0.all.all.all
 *
 * Where samples are kept by cgroup, all of that stands below {cgroup}/PATH, where the original's
 * tools do not look.
 *
 * A struct sname filled by sname_parse() owns its strings (sname_done() frees them); one built for
 * sname_mangle() borrows them.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum sname_kind {
	SNAME_ROOT, /* {root}/path: a file */
	SNAME_KERN, /* {kern}/name: kernel image or module, known by name only */
	SNAME_ANON, /* {anon:label}/tgid.0xstart.0xend: memory without a file */
	SNAME_KIND_COUNT_
};

struct sname_image {
	enum sname_kind kind;
	const char *name;    /* path, kernel name, or label */
	uint32_t tgid;	     /* anonymous only */
	uint64_t start, end; /* anonymous only; end as it stands in the name */
};

enum { SNAME_ALL = -1 }; /* "all": not separated by this field */

/* Whose samples are counted together, beyond their application: where, in which thread. */
struct sname_task {
	int64_t tgid, tid, cpu; /* or SNAME_ALL */
	const char *cgroup;	/* its path, "/" for the root; NULL: not separated by this */
};

#define SNAME_TASK_ALL ((struct sname_task){ SNAME_ALL, SNAME_ALL, SNAME_ALL, NULL })

struct sname {
	struct sname_image app;	  /* application image */
	struct sname_image image; /* the image the samples are in ({dep}); of a {cg} the caller's */
	struct sname_image callee; /* {cg} only */
	bool has_callee;
	const char *event;
	int64_t count;	   /* sampling period; as signed 32 bit in the name */
	int64_t unit_mask; /* likewise */
	struct sname_task task;
};

/* The path below the samples directory; caller frees. */
char *sname_mangle(const struct sname *name);

/* Takes a path (below the samples directory, or with anything before the first {cgroup}, {root} or
 * {kern}) apart; 0, or -EBADMSG with the reason. On success the caller calls sname_done(). */
int sname_parse(const char *path, struct sname *ret, struct error *err);
/* Frees what sname_parse() allocated. */
void sname_done(struct sname *name);

/* Orders tasks by cgroup, process, thread and CPU: below, equal to or above 0. */
int sname_task_compare(const struct sname_task *a, const struct sname_task *b);
/* The same for equality only, quick where equal cgroups are one string. */
static inline bool sname_task_equal(const struct sname_task *a, const struct sname_task *b)
{
	return a->tid == b->tid && a->tgid == b->tgid && a->cpu == b->cpu &&
	       (a->cgroup == b->cgroup ||
		(a->cgroup && b->cgroup && !strcmp(a->cgroup, b->cgroup)));
}
/* A hash of all four. */
uint64_t sname_task_hash(const struct sname_task *task);

/* Whether two image parts name the same image. */
bool sname_image_equal(const struct sname_image *a, const struct sname_image *b);

/* How an image is shown to people: the path, the kernel name, or "label (tgid:N range:0xA-0xB)"
 * (the label alone where tgid is 0: memory that all processes share, the vdso); caller frees. */
char *sname_image_display(const struct sname_image *image);
