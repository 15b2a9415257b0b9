/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Removes code that processes made at run time (TGID.jo, man opjit.5) from a session, so that it
 * does not grow with the processes that came and went.
 *
 *	old_code_remove(samples, &how, &log);
 */
#pragma once

#include <stdint.h>

struct references;
struct strbuf;

struct old_code {
	const struct references *refs;
	int64_t until_s;    /* since 1970: what was written later stays */
	uint64_t bytes_max; /* of files of processes that have ended */
};

/* Removes files of processes that have ended: those that were written before ->until_s and are not
 * referred to; then, if the others are too large together, the oldest ones. Adds a line to @log if
 * it removed any of the latter. */
void old_code_remove(const char *samples, const struct old_code *how, struct strbuf *log);
