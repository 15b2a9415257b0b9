/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How to unwind the code that HotSpot, Java's virtual machine, has generated. It keeps no frame
 * pointer, but a header of each piece of code (CodeBlob) has the size of its frame, and the maps of
 * the heaps of code lead from an address to the header. The parts of a method where the frame is
 * not complete are recognised by their instructions.
 */
#pragma once

#include "arch.bpf.h"
#include "java_code.bpf.h"
#include "java_process.bpf.h"
#include "rule.bpf.h"
#include "stack.bpf.h"
#include "unwinding.bpf.h"

enum {
	JAVA_HOPS = 64, /* in the map of a heap: code of 2 MB */
	JAVA_CODE_PC = JAVA_CODE_BYTES / 2,
	JAVA_FRAME_MAX = 1 << 20, /* bytes */
	JAVA_STUB_BEGINS = 16,	  /* bytes of code that may make the frame of a stub */
	JAVA_PUSHES = 4,	  /* words that compiled code pushes where it compares strings */
};

/* CodeOffsets::frame_never_safe: not known where the frame is complete. */
#define JAVA_NEVER_COMPLETE ((__u32)-1)

/* --- the code --- */

/* The first 8 bytes of the names of code. */
#define JAVA_NAME(a, b, c, d, e, f, g, h)                                                          \
	((__u64)(a) | (__u64)(b) << 8 | (__u64)(c) << 16 | (__u64)(d) << 24 | (__u64)(e) << 32 |   \
	 (__u64)(f) << 40 | (__u64)(g) << 48 | (__u64)(h) << 56)
#define JAVA_INTERPRETER JAVA_NAME('I', 'n', 't', 'e', 'r', 'p', 'r', 'e')
#define JAVA_ADAPTERS	 JAVA_NAME('I', '2', 'C', '/', 'C', '2', 'I', ' ')
#define JAVA_VTABLE	 JAVA_NAME('v', 't', 'a', 'b', 'l', 'e', ' ', 'c')
#define JAVA_COMPILED	 JAVA_NAME('n', 'm', 'e', 't', 'h', 'o', 'd', 0)
#define JAVA_NATIVE	 JAVA_NAME('n', 'a', 't', 'i', 'v', 'e', ' ', 'n') /* written in C */

/* A search in the map of a heap. */
struct java_search {
	__u64 map, segment;
	__u64 is_found;
};

/* Goes back to the beginning of a block, for bpf_loop(): returns 1 there, and if there is none. The
 * map has, for each segment, how far to go: 0 at the beginning, 255 where there is no block. */
static long go_back(__u32 index, struct java_search *s)
{
	__u8 back = 0;

	if (bpf_probe_read_user(&back, 1, (void *)(s->map + s->segment)) || back == 255 ||
	    back > s->segment)
		return 1;
	s->segment -= back;
	s->is_found = !back;
	return !back;
}

/* The address of the block whose code contains @address; 0 if there is none. */
static __always_inline __u64 java_block(const struct java_process *p, const struct java_heap *heap,
					__u64 address)
{
	struct java_search s = { heap->map, (address - heap->start) >> (p->shift & 31), 0 };

	bpf_loop(JAVA_HOPS, go_back, &s, 0);
	return s.is_found ? heap->start + (s.segment << (p->shift & 31)) : 0;
}

/* The 8 bytes of the header, as copied, from a member on. */
static __always_inline __u64 java_member(const struct java_walk *w, const struct java_process *p,
					 enum java_field field)
{
	__u32 at = p->offsets[field] / 2;
	__u64 value = w->header[at & JAVA_BLOB_MASK];

	value |= (__u64)w->header[(at + 1) & JAVA_BLOB_MASK] << 16;
	value |= (__u64)w->header[(at + 2) & JAVA_BLOB_MASK] << 32;
	return value | (__u64)w->header[(at + 3) & JAVA_BLOB_MASK] << 48;
}

/* Whether the code of the header was compiled from a method. */
static __always_inline bool is_java_compiled(const struct java_walk *w)
{
	return w->blob.name == JAVA_COMPILED || w->blob.name == JAVA_NATIVE;
}

