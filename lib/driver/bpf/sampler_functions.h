/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interpreted functions that the BPF sampling program has met, and their cookies. It sends a
 * function once per process; the cookie is that of the source file's function, the same in all
 * processes. The caller owns the table; it borrows what it is created with.
 *
 *	struct sampler_functions *functions = sampler_functions_new(sampler, cookies, "");
 *	sampler_functions_add(functions, message);
 *	cookie = sampler_functions_cookie(functions, id);
 */
#pragma once

#include "bpf/sample.h"

#include <stdbool.h>
#include <stdint.h>

struct cookie_table;
struct sampler;
struct sampler_functions;

/* Creates an empty table; @root is the parent of /proc. Caller frees. */
struct sampler_functions *sampler_functions_new(const struct sampler *sampler,
						struct cookie_table *cookies, const char *root);
/* Frees it; accepts NULL. */
void sampler_functions_free(struct sampler_functions *t);

/* Adds a function, whose texts may contain anything. */
void sampler_functions_add(struct sampler_functions *t, const struct sample_function *f);
/* The name of generated code, if the function is that: as the virtual machine writes it in a map.
 * Caller frees; NULL if it is interpreted. */
char *sampler_functions_generated(const struct sample_function *f);
/* Whether the function with this @id is known. */
bool sampler_functions_knows(const struct sampler_functions *t, uint64_t id);
/* The cookie of the function with this @id. If it is not known, that of a function with no name,
 * and the program sends it again. */
uint64_t sampler_functions_cookie(struct sampler_functions *t, uint64_t id);
/* Whether names and lines take most of the memory that they may take: those of functions that were
 * not sampled for long should go (cookie_sweep()). */
bool sampler_functions_are_large(const struct sampler_functions *t);
/* Forgets all functions, which the program sends again as it meets them. */
void sampler_functions_forget(struct sampler_functions *t);
