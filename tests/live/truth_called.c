/* SPDX-License-Identifier: GPL-2.0-or-later */
/* truth_called SECONDS: work that JIT code calls, once, so that the JIT code itself is never
 * sampled. Half of the time passes before the process describes the code, in a perf map. */
#include "truth.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A function with a frame pointer that calls the function that is its first argument, with the
 * second one as argument. */
#if defined(__x86_64__)
static const unsigned char code[] = {
	0x55,		  /* push %rbp */
	0x48, 0x89, 0xe5, /* mov %rsp, %rbp */
	0x48, 0x89, 0xf8, /* mov %rdi, %rax */
	0x48, 0x89, 0xf7, /* mov %rsi, %rdi */
	0xff, 0xd0,	  /* call *%rax */
	0x5d,		  /* pop %rbp */
	0xc3,		  /* ret */
};
#elif defined(__aarch64__)
static const unsigned int code[] = {
	0xa9bf7bfd, /* stp x29, x30, [sp, #-16]! */
	0x910003fd, /* mov x29, sp */
	0xaa0003e2, /* mov x2, x0 */
	0xaa0103e0, /* mov x0, x1 */
	0xd63f0040, /* blr x2 */
	0xa8c17bfd, /* ldp x29, x30, [sp], #16 */
	0xd65f03c0, /* ret */
};
#else
static const unsigned char code[1];
#endif

TRUTH_CHAIN(called)

static void *page;

static void describe(void)
{
	char name[48];
	FILE *map;

	(void)snprintf(name, sizeof(name), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(name, "w");
	if (!map)
		exit(1);
	(void)fprintf(map, "%lx %zx trampoline\n", (unsigned long)(uintptr_t)page, sizeof(code));
	(void)fclose(map);
}

__attribute__((noinline)) static void work(double *seconds)
{
	const struct truth_part part = { "truth_called", "called", called, 1 };

	truth_rounds(&part, 1, *seconds / 2);
	describe();
	truth_rounds(&part, 1, *seconds / 2);
}

int main(int argc, char **argv)
{
	void (*trampoline)(void (*)(double *), double *);
	double seconds;

	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (argc != 2 || page == MAP_FAILED || sizeof(code) == 1)
		return 2;
	memcpy(page, code, sizeof(code));
	if (mprotect(page, 4096, PROT_READ | PROT_EXEC) < 0)
		return 1;
	__builtin___clear_cache(page, (char *)page + sizeof(code));
	memcpy(&trampoline, &page, sizeof(page));
	seconds = strtod(argv[1], NULL);
	trampoline(work, &seconds);
	return 0;
}
