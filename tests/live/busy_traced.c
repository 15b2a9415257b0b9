/* SPDX-License-Identifier: GPL-2.0-or-later */
/* busy_traced SECONDS ID: spends that much CPU time in sched_get_priority_max(2), most of it in a
 * BPF program of the tracepoint ID, which is at its entry. Meanwhile the kernel skips the programs
 * of perf events on that CPU. Exits with 77 if the kernel refuses. */
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { STEPS = 4000 };

/* Straight code, a number multiplied again and again, for other tasks nothing. */
static int load(void)
{
	static struct bpf_insn code[STEPS + 5];
	static const char license[] = "GPL";
	union bpf_attr attr = { .prog_type = BPF_PROG_TYPE_TRACEPOINT, .prog_name = "busy" };
	struct bpf_insn *in = code;

	*in++ = (struct bpf_insn){ .code = BPF_JMP | BPF_CALL,
				   .imm = BPF_FUNC_get_current_pid_tgid };
	*in++ = (struct bpf_insn){ .code = BPF_ALU64 | BPF_RSH | BPF_K, .imm = 32 };
	*in++ = (struct bpf_insn){ .code = BPF_JMP | BPF_JNE | BPF_K,
				   .imm = getpid(),
				   .off = STEPS };
	while (in < code + 3 + STEPS)
		*in++ = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MUL | BPF_K, .imm = 3 };
	*in++ = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_K };
	*in++ = (struct bpf_insn){ .code = BPF_JMP | BPF_EXIT };
	attr.insns = (uintptr_t)code;
	attr.insn_cnt = STEPS + 5;
	attr.license = (uintptr_t)license;
	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

int main(int argc, char **argv)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT,
					.size = sizeof(attr),
					.config = argc == 3 ? (uint64_t)atoi(argv[2]) : 0 };
	int event = (int)syscall(SYS_perf_event_open, &attr, getpid(), -1, -1, 0UL),
	    program = load();
	clock_t end;

	if (event < 0 || program < 0 || ioctl(event, PERF_EVENT_IOC_SET_BPF, program) < 0) {
		perror("busy_traced");
		return 77;
	}
	end = clock() + (clock_t)(atof(argv[1]) * CLOCKS_PER_SEC);
	while (clock() < end)
		(void)sched_get_priority_max(SCHED_FIFO);
	return 0;
}
