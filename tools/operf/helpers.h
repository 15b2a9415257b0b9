/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes that help operf: one opens foreign files, one reads them, one rolls up the history,
 * one asks Java for names.
 * Start them before there are threads.
 *
 *	_cleanup_(helpers_done) struct helpers helpers = { 0 };
 *	r = helpers_start(&helpers, true, err);
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>

struct helpers {
	struct parser *parser;
	struct opener *opener;
	struct keeper *keeper;
	struct attacher *attacher; /* NULL: no Java virtual machine is asked */
};

/* Starts them, with @attach_java the one that asks Java, too; 0 or -errno. Then, too, the caller
 * ends them. */
int helpers_start(struct helpers *h, bool attach_java, struct error *err);
/* Ends them. */
void helpers_done(const struct helpers *h);
