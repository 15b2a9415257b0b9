/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The words that say how much the daemon's log holds: those who store them and those who go by them
 * take the same.
 *
 *	enum log_level level;
 *	if (verbosity_parse("sfile,samples", &level, err) == 0) ...	LOG_LEVEL_DEBUG
 */
#pragma once

#include "base/error.h"
#include "base/log.h"

/* The level for a list such as "all" or "sfile,samples" (NULL: "all"); 0 or -EINVAL. */
int verbosity_parse(const char *text, enum log_level *ret, struct error *err);
