/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The history of call chains through kills, full disks, damage and repairs. */
#include "chain_past.h"
#include "killed.h"
#include "unsynced.h"

#include "base/log.h"
#include "chains/chain_merge.h"
#include "history/history_source.h"
#include "history/internal/segment_format.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <zlib.h>
#include <zstd.h>

/* --- interruptions --- */

static void work(const void *past)
{
	(void)upkeep(past, 0, 0);
}

static void check(const void *past)
{
	const struct past *p = past;

	CHECK_EQ(read_chains(p->dir, NULL, NULL).all, p->all);
	CHECK_EQ(read_chains(p->dir, &WINDOW_ALL, NULL).all, p->all);
}

static void a_kill_at_any_time_changes_no_sum(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	unsigned int hour, killed = 0;

	for (hour = 0; hour < 24 * 3; hour++) {
		if (hour % 3)
			write_hour(&p, 20 * MINUTE);
		else
			write_busy_hour(&p);
		/* Much is due at once after some hours, as after a pause. */
		if (hour % 16 == 15)
			killed += kill_often(&(struct killed_work){ work, check, &p, 5000 });
	}
	CHECK(killed > 0);
	(void)upkeep(&p, 0, 0);
	check_sums(&p);
	CHECK_EQ(files_of(&p, "roll"), 0);
	CHECK_EQ(files_of(&p, "sum."), 1);
}

/* A reader may read while files are rolled up and deleted. */
static void readers_always_see_the_whole(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	unsigned int hour;
	pid_t pid;
	int status = 0;

	for (hour = 0; hour < 20; hour++) {
		write_hour(&p, 20 * MINUTE);
		write_busy_hour(&p);
	}
	pid = fork();
	if (pid == 0) {
		for (hour = 0; hour < 40; hour++) {
			(void)upkeep(&p, 0, 0);
			p.now_ms += HOUR;
		}
		_exit(0);
	}
	while (waitpid(pid, &status, WNOHANG) == 0) {
		CHECK_EQ(read_chains(dir, NULL, NULL).all, p.all);
		CHECK_EQ(read_chains(dir, &WINDOW_ALL, NULL).all, p.all);
	}
	CHECK_EQ(status, 0);
}

/* A full disk in the middle of the upkeep: no file may be longer than some bytes. */
static void a_full_disk_changes_no_sum(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	struct rlimit most = { 0, RLIM_INFINITY };
	struct upkeep how = { .chains = &history_chains };
	unsigned int failed = 0;

	(void)signal(SIGXFSZ, SIG_IGN);
	write_busy_hour(&p);
	write_hour(&p, 20 * MINUTE);
	p.now_ms += 3 * HOUR;
	how.now_ms = p.now_ms;
	how.live = p.generation + 1;
	how.chains_live = chain_history_next(p.dir);
	for (most.rlim_cur = 0; most.rlim_cur < 4096; most.rlim_cur += 64) {
		_cleanup_(strbuf_done) struct strbuf log = STRBUF_INIT;

		CHECK_EQ(setrlimit(RLIMIT_FSIZE, &most), 0);
		failed += history_upkeep(p.dir, &how, &log) == -EFBIG;
		CHECK_EQ(setrlimit(RLIMIT_FSIZE, &(struct rlimit){ RLIM_INFINITY, RLIM_INFINITY }),
			 0);
		check_sums(&p);
	}
	CHECK(failed > 3);
	(void)upkeep(&p, 0, 0);
	CHECK_EQ(files_of(&p, "nodes."), 0);
	CHECK_EQ(files_of(&p, "roll"), 0);
	check_sums(&p);
}