/* Reads what names the code after its header at @at: its length and its method. */
static __always_inline void read_java_extent(struct java_walk *w, const struct java_process *p,
					     const struct java_layout *o, __u64 at)
{
	w->blob.bytes = w->blob.method = w->blob.compile = 0;
	if (o->entries[JAVA_BLOB_DATA] == JAVA_NO_ENTRY ||
	    o->entries[JAVA_BLOB_METHOD] == JAVA_NO_ENTRY ||
	    o->entries[JAVA_BLOB_COMPILE] == JAVA_NO_ENTRY)
		return;
	w->blob.bytes = at + (__u32)java_member(w, p, JAVA_BLOB_DATA) - w->blob.code;
	if (!is_java_compiled(w))
		return;
	w->blob.method = java_member(w, p, JAVA_BLOB_METHOD);
	(void)bpf_probe_read_user(&w->blob.compile, sizeof(w->blob.compile),
				  (void *)(at + p->offsets[JAVA_BLOB_COMPILE]));
}

/* Reads what is known of the code at @address, which is in @heap. */
__noinline int read_java_blob(struct java_walk *w, const struct java_process *p,
			      const struct java_heap *heap, __u64 address)
{
	const struct java_layout *o;
	__u64 at;

	if (!w || !p || !heap)
		return 0;
	o = java_layout_of(p->interpreter);
	at = o ? java_block(p, heap, address) : 0;
	if (!at)
		return 0;
	at += o->block_bytes;
	if (bpf_probe_read_user(w->header, JAVA_BLOB_BYTES, (void *)at))
		return 0;
	w->blob.frame = (__u32)java_member(w, p, JAVA_BLOB_FRAME);
	w->blob.complete = (__u32)java_member(w, p, JAVA_BLOB_COMPLETE);
	if (o->is_short)
		w->blob.complete = (__u32)(__s16)w->blob.complete;
	w->blob.code = java_member(w, p, JAVA_BLOB_CODE);
	if (o->is_offset)
		w->blob.code = at + (__u32)w->blob.code;
	w->blob.text = java_member(w, p, JAVA_BLOB_NAME);
	if (!read_word(&w->blob.name, w->blob.text))
		return 0;
	read_java_extent(w, p, o, at);
	return 1;
}

/* --- rules --- */

/* The return address is on top of the stack. */
static __always_inline void java_entered(struct unwind_rule *ret)
{
	*ret = (struct unwind_rule){
		.cfa = UNWIND_CFA_REG,
		.base = UNWIND_BASE_SP,
		.saves = UNWIND_SAVES(UNWIND_SAME, UNWIND_SAME, UNWIND_AT_CFA),
		.cfa_offset = 8,
		.ra = -1,
	};
}

/* The frame has @words words, of which the last are the frame pointer, if that @is_saved already,
 * and the return address. */
static __always_inline void java_framed(struct unwind_rule *ret, __u32 words, bool is_saved)
{
	java_entered(ret);
	ret->cfa_offset = (__s32)words * 8;
	ret->fp = -2;
	if (is_saved)
		ret->saves = UNWIND_SAVES(UNWIND_AT_CFA, UNWIND_LOST, UNWIND_AT_CFA);
}

/* Whether the bytes from @at on are those. */
#define JAVA_2(w, at, a, b)    ((w)->bytes[at] == (a) && (w)->bytes[(at) + 1] == (b))
#define JAVA_3(w, at, a, b, c) (JAVA_2(w, at, a, b) && (w)->bytes[(at) + 2] == (c))

/* Whether the instruction before byte @at of the code is add $n, %rsp. */
static __always_inline bool java_frees(const struct java_walk *w, __u32 at)
{
	return JAVA_3(w, at - 4, 0x48, 0x83, 0xc4) || JAVA_3(w, at - 7, 0x48, 0x81, 0xc4);
}

/* Whether the instruction before byte @at of the code is sub $n, %rsp. */
static __always_inline bool java_reserves(const struct java_walk *w, __u32 at)
{
	return JAVA_3(w, at - 4, 0x48, 0x83, 0xec) || JAVA_3(w, at - 7, 0x48, 0x81, 0xec);
}

/* The rule in code that makes the frame, after a part of it: push %rbp, perhaps mov %rsp, %rbp, and
 * sub $n, %rsp; or sub $n, %rsp and mov %rbp, n-16(%rsp). False before. */
