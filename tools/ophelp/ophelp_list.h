/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events of a catalogue as ophelp lists them.
 *
 *	ophelp_list(catalog_here(), "cache", OPHELP_TEXT, 80, stdout);
 */
#pragma once

#include "event/catalog.h"
#include "event/cpu_type.h"

#include <stdio.h>

enum ophelp_format { OPHELP_TEXT, OPHELP_XML, OPHELP_JSON, OPHELP_FORMAT_COUNT_ };

/* Prints the events of @c, only those in which @word is found if it is not NULL: in the name,
 * the description or a unit mask, in capitals or not. Text is wrapped to @width columns (0: not).
 * Returns how many there were. */
size_t ophelp_list(const struct catalog *c, const char *word, enum ophelp_format format,
		   unsigned int width, FILE *out);

/* Whether ophelp_list() would print any. */
bool ophelp_any(const struct catalog *c, const char *word);
