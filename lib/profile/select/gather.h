/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sample files that a specification selects, found by walking the sessions. Their names are
 * parsed, and every image that they name gets a number. This is the first stage of a report; it
 * opens no sample file.
 *
 *	struct gather *g;
 *	if (gather_files(&spec, session_dir, false, &g, err) == 0)
 *		for (i = 0; i < g->file_count; i++)
 *			puts(g->images[g->files[i].image].display);
 *	gather_free(g);
 *
 * The gather owns everything that it points to.
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/intern.h"
#include "base/map.h"
#include "history/steps.h"
#include "profile/select/spec.h"
#include "sfile/sname.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct chain_arcs;
struct chain_arcs_file;
struct chain_skipped;
struct session_names;
struct history;
struct history_file;
struct manifest;
struct manifest_image;

enum { GATHER_NONE = UINT32_MAX };

struct gather_session {
	const char *name;	   /* "current" */
	const char *samples;	   /* directory of the sample files */
	const char *archive;	   /* the directory that it and its images are in, or NULL */
	uint32_t archive_number;   /* in the specification, from 0; 0 without one */
	const char *host;	   /* where it was recorded; NULL: not known */
	const char *command;	   /* what was profiled; NULL: not known */
	uint64_t began;		   /* seconds since the epoch; 0: not known */
	dev_t device;		   /* which directory ->samples is */
	ino_t inode;		   /* the same */
	struct manifest *manifest; /* NULL: the session has none */
	struct chain_arcs *arcs;   /* NULL: not requested, or there are none */
	struct history *history;   /* NULL: no window of time was requested */
	struct history *blocks;	   /* NULL, or counts of blocks in addition to sample files */
	struct history *idle;	   /* of files that were not used for long, or NULL */
};

/* An image that has samples, or an application. One that is in several sessions is one image, but
 * each archive has its own: files, symbols and the kernel are those of its host. */
struct gather_image {
	struct sname_image id;
	const struct manifest_image *manifest; /* what was profiled, NULL if not recorded */
	const char *display;		       /* path, name in the kernel, or "anon (...)" */
	const char *shown;		       /* ->display with the suffix, so that it is unique */
	const char *kernel; /* "[kernel]" with the suffix if it is the kernel, else NULL */
	const char *suffix; /* "#12345678", to distinguish files of one path, or "" */
	uint32_t session;   /* index of the first session it was seen in */
	uint32_t archive;   /* number of its archive */
	uint32_t file;	    /* index + 1 of the first file with samples in it; 0: there is none */
	uint32_t program;   /* of memory of a process, or an application: the image that stands for
			   * that memory of all processes of the program; or GATHER_NONE */
	uint32_t same;	    /* the first image of another archive that is the same file, as far as
			     * is known; or GATHER_NONE */
	bool is_wanted;	    /* the specification selects samples in it; else it is only at the
			     * other end of arcs, or an application */
	bool has_builds;    /* two profiles are compared, and it stands for several builds of its
			     * path: rows/diff_builds.h */
};

struct gather_file {
	const char *path;		    /* NULL: no file, the counts come from elsewhere: */
	const struct chain_arcs_file *arcs; /* from chains, else NULL */
	const struct history_file *past;    /* from the history, else NULL; without offsets if
					     * only sums are wanted */
	bool is_rest;			    /* it is many files: struct history_wanted */
	uint32_t app, image;		    /* indexes of images */
	uint32_t callee; /* index of an image; GATHER_NONE except for call graph files */
	const char *end; /* NULL, or these are no arcs: see struct chain_arcs_file */
	uint32_t session;
	uint32_t slot;	   /* of its first count */
	const char *event; /* equal ones are the same pointer, as are cgroups */
	int64_t count, unit_mask;
	struct sname_task task;
};

/* Blocks are parts of a profile with counts of their own, to measure how much counts vary
 * (rows/statistics.h). They are equal parts of the time, or the sessions, if there are several. */
enum gather_blocks { GATHER_NO_BLOCKS, GATHER_BLOCKS_OF_TIME, GATHER_BLOCKS_OF_SESSIONS };

struct gather {
	struct gather_session *sessions;
	size_t session_count, session_room;
	bool has_archives; /* the sessions are of several archives */
	struct gather_image *images;
	size_t image_count, image_room;
	struct gather_file *files;
	size_t file_count, file_room;
	struct steps steps;  /* that time is divided into; ->count is 0 if it is not */
	uint32_t step_parts; /* a step that was requested consists of so many of these */
	enum gather_blocks blocks;
	bool has_whole; /* sample files have all counts, in addition to the blocks: in slot 0 */
	/* Each class has so many counts: one per step of time, or slot 0 and one per block. */
	uint32_t slots;
	/* Names of sessions that were not selected, and have samples of the window, too. */
	const char **others;
	size_t other_count, other_room;
	size_t skipped; /* files with invalid names; each was reported */
	bool is_gone;	/* as gather_warn_file() says */
	struct arena arena;
	struct map image_by_hash;		   /* index + 1 */
	struct intern names;			   /* of events, cgroups, threads */
	const struct session_names *session_names; /* those of the specification */
};

