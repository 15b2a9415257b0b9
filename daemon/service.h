/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The daemon's main loop, over signals, the control socket, the driver and a few timers. A
 * collector does the profiling; this decides when. Nothing wakes the daemon while it does not
 * sample.
 *
 *	service_new(&options, parser, &service, err);
 *	service_run(service, err);		until told to end
 *	service_free(service);
 */
#pragma once

#include "base/error.h"
#include "base/macro.h"
#include "base/strbuf.h"

struct parser;
struct service;
struct daemon_options;

/* Sets up collector and control socket, starts sampling if @options ask for it, and takes over the
 * signals that it handles. @options and @parser, which reads files for it, are borrowed and must
 * outlive it; settings written to oprofilefs change @options. Caller frees; 0 or -errno. */
int service_new(struct daemon_options *options, struct parser *parser, struct service **ret,
		struct error *err);
/* Serves until SIGTERM, SIGINT or the command "shutdown", then stops and records all. 0 or -errno
 * of what could not be recorded. */
int service_run(struct service *service, struct error *err);
/* NULL is fine. */
void service_free(struct service *service);
DEFINE_CLEANUP(struct service *, service_free);

/* The driver's name; borrowed. */
const char *service_driver(const struct service *service);
/* One line: what samples and why; borrowed. */
const char *service_why(const struct service *service);