static __always_inline bool java_begins(struct java_walk *w, struct unwind_rule *ret)
{
	const __u32 pc = JAVA_CODE_PC;
	__u8 before = w->bytes[pc - 1];

	if (before == 0x55 || (w->bytes[pc - 4] == 0x55 && (JAVA_3(w, pc - 3, 0x48, 0x8b, 0xec) ||
							    JAVA_3(w, pc - 3, 0x48, 0x89, 0xe5))))
		java_framed(ret, 2, true);
	else if (JAVA_3(w, pc, 0x48, 0x89, 0x6c) || JAVA_3(w, pc, 0x48, 0x89, 0xac))
		java_framed(ret, w->blob.frame, false);
	else if (java_reserves(w, pc) || JAVA_3(w, pc, 0x41, 0x81, 0x7f) ||
		 JAVA_3(w, pc - 8, 0x41, 0x81, 0x7f))
		java_framed(ret, w->blob.frame, true); /* an entry barrier: cmpl $n, m(%r15); jne */
	else
		return false;
	return true;
}

/* Stores the rule at byte @at of the code, if the frame is not complete there. Stubs do not say
 * where it is, but begin with the first instruction of it. */
static __always_inline bool java_prologue(struct java_walk *w, __u64 at, struct unwind_rule *ret)
{
	bool is_stub = w->blob.complete == JAVA_NEVER_COMPLETE;

	if (at >= (is_stub ? JAVA_STUB_BEGINS : w->blob.complete))
		return false;
	if (java_begins(w, ret))
		return true;
	if (is_stub && at > 0)
		return false;
	java_entered(ret);
	return true;
}

/* Whether byte @at of the code follows the end of the frame: pop %rbp or leave. */
static __always_inline bool java_has_left(const struct java_walk *w, __u32 at)
{
	return (w->bytes[at - 1] == 0x5d && (w->blob.frame == 2 || java_frees(w, at - 1))) ||
	       (w->bytes[at - 1] == 0xc9 && JAVA_3(w, at, 0x49, 0x83, 0xbf));
}

/* Whether the PC is after the end of the frame. Between that and ret are a look at the thread,
 * which is in %r15, and a jump: cmp n(%r15), %rsp; ja, before JDK 16 mov n(%r15), %r10; test %eax,
 * (%r10), in methods that are written in C cmpq $0, n(%r15); jne. */
static __always_inline bool java_is_left(const struct java_walk *w)
{
	const __u32 pc = JAVA_CODE_PC;

	if (w->bytes[pc] == 0xc3 || java_has_left(w, pc))
		return true;
	if (JAVA_3(w, pc - 8, 0x49, 0x83, 0xbf))
		return java_has_left(w, pc - 8);
	return (JAVA_3(w, pc - 7, 0x49, 0x3b, 0xa7) || JAVA_3(w, pc - 7, 0x4d, 0x8b, 0x97)) &&
	       java_has_left(w, pc - 7);
}

/* Whether the return address was taken off the stack, after the frame, with pop %rdx: by code that
 * goes on where an exception is caught. */
static __always_inline bool java_goes_on(const struct java_walk *w)
{
	const __u32 pc = JAVA_CODE_PC;

	return JAVA_2(w, pc - 2, 0x5d, 0x5a) && java_frees(w, pc - 2);
}

/* The rule after that. */
static __always_inline void java_gone_on(struct unwind_rule *ret)
{
	java_entered(ret);
	ret->cfa_offset = 0;
	ret->saves = UNWIND_SAVES(UNWIND_SAME, UNWIND_SAME, UNWIND_SAME);
	ret->ra = JAVA_REGISTER_CAUGHT;
}

/* The rule where code with a frame was interrupted. */
static __always_inline void java_interrupted(struct java_walk *w, __u64 pc, struct unwind_rule *ret)
{
	java_framed(ret, w->blob.frame, true);
	if (bpf_probe_read_user(w->bytes, JAVA_CODE_BYTES, (void *)(pc - JAVA_CODE_PC)))
		return;
	if (java_prologue(w, pc - w->blob.code, ret))
		return;
	if (w->bytes[JAVA_CODE_PC] == 0x5d && java_frees(w, JAVA_CODE_PC))
		java_framed(ret, 2, true);
	else if (java_goes_on(w))
		java_gone_on(ret);
	else if (java_is_left(w))
		java_entered(ret);
}

