/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call chains in slices of time. */
#include "test.h"

#include "chains/chain_arcs.h"
#include "chains/chain_merge.h"
#include "chains/chain_read.h"
#include "chains/chain_table.h"
#include "history/history_writer.h"
#include "history/slice_file.h"
#include "profile/select/gather.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SLICE_MS = 10000, HOUR_MS = 3600 * 1000 };

static const struct sname_image program = { .kind = SNAME_ROOT, .name = "/bin/program" };

/* Adds @samples to the chain of @leaf, which main at 1 called. */
static void add(struct chain_store *s, uint64_t leaf, uint64_t samples)
{
	struct chain_context context = { .event = "TIMER.0.0",
					 .end = "complete",
					 .task = SNAME_TASK_ALL };
	struct chain_frame frames[] = { { .offset = leaf }, { .offset = 1 } };
	uint32_t id = 0;

	CHECK(chain_store_turn(s, NULL) >= 0);
	CHECK_EQ(chain_store_image(s, &program, false, &context.app, NULL), 0);
	CHECK_EQ(chain_store_context(s, &context, &id, NULL), 0);
	frames[0].image = frames[1].image = context.app;
	CHECK_EQ(chain_store_add(s, id, &(struct chain){ frames, 2, samples }, NULL), 0);
}

static void end(struct chain_store *s, int64_t begin_ms, int64_t end_ms)
{
	const struct slice slice = { .span = { begin_ms, end_ms }, .samples = 1 };

	CHECK_EQ(chain_store_end_slice(s, &slice, NULL), 0);
}

static struct chain_store *open_sliced(const char *dir)
{
	struct chain_store *s = NULL;

	CHECK_EQ(chain_store_open_sliced(dir, &s, NULL), 0);
	return s;
}

struct tally {
	uint64_t leaf, sum, all;
};

static int take(uint32_t context _unused_, const struct chain *chain, void *data)
{
	struct tally *t = data;

	t->all += chain->samples;
	if (chain->frames[0].offset == t->leaf)
		t->sum += chain->samples;
	return 0;
}

/* The samples of @leaf in a window; those of all chains if @leaf is 0. */
static uint64_t samples_in(const char *dir, const struct window *window, uint64_t leaf)
{
	_cleanup_(chain_reader_closep) struct chain_reader *r = NULL;
	struct tally t = { .leaf = leaf };
	int status = chain_reader_open(dir, window, &r, NULL);

	if (status == -ENOENT)
		return 0;
	CHECK_EQ(status, 0);
	CHECK_EQ(chain_reader_each(r, take, &t), 0);
	return leaf ? t.sum : t.all;
}

static uint64_t between(const char *dir, int64_t begin_ms, int64_t end_ms, uint64_t leaf)
{
	return samples_in(dir, &(struct window){ begin_ms, end_ms }, leaf);
}

static size_t pairs_of(const char *dir)
{
	_cleanup_free_ char *chains = path_join(dir, CHAIN_DIRECTORY);
	uint32_t *list = NULL;
	size_t count;

	CHECK_EQ(chain_pairs(chains, &list, &count, NULL), 0);
	free(list);
	return count;
}

static void a_window_has_the_chains_of_its_slices(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct chain_store *s = open_sliced(dir);
	struct chain_reader *r = NULL;

	add(s, 0x10, 3);
	add(s, 0x20, 4);
	end(s, 0, 10);
	end(s, 10, 20); /* without chains */
	add(s, 0x10, 5);
	end(s, 20, 30);
	add(s, 0x20, 100); /* in no slice */
	CHECK_EQ(between(dir, 0, 10, 0x10), 3);
	CHECK_EQ(between(dir, 9, 10, 0x20), 4);
	CHECK_EQ(between(dir, 10, 20, 0), 0);
	CHECK_EQ(between(dir, 10, 21, 0), 5);
	CHECK_EQ(between(dir, 0, 30, 0x10), 8);
	CHECK_EQ(samples_in(dir, &WINDOW_ALL, 0), 12);
	CHECK_EQ(samples_in(dir, NULL, 0), 112);
	chain_store_close(s);
	CHECK_EQ(samples_in(dir, &WINDOW_ALL, 0), 12);
	CHECK_EQ(chain_reader_open(dir, &(struct window){ 10, 20 }, &r, NULL), -ENOENT);
}

