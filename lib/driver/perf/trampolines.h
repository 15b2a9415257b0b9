/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code that signal handlers return to, recognised by its bytes. In chains by frame pointers
 * it looks like any other caller. A page of a file is read once, in the memory of a process that
 * has it mapped: if there is an opener, by a thread, because that process can make it take long.
 * After trampolines_may_wait(), trampolines_waits() says that the answer is expected soon, and that
 * the chain should be looked for again then.
 *
 *	struct trampolines *t = trampolines_new(root, cookies);
 *
 *	if (trampolines_has(t, tgid, &frame, address))
 *		...
 *	trampolines_free(t);
 */
#pragma once

#include "base/macro.h"
#include "stream/evbuf.h"

struct cookie_table;
struct trampolines;

/* Knows nothing yet of the processes whose /proc is below @root. Both are borrowed as by
 * code_memory_new(). Caller frees. */
struct trampolines *trampolines_new(const char *root, const struct cookie_table *cookies);
/* Frees it; accepts NULL. */
void trampolines_free(struct trampolines *t);
DEFINE_CLEANUP(struct trampolines *, trampolines_free);

/* Whether the frame, which is at @address of the process @tgid, is in such code: at its first byte,
 * as a return address is, or where the code may be interrupted. False if that is not known. */
bool trampolines_has(struct trampolines *t, uint32_t tgid, const struct evbuf_frame *frame,
		     uint64_t address);

/* Whether chains from now on may wait for pages. */
void trampolines_may_wait(struct trampolines *t, bool may_wait);
/* Begins a chain. */
void trampolines_begin_chain(struct trampolines *t);
/* Whether it waits. */
bool trampolines_waits(const struct trampolines *t);
/* Waits for an answer, but at most @ms; returns whether one has come. */
bool trampolines_await(struct trampolines *t, int ms);
