/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the structures of an interpreter are: the facts of one file, which the BPF program needs to
 * walk the interpreted frames of its processes. Offsets are in bytes; those of pointers are
 * multiples of 8. lib/interpreter/interpreter_image.h reads them from the file.
 */
#pragma once

#include <linux/types.h>

/* The language of an interpreter. */
enum interpreter_kind {
	INTERPRETER_NONE,
	INTERPRETER_PYTHON, /* CPython */
	INTERPRETER_PHP,    /* the Zend Engine */
	INTERPRETER_RUBY,   /* CRuby */
	INTERPRETER_JAVA,   /* HotSpot, whose compiled code is walked, too */
	INTERPRETER_COUNT_
};

/* How to see which Python frames a frame of the C stack runs. */
enum python_entry {
	PYTHON_ENTRY_NONE, /* unknown version: no Python frames */
	PYTHON_ENTRY_CODE, /* a call of the eval loop runs one; the loop is known by its code */
	PYTHON_ENTRY_EACH, /* the same, but each call has a CFrame on the C stack */
	PYTHON_ENTRY_FLAG, /* a call runs many, the outermost has a flag; CFrames as above */
	PYTHON_ENTRY_SHIM, /* a call runs many, up to a frame that is itself on the C stack */
	PYTHON_ENTRY_COUNT_
};

struct python_layout {
	/* Addresses are relative to PC 0 of the file's unwind table. */
	__s64 runtime;	  /* _PyRuntime */
	__s64 code_type;  /* PyCode_Type */
	__s64 eval_start; /* the eval loop, and the part of it that the compiler moved away */
	__s64 cold_start;
	__u32 eval_bytes, cold_bytes;
	__u16 version;	/* 0x030b: 3.11 */
	__u8 entry;	/* enum python_entry */
	__u8 is_tagged; /* a frame's pointer to its code has flags in its low bits */

	/* _PyRuntime */
	__u16 runtime_current; /* the thread that has the lock (GIL); 0: none */
	__u16 runtime_interpreters;
	/* PyInterpreterState */
	__u16 interpreter_next, interpreter_threads;
	/* PyThreadState */
	__u16 thread_next, thread_id;
	__u16 thread_status; /* has THREAD_ACTIVE; 0: none */
	__u16 thread_frame;  /* the innermost frame; 0: the CFrame has it */
	__u16 thread_cframe; /* 0: there are no CFrames */
	/* CFrame */
	__u16 cframe_current, cframe_previous;
	/* a frame; ->frame_owner is a byte: is_entry or owner */
	__u16 frame_code, frame_previous, frame_instruction, frame_owner, frame_bytes;
	/* PyCodeObject; ->code_bytes are read of it */
	__u16 code_line, code_name, code_file, code_lines, code_bytes;
	__u16 code_start; /* the first instruction; 0: frames have its index */
	__u16 code_text;  /* the str with the instructions; 0: they are in the object */
	/* str */
	__u16 text_data; /* of ASCII */
	__u16 reserved[2];
};
_Static_assert(sizeof(struct python_layout) == 96, "no padding");

enum { PHP_FUNCTION_WORDS = 21 }; /* read of a function */

struct php_layout {
	/* Addresses are relative to PC 0 of the file's unwind table. */
	__s64 current;	  /* the pointer to the innermost frame */
	__s64 loop_start; /* execute_ex, and the part of it that the compiler moved away */
	__s64 cold_start;
	__u32 loop_bytes, cold_bytes;
	__u16 version; /* 0x0802: 8.2; 0: not found */
	/* zend_op_array; ->function_lines: the first and the last line, each a __u32 */
	__u16 function_file, function_lines;
	__u16 is_known; /* 0: no PHP frames */
};
_Static_assert(sizeof(struct php_layout) == 40, "no padding");

/* Where a thread has the pointer to what it executes (ruby_current_ec). */
enum ruby_thread {
	RUBY_THREAD_FIXED, /* at an offset from its thread pointer: in a program */
	RUBY_THREAD_GLIBC, /* in the part of its variables that belongs to the library */
	RUBY_THREAD_MUSL,
	RUBY_THREAD_COUNT_
};

enum {
	RUBY_BODY_BYTES = 160, /* read of a function */
	/* The index of a line table: the first part, for few words of instructions, and blocks, for
	 * 512 further ones each. */
	RUBY_FEW_WORDS = 54,
	RUBY_BLOCK_BYTES = 80,
	RUBY_INDEX_BYTES = 48 + 12 * RUBY_BLOCK_BYTES, /* what is sent at most */
};

