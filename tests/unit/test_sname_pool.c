/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "sfile/sname_pool.h"

#include <errno.h>
#include <string.h>

#define SPEC "/CYCLES.100000.0.all.all.all"

static const char *const names[] = {
	"{root}/usr/bin/xz/{dep}/{root}/usr/lib/liblzma.so.5" SPEC,
	"{root}/usr/bin/xz/{dep}/{root}/usr/bin/xz" SPEC,
	"{root}/usr/bin/xz/{dep}/{root}/usr/bin/xz/TIMER.0.1.7.8.9",
	"{root}/usr/bin/cat/{dep}/{root}/usr/lib/liblzma.so.5" SPEC,
	"{root}/usr/bin/cat/{dep}/{kern}/ext4" SPEC,
	"{kern}/kdamond.0/{dep}/{kern}/ext4/TIMER.0.1.7.8.9",
	"{root}/a/{dep}/{anon:anon}/9.0x1.0x2" SPEC,
	"{root}/b/{dep}/{anon:anon}/9.0x1.0x2" SPEC,
	"{root}/b/{dep}/{anon:anon}/9.0x1.0x3" SPEC,
	"{cgroup}/x/{root}/a/{dep}/{root}/b" SPEC,
	"{cgroup}/y/{comm}/z/{root}/a/{dep}/{root}/b" SPEC,
	"{root}/a/{dep}/{root}/b/{cg}/{root}/c" SPEC,
	"{root}/t/{dep}/wl/{dep}/{root}/t/{dep}/wl" SPEC,
	"/var/lib/{root}/a/{dep}/{root}/b" SPEC,
};

static bool same_names(const struct sname *a, const struct sname *b)
{
	return sname_image_equal(&a->app, &b->app) && sname_image_equal(&a->image, &b->image) &&
	       a->has_callee == b->has_callee &&
	       (!a->has_callee || sname_image_equal(&a->callee, &b->callee)) &&
	       !strcmp(a->event, b->event) && a->count == b->count &&
	       a->unit_mask == b->unit_mask && sname_task_equal(&a->task, &b->task);
}

static void names_are_the_same_as_without_a_pool(void)
{
	struct sname_pool pool = SNAME_POOL_INIT;
	size_t i;

	/* The second time, all parts are known. */
	for (i = 0; i < 2 * ARRAY_SIZE(names); i++) {
		const char *text = names[i % ARRAY_SIZE(names)];
		struct sname plain, pooled;
		struct sname_parts parts;

		if (!CHECK(sname_parse(text, &plain, NULL) == 0) ||
		    !CHECK(sname_pool_parse(&pool, text, &parts, NULL) == 0))
			continue;
		pooled = sname_of_parts(&parts);
		test_check(same_names(&plain, &pooled), text, __FILE__, __LINE__);
		sname_done(&plain);
	}
	sname_pool_done(&pool);
}

static void equal_parts_are_one_pointer(void)
{
	struct sname_pool pool = SNAME_POOL_INIT;
	struct sname_parts parts[ARRAY_SIZE(names)], again;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		CHECK(sname_pool_parse(&pool, names[i], &parts[i], NULL) == 0);
	CHECK(parts[0].app == parts[1].app && parts[0].rest == parts[1].rest);
	CHECK(parts[1].app == parts[1].image);
	CHECK(parts[2].app == parts[1].app && parts[2].rest != parts[1].rest);
	CHECK(parts[0].image == parts[3].image);
	CHECK(parts[6].rest == parts[8].rest && parts[7].image != parts[8].image);
	CHECK(parts[9].image == parts[10].image && parts[9].rest != parts[10].rest);
	for (i = 0; i < ARRAY_SIZE(names); i++)
		test_check(sname_pool_parse(&pool, names[i], &again, NULL) == 0 &&
				   again.app == parts[i].app && again.image == parts[i].image &&
				   again.rest == parts[i].rest,
			   names[i], __FILE__, __LINE__);
	sname_pool_done(&pool);
}

static void known_parts_do_not_make_a_name(void)
{
	static const char *const bad[] = {
		"{root}/usr/bin/xz/{dep}/{root}/usr/bin/xz/{dep}/{root}/usr/bin/cat" SPEC,
		"{root}/usr/bin/xz/{dep}/{root}/usr/lib/liblzma.so.5/CYCLES.100000.0.all.all.",
		"{root}/usr/bin/xz/{dep}" SPEC,
		"{root}/usr/bin/xz/{dep}/CYCLES.100000.0.all.all.all" SPEC,
		"{root}/usr/bin//xz/{dep}/{root}/usr/bin/xz" SPEC,
	};
	struct sname_pool pool = SNAME_POOL_INIT;
	struct sname_parts name;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		CHECK(sname_pool_parse(&pool, names[i], &name, NULL) == 0);
	for (i = 0; i < 2 * ARRAY_SIZE(bad); i++)
		test_check(sname_pool_parse(&pool, bad[i % ARRAY_SIZE(bad)], &name, NULL) ==
				   -EBADMSG,
			   bad[i % ARRAY_SIZE(bad)], __FILE__, __LINE__);
	sname_pool_done(&pool);
}

static void pairs_are_known_without_parsing(void)
{
	static const char of_lib[] = "{root}/usr/bin/xz/{dep}/{root}/usr/lib/liblzma.so.5",
			  *const unclear[] = {
				  "{root}/usr/bin/xz/{dep}/{anon:anon}/7.0x10.0x20" SPEC,
				  "{anon:anon}/7.0x10.0x20/{dep}/{root}/usr/bin/xz" SPEC,
				  "{cgroup}/a/{root}/usr/bin/xz/{dep}/{root}/usr/bin/xz" SPEC,
				  "{root}/usr/bin/xz/{dep}/{root}/usr/bin/xz/{dep}/{root}/a" SPEC,
				  "{root}/usr/bin/xz" SPEC,
				  "",
			  };
	size_t i;

	CHECK_EQ(sname_pool_pair("{root}/usr/bin/xz/{dep}/{root}/usr/lib/liblzma.so.5" SPEC),
		 strlen(of_lib));
	for (i = 0; i < ARRAY_SIZE(unclear); i++)
		test_check(sname_pool_pair(unclear[i]) == 0, unclear[i], __FILE__, __LINE__);
}

TESTS(T(names_are_the_same_as_without_a_pool), T(equal_parts_are_one_pointer),
      T(known_parts_do_not_make_a_name), T(pairs_are_known_without_parsing))
