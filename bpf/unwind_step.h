/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One step of a stack walk: from a frame and the unwind rule for its PC to its caller's frame. User
 * space and BPF programs share this code and pass in the functions that read the stack and the
 * registers; the compiler inlines them if they are constants.
 *
 *	struct unwind_frame f = { .pc = pc, .sp = sp, .exact = 1, .first = 1 };
 *	enum chain_end stop;
 *	do {
 *		struct unwind_rule rule = ...;	of unwind_lookup_pc(&f)
 *		if (unwind_is_hole(&rule))
 *			unwind_guess(&f, UNWIND_X86_64, read_memory, read_code, data, &rule);
 *		stop = unwind_apply(&f, &rule, UNWIND_X86_64, read_memory, read_reg, data);
 *	} while (stop == CHAIN_GOES_ON);
 *
 * A saved register is read only when a rule is based on it; most are never read.
 */
#pragma once

#include "chain_end.h"
#include "unwind_row.h"

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

/* I386: 32-bit programs of an x86-64 kernel. */
enum unwind_machine { UNWIND_X86_64, UNWIND_AARCH64, UNWIND_I386, UNWIND_MACHINE_COUNT_ };

enum { UNWIND_REG_KNOWN, UNWIND_REG_SAVED, UNWIND_REG_LOST };

/* A register: ->value is its value, or the address where it is saved, or nothing. */
struct unwind_reg {
	__u64 value;
	__u64 where; /* UNWIND_REG_* */
};

struct unwind_frame {
	__u64 pc, sp;
	struct unwind_reg fp, bx;
	__u64 exact; /* pc is an interrupted instruction, not a return address */
	__u64 first; /* the interrupted frame itself: all registers are known */
	__u64 lr;    /* AArch64, if ->exact: x30 */
};

/* Reads 8 bytes of code, or unwind_word() bytes of the stack, at @address of the process. Returns
 * CHAIN_GOES_ON, or why the walk must end. */
typedef int unwind_read_fn(void *data, __u64 address, __u64 *ret);
/* Reads register @reg (DWARF number) of the interrupted frame; returns the same. */
typedef int unwind_reg_fn(void *data, __u32 reg, __u64 *ret);

/* The bytes of a register, in which rules count, too. */
static __always_inline __u64 unwind_word(enum unwind_machine machine)
{
	return machine == UNWIND_I386 ? 4 : 8;
}

/* The PC whose rule is to be looked up. A return address may be the first byte after the function
 * that called. */
static __always_inline __u64 unwind_lookup_pc(const struct unwind_frame *f)
{
	return f->exact ? f->pc : f->pc - 1;
}

/* The address of frame @f in a call chain. The innermost frame has its PC. For all others the byte
 * before the address is in the caller: it is the return address after a call, and PC + 1 where a
 * signal interrupted, and in the trampoline that a signal handler returns to (@is_trampoline). */
static __always_inline __u64 unwind_chain_address(const struct unwind_frame *f, int is_trampoline)
{
	return f->pc + (!f->first && (f->exact || is_trampoline));
}

/* Moves the PC of a thread in the kernel from where it goes on after a system call to the
 * instruction that made it, which may be the last one of its function. On x86-64 register 0,
 * @result, is -ENOSYS until the call has a result (kernel: arch/x86/entry/entry_64.S), and the
 * instruction leaves in rcx, @next, where it goes on. Neither is so where an exception or a new
 * program goes on. Where a new thread or process does (@may_be_new: it may be one), its stack is
 * not the one of the call. */
static __always_inline void unwind_to_system_call(struct unwind_frame *f,
						  enum unwind_machine machine, __u64 result,
						  __u64 next, int may_be_new)
{
	enum { SYSCALL_BYTES = 2, NO_RESULT = 38 /* ENOSYS */ };

	if (machine == UNWIND_X86_64 &&
	    (result == (__u64)-NO_RESULT || (next == f->pc && !(may_be_new && result == 0))))
		f->pc -= SYSCALL_BYTES;
}

/* Moves the PC of a thread in the kernel from the page of vsyscalls to the call there: the kernel
 * does their work when the page faults. These are gettimeofday(2), time(2) and getcpu(2) of
 * programs older than the vdso, whose caller's address is on top of the stack. */
