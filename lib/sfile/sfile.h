/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sample file: the original's header (version 0x13, read also 0x12) and the database behind it.
 *
 *	struct sfile *sf;
 *	if (sfile_create(path, &header, &sf, err) == 0)	for writing; makes it and its directories
 *		odb_add(sfile_odb(sf), offset, 1);
 *	sfile_close(sf);
 */
#pragma once

#include "sfile/odb.h"
#include "sfile/sample_header.h"

struct sfile;

/* Opens @path for writing, creates it with its parent directories, writes @header over what stands
 * there; a file that a power cut left damaged is mended. -EBADMSG if that counts something else:
 * another event, period or, but for the clock, which is the same everywhere, CPU type. */
int sfile_create(const char *path, const struct sfile_header *header, struct sfile **ret,
		 struct error *err);
/* Opens @path for reading what is in it now: what a writer adds later may not be seen. 0, or -errno
 * with the file named: -EBADMSG if it is no sample file. */
int sfile_open(const char *path, struct sfile **ret, struct error *err);
/* Closes; NULL is fine. */
void sfile_close(struct sfile *sf);
DEFINE_CLEANUP(struct sfile *, sfile_close);

/* The header as read or written; borrowed. */
const struct sfile_header *sfile_header(const struct sfile *sf);
/* The database; borrowed until sfile_close(). */
struct odb *sfile_odb(struct sfile *sf);