static void windows_that_partition_a_session_add_up(void)
{
	enum { SLICES = 40, LEAVES = 300 };
	_cleanup_directory_ char *dir = test_directory();
	struct chain_store *s = open_sliced(dir);
	uint64_t in_slice[SLICES] = { 0 }, seed = 1, sum = 0;
	int64_t i;

	for (i = 0; i < SLICES; i++) {
		for (int k = 0; k < 50; k++) {
			seed = seed * 6364136223846793005 + 1442695040888963407;
			add(s, 2 + (seed >> 33) % LEAVES, 1 + (seed >> 60));
			in_slice[i] += 1 + (seed >> 60);
		}
		end(s, i * SLICE_MS, (i + 1) * SLICE_MS);
	}
	chain_store_close(s);
	for (i = 0; i < SLICES; i++) {
		uint64_t n = between(dir, i * SLICE_MS, (i + 1) * SLICE_MS, 0);

		CHECK_EQ(n, in_slice[i]);
		sum += n;
	}
	CHECK_EQ(samples_in(dir, NULL, 0), sum);
	CHECK_EQ(samples_in(dir, &WINDOW_ALL, 7), samples_in(dir, NULL, 7));
}

static void a_pair_of_files_ends_with_the_hour_and_the_writer(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct chain_store *s = open_sliced(dir);

	add(s, 0x10, 1);
	end(s, HOUR_MS - 20000, HOUR_MS - 10000);
	add(s, 0x10, 2);
	CHECK(!chain_store_is_full(s));
	end(s, HOUR_MS - 10000, HOUR_MS);
	CHECK(chain_store_is_full(s));
	CHECK_EQ(pairs_of(dir), 1);
	add(s, 0x10, 4);
	CHECK(!chain_store_is_full(s));
	end(s, HOUR_MS, HOUR_MS + 10000);
	CHECK_EQ(pairs_of(dir), 2);
	chain_store_close(s);
	s = open_sliced(dir);
	add(s, 0x10, 8);
	end(s, HOUR_MS + 10000, HOUR_MS + 20000);
	chain_store_close(s);
	CHECK_EQ(pairs_of(dir), 3);
	CHECK_EQ(between(dir, 0, HOUR_MS, 0x10), 3);
	CHECK_EQ(between(dir, HOUR_MS, HOUR_MS + 1, 0x10), 4);
	CHECK_EQ(between(dir, HOUR_MS + 10000, INT64_MAX, 0x10), 8);
	CHECK_EQ(samples_in(dir, NULL, 0x10), 15);
	/* The next one continues after the files that are there. */
	for (int i = 0; i < 2; i++) {
		static const char *const names[] = { "nodes.0", "places.0" };
		_cleanup_free_ char *path = xasprintf("%s/chains/%s", dir, names[i]);

		CHECK_EQ(unlink(path), 0);
	}
	CHECK_EQ(samples_in(dir, NULL, 0x10), 12);
	CHECK_EQ(samples_in(dir, &WINDOW_ALL, 0x10), 12);
}

/* As when memory runs short. */
static void a_pair_of_files_ends_at_any_time(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct chain_store *s = open_sliced(dir);
	size_t before;
	uint64_t i;

	for (i = 0; i < 20000; i++)
		add(s, 0x10 + i, 1);
	before = chain_store_memory(s);
	chain_store_end_pair(s);
	add(s, 0x10, 2);
	CHECK(chain_store_memory(s) < before / 2);
	CHECK_EQ(pairs_of(dir), 2);
	end(s, 0, 10);
	add(s, 0x10, 4);
	end(s, 10, 20);
	chain_store_close(s);
	CHECK_EQ(between(dir, 0, 10, 0x10), 3);
	CHECK_EQ(between(dir, 0, 10, 0), 20002);
	CHECK_EQ(between(dir, 10, 20, 0), 4);
	CHECK_EQ(samples_in(dir, NULL, 0), 20006);
}

