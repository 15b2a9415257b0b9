/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts that depend on the architecture: the registers of a sample. Their layout is part of the
 * kernel's user interface (asm/ptrace.h), but that header cannot be used here, because it depends
 * on the compiler's target, which is bpf. */
#pragma once

#include "kernel.bpf.h"
#include "unwind_step.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <linux/types.h>
#include <stdbool.h>

/* Above the numbers of all system calls. */
enum { CALL_OF_32_BITS = 1 << 16 };

#if defined(__TARGET_ARCH_x86)

/* Where PHP's loop has its frame and its instruction, by DWARF number, if gcc compiled it. */
enum { PHP_REGISTER_FRAME = 14, PHP_REGISTER_OPLINE = 15 };

/* Where code of HotSpot has, by DWARF number, its thread; the next bytecode, or while it calls a
 * method its stack pointer; the return address that it has taken off the stack, and the same if it
 * goes on where an exception is caught. */
enum {
	JAVA_REGISTER_THREAD = 15,
	JAVA_REGISTER_BYTECODE = 13,
	JAVA_REGISTER_RETURN = 0,
	JAVA_REGISTER_CAUGHT = 1,
};

struct cpu_registers {
	__u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax;
	__u64 ip, cs, flags, sp, ss;
};

static __always_inline bool registers_in_user(const struct cpu_registers *r)
{
	return (r->cs & 3) != 0; /* the privilege level */
}

/* Stores the machine whose code runs; false if its stack cannot be walked. */
static __always_inline bool registers_machine(const struct cpu_registers *r, __u32 *ret)
{
	*ret = r->cs == 0x23 ? UNWIND_I386 : UNWIND_X86_64; /* __USER32_CS: asm/segment.h */
	return true;
}

/* The machine @noted by registers_machine(), where there is more than one. */
static __always_inline enum unwind_machine machine_of(__u32 noted)
{
	return noted == UNWIND_I386 ? UNWIND_I386 : UNWIND_X86_64;
}

/* As registers_to_frame() for a 32-bit program, whose registers have other numbers. */
static __always_inline void registers_to_frame_32(const struct cpu_registers *r,
						  struct unwind_frame *frame, __u64 *numbered)
{
	frame->pc = (__u32)r->ip;
	frame->sp = (__u32)r->sp;
	frame->fp.value = (__u32)r->bp;
	frame->bx.value = (__u32)r->bx;
	numbered[0] = (__u32)r->ax;
	numbered[1] = (__u32)r->cx;
	numbered[2] = (__u32)r->dx;
	numbered[3] = (__u32)r->bx;
	numbered[4] = (__u32)r->sp;
	numbered[5] = (__u32)r->bp;
	numbered[6] = (__u32)r->si;
	numbered[7] = (__u32)r->di;
}

/* Sets up the innermost frame from the registers, and copies them to @numbered by DWARF number. */
static __always_inline void registers_to_frame(const struct cpu_registers *r,
					       struct unwind_frame *frame, __u64 *numbered)
{
	if (r->cs == 0x23) {
		registers_to_frame_32(r, frame, numbered);
		return;
	}
	frame->pc = r->ip;
	frame->sp = r->sp;
	frame->fp.value = r->bp;
	frame->bx.value = r->bx;
	numbered[0] = r->ax;
	numbered[1] = r->dx;
	numbered[2] = r->cx;
	numbered[3] = r->bx;
	numbered[4] = r->si;
	numbered[5] = r->di;
	numbered[6] = r->bp;
	numbered[7] = r->sp;
	numbered[8] = r->r8;
	numbered[9] = r->r9;
	numbered[10] = r->r10;
	numbered[11] = r->r11;
	numbered[12] = r->r12;
	numbered[13] = r->r13;
	numbered[14] = r->r14;
	numbered[15] = r->r15;
}

/* Whether a task may begin where the system call @number goes on: clone(2), fork(2), vfork(2), or
 * clone3(2). */
static __always_inline bool makes_task(__s64 number)
{
	return (number >= 56 && number <= 58) || number == 435;
}

/* Moves the PC of a frame whose thread is in the kernel to the system call, if it made one. */
static __always_inline void registers_to_system_call(const struct cpu_registers *r,
						     struct unwind_frame *frame)
{
	__u32 machine;

	/* The number of the system call. */
	if ((__s64)r->orig_ax >= 0 && registers_machine(r, &machine))
		unwind_to_system_call(frame, machine_of(machine), r->ax, r->cx,
				      makes_task((__s64)r->orig_ax));
}