static __always_inline void unwind_to_vsyscall(struct unwind_frame *f, enum unwind_machine machine,
					       unwind_read_fn *read, void *data)
{
	enum { PAGE_SHIFT = 12 };
	const __u64 page = 0xffffffffff600; /* kernel: asm/vsyscall.h */
	__u64 ra = 0;

	if (machine != UNWIND_X86_64 || f->pc >> PAGE_SHIFT != page ||
	    read(data, f->sp, &ra) != CHAIN_GOES_ON)
		return;
	f->pc = ra - 1;
	f->sp += unwind_word(machine);
}

static __always_inline int unwind_reg_value(const struct unwind_reg *reg, unwind_read_fn *read,
					    void *data, __u64 *ret)
{
	if (reg->where == UNWIND_REG_LOST)
		return CHAIN_END_NO_RULE;
	if (reg->where == UNWIND_REG_SAVED)
		return read(data, reg->value, ret);
	*ret = reg->value;
	return CHAIN_GOES_ON;
}

/* The value of the register that the rule's CFA is based on. */
static __always_inline int unwind_base_value(const struct unwind_frame *f,
					     const struct unwind_rule *rule, unwind_read_fn *read,
					     unwind_reg_fn *reg, void *data, __u64 *ret)
{
	if (rule->cfa == UNWIND_CFA_PLT || rule->base == UNWIND_BASE_SP) {
		*ret = f->sp;
		return CHAIN_GOES_ON;
	}
	if (rule->base == UNWIND_BASE_FP)
		return unwind_reg_value(&f->fp, read, data, ret);
	if (rule->base == UNWIND_BASE_BX)
		return unwind_reg_value(&f->bx, read, data, ret);
	return f->first ? reg(data, rule->reg, ret) : CHAIN_END_NO_RULE;
}

static __always_inline int unwind_cfa_value(const struct unwind_frame *f,
					    const struct unwind_rule *rule,
					    enum unwind_machine machine, unwind_read_fn *read,
					    unwind_reg_fn *reg, void *data, __u64 *ret)
{
	__u64 cfa = 0;
	int stop = unwind_base_value(f, rule, read, reg, data, &cfa);

	if (stop != CHAIN_GOES_ON)
		return stop;
	if (rule->cfa == UNWIND_CFA_INDEX)
		cfa = f->sp + cfa * 8;
	cfa += (__s64)rule->cfa_offset;
	if (rule->cfa == UNWIND_CFA_DEREF || rule->cfa == UNWIND_CFA_INDEX) {
		stop = read(data, cfa, &cfa);
		if (stop != CHAIN_GOES_ON)
			return stop;
		cfa += (__s64)rule->cfa_add;
	} else if (rule->cfa == UNWIND_CFA_PLT &&
		   (unwind_lookup_pc(f) & 15) >= (__u64)rule->cfa_add) {
		cfa += unwind_word(machine);
	}
	*ret = cfa;
	return CHAIN_GOES_ON;
}

/* Notes where the caller's value of a register is. A value saved below sp is gone: the epilogue has
 * restored the register already. Compilers do not record that, because no call can be there. */
static __always_inline int unwind_restore(struct unwind_reg *reg, __u32 save, __s64 offset,
					  __u64 cfa, const struct unwind_frame *f,
					  unwind_read_fn *read, void *data)
{
	__u64 base = cfa;

	if (save == UNWIND_SAME)
		return CHAIN_GOES_ON;
	if (save == UNWIND_LOST) {
		reg->where = UNWIND_REG_LOST;
		return CHAIN_GOES_ON;
	}
	if (save == UNWIND_AT_FP) {
		int stop = unwind_reg_value(&f->fp, read, data, &base);

		if (stop != CHAIN_GOES_ON)
			return stop;
	}
	base += (__u64)offset;
	if (base < f->sp)
		return CHAIN_GOES_ON;
	reg->value = base;
	reg->where = UNWIND_REG_SAVED;
	return CHAIN_GOES_ON;
}