struct ruby_layout {
	/* Addresses are relative to PC 0 of the file's unwind table. */
	__s64 loop_start; /* rb_vm_exec */
	__s64 core_start; /* vm_exec_core, which it calls, if it is known */
	__s64 symbols;	  /* ruby_global_symbols; 0: not known, no names of methods in C */
	__s64 module;	  /* where the number of the library's variables is */
	__s64 current;	  /* offset of ruby_current_ec, from what ->thread says */
	__u32 loop_bytes, core_bytes;
	__u16 version;	   /* 0x0301: 3.1; 0: not found */
	__u16 is_known;	   /* 0: no Ruby frames */
	__u16 frame_bytes; /* rb_control_frame_t */
	/* rb_iseq_constant_body: the file, after which come two names; lines */
	__u16 body_path, body_line, body_lines;
	__u16 line_bytes;    /* an entry of the line table */
	__u16 last_operator; /* IDs up to here have no flags */
	__u8 thread;	     /* enum ruby_thread */
	__u8 is_short;	     /* the layout of a String up to 3.1 */
	__u8 reserved[6];
};
_Static_assert(sizeof(struct ruby_layout) == 72, "no padding");

/* The members of HotSpot's structures that are read. Where they are is in a table in the memory of
 * each process, which the virtual machine fills in at its start. */
enum java_field {
	JAVA_HEAP_MEMORY, /* CodeHeap: */
	JAVA_HEAP_MAP,
	JAVA_HEAP_SHIFT,
	JAVA_SPACE_START, /* VirtualSpace: */
	JAVA_SPACE_END,
	JAVA_LIST_LENGTH, /* GrowableArray: */
	JAVA_LIST_DATA,
	JAVA_BLOB_NAME, /* CodeBlob: */
	JAVA_BLOB_FRAME,
	JAVA_BLOB_COMPLETE,
	JAVA_BLOB_CODE,
	JAVA_BLOB_DATA,
	JAVA_BLOB_METHOD,
	JAVA_BLOB_COMPILE, /* which may be far from the others */
	JAVA_METHOD_CONST, /* Method, ConstMethod: */
	JAVA_CONST_POOL,
	JAVA_CONST_BYTES,
	JAVA_CONST_NAME,
	JAVA_CONST_SIGNATURE,
	JAVA_CONST_SIZE,
	JAVA_CONST_FLAGS,
	JAVA_POOL_HOLDER, /* ConstantPool: */
	JAVA_POOL_SOURCE, /* since 15 */
	JAVA_KLASS_NAME,
	JAVA_SYMBOL_LENGTH,
	JAVA_SYMBOL_BODY,
	JAVA_FIELD_COUNT_
};

enum {
	JAVA_ENTRY_BYTES = 48, /* of the table, and where an entry has the offset */
	JAVA_ENTRY_OFFSET = 32,
	JAVA_ENTRIES_MAX = 8192,
	JAVA_NO_ENTRY = 0xffff,
};

struct java_layout {
	/* Addresses are relative to PC 0 of the file's unwind table. */
	__s64 table;			  /* its first entry */
	__s64 pointer;			  /* a pointer to it */
	__s64 heaps;			  /* a pointer to the list of CodeHeaps */
	__s64 data;			  /* added to the offset in the file of its data */
	__u16 entries[JAVA_FIELD_COUNT_]; /* by enum java_field; JAVA_NO_ENTRY: not there */
	__u16 version;			  /* 17; 0: not found */
	__u16 block_bytes;		  /* of a HeapBlock, which a CodeBlob follows */
	__u16 const_bytes;		  /* of a ConstMethod, which the bytecode follows */
	__u16 pool_bytes;		  /* of a ConstantPool, which its entries follow */
	__u8 is_known;			  /* 0: no frames */
	__u8 is_offset;			  /* JAVA_BLOB_CODE is an offset, not an address */
	__u8 is_short;			  /* JAVA_BLOB_COMPLETE has 2 bytes, not 4 */
	__u8 reserved[1];
};
_Static_assert(sizeof(struct java_layout) == 96, "no padding");

/* What is known of an interpreter. */
struct interpreter {
	__u32 kind;	/* enum interpreter_kind */
	__u32 is_known; /* 0: its version is not supported, so there are no frames */
	union {
		struct python_layout python;
		struct php_layout php;
		struct ruby_layout ruby;
		struct java_layout java;
	};
};
_Static_assert(sizeof(struct interpreter) == 104, "no padding");
