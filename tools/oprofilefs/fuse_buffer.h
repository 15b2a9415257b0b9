/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file "buffer" of oprofilefs: the event buffer as the original's readers know it, for one at a
 * time. The daemon pushes its words into a connection; what they become is made when somebody
 * reads. Nothing here waits: a reader's request is kept until there is something for it.
 *
 *	fuse_buffer_init(&buffer, session_dir);
 *	fuse_buffer_open(&buffer, req, fi);		and read, poll, release, as FUSE calls them
 *	fuse_buffer_polled(&buffer, polled);	what to poll() for
 *	fuse_buffer_run(&buffer);			after each poll()
 *	fuse_buffer_done(&buffer);
 */
#pragma once

#define FUSE_USE_VERSION 35

#include "oprofilefs/asker.h"
#include "oprofilefs/evexport.h"

#include <fuse_lowlevel.h>
#include <poll.h>

struct fuse_buffer {
	const char *session_dir;
	bool used, ended;    /* somebody has it open; no more will come */
	struct asker *asker; /* while it is opened */
	fuse_req_t opener;   /* who waits for that, or NULL */
	struct fuse_file_info fi;
	int fd; /* where the words come from, -1: not open */
	struct evexport *export;
	char part[sizeof(uint64_t)]; /* of a word that has not come as a whole */
	size_t part_size;
	fuse_req_t reader; /* who waits for words, or NULL */
	size_t room;	   /* words that he has room for */
	struct fuse_pollhandle *poller;
};

enum { FUSE_BUFFER_POLLED = 2 };

void fuse_buffer_init(struct fuse_buffer *b, const char *session_dir);
void fuse_buffer_done(struct fuse_buffer *b);

/* The operations on the file; they reply, at once or later. */
void fuse_buffer_open(struct fuse_buffer *b, fuse_req_t req, const struct fuse_file_info *fi);
void fuse_buffer_read(struct fuse_buffer *b, fuse_req_t req, size_t size, bool nonblocking);
void fuse_buffer_poll(struct fuse_buffer *b, fuse_req_t req, struct fuse_pollhandle *handle);
void fuse_buffer_release(struct fuse_buffer *b, fuse_req_t req);

/* Fills FUSE_BUFFER_POLLED entries with what to wait for, -1 where there is nothing. */
void fuse_buffer_polled(const struct fuse_buffer *b, struct pollfd *ret);
/* Goes on as far as it can without waiting. */
void fuse_buffer_run(struct fuse_buffer *b);
