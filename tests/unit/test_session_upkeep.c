/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session that is recorded for months stays as small as what it shows. */
#include "record_bench.h"

#include "history/upkeep.h"
#include "history/window.h"
#include "collect/session_upkeep.h"
#include "sfile/odb.h"
#include "sfile/sfile.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

enum { PROGRAMS = 170, ROUNDS = 3, DAY_MS = 24 * 3600 * 1000, GONE = 0x3fffffff };

/* 200 bytes, so that few programs make a large manifest. */
#define TEN "0123456789"
#define DIRECTORY                                                                                  \
	"/tmp/" TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN "/" TEN TEN TEN TEN TEN TEN TEN TEN TEN

#define LATER_MS (window_now_ms() + 2 * (int64_t)DAY_MS)

/* Each time, sample files move to idle/, and those that moved before are added up. */
static void upkeep(const char *samples, char **ret_said)
{
	const struct upkeep how = { .now_ms = LATER_MS, .live = UINT32_MAX, .idle_ms = DAY_MS };
	struct strbuf log = STRBUF_INIT;

	session_upkeep(samples, &how, &log);
	if (ret_said)
		*ret_said = strbuf_take(&log);
	else
		CHECK_STR(strbuf_text(&log), "");
	strbuf_done(&log);
}

/* Programs that ran once are too few to be kept apart. */
static void count_heavy(const char *samples)
{
	static const char below[] = "{root}/bin/heavy/{dep}/{root}/bin/heavy/TIMER.0.0.all.all.all";
	const struct sfile_header header = { .cpu_type = 4 };
	_cleanup_free_ char *path = path_join(samples, below);
	_cleanup_(sfile_closep) struct sfile *sf = NULL;

	CHECK_EQ(path_make_parents(path, 0755, NULL), 0);
	CHECK_EQ(sfile_create(path, &header, &sf, NULL), 0);
	CHECK_EQ(odb_add(sfile_odb(sf), 1, 100000000), 0);
}

static void sample_in(struct bench *b, unsigned int number, const char *path)
{
	const struct file_identity file = { 1, number, 0 };
	uint64_t app = cookie_file(b->cookies, &file, path);

	run_as(b, 7, app);
	evbuf_sample(b->buffer, app, 0x20, 0, 1);
}

static void run_programs(struct bench *b, unsigned int round)
{
	unsigned int i;

	for (i = 0; i < PROGRAMS; i++) {
		_cleanup_free_ char *path = xasprintf(DIRECTORY "/%u/conftest-%u", round, i);

		sample_in(b, 10 + round * PROGRAMS + i, path);
	}
	sample_in(b, 1, "/bin/heavy");
	sample_in(b, 2, "/bin/now");
	CHECK_EQ(evbuf_flush(b->buffer), 0);
	CHECK_EQ(record_flush(b->rec, true, NULL), 0);
}

static bool is_in_manifest(const char *samples, const char *name)
{
	_cleanup_(manifest_closep) struct manifest *m = NULL;

	CHECK_EQ(manifest_open(samples, false, &m, NULL), 0);
	return manifest_find(m, name) != NULL;
}

static size_t lines_of(const char *samples)
{
	_cleanup_free_ char *path = path_join(samples, MANIFEST_FILE), *text = NULL;
	size_t lines = 0;
	const char *at;

	CHECK(path_read("", path, &text, NULL) > 0);
	for (at = text; (at = strchr(at, '\n')); at++)
		lines++;
	return lines;
}

/* Ends the run and begins the next one, so that no image is in use. */
static void start_again(struct bench *b)
{
	evbuf_free(b->buffer);
	record_free(b->rec);
	bench_start(b);
}

