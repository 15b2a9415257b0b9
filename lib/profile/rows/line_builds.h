/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds of the programs that have a source line: in which order they were sampled, and where the
 * line is in those that have no samples in it, as samples alone do not say.
 *
 *	struct line_source source = { gather, &classes, binaries };
 *	_cleanup_free_ uint64_t *ages = line_builds_ages(&source, &container);
 *	line_builds_add(&source, &choice, &container);
 *	line_choice_rows(&choice, ages, &container, err);
 */
#pragma once

#include <stdint.h>

struct binaries;
struct classes;
struct container;
struct gather;
struct line_choice;

/* Where rows come from; all is borrowed. */
struct line_source {
	const struct gather *gather;
	const struct classes *classes; /* ascending steps of time for each event */
	struct binaries *binaries;
};

/* For each image: a number that is larger the later it was sampled last, of the builds of images
 * that have rows in @c. Those in one step of time are in the order of their first samples. The
 * caller frees. */
uint64_t *line_builds_ages(const struct line_source *source, const struct container *c);
/* Adds to the functions of @c that have the line of @choice in some build all their lines there,
 * with zeros for counts. Functions without samples in that build get a row. */
void line_builds_add(const struct line_source *source, const struct line_choice *choice,
		     struct container *c);
