/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many descriptors there are for sample files.
 *
 *	open_max = descriptor_limit_share(OPEN_MIN, OPEN_MAX);
 */
#pragma once

#include <stddef.h>

/* Returns the number of descriptors for sample files, from @least to @most; raises the soft limit
 * of the process to the hard one. */
size_t descriptor_limit_share(size_t least, size_t most);