/* Adds to @u->rule, which is of interrupted compiled code, the words that this has pushed below its
 * frame: C2's code for comparing and searching strings does, and no header has where. Its caller,
 * which is in code of HotSpot, is then found so much further up. Returns how many. */
__noinline int add_java_pushes(struct unwinding *u, const struct java_process *p)
{
	__u64 at, caller;
	__u32 i;

	if (!u || !p || u->rule.cfa != UNWIND_CFA_REG || u->rule.base != UNWIND_BASE_SP ||
	    u->rule.ra != -1)
		return 0;
	at = u->frame.sp + (__u64)(__s64)u->rule.cfa_offset - 8;
	for (i = 0; i <= JAVA_PUSHES; i++) {
		caller = 0;
		if (read_stack_word(u, at + i * 8, &caller) == CHAIN_GOES_ON &&
		    java_heap_at(p, caller)) {
			u->rule.cfa_offset += (__s32)i * 8;
			return (int)i;
		}
	}
	return 0;
}

/* --- interpreted code --- */

/* Offsets from the frame pointer in a frame of the interpreter. */
enum {
	JAVA_FRAME_SENDER = -8, /* the caller's stack pointer */
	JAVA_FRAME_METHOD = -24,
	JAVA_FRAME_BYTECODE = -64, /* where it is; 0: a method written in C */
};

/* Whether a frame of the interpreter is at @fp: it has a method, and a place in its bytecode. That
 * of the innermost frame is in a register. Stores them in @m. */
static __always_inline bool is_java_frame(const struct java_process *p, const struct unwinding *u,
					  __u64 fp, struct java_method *m)
{
	const struct java_layout *o = java_layout_of(p->interpreter);
	__u64 at = u->registers[JAVA_REGISTER_BYTECODE];
	__u16 bytes;

	if (!o || fp - u->frame.sp > JAVA_FRAME_MAX ||
	    !read_word(&m->method, fp + JAVA_FRAME_METHOD) ||
	    (!u->frame.first && !read_word(&at, fp + JAVA_FRAME_BYTECODE)) ||
	    !read_word(&m->code, m->method + p->offsets[JAVA_METHOD_CONST]) ||
	    bpf_probe_read_user(&bytes, sizeof(bytes),
				(void *)(m->code + p->offsets[JAVA_CONST_BYTES])))
		return false;
	m->bytes = bytes;
	m->at = at ? at - (m->code + o->const_bytes) : 0;
	return at ? m->at < bytes : !u->frame.first;
}

/* The rule in a frame of the interpreter. */
static __always_inline int java_interpreted(struct run *run, struct unwinding *u,
					    struct java_walk *w, const struct java_process *p)
{
	__u64 fp = 0;

	if (unwind_reg_value(&u->frame.fp, read_stack, u, &fp) != CHAIN_GOES_ON ||
	    !is_java_frame(p, u, fp, &w->method))
		return CHAIN_END_NO_CODE;
	meet_java_method(run, u, w, p);
	u->rule = (struct unwind_rule){
		.cfa = UNWIND_CFA_DEREF,
		.base = UNWIND_BASE_FP,
		.saves = UNWIND_SAVES(UNWIND_AT_FP, UNWIND_LOST, UNWIND_AT_FP),
		.cfa_offset = JAVA_FRAME_SENDER,
		.ra = 1,
		.fp = 0,
	};
	return CHAIN_GOES_ON;
}

/* The rule where a method is called and has no frame yet, or a part of it. The return address is on
 * the stack or already in a register, and another register has the caller's stack pointer. */