/* The number of the system call that @task, with these registers, is in; CALL_OF_32_BITS of a
 * 32-bit program, whose calls have other numbers; -1: of none. */
static __always_inline __s64 system_call_of(const struct task_struct *task,
					    const struct cpu_registers *r)
{
	__s64 call = (__s64)r->orig_ax;

	return call >= 0 && r->cs == 0x23 ? CALL_OF_32_BITS : call;
}

static __always_inline __u64 second_argument(const struct cpu_registers *r)
{
	return r->si;
}

static __always_inline __u64 third_argument(const struct cpu_registers *r)
{
	return r->dx;
}

/* The address that pthread_self() returns in a thread, or one near it. */
static __always_inline __u64 thread_pointer(const struct task_struct *task)
{
	return task->thread.fsbase;
}

/* Whether @id is what pthread_self() returns in the thread at @pointer. */
static __always_inline bool is_thread_id(__u64 pointer, __u64 id)
{
	return pointer == id;
}

#elif defined(__TARGET_ARCH_arm64)

/* Where PHP's loop has its frame and its instruction, if gcc compiled it. */
enum { PHP_REGISTER_FRAME = 27, PHP_REGISTER_OPLINE = 28 };

/* The same registers of HotSpot's code, whose stack is not walked yet. */
enum {
	JAVA_REGISTER_THREAD = 28,
	JAVA_REGISTER_BYTECODE = 22,
	JAVA_REGISTER_RETURN = 30,
	JAVA_REGISTER_CAUGHT = 3,
};

struct cpu_registers {
	__u64 x[31], sp, ip, pstate;
};

static __always_inline bool registers_in_user(const struct cpu_registers *r)
{
	return (r->pstate & 0xf) == 0; /* EL0 */
}

/* Stores the machine whose code runs; false if its stack cannot be walked. */
static __always_inline bool registers_machine(const struct cpu_registers *r, __u32 *ret)
{
	*ret = UNWIND_AARCH64;
	return !(r->pstate & 0x10); /* PSR_MODE32_BIT: asm/ptrace.h */
}

/* The machine @noted by registers_machine(), where there is more than one. */
static __always_inline enum unwind_machine machine_of(__u32 noted)
{
	return UNWIND_AARCH64;
}

/* Sets up the innermost frame from the registers, and copies them to @numbered by DWARF number. */
static __always_inline void registers_to_frame(const struct cpu_registers *r,
					       struct unwind_frame *frame, __u64 *numbered)
{
	int i;

	frame->pc = r->ip;
	frame->sp = r->sp;
	frame->lr = r->x[30];
	frame->fp.value = r->x[29];
	frame->bx.value = 0;
	for (i = 0; i < 31; i++)
		numbered[i] = r->x[i];
	numbered[31] = r->sp;
}

/* Nothing that is read here marks a system call. */
static __always_inline void registers_to_system_call(const struct cpu_registers *r,
						     struct unwind_frame *frame)
{
}

/* The number of the system call that @task, with these registers, is in; CALL_OF_32_BITS of a
 * 32-bit program, whose calls have other numbers; -1: of none. */
static __always_inline __s64 system_call_of(const struct task_struct *task,
					    const struct cpu_registers *r)
{
	const struct pt_regs___call *saved = (const void *)bpf_task_pt_regs((void *)task);
	__s64 call = BPF_CORE_READ(saved, syscallno);

	return call >= 0 && r->pstate & 0x10 ? CALL_OF_32_BITS : call;
}

static __always_inline __u64 second_argument(const struct cpu_registers *r)
{
	return r->x[1];
}

static __always_inline __u64 third_argument(const struct cpu_registers *r)
{
	return r->x[2];
}

/* The address that pthread_self() returns in a thread, or one near it. */
static __always_inline __u64 thread_pointer(const struct task_struct *task)
{
	return task->thread.uw.tp_value;
}

/* Whether @id is what pthread_self() returns in the thread at @pointer. */
static __always_inline bool is_thread_id(__u64 pointer, __u64 id)
{
	return pointer - id - 1 < 4096 /* struct pthread is below it */;
}

#else
#error "unknown architecture: this header must be extended"
#endif

/* The argument of a perf event's program. */
struct perf_event_context {
	struct cpu_registers registers;
	__u64 sample_period, address;
};
