/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens sample files. A sample file stores how often each place in one image was sampled for one
 * event: a header that describes the event and the image, followed by the sample database, which
 * maps offsets to counts. The format is the original OProfile's: version 0x13 is read and written,
 * 0x12 only read. A struct sfile owns the open file.
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

/* Opens @path for writing and creates it, with its parent directories, if it is missing. An
 * existing file gets @header as its new header, and is repaired if a power cut damaged it. Returns
 * 0 or -errno: -EBADMSG if the existing file counts another event, unit mask or period, or, except
 * in timer mode, is from another CPU type. The caller closes *ret. */
int sfile_create(const char *path, const struct sfile_header *header, struct sfile **ret,
		 struct error *err);
/* Opens @path for reading; samples that a writer adds later may not be visible. Returns 0 or
 * -errno: -EBADMSG if it is not a sample file. @err names the file. The caller closes
 * *ret. */
int sfile_open(const char *path, struct sfile **ret, struct error *err);
/* Closes the file and frees @sf; NULL is fine. */
void sfile_close(struct sfile *sf);
DEFINE_CLEANUP(struct sfile *, sfile_close);

/* Returns the header as read or written; borrowed until sfile_close(). */
const struct sfile_header *sfile_header(const struct sfile *sf);
/* Returns the database; borrowed until sfile_close(). */
struct odb *sfile_odb(struct sfile *sf);
