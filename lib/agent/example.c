/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A program that generates a function at run time and reports it:
 *
 *	cc example.c $(pkg-config --cflags --libs opagent) -o example
 *	operf ./example 2 && opreport -l
 */
#include <opagent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/* x = x * 3 + 1, n times. It has a frame pointer, so that call chains can find its caller. */
#if defined(__x86_64__)
static const unsigned char code[] = {
	0x55,			      /*    push %rbp */
	0x48, 0x89, 0xe5,	      /*    mov %rsp,%rbp */
	0x31, 0xc0,		      /*    xor %eax,%eax */
	0x48, 0x8d, 0x44, 0x40, 0x01, /* 1: lea 1(%rax,%rax,2),%rax */
	0x48, 0xff, 0xcf,	      /*    dec %rdi */
	0x75, 0xf6,		      /*    jne 1b */
	0x5d,			      /*    pop %rbp */
	0xc3,			      /*    ret */
};
#elif defined(__aarch64__)
static const unsigned int code[] = {
	0xa9bf7bfd, /*    stp x29, x30, [sp, #-16]! */
	0x910003fd, /*    mov x29, sp */
	0xd2800001, /*    mov x1, #0 */
	0x8b010421, /* 1: add x1, x1, x1, lsl #1 */
	0x91000421, /*    add x1, x1, #1 */
	0xf1000400, /*    subs x0, x0, #1 */
	0x54ffffa1, /*    b.ne 1b */
	0xaa0103e0, /*    mov x0, x1 */
	0xa8c17bfd, /*    ldp x29, x30, [sp], #16 */
	0xd65f03c0, /*    ret */
};
#else
#error "no code for this machine"
#endif

int main(int argc, char **argv)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct debug_line_info line = { (unsigned long)page, 15, __FILE__ };
	clock_t end = clock() + (argc > 1 ? atoi(argv[1]) : 1) * CLOCKS_PER_SEC;
	unsigned long (*made)(unsigned long n), sum = 0;
	op_agent_t agent = op_open_agent();

	if (page == MAP_FAILED || !agent) {
		perror("example");
		return 1;
	}
	memcpy(page, code, sizeof(code));
	if (mprotect(page, 4096, PROT_READ | PROT_EXEC) < 0)
		return 1;
	__builtin___clear_cache(page, (char *)page + sizeof(code));
	if (op_write_debug_line_info(agent, page, 1, &line) < 0 ||
	    op_write_native_code(agent, "made_at_run_time", (unsigned long)page, page,
				 sizeof(code)) < 0)
		perror("example: the function will be unnamed");
	memcpy(&made, &page, sizeof(made));
	while (clock() < end)
		sum += made(1000000);
	printf("%lu\n", sum);
	return op_close_agent(agent) < 0;
}
