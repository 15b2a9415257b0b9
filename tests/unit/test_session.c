/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"
#include "unsynced.h"

#include "base/log.h"
#include "base/parallel.h"
#include "base/strbuf.h"
#include "file/dirtree.h"
#include "file/path.h"
#include "sfile/session.h"
#include "sfile/session_lock.h"
#include "sfile/sname.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void put_file(const char *dir, const char *name)
{
	_cleanup_free_ char *path = path_join(dir, name);
	struct error err = ERROR_INIT;

	CHECK_EQ(path_make_parents(path, 0755, &err), 0);
	CHECK_EQ(path_write(path, "x", 0644, &err), 0);
}

static int list_event(const char *path, const struct sname *name, void *data)
{
	CHECK_EQ(access(path, F_OK), 0);
	strbuf_addf(data, "%s:%s ", name->image.name, name->event);
	return 0;
}

static int stop_at_first(const char *path _unused_, const struct sname *name _unused_, void *data)
{
	++*(int *)data;
	return 7;
}

static void list_bad(const char *path, const struct error *why, void *data)
{
	CHECK(why->code < 0);
	strbuf_addf(data, "bad:%s ", path_base(path));
}

static void a_walk_finds_sample_files_in_order_and_nothing_else(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(strbuf_done) struct strbuf seen = STRBUF_INIT;
	struct error err = ERROR_INIT;
	int calls = 0;

	put_file(dir, "{root}/bin/b/{dep}/{root}/bin/b/TIMER.0.0.all.all.all");
	put_file(dir, "{root}/bin/a/{dep}/{root}/lib/x/TIMER.0.0.all.all.all");
	put_file(dir, "{root}/bin/a/{dep}/{root}/bin/a/TIMER.0.0.all.all.all");
	put_file(dir, "{root}/bin/a/{dep}/{root}/bin/a/rubbish");
	put_file(dir, "{root}/bin/a/{dep}/{anon:anon}/12.jo");
	put_file(dir, "{kern}/ext4/{dep}/{kern}/ext4/CYC.1.0.all.all.all");
	put_file(dir, "stats/total_samples");
	put_file(dir, "images");
	CHECK_EQ(session_walk(dir, list_event, list_bad, &seen, &err), 0);
	CHECK_STR(strbuf_text(&seen),
		  "ext4:CYC /bin/a:TIMER bad:rubbish /lib/x:TIMER /bin/b:TIMER ");
	CHECK_EQ(session_walk(dir, stop_at_first, NULL, &calls, &err), 7);
	CHECK_EQ(calls, 1);
}

static void a_walk_passes_over_files_that_never_got_their_names(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(strbuf_done) struct strbuf seen = STRBUF_INIT;
	struct error err = ERROR_INIT;

	put_file(dir, "{root}/a/{dep}/{root}/.hidden/TIMER.0.0.all.all.all");
	put_file(dir, "{root}/a/{dep}/{root}/.hidden/.new.7");
	CHECK_EQ(session_walk(dir, list_event, list_bad, &seen, &err), 0);
	CHECK_STR(strbuf_text(&seen), "/.hidden:TIMER ");
}

static int list_below(const char *path _unused_, const char *below, void *data)
{
	strbuf_addf(data, "%s ", below);
	return 0;
}

/* The owner of a session may plant anything in it. */
static void a_walk_opens_nothing_but_directories_and_files(void)
{
	_cleanup_directory_ char *dir = test_directory(), *other = test_directory();
	_cleanup_free_ char *link = path_join(dir, "{root}/a/{dep}/{root}/a/LINK.0.0.all.all.all");
	_cleanup_free_ char *fifo = path_join(dir, "{root}/a/{dep}/{root}/a/FIFO.0.0.all.all.all");
	_cleanup_free_ char *tree = path_join(dir, "{root}/b"), *rest = path_join(dir, "kallsyms");
	_cleanup_(strbuf_done) struct strbuf seen = STRBUF_INIT;
	struct error err = ERROR_INIT;

	put_file(other, "b/{dep}/{root}/b/TIMER.0.0.all.all.all");
	put_file(dir, "{root}/a/{dep}/{root}/a/TIMER.0.0.all.all.all");
	put_file(dir, "images");
	CHECK_EQ(symlink("TIMER.0.0.all.all.all", link), 0);
	CHECK_EQ(mkfifo(fifo, 0644), 0);
	CHECK_EQ(symlink(other, tree), 0);
	CHECK_EQ(symlink("/etc/passwd", rest), 0);
	CHECK_EQ(session_walk(dir, list_event, list_bad, &seen, &err), 0);
	CHECK_STR(strbuf_text(&seen),
		  "bad:FIFO.0.0.all.all.all bad:LINK.0.0.all.all.all /a:TIMER bad:b ");
	strbuf_clear(&seen);
	CHECK_EQ(session_walk_rest(dir, list_below, &seen, &err), 0);
	CHECK_STR(strbuf_text(&seen), "images ");
}

