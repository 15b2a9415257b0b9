/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of a page each, in whatever image, for tests of what segments fold.
 *
 *	struct upkeep how = { .functions = &page_functions };
 */
#pragma once

#include "base/macro.h"
#include "history/history_kind.h"
#include "history/segment_tree.h"

#include <stdbool.h>
#include <stdint.h>

static inline const void *page_functions_of(const struct segment_functions *f,
					    const char *line _unused_)
{
	return f;
}

static inline bool page_start_of(const void *functions _unused_, uint64_t key, uint64_t *ret)
{
	*ret = key & ~UINT64_C(0xfff);
	return true;
}

static inline void page_functions_open(const char *samples _unused_, struct segment_functions *ret)
{
	*ret = (struct segment_functions){ .of_line = page_functions_of, .start = page_start_of };
}

static inline void page_functions_close(struct segment_functions *f _unused_)
{
}

static const struct history_functions page_functions = { page_functions_open,
							 page_functions_close };
