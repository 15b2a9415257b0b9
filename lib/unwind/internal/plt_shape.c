/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/internal/plt_shape.h"

#include "base/macro.h"

#include <stdbool.h>
#include <string.h>

enum { PARTS_MAX = 5, BYTES_MAX = 4 };

/* The CFA is sp + @bytes; with UNWIND_CFA_PLT 8 more from byte @push_at of a slot on. */
#define AT_SP(kind, bytes, push_at)                                                                \
	{                                                                                          \
		.cfa = (kind), .base = UNWIND_BASE_SP, .cfa_offset = (bytes),                      \
		.cfa_add = (push_at), .ra = -1,                                                    \
		.saves = UNWIND_SAVES(UNWIND_SAME, UNWIND_SAME, UNWIND_AT_CFA),                    \
	}

/* So many words have been pushed since the call that led to the table. */
static const struct unwind_rule pushed_0 = AT_SP(UNWIND_CFA_REG, 8, 0);
static const struct unwind_rule pushed_1 = AT_SP(UNWIND_CFA_REG, 16, 0);
static const struct unwind_rule pushed_2 = AT_SP(UNWIND_CFA_REG, 24, 0);
/* Stubs of 16 bytes: jmp *slot; push $index; jmp head. */
static const struct unwind_rule lazy = AT_SP(UNWIND_CFA_PLT, 8, 11);
/* Stubs of 16 bytes: endbr64; push $index; jmp head. */
static const struct unwind_rule marked = AT_SP(UNWIND_CFA_PLT, 8, 9);
/* The head, to which stubs jump after they pushed: push *link_map; jmp *resolver. */
static const struct unwind_rule head = AT_SP(UNWIND_CFA_PLT, 16, 6);

/* AArch64 stubs leave the return address in x30; the head saves it. */
static const struct unwind_rule arm_stub = { .cfa = UNWIND_CFA_REG, .ra = 30 };
static const struct unwind_rule arm_head = AT_SP(UNWIND_CFA_REG, 16, 0);

/* The first that fits is right. */
static const struct shape {
	enum unwind_machine machine;
	const char *section;
	struct {
		uint8_t at, count, is[BYTES_MAX];
	} code[2];
	struct plt_part parts[PARTS_MAX];
} shapes[] = {
	/* lld with -z ibt. */
	{ UNWIND_X86_64,
	  ".plt",
	  { { 6, 2, { 0xff, 0x25 } }, { 16, 4, { 0xf3, 0x0f, 0x1e, 0xfa } } },
	  { { 16, &head }, { 0, &marked } } },
	/* lld. */
	{ UNWIND_X86_64,
	  ".plt",
	  { { 6, 2, { 0xff, 0x25 } }, { 16, 2, { 0xff, 0x25 } } },
	  { { 16, &head }, { 0, &lazy } } },
	/* lld with -z retpolineplt: the head, what stubs call to jump, the stubs. */
	{ UNWIND_X86_64,
	  ".plt",
	  { { 6, 3, { 0x4c, 0x8b, 0x1d } }, { 32, 4, { 0x4c, 0x89, 0x1c, 0x24 } } },
	  { { 32, &head }, { 16, &pushed_1 }, { 0, &pushed_0 } } },
	/* The same with -z now: there is no head. */
	{ UNWIND_X86_64,
	  ".plt",
	  { { 0, 2, { 0xe8, 0x0b } }, { 16, 4, { 0x4c, 0x89, 0x1c, 0x24 } } },
	  { { 16, &pushed_0 }, { 16, &pushed_1 }, { 0, &pushed_0 } } },
	/* mold: the head pushes twice. */
	{ UNWIND_X86_64,
	  ".plt",
	  { { 0, 4, { 0xf3, 0x0f, 0x1e, 0xfa } }, { 4, 4, { 0x41, 0x53, 0xff, 0x35 } } },
	  { { 6, &pushed_0 }, { 6, &pushed_1 }, { 20, &pushed_2 }, { 0, &pushed_0 } } },
	{ UNWIND_X86_64, ".iplt", { { 0, 2, { 0xff, 0x25 } } }, { { 0, &lazy } } },
	{ UNWIND_X86_64, ".plt.got", { { 0 } }, { { 0, &pushed_0 } } },
	{ UNWIND_X86_64, ".plt.sec", { { 0 } }, { { 0, &pushed_0 } } },
	{ UNWIND_AARCH64,
	  ".plt",
	  { { 0, 4, { 0xf0, 0x7b, 0xbf, 0xa9 } } },
	  { { 4, &arm_stub }, { 28, &arm_head }, { 0, &arm_stub } } },
	/* With -z force-bti. */
	{ UNWIND_AARCH64,
	  ".plt",
	  { { 0, 4, { 0x5f, 0x24, 0x03, 0xd5 } }, { 4, 4, { 0xf0, 0x7b, 0xbf, 0xa9 } } },
	  { { 8, &arm_stub }, { 24, &arm_head }, { 0, &arm_stub } } },
	/* Of a static program: there is no head. */
	{ UNWIND_AARCH64, ".plt", { { 0 } }, { { 0, &arm_stub } } },
	{ UNWIND_AARCH64, ".iplt", { { 0 } }, { { 0, &arm_stub } } },
	{ UNWIND_AARCH64, ".plt.got", { { 0 } }, { { 0, &arm_stub } } },
};

const char *const plt_sections[] = { ".plt", ".plt.got", ".plt.sec", ".iplt", NULL };

static bool has_code(const struct shape *s, struct span code)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(s->code); i++) {
		size_t at = s->code[i].at, count = s->code[i].count;

		if (at + count > code.left || memcmp(code.at + at, s->code[i].is, count) != 0)
			return false;
	}
	return true;
}

const struct plt_part *plt_shape(enum unwind_machine machine, const char *section, struct span code)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		const struct shape *s = &shapes[i];

		if (s->machine == machine && !strcmp(s->section, section) && has_code(s, code))
			return s->parts;
	}
	return NULL;
}
