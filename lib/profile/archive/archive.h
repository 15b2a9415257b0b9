/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An archive is a directory with everything that a report of a profile reads, each file under the
 * path that it has on the machine: the sample files and what is next to them below
 * /var/lib/oprofile, the images and their debug files, kernel symbols. "archive:DIR" in a
 * specification reads it.
 *
 *	struct archive a;
 *	archive_plan(gather, binaries, &config, &a);
 *	archive_write(&a, "/tmp/profile", err);
 *	archive_done(&a);
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct binaries;
struct gather;
struct sfile_header;
struct spec;

/* Where every archive has its session, wherever that was; as in OProfile 1.x. */
#define ARCHIVE_SESSION_PLACE "/var/lib/oprofile"

struct archive_config {
	const char *root;	/* prefix of every path, as in struct binaries_config; or NULL */
	bool exclude_dependent; /* only samples in the applications' own images */
	const bool *chained;	/* by image: needed for call chains, too (chains_images()); or
	 * NULL */
	bool is_list;	  /* nothing is written: what is made only says which files belong to it */
	const char *made; /* directory for files that are made for the archive: call graph files
	 * derived from chains, and what is of a part of a session; NULL: none are made */
	const struct spec *narrowed; /* only this part of the sessions; NULL: all of them */
	bool compact;		     /* without files that a compact archive does not contain */
};

enum archive_kind {
	ARCHIVE_COPY,	  /* as it is */
	ARCHIVE_IMAGE,	  /* has code: a compact archive contains the used parts */
	ARCHIVE_CODE,	  /* code of kernel or module: only in a compact archive */
	ARCHIVE_KALLSYMS, /* symbols of the kernel: only in a compact archive */
};

struct archive_file {
	const char *from; /* here */
	const char *to;	  /* below the archive's directory: absolute, without "." and ".." */
	int flags;	  /* for opening: O_NOFOLLOW for files of the session, else 0 */
	enum archive_kind kind;
	uint64_t mtime;			   /* in a compact archive; 0: the file's own */
	uint32_t image;			   /* which one of the gather */
	uint32_t session;		   /* of kernel symbols; GATHER_NONE: of all */
	const struct sfile_header *header; /* of an image's samples; in the arena */
};

/* How many images that are missing are reported by name: after a night there may be hundreds. */
enum { ARCHIVE_WARNINGS_MAX = 5 };

struct archive {
	const struct gather *gather; /* of the profile, borrowed; NULL: it is of none */
	struct archive_file *files;
	size_t count, room;
	size_t left_out;  /* images that are missing in it; the first few were reported */
	bool live_kernel; /* it includes the running kernel's symbols */
	bool exclude_dependent;
	struct arena arena;
	struct map by_target; /* file index + 1 */
};

/* Finds all files that belong to the profile @g, whose images @bs finds. The caller calls
 * archive_done(). */
void archive_plan(const struct gather *g, struct binaries *bs, const struct archive_config *config,
		  struct archive *ret);
/* Frees what archive_plan() allocated. */
void archive_done(struct archive *a);

/* Returns -EEXIST if archive_write(), or with @compact archive_write_compact(), would refuse to
 * write to @path; else 0. */
int archive_check_output(const char *path, bool compact, struct error *err);
/* Writes it to @directory, which is created, for this user alone, if it is missing, and must not
 * contain an archive (-EEXIST). 0 or -errno: -ESTALE if a session was removed meanwhile. If it
 * fails, nothing is left. */
int archive_write(const struct archive *a, const char *directory, struct error *err);

/* Writes one compressed file at @path, where none may be yet (-EEXIST): the same content, but only
 * the parts of images and kernels that the profile @g uses (man oparchive.5). 0 or -errno, as
 * archive_write(). */
int archive_write_compact(const struct archive *a, struct gather *g, struct binaries *bs,
			  const char *path, struct error *err);
