/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens and creates sample files in a thread: the file system may take a second for a new one, and
 * the caller has samples to drain.
 *
 *	file_maker_ask(m, path, &header, file);
 *	...
 *	while (file_maker_take(m, &made))
 *		...			made.sf is the caller's
 */
#pragma once

#include "base/error.h"
#include "base/macro.h"
#include "sfile/sample_header.h"

#include <stdbool.h>

struct file_maker;
struct sfile;

struct made_file {
	void *data;	  /* the caller's, of the question */
	struct sfile *sf; /* NULL: it could not be opened */
	int code;	  /* -errno */
	struct error err;
};

/* Without a thread yet. Caller frees. */
struct file_maker *file_maker_new(void);
/* Waits for the file that is being opened. NULL is fine. */
void file_maker_free(struct file_maker *m);

/* Has the file @path, a string that it takes, opened for writing (sfile_create()). Returns false,
 * and nothing is done, if too many wait or there is no thread. */
bool file_maker_ask(struct file_maker *m, char *path, const struct sfile_header *header,
		    void *data);
/* Whether it cannot be asked, because there is no thread. */
bool file_maker_is_absent(const struct file_maker *m);
/* Takes a file that was opened, or could not be; false if there is none. */
bool file_maker_take(struct file_maker *m, struct made_file *ret);
/* Waits until all are opened. */
void file_maker_wait(struct file_maker *m);
