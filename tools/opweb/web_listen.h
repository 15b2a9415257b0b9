/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where opweb listens: a port of an address, or a Unix socket.
 *
 *	struct web_listen at;
 *	if (web_listen_open("127.0.0.1:8123", &at, err) == 0)
 *		printf("%s %u\n", at.host, at.port);
 *	web_listen_close(&at);
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct web_listen {
	int fd;	       /* -1: closed */
	char host[64]; /* as in a URL: "127.0.0.1", "[::1]" */
	uint16_t port;
	bool is_unix;
	char *path; /* of a Unix socket that was made here, else NULL */
};

/* Listens at @text: "PORT", "ADDRESS:PORT", "[ADDRESS]:PORT", or a path with a slash; NULL is any
 * port of 127.0.0.1. 0, the caller closes; or -errno. */
int web_listen_open(const char *text, struct web_listen *ret, struct error *err);
/* Takes the socket that systemd passed (sd_listen_fds(3)). 1, the caller closes; 0 if none was
 * passed; or -errno. */
int web_listen_take(struct web_listen *ret, struct error *err);
/* Closes the socket, and removes its file. */
void web_listen_close(struct web_listen *at);
