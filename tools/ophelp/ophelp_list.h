/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints the events of a catalogue as text, XML or JSON.
 *
 *	struct ophelp_output to = { "cache", OPHELP_TEXT, 80, stdout };
 *	ophelp_list(catalog_here(), "", &to, NULL);
 */
#pragma once

#include "base/error.h"
#include "event/catalog.h"
#include "event/cpu_type.h"

#include <stdio.h>

enum ophelp_format { OPHELP_TEXT, OPHELP_XML, OPHELP_JSON, OPHELP_FORMAT_COUNT_ };

struct ophelp_output {
	const char *word; /* only events that contain it in their name, description or a unit mask,
			   * ignoring case; NULL: all */
	enum ophelp_format format;
	unsigned int width; /* to which text is wrapped; 0: it is not */
	FILE *out;
};

/* Prints the events of @c and, if there is a word, the tracepoints of the kernel of the machine
 * under @root, unless that is NULL. Returns the number of events printed; @why says why tracepoints
 * could not be read. */
size_t ophelp_list(const struct catalog *c, const char *root, const struct ophelp_output *to,
		   struct error *why);

/* Returns whether ophelp_list() would print any event. */
bool ophelp_any(const struct catalog *c, const char *word);
