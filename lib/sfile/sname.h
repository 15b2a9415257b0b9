/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds ("mangles") and parses the names of sample files. The path of a sample file below the
 * session's samples directory encodes what the file counts: application, image, event, sampling
 * period, unit mask, process, thread and CPU. The format is that of the original OProfile:
 *
 *	{root}/usr/bin/xmms/{dep}/{root}/lib/libc.so.6/CPU_CLK_UNHALTED.100000.0.all.all.all
 *
 * If samples are separated by cgroup, this path is below {cgroup}/PATH, and if by the name of the
 * thread below {comm}/NAME, which the original's tools ignore.
 *
 * A struct sname filled in by sname_parse() owns its strings, which sname_done() frees. One built
 * for sname_mangle() borrows them.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum sname_kind {
	SNAME_ROOT, /* {root}/path: a file */
	SNAME_KERN, /* {kern}/name: the kernel or a module, known only by name */
	SNAME_ANON, /* {anon:label}/tgid.0xstart.0xend: memory not mapped from a file */
	SNAME_KIND_COUNT_
};

struct sname_image {
	enum sname_kind kind;
	const char *name;    /* path, kernel name or label, by kind */
	uint32_t tgid;	     /* anonymous only */
	uint64_t start, end; /* anonymous only: address range; end exactly as in the name */
};

enum { SNAME_ALL = -1 }; /* "all": samples are not separated by this field */

/* The process, thread, CPU, cgroup and name of threads whose samples a file counts. */
struct sname_task {
	int64_t tgid, tid, cpu; /* or SNAME_ALL */
	const char *cgroup;	/* path, "/" for the root; NULL: not separated by cgroup */
	const char *comm;	/* the name of a thread; NULL: not separated by it */
};

#define SNAME_TASK_ALL ((struct sname_task){ SNAME_ALL, SNAME_ALL, SNAME_ALL, NULL, NULL })

struct sname {
	struct sname_image app;	   /* application image */
	struct sname_image image;  /* {dep}: image the samples are in; {cg}: the caller's */
	struct sname_image callee; /* call graph ({cg}) files only */
	bool has_callee;
	const char *event;
	int64_t count;	   /* sampling period; printed as signed 32-bit in the name */
	int64_t unit_mask; /* printed the same way */
	struct sname_task task;
};

/* Returns the path of the file @name below the samples directory; caller frees. */
char *sname_mangle(const struct sname *name);

/* Returns the name of a thread as file names have it: one component, which is neither "." nor ".."
 * and does not look like a separator. Caller frees. */
char *sname_comm(const char *name);

/* Parses a path. It may be relative to the samples directory or have any prefix before the first
 * {cgroup}, {comm}, {root} or {kern}. Returns 0, or -EBADMSG with the reason in @err. On success
 * the caller calls sname_done(). */
int sname_parse(const char *path, struct sname *ret, struct error *err);
/* Frees the strings that sname_parse() allocated and clears @name. */
void sname_done(struct sname *name);

/* Compares tasks by cgroup, name, process, thread and CPU, as strcmp() does. */
int sname_task_compare(const struct sname_task *a, const struct sname_task *b);
/* Returns whether two texts, or two NULLs, are equal; fastest if equal ones are one string. */
static inline bool sname_same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* Returns whether two tasks are equal. */
static inline bool sname_task_equal(const struct sname_task *a, const struct sname_task *b)
{
	return a->tid == b->tid && a->tgid == b->tgid && a->cpu == b->cpu &&
	       sname_same_text(a->cgroup, b->cgroup) && sname_same_text(a->comm, b->comm);
}
/* Returns a hash of all fields. */
uint64_t sname_task_hash(const struct sname_task *task);

/* Returns whether @a and @b name the same image. */
bool sname_image_equal(const struct sname_image *a, const struct sname_image *b);

/* The kernel, without modules, in reports and specifications. In names of files it is the file that
 * has its symbols: /proc/kallsyms. */
#define SNAME_KERNEL_WORD "[kernel]"

/* Returns whether @image is the kernel, without modules; several kernels differ in
 * a mark at the end (#12345678). */
bool sname_image_is_kernel(const struct sname_image *image);
/* The mark at the end of a name by which the recorder distinguishes files of one path, or "". */
const char *sname_build_mark(const char *name);
/* Returns the image's name as shown to the user: the path, the kernel name, or "label (tgid:N
 * range:0xA-0xB)". If tgid is 0, it is the label alone: memory that all processes share, such as
 * the vdso. Caller frees. */
char *sname_image_display(const struct sname_image *image);
/* Returns whether an event with this name, or "NAME.COUNT.UNITMASK", counts microseconds off the
 * CPU. */
static inline bool sname_event_is_time(const char *event)
{
	static const char offcpu[] = "OFFCPU";

	return !strncmp(event, offcpu, sizeof(offcpu) - 1);
}
