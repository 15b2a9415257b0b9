/* SPDX-License-Identifier: GPL-2.0-or-later */
/* truth_bare SECONDS KIND: work at the end of call chains through code that nothing describes. This
 * program itself has unwind information, and no frame pointers. */
#include "truth.h"

#include <string.h>

uint64_t bare_outer(uint64_t steps);

/* What a call leaves to do, so that it is no jump. */
static volatile uint64_t done;

#ifdef __x86_64__
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

TRUTH_CHAIN(called_leaf)
TRUTH_CHAIN(handler_leaf)

/* As CPython calls its interpreter from code that it makes for each function. */
static __attribute__((noinline)) uint64_t by_trampoline(uint64_t steps)
{
	static const uint8_t code[] = {
		0x48, 0x83, 0xec, 0x08, /* sub $8, %rsp */
		0xff, 0xd1,		/* call *%rcx */
		0x48, 0x83, 0xc4, 0x08, /* add $8, %rsp */
		0xc3,			/* ret */
	};
	static uint64_t (*trampoline)(uint64_t, int, int, uint64_t (*)(uint64_t));
	void *page;

	if (!trampoline) {
		page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (page == MAP_FAILED)
			exit(1);
		memcpy(page, code, sizeof(code));
		if (mprotect(page, 4096, PROT_READ | PROT_EXEC) < 0)
			exit(1);
		memcpy(&trampoline, &page, sizeof(page));
	}
	done += trampoline(steps, 0, 0, called_leaf);
	return done;
}

/* Multiplies @steps times. No frame, no description, and rbp is as its caller left it. */
uint64_t by_hand(uint64_t steps);
__asm__(".text\n.balign 64\n.skip 64, 0x90\n.globl by_hand\n.type by_hand, @function\n"
	"by_hand: mov %rdi, %rax\n"
	"1: imul $1103515245, %rax, %rax\nadd $12345, %rax\ndec %rdi\njnz 1b\n"
	"ret\n.size by_hand, .-by_hand\n.balign 64\n");

static __attribute__((noinline)) uint64_t calls_by_hand(uint64_t steps)
{
	done += by_hand(steps);
	return done;
}

/* The same in a loop that has pushed a register, called by a function with a frame pointer. */
uint64_t pushes_by_hand(uint64_t steps);
__asm__(".text\n.balign 64\n.skip 64, 0x90\n.globl pushes_by_hand\n"
	".type pushes_by_hand, @function\n"
	"pushes_by_hand: push %rbx\nmov %rdi, %rax\n"
	"1: imul $1103515245, %rax, %rax\nadd $12345, %rax\ndec %rdi\njnz 1b\n"
	"pop %rbx\nret\n.size pushes_by_hand, .-pushes_by_hand\n.balign 64\n");

static __attribute__((noinline)) uint64_t calls_pushing(uint64_t steps)
{
	/* Memory whose size is not known needs a frame pointer. */
	volatile uint64_t *kept = __builtin_alloca(8 + (steps & 8));

	*kept = pushes_by_hand(steps);
	done += *kept;
	return done;
}

static void handler(int signal)
{
	(void)signal;
	done += handler_leaf(40 * TRUTH_UNIT);
}

/* Returns from a signal's handler, as in libraries that do not describe it. */
void restorer(void);
__asm__(".text\n.balign 64\n.skip 64, 0x90\n.globl restorer\n.type restorer, @function\n"
	"restorer: mov $15, %rax\nsyscall\n.size restorer, .-restorer\n.balign 64\n");

static __attribute__((noinline)) uint64_t by_signal(uint64_t steps)
{
	/* As the kernel takes it. */
	static const struct {
		void (*handler)(int signal);
		unsigned long flags;
		void (*restorer)(void);
		unsigned long mask;
	} action = { handler, 0x04000000, restorer, 0 };

	if (syscall(SYS_rt_sigaction, SIGUSR1, &action, NULL, sizeof(action.mask)) < 0)
		exit(1);
	(void)kill(getpid(), SIGUSR1);
	done += steps;
	return done;
}
#endif

static const struct {
	const char *name;
	uint64_t (*run)(uint64_t steps);
} kinds[] = {
	{ "library", bare_outer },
#ifdef __x86_64__
	{ "trampoline", by_trampoline }, { "signal", by_signal },
	{ "leaf", calls_by_hand },	 { "pushing", calls_pushing },
#endif
};

int main(int argc, char **argv)
{
	struct truth_part part = { .weight = 40 };
	size_t i;

	for (i = 0; argc == 3 && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(argv[2], kinds[i].name))
			part.run = kinds[i].run;
	if (!part.run)
		return 2;
	truth_rounds(&part, 1, strtod(argv[1], NULL));
	return 0;
}
