/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Downloads what a report lacks from debuginfod servers: debug information of the images that have
 * enough samples, and the binaries themselves if this machine does not have them.
 *
 *	struct error err = ERROR_INIT;
 *	fetch_images(gather, binaries, 1.0, NULL, &err);
 *	if (err.code)
 *		log_warn("%s", err.text);
 */
#pragma once

#include "base/error.h"

struct binaries;
struct debuginfod_progress;
struct gather;

/* Downloads, for the images of @g that have at least @percent of the samples and a build-id,
 * what @bs does not find, and hands it to @bs. @progress may be NULL. If no server could be
 * asked, @err has the reason; else its code stays 0. Files that no server has are only named in
 * the debug log. */
void fetch_images(const struct gather *g, struct binaries *bs, double percent,
		  const struct debuginfod_progress *progress, struct error *err);
