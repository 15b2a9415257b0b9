/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens a profile: from the words of a specification to the sample files that it selects, their
 * classes (columns), the images that the samples are in, and the binaries of these images. Every
 * tool that reads a profile starts here.
 *
 *	struct profile_config config = { .merge = CLASSES_MERGE_CPU };
 *	struct profile *p;
 *	if (profile_open(&config, argc - 1, argv + 1, &p, err) == 0)
 *		printf("%zu sample files\n", p->gather->file_count);
 *	profile_close(p);
 *
 * The profile owns all its parts. The strings of the configuration are borrowed.
 */
#pragma once

#include "base/error.h"
#include "profile/binary/binary.h"
#include "profile/binary/fetch.h"
#include "profile/print/losses.h"
#include "profile/rows/chains.h"
#include "profile/select/by_image.h"
#include "profile/select/classes.h"
#include "profile/select/gather.h"
#include "profile/select/spec.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct scratch;
struct sources;
struct symcache;

/* The session directory of oprofiled. */
#define PROFILE_LOCAL_DIR  "oprofile_data"
#define PROFILE_SYSTEM_DIR "/var/lib/oprofile"

/* Whether whole call chains are opened. */
enum profile_chains {
	PROFILE_NO_CHAINS,
	PROFILE_CHAINS_IF_ANY, /* a profile without chains is fine */
	PROFILE_CHAINS_NEEDED  /* a profile without chains is an error */
};

struct profile_config {
	const char *session_dir; /* NULL: ./oprofile_data, or PROFILE_SYSTEM_DIR without that */
	/* Where to look for images, and which parts are needed. An archive in the specification
	 * overrides ->root; ->cache is set by ->symbol_cache. */
	struct binaries_config binaries;
	bool symbol_cache;  /* use the user's cache of symbol tables */
	unsigned int merge; /* enum classes_merge */
	bool calls;	    /* select call graph files, or make them from chains, too (gather.h) */
	enum profile_chains chains;
	struct spec_division division; /* of time, for a timeline */
	bool sums_only; /* the offsets of samples do not matter, only how many each file has */
	size_t top;	/* not 0: only so many symbols matter; see struct history_wanted */
	bool blocks;	/* counts of blocks, too, to measure how much counts vary: gather.h */
	/* An earlier profile of the session, opened with ->binaries.keep, which outlives this one:
	 * images that it has opened are not opened again. NULL: none. */
	const struct profile *lender;
	struct fetch_config fetch; /* from debuginfod servers what this machine lacks */
	/* Where to make temporary directories, which the caller removes; NULL: as scratch_new(). */
	const char *scratch_dir;
	/* NULL, or is called with each directory that a compact archive was unpacked into, which is
	 * in messages instead of the archive's name. */
	void (*unpacked)(const char *directory, const char *archive);
	uint64_t max_size; /* limit for the files of a compact archive; 0: as pack_limit() */
};

struct profile {
	struct spec spec;
	struct scratch *unpacked; /* the files of compact archives, or NULL */
	struct gather *gather;
	struct classes classes;
	struct by_image by_image;
	struct chains chains; /* opened; without sources if there are none */
	const char *session_dir;
	bool is_system_dir; /* ->session_dir is PROFILE_SYSTEM_DIR by default, and read */
	const char *root;   /* of the images: the first archive, the configured root, or NULL */
	struct symcache *cache;
	struct binaries *binaries;
	struct losses losses; /* what was lost while sampling */
};

/* The session directory that profile_open() reads; in an archive if @is_archive. Borrowed. */
const char *profile_session_dir(const struct profile_config *config, bool is_archive);
/* Opens the profile that @count words select. A compact archive is unpacked into a directory that
 * lives as long as the profile. 0, caller closes; or negative with the reason: see spec_parse(),
 * gather_files() and classes_arrange(). */
int profile_open(const struct profile_config *config, size_t count, char *const *words,
		 struct profile **ret, struct error *err);
/* Stores the symbols of the profile in @session_dir in the user's cache, those of the images with
 * the most samples first, within a second; see keep.h. As root, reads only files of root and of
 * @owner. */
void profile_keep_symbols(const char *session_dir, uid_t owner);
/* Creates what opens the images of the profile with what ->binaries of @config says of them, but
 * for their root and cache, which are the profile's: it may have been opened with less. Fetches
 * missing files as ->fetch says. Caller frees, before the profile. */
struct binaries *profile_binaries(const struct profile *p, const struct profile_config *config);
/* Creates what finds the sources of the profile: below each of its archives, else below its root;
 * the lists are those of sources_new(). Caller frees. */
struct sources *profile_sources(const struct profile *p, const char *search_dirs,
				const char *base_dirs);
/* Keeps the source lines of sampled functions of that profile in its session directory, within a
 * second; see keep_lines.h. Reads the same files. */
void profile_keep_lines(const char *session_dir, uid_t owner);
/* Frees all; NULL is fine. */
void profile_close(struct profile *p);
DEFINE_CLEANUP(struct profile *, profile_close);
