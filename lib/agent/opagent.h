/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libopagent: for programs that make code while they run, so that OProfile, and perf, can name it.
 * What is said here is written to a jitdump, $JITDUMPDIR/jit-PID.dump or /tmp/jit-PID.dump, as
 * tools/perf/Documentation/jitdump-specification.txt of Linux has it. The calls are those of
 * OProfile 1.x; all may be made from any thread.
 *
 *	op_agent_t agent = op_open_agent();
 *	op_write_native_code(agent, "my_function", (uint64_t)code, code, size);
 *	...
 *	op_unload_native_code(agent, (uint64_t)code);
 *	op_close_agent(agent);
 *
 * Link with what `pkg-config --cflags --libs opagent` says.
 */
#ifndef OPAGENT_H
#define OPAGENT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void *op_agent_t;

/* A row of lines: code from @vma up to the next row is of that line. */
struct debug_line_info {
	unsigned long vma; /* address of the first instruction */
	unsigned int lineno;
	const char *filename;
};

/* Opens the dump of this process. NULL with errno if that cannot be: EEXIST where somebody else's
 * file has its name. The caller closes it with op_close_agent(). */
op_agent_t op_open_agent(void);

/* Says that no more will come, and closes it. 0, or -1 with errno (EINVAL if @agent is no agent).
 * The file stays: it is what a report is made from. */
int op_close_agent(op_agent_t agent);

/* Says that code called @symbol_name of @size bytes lies at @vma from now on; what lay there before
 * ends. @code is where its bytes can be read now, NULL if nowhere. 0, or -1 with errno. */
int op_write_native_code(op_agent_t agent, char const *symbol_name, uint64_t vma, void const *code,
			 unsigned int size);

/* Says the lines of the code that the next op_write_native_code() with the same @code brings;
 * @compile_map has @nr_entry rows. 0, or -1 with errno. */
int op_write_debug_line_info(op_agent_t agent, void const *code, size_t nr_entry,
			     struct debug_line_info const *compile_map);

/* Says that the code that starts at @vma is gone. 0, or -1 with errno. */
int op_unload_native_code(op_agent_t agent, uint64_t vma);

/* The version of this interface, as of the original: 1.0. */
int op_major_version(void);
int op_minor_version(void);

#ifdef __cplusplus
}
#endif

#endif
