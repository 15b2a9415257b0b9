/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Converts sample files written on another machine to the layout of this one. A struct abi
 * describes the other machine's word size, alignment and byte order (sfile/abi.h). No byte of a
 * foreign file is trusted. All structs are the caller's; none of them owns memory.
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

/* A decoded foreign sample file; borrows the layout and the bytes of the file. */
struct import {
	const struct abi *abi;
	struct sfile_header header;
	const uint8_t *nodes; /* first node in use */
	size_t node_count;
};

struct import_stats {
	size_t files;	  /* sample files written */
	size_t bad;	  /* sample files that could not be read; a warning was logged for each */
	size_t copied;	  /* other files of the session, copied unchanged */
	uint64_t nodes;	  /* nodes written, one for each sampled place */
	uint64_t samples; /* sum of the nodes' counts */
};

/* Decodes the bytes of a foreign file; @path is for messages. *ret borrows @abi and the bytes.
 * Returns 0, or -EBADMSG with the reason in @err: not a sample file, unknown version, truncated, or
 * not written by a machine like the one @abi describes. */
int import_open(struct span in, const struct abi *abi, const char *path, struct import *ret,
		struct error *err);
/* Decodes the @i-th node. A count that does not fit in 32 bits becomes UINT32_MAX. */
void import_node(const struct import *import, size_t i, uint64_t *ret_key, uint32_t *ret_count);

/* Converts the foreign file @from to the native file @to, which is written completely or not at
 * all, and adds to @stats. An existing @to is replaced only with @force. Returns 0 or -errno
 * (-EEXIST). */
int import_file(const char *from, const struct abi *abi, const char *to, bool force,
		struct import_stats *stats, struct error *err);

/* Imports all sessions of the session directory @from into the session directory @to. Files other
 * than sample files (counters, manifest, kallsyms) are copied. A sample file that is not valid is
 * skipped with a warning. Returns 0, or -errno if @to cannot be written or no sample file in @from
 * could be imported. */
int import_session(const char *from, const struct abi *abi, const char *to, bool force,
		   struct import_stats *stats, struct error *err);
