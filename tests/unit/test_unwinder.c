/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This very process unwound: its registers, a copy of its stack, its mappings by /proc. */
#include "test.h"

#include "process/process_read.h"
#include "driver/perf/unwinder.h"
#include "identity/finder.h"
#include "identity/opener.h"
#include "parser/parser.h"
#include "unwind/unwind_chain.h"

#include <pthread.h>
#include <signal.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

DEFINE_CLEANUP(struct finder *, finder_free);

enum { DEPTH = 64 };

struct self {
	struct cookie_table *cookies;
	struct process_table processes;
	struct process *process;
	uint64_t pcs[DEPTH];
	size_t count;
	enum chain_end stop;
};

static void self_donep(struct self *s)
{
	process_table_clear(&s->processes);
	cookie_table_free(s->cookies);
}
#define _cleanup_self_ _cleanup_(self_donep)

static bool read_self(struct self *s)
{
	const struct process_source source = { "", cookie_table_new() };
	uint32_t tgid = (uint32_t)getpid();

	s->cookies = source.cookies;
	s->process = process_make(&s->processes, tgid);
	return CHECK(process_read(&s->processes, s->process, tgid, &source) == 0);
}

/* Where this thread's stack ends. */
static uint64_t stack_top(void)
{
	pthread_attr_t attr;
	void *lowest = NULL;
	size_t size = 0;

	if (pthread_getattr_np(pthread_self(), &attr) == 0) {
		(void)pthread_attr_getstack(&attr, &lowest, &size);
		(void)pthread_attr_destroy(&attr);
	}
	return (uint64_t)(uintptr_t)lowest + size;
}

/* Takes registers as they are written, in the order of DWARF numbers; none on other machines. */
static void take_registers(struct user_stack *stack, const ucontext_t *context)
{
#ifdef __x86_64__
	static const int order[] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
				     REG_RBP, REG_RSP, REG_R8,	REG_R9,	 REG_R10, REG_R11,
				     REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(order); i++)
		stack->regs[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
	stack->reg_count = ARRAY_SIZE(order);
	stack->sp = stack->regs[7];
#else
	(void)stack, (void)context;
#endif
}

/* What a signal interrupted, as the kernel would put it into a sample. */
static struct {
	struct user_stack stack;
	uint8_t copy[65536];
	size_t most; /* bytes to copy */
} sample;

static void on_signal(int signal, siginfo_t *info, void *context)
{
	struct iovec from, to = { sample.copy, sizeof(sample.copy) };

	(void)signal, (void)info;
	take_registers(&sample.stack, context);
	to.iov_len = MIN(sizeof(sample.copy), sample.most);
	to.iov_len = MIN(to.iov_len, (size_t)(stack_top() - sample.stack.sp));
	/* By the kernel: a sanitizer objects to reading what is no variable. */
	from = (struct iovec){ (void *)(uintptr_t)sample.stack.sp, to.iov_len };
	if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != (ssize_t)to.iov_len)
		sample.stack.reg_count = 0;
	sample.stack.bytes = span_of(sample.copy, to.iov_len);
}

/* Unwinds from here, over a copy of @bytes of the stack. False where that is not possible. */
static __attribute__((noinline)) bool unwind_here(struct self *s, struct unwinder *u, size_t bytes)
{
	const struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };

	sample.most = bytes;
	sample.stack.reg_count = 0;
	if (sigaction(SIGUSR1, &action, NULL) < 0 || raise(SIGUSR1) || !sample.stack.reg_count)
		return false;
	s->stop = unwinder_chain(u, s->process, &sample.stack, s->pcs, DEPTH, &s->count);
	return true;
}

static void this_process_is_unwound_to_its_entry(void)
{
	_cleanup_self_ struct self s = { NULL };
	_cleanup_(unwinder_freep) struct unwinder *u = NULL;
	uint64_t here = (uint64_t)(uintptr_t)__builtin_return_address(0);
	size_t i;

	if (!read_self(&s))
		return;
	u = unwinder_new(s.cookies, "", 0);
	if (!unwind_here(&s, u, SIZE_MAX))
		SKIP("not known how to take this machine's registers");
	CHECK_EQ(s.stop, CHAIN_END_COMPLETE);
	for (i = 0; i < s.count && s.pcs[i] != here; i++)
		continue;
	CHECK(i < s.count);
	CHECK(unwinder_stats(u)->counters.unwind_built >= 2);
}

/* Where SIGUSR2's handler, which raises SIGUSR1, was called from. */
static struct {
	uint64_t trampoline, interrupted;
} outer;

