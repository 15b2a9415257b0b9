/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Places of functions that an interpreter runs. */
#include "test.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "file/path.h"
#include "identity/cookie_image.h"
#include "jit/jit_code.h"
#include "interpreter/python_lines.h"
#include "record/code/source_files.h"
#include "sfile/source_image.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The function called @name, which @digest distinguishes from others; NULL if it has no place. */
static const struct jit_code *find(struct source_files *t, uint64_t cookie, const char *name,
				   uint64_t digest)
{
	struct function_line lines[] = { { 0, 7 }, { 10, 8 } };
	struct cookie_function function = { .name = (char *)name,
					    .bytes = 30,
					    .digest = digest | COOKIE_DIGEST_SET,
					    .lines = lines,
					    .line_count = 2 };
	const struct cookie_image image = { .cookie = cookie,
					    .kind = COOKIE_SOURCE,
					    .path = (char *)"/srv/app.py",
					    .function = &function };

	return source_files_place(t, &image, "/srv/app.py");
}

/* Its place. */
static uint64_t place(struct source_files *t, uint64_t cookie, const char *name, uint64_t digest)
{
	return find(t, cookie, name, digest)->address;
}

static void a_function_has_one_place(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct source_files *t = source_files_new(dir);
	uint64_t f = place(t, 1, "f", 5), g = place(t, 2, "g", 5), changed = place(t, 3, "f", 6);

	CHECK(f && g && changed);
	CHECK(g >= f + 32);
	CHECK(changed >= g + 32);
	CHECK_EQ(place(t, 1, "f", 5), f);
	CHECK_EQ(place(t, 4, "f", 5), f);
	CHECK_EQ(source_files_known(t, 3)->address, changed);
	CHECK(!source_files_known(t, 5));
	CHECK_EQ(source_files_capped(t), 0);
	source_files_free(t);
}

static void places_are_kept_in_the_session(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct source_files *t = source_files_new(dir);
	uint64_t f = place(t, 1, "kept", 5), g = place(t, 2, "kept", 6), h;

	source_files_write(t, 0, true);
	source_files_free(t);
	t = source_files_new(dir);
	h = place(t, 1, "new", 7);
	CHECK(h > g);
	CHECK_EQ(place(t, 2, "kept", 5), f);
	CHECK_EQ(place(t, 3, "kept", 6), g);
	source_files_write(t, 0, true);
	source_files_free(t);
	t = source_files_new(dir);
	CHECK_EQ(place(t, 1, "new", 7), h);
	source_files_free(t);
}

enum { RUNS = 40, NAMES = 4000 };

/* What a process that is killed has got, shared with its parent. */
struct given {
	volatile uint64_t count;
	uint64_t places[NAMES];
};

/* Gets places for functions that no other run has, and writes them now and then, until it is
 * killed. */
static void get_places(const char *dir, int run, struct given *given)
{
	struct source_files *t = source_files_new(dir);
	uint64_t i;

	for (i = 0; i < NAMES; i++) {
		_cleanup_free_ char *name = xasprintf("f_%d_%d", run, (int)i);

		given->places[i] = place(t, i + 1, name, 5);
		given->count = i + 1;
		if (i % 64 == 63)
			source_files_write(t, i * NS_PER_S, false);
	}
	pause();
	_exit(0);
}

/* Runs that with the functions of @run, and kills it once it has got @count places. */
static void kill_run(const char *dir, int run, uint64_t count, struct given *given)
{
	pid_t pid = fork();

	if (pid == 0)
		get_places(dir, run, given);
	while (given->count < count && waitpid(pid, NULL, WNOHANG) == 0)
		(void)sched_yield();
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
}

