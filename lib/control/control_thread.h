/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The control socket, served by a thread of its own, so that a client need not wait while the
 * owner's loop works. The thread answers what ->peek of a command can answer; the owner runs all
 * other commands when it gets to them, in the order in which they came. The owner also adopts
 * connections and writes the thread's lines to the log.
 *
 * So that clients cannot take the CPU by requests, the thread runs for at most
 * CONTROL_THREAD_BUSY_MS in each CONTROL_THREAD_WINDOW_MS, and then waits.
 *
 *	control_thread_new(&config, &thread, err);
 *	control_thread_run(thread);	whenever control_thread_fd(thread) is readable
 *	while (control_thread_answer(thread))
 *		...
 *	control_thread_free(thread);
 *
 * The caller owns the thread and frees it.
 */
#pragma once

#include "base/error.h"
#include "control/server.h"

enum { CONTROL_THREAD_BUSY_MS = 20, CONTROL_THREAD_WINDOW_MS = 100 };

struct control_thread_config {
	const char *session_dir; /* borrowed during control_thread_new() */
	const char *group;	 /* members may connect, besides owner and root; or NULL */
	const struct control_command *commands; /* borrowed; ends with a NULL name */
	void *data;	 /* passed to ->run, ->ran, ->is_settled, ->adopt and ->enter */
	void *peek_data; /* passed to ->peek, which the thread calls */
	/* Is called after each command of the owner, before its answer is sent. */
	void (*ran)(void *data);
	/* Whether the answers to commands that ran may be sent. NULL: always. */
	bool (*is_settled)(void *data);
	void (*adopt)(int fd, void *data);
	/* Is called in the thread when it starts; control_thread_new() waits for its end. NULL:
	 * nothing is called. */
	void (*enter)(void *data);
};

struct control_thread;

/* Listens on the session's socket and starts the thread; the caller holds the session's lock.
 * Returns 0 or -errno; caller frees. */
int control_thread_new(const struct control_thread_config *config, struct control_thread **ret,
		       struct error *err);
/* Sends the answers that are complete, ends the thread, closes all connections and removes the
 * socket; accepts NULL. */
void control_thread_free(struct control_thread *t);
DEFINE_CLEANUP(struct control_thread *, control_thread_free);

/* Listens on the socket of @session_dir again, which was removed and made again: the caller holds
 * its lock. Connections stay. 0 or -errno. */
int control_thread_renew(struct control_thread *t, const char *session_dir, struct error *err);
/* A descriptor, owned by the thread, that polls readable when the owner has work to do. */
int control_thread_fd(const struct control_thread *t);
/* Runs the commands that are waiting, and sends the answers that may be sent. */
void control_thread_run(struct control_thread *t);
/* Sends the answers that may be sent by now. Returns whether some may not, so it is to be called
 * again. */
bool control_thread_answer(struct control_thread *t);
