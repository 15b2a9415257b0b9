/* SPDX-License-Identifier: GPL-2.0-or-later */
/* busy_probed SECONDS [FUNCTION]: spends that much CPU time in sched_get_priority_max(2), which
 * nobody else calls. Meanwhile the kernel's FUNCTION has BPF programs at its entry, attached by a
 * trampoline that the kernel generates. Exits with 77 if it refuses. */
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int bpf(enum bpf_cmd command, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

/* Attaches a program that does nothing to the function whose type is @id. */
static int attach(int id)
{
	static const struct bpf_insn code[] = { { .code = BPF_ALU64 | BPF_MOV | BPF_K },
						{ .code = BPF_JMP | BPF_EXIT } };
	static const char license[] = "GPL";
	union bpf_attr program = { .prog_type = BPF_PROG_TYPE_TRACING,
				   .expected_attach_type = BPF_TRACE_FENTRY,
				   .attach_btf_id = (uint32_t)id,
				   .insns = (uintptr_t)code,
				   .insn_cnt = sizeof(code) / sizeof(*code),
				   .license = (uintptr_t)license,
				   .prog_name = "probe" };
	union bpf_attr where = { 0 };
	int fd = bpf(BPF_PROG_LOAD, &program);

	if (fd < 0)
		return -1;
	where.raw_tracepoint.prog_fd = (uint32_t)fd;
	return bpf(BPF_RAW_TRACEPOINT_OPEN, &where);
}

/* Several, so that their trampoline takes some time itself. */
static int attach_all(const char *function)
{
	enum { PROGRAMS = 8 };
	int i, id = libbpf_find_vmlinux_btf_id(function, BPF_TRACE_FENTRY);

	if (id < 0)
		return -1;
	for (i = 0; i < PROGRAMS; i++)
		if (attach(id) < 0)
			return -1;
	return 0;
}

int main(int argc, char **argv)
{
	clock_t end;
	int i;

	if (argc < 2)
		return 2;
	if (argc > 2 && attach_all(argv[2]) < 0) {
		perror("busy_probed");
		return 77;
	}
	end = clock() + (clock_t)(atof(argv[1]) * CLOCKS_PER_SEC);
	while (clock() < end)
		for (i = 0; i < 1000; i++)
			(void)sched_get_priority_max(SCHED_OTHER);
	return 0;
}
