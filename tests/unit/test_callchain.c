/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "base/macro.h"
#include "perf/callchain.h"

#include <linux/perf_event.h>

#define K ((uint64_t)PERF_CONTEXT_KERNEL)
#define U ((uint64_t)PERF_CONTEXT_USER)
#define G ((uint64_t)PERF_CONTEXT_GUEST)

static void frames_have_their_kinds(void)
{
	static const struct {
		uint64_t words[8];
		size_t count;
		bool user_seen;
		struct callchain_frame frames[4];
		size_t frame_count, addresses;
	} rows[] = {
		{ { K, 1, 2, U, 3, 4 },
		  6,
		  false,
		  { { CALLCHAIN_LEAF_KERNEL, 1 },
		    { CALLCHAIN_KERNEL, 2 },
		    { CALLCHAIN_ENTRY, 3 },
		    { CALLCHAIN_CALLER, 4 } },
		  4,
		  4 },
		{ { U, 3, 4 },
		  3,
		  true,
		  { { CALLCHAIN_LEAF_USER, 3 }, { CALLCHAIN_CALLER, 4 } },
		  2,
		  2 },
		/* What a task did in the kernel when it left its CPU. */
		{ { K, 1, 2, U, 3 }, 5, true, { { CALLCHAIN_LEAF_USER, 3 } }, 1, 3 },
		{ { K, 1, G, 7, U, 3 },
		  6,
		  false,
		  { { CALLCHAIN_LEAF_KERNEL, 1 }, { CALLCHAIN_ENTRY, 3 } },
		  2,
		  3 },
		{ { 9, U }, 2, false, { { 0 } }, 0, 1 }, /* nothing says what 9 is */
		{ { 0 }, 0, false, { { 0 } }, 0, 0 },
	};
	size_t i, n;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct callchain c = { .words = span_of(rows[i].words, 8 * rows[i].count),
				       .user_seen = rows[i].user_seen };
		struct callchain_frame f;

		for (n = 0; callchain_next(&c, &f); n++) {
			CHECK(n < rows[i].frame_count);
			CHECK_EQ(f.kind, rows[i].frames[n].kind);
			CHECK_EQ(f.address, rows[i].frames[n].address);
		}
		CHECK_EQ(n, rows[i].frame_count);
		CHECK_EQ(c.addresses, rows[i].addresses);
	}
}

TESTS(T(frames_have_their_kinds))
