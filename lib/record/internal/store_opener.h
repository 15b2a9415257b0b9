/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens sample files for the store: their names, their headers, and what to do where that fails. A
 * cause is said once; a file that failed, or all of them where the cause is the machine's (disk
 * full, no descriptors), is not tried again for a while.
 *
 *	if (opener_may_try(o, retry_at) && (r = opener_open(o, &key, &sf, &err)) < 0)
 *		retry_at = opener_failed(o, r, &err);
 */
#pragma once

#include "base/error.h"
#include "record/internal/store.h"

#include <stdbool.h>

struct opener;
struct sfile;

/* Caller frees. */
struct opener *opener_new(const struct store_config *config);
void opener_free(struct opener *o);

/* Whether it is time to open a file that opener_failed() gave @retry_at (0: did not fail). */
bool opener_may_try(const struct opener *o, uint64_t retry_at);
/* Opens the sample file of @key, creating it where missing; 0 or -errno. */
int opener_open(struct opener *o, const struct store_key *key, struct sfile **ret,
		struct error *err);
/* Says why a file could not be opened; returns when to try again. */
uint64_t opener_failed(struct opener *o, int code, const struct error *err);
/* Says why a file could not be written. */
void opener_complain(struct opener *o, const struct store_key *key, int code);

/* All may be tried at once, also files that have a time of their own. */
void opener_retry(struct opener *o);
/* Causes are said again. */
void opener_forget(struct opener *o);
