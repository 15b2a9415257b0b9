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

#include <stdbool.h>
#include <stdint.h>

/* A call that is allowed; if ->limited, only with (argument & mask) == value, and if ->limited_too,
 * only if that is so of another argument, too. Names that this machine does not have are ignored. A
 * name may have several rows.
 *
 * If fstat(2) is in the list and newfstatat(2) is not, the latter still works as the former with an
 * empty path. The C library calls it so, and a filter cannot read the path. */
struct seccomp_confine_call {
	const char *name;
	bool limited;
	unsigned int argument; /* from 0 */
	uint64_t mask, value;
	bool limited_too;
	unsigned int argument_too;
	uint64_t mask_too, value_too;
};

#define SECCOMP_CONFINE_IS(argument, value)	      true, (argument), UINT64_MAX, (value)
#define SECCOMP_CONFINE_MASKED(argument, mask, value) true, (argument), (mask), (value)
#define SECCOMP_CONFINE_WITHOUT(argument, bits)	      true, (argument), (bits), 0
#define SECCOMP_CONFINE_WITH(argument, bits)	      true, (argument), (bits), (bits)

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
