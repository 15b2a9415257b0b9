/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the user's stack, registers and code for the walk. */
#pragma once

#include "arch.bpf.h"
#include "unwinding.bpf.h"

/* Copies the stack from @address on, within one page: a page can be read as a whole or not at all.
 */
static __always_inline int copy_window(struct stack_window *w, __u64 address)
{
	__u64 start = address & ~(STACK_LINE_BYTES - 1), bytes = -start & (STACK_PAGE_BYTES - 1);

	if (!bytes || bytes > STACK_WINDOW_BYTES)
		bytes = STACK_WINDOW_BYTES;
	w->bytes = 0;
	if (bpf_probe_read_user(w->words, bytes, (void *)start))
		return CHAIN_END_UNREADABLE;
	w->start = start;
	w->bytes = bytes;
	return CHAIN_GOES_ON;
}

/* Reads the stack at @address. Stacks are read upwards, so an address below the window is read on
 * its own. */
__noinline int read_stack_word(struct unwinding *u, __u64 address, __u64 *ret)
{
	struct stack_window *w;
	__u64 word;

	if (!u || !ret)
		return CHAIN_END_UNREADABLE;
	w = &u->window;
	word = unwind_word(machine_of(u->machine));
	if (address & (word - 1) || address < w->start) {
		*ret = 0;
		return bpf_probe_read_user(ret, word, (void *)address) ? CHAIN_END_UNREADABLE
								       : CHAIN_GOES_ON;
	}
	if (address - w->start >= w->bytes && copy_window(w, address) != CHAIN_GOES_ON)
		return CHAIN_END_UNREADABLE;
	*ret = w->words[(address - w->start) / 8 & (STACK_WINDOW_BYTES / 8 - 1)];
	if (word == 4)
		*ret = address & 4 ? *ret >> 32 : (__u32)*ret;
	return CHAIN_GOES_ON;
}

/* An unwind_read_fn. */
static int read_stack(void *data, __u64 address, __u64 *ret)
{
	return read_stack_word(data, address, ret);
}

static int read_register(void *data, __u32 number, __u64 *ret)
{
	const struct unwinding *u = data;

	*ret = u->registers[number & 31];
	return CHAIN_GOES_ON;
}

/* An unwind_read_fn for code. */
static int read_code(void *data, __u64 address, __u64 *ret)
{
	if (bpf_probe_read_user(ret, sizeof(*ret), (void *)address))
		return CHAIN_END_UNREADABLE;
	return CHAIN_GOES_ON;
}
