/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The paths of cgroups as thousands of containers come and go. */
#include "record_bench.h"

#include "record/internal/sampled_names.h"
#include "record/internal/transient.h"

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

/* Samples of @app under a cgroup. */
static void sample_under(struct bench *b, const char *cgroup, uint64_t app)
{
	evbuf_context(b->buffer,
		      &(struct evbuf_context){ .tgid = 7,
					       .tid = 7,
					       .app = app,
					       .cgroup = cookie_cgroup(b->cookies, cgroup) });
	evbuf_sample(b->buffer, app, 0x20, 0, 1);
}

/* Few of the samples are of an application that is selected, because files take time. Cgroups that
 * come back count in the files that they had. */
static void paths_of_cgroups_do_not_add_up(void)
{
	enum { CGROUPS = 30000, EVERY = 15000, MOST = 3 * 4096 };
	BENCH(b);
	uint64_t app = cookie_file(b.cookies, &(struct file_identity){ 1, 1, 0 }, "/bin/p"),
		 other = cookie_file(b.cookies, &(struct file_identity){ 1, 2, 0 }, "/bin/o");
	size_t most = 0;
	int i;

	b.config.separate = RECORD_SEPARATE_CGROUP;
	b.config.images = "/bin/p";
	bench_start(&b);
	for (i = 0; i < CGROUPS; i++) {
		_cleanup_free_ char *cgroup = xasprintf("/pod/%d", i);

		if (i % 100 == 0)
			sample_under(&b, "/stays", app);
		sample_under(&b, cgroup, i % EVERY ? other : app);
		if (i % 100)
			continue;
		CHECK_EQ(evbuf_flush(b.buffer), 0);
		evbuf_restart(b.buffer);
		record_sync(b.rec, false);
		most = MAX(most, sampled_names_count(b.rec->cgroups));
	}
	CHECK(most <= MOST);
	sample_under(&b, "/pod/0", app);
#define FILE_OF "/{root}/bin/p/{dep}/{root}/bin/p/" T0
	CHECK_LISTING(&b, "{cgroup}/stays" FILE_OF "20 300\n", "{cgroup}/pod/0" FILE_OF "20 2\n",
		      "{cgroup}/pod/15000" FILE_OF "20 1\n");
}

TESTS(T(names_unused_for_long_are_freed), T(few_long_names_are_many),
      T(paths_of_cgroups_do_not_add_up))