/* Each pair of files has names of its own, so that the numbers of images never run out. */
static void numbers_of_images_do_not_run_out(void)
{
	enum { IMAGES = 140000 };
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(chain_reader_closep) struct chain_reader *r = NULL;
	struct chain_store *s = open_sliced(dir);
	struct tally t = { 0 };
	uint32_t i, bad = 0;

	for (i = 0; i < IMAGES; i++) {
		_cleanup_free_ char *name = xasprintf("/tmp/%u", i);
		const struct sname_image image = { .kind = SNAME_ROOT, .name = name };
		struct chain_context context = { .event = "TIMER.0.0",
						 .end = "complete",
						 .task = SNAME_TASK_ALL };
		struct chain_frame frame = { .offset = i };
		uint32_t id = 0;

		bad += chain_store_turn(s, NULL) < 0;
		bad += chain_store_image(s, &image, false, &frame.image, NULL) < 0;
		context.app = frame.image;
		bad += chain_store_context(s, &context, &id, NULL) < 0;
		bad += chain_store_add(s, id, &(struct chain){ &frame, 1, 1 }, NULL) < 0;
	}
	CHECK_EQ(bad, 0);
	end(s, 0, 10);
	chain_store_close(s);
	CHECK(pairs_of(dir) >= 3);
	CHECK_EQ(chain_reader_open(dir, &WINDOW_ALL, &r, NULL), 0);
	CHECK_EQ(chain_reader_each(r, take, &t), 0);
	CHECK_EQ(t.all, IMAGES);
	CHECK_EQ(chain_names_images(chain_reader_names(r)), IMAGES);
}

/* Threads that are kept apart have a context each: their names do not fill the memory. */
static void names_of_contexts_are_limited(void)
{
	enum { CONTEXTS = 200000, MOST = 20 << 20 };
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(chain_reader_closep) struct chain_reader *r = NULL;
	struct chain_store *s = open_sliced(dir);
	struct tally t = { 0 };
	size_t most = 0;
	int i, bad = 0;

	for (i = 0; i < CONTEXTS; i++) {
		_cleanup_free_ char *cgroup = xasprintf("/kubepods.slice/pod-%d.slice", i / 10);
		struct chain_context context = { .event = "TIMER.0.0",
						 .end = "complete",
						 .task = SNAME_TASK_ALL };
		struct chain_frame frame = { .offset = 1 };
		uint32_t id = 0;

		context.task.tgid = context.task.tid = i;
		context.task.cgroup = cgroup;
		bad += chain_store_turn(s, NULL) < 0;
		bad += chain_store_image(s, &program, false, &frame.image, NULL) < 0;
		context.app = frame.image;
		bad += chain_store_context(s, &context, &id, NULL) < 0;
		bad += chain_store_add(s, id, &(struct chain){ &frame, 1, 1 }, NULL) < 0;
		most = MAX(most, chain_store_memory(s));
	}
	CHECK_EQ(bad, 0);
	CHECK(most < MOST);
	CHECK(pairs_of(dir) >= 2);
	end(s, 0, 10);
	chain_store_close(s);
	CHECK_EQ(chain_reader_open(dir, &WINDOW_ALL, &r, NULL), 0);
	CHECK_EQ(chain_reader_each(r, take, &t), 0);
	CHECK_EQ(t.all, CONTEXTS);
}

