/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/profile/gprof/gmon.c: the bytes of gmon.out. What gprof makes of them tests/golden/opgprof
 * shows.
 */
#include "test.h"

#include "base/span.h"
#include "profile/gprof/gmon.h"

struct bytes {
	char *data;
	size_t size;
};

static struct bytes written(struct gmon *g)
{
	struct bytes b = { 0 };
	FILE *out = open_memstream(&b.data, &b.size);

	gmon_write(g, out);
	(void)fclose(out);
	gmon_done(g);
	return b;
}

static void one_sample_of_a_big_endian_32_bit_program(void)
{
	static const uint8_t expected[] =
		"gmon\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0"
		"\0\x10\x20\x30\x44\x10\x20\x30\x46\0\0\0\1\0\0\0\1samples\0\0\0\0\0\0\0\0"
		"1\1\2"
		"\1\0\0\1\2\0\0\3\4\0\0\0\7";
	struct gmon g = { .is_64 = false, .big_endian = true };
	struct bytes b;

	gmon_add_samples(&g, 0x10203045, 0x10203000, 0x10204000, 0x102);
	gmon_add_arc(&g, 0x102, 0x304, 3);
	gmon_add_arc(&g, 0x102, 0x304, 4);
	b = written(&g);
	CHECK_EQ(b.size, sizeof(expected) - 1);
	CHECK(b.size == sizeof(expected) - 1 && memcmp(b.data, expected, b.size) == 0);
	free(b.data);
}

/* A histogram as in a little-endian 64-bit file. */
struct histogram {
	uint64_t low, high;
	uint32_t bins;
	const uint8_t *counts;
};

static bool take_histogram(struct span *in, struct histogram *ret)
{
	const uint8_t *head = span_take(in, 1 + 8 + 8 + 4 + 4 + 16);

	if (!head || head[0] != 0)
		return false;
	ret->low = get_le64(head + 1);
	ret->high = get_le64(head + 9);
	ret->bins = get_le32(head + 17);
	ret->counts = span_take(in, 2 * (size_t)ret->bins);
	return ret->counts != NULL;
}

static void hot_bins_are_repeated_until_all_is_there(void)
{
	struct gmon g = { .is_64 = true };
	struct histogram h = { 0 };
	uint64_t hot = 0, all = 0;
	struct bytes b;
	struct span in;
	size_t i;

	gmon_add_samples(&g, 0x1000, 0x1000, 0x2000, 1);
	gmon_add_samples(&g, 0x1010, 0x1000, 0x2000, 100000);
	gmon_add_samples(&g, 0x1011, 0x1000, 0x2000, 100000);
	gmon_add_samples(&g, 0x1020, 0x1000, 0x2000, 65535);
	gmon_add_samples(&g, 0x1030, 0x1000, 0x2000, 7);
	b = written(&g);
	in = span_of(b.data, b.size);
	(void)span_take(&in, 20);
	while (in.left && CHECK(take_histogram(&in, &h))) {
		CHECK_EQ(h.high - h.low, 2 * h.bins); /* one scale for all */
		for (i = 0; i < h.bins; i++) {
			all += get_le16(h.counts + 2 * i);
			if (h.low + 2 * i == 0x1010)
				hot += get_le16(h.counts + 2 * i);
		}
	}
	CHECK_EQ(hot, 200000);
	CHECK_EQ(all, 200000 + 65535 + 8);
	free(b.data);
}

static void what_does_not_fit_is_counted(void)
{
	const uint64_t most = (uint64_t)GMON_REPEATS_MAX * UINT16_MAX;
	struct gmon g = { .is_64 = true };
	FILE *out = fopen("/dev/null", "we");

	gmon_add_samples(&g, 0x1000, 0x1000, 0x2000, most + 5);
	gmon_write(&g, out);
	CHECK_EQ(g.capped, 5);
	gmon_done(&g);
	(void)fclose(out);
}

static void far_samples_do_not_make_a_big_file(void)
{
	struct gmon g = { .is_64 = true };
	struct bytes b;
	uint64_t i;

	for (i = 0; i < 100; i++)
		gmon_add_samples(&g, i << 40, i << 40, (i << 40) + 16, 1);
	b = written(&g);
	CHECK_EQ(b.size, 20 + 100 * (41 + 2));
	free(b.data);
}

static void samples_stay_in_their_function(void)
{
	static const struct {
		uint64_t address, low, high, bin;
	} cases[] = {
		{ 0x1000, 0x1000, 0x1010, 0x800 }, { 0x1001, 0x1000, 0x1010, 0x800 },
		{ 0x1001, 0x1001, 0x1010, 0x800 }, /* gprof has it start at 0x1000 */
		{ 0x1010, 0x1000, 0x1011, 0x807 }, /* and the next one at 0x1010 */
		{ 0x1010, 0x1010, 0x1011, 0x808 }, /* no room at all */
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct gmon g = { 0 };

		gmon_add_samples(&g, cases[i].address, cases[i].low, cases[i].high, 1);
		CHECK_EQ(g.bins[0].index, cases[i].bin);
		gmon_done(&g);
	}
}

static void names_that_gprof_knows(void)
{
	static const struct {
		const char *name, *next;
		bool known;
	} cases[] = {
		{ "main", NULL, true },
		{ "main", "a.c", true },
		{ "_ZN4core3fmt", NULL, true },
		{ "_ZN4core$u7b$", NULL, false },
		{ "sorter.part.0", "x", false },
		{ "sorter.cold", "x", false },
		{ "sorter.isra.0", "x", false },
		{ "nested.12", "x", true },
		{ "nested.12", NULL, false },
		{ "nested.12", "crtstuff.c", false },
		{ "sorter.constprop.0", "x", true },
		{ "sorter.constprop.0", "a$b", false },
		{ "sorter.clone.3.constprop.12", "", true },
		{ "sorter.constprop.", "x", false },
		{ "sorter.constprop.x", "x", false },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		if (!CHECK(gmon_name_is_known(cases[i].name, cases[i].next) == cases[i].known))
			printf("# %s\n", cases[i].name);
}

TESTS(T(one_sample_of_a_big_endian_32_bit_program), T(hot_bins_are_repeated_until_all_is_there),
      T(what_does_not_fit_is_counted), T(far_samples_do_not_make_a_big_file),
      T(samples_stay_in_their_function), T(names_that_gprof_knows))
