/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "driver/cpulist.h"

#include <errno.h>

static void lists_are_taken_apart(void)
{
	static const struct {
		const char *text;
		int count;
		unsigned int last;
	} rows[] = {
		{ "0\n", 1, 0 },
		{ "0-3,5\n", 5, 5 },
		{ "0-1,4-5,7-127", 125, 127 },
		{ "2,4", 2, 4 },
		{ "", -EINVAL, 0 },
		{ "\n", -EINVAL, 0 },
		{ "3-1", -EINVAL, 0 },
		{ "0,0", -EINVAL, 0 },
		{ "1,0", -EINVAL, 0 },
		{ "0-", -EINVAL, 0 },
		{ "0-1x", -EINVAL, 0 },
		{ "x", -EINVAL, 0 },
		{ "0-4294967295", -EINVAL, 0 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ unsigned int *cpus = NULL;
		int n = cpulist_parse(rows[i].text, &cpus);

		if (n != rows[i].count || (n > 0 && cpus[n - 1] != rows[i].last)) {
			printf("# row \"%s\"\n", rows[i].text);
			CHECK_EQ(n, rows[i].count);
		}
	}
}

static void machine_without_a_list_is_an_error(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ unsigned int *cpus = NULL;

	CHECK_EQ(cpulist_online(dir, &cpus), -ENOENT);
}

TESTS(T(lists_are_taken_apart), T(machine_without_a_list_is_an_error))
