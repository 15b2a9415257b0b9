/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds which lines of both profiles are the same by the code on them: in one build, by their
 * number; in two, by the instructions that matched functions have in common.
 *
 *	annotate_votes_collect(&places);	adds to places.votes
 */
#pragma once

struct annotate_places;

/* The files and lines with samples have been found. */
void annotate_votes_collect(struct annotate_places *s);
