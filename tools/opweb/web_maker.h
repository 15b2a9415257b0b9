/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process that makes answers. The server, which talks to browsers, is confined and reads no
 * profile; it asks this process, its parent, which reads the profile in a child for each question,
 * some at the same time. They are connected by a socket of packets: a question is a number and a
 * text, an answer is that number and a file.
 *
 *	web_maker_serve(socket, &is_over, &how);	in the parent
 *	r = web_maker_ask(socket, 7, "data");		in the server
 *	r = web_maker_take(socket, &number, &status, &fd);	when the socket can be read
 */
#pragma once

#include "base/error.h"

#include <signal.h>
#include <stdint.h>

struct web_maker {
	/* Runs in a child: prints the answer, or a message for people, on standard output. Returns
	 * the exit status, 0 for an answer. */
	int (*print)(const void *data, const char *question);
	const void *data;
};

/* Answers questions until the other end is closed or *@is_over. */
void web_maker_serve(int socket, const volatile sig_atomic_t *is_over, const struct web_maker *how);
/* Asks for the answer with this number. 0 or -errno: -EAGAIN if too many questions wait. */
int web_maker_ask(int socket, uint32_t number, const char *question);
/* Takes the next answer: its number; *@ret_status, 0, -EIO if the file is a message for people, or
 * another -errno; and the file, which the caller closes, or -1. Waits if there is none. 0 or
 * -errno. */
int web_maker_take(int socket, uint32_t *ret_number, int *ret_status, int *ret_file);