/* Samples count at a place before its name is written: no other function gets it after a kill. */
static void a_killed_run_keeps_its_places(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct given *given = mmap(NULL, sizeof(*given), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct map owners = { 0 };
	uint64_t i, twice = 0;
	int run;

	for (run = 0; run < RUNS; run++) {
		given->count = 0;
		kill_run(dir, run, (uint64_t)run * run * 2 + 1, given);
		CHECK(given->count > 0);
		for (i = 0; i < given->count; i++) {
			twice += map_get(&owners, given->places[i]) != NULL;
			(void)map_set(&owners, given->places[i], given);
		}
	}
	CHECK(owners.count > 1000);
	CHECK_EQ(twice, 0);
	map_done(&owners);
	(void)munmap(given, sizeof(*given));
}

/* A list of reserved places that was torn by a power cut is no reason to give any again. */
static void a_damaged_reservation_gives_no_place_again(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *functions = source_image_path(dir, "/srv/app.py");
	_cleanup_free_ char *reserved = xasprintf("%s.places", functions);
	struct source_files *t = source_files_new(dir);
	uint64_t f = place(t, 1, "f", 5);

	source_files_free(t);
	CHECK_EQ(path_write(reserved, "", 0644, NULL), 0);
	t = source_files_new(dir);
	CHECK(place(t, 1, "g", 7) >= f + 32);
	source_files_free(t);
}

/* Names of two files may have the same hash, in which the first has the functions. */
static void functions_of_another_file_are_not_its_own(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *functions = source_image_path(dir, "/srv/app.py");
	_cleanup_free_ char *reserved = xasprintf("%s.places", functions);
	struct source_files *t = source_files_new(dir);

	(void)place(t, 1, "f", 5);
	source_files_free(t);
	CHECK_EQ(path_write(reserved, "65536 /srv/other.py", 0644, NULL), 0);
	t = source_files_new(dir);
	CHECK(!find(t, 1, "f", 5));
	CHECK_EQ(source_files_capped(t), 1);
	source_files_write(t, 0, true);
	CHECK(access(functions, F_OK) < 0);
	source_files_free(t);
}

/* As on a full disk. */
static void count_line(enum log_level level _unused_, const char *text _unused_, void *data)
{
	++*(int *)data;
}

static void a_failed_write_is_tried_again(void)
{
	int lines = 0;
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *functions = source_image_path(dir, "/srv/app.py");
	struct source_files *t = source_files_new(dir);
	uint64_t f = place(t, 1, "f", 5), script_unwritten;

	log_to(LOG_LEVEL_WARNING, count_line, &lines);
	CHECK_EQ(mkdir(functions, 0755), 0);
	source_files_write(t, 60 * NS_PER_S, true);
	CHECK_EQ(source_files_unwritten(t), 1);
	source_files_write(t, 80 * NS_PER_S, true);
	script_unwritten = source_files_unwritten(t);
	CHECK_EQ(script_unwritten, 2);
	CHECK_EQ(lines, 1);
	CHECK_EQ(rmdir(functions), 0);
	source_files_write(t, 120 * NS_PER_S, true);
	CHECK_EQ(access(functions, F_OK), 0);
	CHECK_EQ(source_files_unwritten(t), 2);
	log_to(LOG_LEVEL_ERROR, NULL, NULL);
	source_files_free(t);
	t = source_files_new(dir);
	CHECK_EQ(place(t, 1, "f", 5), f);
	source_files_free(t);
}

/* The place that the function @name has according to the session. */
static uint64_t written_place(const char *dir, const char *name, uint64_t digest)
{
	struct source_files *t = source_files_new(dir);
	uint64_t at = place(t, 1, name, digest);

	source_files_free(t);
	return at;
}

static void a_dump_writes_what_came_a_moment_after_the_last_writing(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct source_files *t = source_files_new(dir);
	uint64_t f = place(t, 1, "f", 5), g;

	while (source_files_dump(t, 60 * NS_PER_S, 60 * NS_PER_S))
		(void)sched_yield();
	CHECK_EQ(written_place(dir, "f", 5), f);
	g = place(t, 2, "g", 6);
	source_files_write(t, 61 * NS_PER_S, false);
	while (source_files_dump(t, 61 * NS_PER_S, 60 * NS_PER_S))
		(void)sched_yield();
	CHECK(written_place(dir, "g", 6) != g);
	while (source_files_dump(t, 62 * NS_PER_S, 62 * NS_PER_S))
		(void)sched_yield();
	CHECK_EQ(written_place(dir, "g", 6), g);
	source_files_free(t);
}

static void functions_beyond_the_limit_share_a_place(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct source_files *t = source_files_new(dir);
	uint64_t script_capped, i, last = 0, now = 0;

	for (i = 1; i <= (1 << 14) + 100; i++) {
		_cleanup_free_ char *name = xasprintf("made_%d", (int)i);

		last = now;
		now = place(t, i, name, i);
	}
	script_capped = source_files_capped(t);
	CHECK_EQ(script_capped, 100);
	CHECK_EQ(now, last);
	source_files_free(t);
}

static bool is_named(const char *name, void *wanted)
{
	return !strcmp(name, wanted);
}

/* Also functions of many lines take limited memory. */
static void functions_with_many_lines_share_a_place(void)
{
	enum { LINES = 5000, FUNCTIONS = 2000 };
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ struct function_line *lines = xcalloc(LINES, sizeof(*lines));
	struct source_files *t = source_files_new(dir);
	uint64_t i, capped;

	for (i = 0; i < LINES; i++)
		lines[i] = (struct function_line){ (uint32_t)i, (uint32_t)i + 1 };
	for (i = 1; i <= FUNCTIONS; i++) {
		struct cookie_function function = { .name = (char *)"f",
						    .bytes = LINES,
						    .digest = i | COOKIE_DIGEST_SET,
						    .lines = lines,
						    .line_count = LINES };
		const struct cookie_image image = { .cookie = i,
						    .kind = COOKIE_SOURCE,
						    .path = (char *)"/srv/app.py",
						    .function = &function };
		_cleanup_free_ char *name = xasprintf("/srv/%d.py", (int)i % 20);

		CHECK(source_files_place(t, &image, name));
	}
	capped = source_files_capped(t);
	CHECK(capped > FUNCTIONS / 2 && capped < FUNCTIONS - 100);
	/* Those that are left make room again. */
	source_files_write(t, 0, true);
	source_files_sweep(t, is_named, (char[]){ "/srv/other.py" });
	CHECK(find(t, i, "f", i) && source_files_known(t, i)->size == 31);
	CHECK_EQ(source_files_capped(t), capped);
	source_files_free(t);
}

/* Files that are not used for long make room for others, and come back with the places they had. */
static void a_file_that_was_freed_has_its_old_places(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct source_files *t = source_files_new(dir);
	uint64_t f = place(t, 1, "f", 5), g;
	char name[] = "/srv/app.py", other[] = "/srv/other.py";

	source_files_sweep(t, is_named, other); /* is not written yet */
	CHECK(source_files_have(t, name) && !source_files_known(t, 1));
	CHECK_EQ(place(t, 1, "f", 5), f);
	source_files_write(t, 0, true);
	source_files_sweep(t, is_named, name);
	CHECK_EQ(source_files_known(t, 1)->address, f);
	source_files_sweep(t, is_named, other);
	CHECK(!source_files_have(t, name) && !source_files_known(t, 1));
	g = place(t, 2, "g", 6);
	CHECK(g > f);
	CHECK_EQ(place(t, 3, "f", 5), f);
	source_files_free(t);
}

TESTS(T(a_function_has_one_place), T(places_are_kept_in_the_session),
      T(a_killed_run_keeps_its_places), T(a_damaged_reservation_gives_no_place_again),
      T(functions_of_another_file_are_not_its_own), T(a_failed_write_is_tried_again),
      T(a_dump_writes_what_came_a_moment_after_the_last_writing),
      T(functions_beyond_the_limit_share_a_place), T(functions_with_many_lines_share_a_place),
      T(a_file_that_was_freed_has_its_old_places))