/* A pair that is full within a slice is in that slice with what it counted. */
static void a_slice_can_be_in_two_pairs_of_files(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct chain_store *s = open_sliced(dir);
	struct chain_frame frame = { 1, 0 };
	uint64_t added = 0;
	int bad = 0;

	add(s, 1, 1);
	end(s, 0, 10);
	for (frame.offset = 2; !chain_store_is_full(s) && !bad; frame.offset++, added++)
		bad |= chain_store_add(s, 1, &(struct chain){ &frame, 1, 1 }, NULL);
	CHECK_EQ(bad, 0);
	CHECK_EQ(pairs_of(dir), 1);
	add(s, 1, 5);
	CHECK_EQ(pairs_of(dir), 2);
	end(s, 10, 20);
	chain_store_close(s);
	CHECK_EQ(between(dir, 0, 10, 0), 1);
	CHECK_EQ(between(dir, 10, 20, 1), 5);
	CHECK_EQ(between(dir, 10, 20, 0), 5 + added);
}

static void without_a_history_there_are_no_slices(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *slices = path_join(dir, "chains/slices.0");
	struct chain_store *s = NULL;

	CHECK_EQ(chain_store_open(dir, &s, NULL), 0);
	add(s, 0x10, 1);
	chain_store_close(s);
	CHECK(access(slices, F_OK) < 0);
	CHECK_EQ(samples_in(dir, &WINDOW_ALL, 0), 0);
}

/* Writes a history whose only slice is the first minute. */
static void write_minute(const char *samples)
{
	_cleanup_(history_writer_freep) struct history_writer *h = history_writer_new(samples);
	struct history_name name = { .name = { .app = program,
					       .image = program,
					       .event = "TIMER",
					       .task = SNAME_TASK_ALL },
				     .header = { .cpu_type = 4 } };
	struct slice minute = { .span = { 0, 6 * SLICE_MS }, .samples = 6 };

	history_writer_count(h, history_writer_file(h, &name), 0x10, 6);
	CHECK_EQ(history_writer_end(h, &minute, NULL), 0);
}

/* The flat counts of a window may be those of longer slices. The chains are those of the same
 * time. */
static void chains_cover_what_the_history_covers(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *samples = path_join(dir, "samples/current");
	_cleanup_(gather_freep) struct gather *g = NULL;
	char text[] = "time:@12..@13", *word = text;
	struct chain_store *s;
	struct spec spec;
	uint64_t sum = 0;
	size_t i, k;

	write_minute(samples);
	s = open_sliced(samples);
	for (i = 0; i < 6; i++) {
		add(s, 0x10, 1);
		end(s, (int64_t)i * SLICE_MS, ((int64_t)i + 1) * SLICE_MS);
	}
	chain_store_close(s);
	CHECK_EQ(spec_parse(&word, 1, &spec, NULL), 0);
	CHECK_EQ(gather_files(&spec, dir, true, &g, NULL), 0);
	for (i = 0; g && i < g->file_count; i++)
		for (k = 0; g->files[i].arcs && !g->files[i].end && k < g->files[i].arcs->count;
		     k++)
			sum += g->files[i].arcs->arcs[k].samples;
	CHECK_EQ(sum, 6);
	spec_done(&spec);
}

/* --- damage --- */

/* Three slices with 1, 2 and 4 samples. */
static void write_three(const char *dir)
{
	struct chain_store *s = open_sliced(dir);
	uint64_t samples;

	for (samples = 1; samples <= 4; samples *= 2) {
		add(s, 0x10 * samples, samples);
		end(s, (int64_t)samples * 10, (int64_t)samples * 20);
	}
	chain_store_close(s);
}

static struct chain_skipped skipped_in(const char *dir)
{
	_cleanup_(chain_reader_closep) struct chain_reader *r = NULL;

	CHECK_EQ(chain_reader_open(dir, &WINDOW_ALL, &r, NULL), 0);
	return chain_reader_skipped(r);
}

/* Those of the last pairs may not have been written yet. */
static void missing_slices_are_counted(void)
{
	_cleanup_directory_ char *dir = test_directory();

	for (int i = 0; i < 4; i++) {
		struct chain_store *s = open_sliced(dir);

		add(s, 0x10, 1);
		end(s, i * 10, i * 10 + 10);
		chain_store_close(s);
	}
	CHECK_EQ(pairs_of(dir), 4);
	CHECK_EQ(skipped_in(dir).pairs, 0);
	for (int i = 0; i < 4; i += 2) {
		_cleanup_free_ char *path = xasprintf("%s/chains/slices.%d", dir, i);

		CHECK_EQ(unlink(path), 0);
	}
	CHECK_EQ(samples_in(dir, &WINDOW_ALL, 0x10), 2);
	CHECK_EQ(skipped_in(dir).pairs, 1);
}

