/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of CPUs as the kernel writes them: "0-3,5". */
#pragma once

#include "base/error.h"

#include <stddef.h>

/* Takes @text apart; the numbers in rising order go to *@ret, which the caller frees. How many, or
 * -EINVAL. */
int cpulist_parse(const char *text, unsigned int **ret);

/* The CPUs that are online on the machine below @root; as above, or -errno. */
int cpulist_online(const char *root, unsigned int **ret);

/* Those that are there but not online, "1,3", or NULL where there are none. Caller frees. */
char *cpulist_offline(const char *root);

/* Whether @cpu is among the first @n of @cpus. */
bool cpulist_has(const unsigned int *cpus, int n, unsigned int cpu);

/* The first of them that are online; 0 or -errno. */
int cpulist_first(const char *root, unsigned int *ret, struct error *err);
