/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sandbox for parsing untrusted files: worker processes without privileges, which can neither
 * open files nor start programs (helper/seccomp_confine.h). A worker gets a request and one
 * descriptor, and leaves its answer in shared memory. If it dies or takes too long, that request
 * fails, and the next one gets a new worker.
 *
 * Workers are forked by a process of their own, the nursery, so that they see nothing of this
 * process's memory. So make the sandbox first of all, before there are secrets and threads.
 *
 *	static void serve(const void *request, size_t size, int fd, struct sandbox_reply *reply)
 *	{
 *		reply->size = read(fd, reply->memory, reply->room);
 *	}
 *	struct sandbox_config config = { .lanes = 1, .room = 1 << 20, .serve = serve };
 *	sandbox_new(&config, &s, err);
 *	if (sandbox_call(s, 0, &request, sizeof(request), fd, &reply, err) == 0)
 *		...	copy from reply.memory, and check the copy
 *
 * Each lane has its own worker and serves one request at a time, so that each may have a thread.
 *
 * A worker may hang in the kernel, where no signal ends it, on a file whose server does not answer.
 * It is then abandoned: killed, but not waited for.
 *
 * The CPU time of a worker that opens no files is limited in all, also between requests. One that
 * has used much of it is replaced before the next request. The same goes for one that gets a CPU
 * before others, which becomes an ordinary one when it has used a little more than that.
 */
#pragma once

#include "base/error.h"
#include "helper/sandbox_config.h"

#include <stddef.h>
#include <stdint.h>

struct sandbox;

/* Makes a sandbox; each lane's worker is started by its first request. 0, the caller frees; or
 * -errno. */
int sandbox_new(const struct sandbox_config *config, struct sandbox **ret, struct error *err);
/* Ends all its processes; NULL is fine. */
void sandbox_free(struct sandbox *s);
DEFINE_CLEANUP(struct sandbox *, sandbox_free);

/* CPU time of all its processes, ended ones included, in ns. From any thread. */
uint64_t sandbox_cpu(struct sandbox *s);
/* Private memory of its processes, in bytes. From any thread. */
uint64_t sandbox_memory(struct sandbox *s);

/* Lets requests fail at once from now on, also the one in progress: for another thread, before
 * sandbox_free(). */
void sandbox_stop(struct sandbox *s);

/* Has the worker of @lane serve a request of at most SANDBOX_REQUEST_MAX bytes with the descriptor
 * @fd (-1: none), which stays the caller's. 0 with the answer in *@ret, valid until the lane's next
 * call; -EPIPE if the worker died, -ETIME if it took too long, -ECHILD if none could be started,
 * -ECANCELED after sandbox_stop(). */
int sandbox_call(struct sandbox *s, unsigned int lane, const void *request, size_t size, int fd,
		 struct sandbox_reply *ret, struct error *err);
/* The memory of @lane with an answer of *@size bytes that another process asked for; *@size becomes
 * at most what there is room for. */
void *sandbox_left(struct sandbox *s, unsigned int lane, size_t *size);
/* In a worker of a sandbox that has @s at its back: the only lane of @s that it can use. */
unsigned int sandbox_adopted_lane(const struct sandbox *s);
/* Says that the lane's answer was read: frees the memory of a large one, otherwise kept until the
 * next call. */
void sandbox_drop(struct sandbox *s, unsigned int lane);