/* A power cut could take its name, and not the removal of the one before. */
static void a_sum_is_kept_until_the_next_one_is_on_the_disk(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(strbuf_done) struct strbuf log = STRBUF_INIT;
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	struct upkeep how = { .chains = &history_chains };
	int i;

	write_hour(&p, 20 * MINUTE);
	(void)upkeep(&p, 0, 0);
	CHECK_EQ(files_of(&p, "sum."), 1);
	write_hour(&p, 20 * MINUTE);
	how.now_ms = p.now_ms;
	how.live = p.generation + 1;
	how.chains_live = chain_history_next(dir);
	directories_fail = true;
	for (i = 0; i < 2; i++) {
		CHECK_EQ(history_upkeep(p.dir, &how, &log), -EIO);
		CHECK_EQ(files_of(&p, "sum."), 2);
	}
	directories_fail = false;
	CHECK(history_upkeep(p.dir, &how, &log) >= 0);
	CHECK_EQ(files_of(&p, "sum."), 1);
	check_sums(&p);
}

/* What a killed writer counted since its last slice is in no slice, but in the sum. */
static void what_is_in_no_slice_is_in_the_sum(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	struct chain_store *s = NULL;

	write_hour(&p, 20 * MINUTE);
	CHECK_EQ(chain_store_open_sliced(dir, &s, NULL), 0);
	add(s, "/bin/killed", (const uint64_t[]){ 1 }, 1, 1000);
	chain_store_close(s);
	set_time(&p);
	(void)upkeep(&p, 0, 0);
	p.now_ms += 5 * HOUR;
	(void)upkeep(&p, 0, 0);
	CHECK_EQ(files_of(&p, "slices."), 0);
	CHECK_EQ(read_chains(dir, NULL, NULL).all, p.all + 1000);
	CHECK_EQ(read_chains(dir, &WINDOW_ALL, NULL).all, p.all);
	/* The next writer's chains are added, whatever it continues. */
	CHECK_EQ(chain_store_open(dir, &s, NULL), 0);
	add(s, "/bin/next", (const uint64_t[]){ 1 }, 1, 5);
	chain_store_close(s);
	CHECK_EQ(read_chains(dir, NULL, NULL).all, p.all + 1005);
}

/* --- damage --- */

/* The power was cut before the first page of the newest pair reached the disk. */
static void a_pair_without_a_header_costs_only_itself(void)
{
	static const char *const files[] = { "nodes", "places" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		_cleanup_directory_ char *dir = test_directory();
		struct past p = { .dir = dir, .now_ms = BEGIN_MS };
		_cleanup_free_ char *path = NULL;
		uint64_t before;
		int fd;

		write_hour(&p, 20 * MINUTE);
		before = p.all;
		write_hour(&p, 20 * MINUTE);
		path = xasprintf("%s/chains/%s.%u", dir, files[i], chain_history_next(dir) - 1);
		fd = open(path, O_WRONLY | O_CLOEXEC);
		CHECK_EQ(pwrite(fd, (const char[4096]){ 0 }, 4096, 0), 4096);
		(void)close(fd);
		CHECK_EQ(read_whole(dir, NULL), before);
		CHECK_EQ(read_whole(dir, &WINDOW_ALL), before);
	}
}

static void a_repair_keeps_the_history(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	unsigned int hour;

	for (hour = 0; hour < 30; hour++) {
		write_hour(&p, 20 * MINUTE);
		if (hour != 29)
			(void)upkeep(&p, 0, 0);
	}
	CHECK_EQ(chain_repair(dir, NULL), 0);
	check_sums(&p);
	check_window(&p, BEGIN_MS, BEGIN_MS + 5 * MINUTE);
	CHECK_EQ(chain_repair(dir, NULL), 0);
	(void)upkeep(&p, 0, 0);
	check_sums(&p);
}

static void a_repair_counts_nothing_twice_without_a_sum(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	_cleanup_free_ char *chains = path_join(dir, CHAIN_DIRECTORY), *sum = NULL;
	uint32_t last = 0;

	write_hour(&p, 20 * MINUTE);
	write_hour(&p, 20 * MINUTE);
	(void)upkeep(&p, 0, 0);
	CHECK(files_of(&p, "chain.1.") > 0);
	CHECK_EQ(sources_sum(chains, &last, NULL), 1);
	sum = source_sum_path(chains, last);
	CHECK_EQ(unlink(sum), 0);
	check_sums(&p);
	CHECK_EQ(chain_repair(dir, NULL), 0);
	check_sums(&p);
}

