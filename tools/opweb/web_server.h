/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The server of opweb: answers requests for the page, and for data, which another process makes. It
 * has one thread, never waits for a client, and confines its process.
 *
 *	r = web_server_run(&config, &is_over, err);
 */
#pragma once

#include "base/error.h"
#include "tools/opweb/web_request.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct web_server_config {
	const struct web_policy *policy;
	int socket;	  /* listening; borrowed */
	int64_t idle_ms;  /* how long to wait for a request; 0: until it is over */
	int64_t lasts_ms; /* how long to serve; 0: until it is over */
	int maker;	  /* the socket for web_maker_ask(); borrowed */
	bool is_early;	  /* makes data before somebody asks for them */
};

/* Serves until *@is_over, which a signal handler sets, or the time is over. 0 or -errno. */
int web_server_run(const struct web_server_config *config, const volatile sig_atomic_t *is_over,
		   struct error *err);