/* Reads the registers from the kernel's struct rt_sigframe, which is at sp. On x86-64 its first
 * word, the return address, has been popped: struct ucontext is at sp, its mcontext at 40 (kernel:
 * arch/x86/include/asm/sigframe.h); on AArch64 siginfo of 128 bytes is first, mcontext's regs[] at
 * 312 (arch/arm64/kernel/signal.c). On i386 there are two kinds of frames: struct sigcontext_32 is
 * at sp + @offset. All are ABI. */
static __always_inline int unwind_signal(struct unwind_frame *f, enum unwind_machine machine,
					 __s64 offset, unwind_read_fn *read, void *data)
{
	int arm = machine == UNWIND_AARCH64, ia32 = machine == UNWIND_I386;
	__u64 at = ia32 ? f->sp + (__u64)offset : f->sp, pc = 0, sp = 0, lr = 0;
	int stop = read(data, at + (ia32 ? 56 : arm ? 568 : 168), &pc);

	if (stop == CHAIN_GOES_ON)
		stop = read(data, at + (ia32 ? 28 : arm ? 560 : 160), &sp);
	if (stop == CHAIN_GOES_ON && arm)
		stop = read(data, at + 552, &lr);
	if (stop != CHAIN_GOES_ON)
		return stop;
	f->fp.value = at + (ia32 ? 24 : arm ? 544 : 120);
	f->fp.where = UNWIND_REG_SAVED;
	f->bx.value = at + (ia32 ? 32 : 128);
	f->bx.where = arm ? UNWIND_REG_LOST : UNWIND_REG_SAVED;
	f->pc = pc;
	f->sp = sp;
	f->lr = lr;
	f->exact = 1;
	f->first = 0;
	return pc ? CHAIN_GOES_ON : CHAIN_END_NO_MAPPING;
}

/* Reads the word at this frame's fp + @words words. */
static __always_inline int unwind_at_fp(const struct unwind_frame *f, __s64 words,
					enum unwind_machine machine, unwind_read_fn *read,
					void *data, __u64 *ret)
{
	__u64 fp = 0;
	int stop = unwind_reg_value(&f->fp, read, data, &fp);

	if (stop != CHAIN_GOES_ON)
		return stop;
	return read(data, fp + (__u64)(words * (__s64)unwind_word(machine)), ret);
}

/* The caller's PC. */
static __always_inline int unwind_return_address(const struct unwind_frame *f,
						 const struct unwind_rule *rule,
						 enum unwind_machine machine, __u64 cfa,
						 unwind_read_fn *read, unwind_reg_fn *reg,
						 void *data, __u64 *ret)
{
	__u64 pc = 0;
	int stop;

	if (UNWIND_SAVE_RA(rule->saves) == UNWIND_AT_CFA)
		stop = read(data, cfa + (__u64)((__s64)rule->ra * (__s64)unwind_word(machine)),
			    &pc);
	else if (UNWIND_SAVE_RA(rule->saves) == UNWIND_AT_FP)
		stop = unwind_at_fp(f, rule->ra, machine, read, data, &pc);
	else if (machine == UNWIND_AARCH64 && rule->ra == 30 && f->exact)
		stop = CHAIN_GOES_ON, pc = f->lr;
	else
		stop = f->first ? reg(data, (__u32)rule->ra, &pc) : CHAIN_END_NO_RULE;
	if (stop != CHAIN_GOES_ON)
		return stop;
	/* The bits above an address are its pointer authentication. */
	if (machine == UNWIND_AARCH64)
		pc &= (1ULL << 48) - 1;
	*ret = pc;
	return CHAIN_GOES_ON;
}

/* The first 8 bytes of what a signal handler returns to: mov x8, #139; svc #0, or mov $15, %rax and
 * the first byte of syscall: rt_sigreturn(2). */
static __always_inline __u64 unwind_signal_code(enum unwind_machine machine)
{
	return machine == UNWIND_AARCH64 ? 0xd4000001d2801168 : 0x0f0000000fc0c748;
}

/* Returns whether @rule means that nothing describes the code; unwind_guess() then provides another
 * one. */
static __always_inline int unwind_is_hole(const struct unwind_rule *rule)
{
	return rule->cfa == UNWIND_CFA_NONE &&
	       (rule->base == UNWIND_WHY_NO_ROW || rule->base == UNWIND_WHY_NO_FRAME);
}

