/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "base/mem.h"
#include "file/path.h"
#include "perf/cpulist.h"

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

static void write_list(const char *dir, const char *name, const char *text)
{
	_cleanup_free_ char *path = xasprintf("%s/sys/devices/system/cpu/%s", dir, name);

	CHECK_EQ(path_make_parents(path, 0755, NULL), 0);
	CHECK_EQ(path_write(path, text, 0644, NULL), 0);
}

static void those_that_are_off_are_named(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *some = NULL, *none = NULL;

	write_list(dir, "present", "0-5\n");
	write_list(dir, "online", "0,2-4\n");
	some = cpulist_offline(dir);
	CHECK_STR(some, "1,5");
	write_list(dir, "online", "0-5\n");
	none = cpulist_offline(dir);
	CHECK(!none);
}

TESTS(T(those_that_are_off_are_named), T(lists_are_taken_apart),
      T(machine_without_a_list_is_an_error))
