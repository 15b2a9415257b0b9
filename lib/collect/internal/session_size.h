/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The disk space that a session directory takes, without that of sessions that are being removed,
 * which a walk through all its files adds up. A thread walks, because that may take seconds, and
 * the caller has samples to drain.
 *
 *	struct session_size *s = session_size_new("/var/lib/oprofile");
 *	session_size_ask(s);
 *	...
 *	if (session_size_take(s, &bytes, &took_ns))	in a later turn
 *		...
 *	session_size_free(s);
 */
#pragma once

#include "base/macro.h"

#include <stdbool.h>
#include <stdint.h>

struct session_size;

/* @directory is copied. Caller frees. */
struct session_size *session_size_new(const char *directory);
/* Ends a walk that is under way. NULL is fine. */
void session_size_free(struct session_size *s);
DEFINE_CLEANUP(struct session_size *, session_size_free);

/* Begins a walk instead of the one under way. Returns false if there is no thread for it. */
bool session_size_ask(struct session_size *s);
/* Ends a walk that is under way, without a result: the session was emptied. */
void session_size_forget(struct session_size *s);
/* Returns whether a walk is under way, or its result was not yet taken. */
bool session_size_is_asked(const struct session_size *s);
/* Returns whether the walk is over. Then *@ret_bytes is the space, and *@ret_took_ns the CPU time
 * of the walk. */
bool session_size_take(struct session_size *s, uint64_t *ret_bytes, uint64_t *ret_took_ns);