static void a_damaged_byte_costs_one_slice(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "chains/slices.0");
	_cleanup_close_ int fd = -1;
	struct stat st;
	off_t at;

	write_three(dir);
	fd = open(path, O_RDWR | O_CLOEXEC);
	CHECK_EQ(fstat(fd, &st), 0);
	for (at = 0; at < st.st_size; at++) {
		uint8_t byte, other;

		CHECK_EQ(pread(fd, &byte, 1, at), 1);
		other = byte ^ 0x10;
		CHECK_EQ(pwrite(fd, &other, 1, at), 1);
		CHECK_EQ(samples_in(dir, &WINDOW_ALL, 0), 7 - (1u << at * 3 / st.st_size));
		CHECK(skipped_in(dir).bytes > 64);
		CHECK_EQ(pwrite(fd, &byte, 1, at), 1);
	}
	CHECK_EQ(samples_in(dir, &WINDOW_ALL, 0), 7);
	CHECK_EQ(skipped_in(dir).bytes, 0);
	for (at = st.st_size; at > st.st_size * 2 / 3; at--) {
		CHECK_EQ(samples_in(dir, &WINDOW_ALL, 0), at == st.st_size ? 7 : 3);
		CHECK_EQ(ftruncate(fd, at - 1), 0);
	}
}

/* What a power cut leaves: slices, but not all of the nodes, or not their counts. */
static void slices_of_lost_nodes_are_skipped(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "chains/nodes.0");
	struct chain_table nodes;
	struct chain_node *last;

	write_three(dir);
	CHECK_EQ(chain_table_open(&nodes, path, CHAIN_TABLE_NODES, true, NULL), 0);
	last = chain_table_at(&nodes, nodes.count - 1);
	CHECK_EQ(last->count, 4);
	last->count = 3;
	CHECK_EQ(samples_in(dir, &WINDOW_ALL, 0), 6);
	CHECK_EQ(skipped_in(dir).samples, 1);
	chain_table_cut(&nodes, nodes.count - 1);
	CHECK_EQ(samples_in(dir, &WINDOW_ALL, 0), 3);
	CHECK_EQ(skipped_in(dir).samples, 4);
	chain_table_close(&nodes);
}

/* A repair keeps the times of the chains that can be saved. */
static void a_repair_keeps_the_slices(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "chains/nodes.0");
	struct chain_store *s;
	struct chain_table nodes;
	struct chain_node *node;

	write_three(dir);
	s = open_sliced(dir);
	add(s, 0x10, 8);
	end(s, 100, 200);
	add(s, 0x10, 16); /* in no slice */
	chain_store_close(s);
	CHECK_EQ(chain_table_open(&nodes, path, CHAIN_TABLE_NODES, true, NULL), 0);
	node = chain_table_at(&nodes, nodes.count - 1);
	node->place = 99;
	chain_table_close(&nodes);
	CHECK_EQ(chain_repair(dir, NULL), 0);
	CHECK_EQ(samples_in(dir, NULL, 0), 1 + 2 + 8 + 16);
	CHECK_EQ(samples_in(dir, &WINDOW_ALL, 0), 1 + 2 + 8);
	CHECK_EQ(between(dir, 10, 20, 0x10), 1);
	CHECK_EQ(between(dir, 20, 40, 0x20), 2);
	CHECK_EQ(between(dir, 100, 200, 0x10), 8);
	CHECK_EQ(skipped_in(dir).samples + skipped_in(dir).bytes, 0);
	CHECK_EQ(chain_repair(dir, NULL), 0);
	CHECK_EQ(samples_in(dir, &WINDOW_ALL, 0), 1 + 2 + 8);
}

