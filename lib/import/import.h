/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sample files of another machine (word size, alignment, byte order, as an "abi" file describes
 * them), written anew as this one's. Nothing here trusts a byte of the foreign file.
 *
 *	struct import_stats stats = { 0 };
 *	if (import_file("foreign", &abi, "native", false, &stats, err) == 0)
 *		printf("%zu samples\n", stats.samples);
 */
#pragma once

#include "base/error.h"
#include "sfile/sfile.h"

#include <stddef.h>
#include <stdint.h>

struct abi;
struct span;

/* A foreign sample file taken apart; it borrows the bytes it was made of. */
struct import {
	const struct abi *abi;
	struct sfile_header header;
	const uint8_t *nodes; /* the first one in use */
	size_t node_count;
};

struct import_stats {
	size_t files;	  /* sample files written */
	size_t bad;	  /* that could not be read; each was warned of */
	size_t copied;	  /* other files of a session, as they were */
	uint64_t nodes;	  /* different places */
	uint64_t samples; /* sum of their counts */
};

/* Takes the bytes of a foreign file apart; @path is for messages. Borrows @abi and the bytes. 0, or
 * -EBADMSG with the reason: no sample file, a version that is not known, cut short, or not written
 * by the machine that @abi describes. */
int import_open(struct span in, const struct abi *abi, const char *path, struct import *ret,
		struct error *err);
/* The @i-th node. A count beyond 32 bits becomes UINT32_MAX. */
void import_node(const struct import *import, size_t i, uint64_t *ret_key, uint32_t *ret_count);

/* Writes the foreign file @from as the native @to, whole or not at all; adds to @stats. A @to that
 * exists is replaced if @force. 0 or -errno (-EEXIST). */
int import_file(const char *from, const struct abi *abi, const char *to, bool force,
		struct import_stats *stats, struct error *err);

/* Imports all sessions below the session directory @from into @to; what stands beside the sample
 * files (counters, manifest, kallsyms) is copied. A file that cannot be read is warned of and
 * passed over. 0, or -errno where @to cannot be written or @from holds no session. */
int import_session(const char *from, const struct abi *abi, const char *to, bool force,
		   struct import_stats *stats, struct error *err);
