/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process that makes answers. The server, which talks to browsers, is confined and reads no
 * profile; it asks this process, its parent, which reads the profile in a child for each question.
 * They are connected by a socket of packets: a question is a text, an answer is a file.
 *
 *	web_maker_serve(socket, &is_over, &how);	in the parent
 *	r = web_maker_ask(socket, "data", &fd);		in the server
 */
#pragma once

#include "base/error.h"

#include <signal.h>

struct web_maker {
	/* Runs in a child: prints the answer, or a message for people, on standard output. Returns
	 * the exit status, 0 for an answer. */
	int (*print)(const void *data, const char *question);
	const void *data;
};

/* Answers questions until the other end is closed or *@is_over. */
void web_maker_serve(int socket, const volatile sig_atomic_t *is_over, const struct web_maker *how);
/* Asks, and waits for the answer. 0 with a file in *@ret, which the caller closes; -EIO if that is
 * a message for people; or another -errno. */
int web_maker_ask(int socket, const char *question, int *ret);
