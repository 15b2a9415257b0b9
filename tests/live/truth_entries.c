/* SPDX-License-Identifier: GPL-2.0-or-later */
/* truth_entries ROUNDS [LIBRARY]: spends its time in functions that no ordinary call of the program
 * enters: started by the dynamic loader, by clone(2), by the end of a thread, by a signal, by a
 * switch of contexts, called back by the C library, or returned to by longjmp(), or in LIBRARY. In
 * each round each function leaf_* works as long as the others. So that its chain is known, nothing
 * else calls it. */
#include "truth.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { STEPS = 4000000, PARTS = 20, STACK_BYTES = 1 << 16 };

/* Keeps the compiler from inlining, from cutting the function in pieces, from making one of two,
 * and from jumping where the source calls. */
#define FUNCTION __attribute__((noinline, noclone, noipa))
#ifdef __clang__
#undef FUNCTION
#define FUNCTION __attribute__((noinline, optnone))
#endif
#define AFTER_CALL() __asm__ volatile("" ::: "memory")

static volatile uint64_t sink;

/* A function of the given number of steps, and the one that calls it. */
#define LEAF(name)                                                                                 \
	TRUTH_CHAIN(leaf_##name)                                                                   \
	FUNCTION void in_##name(uint64_t steps);                                                   \
	void in_##name(uint64_t steps)                                                             \
	{                                                                                          \
		sink = leaf_##name(steps);                                                         \
		AFTER_CALL();                                                                      \
	}

LEAF(constructor)
LEAF(exit)
LEAF(vfork)
LEAF(fork)
LEAF(clone)
LEAF(cleanup)
LEAF(destructor)
LEAF(once)
LEAF(sort)
LEAF(jump)
LEAF(array)
LEAF(one)
LEAF(two)
LEAF(alarm)
LEAF(nested)

__attribute__((constructor)) FUNCTION void constructor(void);
void constructor(void)
{
	in_constructor(30 * STEPS); /* tables are still loaded in the first of them */
	AFTER_CALL();
}

FUNCTION void at_exit(void);
void at_exit(void)
{
	in_exit(10 * STEPS);
	AFTER_CALL();
}

FUNCTION void run_vfork(void);
void run_vfork(void)
{
	pid_t pid = vfork();

	if (!pid) {
		in_vfork(STEPS);
		_exit(0);
	}
	(void)waitpid(pid, NULL, 0);
	AFTER_CALL();
}

FUNCTION void run_fork(void);
void run_fork(void)
{
	pid_t pid = fork();

	if (!pid) {
		in_fork(STEPS);
		_exit(0);
	}
	(void)waitpid(pid, NULL, 0);
	AFTER_CALL();
}

FUNCTION int cloned(void *data);
int cloned(void *data)
{
	in_clone(STEPS);
	AFTER_CALL();
	return data ? 1 : 0;
}

FUNCTION void run_clone(void);
void run_clone(void)
{
	static _Alignas(16) char stack[STACK_BYTES];

	(void)waitpid(clone(cloned, stack + sizeof(stack), SIGCHLD, NULL), NULL, 0);
	AFTER_CALL();
}

FUNCTION void cleanup(void *data);
void cleanup(void *data)
{
	in_cleanup(STEPS);
	__asm__ volatile("" ::"r"(data) : "memory");
}

FUNCTION void *cancelled(void *data);
void *cancelled(void *data)
{
	pthread_cleanup_push(cleanup, data);
	for (;;)
		pthread_testcancel();
	pthread_cleanup_pop(1);
	return data;
}

FUNCTION void run_cleanup(void);
void run_cleanup(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, cancelled, NULL))
		return;
	(void)pthread_cancel(thread);
	(void)pthread_join(thread, NULL);
}

static pthread_key_t key;

FUNCTION void destructor(void *data);
void destructor(void *data)
{
	in_destructor(STEPS);
	__asm__ volatile("" ::"r"(data) : "memory");
}

FUNCTION void *keeps(void *data);
void *keeps(void *data)
{
	(void)pthread_setspecific(key, &key);
	return data;
}

FUNCTION void run_destructor(void);
void run_destructor(void)
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, keeps, NULL))
		(void)pthread_join(thread, NULL);
}

