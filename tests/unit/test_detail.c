/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "profile/rows/row_detail.h"
#include "profile/select/samples.h"

static struct row *row_of_two_classes(struct container *c)
{
	container_init(c, 2);
	return container_add_row(c, &(struct row){ .kind = ROW_UNNAMED });
}

static void samples_of_one_offset_are_one_detail(void)
{
	static const struct sample samples[] = { { 0x10, 1, 0 }, { 0x10, 2, 1 }, { 0x14, 4, 1 } };
	struct container c;
	struct row *row = row_of_two_classes(&c);
	struct detail d;

	detail_keep(&c, row, samples, 3, 0x400000, NULL);
	CHECK_EQ(detail_count(row), 2);
	CHECK_EQ(detail_highest(row), 0x400014);
	detail_begin(&d, &c, row);
	CHECK(detail_next(&d));
	CHECK_EQ(d.address, 0x400010);
	CHECK_EQ(d.counts[0], 1);
	CHECK_EQ(d.counts[1], 2);
	CHECK(detail_next(&d));
	CHECK_EQ(d.address, 0x400014);
	CHECK_EQ(d.counts[0], 0);
	CHECK_EQ(d.counts[1], 4);
	CHECK(!detail_next(&d));
	CHECK(!detail_next(&d));
	detail_done(&d);
	container_done(&c);
}

static void pieces_follow_each_other(void)
{
	struct container c;
	struct row *row = row_of_two_classes(&c);
	struct detail d;
	uint64_t i;

	for (i = 0; i < 3; i++)
		detail_keep(&c, row, &(struct sample){ i * 16, (uint32_t)i + 1, 0 }, 1, i * 0x1000,
			    NULL);
	CHECK_EQ(detail_count(row), 3);
	detail_begin(&d, &c, row);
	for (i = 0; i < 3; i++) {
		CHECK(detail_next(&d));
		CHECK_EQ(d.address, i * 0x1010);
		CHECK_EQ(d.counts[0], i + 1);
		CHECK(!d.place.file);
	}
	CHECK(!detail_next(&d));
	detail_done(&d);
	container_done(&c);
}

static void a_row_without_details_has_none(void)
{
	struct container c;
	struct row *row = row_of_two_classes(&c);
	struct detail d;

	CHECK_EQ(detail_count(row), 0);
	CHECK_EQ(detail_highest(row), 0);
	detail_begin(&d, &c, row);
	CHECK(!detail_next(&d));
	detail_done(&d);
	container_done(&c);
}

TESTS(T(samples_of_one_offset_are_one_detail), T(pieces_follow_each_other),
      T(a_row_without_details_has_none))
