/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Confines a process to a list of system calls (seccomp). Any other call fails with EPERM, and its
 * first use is reported, so that a call that is missing from the list shows up in the log.
 *
 *	static const struct seccomp_confine_call calls[] = {
 *		{ "read" },
 *		{ "socket", SECCOMP_CONFINE_IS(0, AF_UNIX) },
 *		{ "mmap", SECCOMP_CONFINE_WITHOUT(2, PROT_EXEC) },
 *	};
 *	seccomp_confine_enter(calls, ARRAY_SIZE(calls), say, &count, err);
 */
#pragma once

#include "base/error.h"
#include "helper/seccomp_call.h"

#include <stdbool.h>
#include <stdint.h>

/* Is called on the first refusal of each call, in a signal handler. @name is "?" for a number
 * without a name. */
typedef void seccomp_confine_say(const char *name, int number);

/* Confines all threads of this process, and all that it starts, for good. They must not block
 * SIGSYS. 0 with the number of different calls allowed in *@ret_count, which may be NULL; -ENOTSUP
 * if built without libseccomp; or -errno. */
int seccomp_confine_enter(const struct seccomp_confine_call *calls, size_t count,
			  seccomp_confine_say *say, size_t *ret_count, struct error *err);
/* Whether this program was built with libseccomp. */
bool seccomp_confine_can(void);
