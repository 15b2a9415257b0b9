/* SPDX-License-Identifier: GPL-2.0-or-later */
/* busy_bpf SECONDS NAME...: loads BPF programs with these names, spends that much CPU time in each,
 * one after the other, and unloads them by exiting. Exits with 77 if the kernel refuses. */
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { STEPS = 3000, PROGRAMS_MAX = 16 };

/* Straight code, for which no verifier takes long: a number multiplied again and again, and now and
 * then one of the kernel's functions called. What the kernel calls a program has a digest of its
 * code in it. */
static int load(const char *name)
{
	static struct bpf_insn code[STEPS + 2];
	static const char license[] = "GPL";
	union bpf_attr attr = { .prog_type = BPF_PROG_TYPE_SOCKET_FILTER };
	size_t i;

	code[0] = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 1 };
	for (i = 1; i <= STEPS; i++)
		code[i] = i % 64 ? (struct bpf_insn){ .code = BPF_ALU64 | BPF_MUL | BPF_K,
						      .imm = name[0] }
				 : (struct bpf_insn){ .code = BPF_JMP | BPF_CALL,
						      .imm = BPF_FUNC_get_prandom_u32 };
	code[i] = (struct bpf_insn){ .code = BPF_JMP | BPF_EXIT };
	attr.insns = (uintptr_t)code;
	attr.insn_cnt = STEPS + 2;
	attr.license = (uintptr_t)license;
	(void)snprintf(attr.prog_name, sizeof(attr.prog_name), "%s", name);
	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

static int run(int program, double seconds)
{
	static unsigned char packet[64];
	union bpf_attr attr = { .test = { .prog_fd = (uint32_t)program,
					  .data_in = (uintptr_t)packet,
					  .data_size_in = sizeof(packet),
					  .repeat = 1000 } };
	clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);

	while (clock() < end)
		if (syscall(SYS_bpf, BPF_PROG_TEST_RUN, &attr, sizeof(attr)) < 0)
			return -1;
	return 0;
}

int main(int argc, char **argv)
{
	int programs[PROGRAMS_MAX], i;

	if (argc < 3 || argc - 2 > PROGRAMS_MAX)
		return 2;
	for (i = 2; i < argc; i++) {
		programs[i - 2] = load(argv[i]);
		if (programs[i - 2] < 0) {
			perror("busy_bpf: load");
			return 77;
		}
	}
	for (i = 2; i < argc; i++) {
		if (run(programs[i - 2], atof(argv[1])) < 0) {
			perror("busy_bpf: run");
			return 77;
		}
	}
	return 0;
}
