/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "perf/user_stack.h"

#include "base/macro.h"

#include <linux/perf_event.h>

/* DWARF numbers of the registers in the order in which the kernel writes those asked for, lowest
 * bit first. The PC has the number after the others. */
#if defined(__aarch64__)
enum { FP = 29, LR = 30, SP = 31, PC = 32 };
static const uint8_t order[] = { 0,  1,	 2,  3,	 4,  5,	 6,  7,	 8,  9,	 10, 11, 12, 13, 14, 15, 16,
				 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32 };
#else
enum { BX = 3, FP = 6, SP = 7, PC = 16 };
/* ax bx cx dx si di bp sp ip r8 ... */
static const uint8_t order[] = { 0, 3, 2, 1, 4, 5, 6, 7, 16, 8, 9, 10, 11, 12, 13, 14, 15 };
#endif

static_assert(ARRAY_SIZE(order) <= USER_STACK_REGS_MAX, "all registers fit");

int user_stack_decode(struct span *more, struct user_stack *ret)
{
	struct span in = *more, copy;
	uint64_t abi, size, used = 0;
	size_t i;

	if (span_u64(&in, &abi) < 0)
		return -EBADMSG;
	for (i = 0; i < ARRAY_SIZE(order) && abi != PERF_SAMPLE_REGS_ABI_NONE; i++)
		if (span_u64(&in, &ret->regs[order[i]]) < 0)
			return -EBADMSG;
	if (span_u64(&in, &size) < 0 || size > in.left || span_sub(&in, (size_t)size, &copy) < 0)
		return -EBADMSG;
	/* A copy is followed by the number of its bytes in use. */
	if (size && (span_u64(&in, &used) < 0 || used > size))
		return -EBADMSG;
	*more = in;
	ret->is_32_bit = abi == PERF_SAMPLE_REGS_ABI_32;
	if (abi != PERF_SAMPLE_REGS_ABI_64)
		return 0;
	ret->reg_count = ARRAY_SIZE(order);
	ret->sp = ret->regs[SP];
	ret->bytes = span_of(copy.at, (size_t)used);
	return 1;
}

void user_stack_frame(const struct user_stack *u, struct unwind_frame *ret)
{
	*ret = (struct unwind_frame){
		.pc = u->regs[PC],
		.sp = u->sp,
		.fp = { .value = u->regs[FP] },
		.exact = 1,
		.first = 1,
	};
#if defined(__aarch64__)
	ret->lr = u->regs[LR];
	ret->bx.where = UNWIND_REG_LOST;
#else
	ret->bx.value = u->regs[BX];
#endif
}

int user_stack_read(void *data, __u64 address, __u64 *ret)
{
	const struct user_stack *u = data;
	uint64_t at = address - u->sp;
	uint64_t value;

	/* Farther than any stack reaches: no address at all, or on another stack. */
	if (address < u->sp || at > 1ULL << 32)
		return CHAIN_END_UNREADABLE;
	if (u->bytes.left < sizeof(value) || at > u->bytes.left - sizeof(value))
		return CHAIN_END_COPY_SHORT;
	memcpy(&value, u->bytes.at + at, sizeof(value));
	*ret = value;
	return CHAIN_GOES_ON;
}

int user_stack_reg(void *data, __u32 reg, __u64 *ret)
{
	const struct user_stack *u = data;

	if (reg >= u->reg_count)
		return CHAIN_END_NO_RULE;
	*ret = u->regs[reg];
	return CHAIN_GOES_ON;
}
