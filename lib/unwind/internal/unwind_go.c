/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/internal/unwind_go.h"

#include "gosym/gosym.h"
#include "unwind/internal/unwind_rows.h"

/* Nothing called the function: above its frame is what the stack contained before. */
static const struct unwind_rule outermost = { .cfa = UNWIND_CFA_END };
/* The kernel's trampoline for signal handlers. */
static const struct unwind_rule trampoline = { .cfa = UNWIND_CFA_SIGNAL };
/* The function runs another one on the stack of the thread. The frame pointer is that of its
 * caller, on the goroutine's stack: the step leads to the caller of that. Its own return address is
 * only in the goroutine's descriptor. */
static const struct unwind_rule stack_switch = {
	.cfa = UNWIND_CFA_STACK,
	.base = UNWIND_BASE_FP,
	.saves = UNWIND_SAVES(UNWIND_AT_CFA, UNWIND_LOST, UNWIND_AT_CFA),
	.cfa_offset = 16,
	.ra = -1,
	.fp = -2,
};

/* cgocallback returns to the start of this function, as if it had called on the stack of the
 * goroutine: it
 * has no frame there. */
static const struct unwind_rule frameless = {
	.cfa = UNWIND_CFA_REG,
	.base = UNWIND_BASE_SP,
	.saves = UNWIND_SAVES(UNWIND_SAME, UNWIND_LOST, UNWIND_AT_CFA),
	.cfa_offset = 8,
	.ra = -1,
};

/* Whether the function calls the vdso on the stack of the thread. The frame pointer is its own. */
static bool calls_vdso(const char *name)
{
	static const char *const names[] = { "runtime.nanotime1", "runtime.walltime",
					     "runtime.vgetrandom1", "time.now" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

uint64_t unwind_go_rule(enum unwind_machine machine, const char *name,
			const struct unwind_rule **ret)
{
	static const struct {
		const char *name;
		const struct unwind_rule *rule;
	} rows[] = {
		{ "runtime.goexit", &outermost },
		{ "runtime.mcall", &outermost },
		{ "runtime.morestack", &outermost },
		{ "runtime.mstart", &outermost },
		{ "runtime.rt0_go", &outermost },
		{ "runtime.asmcgocall", &stack_switch },
		{ "runtime.systemstack", &stack_switch },
		{ "runtime.systemstack_switch", &frameless },
		{ "runtime.sigreturn", &trampoline },		 /* before Go 1.20 */
		{ "runtime.sigreturn__sigaction", &trampoline }, /* since then */
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(name, rows[i].name))
			break;
	if (i == ARRAY_SIZE(rows) || (rows[i].rule == &frameless && machine != UNWIND_X86_64))
		return 0;
	*ret = rows[i].rule;
	if (*ret == &stack_switch && machine != UNWIND_X86_64)
		*ret = &outermost;
	/* What returns to its start is looked up one byte before. */
	return *ret == &trampoline || *ret == &frameless;
}

/* The rule where the stack pointer has moved by @bytes. */
static struct unwind_rule rule_of(enum unwind_machine machine, int32_t bytes)
{
	const int32_t word = (int32_t)unwind_word(machine);
	struct unwind_rule rule = {
		.cfa = UNWIND_CFA_REG,
		.base = UNWIND_BASE_SP,
		.saves = UNWIND_SAVES(UNWIND_SAME, UNWIND_LOST, UNWIND_AT_CFA),
		.cfa_offset = bytes + word,
		.ra = -1,
	};

	if (bytes < 0 || bytes % word || bytes > INT16_MAX * word)
		return (struct unwind_rule){ .base = UNWIND_WHY_RANGE };
	if (machine == UNWIND_AARCH64) {
		/* The return address is at the lower end of the frame, or still in x30. */
		rule.cfa_offset = bytes;
		rule.ra = bytes ? (int16_t)(-bytes / word) : 30;
		if (!bytes)
			rule.saves = UNWIND_SAVES(UNWIND_SAME, UNWIND_LOST, UNWIND_SAME);
	} else if (machine == UNWIND_X86_64 && bytes) {
		/* The compiler saves the frame pointer of the caller first. */
		rule.saves = UNWIND_SAVES(UNWIND_AT_CFA, UNWIND_LOST, UNWIND_AT_CFA);
		rule.fp = -2;
	}
	return rule;
}

void unwind_go_write(const struct gosym *go, size_t i, enum unwind_machine machine,
		     struct unwind_rows *rows)
{
	/* Functions start at multiples of this many bytes. */
	enum { ALIGNED = 32 };
	static const struct unwind_rule none = { .base = UNWIND_WHY_DAMAGED };
	struct gosym_function fn;
	struct gosym_range r;
	struct unwind_rule rule;
	bool switches;
	uint64_t end;

	if (!gosym_at(go, i, &fn))
		return;
	end = fn.start;
	switches = machine == UNWIND_X86_64 && calls_vdso(fn.name);
	for (r = gosym_stack(go, &fn); gosym_next(go, &r); end = r.end) {
		rule = switches && r.value > 0 ? stack_switch : rule_of(machine, r.value);
		unwind_rows_put_rule(rows, r.start - rows->base, &rule);
	}
	/* Padding gets the rule of the function, to save a row. */
	if (end == fn.start || fn.end - end >= ALIGNED)
		unwind_rows_put_rule(rows, end - rows->base, &none);
}