static void images_that_nothing_refers_to_leave_the_manifest(void)
{
	BENCH(b);
	_cleanup_free_ char *samples = session_samples(b.session, "current");
	unsigned int round;
	size_t most = 0;

	bench_start(&b);
	count_heavy(samples);
	for (round = 0; round < ROUNDS; round++) {
		run_programs(&b, round);
		most = MAX(most, lines_of(samples));
		start_again(&b);
		sample_in(&b, 2, "/bin/now");
		CHECK_EQ(evbuf_flush(b.buffer), 0);
		upkeep(samples, NULL);
		upkeep(samples, NULL);
		record_note_images(b.rec);
		upkeep(samples, NULL); /* reads what is in the segment now */
		record_drop_images(b.rec);
		CHECK(is_in_manifest(samples, "/bin/heavy"));
		CHECK(is_in_manifest(samples, "/bin/now"));
	}
	CHECK(most < 2 * PROGRAMS);
	CHECK(lines_of(samples) < 10);
}

static void images_that_are_used_meanwhile_stay(void)
{
	static const char again[] = DIRECTORY "/0/conftest-7";
	BENCH(b);
	_cleanup_free_ char *samples = session_samples(b.session, "current");

	bench_start(&b);
	count_heavy(samples);
	run_programs(&b, 0);
	start_again(&b);
	run_programs(&b, 1); /* their files stay open */
	upkeep(samples, NULL);
	upkeep(samples, NULL);
	record_note_images(b.rec);
	upkeep(samples, NULL);
	sample_in(&b, 10 + 7, again);
	CHECK_EQ(evbuf_flush(b.buffer), 0);
	record_drop_images(b.rec);
	CHECK(is_in_manifest(samples, again));
	CHECK(is_in_manifest(samples, DIRECTORY "/1/conftest-99"));
	CHECK(!is_in_manifest(samples, DIRECTORY "/0/conftest-99"));
	/* The next one is added to the new file. */
	sample_in(&b, 3, "/bin/next");
	CHECK_EQ(evbuf_flush(b.buffer), 0);
	CHECK(is_in_manifest(samples, "/bin/next"));
}

static void a_list_of_an_earlier_run_is_not_used(void)
{
	BENCH(b);
	_cleanup_free_ char *samples = session_samples(b.session, "current");

	bench_start(&b);
	run_programs(&b, 0);
	put_file(samples, "images.unused.tmp", "/bin/heavy\n/bin/now\n");
	start_again(&b);
	record_note_images(b.rec);
	record_drop_images(b.rec);
	CHECK(is_in_manifest(samples, "/bin/heavy"));
}

/* --- code made at run time --- */

#define REGIONS "{root}/bin/java/{dep}/{anon:anon}/"

static void put_code(const char *samples, const char *below, uint32_t tgid, off_t bytes,
		     time_t written_s)
{
	const struct timespec at[2] = { { written_s, 0 }, { written_s, 0 } };
	_cleanup_free_ char *name = xasprintf("%s%u.jo", below, tgid),
			    *path = path_join(samples, name);

	put_file(samples, name, "");
	CHECK_EQ(truncate(path, bytes), 0);
	CHECK_EQ(utimensat(AT_FDCWD, path, at, 0), 0);
}

static bool has_code(const char *samples, const char *below, uint32_t tgid)
{
	_cleanup_free_ char *path = xasprintf("%s/%s%u.jo", samples, below, tgid);

	return access(path, F_OK) == 0;
}

/* A sample file of the process's memory. */
static void refer_to(const char *samples, uint32_t tgid)
{
	const struct sname name = {
		.app = { .kind = SNAME_ROOT, .name = "/bin/java" },
		.image = { .kind = SNAME_ANON, "anon", tgid, 0x1000, 0x2000 },
		.callee = { .kind = SNAME_ROOT, .name = "/bin/java" },
		.has_callee = true, /* stays where it is */
		.event = "TIMER",
		.task = SNAME_TASK_ALL,
	};
	_cleanup_free_ char *below = sname_mangle(&name);

	put_file(samples, below, "");
}

