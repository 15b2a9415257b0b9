/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comings and goings of kernel modules. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Whether modules came or went since the last call with the same *@count, which is 0 at first.
 * Modules make no record; the number of their directories shows most changes. */
bool modules_changed(const char *root, uint64_t *count);