FUNCTION void once(void);
void once(void)
{
	in_once(STEPS);
	AFTER_CALL();
}

FUNCTION void run_once(void);
void run_once(void)
{
	pthread_once_t control = PTHREAD_ONCE_INIT;

	(void)pthread_once(&control, once);
	AFTER_CALL();
}

FUNCTION int compare(const void *a, const void *b);
int compare(const void *a, const void *b)
{
	in_sort(STEPS / PARTS);
	AFTER_CALL();
	return *(const int *)a - *(const int *)b;
}

FUNCTION void run_sort(void);
void run_sort(void)
{
	int numbers[] = { 5, 2, 8, 1, 7, 3, 6, 4 };

	qsort(numbers, sizeof(numbers) / sizeof(*numbers), sizeof(*numbers), compare);
	AFTER_CALL();
}

static jmp_buf back;

FUNCTION void leave(void);
void leave(void)
{
	longjmp(back, 1);
}

FUNCTION void jump(int depth);
void jump(int depth)
{
	if (depth)
		jump(depth - 1);
	else
		leave();
	AFTER_CALL();
}

FUNCTION void run_jump(void);
void run_jump(void)
{
	volatile int i;

	for (i = 0; i < PARTS; i++) {
		if (!setjmp(back))
			jump(30);
		in_jump(STEPS / PARTS);
	}
}

FUNCTION void with_array(size_t size);
void with_array(size_t size)
{
	char *array = __builtin_alloca(size);

	memset(array, 1, size);
	__asm__ volatile("" ::"r"(array) : "memory");
	in_array(STEPS / PARTS);
	__asm__ volatile("" ::"r"(array) : "memory");
}

FUNCTION void run_array(void);
void run_array(void)
{
	size_t i;

	for (i = 1; i <= PARTS; i++)
		with_array(i * 100);
	AFTER_CALL();
}

static ucontext_t first, contexts[2];

FUNCTION void one(void);
void one(void)
{
	int i;

	for (i = 0; i < PARTS; i++) {
		in_one(STEPS / PARTS);
		(void)swapcontext(&contexts[0], &contexts[1]);
	}
}

FUNCTION void two(void);
void two(void)
{
	for (;;) {
		in_two(STEPS / PARTS);
		(void)swapcontext(&contexts[1], &contexts[0]);
	}
}

FUNCTION void run_contexts(void);
void run_contexts(void)
{
	static void (*const functions[])(void) = { one, two };
	static _Alignas(16) char stacks[2][STACK_BYTES];
	int i;

	for (i = 0; i < 2; i++) {
		(void)getcontext(&contexts[i]);
		contexts[i].uc_stack.ss_sp = stacks[i];
		contexts[i].uc_stack.ss_size = STACK_BYTES;
		contexts[i].uc_link = &first;
		makecontext(&contexts[i], functions[i], 0);
	}
	(void)swapcontext(&first, &contexts[0]);
	AFTER_CALL();
}

/* A function whose last instruction is a system call: it goes on in another one. */
#ifdef __x86_64__
void last_call(void *at, size_t size);
__asm__(".text\n"
	".type last_call, @function\n"
	"last_call: .cfi_startproc\n"
	"	mov $318, %eax\n" /* getrandom(2), which takes its time */
	"	xor %edx, %edx\n"
	"	syscall\n"
	"	.cfi_endproc\n"
	".size last_call, . - last_call\n"
	".type after_last, @function\n"
	"after_last: .cfi_startproc\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size after_last, . - after_last\n");

FUNCTION void run_last(void);
void run_last(void)
{
	static char numbers[1 << 11];
	int i;

	for (i = 0; i < PARTS * 64; i++)
		last_call(numbers, sizeof(numbers));
	AFTER_CALL();
}
#else
static void run_last(void)
{
}
#endif

static volatile sig_atomic_t alarms;

FUNCTION void on_alarm(int signal);
void on_alarm(int signal)
{
	in_alarm(STEPS / PARTS);
	__asm__ volatile("" ::"r"(signal) : "memory");
	alarms = alarms + 1;
}

