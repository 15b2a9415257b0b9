/* SPDX-License-Identifier: GPL-2.0-or-later */
/* truth_images SECONDS: the program 50, one library 30, another 20 of 100. */
#include "truth.h"

uint64_t work_one(uint64_t steps), work_two(uint64_t steps);

TRUTH_CHAIN(work_main)

int main(int argc, char **argv)
{
	static const struct truth_part parts[] = {
		{ "truth_images", "work_main", work_main, 50 },
		{ "libtruth_one.so", "work_one", work_one, 30 },
		{ "libtruth_two.so", "work_two", work_two, 20 },
	};

	if (argc != 2)
		return 2;
	truth_run(parts, 3, strtod(argv[1], NULL));
	return 0;
}