static __always_inline int java_called(struct unwinding *u, const struct java_process *p)
{
	__u64 sp = u->frame.sp, ra = 0, pushed = 0, sender = u->registers[JAVA_REGISTER_BYTECODE];
	bool is_sender = sender - sp < JAVA_FRAME_MAX;

	java_entered(&u->rule);
	(void)read_stack(u, sp, &pushed);
	if (java_heap_at(p, pushed) && (!is_sender || sender == sp + 8))
		return CHAIN_GOES_ON;
	ra = u->registers[JAVA_REGISTER_RETURN];
	if (!is_sender || !java_heap_at(p, ra))
		return CHAIN_END_NO_CODE;
	u->rule.base = UNWIND_BASE_OTHER;
	u->rule.reg = JAVA_REGISTER_BYTECODE;
	u->rule.cfa_offset = 0;
	u->rule.saves = UNWIND_SAVES(UNWIND_SAME, UNWIND_SAME, UNWIND_SAME);
	u->rule.ra = JAVA_REGISTER_RETURN;
	if (u->frame.fp.value - sp < sender - sp) {
		u->rule.saves = UNWIND_SAVES(UNWIND_AT_FP, UNWIND_LOST, UNWIND_AT_FP);
		u->rule.ra = 1;
	}
	return CHAIN_GOES_ON;
}

/* --- a step --- */

/* The rule where code has been called, or was interrupted, by what is known of it. */
static __always_inline int java_blob_rule(struct run *run, struct unwinding *u, struct java_walk *w,
					  const struct java_process *p)
{
	if (w->blob.name == JAVA_INTERPRETER) {
		if (u->frame.first &&
		    u->registers[JAVA_REGISTER_BYTECODE] - u->frame.sp < JAVA_FRAME_MAX)
			return java_called(u, p);
		return java_interpreted(run, u, w, p);
	}
	if (u->frame.exact && w->blob.name == JAVA_ADAPTERS)
		return u->frame.first ? java_called(u, p) : CHAIN_END_NO_CODE;
	if (u->frame.exact && w->blob.name == JAVA_VTABLE)
		java_entered(&u->rule);
	else if (!w->blob.frame || w->blob.frame > JAVA_FRAME_MAX / 8)
		return CHAIN_END_UNKNOWN;
	else if (u->frame.exact)
		java_interrupted(w, u->frame.pc, &u->rule);
	else
		java_framed(&u->rule, w->blob.frame, true);
	if (u->frame.exact && is_java_compiled(w))
		add_java_pushes(u, p);
	return CHAIN_GOES_ON;
}

/* Stores the rule of the frame in @u->rule, if it is in code of HotSpot. Returns CHAIN_GOES_ON, why
 * there is none, or CHAIN_END_UNKNOWN if nothing is known of it. */
__noinline int java_rule(struct unwinding *u, __u32 slot, __u64 loss)
{
	const struct java_heap *heap;
	struct java_process *p;
	struct java_walk *w;
	struct run run;
	int rule;

	if (!u || !run_again(&run, slot, loss))
		return CHAIN_END_UNKNOWN;
	w = bpf_map_lookup_elem(&java_walks, &slot);
	p = w ? java_of(&run, w) : NULL;
	heap = p ? java_heap_at(p, unwind_lookup_pc(&u->frame)) : NULL;
	if (!heap)
		return CHAIN_END_UNKNOWN;
	if (!read_java_blob(w, p, heap, unwind_lookup_pc(&u->frame)))
		return CHAIN_END_NO_CODE;
	rule = java_blob_rule(&run, u, w, p);
	if (!u->script.method)
		meet_java_code(&run, u, w, p);
	return rule;
}

/* Completes @u->rule, which our agent for Java made from the code's first and last instructions,
 * if the process is known to run HotSpot. */
static __noinline int correct_java_rule(const struct run *run, struct unwinding *u)
{
	const struct java_process *p;
	struct java_walk *w;
	__u32 slot;

	if (!run || !u || !u->frame.exact)
		return 0;
	slot = run->slot;
	w = bpf_map_lookup_elem(&java_walks, &slot);
	p = w ? java_of(run, w) : NULL;
	return p && java_heap_at(p, u->frame.pc) ? add_java_pushes(u, p) : 0;
}

/* Whether the frame is in code of HotSpot, as what calls such code must be. */
static __always_inline bool is_in_java(const struct run *run, const struct unwinding *u)
{
	__u32 slot = run->slot;
	struct java_walk *w = bpf_map_lookup_elem(&java_walks, &slot);

	return w && java_heap_at(java_process(w, run), u->frame.pc);
}
