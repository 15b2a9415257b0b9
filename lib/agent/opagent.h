/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libopagent: programs that generate code at run time describe it here, so that OProfile and perf
 * can show its names. Everything is written to a jitdump, $JITDUMPDIR/jit-PID.dump or
 * /tmp/jit-PID.dump (tools/perf/Documentation/jitdump-specification.txt in Linux). The interface is
 * that of OProfile 1.x, op_write_unwindable_code() and op_write_inlined_calls(). All functions are
 * thread-safe.
 *
 *	op_agent_t agent = op_open_agent();
 *	op_write_native_code(agent, "my_function", (uint64_t)code, code, size);
 *	...
 *	op_unload_native_code(agent, (uint64_t)code);
 *	op_close_agent(agent);
 *
 * To link, use `pkg-config --cflags --libs opagent`.
 */
#ifndef OPAGENT_H
#define OPAGENT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void *op_agent_t;

/* A row of a line table: the line of the code from @vma up to the next row. */
struct debug_line_info {
	unsigned long vma; /* address of the first instruction */
	unsigned int lineno;
	const char *filename;
};

/* A call that the compiler replaced by the code of the function that is called. */
struct op_inlined_call {
	unsigned int caller;  /* number of the call that this one is in; 0: the code itself */
	unsigned int lineno;  /* of the call; 0: unknown */
	const char *filename; /* that the call is in; NULL: unknown */
	const char *function; /* that is called */
};

/* The code from @offset up to the next row is of one call. */
struct op_inlined_row {
	unsigned int offset; /* of the first instruction, in the code */
	unsigned int call;   /* number of the innermost call there; 0: none */
};

/* All calls inlined into a piece of code: numbered from 1 on, each after its caller, at most 32 of
 * them inside one another. The offsets of rows rise. */
struct op_inlined_calls {
	struct op_inlined_call const *calls;
	size_t nr_calls;
	struct op_inlined_row const *rows;
	size_t nr_rows;
};

/* Opens the dump of this process. The caller closes it with op_close_agent(). NULL with errno on
 * failure: EEXIST if a file of another user has its name. */
op_agent_t op_open_agent(void);

/* Ends the dump and closes it. 0, or -1 with errno (EINVAL if @agent is no agent).
 * The file remains, as reports read it. */
int op_close_agent(op_agent_t agent);

/* Adds code called @symbol_name of @size bytes at @vma; code that was there before ends. @code
 * points to its bytes, NULL if they are not available. 0, or -1 with errno. */
int op_write_native_code(op_agent_t agent, char const *symbol_name, uint64_t vma, void const *code,
			 unsigned int size);

/* As op_write_native_code(), for code without frame pointers: @eh_frame of @eh_frame_size bytes, at
 * most 16 KiB, says how to find the caller, in the format of the section .eh_frame. It is linked at
 * the next multiple of 8 after the code. 0, or -1 with errno. */
int op_write_unwindable_code(op_agent_t agent, char const *symbol_name, uint64_t vma,
			     void const *code, unsigned int size, void const *eh_frame,
			     size_t eh_frame_size);

/* Gives the lines of the code that the next op_write_native_code() with the same @code adds;
 * @compile_map has @nr_entry rows. 0, or -1 with errno. */
int op_write_debug_line_info(op_agent_t agent, void const *code, size_t nr_entry,
			     struct debug_line_info const *compile_map);

/* Gives the calls inlined into the code at @vma, which must be added next. 0, or -1 with errno
 * (EFBIG if they take more than 1 MiB, EINVAL if they are not as struct op_inlined_calls says). */
int op_write_inlined_calls(op_agent_t agent, uint64_t vma, struct op_inlined_calls const *inlined);

/* Says that the code that starts at @vma no longer exists. 0, or -1 with errno. */
int op_unload_native_code(op_agent_t agent, uint64_t vma);

/* The version of this interface, that of the original: 1.0. */
int op_major_version(void);
/* Its second number, 0. */
int op_minor_version(void);

#ifdef __cplusplus
}
#endif

#endif
