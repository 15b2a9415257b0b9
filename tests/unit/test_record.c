/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The event buffer to sample files. */
#include "record_bench.h"

#include "base/clock.h"
#include "elf/vdso.h"
#include "record/store/sampled_image.h"
#include "record/internal/sampled_names.h"
#include "record/internal/transient.h"

static void separations_are_parsed(void)
{
	static const struct {
		const char *text;
		int bits;
	} rows[] = {
		{ "none", 0 },	      { "lib", 1 },	   { "library", 1 }, { "kernel", 3 },
		{ "thread", 4 },      { "lib,cpu", 9 },	   { "all", 15 },    { "", -EINVAL },
		{ "lib,x", -EINVAL }, { "libs", -EINVAL }, { "cgroup", 16 }, { "all,cgroup", 31 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (!CHECK(record_separate_parse(rows[i].text) == rows[i].bits))
			printf("# row \"%s\"\n", rows[i].text);
}

static void samples_are_kept_apart_as_asked(void)
{
	static const struct {
		unsigned int separate;
		const char *library, *kernel;
	} rows[] = {
		{ RECORD_SEPARATE_NONE, "{root}/lib/l/{dep}/{root}/lib/l/" T0 "20 1\n",
		  "{root}/proc/kallsyms/{dep}/{root}/proc/kallsyms/" T0 "10 1\n" },
		{ RECORD_SEPARATE_LIB, P "{root}/lib/l/" T0 "20 1\n",
		  "{root}/proc/kallsyms/{dep}/{root}/proc/kallsyms/" T0 "10 1\n" },
		{ RECORD_SEPARATE_KERNEL, P "{root}/lib/l/" T0 "20 1\n",
		  P "{root}/proc/kallsyms/" T0 "10 1\n" },
		{ RECORD_SEPARATE_LIB | RECORD_SEPARATE_THREAD,
		  P "{root}/lib/l/TIMER.0.0.7.8.all 20 1\n",
		  "{root}/proc/kallsyms/{dep}/{root}/proc/kallsyms/TIMER.0.0.7.8.all 10 1\n" },
		{ RECORD_SEPARATE_ALL, P "{root}/lib/l/TIMER.0.0.7.8.1 20 1\n",
		  P "{root}/proc/kallsyms/TIMER.0.0.7.8.1 10 1\n" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		BENCH(b);
		uint64_t app = cookie_file(b.cookies, &(struct file_identity){ 1, 1, 0 }, "/bin/p");

		b.config.separate = rows[i].separate;
		bench_start(&b);
		run_as(&b, 7, app);
		evbuf_sample(b.buffer,
			     cookie_file(b.cookies, &(struct file_identity){ 1, 2, 0 }, "/lib/l"),
			     0x20, 0, 1);
		evbuf_kernel_sample(b.buffer, 0xffffffff81000010, 0, 1);
		CHECK_LISTING(&b, rows[i].library, rows[i].kernel);
	}
}

static void samples_are_kept_apart_by_cgroup(void)
{
	BENCH(b);
	uint64_t app = cookie_file(b.cookies, &(struct file_identity){ 1, 1, 0 }, "/bin/p");
	const uint64_t groups[] = { cookie_cgroup(b.cookies, "/a"), cookie_cgroup(b.cookies, "/"),
				    EVBUF_NO_COOKIE };
	struct evbuf_context context = { .tgid = 7, .tid = 7, .app = app };
	size_t i;

	b.config.separate = RECORD_SEPARATE_CGROUP;
	bench_start(&b);
	for (i = 0; i < ARRAY_SIZE(groups); i++) {
		context.cgroup = groups[i];
		evbuf_context(b.buffer, &context);
		evbuf_sample(b.buffer, app, 0x20, 0, 1);
		evbuf_sample(b.buffer, app, 0x20, 0, 1);
	}
	CHECK_LISTING(&b, "{cgroup}/a/{root}/bin/p/{dep}/{root}/bin/p/" T0 "20 2\n",
		      "{cgroup}/{root}/bin/p/{dep}/{root}/bin/p/" T0 "20 2\n",
		      "{cgroup}/(unknown)/{root}/bin/p/{dep}/{root}/bin/p/" T0 "20 2\n");
}

/* A sample may come before the first cgroup, as in a stream that somebody else made. */
static void a_sample_without_cgroup_outlives_those_that_are_many(void)
{
	BENCH(b);
	uint64_t app = cookie_file(b.cookies, &(struct file_identity){ 1, 1, 0 }, "/bin/p");
	struct evbuf_context context = { .tgid = 7, .tid = 7, .app = app };
	_cleanup_free_ char *text = NULL;
	int i;

	b.config.separate = RECORD_SEPARATE_CGROUP;
	b.config.jit = true;
	bench_start(&b);
	evbuf_context(b.buffer, &context);
	evbuf_sample(b.buffer, app, 0x20, 0, 1);
	evbuf_sample(b.buffer, cookie_anon(b.cookies, 7, 0x1000, 0x3000, ""), 0x1010, 0, 3);
	for (i = 0; i < 4096 + 10; i++) {
		_cleanup_free_ char *path = xasprintf("/g%d", i);

		context.cgroup = cookie_cgroup(b.cookies, path);
		evbuf_context(b.buffer, &context);
		evbuf_sample(b.buffer, app, 0x20, 0, 1);
	}
	CHECK_EQ(evbuf_flush(b.buffer), 0);
	CHECK(sampled_names_are_many(b.rec->cgroups));
	for (i = 0; i < 10000 && sampled_names_are_many(b.rec->cgroups); i++)
		(void)record_tend(b.rec);
	CHECK(!sampled_names_are_many(b.rec->cgroups));
	record_sync(b.rec, true);
	text = listing(&b, "current");
	CHECK(strstr(text, "{cgroup}/(unknown)/{root}/bin/p/{dep}/{root}/bin/p/" T0 "20 1\n"));
	CHECK(strstr(text, ".0x1000.0x3000/" T0 "1010 3\n"));
}

static void cgroups_are_left_aside_unless_asked_for(void)
{
	BENCH(b);
	uint64_t app = cookie_file(b.cookies, &(struct file_identity){ 1, 1, 0 }, "/bin/p");
	struct evbuf_context context = { .tgid = 7, .tid = 7, .app = app };

	b.config.separate = RECORD_SEPARATE_ALL;
	bench_start(&b);
	context.cgroup = cookie_cgroup(b.cookies, "/a");
	evbuf_context(b.buffer, &context);
	evbuf_sample(b.buffer, app, 0x20, 0, 1);
	CHECK_LISTING(&b, "{root}/bin/p/{dep}/{root}/bin/p/TIMER.0.0.7.7.0 20 1\n");
}

static void other_kinds_of_images_have_their_names(void)
{
	BENCH(b);
	_cleanup_free_ char *samples = session_samples(b.session, "current");
	_cleanup_free_ char *vdso = path_join(samples, "vdso");
	_cleanup_free_ char *vdso_32 = path_join(samples, "vdso32");
	_cleanup_free_ void *bytes_32 = NULL;
	_cleanup_free_ char *text = NULL;
	size_t size_32 = 0x2000;
	bool has_32 = vdso_read_32(&bytes_32, &size_32) == 0;
	uint64_t app = cookie_file(b.cookies, &(struct file_identity){ 1, 1, 0 }, "/bin/p");

	b.config.separate = RECORD_SEPARATE_KERNEL;
	bench_start(&b);
	run_as(&b, 7, app);
	evbuf_sample(b.buffer, cookie_anon(b.cookies, 7, 0x1000, 0x3000, ""), 0x1010, 0, 1);
	evbuf_sample(b.buffer, cookie_anon(b.cookies, 7, 0x5000, 0x6000, "[heap]"), 0x10, 0, 1);
	evbuf_sample(b.buffer, cookie_anon(b.cookies, 7, 0x8000, 0x9000, "[anon:a/b]"), 0x10, 0, 1);
	evbuf_sample(b.buffer, cookie_vdso(b.cookies), 0x600, 0, 1);
	evbuf_sample(b.buffer, cookie_vdso_32(b.cookies, size_32), 0x600, 0, 1);
	run_as(&b, 2, cookie_thread(b.cookies, "kworker/0:1"));
	evbuf_kernel_sample(b.buffer, 0xffffffff81000000, 0, 1);
	text = listing(&b, "current");
	CHECK(strstr(text, P "{anon:anon}/7.0x1000.0x3000/" T0 "1010 1\n"));
	CHECK(strstr(text, P "{anon:[heap]}/7.0x5000.0x6000/" T0 "10 1\n"));
	CHECK(strstr(text, P "{anon:[anon:a_b]}/7.0x8000.0x9000/" T0 "10 1\n"));
	CHECK(strstr(text, P "{anon:[vdso]}/0.0x0.0x"));
	CHECK(strstr(text, P "{anon:[vdso32]}/0.0x0.0x"));
	CHECK(strstr(text, "{kern}/kworker/{dep}/{root}/proc/kallsyms/" T0 "0 1\n"));
	CHECK(access(vdso, R_OK) == 0);
	CHECK_EQ(access(vdso_32, R_OK) == 0, has_32);
}

/* A slice of the history has what was counted in it. */
static void samples_that_wait_for_code_are_not_counted_yet(void)
{
	BENCH(b);
	uint64_t app = cookie_file(b.cookies, &(struct file_identity){ 1, 1, 0 }, "/bin/p");

	b.config.jit = true;
	bench_start(&b);
	run_as(&b, 7, app);
	evbuf_sample(b.buffer, app, 0x20, 0, 2);
	evbuf_sample(b.buffer, cookie_anon(b.cookies, 7, 0x1000, 0x3000, ""), 0x1010, 0, 3);
	CHECK_EQ(stats_of(&b).samples, 5);
	CHECK_EQ(record_counted(b.rec), 2);
	record_sync(b.rec, true);
	CHECK_EQ(stats_of(&b).samples, 5);
	CHECK_EQ(record_counted(b.rec), 5);
}

/* Code has the name that the driver has found, and code that replaces it a place of its own. */
static void generated_code_has_the_name_that_the_driver_found(void)
{
	BENCH(b);
	uint64_t app = cookie_file(b.cookies, &(struct file_identity){ 1, 1, 0 }, "/bin/p"), code;
	_cleanup_free_ char *jo = NULL, *elf = NULL, *text = NULL;
	struct error err = ERROR_INIT;
	int64_t n;

	b.config.jit = true;
	bench_start(&b);
	code = cookie_anon(b.cookies, 7, 0x1000, 0x3000, "");
	run_as(&b, 7, app);
	evbuf_generated(b.buffer, 7, &(struct evbuf_generated){ 0x2000, 0x40, "int Shop.sell()" });
	evbuf_sample(b.buffer, code, 0x1010, 0, 3);
	CHECK_EQ(evbuf_flush(b.buffer), 0);
	record_sync(b.rec, false);
	run_as(&b, 7, app);
	evbuf_generated(b.buffer, 7,
			&(struct evbuf_generated){ 0x2000, 0x80, "void Shop.close()" });
	evbuf_sample(b.buffer, code, 0x1010, 0, 4);
	CHECK_EQ(evbuf_flush(b.buffer), 0);
	record_sync(b.rec, true);
	jo = path_join(b.session, "samples/current/{root}/bin/p/{dep}/{anon:anon}/7.jo");
	n = path_read("", jo, &elf, &err);
	CHECK(n > 0 && memmem(elf, (size_t)n, "int Shop.sell()", 16));
	CHECK(n > 0 && memmem(elf, (size_t)n, "void Shop.close()", 18));
	text = listing(&b, "current");
	CHECK(strstr(text, ".0x1000.0x3000/" T0 "1010 3\n"));
	CHECK(strstr(text, "/" T0 "10 4\n"));
}

/* Samples in functions of source files count at their places, never in that of the next function,
 * also when the cookie is forgotten meanwhile. */
static void samples_stay_in_the_places_of_their_functions(void)
{
	BENCH(b);
	struct cookie_function function = { .name = (char *)"f",
					    .bytes = 30,
					    .digest = COOKIE_DIGEST_SET };
	uint64_t f, app = cookie_file(b.cookies, &(struct file_identity){ 1, 1, 0 }, "/bin/p");

	b.config.separate = RECORD_SEPARATE_LIB;
	bench_start(&b);
	f = cookie_source(b.cookies, "/srv/app.py", &function);
	run_as(&b, 7, app);
	evbuf_sample(b.buffer, f, 7, 0, 1);
	evbuf_sample(b.buffer, f, 31, 0, 2);
	evbuf_sample(b.buffer, f, UINT64_MAX - 7, 0, 1);
	evbuf_sample(b.buffer, f, 8, 0, 1);
	CHECK_EQ(evbuf_flush(b.buffer), 0);
	cookie_age(b.cookies);
	CHECK(cookie_sweep(b.cookies, NULL) > 0 && !cookie_lookup(b.cookies, f));
	evbuf_sample(b.buffer, f, 7, 0, 1);
	evbuf_sample(b.buffer, f + 1, 7, 0, 1);
	CHECK_LISTING(&b, P "{root}/srv/app.py/" T0 "100027 2\n",
		      P "{root}/srv/app.py/" T0 "100028 1\n",
		      P "{root}/srv/app.py/" T0 "10003e 3\n");
	CHECK_EQ(stats_of(&b).lost_samplefile, 1);
}

static void two_files_of_one_path_never_share_a_sample_file(void)
{
	BENCH(b);
	_cleanup_free_ char *text = NULL;
	char path[] = "/lib/l";
	const char *first;

	cookie_define(b.cookies, &(struct cookie_image){ .cookie = 1,
							 .kind = COOKIE_FILE,
							 .file.device = 1,
							 .file.inode = 1,
							 .path = path });
	cookie_define(b.cookies, &(struct cookie_image){ .cookie = 2,
							 .kind = COOKIE_FILE,
							 .file.device = 9,
							 .file.inode = 1,
							 .path = path });
	bench_start(&b);
	run_as(&b, 7, 1);
	evbuf_sample(b.buffer, 1, 0x10, 0, 1);
	evbuf_sample(b.buffer, 2, 0x10, 0, 1);
	text = listing(&b, "current");
	first = strstr(text, "{root}/lib/l/" T0 "10 1\n");
	CHECK(first != NULL);
	CHECK(strstr(text, "{root}/lib/l#") != NULL);
}

static void the_filter_keeps_only_its_applications(void)
{
	static const struct {
		const char *images;
		uint64_t kept;
	} rows[] = { { "/bin/p", 1 }, { "/bin/p,/bin/q", 2 }, { "/bin/*", 2 },
		     { "p", 1 },      { "/bin", 0 },	      { "/usr/bin/p,q", 1 } };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		BENCH(b);
		uint64_t p = cookie_file(b.cookies, &(struct file_identity){ 1, 1, 0 }, "/bin/p");
		uint64_t q = cookie_file(b.cookies, &(struct file_identity){ 1, 2, 0 }, "/bin/q");
		struct record_stats s;

		b.config.images = rows[i].images;
		bench_start(&b);
		run_as(&b, 7, p);
		evbuf_sample(b.buffer, p, 0x10, 0, 1);
		run_as(&b, 8, q);
		evbuf_sample(b.buffer, p, 0x10, 0, 1);
		s = stats_of(&b);
		if (!CHECK(s.samples == rows[i].kept))
			printf("# row \"%s\"\n", rows[i].images);
		CHECK_EQ(s.filtered, 2 - rows[i].kept);
	}
}

/* Functions of source files get no place if it cannot be written which they have. */
static void what_is_filtered_is_not_lost(void)
{
	BENCH(b);
	_cleanup_free_ char *samples = session_samples(b.session, "current");
	_cleanup_free_ char *sources = path_join(samples, "source");
	uint64_t p = cookie_file(b.cookies, &(struct file_identity){ 1, 1, 0 }, "/bin/p");
	uint64_t q = cookie_file(b.cookies, &(struct file_identity){ 1, 2, 0 }, "/bin/q");
	struct cookie_function function = { .name = (char *)"f", .bytes = 30 };
	uint64_t f = cookie_source(b.cookies, "/srv/app.py", &function);
	struct record_stats s;

	b.config.images = "/bin/p";
	bench_start(&b);
	CHECK_EQ(path_make_parents(sources, 0755, NULL), 0);
	CHECK_EQ(path_write(sources, "", 0644, NULL), 0); /* no directory */
	run_as(&b, 7, p);
	evbuf_sample(b.buffer, f, 0x10, 0, 1);
	run_as(&b, 8, q);
	evbuf_sample(b.buffer, f, 0x10, 0, 1);
	s = stats_of(&b);
	CHECK_EQ(s.lost_samplefile, 1);
	CHECK_EQ(s.filtered, 1);
}

static void losses_have_their_own_counters(void)
{
	static const uint64_t words[] = { 0x10,
					  0, /* no context */
					  ESC,
					  EVBUF_XEN_ENTER,
					  0x10,
					  0, /* lost_kernel */
					  ESC,
					  EVBUF_KERNEL_ENTER,
					  0xffffffff81000000,
					  0, /* no app */
					  ESC,
					  EVBUF_USER_ENTER,
					  0x10,
					  0, /* no mapping */
					  ESC,
					  EVBUF_COOKIE_SWITCH,
					  99,
					  0x10,
					  0, /* no file */
					  ESC,
					  EVBUF_COOKIE_SWITCH,
					  1,
					  0x10,
					  2, /* counter */
					  ESC,
					  63,
					  0x10,
					  0, /* code; recorded */
					  ESC,
					  EVBUF_COOKIE_SWITCH,
					  2,
					  0x10,
					  0, /* no app, user */
					  ESC,
					  EVBUF_SPU_CTX_SWITCH,
					  ESC,
					  EVBUF_IBS_FETCH,
					  1,
					  2,
					  3,
					  4,
					  5,
					  6,
					  7,
					  0x10,
					  ESC };
	BENCH(b);
	char path[] = "/bin/p", label[] = "";
	struct record_stats s;

	cookie_define(b.cookies,
		      &(struct cookie_image){ .cookie = 1, .kind = COOKIE_FILE, .path = path });
	cookie_define(b.cookies,
		      &(struct cookie_image){
			      .cookie = 2, .kind = COOKIE_ANON, .path = label, .end = 0x1000 });
	bench_start(&b);
	CHECK_EQ(record_words(words, ARRAY_SIZE(words), b.rec), 0);
	s = stats_of(&b);
	CHECK_EQ(s.lost_no_context, 1);
	CHECK_EQ(s.lost_kernel, 1);
	CHECK_EQ(s.lost_no_app_for_kernel_sample, 1);
	CHECK_EQ(s.lost_no_mapping, 1);
	CHECK_EQ(s.lost_samplefile, 1);
	CHECK_EQ(s.lost_counter, 1);
	CHECK_EQ(s.lost_no_app_for_user_sample, 1);
	CHECK_EQ(s.samples, 2);
	/* code 63, two without meaning here, a PC without counter, the escape at the end */
	CHECK_EQ(s.incomplete_code, 5);
	CHECK_EQ(record_stats_total(&s), 8);
}

static void weights_count_and_saturate(void)
{
	BENCH(b);
	uint64_t app = cookie_file(b.cookies, &(struct file_identity){ 1, 1, 0 }, "/bin/p");

	bench_start(&b);
	run_as(&b, 7, app);
	evbuf_sample(b.buffer, app, 0x10, 0, 5);
	evbuf_sample(b.buffer, app, 0x10, 0, 1);
	evbuf_sample(b.buffer, app, 0x20, 0, UINT64_MAX / 2);
	CHECK_LISTING(&b, P "{root}/bin/p/" T0 "10 6\n", P "{root}/bin/p/" T0 "20 4294967295\n");
	evbuf_sample(b.buffer, app, 0x30, 0, UINT64_MAX);
	CHECK_EQ(evbuf_flush(b.buffer), 0);
	CHECK_EQ(stats_of(&b).samples, 2 * (uint64_t)UINT32_MAX + 6);
}

static void a_session_moved_away_starts_again(void)
{
	BENCH(b);
	uint64_t app = cookie_file(b.cookies, &(struct file_identity){ 1, 1, 0 }, "/bin/p");
	_cleanup_free_ char *saved = NULL, *current = NULL;

	bench_start(&b);
	run_as(&b, 7, app);
	evbuf_sample(b.buffer, app, 0x10, 0, 1);
	CHECK_EQ(evbuf_flush(b.buffer), 0);
	CHECK_EQ(record_close_files(b.rec, NULL), 0);
	CHECK_EQ(record_open_files(b.rec, NULL), 0);
	CHECK_EQ(session_rename(b.session, "current", "saved", NULL), 0);
	evbuf_sample(b.buffer, app, 0x20, 0, 1);
	saved = listing(&b, "saved");
	current = listing(&b, "current");
	CHECK_STR(saved, P "{root}/bin/p/" T0 "10 1\n");
	CHECK_STR(current, P "{root}/bin/p/" T0 "20 1\n");
}

static void sample_of(struct bench *b, uint64_t app, const char *comm)
{
	evbuf_context(b->buffer, &(struct evbuf_context){ .tgid = 7,
							  .tid = 8,
							  .app = app,
							  .comm = cookie_comm(b->cookies, comm) });
	evbuf_sample(b->buffer, app, 0x10, 0, 1);
}

/* Not for as long as the daemon runs. */
static void a_session_has_so_many_names_of_threads(void)
{
	BENCH(b);
	uint64_t app = cookie_file(b.cookies, &(struct file_identity){ 1, 1, 0 }, "/bin/p");
	_cleanup_free_ char *many = NULL, *next = NULL;
	char name[16];

	b.config.separate = RECORD_SEPARATE_COMM;
	bench_start(&b);
	for (int i = 0; i <= 4096; i++) {
		(void)snprintf(name, sizeof(name), "t%d", i);
		sample_of(&b, app, name);
	}
	many = listing(&b, "current");
	CHECK(strstr(many, "{comm}/t4095/"));
	CHECK(strstr(many, "{comm}/(other names)/"));
	CHECK_EQ(record_close_files(b.rec, NULL), 0);
	CHECK_EQ(session_rename(b.session, "current", "saved", NULL), 0);
	sample_of(&b, app, "new");
	next = listing(&b, "current");
	CHECK_STR(next, "{comm}/new/" P "{root}/bin/p/" T0 "10 1\n");
}

/* Names that are not sampled any more make way for others, but only once in a while. */
static void names_of_threads_make_way_for_others(void)
{
	BENCH(b);
	uint64_t app = cookie_file(b.cookies, &(struct file_identity){ 1, 1, 0 }, "/bin/p");
	_cleanup_free_ char *text = NULL;
	char name[16];

	b.config.separate = RECORD_SEPARATE_COMM;
	bench_start(&b);
	for (int i = 0; i < 4096 + 200; i++) {
		(void)snprintf(name, sizeof(name), "t%d", i);
		sample_of(&b, app, name);
		if (i != 3100 && i != 3500)
			continue;
		sample_of(&b, app, "stays");
		CHECK_EQ(evbuf_flush(b.buffer), 0);
		evbuf_restart(b.buffer);
		for (b.rec->comms_swept_ns = 0; !b.rec->comms_swept_ns;) /* an hour ago */
			record_sync(b.rec, false);
	}
	sample_of(&b, app, "stays");
	text = listing(&b, "current");
	CHECK(strstr(text, "{comm}/t4295/") && !strstr(text, "{comm}/(other names)/"));
	CHECK(strstr(text, "{comm}/stays/" P "{root}/bin/p/" T0 "10 3\n"));
}

static void a_sample_file_that_fails_is_counted_and_tried_again(void)
{
	BENCH(b);
	uint64_t app = cookie_file(b.cookies, &(struct file_identity){ 1, 1, 0 }, "/bin/p");
	_cleanup_free_ char *samples = session_samples(b.session, "current");
	_cleanup_free_ char *obstacle = path_join(samples, "{root}");

	bench_start(&b);
	put_file(samples, "{root}", "in the way");
	run_as(&b, 7, app);
	evbuf_sample(b.buffer, app, 0x10, 0, 1);
	evbuf_sample(b.buffer, app, 0x10, 0, 1);
	CHECK_EQ(stats_of(&b).lost_samplefile, 2);
	CHECK_EQ(unlink(obstacle), 0);
	CHECK_EQ(record_flush(b.rec, true, NULL), 0);
	evbuf_sample(b.buffer, app, 0x20, 0, 1);
	CHECK_LISTING(&b, P "{root}/bin/p/" T0 "20 1\n");
	CHECK_EQ(stats_of(&b).samples, 3);
	CHECK_EQ(session_stat_get(samples, "lost_samplefile"), 2);
	CHECK_EQ(session_stat_get(samples, "total_samples"), 3);
}

static uint64_t numbered_file(const struct bench *b, uint64_t number)
{
	_cleanup_free_ char *path = xasprintf("/tmp/conftest/%" PRIu64, number);

	return cookie_file(b->cookies, &(struct file_identity){ 1, 100 + number, 1 }, path);
}

/* More images than are kept, few of which are selected, because files take time. Those that come
 * back count in the files that they had. */
static void images_that_come_back_keep_their_files(void)
{
	enum { FILES = 9500 };
	BENCH(b);
	_cleanup_free_ char *images = path_join(b.session, "samples/current/images"), *text = NULL;
	uint64_t app = cookie_file(b.cookies, &(struct file_identity){ 1, 1, 0 }, "/bin/p"), i;
	const char *at;
	size_t lines = 0;

	b.config.images = "/bin/p,/tmp/conftest/7,/tmp/conftest/9499";
	bench_start(&b);
	for (i = 0; i < 2 * FILES; i++) {
		uint64_t file = numbered_file(&b, i % FILES);

		run_as(&b, 7, app);
		evbuf_sample(b.buffer, app, 0x20, 0, 1);
		run_as(&b, 8, file);
		evbuf_sample(b.buffer, file, 0x20, 0, 1);
		if (i % 100)
			continue;
		CHECK_EQ(evbuf_flush(b.buffer), 0);
		evbuf_restart(b.buffer);
		record_sync(b.rec, false);
	}
	CHECK_LISTING(&b, P "{root}/bin/p/" T0 "20 19000\n",
		      "{root}/tmp/conftest/7/{dep}/{root}/tmp/conftest/7/" T0 "20 2\n",
		      "{root}/tmp/conftest/9499/{dep}/{root}/tmp/conftest/9499/" T0 "20 2\n");
	CHECK(path_read("", images, &text, NULL) > 0);
	for (at = text; (at = strchr(at, '\n')); at++)
		lines++;
	CHECK_EQ(lines, FILES + 1);
}

static struct sampled_image *numbered_image(struct sampled_images *t, struct cookie_table *cookies,
					    uint64_t number)
{
	_cleanup_free_ char *path = xasprintf("/a/%" PRIu64, number);

	return sampled_image_of_cookie(
		t, cookie_file(cookies, &(struct file_identity){ 1, number, 1 }, path));
}

static void images_unused_for_long_are_freed(void)
{
	struct cookie_table *cookies = cookie_table_new();
	struct sampled_images *t = sampled_image_table_new("/nowhere", "", NULL, cookies, NULL);
	struct sampled_image *kernel = sampled_image_kernel(t, "vmlinux", true), *held = NULL;
	uint64_t i;

	for (i = 1; i <= 5000; i++)
		held = numbered_image(t, cookies, i);
	CHECK(sampled_image_are_many(t, 0));
	CHECK_EQ(sampled_image_sweep(t, 0), 0);
	CHECK(!sampled_image_are_many(t, 0));
	for (; i <= 10000; i++)
		CHECK(numbered_image(t, cookies, i) != NULL);
	CHECK(sampled_image_are_many(t, 0));
	sampled_image_use(t, held);
	CHECK_EQ(sampled_image_sweep(t, 0), 4999);
	CHECK(numbered_image(t, cookies, 5000) == held);
	CHECK_STR(numbered_image(t, cookies, 1)->image.name, "/a/1");
	CHECK(sampled_image_kernel(t, "vmlinux", true) == kernel);
	sampled_image_table_free(t);
	cookie_table_free(cookies);
}

/* The list of the images in use is for somebody who asks for it each hour. */
static void images_in_use_are_noted_for_an_hour(void)
{
	enum { MOST = 1 << 18 };
	struct cookie_table *cookies = cookie_table_new();
	struct sampled_images *t = sampled_image_table_new("/nowhere", "", NULL, cookies, NULL);
	uint64_t i;

	CHECK(numbered_image(t, cookies, 1) && !sampled_image_has_noted(t));
	CHECK(!sampled_image_was_used(t, "/a/1"));
	sampled_image_note_used(t);
	CHECK(numbered_image(t, cookies, 2) && sampled_image_has_noted(t));
	CHECK(sampled_image_was_used(t, "/a/1") && sampled_image_was_used(t, "/a/2"));
	for (i = 3; i < MOST; i++) {
		(void)numbered_image(t, cookies, i);
		if (!sampled_image_are_many(t, 0))
			continue;
		(void)sampled_image_sweep(t, 0);
		(void)cookie_sweep(cookies, NULL);
	}
	CHECK(sampled_image_has_noted(t));
	(void)numbered_image(t, cookies, i);
	(void)numbered_image(t, cookies, i + 1);
	CHECK(!sampled_image_has_noted(t));
	sampled_image_note_used(t);
	CHECK(sampled_image_has_noted(t) && !sampled_image_was_used(t, "/a/1"));
	sampled_image_table_free(t);
	cookie_table_free(cookies);
}

static struct sampled_image *numbered_source(struct sampled_images *t, struct cookie_table *cookies,
					     int number)
{
	_cleanup_free_ char *path = xasprintf("/a/%d.py", number);
	struct cookie_function function = { .name = (char *)"f",
					    .bytes = 30,
					    .digest = COOKIE_DIGEST_SET };

	return sampled_image_of_cookie(t, cookie_source(cookies, path, &function));
}

/* Source files beyond those that have an image share one, until others are not sampled any more. */
static void source_files_get_images_as_others_are_left(void)
{
	enum { MOST = 4096 };
	const uint64_t later = 10 * 60 * NS_PER_S;
	struct cookie_table *cookies = cookie_table_new();
	struct sampled_images *t = sampled_image_table_new("/nowhere", "", NULL, cookies, NULL);
	struct sampled_image *shared;
	uint64_t script_unnamed, script_swept;
	int i;

	for (i = 1; i <= MOST; i++)
		CHECK(!numbered_source(t, cookies, i)->is_shared);
	CHECK(sampled_image_are_many(t, later));
	(void)sampled_image_sweep(t, later);
	CHECK(!sampled_image_are_many(t, 2 * later - 1));
	shared = numbered_source(t, cookies, i);
	CHECK(shared->is_shared && numbered_source(t, cookies, i + 1) == shared);
	CHECK_STR(numbered_source(t, cookies, 1)->image.name, "/a/1.py");
	CHECK(sampled_image_are_many(t, 2 * later));
	(void)sampled_image_sweep(t, 2 * later);
	CHECK(!sampled_image_has_file(t, "/a/2.py") && sampled_image_has_file(t, "/a/1.py"));
	CHECK_STR(numbered_source(t, cookies, i)->image.name, "/a/4097.py");
	CHECK_STR(numbered_source(t, cookies, 2)->image.name, "/a/2.py");
	script_unnamed = sampled_image_sources(t).shared;
	script_swept = sampled_image_sources(t).swept;
	CHECK_EQ(script_unnamed, 2);
	CHECK_EQ(script_swept, MOST - 1);
	sampled_image_table_free(t);
	cookie_table_free(cookies);
}

TESTS(T(separations_are_parsed), T(samples_are_kept_apart_by_cgroup),
      T(a_sample_without_cgroup_outlives_those_that_are_many),
      T(cgroups_are_left_aside_unless_asked_for), T(samples_are_kept_apart_as_asked),
      T(other_kinds_of_images_have_their_names), T(samples_that_wait_for_code_are_not_counted_yet),
      T(generated_code_has_the_name_that_the_driver_found),
      T(samples_stay_in_the_places_of_their_functions),
      T(two_files_of_one_path_never_share_a_sample_file), T(the_filter_keeps_only_its_applications),
      T(what_is_filtered_is_not_lost), T(losses_have_their_own_counters),
      T(source_files_get_images_as_others_are_left), T(weights_count_and_saturate),
      T(a_session_moved_away_starts_again), T(a_session_has_so_many_names_of_threads),
      T(names_of_threads_make_way_for_others),
      T(a_sample_file_that_fails_is_counted_and_tried_again),
      T(images_that_come_back_keep_their_files), T(images_unused_for_long_are_freed),
      T(images_in_use_are_noted_for_an_hour))
