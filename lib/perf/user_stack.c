/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "perf/user_stack.h"

#include "base/macro.h"

#include <linux/perf_event.h>

/* How the kernel writes the registers of one kind of process. */
struct layout {
	uint64_t abi; /* PERF_SAMPLE_REGS_ABI_* */
	enum unwind_machine machine;
	/* DWARF numbers of the registers in the order in which the kernel writes those asked for,
	 * lowest bit first. The PC has a number after the others. */
	uint8_t order[USER_STACK_REGS_MAX], count;
	uint8_t bx, fp, lr, sp, pc; /* of these; 0: none */
};

static const struct layout layouts[] = {
#if defined(__aarch64__)
	{ .abi = PERF_SAMPLE_REGS_ABI_64,
	  .machine = UNWIND_AARCH64,
	  .order = { 0,	 1,  2,	 3,  4,	 5,  6,	 7,  8,	 9,  10, 11, 12, 13, 14, 15, 16,
		     17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32 },
	  .count = 33,
	  .fp = 29,
	  .lr = 30,
	  .sp = 31,
	  .pc = 32 },
#else
	/* ax bx cx dx si di bp sp ip r8 ... */
	{ .abi = PERF_SAMPLE_REGS_ABI_64,
	  .machine = UNWIND_X86_64,
	  .order = { 0, 3, 2, 1, 4, 5, 6, 7, 16, 8, 9, 10, 11, 12, 13, 14, 15 },
	  .count = 17,
	  .bx = 3,
	  .fp = 6,
	  .sp = 7,
	  .pc = 16 },
	{ .abi = PERF_SAMPLE_REGS_ABI_32,
	  .machine = UNWIND_I386,
	  .order = { 0, 3, 1, 2, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15, 16 },
	  .count = 17,
	  .bx = 3,
	  .fp = 5,
	  .sp = 4,
	  .pc = 8 },
#endif
};

/* The layout for @abi; NULL if it has none. */
static const struct layout *layout_of(uint64_t abi)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(layouts); i++)
		if (layouts[i].abi == abi)
			return &layouts[i];
	return NULL;
}

/* Reads the registers from @in, in @layout if there is one; 0 or -EBADMSG. */
static int take_registers(struct span *in, uint64_t abi, const struct layout *layout,
			  struct user_stack *ret)
{
	uint64_t value;
	size_t i;

	for (i = 0; i < layouts[0].count && abi != PERF_SAMPLE_REGS_ABI_NONE; i++) {
		if (span_u64(in, &value) < 0)
			return -EBADMSG;
		if (layout)
			ret->regs[layout->order[i]] =
				abi == PERF_SAMPLE_REGS_ABI_32 ? (uint32_t)value : value;
	}
	return 0;
}

int user_stack_decode(struct span *more, struct user_stack *ret)
{
	struct span in = *more, copy;
	const struct layout *layout;
	uint64_t abi, size, used = 0;

	if (span_u64(&in, &abi) < 0)
		return -EBADMSG;
	layout = layout_of(abi);
	if (take_registers(&in, abi, layout, ret) < 0 || span_u64(&in, &size) < 0 ||
	    size > in.left || span_sub(&in, (size_t)size, &copy) < 0)
		return -EBADMSG;
	/* A copy is followed by the number of its bytes in use. */
	if (size && (span_u64(&in, &used) < 0 || used > size))
		return -EBADMSG;
	*more = in;
	ret->in_user = false;
	ret->is_32_bit = abi == PERF_SAMPLE_REGS_ABI_32 && !layout;
	if (!layout)
		return 0;
	ret->machine = layout->machine;
	ret->reg_count = layout->count;
	ret->sp = ret->regs[layout->sp];
	ret->bytes = span_of(copy.at, (size_t)used);
	return 1;
}

int user_stack_read(void *data, __u64 address, __u64 *ret)
{
	const struct user_stack *u = data;
	size_t word = (size_t)unwind_word(u->machine);
	uint64_t at = address - u->sp;

	/* Farther than any stack reaches: no address at all, or on another stack. */
	if (address < u->sp || at > 1ULL << 32)
		return CHAIN_END_UNREADABLE;
	if (u->bytes.left < word || at > u->bytes.left - word)
		return CHAIN_END_COPY_SHORT;
	*ret = word == 8 ? get_le64(u->bytes.at + at) : get_le32(u->bytes.at + at);
	return CHAIN_GOES_ON;
}

void user_stack_frame(const struct user_stack *u, struct unwind_frame *ret)
{
	const struct layout *layout = layouts;

	while (layout->machine != u->machine)
		layout++;
	*ret = (struct unwind_frame){
		.pc = u->regs[layout->pc],
		.sp = u->sp,
		.fp = { .value = u->regs[layout->fp] },
		.exact = 1,
		.first = 1,
	};
	if (layout->lr)
		ret->lr = u->regs[layout->lr];
	if (layout->bx)
		ret->bx.value = u->regs[layout->bx];
	else
		ret->bx.where = UNWIND_REG_LOST;
	if (u->in_user)
		return;
	/* Register 2 of x86-64 is rcx. Which system call it is was not recorded. */
	unwind_to_system_call(ret, u->machine, u->regs[0], u->regs[2], true);
	unwind_to_vsyscall(ret, u->machine, user_stack_read, (void *)u);
}

int user_stack_reg(void *data, __u32 reg, __u64 *ret)
{
	const struct user_stack *u = data;

	if (reg >= u->reg_count)
		return CHAIN_END_NO_RULE;
	*ret = u->regs[reg];
	return CHAIN_GOES_ON;
}