FUNCTION uint64_t tiny(uint64_t a, uint64_t b);
uint64_t tiny(uint64_t a, uint64_t b)
{
	return a * b + (a ^ b);
}

FUNCTION uint64_t small(uint64_t n);
uint64_t small(uint64_t n)
{
	uint64_t a = tiny(n, 3), b = tiny(a, n), c = tiny(b, a);

	return a + b * c;
}

/* Interrupted between any two instructions of prologues and epilogues. */
FUNCTION void run_alarm(void);
void run_alarm(void)
{
	const struct itimerval on = { { 0, 700 }, { 0, 700 } }, off = { { 0, 0 }, { 0, 0 } };
	const struct sigaction action = { .sa_handler = on_alarm };

	alarms = 0;
	(void)sigaction(SIGALRM, &action, NULL);
	(void)setitimer(ITIMER_REAL, &on, NULL);
	while (alarms < PARTS)
		sink = small(sink);
	(void)setitimer(ITIMER_REAL, &off, NULL);
}

FUNCTION void on_second(int signal);
void on_second(int signal)
{
	in_nested(STEPS);
	__asm__ volatile("" ::"r"(signal) : "memory");
}

FUNCTION void on_first(int signal);
void on_first(int signal)
{
	(void)raise(SIGUSR2);
	__asm__ volatile("" ::"r"(signal) : "memory");
}

/* A signal while another one is handled, both on one stack. */
FUNCTION void run_nested(void);
void run_nested(void)
{
	static char stack[STACK_BYTES];
	const stack_t own = { .ss_sp = stack, .ss_size = sizeof(stack) },
		      none = { .ss_flags = SS_DISABLE };
	const struct sigaction outer = { .sa_handler = on_first, .sa_flags = SA_ONSTACK },
			       inner = { .sa_handler = on_second, .sa_flags = SA_ONSTACK };

	(void)sigaltstack(&own, NULL);
	(void)sigaction(SIGUSR1, &outer, NULL);
	(void)sigaction(SIGUSR2, &inner, NULL);
	(void)raise(SIGUSR1);
	(void)sigaltstack(&none, NULL);
	AFTER_CALL();
}

/* Threads and processes that do nothing: there are only their first and last instructions. */
FUNCTION int nothing(void *data);
int nothing(void *data)
{
	return data ? 1 : 0;
}

FUNCTION void *nothing_either(void *data);
void *nothing_either(void *data)
{
	return data;
}

FUNCTION void run_short(void);
void run_short(void)
{
	static _Alignas(16) char stack[STACK_BYTES];
	pthread_t thread;
	int i;

	for (i = 0; i < 10 * PARTS; i++) {
		if (!pthread_create(&thread, NULL, nothing_either, NULL))
			(void)pthread_join(thread, NULL);
		(void)waitpid(clone(nothing, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL), NULL,
			      0);
	}
}

/* A library in a namespace of its own, with a C library of its own. Static programs load none. */
#ifdef TRUTH_STATIC
static bool load(const char *path)
{
	return !path;
}

static void run_namespace(void)
{
}
#else
static uint64_t (*loaded)(uint64_t steps);

static bool load(const char *path)
{
	void *library = path ? dlmopen(LM_ID_NEWLM, path, RTLD_NOW) : NULL;
	void *address = library ? dlsym(library, "plug_a") : NULL;

	memcpy(&loaded, &address, sizeof(loaded));
	return address || !path;
}

FUNCTION void run_namespace(void);
void run_namespace(void)
{
	if (loaded)
		sink = loaded(STEPS);
	AFTER_CALL();
}
#endif

int main(int argc, char **argv)
{
	static void (*const parts[])(void) = {
		run_vfork, run_fork,   run_clone, run_cleanup,	 run_destructor,
		run_once,  run_sort,   run_jump,  run_contexts,	 run_array,
		run_alarm, run_nested, run_short, run_namespace, run_last,
	};
	unsigned long round, rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
	size_t i;

	if (atexit(at_exit) || pthread_key_create(&key, destructor) ||
	    !load(argc > 2 ? argv[2] : NULL))
		return 1;
	for (round = 0; round < rounds; round++)
		for (i = 0; i < sizeof(parts) / sizeof(*parts); i++)
			parts[i]();
	return 0;
}
