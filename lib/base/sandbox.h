/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Workers that read what strangers wrote: processes without any right that can neither open nor
 * start anything (base/seccomp_confine.h). A worker gets a request and one descriptor, and leaves
 * its answer in memory that it shares with us. One that dies, or takes too long, costs the request
 * that it was at; the next finds a new one.
 *
 * Workers are forked by a process that was forked before there was anything to see in our memory,
 * and that has no rights either: make the sandbox first of all, before there are threads.
 *
 *	static void serve(const void *request, size_t size, int fd, struct sandbox_reply *reply)
 *	{
 *		reply->size = read(fd, reply->memory, reply->room);
 *	}
 *	struct sandbox_config config = { .lanes = 1, .room = 1 << 20, .serve = serve };
 *	sandbox_new(&config, &s, err);
 *	if (sandbox_call(s, 0, &request, sizeof(request), fd, &reply, err) == 0)
 *		... copy from reply.memory, then trust nothing ...
 *
 * Each lane has a worker of its own and takes one request at a time: a thread for each.
 */
#pragma once

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

enum { SANDBOX_REQUEST_MAX = 256, SANDBOX_LANES_MAX = 4 };

struct sandbox;

struct sandbox_reply {
	void *memory;	  /* what the worker may write to while it lives: read each byte once */
	size_t room;	  /* bytes there */
	size_t size;	  /* bytes that it wrote: at most ->room */
	int code;	  /* what it says of its own: 0 or -errno */
	char refused[64]; /* a system call that it tried and was refused, or "" */
};

struct sandbox_config {
	const char *name;   /* of the processes, up to 15 characters */
	unsigned int lanes; /* up to SANDBOX_LANES_MAX */
	size_t room;	    /* bytes of each lane's memory; taken as they are written to */
	int time_ms;	    /* that a request may take; of CPU time where others use the CPUs */
	/* Runs in the worker: answers in @reply, whose ->memory and ->room are set and the rest 0.
	 * @fd is -1 if none came, and closed afterwards. */
	void (*serve)(const void *request, size_t size, int fd, struct sandbox_reply *reply);
};

/* Makes it; the first worker of each lane comes with its first request. 0 or -errno. */
int sandbox_new(const struct sandbox_config *config, struct sandbox **ret, struct error *err);
/* Ends all its processes; NULL is fine. */
void sandbox_free(struct sandbox *s);
DEFINE_CLEANUP(struct sandbox *, sandbox_free);

/* CPU time of all its processes that there ever were, in ns. From any thread. */
uint64_t sandbox_cpu(struct sandbox *s);
/* Bytes of memory that are its processes' alone. From any thread. */
uint64_t sandbox_memory(struct sandbox *s);

/* Has a request of at most SANDBOX_REQUEST_MAX bytes done by the worker of @lane, with the
 * descriptor @fd (-1: none), which stays the caller's. 0, and in *@ret what it answered, until the
 * lane's next call; -EPIPE if the worker died of it, -ETIME if it took too long, -ECHILD if there
 * is none to be had: the text says why. */
int sandbox_call(struct sandbox *s, unsigned int lane, const void *request, size_t size, int fd,
		 struct sandbox_reply *ret, struct error *err);
/* The lane's answer is not read any more: gives back what a large one took, which otherwise stays
 * until the next call. */
void sandbox_drop(struct sandbox *s, unsigned int lane);
