/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the daemon may use of the machine, as daemonrc has it: texts such as "0.5%", checked alike
 *by those who store them and those who go by them.
 *
 *	struct limits limits;
 *	limits_read(&rc, &limits, err);
 */
#pragma once

#include "base/error.h"

#include <stdint.h>

struct daemonrc;

struct limits {
	double cpu; /* share of each CPU's time; 0: no limit */
};

/* The limits that @rc sets, the defaults where it sets none; 0, or -EINVAL naming the key. */
int limits_read(const struct daemonrc *rc, struct limits *ret, struct error *err);
