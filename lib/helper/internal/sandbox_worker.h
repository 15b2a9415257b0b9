/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processes of a sandbox (helper/sandbox.h): the nursery, which forks workers, and the workers;
 * and the messages between them and the process that uses the sandbox. For sandbox.c only. */
#pragma once

#include "base/macro.h"
#include "helper/sandbox_config.h"

#include <stdint.h>
#include <sys/types.h>

/* A lane's memory, which all three processes map. */
struct sandbox_shared {
	uint64_t used;	  /* bytes of ->memory that the last answer took; set by sandbox.c */
	char refused[64]; /* a system call that the worker was refused */
	_Alignas(64) char memory[];
};

/* CPU time for which a worker of a lane in config->soon may be preferred, and after which it is
 * replaced before the next request. */
enum { SANDBOX_SOON_MS = 300, SANDBOX_SOON_USED_MS = 200 };

/* To the nursery: end the lane's worker and, if a socket comes along, start a new one. */
struct sandbox_order {
	uint32_t lane;
};

/* From the nursery: the pid of the new worker, 0 without one, or -errno; and how the old one ended,
 * as waitpid() has it. */
struct sandbox_outcome {
	int32_t code, status;
};

/* From a worker: its answer is in the lane's memory. */
struct sandbox_done {
	uint64_t size;
	int32_t code, unused;
};

/* Sends @size bytes over a socket with the descriptor @fd (-1: none); 0 or -errno. */
int sandbox_send(int socket, const void *bytes, size_t size, int fd);
/* Receives up to @room bytes, and a descriptor or -1 in *@ret_fd; their number, 0 at the end. */
ssize_t sandbox_receive(int socket, void *bytes, size_t room, int *ret_fd);
/* The nursery: forks workers as ordered over the socket at descriptor 0, until that is closed.
 * @shared is the memory of each lane. */
_noreturn_ void sandbox_nurse(const struct sandbox_config *config,
			      struct sandbox_shared *const *shared);

struct sandbox;

/* For the worker of a sandbox that has @s as ->back: @socket leads to the worker of @lane there,
 * and sandbox_call() uses it. If that fails, this process exits. */
void sandbox_adopt(struct sandbox *s, unsigned int lane, int socket);
