/* SPDX-License-Identifier: GPL-2.0-or-later */
/* truth_unwind KIND SECONDS [THREADS]: spends its time at the end of known call chains, through
 * every kind of code that is hard to unwind. KIND is one of those below, or "all", which
 * alternates. Prints "chain KIND LEAF CALLER ...", up to the common function work. */
#include "truth.h"

#include <alloca.h>
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = 100000, DEPTH = 200 };

/* Keeps the compiler from inlining, from cutting the function in pieces, from making one of two,
 * and from jumping where the source calls. */
#define FUNCTION __attribute__((noinline, noclone, noipa))
#ifdef __clang__
#undef FUNCTION
#define FUNCTION __attribute__((noinline, optnone))
#endif
#define AFTER_CALL() __asm__ volatile("" ::: "memory")

static volatile uint64_t sink;
static const char *plugin; /* path of a library with a function plug_a; NULL: there is none */
static jmp_buf back;

TRUTH_CHAIN(leaf)

FUNCTION void recursion(int depth);
void recursion(int depth)
{
	if (depth)
		recursion(depth - 1);
	else
		sink = leaf(STEPS);
	AFTER_CALL();
}

static void run_recursion(void)
{
	recursion(DEPTH - 1);
}

FUNCTION void handler(int signal);
void handler(int signal)
{
	sink = (uint64_t)signal + leaf(STEPS);
	AFTER_CALL();
}

static void raise_with(int flags)
{
	static char stack[1 << 16];
	const stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };
	const stack_t none = { .ss_flags = SS_DISABLE };
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	(void)sigaltstack(flags ? &alternate : &none, NULL);
	(void)sigaction(SIGUSR1, &action, NULL);
	(void)raise(SIGUSR1);
	AFTER_CALL();
}

FUNCTION void run_signal(void);
void run_signal(void)
{
	raise_with(0);
	AFTER_CALL();
}

FUNCTION void run_altstack(void);
void run_altstack(void)
{
	raise_with(SA_ONSTACK);
	AFTER_CALL();
}

/* By hand: a function whose first instruction traps, directly after one that is never called. */
void never_called(void);
void traps_first(void);
#if defined(__x86_64__)
#define TRAP "ud2"
enum { TRAP_BYTES = 2 };
#else
#define TRAP "udf #0"
enum { TRAP_BYTES = 4 };
#endif
__asm__(".text\n.globl never_called\n.type never_called, %function\n"
	"never_called:\n.cfi_startproc\nret\n.cfi_endproc\n.size never_called, .-never_called\n"
	".globl traps_first\n.type traps_first, %function\n"
	"traps_first:\n.cfi_startproc\n" TRAP "\nret\n.cfi_endproc\n"
	".size traps_first, .-traps_first\n");

FUNCTION void on_trap(int signal, siginfo_t *info, void *context);
void on_trap(int signal, siginfo_t *info, void *context)
{
	mcontext_t *registers = &((ucontext_t *)context)->uc_mcontext;

	(void)signal, (void)info;
	sink = leaf(STEPS);
	AFTER_CALL();
#if defined(__x86_64__)
	registers->gregs[REG_RIP] += TRAP_BYTES;
#else
	registers->pc += TRAP_BYTES;
#endif
}

FUNCTION void run_trap(void);
void run_trap(void)
{
	const struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };

	(void)sigaction(SIGILL, &action, NULL);
	traps_first();
	AFTER_CALL();
}

/* The call is the function's last instruction: its return address is after the function. */
FUNCTION __attribute__((noreturn)) void never_returns(void);
void never_returns(void)
{
	sink = leaf(STEPS);
	longjmp(back, 1);
}

FUNCTION __attribute__((noreturn)) void calls_at_its_end(void);
void calls_at_its_end(void)
{
	never_returns();
}

FUNCTION void run_noreturn(void);
void run_noreturn(void)
{
	if (!setjmp(back))
		calls_at_its_end();
	AFTER_CALL();
}

FUNCTION void with_alloca(size_t size);
void with_alloca(size_t size)
{
	char *memory = alloca(size);

	memset(memory, 1, size);
	__asm__ volatile("" : : "r"(memory) : "memory");
	sink = leaf(STEPS);
	AFTER_CALL();
}

FUNCTION void run_alloca(void);
void run_alloca(void)
{
	with_alloca(100 + (size_t)(sink & 1023));
	AFTER_CALL();
}

FUNCTION void realigned(size_t size);
void realigned(size_t size)
{
	_Alignas(128) char aligned[128];
	char *memory = alloca(size);

	memset(aligned, 2, sizeof(aligned));
	__asm__ volatile("" : : "r"(memory), "r"(aligned) : "memory");
	sink = leaf(STEPS);
	AFTER_CALL();
}

FUNCTION void run_realigned(void);
void run_realigned(void)
{
	realigned(100 + (size_t)(sink & 1023));
	AFTER_CALL();
}

/* All of it written: what the kernel copies of a stack ends at the first page that is not there. */
#define FRAME_OF(bytes, name)                                                                      \
	FUNCTION void name(void);                                                                  \
	void name(void)                                                                            \
	{                                                                                          \
		char memory[bytes];                                                                \
                                                                                                   \
		memset(memory, 3, sizeof(memory));                                                 \
		__asm__ volatile("" : : "r"(memory) : "memory");                                   \
		sink = leaf(STEPS);                                                                \
		AFTER_CALL();                                                                      \
	}
