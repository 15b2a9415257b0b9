/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the daemon may use of the machine, as daemonrc has it: texts such as "0.5%", "256M", "10%",
 * checked alike by those who store them and those who go by them.
 *
 *	struct limits limits;
 *	if (limits_read(&rc, &limits, err) == 0)
 *		bytes = limits_bytes(&limits.disk, size_of_the_file_system);
 */
#pragma once

#include "base/error.h"

#include <stdint.h>

struct daemonrc;

/* A size: bytes, or a share of something up to so many bytes. */
struct limit {
	uint64_t bytes; /* 0: no limit */
	double share;	/* 0: it is a number of bytes */
	uint64_t least; /* of a share, in bytes */
};

struct limits {
	double cpu;	   /* share of each CPU's time; 0: no limit */
	uint64_t memory;   /* resident bytes; 0: no limit */
	struct limit disk; /* of the session directory */
	struct limit keep_free;
	uint64_t files; /* descriptors; 0: as many as there can be */
};

/* The limits that @rc sets, the defaults where it sets none; 0, or -EINVAL naming the key. */
int limits_read(const struct daemonrc *rc, struct limits *ret, struct error *err);
/* What @limit comes to where the whole has @all bytes; 0: no limit. */
uint64_t limits_bytes(const struct limit *limit, uint64_t all);
