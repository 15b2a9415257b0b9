/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An image that samples are counted for, such as a mapped file: what it is, and how to find it. */
#pragma once

#include "file/file_identity.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct function_line;

enum cookie_kind {
	COOKIE_FILE,   /* a mapped file: device, inode, generation, path */
	COOKIE_ANON,   /* memory without a file: tgid, start, end, label in ->path */
	COOKIE_VDSO,   /* the vdso, one for all processes */
	COOKIE_THREAD, /* a kernel thread as application, its name in ->path */
	COOKIE_CGROUP, /* no image: what a process is in, ->path from the hierarchy's root on */
	COOKIE_CODE,   /* no image: code in the kernel that is part of none, ->path its symbol */
	COOKIE_SOURCE, /* a function of the source file ->path, which an interpreter runs */
	COOKIE_KIND_COUNT_
};

#define COOKIE_DIGEST_SET (1ULL << 63) /* in every digest */

/* The source file whose functions are those who wake tasks: [woken by NAME]. */
#define COOKIE_WAKERS "/<wakers>"

/* The most bytes of bytecode that a function of a source file has; more count as so many. */
enum { COOKIE_CODE_BYTES_MAX = 1 << 20 };

/* A function in the form that an interpreter runs. */
struct cookie_function {
	char *name;
	uint32_t language; /* enum interpreter_kind; 0: Python or not known */
	uint32_t bytes;	   /* of its bytecode, which offsets are in */
	uint64_t digest;   /* of what distinguishes it from others of this name in its file */
	struct function_line *lines;
	size_t line_count;
};

struct cookie_image {
	uint64_t cookie;
	enum cookie_kind kind;
	bool identified; /* ->version was looked for */
	bool verified;	 /* and belongs to the very file that was mapped */
	bool sampled;	 /* code of it was sampled, so that its functions are kept */
	bool settled;	 /* root's, where packages of this machine install files: it is unlikely to
			  * go away in the next minute */
	struct file_identity file;
	struct file_version version;
	uint32_t tgid;			  /* COOKIE_ANON */
	uint64_t start, end;		  /* COOKIE_ANON: end excluded */
	struct cookie_function *function; /* COOKIE_SOURCE, else NULL */
	char *path;			  /* as the process saw it, " (deleted)" cut off */
	char *host; /* as we see it where that differs, "" if we cannot; NULL: by ->path or not
		     * looked for */
};

/* Where a process has a file mapped; borrowed. */
struct cookie_mapped {
	const char *root;    /* prefix of /proc; "" or NULL: this machine's */
	uint32_t tgid;	     /* 0: unknown */
	uint64_t start, end; /* 0: unknown */
};
