/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/internal/stack_bottom.h"

#include <string.h>

/* Only the parent has a caller, whose return address is on top of the stack. */
static const struct unwind_rule parent_or_child = {
	.cfa = UNWIND_CFA_CHILD,
	.base = UNWIND_BASE_SP,
	.saves = UNWIND_SAVES(UNWIND_SAME, UNWIND_SAME, UNWIND_AT_CFA),
	.cfa_offset = 8,
	.ra = -1,
};

const struct unwind_rule *stack_bottom_of_clone(enum unwind_machine machine, struct span gap)
{
	/* syscall; test %rax, %rax; jl; je; ret. The targets of the jumps differ. */
	static const uint8_t code[] = { 0x0f, 0x05, 0x48, 0x85, 0xc0, 0x7c, 0, 0x74, 0, 0xc3 };
	size_t i;

	if (machine != UNWIND_X86_64 || gap.left < sizeof(code))
		return NULL;
	for (i = 0; i < sizeof(code); i++)
		if (code[i] && gap.at[i] != code[i])
			return NULL;
	return &parent_or_child;
}

bool stack_bottom_is_context(enum unwind_machine machine, struct span code)
{
	/* mov %rbx, %rsp: what is below the function's frame is gone with its first instruction. */
	static const uint8_t start[] = { 0x48, 0x89, 0xdc };

	return machine == UNWIND_X86_64 && code.left >= sizeof(start) &&
	       !memcmp(code.at, start, sizeof(start));
}
