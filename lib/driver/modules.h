/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comings and goings of kernel modules and of other code in the kernel. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct cookie_table;
struct evbuf;
struct perf_record;

/* Whether modules came or went since the last call with the same *@count, which is 0 at first.
 * Modules make no record; the number of their directories shows most changes. */
bool modules_changed(const char *root, uint64_t *count);
/* What a record says of code in the kernel. BPF programs, trampolines and pages of kprobes are told
 * to @out with their addresses, as they may be gone when somebody looks. Whether the lists of the
 * kernel are to be read again, for all else, and where records were lost. */
bool modules_record(const struct perf_record *r, struct cookie_table *cookies, struct evbuf *out);
