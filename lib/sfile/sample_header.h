/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bytes of a sample file's header (man opsample.5), for sfile.c and check.c. Nothing here owns
 * anything.
 *
 *	int size = sample_header_read(fd, path, &header, err);
 *	if (size > 0)
 *		odb_open_fd(fd, path, ODB_READ, size, &db, err);
 */
#pragma once

#include "base/error.h"
#include "base/span.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	SAMPLE_HEADER_VERSION = 0x13,	  /* of OProfile 0.9.10 to 1.4, and ours */
	SAMPLE_HEADER_SIZE = 72,	  /* of that version */
	SAMPLE_HEADER_VERSION_0_9 = 0x12, /* of OProfile 0.9.8 and 0.9.9 */
	SAMPLE_HEADER_SIZE_0_9 = 88,
	SAMPLE_HEADER_SIZE_MAX = SAMPLE_HEADER_SIZE_0_9
};

/* The header's fields in host form (man opsample.5 draws the bytes). */
struct sfile_header {
	uint32_t version;  /* 0x13; set by the reader, ignored by the writer */
	uint32_t cpu_type; /* number of the CPU type, reference: original's table */
	uint32_t event;	   /* event code, 0 in timer mode */
	uint32_t unit_mask;
	uint32_t count;	      /* sampling period, 0 in timer mode */
	bool is_kernel;	      /* the image (of a {cg} file: the caller's) is kernel or module */
	bool cg_to_is_kernel; /* {cg} files only: the callee's is */
	double cpu_mhz;	      /* 0: unknown */
	uint64_t mtime;	      /* of the image, seconds; 0: unknown or none */
	uint64_t anon_start;  /* start of the region if the image is anonymous memory */
	uint64_t cg_to_anon_start; /* {cg} files only: of the callee's region */
};

/* Whether it starts as a sample file of whatever machine and version. */
bool sample_header_has_magic(struct span in);

/* Takes the first bytes of a file apart (at most SAMPLE_HEADER_SIZE_MAX are looked at); @path is
 * for messages. Returns the header's size, or -EBADMSG with what it is instead: no sample file, one
 * of a foreign machine, of another version. */
int sample_header_decode(struct span in, const char *path, struct sfile_header *ret,
			 struct error *err);

/* Reads and decodes the header of an open file; as sample_header_decode(), or -errno. */
int sample_header_read(int fd, const char *path, struct sfile_header *ret, struct error *err);

/* Writes a header of version SAMPLE_HEADER_VERSION. */
void sample_header_encode(const struct sfile_header *header, uint8_t bytes[SAMPLE_HEADER_SIZE]);
