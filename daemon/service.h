/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The daemon at work: one loop over signals, the control socket, the driver and a few timers. A
 * collector does the profiling; here is only when. Nothing wakes it while it does not sample.
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

/* Sets collector and control socket up, starts if the options say so, takes over the signals that
 * it handles. @options and @parser, which reads files for it, stay the caller's and must outlive
 * it; what is written to oprofilefs changes the settings. Caller frees; 0 or -errno. */
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
