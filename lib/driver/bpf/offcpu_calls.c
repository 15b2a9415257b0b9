/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/bpf/offcpu_calls.h"

#include "base/macro.h"
#include "bpf/sample.h"

#include <stdint.h>
#include <sys/syscall.h>

/* Calls that only older architectures have are above the calls that all have. */
static const struct {
	uint16_t number;
	uint8_t reason; /* enum offcpu_reason */
} calls[] = {
#ifdef SYS_poll
	{ SYS_accept, OFFCPU_IDLE },
	{ SYS_epoll_wait, OFFCPU_IDLE },
	{ SYS_mkdir, OFFCPU_IO },
	{ SYS_open, OFFCPU_IO },
	{ SYS_pause, OFFCPU_IDLE },
	{ SYS_poll, OFFCPU_IDLE },
	{ SYS_rename, OFFCPU_IO },
	{ SYS_rmdir, OFFCPU_IO },
	{ SYS_select, OFFCPU_IDLE },
	{ SYS_stat, OFFCPU_IO },
	{ SYS_unlink, OFFCPU_IO },
	{ SYS_vfork, OFFCPU_IDLE },
#endif
	/* Waits for work. */
	{ SYS_accept4, OFFCPU_IDLE },
	{ SYS_clone, OFFCPU_IDLE }, /* as vfork() and posix_spawn() call it */
	{ SYS_clone3, OFFCPU_IDLE },
	{ SYS_epoll_pwait, OFFCPU_IDLE },
	{ SYS_epoll_pwait2, OFFCPU_IDLE },
	{ SYS_io_getevents, OFFCPU_IDLE },
	{ SYS_mq_timedreceive, OFFCPU_IDLE },
	{ SYS_msgrcv, OFFCPU_IDLE },
	{ SYS_ppoll, OFFCPU_IDLE },
	{ SYS_pselect6, OFFCPU_IDLE },
	{ SYS_rt_sigsuspend, OFFCPU_IDLE },
	{ SYS_rt_sigtimedwait, OFFCPU_IDLE },
	{ SYS_wait4, OFFCPU_IDLE },
	{ SYS_waitid, OFFCPU_IDLE },
	/* Waits for another thread. */
	{ SYS_fcntl, OFFCPU_LOCK },
	{ SYS_flock, OFFCPU_LOCK },
	{ SYS_futex, OFFCPU_LOCK },
	{ SYS_semop, OFFCPU_LOCK },
	{ SYS_semtimedop, OFFCPU_LOCK },
	/* Input and output. */
	{ SYS_connect, OFFCPU_IO },
	{ SYS_copy_file_range, OFFCPU_IO },
	{ SYS_fdatasync, OFFCPU_IO },
	{ SYS_fsync, OFFCPU_IO },
	{ SYS_getdents64, OFFCPU_IO },
	{ SYS_io_uring_enter, OFFCPU_IO },
	{ SYS_msync, OFFCPU_IO },
	{ SYS_openat, OFFCPU_IO },
	{ SYS_pread64, OFFCPU_IO },
	{ SYS_preadv, OFFCPU_IO },
	{ SYS_pwrite64, OFFCPU_IO },
	{ SYS_pwritev, OFFCPU_IO },
	{ SYS_read, OFFCPU_IO },
	{ SYS_readv, OFFCPU_IO },
	{ SYS_recvfrom, OFFCPU_IO },
	{ SYS_recvmmsg, OFFCPU_IO },
	{ SYS_recvmsg, OFFCPU_IO },
	{ SYS_sendfile, OFFCPU_IO },
	{ SYS_sendmmsg, OFFCPU_IO },
	{ SYS_sendmsg, OFFCPU_IO },
	{ SYS_sendto, OFFCPU_IO },
	{ SYS_splice, OFFCPU_IO },
	{ SYS_sync, OFFCPU_IO },
	{ SYS_syncfs, OFFCPU_IO },
	{ SYS_unlinkat, OFFCPU_IO },
	{ SYS_write, OFFCPU_IO },
	{ SYS_writev, OFFCPU_IO },
	/* Time to pass. */
	{ SYS_clock_nanosleep, OFFCPU_SLEEP },
	{ SYS_nanosleep, OFFCPU_SLEEP },
	{ SYS_restart_syscall, OFFCPU_SLEEP },
};

void offcpu_calls_fill(struct sample_config *config)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		if (calls[i].number < SAMPLE_CALLS_MAX)
			config->offcpu_calls[calls[i].number] = (uint8_t)(calls[i].reason + 1);
	config->futex = SYS_futex;
}
