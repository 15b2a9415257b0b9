/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system calls that the daemon needs once it is set up. The kernel refuses all others from then
 * on, and the log names those that were tried.
 *
 *	seccomp_list_confine(err);
 */
#pragma once

#include "base/error.h"

/* Has the kernel refuse this process all other system calls, for good; logs how many are left. 0,
 * or -errno if seccomp does not work here. */
int seccomp_list_confine(struct error *err);
