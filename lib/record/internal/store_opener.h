/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens sample files for the store: their names, their headers, and what to do where that fails. A
 * cause is said once; a file that failed, or all of them where the cause is the machine's (disk
 * full, no descriptors), is not tried again for a while.
 *
 *	if (store_opener_may_try(o, retry_at) && (r = store_opener_open(o, &key, &sf, &err)) < 0)
 *		retry_at = store_opener_failed(o, r, &err);
 */
#pragma once

#include "base/error.h"
#include "record/internal/store_types.h"

#include <stdbool.h>

struct store_opener;
struct sfile;

/* Caller frees. */
struct store_opener *store_opener_new(const struct store_config *config);
/* NULL is fine. */
void store_opener_free(struct store_opener *o);

/* Whether it is time to open a file that store_opener_failed() gave @retry_at (0: did not fail). */
bool store_opener_may_try(const struct store_opener *o, uint64_t retry_at);
/* Opens the sample file of @key, creating it where missing; 0 or -errno. */
int store_opener_open(struct store_opener *o, const struct store_key *key, struct sfile **ret,
		      struct error *err);
/* Says why a file could not be opened; returns when to try again. */
uint64_t store_opener_failed(struct store_opener *o, int code, const struct error *err);
/* Says why a file could not be written. */
void store_opener_complain(struct store_opener *o, const struct store_key *key, int code);

/* All may be tried at once, also files that have a time of their own. */
void store_opener_retry(struct store_opener *o);
/* Causes are said again. */
void store_opener_forget(struct store_opener *o);
