/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "unwind/unwind_code.h"

#include <stdlib.h>
#include <string.h>

/* The CFA is rsp + 8, the return address at CFA - 8; FDEs have addresses relative to the PC. */
#define CIE 20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 12, 7, 8, 0x90, 1, 0, 0
/* The code of an FDE at @at starts at the distance @start from it, its CIE is at 0. */
#define FDE(at, start, size)                                                                       \
	20, 0, 0, 0, (at) + 4, 0, 0, 0, (start)&255, (start) >> 8 & 255, (start) >> 16 & 255,      \
		0xff, (size)&255, (size) >> 8, 0, 0, 0

static size_t rows_of(const uint8_t *bytes, size_t count, uint64_t size,
		      struct unwind_code_row **ret)
{
	const struct unwind_cfi cfi = { UNWIND_X86_64, size, span_of(bytes, count) };

	return unwind_code_read(&cfi, ret);
}

static bool is(const struct unwind_code_row *row, uint32_t offset, int32_t cfa_offset)
{
	return row->offset == offset && row->rule.cfa == UNWIND_CFA_REG &&
	       row->rule.base == UNWIND_BASE_SP && row->rule.cfa_offset == cfa_offset;
}

static void one_fde_describes_all_of_the_code(void)
{
	/* Wherever it says that the code is. */
	static const int starts[] = { -16 - 32, -4096, 4096 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		const uint8_t cfi[] = { CIE, FDE(24, starts[i], 16), 0x44, 0x0e, 16, 0x46, 0x0e, 8,
					0 };
		_cleanup_free_ struct unwind_code_row *rows = NULL;

		if (!CHECK(rows_of(cfi, sizeof(cfi), 16, &rows) == 3))
			continue;
		CHECK(is(&rows[0], 0, 8));
		CHECK(is(&rows[1], 4, 16));
		CHECK(is(&rows[2], 10, 8));
	}
}

static void fdes_describe_parts(void)
{
	/* Code of 64 bytes: from 32 to 48 and from 8 to 16. The section is at 64. */
	static const uint8_t cfi[] = {
		CIE, FDE(24, 32 - 64 - 32, 16), 0x44, 0x0e, 16, 0, 0, 0,
		0,   FDE(48, 8 - 64 - 56, 8),	0,    0,    0,	0, 0, 0,
		0,
	};
	_cleanup_free_ struct unwind_code_row *rows = NULL;

	if (!CHECK(rows_of(cfi, sizeof(cfi), 64, &rows) == 6))
		return;
	CHECK(rows[0].offset == 0 && unwind_is_hole(&rows[0].rule));
	CHECK(is(&rows[1], 8, 8));
	CHECK(rows[2].offset == 16 && unwind_is_hole(&rows[2].rule));
	CHECK(is(&rows[3], 32, 8));
	CHECK(is(&rows[4], 36, 16));
	CHECK(rows[5].offset == 48 && unwind_is_hole(&rows[5].rule));
}

/* Code of several times 64 KiB, at which rows of tables begin again. */
static void long_code_has_no_row_twice(void)
{
	const uint8_t cfi[] = { CIE, FDE(24, -3 * 65536 - 64 - 32, 64), 3, 0xff, 0xff, 0x0e, 16, 0,
				0 };
	_cleanup_free_ struct unwind_code_row *rows = NULL;
	uint8_t copy[sizeof(cfi)];

	memcpy(copy, cfi, sizeof(cfi));
	copy[24 + 12 + 2] = 3; /* 3 * 65536 + 64 bytes */
	if (!CHECK(rows_of(copy, sizeof(copy), 3 * 65536 + 64, &rows) == 2))
		return;
	CHECK(is(&rows[0], 0, 8));
	CHECK(is(&rows[1], 65535, 16));
}

static void damaged_bytes_have_no_rows(void)
{
	uint8_t cfi[] = { CIE, FDE(24, -48, 16), 0x44, 0x0e, 16, 0x46, 0x0e, 8, 0 };
	struct unwind_code_row *rows = NULL;
	size_t i, value;

	CHECK_EQ(rows_of(NULL, 0, 16, &rows), 0);
	CHECK_EQ(rows_of(cfi, sizeof(cfi), 0, &rows), 0);
	CHECK_EQ(rows_of(cfi, sizeof(cfi), UNWIND_CODE_MAX + 1, &rows), 0);
	CHECK_EQ(rows_of(cfi, 24, 16, &rows), 0);
	/* Whatever one byte says. */
	for (i = 0; i < sizeof(cfi); i++) {
		uint8_t before = cfi[i];

		for (value = 0; value < 256; value++) {
			size_t count;

			cfi[i] = (uint8_t)value;
			rows = NULL;
			count = rows_of(cfi, sizeof(cfi), 16, &rows);
			CHECK(count <= UNWIND_CODE_ROWS_MAX && (!count || !rows[0].offset));
			free(rows);
		}
		cfi[i] = before;
	}
}

TESTS(T(one_fde_describes_all_of_the_code), T(fdes_describe_parts), T(long_code_has_no_row_twice),
      T(damaged_bytes_have_no_rows))