static void code_that_nothing_refers_to_goes(void)
{
	BENCH(b);
	_cleanup_free_ char *samples = session_samples(b.session, "current");
	const uint32_t self = (uint32_t)getpid();
	time_t now_s = time(NULL);

	bench_start(&b);
	put_code(samples, REGIONS, GONE, 100, now_s);
	put_code(samples, "jit/", GONE, 100, now_s);
	put_code(samples, REGIONS, GONE - 1, 100, now_s);
	put_code(samples, REGIONS, GONE - 2, 100, now_s + 4 * 86400);
	put_code(samples, "jit/", self, 100, now_s);
	refer_to(samples, GONE - 1);
	upkeep(samples, NULL);
	CHECK(!has_code(samples, REGIONS, GONE));
	CHECK(!has_code(samples, "jit/", GONE));
	CHECK(has_code(samples, REGIONS, GONE - 1));
	CHECK(has_code(samples, REGIONS, GONE - 2));
	CHECK(has_code(samples, "jit/", self));
}

static void of_much_code_the_oldest_goes(void)
{
	BENCH(b);
	_cleanup_free_ char *samples = session_samples(b.session, "current"), *said = NULL;
	time_t now_s = time(NULL);
	uint32_t i;

	bench_start(&b);
	for (i = 0; i < 4; i++) {
		put_code(samples, REGIONS, GONE - i, 100 << 20, now_s - 100 + (time_t)i);
		refer_to(samples, GONE - i);
	}
	upkeep(samples, &said);
	CHECK(strstr(said, "functions of the 2 processes that ended first lost their names") !=
	      NULL);
	CHECK(!has_code(samples, REGIONS, GONE));
	CHECK(!has_code(samples, REGIONS, GONE - 1));
	CHECK(has_code(samples, REGIONS, GONE - 2));
	CHECK(has_code(samples, REGIONS, GONE - 3));
}

/* --- cgroups, kernels --- */

static void cgroups_that_are_gone_leave_no_directories(void)
{
	BENCH(b);
	_cleanup_free_ char *samples = session_samples(b.session, "current"),
			    *cgroups = path_join(samples, "{cgroup}");
	unsigned int i;

	b.config.separate = RECORD_SEPARATE_CGROUP;
	bench_start(&b);
	count_heavy(samples);
	for (i = 0; i < 40; i++) {
		_cleanup_free_ char *path = xasprintf("/system.slice/run-%u.scope", i);
		struct evbuf_context context = { .tgid = 7, .tid = 7 };

		context.app = cookie_file(b.cookies, &(struct file_identity){ 1, 1, 0 }, "/bin/p");
		context.cgroup = cookie_cgroup(b.cookies, path);
		evbuf_context(b.buffer, &context);
		evbuf_sample(b.buffer, context.app, 0x20, 0, 1);
	}
	CHECK_EQ(evbuf_flush(b.buffer), 0);
	start_again(&b);
	CHECK(access(cgroups, F_OK) == 0);
	upkeep(samples, NULL);
	CHECK(access(cgroups, F_OK) < 0);
	upkeep(samples, NULL);
	upkeep(samples, NULL);
	free(cgroups);
	cgroups = path_join(samples, SESSION_IDLE "/1.files");
	CHECK(access(cgroups, F_OK) < 0);
}

/* The size of the kernel's symbols in the session. */
static off_t symbols_size(const char *samples)
{
	_cleanup_free_ char *path = path_join(samples, "kallsyms");
	struct stat st;

	CHECK_EQ(stat(path, &st), 0);
	return st.st_size;
}

static void each_start_needs_no_other_copy_of_the_kernels_symbols(void)
{
	BENCH(b);
	_cleanup_free_ char *samples = session_samples(b.session, "current");
	off_t size;
	int i;

	bench_start(&b);
	record_prepare(b.rec);
	size = symbols_size(samples);
	for (i = 0; i < 5; i++) {
		start_again(&b);
		record_prepare(b.rec);
		evbuf_kernel_sample(b.buffer, 0xffffffff81000010, 0, 1);
		CHECK_EQ(evbuf_flush(b.buffer), 0);
	}
	CHECK_EQ(symbols_size(samples), size);
}

TESTS(T(images_that_nothing_refers_to_leave_the_manifest), T(images_that_are_used_meanwhile_stay),
      T(a_list_of_an_earlier_run_is_not_used), T(code_that_nothing_refers_to_goes),
      T(of_much_code_the_oldest_goes), T(cgroups_that_are_gone_leave_no_directories),
      T(each_start_needs_no_other_copy_of_the_kernels_symbols))
