/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Encodes and decodes the header at the start of a sample file, which says what the samples in the
 * file count (man opsample.5). The caller provides all structs; none of them owns memory.
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
	SAMPLE_HEADER_VERSION = 0x13,	  /* written by OProfile 0.9.10 to 1.4 and by us */
	SAMPLE_HEADER_SIZE = 72,	  /* bytes */
	SAMPLE_HEADER_VERSION_0_9 = 0x12, /* written by OProfile 0.9.8 and 0.9.9 */
	SAMPLE_HEADER_SIZE_0_9 = 88,
	SAMPLE_HEADER_SIZE_MAX = SAMPLE_HEADER_SIZE_0_9,
	SAMPLE_HEADER_CPU_0_9 = 0x900 /* added to numbers that only version 0x12 had */
};

/* The fields of a header, decoded (man opsample.5 shows the bytes). */
struct sfile_header {
	uint32_t version;  /* 0x13; set by the reader, ignored by the writer */
	uint32_t cpu_type; /* the CPU type's number in OProfile 1.x, whatever the file's version */
	uint32_t event;	   /* event code, 0 in timer mode */
	uint32_t unit_mask;
	uint32_t count;	      /* sampling period, 0 in timer mode */
	bool is_kernel;	      /* the image ({cg}: the caller's) is the kernel or a module */
	bool cg_to_is_kernel; /* call graph ({cg}) files only: the callee's image is */
	double cpu_mhz;	      /* 0: unknown */
	uint64_t mtime;	      /* of the image, seconds since the epoch; 0: unknown or none */
	uint64_t anon_start;  /* start address of the region if the image is anonymous memory */
	uint64_t cg_to_anon_start; /* {cg} files only: the same for the callee */
};

/* Returns whether @in starts with the magic of a sample file of any machine and version, and is
 * long enough to identify the version. */
bool sample_header_has_magic(struct span in);

/* Returns the number in OProfile 1.x of the CPU type that has @number in files of @version. Types
 * that were given up before version 0x13 have numbers from SAMPLE_HEADER_CPU_0_9 on. */
uint32_t sample_header_cpu_type(uint32_t version, uint32_t number);

/* Decodes the header from the first bytes of a file (at most SAMPLE_HEADER_SIZE_MAX are used);
 * @path is for messages. Returns the size of the header, or -EBADMSG with the reason in @err: not a
 * sample file, or one from another kind of machine or of another version. */
int sample_header_decode(struct span in, const char *path, struct sfile_header *ret,
			 struct error *err);

/* Reads and decodes the header of an open file. Returns as sample_header_decode() does, or -errno
 * if reading fails. */
int sample_header_read(int fd, const char *path, struct sfile_header *ret, struct error *err);

/* Encodes @header into @bytes, always in version SAMPLE_HEADER_VERSION. */
void sample_header_encode(const struct sfile_header *header, uint8_t bytes[SAMPLE_HEADER_SIZE]);
