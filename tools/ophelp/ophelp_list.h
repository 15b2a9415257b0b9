/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints the events of a catalogue as text, XML or JSON.
 *
 *	ophelp_list(catalog_here(), "cache", OPHELP_TEXT, 80, stdout);
 */
#pragma once

#include "event/catalog.h"
#include "event/cpu_type.h"

#include <stdio.h>

enum ophelp_format { OPHELP_TEXT, OPHELP_XML, OPHELP_JSON, OPHELP_FORMAT_COUNT_ };

/* Prints the events of @c to @out. If @word is not NULL, prints only those that contain it in their
 * name, description or a unit mask, ignoring case. Wraps text to @width columns (0: no wrapping).
 * Returns the number of events printed. */
size_t ophelp_list(const struct catalog *c, const char *word, enum ophelp_format format,
		   unsigned int width, FILE *out);

/* Returns whether ophelp_list() would print any event. */
bool ophelp_any(const struct catalog *c, const char *word);
