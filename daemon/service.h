/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The daemon's main loop, over signals, the control socket, the driver and a few timers. A
 * collector does the profiling; the loop decides when. Nothing wakes the daemon while it is not
 * sampling.
 *
 *	service_new(&options, &helpers, &service, err);
 *	log_info("samples are drained at %s", service_prefer(service, true));
 *	service_run(service, err);		until asked to end
 *	service_free(service);
 */
#pragma once

#include "base/error.h"
#include "base/macro.h"
#include "base/strbuf.h"

#include <stdbool.h>

struct attacher;
struct keeper;
struct parser;
struct service;
struct daemon_options;

/* The processes that open and read foreign files, look events up, roll up the history, and ask
 * Java for names. */
struct service_helpers {
	struct event_box *events;
	struct opener *opener;
	struct parser *parser;
	struct keeper *keeper;
	struct attacher *attacher; /* or NULL */
};

/* Sets up the collector, the control socket and signal handling, and starts sampling if @options
 * say so. @options and @helpers are borrowed and must outlive it; settings written to oprofilefs
 * change @options. Caller frees; 0 or -errno. */
int service_new(struct daemon_options *options, const struct service_helpers *helpers,
		struct service **ret, struct error *err);
/* Lets this thread, which will run it, go before ordinary programs (urgent.h); with @has_session,
 * its session, too. Returns how, for the log. */
const char *service_prefer(struct service *service, bool has_session);
/* What the last samples or their counters could not be saved for is in the log. */
enum { SERVICE_UNSAVED = 1 };
/* Runs until SIGTERM, SIGINT or the command "shutdown", then stops and records all samples. Returns
 * 0, SERVICE_UNSAVED, or -errno. */
int service_run(struct service *service, struct error *err);
/* NULL is fine. */
void service_free(struct service *service);
DEFINE_CLEANUP(struct service *, service_free);

/* The driver's name; borrowed. */
const char *service_driver(const struct service *service);
/* One line: what samples and why; borrowed. */
const char *service_why(const struct service *service);
