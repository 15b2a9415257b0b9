/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Downloads what a report lacks from debuginfod servers: debug information of the images that have
 * enough samples, and the binaries themselves if this machine does not have them.
 *
 *	struct fetch_config config = { .wanted = true, .percent = 1 };
 *	struct error err = ERROR_INIT;
 *	fetch_images(&config, gather, binaries, &err);
 *	if (err.code)
 *		log_warn("%s", err.text);
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct binaries;
struct debuginfod_progress;
struct debuginfod_want;
struct gather;

struct fetch_config {
	bool wanted;
	double percent; /* share of the samples that an image must have */
	const struct debuginfod_progress *progress; /* NULL: not shown */
	/* Fetches in another process; NULL: debuginfod_fetch() does it in this one. */
	int (*ask)(struct debuginfod_want *wants, size_t count, int socket, struct error *err);
	int socket; /* for ->ask */
};

/* If wanted, downloads for the images of @g that have that share of the samples and a build-id what
 * @bs does not find, and hands it to @bs. If no server could be asked, @err has the reason; else
 * its code stays 0. Files that no server has are only named in the debug log. */
void fetch_images(const struct fetch_config *config, const struct gather *g, struct binaries *bs,
		  struct error *err);
