/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The paths of cgroups as thousands of containers come and go. */
#include "record/internal/sampled_names.h"

#include "test.h"

#include "base/mem.h"

static const char *numbered(struct sampled_names *t, int number)
{
	_cleanup_free_ char *name = xasprintf("/%d", number);

	return sampled_names_get(t, name);
}

static void names_unused_for_long_are_freed(void)
{
	struct sampled_names *t = sampled_names_new();
	const char *held, *used;
	int i;

	CHECK(!sampled_names_get(t, NULL) && !sampled_names_is_old(t, NULL));
	for (i = 0; i <= 4096; i++)
		(void)numbered(t, i);
	CHECK(sampled_names_are_many(t));
	held = numbered(t, 0);
	CHECK(held == numbered(t, 0) && !sampled_names_is_old(t, held));
	CHECK_EQ(sampled_names_sweep(t), 0);
	CHECK(!sampled_names_are_many(t) && sampled_names_is_old(t, held));
	sampled_names_use(t, held);
	used = numbered(t, 1);
	for (; i <= 2 * 4096 + 1; i++)
		(void)numbered(t, i);
	CHECK(sampled_names_are_many(t));
	CHECK(!sampled_names_is_old(t, held) && !sampled_names_is_old(t, used));
	CHECK_EQ(sampled_names_sweep(t), 4095);
	CHECK_EQ(sampled_names_count(t), 4099);
	CHECK_STR(held, "/0");
	CHECK(numbered(t, 0) == held && numbered(t, 1) == used);
	sampled_names_forget(t);
	CHECK_EQ(sampled_names_count(t), 0);
	sampled_names_free(t);
}

static void few_long_names_are_many(void)
{
	struct sampled_names *t = sampled_names_new();
	int i;

	for (i = 0; i < 300; i++) {
		_cleanup_free_ char *name = xasprintf("/%04000d", i);

		(void)sampled_names_get(t, name);
	}
	CHECK(sampled_names_are_many(t));
	sampled_names_free(t);
}

TESTS(T(names_unused_for_long_are_freed), T(few_long_names_are_many))
