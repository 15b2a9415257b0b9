/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds out for the BPF sampling program which memory of processes is a copy of a file's text
 * (opener_copied()), so that it unwinds code there by the file's table. What is in use is compared
 * again every few seconds. The caller owns the store and frees it.
 *
 *	struct copy_store *copies = copy_store_new(sampler, opener);
 *	copy_store_answer(copies, message);
 *	copy_store_keep(copies);		now and then
 *	copy_store_free(copies);
 */
#pragma once

#include "bpf/sample.h"

#include <stdbool.h>
#include <stdint.h>

struct copy_store;
struct opener;
struct sampler;

/* Creates an empty store; both are borrowed. Caller frees. */
struct copy_store *copy_store_new(struct sampler *sampler, struct opener *opener);
/* Frees the store; accepts NULL. */
void copy_store_free(struct copy_store *s);

/* Answers the program's question, unless there were too many in this second: it asks again. */
void copy_store_answer(struct copy_store *s, const struct sample_doubt *doubt);
/* Compares some memory again, and forgets what is not in use any more. */
void copy_store_keep(struct copy_store *s);
/* Whether there is anything to keep. */
bool copy_store_holds(const struct copy_store *s);
/* How often memory was not compared when due, because there was too much of it. */
uint64_t copy_store_late(const struct copy_store *s);
/* The number of answers so far for which there was no room. */
uint64_t copy_store_refused(const struct copy_store *s);