static void arbitrary_content_is_skipped(void)
{
	static const struct {
		uint8_t bytes[12];
		size_t size, damaged;
		uint64_t unknown;
	} rows[] = {
		{ { 0 }, 0, 0, 0 },	     /* not even the end of the list */
		{ { 0 }, 1, 0, 0 },	     /* nothing was counted */
		{ { 1, 1, 1 }, 3, 3, 0 },    /* no end */
		{ { 1, 1, 0, 9 }, 4, 4, 0 }, /* a count is missing */
		{ { 99, 0, 9 }, 3, 0, 9 },   /* no such node */
		{ { 3, 0, 9 }, 3, 0, 8 },    /* more than the node has, which is 1 */
		{ { 3, 0, 0x81 }, 3, 0, 0 }, /* the count is cut */
		{ { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0, 2 }, 12, 0, 2 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_directory_ char *dir = test_directory();
		_cleanup_free_ char *path = path_join(dir, "chains/slices.0");
		const struct slice slice = { .span = { 100, 200 } };
		_cleanup_(slice_file_closep) struct slice_file *f = NULL;
		struct chain_store *s = open_sliced(dir);

		add(s, 0x10, 1);
		chain_store_close(s);
		CHECK_EQ(slice_file_open(path, &f, NULL), 0);
		CHECK_EQ(slice_file_add(f, &slice, rows[i].bytes, rows[i].size, NULL), 0);
		CHECK_EQ(skipped_in(dir).bytes, rows[i].damaged);
		CHECK_EQ(skipped_in(dir).samples, rows[i].unknown);
		CHECK(samples_in(dir, &WINDOW_ALL, 0) <= 1);
	}
}

/* Then only the nodes with samples are looked at. */
static void a_short_window_of_a_large_tree_is_exact(void)
{
	enum { CHAINS = 400 };
	static const uint8_t too_many[] = { 3, 0, 9 }; /* node 3 has 1 */
	const struct slice slice = { .span = { 20, 30 } };
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "chains/slices.0");
	_cleanup_(slice_file_closep) struct slice_file *f = NULL;
	struct chain_store *s = open_sliced(dir);
	uint64_t i;

	for (i = 0; i < CHAINS; i++)
		add(s, 0x1000 + i, 1);
	end(s, 0, 10);
	add(s, 0x1000 + 300, 3);
	add(s, 0x1000 + 7, 2);
	end(s, 10, 20);
	chain_store_close(s);
	CHECK_EQ(slice_file_open(path, &f, NULL), 0);
	CHECK_EQ(slice_file_add(f, &slice, too_many, sizeof(too_many), NULL), 0);

	CHECK_EQ(between(dir, 10, 20, 0), 2 + 3);
	CHECK_EQ(between(dir, 10, 20, 0x1000 + 7), 2);
	CHECK_EQ(between(dir, 10, 20, 0x1000 + 300), 3);
	CHECK_EQ(between(dir, 0, 10, 0), CHAINS);
	CHECK_EQ(between(dir, 0, 20, 0), CHAINS + 2 + 3);
	CHECK_EQ(between(dir, 20, 30, 0), 1);
	CHECK_EQ(samples_in(dir, &WINDOW_ALL, 0), CHAINS + 2 + 3);
	CHECK_EQ(skipped_in(dir).samples, 9);
}

TESTS(T(a_window_has_the_chains_of_its_slices), T(windows_that_partition_a_session_add_up),
      T(a_pair_of_files_ends_with_the_hour_and_the_writer), T(a_pair_of_files_ends_at_any_time),
      T(numbers_of_images_do_not_run_out), T(names_of_contexts_are_limited),
      T(a_slice_can_be_in_two_pairs_of_files), T(without_a_history_there_are_no_slices),
      T(chains_cover_what_the_history_covers), T(missing_slices_are_counted),
      T(a_damaged_byte_costs_one_slice), T(slices_of_lost_nodes_are_skipped),
      T(a_repair_keeps_the_slices), T(arbitrary_content_is_skipped),
      T(a_short_window_of_a_large_tree_is_exact))