/* Damages each byte of the file whose name begins with @prefix, and reads. */
static void damage(const struct past *p, const char *prefix, const struct window *window)
{
	_cleanup_free_ char *chains = path_join(p->dir, CHAIN_DIRECTORY), *path = NULL;
	_cleanup_close_ int fd = -1;
	DIR *d = opendir(chains);
	struct dirent *e;
	uint8_t byte, other;
	struct stat st;
	off_t at;

	while ((e = readdir(d)) && !path)
		if (!strncmp(e->d_name, prefix, strlen(prefix)))
			path = path_join(chains, e->d_name);
	(void)closedir(d);
	fd = open(path, O_RDWR | O_CLOEXEC);
	CHECK_EQ(fstat(fd, &st), 0);
	for (at = 0; at < st.st_size; at += 1 + st.st_size / 300) {
		_cleanup_(chain_reader_closep) struct chain_reader *r = NULL;
		struct sums s = { 0 };

		CHECK_EQ(pread(fd, &byte, 1, at), 1);
		other = byte ^ 0x10;
		CHECK_EQ(pwrite(fd, &other, 1, at), 1);
		if (chain_reader_open(p->dir, window, &r, NULL) == 0) {
			s.names = chain_reader_names(r);
			CHECK_EQ(chain_reader_each(r, take, &s), 0);
			CHECK(s.all == p->all || chain_reader_skipped(r).bytes > 0);
			CHECK(s.all <= p->all);
		}
		CHECK_EQ(pwrite(fd, &byte, 1, at), 1);
	}
	CHECK_EQ(read_chains(p->dir, window, NULL).all, p->all);
}

static void damage_is_skipped_and_counted(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	unsigned int hour;

	for (hour = 0; hour < 3; hour++)
		write_hour(&p, 10 * MINUTE);
	(void)upkeep(&p, 0, 0);
	p.now_ms += 4 * HOUR;
	(void)upkeep(&p, 0, 0);
	CHECK_EQ(files_of(&p, "nodes."), 0);
	damage(&p, "sum.", NULL);
	damage(&p, "chain.1.", &WINDOW_ALL);
}

/* Replaces the nodes of a segment by others, of which no byte ends a number. */
static void spoil_nodes(int fd)
{
	uint8_t raw[64], stored[256];
	struct segment_header h;
	struct segment_block *b = &h.blocks[SEGMENT_NODES];
	struct stat st;

	memset(raw, 0xff, sizeof(raw));
	CHECK_EQ(fstat(fd, &st), 0);
	CHECK_EQ(pread(fd, &h, sizeof(h), 0), (ssize_t)sizeof(h));
	b->offset = (uint64_t)st.st_size;
	b->size = sizeof(raw);
	b->stored = (uint32_t)ZSTD_compress(stored, sizeof(stored), raw, sizeof(raw), 1);
	b->crc = (uint32_t)crc32_z(0, stored, b->stored);
	h.crc = (uint32_t)crc32_z(0, (const uint8_t *)&h.level,
				  sizeof(h) - offsetof(struct segment_header, level));
	CHECK_EQ(pwrite(fd, stored, b->stored, st.st_size), (ssize_t)b->stored);
	CHECK_EQ(pwrite(fd, &h, sizeof(h), 0), (ssize_t)sizeof(h));
}

static void keep(enum log_level level, const char *text, void *data)
{
	CHECK_EQ(level, LOG_LEVEL_WARNING);
	strbuf_addf(data, "%s\n", text);
}