/* Whether the word on top of the stack is the return address of a call to the function that is
 * interrupted: of a direct call (e8) to a little before the PC. Another test would take what
 * earlier calls have left on the stack for callers. On AArch64 it is in x30, which still has the
 * address of an earlier call as often as not. */
static __always_inline int unwind_has_just_been_called(const struct unwind_frame *f,
						       unwind_read_fn *read, unwind_read_fn *code,
						       void *data)
{
	enum { FUNCTION_BYTES = 4096 };
	__u64 ra = 0, bytes = 0;

	return read(data, f->sp, &ra) == CHAIN_GOES_ON &&
	       code(data, ra - 8, &bytes) == CHAIN_GOES_ON && (bytes >> 24 & 0xff) == 0xe8 &&
	       f->pc - (ra + (__u64)((__s64)bytes >> 32)) < FUNCTION_BYTES;
}

/* Recognises, in @bytes at the PC or, if that was interrupted, in the 8 bytes before it, what i386
 * code returns from the kernel with; stores how to get to its caller. Mostly it is in the vdso. */
static __always_inline int unwind_guess_i386(const struct unwind_frame *f, __u64 bytes,
					     unwind_read_fn *code, void *data,
					     struct unwind_rule *ret)
{
	/* pop %eax; mov $119, %eax; int $0x80: sigreturn(2). mov $173, %eax; int $0x80:
	 * rt_sigreturn(2). pop %ebp; pop %edx; pop %ecx; ret: the end of __kernel_vsyscall. */
	const __u64 sigreturn = 0x80cd00000077b858, rt_sigreturn = 0x80cd000000adb8;
	const __u32 vsyscall = 0xc3595a5d;

	if (bytes == sigreturn) {
		ret->cfa = UNWIND_CFA_SIGNAL;
		ret->cfa_offset = f->exact ? 0 : 4;
	} else if ((f->exact ? bytes >> 8 : bytes << 8 >> 8) == rt_sigreturn) {
		ret->cfa = UNWIND_CFA_SIGNAL;
		ret->cfa_offset = 160;
	} else if (f->exact && code(data, f->pc, &bytes) == CHAIN_GOES_ON &&
		   (__u32)bytes == vsyscall) {
		ret->cfa = UNWIND_CFA_REG;
		ret->base = UNWIND_BASE_SP;
		ret->cfa_offset = 16;
		ret->fp = -4;
	} else {
		return 0;
	}
	return 1;
}

/* Replaces the hole *@ret by a rule for code without unwind information: assembler, what
 * just-in-time compilers generate, and all code of images without a table. The trampoline that a
 * signal handler returns to and that of CPython are recognised by their bytes, which @code reads;
 * interrupted code may have made no frame yet; other code is expected to keep a frame pointer,
 * unless the hole says that it does not: the frame pointer is then that of a caller, and would lead
 * to the caller's caller. The caller must make sure that the PC which the rule leads to is in
 * executable memory. */
static __always_inline void unwind_guess(const struct unwind_frame *f, enum unwind_machine machine,
					 unwind_read_fn *read, unwind_read_fn *code, void *data,
					 struct unwind_rule *ret)
{
	int arm = machine == UNWIND_AARCH64, ia32 = machine == UNWIND_I386;
	/* Interrupted in a trampoline, the thread is in the system call, at the end of the code:
	 * before the instruction on x86-64, see unwind_to_system_call(), or after it. */
	__u64 at = !f->exact ? f->pc : f->pc - (arm || ia32 ? 8 : 7), bytes = 0;