static void a_walk_survives_an_unreadable_directory(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *locked = path_join(dir, "{root}/a");
	int status = 0;
	pid_t pid;

	put_file(dir, "{root}/a/{dep}/{root}/a/TIMER.0.0.all.all.all");
	put_file(dir, "{root}/b/{dep}/{root}/b/TIMER.0.0.all.all.all");
	CHECK_EQ(chmod(locked, 0), 0);
	CHECK_EQ(chmod(dir, 0755), 0);
	pid = fork();
	if (pid == 0) {
		struct strbuf seen = STRBUF_INIT;

		/* Root reads everything. */
		if (geteuid() == 0 && setuid(65534) < 0)
			_exit(77);
		test_failures = 0;
		CHECK_EQ(session_walk(dir, list_event, list_bad, &seen, NULL), 0);
		CHECK_STR(strbuf_text(&seen), "bad:a /b:TIMER ");
		_exit(test_failures != 0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(chmod(locked, 0755), 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		SKIP("root without the right to become another");
	CHECK_EQ(status, 0);
}

static const char *walked_directory;

/* Removes the images after /bin/a. */
static int list_and_remove(const char *path, const struct sname *name, void *data)
{
	_cleanup_free_ char *rest = path_join(walked_directory, "{root}/bin/b");

	CHECK_EQ(path_remove_tree(rest, NULL), 0);
	return list_event(path, name, data);
}

/* So it keeps no more than the directories that lead to one, however many images there are. */
static void a_walk_by_one_thread_reads_a_directory_when_it_comes_there(void)
{
	_cleanup_directory_ char *dir = test_directory();
	int status = 0;
	pid_t pid;

	put_file(dir, "{root}/bin/a/{dep}/{root}/lib/x/TIMER.0.0.all.all.all");
	put_file(dir, "{root}/bin/b/{dep}/{root}/bin/b/TIMER.0.0.all.all.all");
	pid = fork();
	if (pid == 0) {
		struct strbuf seen = STRBUF_INIT;

		parallel_forbid();
		walked_directory = dir;
		test_failures = 0;
		CHECK_EQ(parallel_threads(), 1);
		CHECK_EQ(session_walk(dir, list_event, list_bad, &seen, NULL), 0);
		CHECK_EQ(session_walk(dir, list_and_remove, list_bad, &seen, NULL), 0);
		CHECK_STR(strbuf_text(&seen), "/lib/x:TIMER /bin/b:TIMER /lib/x:TIMER ");
		_exit(test_failures != 0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
}

static void no_name_leads_out_of_the_session_directory(void)
{
	static const char *const names[] = { "",    ".",       "..",	  "../x",
					     "a/b", ".hidden", "a\nstop", "a\33" };
	_cleanup_directory_ char *dir = test_directory();
	struct error err = ERROR_INIT;
	size_t i;

	CHECK_EQ(session_create(dir, "current", &err), 0);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		CHECK_EQ(session_create(dir, names[i], &err), -EINVAL);
		CHECK_EQ(session_rename(dir, "current", names[i], &err), -EINVAL);
		CHECK_EQ(session_rename(dir, names[i], "new", &err), -EINVAL);
		CHECK_EQ(session_remove(dir, names[i], &err), -EINVAL);
		CHECK(!session_exists(dir, names[i]));
	}
}

static void a_session_that_is_not_there_is_named(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct error err = ERROR_INIT;

	CHECK_EQ(session_walk("/nonexistent/samples", list_event, NULL, NULL, &err), -ENOENT);
	CHECK(strstr(err.text, "/nonexistent/samples"));
	CHECK(!session_exists(dir, "current"));
}

static void a_new_session_has_all_that_belongs_to_it(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *samples = session_samples(dir, "current"), *abi = NULL;
	_cleanup_free_ char *stats = path_join(samples, "stats");
	struct error err = ERROR_INIT;

	CHECK_EQ(session_create(dir, "current", &err), 0);
	CHECK_EQ(session_create(dir, "current", &err), 0);
	CHECK_EQ(access(stats, F_OK), 0);
	CHECK(path_read(dir, "/abi", &abi, &err) > 0);
	CHECK(strstr(abi, "sizeof_struct_opd_header 72\n"));
	CHECK(!session_exists(dir, "current"));
	put_file(samples, "{root}/bin/a/{dep}/{root}/bin/a/TIMER.0.0.all.all.all");
	CHECK(session_exists(dir, "current"));
}

/* The original's own file, where the samples of the original are there. */
static void the_abi_is_the_originals(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *shared = NULL, *theirs = NULL, *ours = NULL;
	struct error err = ERROR_INIT;

	shared = xasprintf("%s/../shared/interop/abi/native.abi", getenv("OP_SOURCE_ROOT") ?: ".");
	if (access(shared, R_OK) < 0)
		SKIP("the original's abi file is not there");
	CHECK_EQ(session_create(dir, "current", &err), 0);
	CHECK(path_read(NULL, shared, &theirs, &err) > 0);
	CHECK(path_read(dir, "/abi", &ours, &err) > 0);
	CHECK_STR(ours, theirs);
}

static int list_name(const char *name, void *data)
{
	strbuf_addf(data, "%s ", name);
	return 0;
}

static void sessions_are_renamed_listed_and_removed(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(strbuf_done) struct strbuf seen = STRBUF_INIT;
	struct error err = ERROR_INIT;

	CHECK_EQ(session_create(dir, "current", &err), 0);
	CHECK_EQ(session_rename(dir, "current", "monday", &err), 0);
	CHECK_EQ(session_create(dir, "current", &err), 0);
	CHECK_EQ(session_rename(dir, "current", "monday", &err), -EEXIST);
	CHECK_EQ(session_rename(dir, "current", "../x", &err), -EINVAL);
	CHECK_EQ(session_rename(dir, "current", "", &err), -EINVAL);
	CHECK_EQ(session_list(dir, list_name, &seen, &err), 0);
	CHECK_STR(strbuf_text(&seen), "current monday ");
	CHECK_EQ(session_remove(dir, "monday", &err), 0);
	CHECK_EQ(session_remove(dir, "monday", &err), 0);
	CHECK_EQ(session_remove(dir, "..", &err), -EINVAL);
	strbuf_clear(&seen);
	CHECK_EQ(session_list(dir, list_name, &seen, &err), 0);
	CHECK_STR(strbuf_text(&seen), "current ");
}

static void a_session_is_gone_before_its_files_are(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *samples = path_join(dir, "samples"),
			    *left = path_join(samples, ".removed.1/stats");
	_cleanup_(strbuf_done) struct strbuf seen = STRBUF_INIT;
	struct error err = ERROR_INIT;
	int i;

	for (i = 0; i < 2; i++) {
		CHECK_EQ(session_create(dir, "current", &err), 0);
		CHECK_EQ(session_set_aside(dir, "current", &err), 0);
	}
	CHECK_EQ(session_set_aside(dir, "current", &err), 0);
	CHECK_EQ(session_list(dir, list_name, &seen, &err), 0);
	CHECK_STR(strbuf_text(&seen), "");
	CHECK_EQ(access(left, F_OK), 0);

	/* Removing another one, later, removes all that is left. */
	CHECK_EQ(session_create(dir, "monday", &err), 0);
	CHECK_EQ(session_remove(dir, "monday", &err), 0);
	CHECK_EQ(dirtree_names_of(samples, &seen), 0);
	CHECK_EQ(seen.length, 0);
}

static void removing_a_session_does_not_follow_links(void)
{
	_cleanup_directory_ char *dir = test_directory(), *other = test_directory();
	_cleanup_free_ char *link = path_join(dir, "samples/current/out"), *kept = NULL;
	struct error err = ERROR_INIT;

	put_file(other, "precious");
	CHECK_EQ(session_create(dir, "current", &err), 0);
	CHECK_EQ(symlink(other, link), 0);
	CHECK_EQ(session_remove(dir, "current", &err), 0);
	CHECK_EQ(path_read(other, "/precious", &kept, &err), 1);
}

static void sessions_elsewhere_are_not_touched(void)
{
	_cleanup_directory_ char *dir = test_directory(), *other = test_directory();
	_cleanup_free_ char *link = path_join(dir, "samples"), *kept = NULL;
	struct error err = ERROR_INIT;

	put_file(other, "current/precious");
	CHECK_EQ(symlink(other, link), 0);
	CHECK(session_remove(dir, "current", &err) < 0);
	CHECK(strstr(err.text, "/samples: not a directory, or reached by a symbolic link"));
	CHECK(session_rename(dir, "current", "saved", &err) < 0);
	CHECK_EQ(path_read(other, "/current/precious", &kept, &err), 1);
}

/* What session_lock_holder() returns to somebody who may not open the lock. */
static uint32_t holder_for_others(const char *dir)
{
	_cleanup_free_ char *lock = path_join(dir, "lock"), *aside = path_join(dir, "aside");
	uint32_t holder;

	CHECK_EQ(rename(lock, aside), 0);
	holder = session_lock_holder(dir);
	CHECK_EQ(rename(aside, lock), 0);
	return holder;
}

static void a_reader_cannot_keep_the_writer_out(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *lock = path_join(dir, "lock");
	_cleanup_close_ int first = session_lock(dir, NULL), second = -1;
	struct stat st;

	CHECK_EQ(stat(lock, &st), 0);
	CHECK_EQ(st.st_mode & 07777, 0600);
	/* The mode of earlier versions. */
	CHECK_EQ(chmod(lock, 0644), 0);
	(void)close(first);
	first = -1;
	second = session_lock(dir, NULL);
	CHECK(second >= 0 && stat(lock, &st) == 0);
	CHECK_EQ(st.st_mode & 07777, 0600);
}

static void one_writer_at_a_time_and_death_frees_the_lock(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct error err = ERROR_INIT;
	int fd, ready[2], status;
	pid_t child;
	char byte;

	CHECK_EQ(session_lock_holder(dir), 0);
	CHECK_EQ(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		fd = session_lock(dir, &err);
		(void)!write(ready[1], "x", 1);
		pause();
		_exit(fd < 0);
	}
	CHECK_EQ(read(ready[0], &byte, 1), 1);
	CHECK_EQ(session_lock_holder(dir), child);
	CHECK_EQ(holder_for_others(dir), child);
	CHECK_EQ(session_lock(dir, &err), -EBUSY);
	CHECK(strstr(err.text, "another profiler"));
	CHECK_EQ(kill(child, SIGKILL), 0);
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(session_lock_holder(dir), 0);
	CHECK_EQ(holder_for_others(dir), 0);
	fd = session_lock(dir, &err);
	CHECK(fd >= 0);
	CHECK_EQ(session_lock(dir, &err), -EBUSY);
	(void)close(fd);
	(void)close(ready[0]);
	(void)close(ready[1]);
}

static void list_stat(const char *name, uint64_t v, void *data)
{
	strbuf_addf(data, "%s=%llu ", name, (unsigned long long)v);
}

static void counters_add_up(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(strbuf_done) struct strbuf seen = STRBUF_INIT;
	struct error err = ERROR_INIT;

	CHECK_EQ(session_stat_get(dir, "total_samples"), 0);
	CHECK_EQ(session_stat_add(dir, "total_samples", 5, &err), 0);
	CHECK_EQ(session_stat_add(dir, "total_samples", 6, &err), 0);
	CHECK_EQ(session_stat_add(dir, "cpu0/received", UINT64_MAX, &err), 0);
	CHECK_EQ(session_stat_add(dir, "cpu0/received", 1, &err), 0);
	CHECK_EQ(session_stat_add(dir, "../x", 1, &err), -EINVAL);
	CHECK_EQ(session_stat_add(dir, "a/../../x", 1, &err), -EINVAL);
	CHECK_EQ(session_stat_get(dir, "total_samples"), 11);
	CHECK_EQ(session_stat_each(dir, list_stat, &seen), 0);
	CHECK_STR(strbuf_text(&seen), "cpu0/received=18446744073709551615 total_samples=11 ");
}

static void keep_line(enum log_level level, const char *text, void *data)
{
	(void)level;
	strbuf_adds(data, text);
}

static void a_counter_that_cannot_be_opened_is_named(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(strbuf_done) struct strbuf log = { 0 };
	struct rlimit was, none;

	CHECK_EQ(session_stat_add(dir, "total_samples", 5, NULL), 0);
	log_to(LOG_LEVEL_WARNING, keep_line, &log);
	CHECK_EQ(session_stat_get(dir, "missing"), 0);
	CHECK_EQ(log.length, 0);
	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &was), 0);
	none = (struct rlimit){ 0, was.rlim_max };
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
	CHECK_EQ(session_stat_get(dir, "total_samples"), 0);
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &was), 0);
	log_to(LOG_LEVEL_WARNING, NULL, NULL);
	CHECK(strstr(strbuf_text(&log), "stats/total_samples: ") != NULL);
}

