/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Confines the process that answers browsers: it may serve connections that it has accepted, and
 * cannot open files, start programs or connect anywhere.
 *
 *	r = web_confine_enter(err);
 */
#pragma once

#include "base/error.h"

/* Confines this process for good. Parts that the kernel lacks are reported and left out, unless
 * --sandbox asks for them. 0 or -errno. */
int web_confine_enter(struct error *err);