	*ret = (struct unwind_rule){
		.cfa = ret->base == UNWIND_WHY_NO_FRAME ? UNWIND_CFA_NONE : UNWIND_CFA_GUESS,
		.base = UNWIND_BASE_FP,
		.saves = UNWIND_SAVES(UNWIND_AT_CFA, UNWIND_LOST, UNWIND_AT_CFA),
		.cfa_offset = (__s32)unwind_word(machine) * 2,
		.ra = -1,
		.fp = -2,
	};
	if (code(data, at, &bytes) != CHAIN_GOES_ON)
		return;
	if (ia32 && unwind_guess_i386(f, bytes, code, data, ret))
		return;
	if (!ia32 && bytes == unwind_signal_code(machine)) {
		ret->cfa = UNWIND_CFA_SIGNAL;
	} else if (!arm && !ia32 && !f->exact && (bytes & 0xffffffffff) == 0xc308c48348) {
		/* add $8, %rsp; ret */
		ret->cfa = UNWIND_CFA_GUESS;
		ret->base = UNWIND_BASE_SP;
		ret->saves = UNWIND_SAVES(UNWIND_SAME, UNWIND_SAME, UNWIND_AT_CFA);
	} else if (!arm && f->first && unwind_has_just_been_called(f, read, code, data)) {
		*ret = (struct unwind_rule){
			.cfa = UNWIND_CFA_REG,
			.base = UNWIND_BASE_SP,
			.saves = UNWIND_SAVES(UNWIND_SAME, UNWIND_SAME, UNWIND_AT_CFA),
			.cfa_offset = (__s32)unwind_word(machine),
			.ra = -1,
		};
	}
}

/* Returns whether @rule means that the frame is the outermost one. Both the parent and the child of
 * a clone(2) run the code after it; it has returned 0 in register 0 to the child. */
static __always_inline int unwind_is_outermost(const struct unwind_frame *f,
					       const struct unwind_rule *rule, unwind_reg_fn *reg,
					       void *data)
{
	__u64 result = 0;

	if (rule->cfa != UNWIND_CFA_CHILD)
		return rule->cfa == UNWIND_CFA_END;
	return f->first && reg(data, 0, &result) == CHAIN_GOES_ON && !result;
}

/* Replaces *@f with its caller's frame, by @rule. Returns CHAIN_GOES_ON, or why there is no caller:
 * *@f is then undefined. */
static __always_inline int unwind_apply(struct unwind_frame *f, const struct unwind_rule *rule,
					enum unwind_machine machine, unwind_read_fn *read,
					unwind_reg_fn *reg, void *data)
{
	const __u64 word = unwind_word(machine);
	__u64 cfa = 0, pc = 0;
	struct unwind_reg fp = f->fp, bx = f->bx;
	int stop;

	if (unwind_is_outermost(f, rule, reg, data))
		return CHAIN_END_COMPLETE;
	if (rule->cfa == UNWIND_CFA_NONE)
		return CHAIN_END_NO_RULE;
	if (rule->cfa == UNWIND_CFA_SIGNAL)
		return unwind_signal(f, machine, rule->cfa_offset, read, data);
	stop = unwind_cfa_value(f, rule, machine, read, reg, data, &cfa);
	if (stop == CHAIN_GOES_ON)
		stop = unwind_return_address(f, rule, machine, cfa, read, reg, data, &pc);
	if (stop == CHAIN_GOES_ON)
		stop = unwind_restore(&bx, UNWIND_SAVE_BX(rule->saves),
				      (__s64)rule->bx * (__s64)word, cfa, f, read, data);
	if (stop == CHAIN_GOES_ON)
		stop = unwind_restore(&fp, UNWIND_SAVE_FP(rule->saves),
				      (__s64)rule->fp * (__s64)word, cfa, f, read, data);
	if (stop != CHAIN_GOES_ON)
		return stop;
	/* Stacks grow down. But interrupted code may have pushed nothing yet, or be on its way to
	 * another frame, like code that catches an exception. */
	if (!f->exact && cfa <= f->sp && rule->cfa != UNWIND_CFA_STACK)
		return CHAIN_END_NO_PROGRESS;
	if (rule->cfa == UNWIND_CFA_GUESS &&
	    (cfa < f->sp + word * 2 || cfa & (word - 1) || pc < 4096 || pc >> 48))
		return CHAIN_END_NO_RULE;
	/* The rules of entry points say that they have no caller. Elsewhere a 0 may have been put
	 * there as the end of a coroutine's stack, but the rule may as well be wrong. */
	if (!pc)
		return CHAIN_END_NO_MAPPING;
	f->pc = pc;
	f->sp = cfa;
	f->fp = fp;
	f->bx = bx;
	f->exact = 0;
	f->first = 0;
	return CHAIN_GOES_ON;
}
