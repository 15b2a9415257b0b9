/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "perf/user_stack.h"

#include "base/macro.h"
#include "test.h"

#include <errno.h>
#include <linux/perf_event.h>

#ifdef __x86_64__
enum { REG_AX = 0, REG_IP = 8, REG_COUNT = 17 };

/* The PC of the frame of a thread with these values of rax and rip. */
static uint64_t pc_of(int64_t ax, uint64_t ip, bool in_user)
{
	uint64_t words[2 + REG_COUNT] = { PERF_SAMPLE_REGS_ABI_64 };
	struct span more = span_of(words, sizeof(words));
	struct unwind_frame frame;
	struct user_stack stack;

	words[1 + REG_AX] = (uint64_t)ax;
	words[1 + REG_IP] = ip;
	CHECK_EQ(user_stack_decode(&more, &stack), 1);
	stack.in_user = in_user;
	user_stack_frame(&stack, &frame);
	return frame.pc;
}

static void only_a_thread_in_the_kernel_is_at_its_system_call(void)
{
	CHECK_EQ(pc_of(-ENOSYS, 0x400123, false), 0x400121);
	CHECK_EQ(pc_of(0, 0x400123, false), 0x400123);
	/* A system call that does not exist has returned, and the next instruction runs. */
	CHECK_EQ(pc_of(-ENOSYS, 0x400123, true), 0x400123);
}
#else
static void only_a_thread_in_the_kernel_is_at_its_system_call(void)
{
	SKIP("other machines do not say whether a system call has a result");
}
#endif

TESTS(T(only_a_thread_in_the_kernel_is_at_its_system_call))
