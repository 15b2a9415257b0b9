/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Confines a process to the system calls that it needs (seccomp). A call that is not in the list
 * fails with EPERM, and the first of each name is told of, so that a list that misses one is found
 * by its first line in a log.
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

/* A call that is allowed, of those with an argument that (argument & mask) == value. Names that
 * this machine does not have are passed over. The same name may stand in several rows. */
struct seccomp_confine_call {
	const char *name;
	bool limited;
	unsigned int argument; /* from 0 */
	uint64_t mask, value;
};

#define SECCOMP_CONFINE_IS(argument, value)	      true, (argument), UINT64_MAX, (value)
#define SECCOMP_CONFINE_MASKED(argument, mask, value) true, (argument), (mask), (value)
#define SECCOMP_CONFINE_WITHOUT(argument, bits)	      true, (argument), (bits), 0
#define SECCOMP_CONFINE_WITH(argument, bits)	      true, (argument), (bits), (bits)

/* Told of the first refusal of each call; runs in a signal handler. @name is "?" for a number that
 * has none. */
typedef void seccomp_confine_say(const char *name, int number);

/* Confines all threads of this process, and whatever it starts, for good. They must not block
 * SIGSYS. 0 and the number of different calls that are allowed in *@ret_count (may be NULL);
 * -ENOTSUP where this program was built without libseccomp; -errno. */
int seccomp_confine_enter(const struct seccomp_confine_call *calls, size_t count,
			  seccomp_confine_say *say, size_t *ret_count, struct error *err);
/* Whether seccomp_confine_enter() can work at all. */
bool seccomp_confine_can(void);
