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
#include "base/log.h"
#include "base/strbuf.h"
#include "control/answer.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	CONTROL_LINE_MAX = 1024,       /* bytes of a request */
	CONTROL_CLIENTS_MAX = 32,      /* simultaneous connections */
	CONTROL_CLIENTS_PER_USER = 8,  /* of these, for one user */
	CONTROL_CLIENT_TIME_MS = 5000, /* to send a request and read the answer */
	CONTROL_SAY_MAX = 256	       /* bytes of a line for the log */
};

struct control_command {
	const char *name;
	const char *arg; /* argument shown after the name; NULL: none; "[LEVEL]": optional */
	/* Runs the command and appends to @answer with control_answer(); @arg is NULL if none was
	 * sent. Returns 0; -errno, in which case the text of @err is sent to the client; or
	 * CONTROL_ADOPT to pass the connection to ->adopt. NULL: ->peek always answers. */
	int (*run)(const char *arg, struct strbuf *answer, void *data, struct error *err);
	const char *help;
	/* Answers without ->run where requests are passed on. Returns as ->run, or CONTROL_PASSED
	 * if only ->run can answer. NULL: only ->run can. */
	int (*peek)(const char *arg, struct strbuf *answer, void *data, struct error *err);
};

enum {
	CONTROL_ADOPT = 1, /* after its answer, the connection carries no more requests */
	CONTROL_PASSED,	   /* the answer comes later, by control_server_answer() */
};

struct control_server_config {
	const char *session_dir; /* borrowed during control_server_new() */
	const char *group;	 /* members may connect, besides owner and root; or NULL */
	const struct control_command *commands; /* borrowed; ends with a NULL name */
	void *data;				/* passed to all functions but ->peek */
	void *peek_data;			/* passed to ->peek */
	/* Takes over a connection once the answer to a command that returned CONTROL_ADOPT is
	 * sent. */
	void (*adopt)(int fd, void *data);
	/* Runs the command elsewhere; then control_server_answer() must be called with
	 * @ticket, after this has returned. NULL: ->run is called here. */
	void (*pass)(uint32_t ticket, const struct control_command *c, const char *arg, void *data);
	/* Is called after each request; may wait. NULL: nothing is called. */
	void (*served)(void *data);
	/* Writes a line to the log; NULL: log_line(). */
	void (*say)(enum log_level level, const char *text, void *data);
	int client_time_ms; /* 0: CONTROL_CLIENT_TIME_MS */
};

struct control_server;

/* Creates a server listening on the session's socket; the caller holds the session's lock. Returns
 * 0 or -errno; caller frees. */
int control_server_new(const struct control_server_config *config, struct control_server **ret,
		       struct error *err);
/* Closes all connections and removes the socket; accepts NULL. */
void control_server_free(struct control_server *server);

/* The group whose members may connect; (gid_t)-1: none. */
gid_t control_server_group(const struct control_server *server);
/* Listens on @listener, of control_listen(), instead, in another @directory; takes both.
 * Connections stay. */
void control_server_move(struct control_server *server, int directory, int listener);
/* A descriptor, owned by the server, that polls readable when there is work to do. */
int control_server_fd(const struct control_server *server);
/* Does all pending work: accepts clients, runs commands that have arrived, sends answers. */
void control_server_run(struct control_server *server);

/* Answers the request that was passed on with @ticket, as its command returned @r, with @answer or
 * @err. The client may have gone meanwhile. */
void control_server_answer(struct control_server *server, uint32_t ticket, int r,
			   const struct strbuf *answer, struct error *err);
