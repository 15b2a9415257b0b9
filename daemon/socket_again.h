/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The control socket after the session directory was removed. */
#pragma once

struct collector;
struct control_thread;

/* Makes the socket in @session_dir again if the collector has made that again since the last call;
 * says so in the log. */
void socket_again(struct collector *c, struct control_thread *control, const char *session_dir);
