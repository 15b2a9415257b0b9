/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The program that the kernel runs at each system call of a confined process (seccomp). We make it
 * ourselves, because libseccomp crashes or hangs if it runs out of memory.
 *
 *	_cleanup_(seccomp_filter_done) struct seccomp_filter f = { 0 };
 *	seccomp_filter_refuse(&f, SYS_clone3, ENOSYS);
 *	seccomp_filter_allow(&f, SYS_read, &row, 1);
 *	seccomp_filter_enter(&f);
 */
#pragma once

#include "base/macro.h"

#include <linux/filter.h>
#include <stddef.h>

struct seccomp_confine_call;

/* The caller's, zero at first. */
struct seccomp_filter {
	struct sock_filter *code;
	size_t count, room;
};

void seccomp_filter_done(struct seccomp_filter *f);

/* Call @number fails with @error. */
void seccomp_filter_refuse(struct seccomp_filter *f, int number, int error);
/* Call @number is allowed if its arguments are as one of the @count rows demands. */
void seccomp_filter_allow(struct seccomp_filter *f, int number,
			  const struct seccomp_confine_call *rows, size_t count);
/* Confines all threads of this process, and all that it starts, for good; calls that were not named
 * raise SIGSYS. 0 or -errno. */
int seccomp_filter_enter(struct seccomp_filter *f);