/* Collects what @spec, which must outlive the gather, selects in the sessions below @session_dir
 * (of the archive, if @spec names one). With @calls, sessions with call chains but no call graph
 * files also get the call graph files that the chains are equivalent to. 0, the caller frees; or
 * negative with the reason and the remedy: -ENOENT if there is no such session, -ENODATA if it is
 * empty or nothing is selected. */
int gather_files(const struct spec *spec, const char *session_dir, bool calls, struct gather **ret,
		 struct error *err);
/* Adds the sessions that @spec selects, with their manifests, to an empty gather: the first step
 * of gather_files(). 0, or -errno with the reason: -ENOENT if an archive, or the session directory,
 * has none of them. */
int gather_add_sessions(struct gather *g, const struct spec *spec, const char *session_dir,
			struct error *err);
/* Warns that a file cannot be read, and why. If a session is not there any longer, warns of that
 * instead, and sets *@is_gone; then no more. */
void gather_warn_file(const struct gather *g, const struct error *why, bool *is_gone);
/* -ESTALE if a session was emptied, renamed or deleted since it was added, so that not all of it
 * may have been read; else 0. */
int gather_check_there(const struct gather *g, struct error *err);
/* The name of image number @image for people: its path or, unless @is_long, the last part of it or
 * "[kernel]". Borrowed. */
const char *gather_image_name(const struct gather *g, uint32_t image, bool is_long);
/* Where the code of the anonymous region that @f belongs to would be: TGID.jo next to the region's
 * directory; caller frees. NULL if @f belongs to no region. */
char *gather_code_path(const struct gather *g, const struct gather_file *f);
/* Divides the time that the sessions cover in the window into steps: none (->count is 0) if they
 * have no history in it. 0 or -EINVAL (steps_choose()). */
int gather_steps(const struct gather *g, const struct spec *spec, struct spec_division division,
		 struct steps *ret, struct error *err);
/* How many milliseconds were recorded of each block of time; caller frees. NULL: the blocks are not
 * of time. */
uint64_t *gather_block_lengths(const struct gather *g);
/* The time that the samples of a session are of, to be read from its chains; NULL: all. The history
 * may have longer slices than the chains, so it can be more than the window requested. */
const struct window *gather_window(const struct gather_session *s);
/* Warns of what was left out of the chains of a window of time. */
void gather_warn_skipped(const struct gather_session *s, const struct chain_skipped *skipped);
/* The number of the image @id of session number @session; adds it if no sample file names it. Must
 * not be called after binaries_new(). */
uint32_t gather_image(struct gather *g, uint32_t session, const struct sname_image *id);
/* The same of many names that have the strings of a pool (sfile/sname_pool.h): @by_string, which is
 * empty at first, gets the images that were found, except memory of processes. NULL: they have
 * not. */
uint32_t gather_image_of(struct gather *g, struct map *by_string, uint32_t session,
			 const struct sname_image *id);
/* The number of that image; GATHER_NONE if there is none. */
uint32_t gather_find_image(const struct gather *g, uint32_t session, const struct sname_image *id);
/* The number of the image that is the same file as @image of another gather of the session;
 * GATHER_NONE if there is none. */
uint32_t gather_find_same(const struct gather *g, const struct gather_image *image);
/* Adds a copy of an image of another gather, which must outlive @g as its strings are borrowed;
 * returns its number. gather_image() finds it from then on. */
uint32_t gather_add_image(struct gather *g, const struct gather_image *image);
/* Whether a session has call chains. */
bool gather_has_chains(const struct gather *g);
/* Frees all; NULL is fine. */
void gather_free(struct gather *g);
DEFINE_CLEANUP(struct gather *, gather_free);
/* Adds to @g->others, in the order of names, the sessions next to those of @g that have samples in
 * @window, unless @spec excludes them or their host. gather_files() does it if a window was given,
 * and no session. No counts are read, and of each session directory at most eight sessions: those
 * that were written at the time of the window or next to it. */
void gather_find_others(struct gather *g, const struct spec *spec, const struct window *window);
/* Their names for the tag session, "before,night"; with @own, those of the sessions of @g follow.
 * The caller frees; empty if there are none. */
char *gather_others_text(const struct gather *g, bool own);
