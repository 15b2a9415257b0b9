/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files of a session that say what was sampled when, and in which call chains, as they would be
 * if only what a specification selects had been sampled. Sample files are not among them
 * (profile/select/file_counts.h).
 *
 *	const struct excerpt_config config = { gather, &spec, false };
 *	excerpt_write(&config, session, "made/current");
 *	session_walk_rest("made/current", add, data, err);
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct gather;
struct spec;

struct excerpt_config {
	const struct gather *gather;
	const struct spec *spec; /* what was gathered */
	bool exclude_dependent;	 /* only samples in the applications' own images */
	bool chains_only;	 /* write only the chains, for excerpt_chained() */
};

/* Writes the history and the chains of session number @session of the gather below @directory, for
 * a window of time also its setup and its counters. Warns of what cannot be written. */
void excerpt_write(const struct excerpt_config *config, uint32_t session, const char *directory);
/* Sets @chained[i] for each image i of the gather that is in the chains written to @directory. */
void excerpt_chained(const struct excerpt_config *config, uint32_t session, const char *directory,
		     bool *chained);
/* Whether the file at @below of the session is one that excerpt_write() replaces. */
bool excerpt_replaces(const struct excerpt_config *config, const char *below);
