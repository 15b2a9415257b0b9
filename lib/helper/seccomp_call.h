/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A row of a list of system calls to which a process confines itself (helper/seccomp_confine.h).
 *
 *	{ "socket", SECCOMP_CONFINE_IS(0, AF_UNIX) }
 */
#pragma once

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