static void on_outer_signal(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)info;
#ifdef __x86_64__
	outer.interrupted = (uint64_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#else
	(void)context;
#endif
	outer.trampoline = (uint64_t)(uintptr_t)__builtin_return_address(0);
	(void)raise(SIGUSR1);
}

/* A handler's caller is the trampoline's first instruction, whose caller is the instruction that
 * was interrupted. Nothing was called there, so what is before either is not in the chain. */
static void what_a_signal_interrupted_is_no_return_address(void)
{
	const struct sigaction inner = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
	const struct sigaction action = { .sa_sigaction = on_outer_signal, .sa_flags = SA_SIGINFO };
	_cleanup_self_ struct self s = { NULL };
	_cleanup_(unwinder_freep) struct unwinder *u = NULL;
	size_t i;

	if (!read_self(&s))
		return;
	u = unwinder_new(s.cookies, "", 0);
	sample.most = SIZE_MAX;
	CHECK_EQ(sigaction(SIGUSR1, &inner, NULL), 0);
	CHECK_EQ(sigaction(SIGUSR2, &action, NULL), 0);
	CHECK_EQ(raise(SIGUSR2), 0);
	if (!sample.stack.reg_count)
		SKIP("not known how to take this machine's registers");
	s.stop = unwinder_chain(u, s.process, &sample.stack, s.pcs, DEPTH, &s.count);
	CHECK_EQ(s.stop, CHAIN_END_COMPLETE);
	for (i = 0; i < s.count && s.pcs[i] != outer.trampoline + 1; i++)
		continue;
	CHECK(i + 1 < s.count);
	CHECK_EQ(s.pcs[i + 1], outer.interrupted + 1);
}

static void a_short_copy_gives_a_short_chain(void)
{
	_cleanup_self_ struct self s = { NULL };
	_cleanup_(unwinder_freep) struct unwinder *u = NULL;

	if (!read_self(&s))
		return;
	u = unwinder_new(s.cookies, "", 0);
	if (!unwind_here(&s, u, 64))
		SKIP("not known how to take this machine's registers");
	CHECK_EQ(s.stop, CHAIN_END_COPY_SHORT);
	CHECK(s.count >= 1 && s.count < 4);
}

static void tables_without_a_budget_are_left_out(void)
{
	_cleanup_self_ struct self s = { NULL };
	_cleanup_(unwinder_freep) struct unwinder *u = NULL;

	if (!read_self(&s))
		return;
	u = unwinder_new(s.cookies, "", 100);
	if (!unwind_here(&s, u, SIZE_MAX))
		SKIP("not known how to take this machine's registers");
	CHECK_EQ(s.stop, CHAIN_END_NO_BUDGET);
	CHECK_EQ(s.count, 1);
	CHECK_EQ(unwinder_stats(u)->counters.unwind_refused, 1);
	CHECK_EQ(unwinder_stats(u)->bytes, 0);
}

static void a_chain_waits_for_tables_that_another_process_opens(void)
{
	_cleanup_(parser_freep) struct parser *parser = NULL;
	_cleanup_(opener_freep) struct opener *opener = NULL;
	_cleanup_(finder_freep) struct finder *finder = NULL;
	_cleanup_self_ struct self s = { NULL };
	_cleanup_(unwinder_freep) struct unwinder *u = NULL;
	int waits = 0;

	CHECK_EQ(parser_new(&parser, NULL), 0);
	CHECK_EQ(opener_new(parser, &opener, NULL), 0);
	CHECK_EQ(finder_new(opener, &finder, NULL), 0);
	if (!read_self(&s))
		return;
	cookie_table_parser(s.cookies, parser);
	cookie_table_finder(s.cookies, finder);
	u = unwinder_new(s.cookies, "", 0);
	if (!unwind_here(&s, u, SIZE_MAX))
		SKIP("not known how to take this machine's registers");
	CHECK_EQ(s.stop, CHAIN_END_NOT_LOADED);
	CHECK(!unwinder_waits(u));
	unwinder_may_wait(u, true);
	do {
		CHECK(unwind_here(&s, u, SIZE_MAX));
	} while (unwinder_waits(u) && ++waits < 100 && unwinder_await(u, 10000));
	CHECK(waits > 0);
	CHECK_EQ(s.stop, CHAIN_END_COMPLETE);
	CHECK(unwinder_stats(u)->counters.unwind_built >= 2);
}

TESTS(T(this_process_is_unwound_to_its_entry), T(what_a_signal_interrupted_is_no_return_address),
      T(a_short_copy_gives_a_short_chain), T(tables_without_a_budget_are_left_out),
      T(a_chain_waits_for_tables_that_another_process_opens))
