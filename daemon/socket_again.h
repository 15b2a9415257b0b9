/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The control socket after the session directory was removed. */
#pragma once

#include <stdbool.h>

struct collector;
struct control_thread;

/* A plain value, zero at first. */
struct socket_again {
	bool is_due, has_failed;
};

/* Makes the socket in @session_dir again if the collector has made that again since the last call;
 * says so in the log. If it cannot be made, the next call tries again. */
void socket_again(struct socket_again *s, struct collector *c, struct control_thread *control,
		  const char *session_dir);
