/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system calls that the daemon needs once it is set up. The kernel then refuses all others, and
 * the log names those that were tried.
 *
 *	seccomp_list_confine(err);
 */
#pragma once

#include "base/error.h"

/* Makes the kernel refuse this process all other system calls for good; logs how many are left.
 * Returns 0, or -errno if seccomp does not work here. */
int seccomp_list_confine(struct error *err);
