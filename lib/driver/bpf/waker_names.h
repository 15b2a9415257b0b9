/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The wakers of tasks as functions of an image: where the time of a wait counts, with the place of
 * the wait as the caller.
 *
 *	if (key->place == SAMPLE_WAKER)
 *		cookie = waker_names_cookie(cookies, key);
 */
#pragma once

#include <stdint.h>

struct cookie_table;
struct sample_key;

/* The cookie of the function, such as "[woken by NAME]", at which the waker in @key is counted. */
uint64_t waker_names_cookie(struct cookie_table *cookies, const struct sample_key *key);
