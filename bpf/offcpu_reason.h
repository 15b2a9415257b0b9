/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why a task left its CPU, as the program in the kernel and user space number it. Each reason is an
 * event of its own, OFFCPU_NAME, if it is requested.
 *
 *	enum offcpu_reason reason;
 *	for (reason = 0; reason < OFFCPU_REASON_COUNT_; reason++)
 *		printf("%d", reason);
 */
#pragma once

enum offcpu_reason {
	OFFCPU_LOCK,  /* another thread: futex, lock of a file, lock in the kernel */
	OFFCPU_IO,    /* disk, socket, pipe, terminal */
	OFFCPU_SLEEP, /* time to pass; and all other waits */
	OFFCPU_QUEUE, /* a CPU: it could run, but another task did */
	OFFCPU_FAULT, /* a page of memory */
	OFFCPU_IDLE,  /* work: poll(), accept(), the end of a child or a thread */
	OFFCPU_REASON_COUNT_
};
