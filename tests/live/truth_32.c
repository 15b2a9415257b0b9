/* SPDX-License-Identifier: GPL-2.0-or-later */
/* truth_32: works for about a second, as a 32-bit program that needs no library: a third of it in
 * the chain work, outer, middle, inner, which keeps no frame pointer, and the rest in the handlers
 * of two signals, for which the kernel makes frames of different kinds: old_handler, spin, and
 * new_handler, spin. Both interrupt raised, call. At last a few system calls are made as libc makes
 * them, by the vdso, in asks. With TRUTH_PART n it does the nth part of all, for slow machines. */
#ifndef TRUTH_PART
#define TRUTH_PART 1
#endif

enum {
	SYS_EXIT = 1,
	SYS_READ = 3,
	SYS_OPEN = 5,
	SYS_GETPID = 20,
	SYS_KILL = 37,
	SYS_SIGACTION = 67,
	SYS_RT_SIGACTION = 174,
	SIGNAL_OLD = 10,
	SIGNAL_NEW = 12,
	STEPS = 600000000 / TRUTH_PART,
	ASKS = 1500000 / TRUTH_PART,
	AT_SYSINFO = 32, /* in the auxiliary vector: the address of __kernel_vsyscall */
};

/* Of the kernel, for each of the two calls. */
struct old_action {
	void (*handler)(int signal);
	unsigned long mask, flags;
	void *restorer;
};
struct new_action {
	void (*handler)(int signal);
	unsigned long flags;
	void *restorer;
	unsigned long mask[2];
};

/* A function with its own name: not inlined, nor made for its only arguments. */
#define TRUTH_CALLED __attribute__((noinline, noclone, noipa))
#ifdef __clang__
#undef TRUTH_CALLED
#define TRUTH_CALLED __attribute__((noinline, optnone))
#endif

void _start(void);

static TRUTH_CALLED int call(int number, int a, int b, int c, int d)
{
	int result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(number), "b"(a), "c"(b), "d"(c), "S"(d)
			 : "memory");
	return result;
}

static TRUTH_CALLED void spin(unsigned int n)
{
	while (n--)
		__asm__ volatile("" : "+r"(n));
}

static TRUTH_CALLED int inner(unsigned int n)
{
	while (n--)
		__asm__ volatile("" : "+r"(n));
	return 1;
}

/* Something to do after each call, and room on the stack, so that it is a call. */
static TRUTH_CALLED int middle(unsigned int n)
{
	volatile int room[20];

	room[3] = inner(n);
	return room[3] + 1;
}

static TRUTH_CALLED int outer(unsigned int n)
{
	volatile int room[7];

	room[2] = middle(n);
	return room[2] + 1;
}

static TRUTH_CALLED int work(void)
{
	return outer(STEPS) + 1;
}

/* Of the handlers: few at first, so that the vdso, to which they return, is in memory. */
static volatile unsigned int steps = 1;

static void old_handler(int signal)
{
	spin(steps);
	__asm__ volatile("" : : "r"(signal));
}

static void new_handler(int signal)
{
	spin(steps);
	__asm__ volatile("" : : "r"(signal));
}

static TRUTH_CALLED int raised(int signal)
{
	return call(SYS_KILL, call(SYS_GETPID, 0, 0, 0, 0), signal, 0, 0) + 1;
}

/* The address of the vdso's function for system calls; 0 if there is none. */
static TRUTH_CALLED unsigned long vsyscall(void)
{
	static unsigned long words[128];
	int fd = call(SYS_OPEN, (int)"/proc/self/auxv", 0, 0, 0), i;

	(void)call(SYS_READ, fd, (int)words, sizeof(words), 0);
	for (i = 0; i < 126 && words[i]; i += 2)
		if (words[i] == AT_SYSINFO)
			return words[i + 1];
	return 0;
}

static TRUTH_CALLED int asks(unsigned long address, unsigned int n)
{
	int result = 0;

	while (n--)
		__asm__ volatile("call *%1"
				 : "=a"(result)
				 : "r"(address), "0"(SYS_GETPID)
				 : "memory");
	return result;
}

static TRUTH_CALLED int program(void)
{
	static struct old_action before = { old_handler, 0, 0, 0 };
	static struct new_action after = { new_handler, 4 /* SA_SIGINFO */, 0, { 0, 0 } };
	int result = work();

	result += call(SYS_SIGACTION, SIGNAL_OLD, (int)&before, 0, 0);
	result += call(SYS_RT_SIGACTION, SIGNAL_NEW, (int)&after, 0, 8);
	result += raised(SIGNAL_OLD) + raised(SIGNAL_NEW);
	steps = STEPS;
	result += raised(SIGNAL_OLD) + raised(SIGNAL_NEW);
	return result + (vsyscall() ? asks(vsyscall(), ASKS) : 0);
}

void _start(void)
{
	call(SYS_EXIT, program() ? 0 : 1, 0, 0, 0);
	__builtin_unreachable();
}
