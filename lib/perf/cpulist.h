/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of CPUs as the kernel writes them: "0-3,5". */
#pragma once

#include "base/error.h"

#include <stddef.h>

/* Parses @text; stores the numbers in ascending order in *@ret, which the caller frees. Returns how
 * many, or -EINVAL. */
int cpulist_parse(const char *text, unsigned int **ret);

/* Stores the online CPUs of the machine below @root in *@ret; returns how many, or -errno. */
int cpulist_online(const char *root, unsigned int **ret);

/* The CPUs that are present but offline, as "1,3"; NULL if there are none. Caller frees. */
char *cpulist_offline(const char *root);

/* Whether @cpu is among the first @n of @cpus. */
bool cpulist_has(const unsigned int *cpus, int n, unsigned int cpu);

/* Stores the first online CPU in *@ret; returns 0 or -errno. */
int cpulist_first(const char *root, unsigned int *ret, struct error *err);
