/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a stack walk, which is too big for the BPF stack. */
#pragma once

#include "arch.bpf.h"
#include "maps.bpf.h"

enum { STACK_LINE_BYTES = 64, STACK_PAGE_BYTES = 4096, STACK_WINDOW_BYTES = 512 };

/* A copy of a part of the user's stack, which costs hardly more than copying one word. */
struct stack_window {
	__u64 start, bytes;
	__u64 words[STACK_WINDOW_BYTES / 8];
};

/* The interpreted frames that a walk has met; see script.bpf.h. */
struct script_state {
	__u64 boundary; /* on the C stack, of the next frames */
	__u32 is_read;	/* whether they were looked for */
	__u32 puts;	/* enum script_puts */
	__u32 next, count;
	__u32 bound, bounds; /* the number of boundaries passed, and of all */
	__u64 eval_start, cold_start;
	__u32 eval_bytes, cold_bytes; /* 0: there are boundaries */
	__u32 is_cut;		      /* there are more frames than were read */
	/* "cold" is a function that the loop calls, and then: */
	__u32 nests;
	__u32 is_inside;    /* that function was passed, and its caller comes next */
	__u32 is_fresh;	    /* the innermost interpreted frame may not have begun */
	__u32 is_over;	    /* the innermost call of the loop runs none any more */
	__u32 java;	    /* the number of Java's virtual machine, if it was met */
	__u32 java_methods; /* the number of its interpreted frames */
	__u32 reserved;
	/* The method of the frame and the place in it, if Java interprets it; 0: none */
	__u64 method, method_at;
};

/* What the next step of a walk puts into the chain. */
enum script_puts {
	SCRIPT_PUTS_NONE,   /* a frame of the C stack */
	SCRIPT_PUTS_SAMPLE, /* an interpreted frame, at which the sample counts */
	SCRIPT_PUTS_CALLER, /* an interpreted frame */
	SCRIPT_PUTS_REST,   /* the same, and the chain ends with the last one */
};

/* A walk over the stack of one task. */
struct unwinding {
	struct unwind_frame frame;
	__u64 registers[32]; /* of the interrupted frame, by their DWARF numbers */
	struct cpu_registers saved;
	struct stack_window window;
	struct unwind_rule rule; /* of the frame */
	__u32 left;		 /* how many more frames may be added */
	__u32 append;		 /* false for the first frame, which is the sample itself */
	__u32 place;		 /* index in the map "found" */
	__u32 end;
	__u32 astray;	 /* why the chain ends if no code is at the PC: it may be a guess */
	__u32 machine;	 /* enum unwind_machine */
	__u32 generated; /* CHAIN_GOES_ON: ->rule is that of generated code; UNKNOWN: it has none */
	__u32 is_java;	 /* ->rule is of code of HotSpot */
	struct script_state script;
	struct sample_chain chain;
	/* At the end: elsewhere, clang needs more stack. */
	__u32 waits; /* the sample counts at its waker, and where it waited is the first caller */
	__u32 reserved;
};

/* Indexed by enum sample_slot. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, struct unwinding);
	__uint(max_entries, 1);
} unwindings SEC(".maps");