/* The nodes of a segment are read when they are needed. */
static void nodes_that_turn_out_to_be_damaged_are_none(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "chains/chain.1.0-0");
	_cleanup_(chain_reader_closep) struct chain_reader *r = NULL;
	_cleanup_(strbuf_done) struct strbuf said = STRBUF_INIT;
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	struct sums s = { 0 };
	_cleanup_close_ int fd = -1;

	write_hour(&p, 10 * MINUTE);
	(void)upkeep(&p, 0, 0);
	fd = open(path, O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0);
	spoil_nodes(fd);
	CHECK_EQ(chain_reader_open(dir, &WINDOW_ALL, &r, NULL), 0);
	CHECK_EQ(chain_reader_skipped(r).bytes, 0);
	CHECK(chain_reader_size(r, 0).nodes > 0);
	log_to(LOG_LEVEL_WARNING, keep, &said);
	CHECK_EQ(chain_reader_tree(r, 0).nodes, 0);
	CHECK(chain_reader_skipped(r).bytes > 0);
	s.names = chain_reader_names(r);
	CHECK_EQ(chain_reader_each(r, take, &s), 0);
	CHECK(s.all < p.all);
	CHECK_EQ(chain_reader_folded(r), 0);
	log_to(LOG_LEVEL_WARNING, NULL, NULL);
	CHECK(strstr(strbuf_text(&said),
		     "chain.1.0-0: the names are damaged; its call chains are left out\n"));
	CHECK(strchr(strbuf_text(&said), '\n')[1] == '\0'); /* once */
}

/* Makes reads of the open file @path fail. */
static void make_unreadable(const char *path)
{
	_cleanup_close_ int other = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct stat st, open_st;
	int fd;

	CHECK_EQ(stat(path, &st), 0);
	for (fd = 0; fd < 100; fd++)
		if (fstat(fd, &open_st) == 0 && open_st.st_ino == st.st_ino &&
		    open_st.st_dev == st.st_dev)
			CHECK_EQ(dup2(other, fd), fd);
}

static int no_chain(uint32_t context _unused_, const struct chain *chain _unused_,
		    void *data _unused_)
{
	return 1;
}

static int no_slice(const struct slice *slice _unused_, void *data _unused_)
{
	return 1;
}

static void what_can_no_longer_be_read_is_named(void)
{
	static const struct chain_visitor nodes = { .nodes_only = true,
						    .each = no_chain,
						    .end = no_slice };
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "chains/chain.1.0-0");
	_cleanup_(chain_reader_closep) struct chain_reader *r = NULL;
	_cleanup_(strbuf_done) struct strbuf said = STRBUF_INIT;
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };

	write_hour(&p, 10 * MINUTE);
	(void)upkeep(&p, 0, 0);
	/* A time that looks long is read from segments. */
	CHECK_EQ(utimensat(AT_FDCWD, path, NULL, 0), 0);
	CHECK_EQ(chain_reader_open(dir, &WINDOW_ALL, &r, NULL), 0);
	make_unreadable(path);
	log_to(LOG_LEVEL_WARNING, keep, &said);
	CHECK_EQ(chain_reader_each_slice(r, &nodes), 0);
	CHECK(strstr(strbuf_text(&said), "bytes of slices cannot be read, and are left out\n"));
	CHECK_EQ(chain_reader_each(r, no_chain, NULL), 0);
	log_to(LOG_LEVEL_WARNING, NULL, NULL);
	CHECK(strstr(strbuf_text(&said),
		     "chain.1.0-0: Bad file descriptor; its call chains are left out\n"));
}

TESTS(T(nodes_that_turn_out_to_be_damaged_are_none), T(what_can_no_longer_be_read_is_named),
      T(a_kill_at_any_time_changes_no_sum), T(readers_always_see_the_whole),
      T(a_full_disk_changes_no_sum), T(a_sum_is_kept_until_the_next_one_is_on_the_disk),
      T(what_is_in_no_slice_is_in_the_sum), T(a_pair_without_a_header_costs_only_itself),
      T(a_repair_keeps_the_history), T(a_repair_counts_nothing_twice_without_a_sum),
      T(damage_is_skipped_and_counted))