static void a_counter_that_cannot_be_read_keeps_its_count(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct error err = ERROR_INIT;
	struct rlimit was, none;

	CHECK_EQ(session_stat_add(dir, "total_samples", 5, &err), 0);
	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &was), 0);
	none = (struct rlimit){ 0, was.rlim_max };
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
	CHECK_EQ(session_stat_add(dir, "total_samples", 6, &err), -EMFILE);
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &was), 0);
	CHECK(strstr(err.text, "stats/total_samples: ") != NULL);
	CHECK_EQ(session_stat_get(dir, "total_samples"), 5);
	put_file(dir, "stats/total_samples");
	CHECK_EQ(session_stat_add(dir, "total_samples", 6, &err), 0);
	CHECK_EQ(session_stat_get(dir, "total_samples"), 6);
}

static void a_counter_whose_name_is_not_on_the_disk_is_added(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(strbuf_done) struct strbuf log = { 0 };

	CHECK_EQ(session_stat_add(dir, "total_samples", 5, NULL), 0);
	log_to(LOG_LEVEL_WARNING, keep_line, &log);
	directories_fail = true;
	CHECK_EQ(session_stat_add(dir, "total_samples", 6, NULL), PATH_UNSYNCED);
	directories_fail = false;
	log_to(LOG_LEVEL_WARNING, NULL, NULL);
	CHECK(strstr(strbuf_text(&log), "stats/total_samples is written, but ") != NULL);
	CHECK_EQ(session_stat_get(dir, "total_samples"), 11);
}

TESTS(T(a_walk_finds_sample_files_in_order_and_nothing_else),
      T(a_walk_passes_over_files_that_never_got_their_names),
      T(a_walk_survives_an_unreadable_directory),
      T(a_walk_by_one_thread_reads_a_directory_when_it_comes_there),
      T(no_name_leads_out_of_the_session_directory), T(a_session_that_is_not_there_is_named),
      T(a_new_session_has_all_that_belongs_to_it), T(the_abi_is_the_originals),
      T(sessions_are_renamed_listed_and_removed), T(a_session_is_gone_before_its_files_are),
      T(removing_a_session_does_not_follow_links),
      T(a_walk_opens_nothing_but_directories_and_files), T(sessions_elsewhere_are_not_touched),
      T(a_reader_cannot_keep_the_writer_out), T(one_writer_at_a_time_and_death_frees_the_lock),
      T(counters_add_up), T(a_counter_that_cannot_be_opened_is_named),
      T(a_counter_that_cannot_be_read_keeps_its_count),
      T(a_counter_whose_name_is_not_on_the_disk_is_added))
