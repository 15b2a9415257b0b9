/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a sandbox (helper/sandbox.h) is set up, and the answer to a request. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { SANDBOX_REQUEST_MAX = 8192, SANDBOX_LANES_MAX = 8 };

struct sandbox;

struct sandbox_reply {
	void *memory;	  /* shared with the worker, which may still write: read each byte once */
	size_t room;	  /* bytes there */
	size_t size;	  /* bytes written, at most ->room */
	int code;	  /* the result: 0 or -errno */
	char refused[64]; /* a system call that the worker was refused, or "" */
	void *data;	  /* the configuration's, for ->serve */
	/* A descriptor with the answer, or -1; only of a sandbox with ->opens. It is whose it comes
	 * to. */
	int fd;
};

struct sandbox_config {
	const char *name;   /* of the processes, up to 15 characters */
	unsigned int lanes; /* up to SANDBOX_LANES_MAX */
	size_t room;	    /* bytes for an answer, for each lane; used only once written */
	int time_ms;	    /* limit for a request, in CPU time if the CPUs are busy */
	/* Runs in the worker and fills @reply, whose ->memory and ->room are set, ->fd is -1 and
	 * the rest 0. @fd is -1 if the request had none; it is closed afterwards. */
	void (*serve)(const void *request, size_t size, int fd, struct sandbox_reply *reply);
	void *data; /* for ->serve, as it is when the sandbox is made */
	/* Bits: lanes whose workers get a CPU before others (niceness_soon()), for answers that are
	 * soon too late. A worker that takes long, and so is not for that, does not. */
	unsigned int soon;
	/* The workers may open files and list directories, as this process's user, without other
	 * rights. */
	bool browses;
	/* The workers may open files, and keep the rights to read those of others. They must parse
	 * none: that is done by @back, to whose lane @back_lane + N the worker of lane N has a
	 * connection, which nobody else uses: the worker calls sandbox_call() with @back, and exits
	 * if that fails. It must exist before and be freed after. */
	bool opens;
	struct sandbox *back;
	unsigned int back_lane;
	/* Set by sandbox_new(): in the worker of @lane, requests to @back go over @socket. */
	void (*adopt)(const struct sandbox_config *config, unsigned int lane, int socket);
};
