/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/internal/seccomp_filter.h"

#ifdef HAVE_LIBSECCOMP

#include "base/mem.h"
#include "helper/seccomp_call.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE AUDIT_ARCH_AARCH64
#else
#error "which architecture is this?"
#endif

/* Instructions for a half of an argument. */
enum { PER_HALF = 3 };

void seccomp_filter_done(struct seccomp_filter *f)
{
	free(f->code);
}

static void add(struct seccomp_filter *f, struct sock_filter instruction)
{
	array_grow(&f->code, f->count + 1, &f->room);
	f->code[f->count++] = instruction;
}

static void load(struct seccomp_filter *f, size_t offset)
{
	add(f, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned int)offset));
}

/* Goes on after @skip instructions if what was loaded is not @value. */
static void expect(struct seccomp_filter *f, unsigned int value, size_t skip)
{
	add(f,
	    (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, (unsigned char)skip));
}

static void decide(struct seccomp_filter *f, unsigned int action)
{
	add(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

static void begin(struct seccomp_filter *f)
{
	if (f->count > 0)
		return;
	load(f, offsetof(struct seccomp_data, arch));
	add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE, 1, 0));
	decide(f, SECCOMP_RET_KILL_PROCESS);
	load(f, offsetof(struct seccomp_data, nr));
}

void seccomp_filter_refuse(struct seccomp_filter *f, int number, int error)
{
	begin(f);
	expect(f, (unsigned int)number, 1);
	decide(f, SECCOMP_RET_ERRNO | (unsigned int)error);
}

/* Instructions for one argument. */
static size_t argument_length(uint64_t mask)
{
	return (((mask >> 32) != 0) + ((uint32_t)mask != 0)) * (size_t)PER_HALF;
}

/* Instructions for a row. */
static size_t row_length(const struct seccomp_confine_call *row)
{
	return (row->limited ? argument_length(row->mask) : 0) +
	       (row->limited_too ? argument_length(row->mask_too) : 0) + 1;
}

/* Compares 32 bits of an argument; goes on at instruction @end if they differ. */
static void compare(struct seccomp_filter *f, size_t offset, uint32_t mask, uint32_t value,
		    size_t end)
{
	if (mask == 0)
		return;
	load(f, offset);
	add(f, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask));
	expect(f, value, end - f->count - 1);
}

static void compare_argument(struct seccomp_filter *f, unsigned int argument, uint64_t mask,
			     uint64_t value, size_t end)
{
	size_t offset = offsetof(struct seccomp_data, args) + argument * sizeof(uint64_t);

	/* Both architectures have the low half first. */
	compare(f, offset, (uint32_t)mask, (uint32_t)value, end);
	compare(f, offset + sizeof(uint32_t), (uint32_t)(mask >> 32), (uint32_t)(value >> 32), end);
}

void seccomp_filter_allow(struct seccomp_filter *f, int number,
			  const struct seccomp_confine_call *rows, size_t count)
{
	size_t length = 1, i;

	begin(f);
	for (i = 0; i < count; i++)
		length += row_length(&rows[i]);
	/* A conditional jump goes 255 instructions far. */
	add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)number, 1, 0));
	add(f, (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, (unsigned int)length));
	for (i = 0; i < count; i++) {
		const struct seccomp_confine_call *row = &rows[i];
		size_t end = f->count + row_length(row);

		if (row->limited)
			compare_argument(f, row->argument, row->mask, row->value, end);
		if (row->limited_too)
			compare_argument(f, row->argument_too, row->mask_too, row->value_too, end);
		decide(f, SECCOMP_RET_ALLOW);
	}
	decide(f, SECCOMP_RET_TRAP);
}

int seccomp_filter_enter(struct seccomp_filter *f)
{
	struct sock_fprog program;
	long r;

	begin(f);
	decide(f, SECCOMP_RET_TRAP);
	if (f->count > BPF_MAXINSNS)
		return -E2BIG;
	program = (struct sock_fprog){ (unsigned short)f->count, f->code };
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
	/* A positive number is a thread that could not be confined. */
	return r < 0 ? -errno : r > 0 ? -ESRCH : 0;
}

#endif