FRAME_OF(20000, large_frame)
FRAME_OF(40000, huge_frame) /* more than the driver perf has copied */

FUNCTION void run_large(void);
void run_large(void)
{
	large_frame();
	AFTER_CALL();
}

FUNCTION void run_huge(void);
void run_huge(void)
{
	huge_frame();
	AFTER_CALL();
}

#if defined(__x86_64__)
/* By hand: the CFA counted from rbx, then saved in memory. */
void by_hand(void (*call)(void));
__asm__(".text\n.globl by_hand\n.type by_hand, @function\n"
	"by_hand:\n.cfi_startproc\n"
	"push %rbx\n.cfi_def_cfa_offset 16\n.cfi_offset rbx, -16\n"
	"mov %rsp, %rbx\n.cfi_def_cfa_register rbx\n"
	"sub $56, %rsp\nand $-64, %rsp\n"
	"call *%rdi\n"
	"mov %rbx, %rsp\n.cfi_def_cfa_register rsp\n"
	"pop %rbx\n.cfi_def_cfa_offset 8\n"
	"lea 8(%rsp), %rax\nsub $72, %rsp\n.cfi_def_cfa_offset 80\n"
	"mov %rax, 56(%rsp)\n.cfi_escape 0x0f, 3, 0x77, 56, 6\n" /* CFA = [rsp + 56] */
	"call spin_in_assembler\n"
	"add $72, %rsp\n.cfi_def_cfa rsp, 8\n"
	"ret\n.cfi_endproc\n.size by_hand, .-by_hand\n");
void spin_in_assembler(void);
FUNCTION void spin_in_assembler(void)
{
	sink = leaf(STEPS);
	AFTER_CALL();
}
#else
FUNCTION void spin_in_assembler(void);
void spin_in_assembler(void)
{
	sink = leaf(STEPS);
	AFTER_CALL();
}

FUNCTION void by_hand(void (*call)(void));
void by_hand(void (*call)(void))
{
	call();
	AFTER_CALL();
}
#endif

FUNCTION void run_assembler(void);
void run_assembler(void)
{
	by_hand(spin_in_assembler);
	AFTER_CALL();
}

/* A library that was loaded just now; static programs load none. */
#ifdef TRUTH_STATIC
static void run_plugin(void)
{
}
#else
FUNCTION void run_plugin(void);
void run_plugin(void)
{
	void *library = plugin ? dlopen(plugin, RTLD_NOW) : NULL;
	void *address = library ? dlsym(library, "plug_a") : NULL;
	uint64_t (*run)(uint64_t);

	if (!address)
		return;
	memcpy(&run, &address, sizeof(run));
	sink = run(STEPS);
	(void)dlclose(library);
}
#endif

/* Calls in tail position become jumps: middle leaves no frame. */
FUNCTION void last(void);
void last(void)
{
	sink = leaf(STEPS);
	AFTER_CALL();
}

FUNCTION void middle(void);
void middle(void)
{
	last();
}

FUNCTION void run_tail(void);
void run_tail(void)
{
	middle();
	AFTER_CALL();
}

/* Interrupted between any two instructions of prologues and epilogues. */
FUNCTION uint64_t tiny(uint64_t a, uint64_t b);
uint64_t tiny(uint64_t a, uint64_t b)
{
	return a * b + (a ^ b);
}

FUNCTION uint64_t small(uint64_t n);
uint64_t small(uint64_t n)
{
	uint64_t a = tiny(n, 3), b = tiny(a, n), c = tiny(b, a), d = tiny(c, b);

	return a + b * c - d;
}

FUNCTION void run_edges(void);
void run_edges(void)
{
	uint64_t i;

	for (i = 0; i < STEPS / 4; i++)
		sink += small(i);
}

static const struct {
	const char *name;
	void (*run)(void);
} kinds[] = {
	{ "recursion", run_recursion }, { "signal", run_signal },
	{ "altstack", run_altstack },	{ "noreturn", run_noreturn },
	{ "alloca", run_alloca },	{ "realigned", run_realigned },
	{ "large", run_large },		{ "assembler", run_assembler },
	{ "plugin", run_plugin },	{ "tail", run_tail },
	{ "edges", run_edges },		{ "huge", run_huge },
	{ "trap", run_trap },
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static const char *wanted;
static double seconds;

FUNCTION void *work(void *data);
void *work(void *data)
{
	double end = truth_cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + seconds;
	size_t i;

	while (truth_cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < end)
		for (i = 0; i < KINDS; i++)
			if (!strcmp(wanted, "all") || !strcmp(wanted, kinds[i].name))
				kinds[i].run();
	return data;
}

int main(int argc, char **argv)
{
	size_t i, threads = argc > 4 ? strtoul(argv[4], NULL, 10) : 0;
	pthread_t ids[16];

	if (argc < 3 || threads > 16)
		return 2;
	wanted = argv[1];
	seconds = strtod(argv[2], NULL);
	plugin = argc > 3 ? argv[3] : NULL;
	for (i = 0; i < threads; i++)
		if (pthread_create(&ids[i], NULL, work, NULL))
			return 1;
	if (!threads)
		(void)work(NULL);
	for (i = 0; i < threads; i++)
		(void)pthread_join(ids[i], NULL);
	return 0;
}
