/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The daemon's side of the control socket. A client sends a line, "save monday", and gets lines of
 * "key value" and then ".", or one line "error: text". Nothing here ever waits: a client that is
 * slow, silent or hostile costs one of its user's few connections until its time is up.
 *
 *	struct control_server *server;
 *	control_server_new(&config, &server, err);
 *	control_server_run(server);	whenever control_server_fd(server) is readable
 *	control_server_free(server);
 *
 * The table of commands is all that the server knows of what can be asked; oprofilefs's nodes, when
 * they come, are more of the same.
 */
#pragma once

#include "base/error.h"
#include "base/strbuf.h"

#include <stddef.h>

#define CONTROL_END   "."
#define CONTROL_ERROR "error: "

enum {
	CONTROL_LINE_MAX = 1024,      /* bytes of a request */
	CONTROL_CLIENTS_MAX = 32,     /* connections at a time */
	CONTROL_CLIENTS_PER_USER = 8, /* of them of one user */
	CONTROL_CLIENT_TIME_MS = 5000 /* to send a request and fetch the answer */
};

struct control_command {
	const char *name;
	const char *arg; /* text after the name; NULL: none; "[LEVEL]": optional */
	/* Does it: adds to @answer by control_answer(); @arg is NULL if there is none. 0 or -errno,
	 * of which the text goes to the client; CONTROL_ADOPT: the connection goes to ->adopt. */
	int (*run)(const char *arg, struct strbuf *answer, void *data, struct error *err);
	const char *help;
};

/* After this answer the connection is no more one for requests. */
enum { CONTROL_ADOPT = 1 };

struct control_server_config {
	const char *session_dir; /* borrowed for control_server_new() */
	const char *group;	 /* its members may connect, besides owner and root; or NULL */
	const struct control_command *commands; /* borrowed; a NULL name ends the table */
	void *data;				/* for ->run and ->adopt */
	/* Takes a connection whose last request's run function returned CONTROL_ADOPT and whose
	 * answer has gone out. */
	void (*adopt)(int fd, void *data);
	int client_time_ms; /* 0: CONTROL_CLIENT_TIME_MS */
};

struct control_server;

/* Listens on the session's socket, whose lock the caller holds. Caller frees; 0 or -errno. */
int control_server_new(const struct control_server_config *config, struct control_server **ret,
		       struct error *err);
/* Closes all connections and removes the socket; NULL is fine. */
void control_server_free(struct control_server *server);

/* Polls readable when there is something to do; owned by the server. */
int control_server_fd(const struct control_server *server);
/* Does what there is to do; runs the commands that have arrived. */
void control_server_run(struct control_server *server);

/* Adds a line "key value" to an answer; control characters in the value become '?'. */
void control_answer(struct strbuf *answer, const char *key, const char *format, ...) _printf_(3, 4);
