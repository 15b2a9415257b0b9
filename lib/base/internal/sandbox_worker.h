/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The other side of a sandbox (base/sandbox.h): the process that forks workers, the workers, and
 * what is said between them. For sandbox.c only. */
#pragma once

#include "base/sandbox.h"

/* What lies in a lane's memory, which all three processes map. */
struct sandbox_shared {
	uint64_t used;	  /* bytes of ->memory that an answer took: ours to keep */
	char refused[64]; /* the system call that the worker tried */
	_Alignas(64) char memory[];
};

/* To the nursery: end the worker of the lane, and start one if a socket comes along. */
struct sandbox_order {
	uint32_t lane;
};

/* Back: the pid of the new one, 0 if there is none, or -errno; how the old one ended (see
 * waitpid()). */
struct sandbox_outcome {
	int32_t code, status;
};

/* From a worker: what it has left in the lane's memory. */
struct sandbox_done {
	uint64_t size;
	int32_t code, unused;
};

/* Sends @size bytes over a socket with the descriptor @fd (-1: none); 0 or -errno. */
int sandbox_send(int socket, const void *bytes, size_t size, int fd);
/* Forks workers as it is told to over @socket, until that is closed; @shared: the memory of the
 * lanes. */
_noreturn_ void sandbox_nurse(const struct sandbox_config *config, int socket,
			      struct sandbox_shared *const *shared);
