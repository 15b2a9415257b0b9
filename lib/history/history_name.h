/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the history of a session says about a sample file: what it is, and its counts.
 */
#pragma once

#include "sfile/sample_header.h"
#include "sfile/sname.h"
#include "sfile/sname_pool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HISTORY_DIRECTORY "history" /* below samples/NAME */

/* A sample file. */
struct history_name {
	struct sname name;	    /* without a callee */
	struct sfile_header header; /* ->count, ->unit_mask and ->anon_start are as in the name */
};

/* The key of counts whose keys were too rare to be kept. */
#define HISTORY_RARE UINT64_MAX
/* With the offset of a function, the key of its counts whose own keys were too rare. */
#define HISTORY_FUNCTION (UINT64_C(1) << 62)

static inline bool history_is_function(uint64_t key)
{
	return key >> 62 == 1;
}

struct history_count {
	uint64_t key; /* as in the sample file */
	uint64_t count;
	uint32_t step; /* of the steps that time was divided into; 0 if it was not */
	uint32_t file; /* number of its file, from 1 on */
};

/* A sample file as it would be if the session were the window. There can be hundreds of thousands
 * of them, so what they have in common is elsewhere. */
struct history_file {
	struct sname_parts name;
	const struct sfile_header *header;
	const struct history_count
		*counts; /* in no order; a key and step may occur several times */
	size_t count;
	bool is_rest; /* it is many: struct history_wanted */
};
