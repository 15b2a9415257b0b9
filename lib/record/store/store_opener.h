/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens sample files for the store: their names, their headers, and handling of failures. A cause
 * is logged once. A file that failed is not tried again for a while; nor is any file if the cause
 * is global (disk full, no descriptors).
 *
 *	if (store_opener_may_try(o, retry_at) && (r = store_opener_open(o, &key, &sf, &err)) < 0)
 *		retry_at = store_opener_failed(o, r, &err);
 */
#pragma once

#include "base/error.h"
#include "record/store/store_types.h"

#include <stdbool.h>
#include <stddef.h>

struct made_file;
struct store_file;
struct store_opener;
struct sfile;
struct sfile_header;

/* Caller frees. */
struct store_opener *store_opener_new(const struct store_config *config);
/* NULL is fine. */
void store_opener_free(struct store_opener *o);

/* The name of the sample file of @key, whose strings are borrowed, and its header. */
void store_opener_describe(const struct store_opener *o, const struct store_key *key,
			   struct sname *ret_name, struct sfile_header *ret_header);
/* Returns whether a file may be opened for which store_opener_failed() returned @retry_at (0: did
 * not fail). */
bool store_opener_may_try(const struct store_opener *o, uint64_t retry_at);
/* Opens or creates the sample file of @key; 0 or -errno. */
int store_opener_open(struct store_opener *o, const struct store_key *key, struct sfile **ret,
		      struct error *err);
/* Has it opened in a thread, for @file; false if it has to wait, or store_opener_is_alone(). */
bool store_opener_ask(struct store_opener *o, const struct store_key *key, struct store_file *file);
/* Whether there is no thread. */
bool store_opener_is_alone(const struct store_opener *o);
/* Takes what the thread has opened, or could not: ->data is the file. False if there is nothing. */
bool store_opener_take(struct store_opener *o, struct made_file *ret);
/* Waits until the thread has opened all. */
void store_opener_wait(struct store_opener *o);
/* Logs why a file could not be opened; returns when to try again. */
uint64_t store_opener_failed(struct store_opener *o, int code, const struct error *err);
/* Logs that descriptors or memory are lacking; no file is to be opened for a while. */
void store_opener_lacks(struct store_opener *o, int code, const struct error *err);
/* Whether that is so. */
bool store_opener_is_lacking(const struct store_opener *o);
/* Logs why a file could not be written. */
void store_opener_complain(struct store_opener *o, const struct store_key *key, int code);

/* Lets all files be tried again at once. */
void store_opener_retry(struct store_opener *o);
/* Lets causes be logged again. */
void store_opener_forget(struct store_opener *o);
