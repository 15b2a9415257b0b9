/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "agent/java_frame.h"
#include "unwind/unwind_code.h"

#include <stdlib.h>

/* As HotSpot writes them: the stack is touched below rsp, a poll for safepoints. */
#define BANG  0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff
#define POLL  0x49, 0x3b, 0x67, 0x28, 0x0f, 0x87, 1, 2, 3, 0
#define CLASS 0x44, 0x8b, 0x56, 0x08, 0x41, 0x3b, 0xc2

struct expected {
	uint32_t offset;
	int32_t cfa_offset;
};

static size_t rows_of(const uint8_t *code, size_t size, struct unwind_code_row **ret)
{
	uint8_t cfi[JAVA_FRAME_BYTES];
	const struct unwind_cfi in = { UNWIND_X86_64, size,
				       span_of(cfi, java_frame_cfi(code, size, cfi)) };

	return unwind_code_read(&in, ret);
}

static void check(const uint8_t *code, size_t size, const struct expected *expected, size_t count)
{
	_cleanup_free_ struct unwind_code_row *rows = NULL;
	size_t i, found = rows_of(code, size, &rows);

	CHECK_EQ(found, count);
	for (i = 0; i < found && i < count; i++) {
		CHECK_EQ(rows[i].offset, expected[i].offset);
		CHECK_EQ(rows[i].rule.cfa_offset, expected[i].cfa_offset);
		CHECK_EQ(rows[i].rule.base, UNWIND_BASE_SP);
	}
}

static void a_method_has_a_frame_up_to_its_return(void)
{
	static const uint8_t code[] = {
		CLASS, BANG, 0x55,	       /* 14: push %rbp */
		0x48,  0x83, 0xec, 0x30,       /* 15: sub $0x30, %rsp */
		0x90,  0x48, 0x83, 0xc4, 0x30, /* 20: add $0x30, %rsp */
		0x5d,			       /* 24: pop %rbp */
		POLL,  0xc3,		       /* 35: ret */
		0x90,  0x48, 0x83, 0xc4, 0x28, 0x5d, 0x90, 0x90, 0x90, 0x90, /* another frame's */
	};
	static const struct expected rows[] = { { 0, 8 },   { 15, 16 }, { 19, 0x40 },
						{ 24, 16 }, { 25, 8 },	{ 36, 0x40 } };

#ifdef __x86_64__
	check(code, sizeof(code), rows, ARRAY_SIZE(rows));
#else
	CHECK_EQ(rows_of(code, sizeof(code), NULL), 0);
	(void)rows, (void)check;
#endif
}

#ifdef __x86_64__
static void a_large_frame_is_known(void)
{
	static const uint8_t code[] = {
		BANG, BANG, 0x55, 0x48, 0x81, 0xec, 0x00, 0x02, 0,
		0,    0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
	};
	static const struct expected rows[] = { { 0, 8 }, { 15, 16 }, { 22, 0x210 } };

	check(code, sizeof(code), rows, ARRAY_SIZE(rows));
}

static void a_method_that_calls_nothing_stores_rbp(void)
{
	static const uint8_t code[] = {
		CLASS, 0x48, 0x81, 0xec, 0x18, 0,    0,	   0, /* 7: sub $0x18, %rsp */
		0x48,  0x89, 0x6c, 0x24, 0x10,		      /* 14: mov %rbp, 0x10(%rsp) */
		0x90,  0x48, 0x83, 0xc4, 0x10,		      /* 20: add $0x10, %rsp */
		0x5d,  0xc3, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
	};
	static const struct expected rows[] = {
		{ 0, 8 }, { 19, 0x20 }, { 24, 16 }, { 25, 8 }, { 26, 0x20 }
	};

	check(code, sizeof(code), rows, ARRAY_SIZE(rows));
}

static void what_is_not_recognised_has_no_rows(void)
{
	static const uint8_t framed[] = { BANG, 0x55, 0x48, 0x8b, 0xec, 0x48, 0x83, 0xec, 0x30,
					  0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90 };
	static const uint8_t other[64] = { 0x90, 0x48, 0x83, 0xec, 0x30 };
	struct unwind_code_row *rows = NULL;
	size_t size;

	CHECK_EQ(rows_of(framed, sizeof(framed), &rows), 0);
	CHECK_EQ(rows_of(other, sizeof(other), &rows), 0);
	for (size = 0; size < sizeof(framed); size++)
		CHECK_EQ(rows_of(framed, size, &rows), 0);
}
#else
static void a_large_frame_is_known(void)
{
	SKIP("only for x86-64");
}

static void a_method_that_calls_nothing_stores_rbp(void)
{
	SKIP("only for x86-64");
}

static void what_is_not_recognised_has_no_rows(void)
{
	SKIP("only for x86-64");
}
#endif

TESTS(T(a_method_has_a_frame_up_to_its_return), T(a_large_frame_is_known),
      T(a_method_that_calls_nothing_stores_rbp), T(what_is_not_recognised_has_no_rows))
