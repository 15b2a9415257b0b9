/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fetches files from debuginfod servers for a confined child (tools/common/confine.h), which may
 * not use the network: the child asks through a socket, and the parent fetches.
 *
 *	fetch_serve(socket, NULL);			the parent
 *	fetch_ask(wants, count, socket, err);		the child
 */
#pragma once

#include "base/error.h"

#include <stddef.h>

struct debuginfod_want;

/* Has the parent fetch @wants; returns as debuginfod_fetch(). */
int fetch_ask(struct debuginfod_want *wants, size_t count, int socket, struct error *err);
/* Serves the child until it closes the socket. @data is the struct debuginfod_progress, or NULL.
 * The child is not trusted: it can only have files fetched by build-id. */
void fetch_serve(int socket, void *data);
