/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The daemon's side of the control socket. A client sends a line such as "save monday" and receives
 * "key value" lines followed by ".", or a single line "error: text". The server never blocks: a
 * slow, silent or hostile client only occupies one of its user's few connections until it times
 * out. The caller owns the server and frees it.
 *
 *	struct control_server *server;
 *	control_server_new(&config, &server, err);
 *	control_server_run(server);	whenever control_server_fd(server) is readable
 *	control_server_free(server);
 *
 * The server knows only the commands in the table that it is passed.
 */
#pragma once

#include "base/error.h"
#include "base/strbuf.h"

#include <stddef.h>

#define CONTROL_END   "."
#define CONTROL_ERROR "error: "

enum {
	CONTROL_LINE_MAX = 1024,      /* bytes of a request */
	CONTROL_CLIENTS_MAX = 32,     /* simultaneous connections */
	CONTROL_CLIENTS_PER_USER = 8, /* of these, for one user */
	CONTROL_CLIENT_TIME_MS = 5000 /* to send a request and read the answer */
};

struct control_command {
	const char *name;
	const char *arg; /* argument shown after the name; NULL: none; "[LEVEL]": optional */
	/* Runs the command and appends to @answer with control_answer(); @arg is NULL if none was
	 * sent. Returns 0; -errno, in which case the text of @err is sent to the client; or
	 * CONTROL_ADOPT to pass the connection to ->adopt. */
	int (*run)(const char *arg, struct strbuf *answer, void *data, struct error *err);
	const char *help;
};

/* After its answer, the connection carries no more requests. */
enum { CONTROL_ADOPT = 1 };

struct control_server_config {
	const char *session_dir; /* borrowed during control_server_new() */
	const char *group;	 /* members may connect, besides owner and root; or NULL */
	const struct control_command *commands; /* borrowed; ends with a NULL name */
	void *data;				/* passed to ->run and ->adopt */
	/* Takes over a connection once the answer to a command that returned CONTROL_ADOPT is
	 * sent. */
	void (*adopt)(int fd, void *data);
	int client_time_ms; /* 0: CONTROL_CLIENT_TIME_MS */
};

struct control_server;

/* Creates a server listening on the session's socket; the caller holds the session's lock. Returns
 * 0 or -errno; caller frees. */
int control_server_new(const struct control_server_config *config, struct control_server **ret,
		       struct error *err);
/* Closes all connections and removes the socket; accepts NULL. */
void control_server_free(struct control_server *server);

/* A descriptor, owned by the server, that polls readable when there is work to do. */
int control_server_fd(const struct control_server *server);
/* Does all pending work: accepts clients, runs commands that have arrived, sends answers. */
void control_server_run(struct control_server *server);

/* Appends a "key value" line to an answer; control characters in the value become '?'. */
void control_answer(struct strbuf *answer, const char *key, const char *format, ...) _printf_(3, 4);
