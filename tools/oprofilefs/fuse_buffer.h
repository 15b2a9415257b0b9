/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file "buffer" of oprofilefs: the event buffer in the format of OProfile 1.x, for one reader
 * at a time. The daemon sends its words over a connection; they are converted when somebody reads.
 * Nothing here blocks: a reader's request is kept until there is data for it.
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
	bool used, ended;    /* the file is open; no more words will come */
	struct asker *asker; /* while it is opened */
	fuse_req_t opener;   /* the request that waits for it, or NULL */
	struct fuse_file_info fi;
	int fd; /* the connection; -1: not open */
	struct evexport *export;
	char part[sizeof(uint64_t)]; /* of a word that has not come completely */
	size_t part_size;
	fuse_req_t reader; /* the request that waits for words, or NULL */
	size_t room;	   /* words that it has room for */
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

/* Fills FUSE_BUFFER_POLLED entries for poll(); fd -1: nothing to wait for. */
void fuse_buffer_polled(const struct fuse_buffer *b, struct pollfd *ret);
/* Does everything possible without waiting. */
void fuse_buffer_run(struct fuse_buffer *b);
