/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system calls of a daemon that is set up: all others are refused from then on, and the log
 * says which.
 *
 *	seccomp_list_confine(err);
 */
#pragma once

#include "base/error.h"

/* Refuses this process all other system calls, for good; says in the log how many are left. 0, or
 * -errno where that cannot be had. */
int seccomp_list_confine(struct error *err);
