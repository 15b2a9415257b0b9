/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The server of opweb: answers requests for the page, and for its data, which a function of the
 * caller's makes. It has one thread and never waits for a client.
 *
 *	r = web_server_run(&config, &is_over, err);
 */
#pragma once

#include "base/error.h"
#include "tools/opweb/web_request.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

struct web_server_config {
	const struct web_policy *policy;
	int socket;	  /* listening; borrowed */
	int64_t lasts_ms; /* how long to serve; 0: until it is over */
	/* Makes the data, which the caller frees, or a message for people. Returns 0 or -errno. */
	int (*make)(void *data, char **ret, size_t *ret_size);
	void *data; /* for ->make */
};

/* Serves until *@is_over, which a signal handler sets, or the time is over. 0 or -errno. */
int web_server_run(const struct web_server_config *config, const volatile sig_atomic_t *is_over,
		   struct error *err);
