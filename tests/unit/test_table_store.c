/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unwind tables in the maps of the program in the kernel; skips where such a program cannot be
 * had. */
#include "test.h"

#include "base/hash.h"
#include "file/path.h"
#include "driver/bpf/sampler.h"
#include "driver/bpf/table_store.h"

#include <bpf/bpf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

/* A program in the kernel and its tables. */
struct stage {
	struct sampler *sampler; /* NULL: cannot be had */
	struct table_store *store;
};

/* @bytes: of the chunks, at most; @tables: how many there can be, 0: as many as usual. */
static struct stage stage_open(size_t bytes, uint32_t tables)
{
	const struct sampler_config config = { .keys = 4096, .depth = 64, .tables = tables };
	struct stage stage = { 0 };
	struct error err = ERROR_INIT;

	if (sampler_new(&config, &stage.sampler, &err) < 0)
		return (struct stage){ 0 };
	CHECK_EQ(table_store_new(stage.sampler, NULL, bytes, &stage.store, &err), 0);
	return stage;
}

static void stage_done(struct stage *stage)
{
	table_store_free(stage->store);
	sampler_free(stage->sampler);
}

/* Declares the sampler @s and its store @t; skips the test if they cannot be had. */
#define STAGE(s, t, bytes, tables)                                                                 \
	_cleanup_(stage_done) struct stage stage = stage_open(bytes, tables);                      \
	_unused_ struct sampler *s = stage.sampler;                                                \
	struct table_store *t = stage.store;                                                       \
	if (!s)                                                                                    \
	SKIP("no BPF here")

/* A library for these tests; the caller frees. */
static char *fake_path(const char *name)
{
	return xasprintf("%s/tests/unit/lib%s.so", getenv("OP_BUILD_ROOT"), name);
}

static struct unwind_counters counters_of(const struct table_store *t)
{
	struct table_store_stats stats;

	table_store_stats(t, &stats);
	return stats.counters;
}

static const uint64_t *counter_in(const struct unwind_counters *c, size_t offset)
{
	return (const uint64_t *)(const void *)((const char *)c + offset);
}

/* Loads the unwind table of @path as that of file number @number. */
static void load(struct table_store *t, const char *path, uint64_t number)
{
	const struct sample_file file = { .inode = number };
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

	CHECK(fd >= 0);
	table_store_load(t, &file, fd);
}

/* Has all done that could wait; bytes of the chunks then. */
static uint64_t bytes_at_rest(struct table_store *t)
{
	struct table_store_stats stats;

	while (table_store_prepare(t))
		;
	table_store_stats(t, &stats);
	return stats.bytes;
}

/* How the program would find the table of the file @inode: its number. */
static uint32_t number_of(struct sampler *s, uint64_t inode)
{
	const struct sample_file file = { .inode = inode };
	uint32_t number = SAMPLE_TABLE_WANTED;

	(void)bpf_map_lookup_elem(sampler_maps(s)->table_numbers, &file, &number);
	return number;
}

static void drain_often(struct sampler *s)
{
	int i;

	for (i = 0; i < 10; i++)
		sampler_end_round(s);
}

static void tables_beyond_the_budget_are_refused(void)
{
	STAGE(s, t, sizeof(struct sample_chunk), 0);
	struct table_store_stats stats;
	uint64_t i;

	/* Of one chunk: this program fits some times, not so often. */
	for (i = 1; i <= 200; i++)
		load(t, "/proc/self/exe", i);
	table_store_load(t, &(struct sample_file){ 0 }, -1); /* the vdso */
	load(t, "/proc/self/maps", 1000);		     /* not an ELF file */
	table_store_give_up(t, &(struct sample_file){ .inode = 1001 });
	table_store_stats(t, &stats);
	printf("# %llu tables, %llu rows, %llu refused\n",
	       (unsigned long long)stats.counters.unwind_built, (unsigned long long)stats.rows_held,
	       (unsigned long long)stats.counters.unwind_refused);
	CHECK(stats.counters.unwind_built > 0);
	CHECK(stats.rows_held <= SAMPLE_CHUNK_ROWS);
	CHECK(stats.counters.unwind_refused > 0);
	CHECK_EQ(stats.counters.unwind_built + stats.counters.unwind_refused, 201);
	CHECK_EQ(stats.counters.unwind_none, 1);
	CHECK_EQ(stats.counters.unwind_unopened, 1);
	/* What had no room took none from what needs little. */
	CHECK(number_of(s, 0) != SAMPLE_TABLE_BUDGET);
	CHECK_EQ(bytes_at_rest(t), sizeof(struct sample_chunk));
	/* What was refused is asked for again, but not whenever somebody looks. */
	drain_often(s);
	table_store_retry(t);
	CHECK(!table_store_refuses(t));
	load(t, "/proc/self/exe", 200);
	table_store_retry(t);
	CHECK(table_store_refuses(t));
}

/* A hash of all rows of the table, with their rules. */
static uint64_t rows_of(struct sampler *s, const struct sample_table *table)
{
	static struct sample_chunk chunk;
	struct unwind_rule rule;
	uint64_t hash = 0;
	uint32_t i, k, zero = 0;

	for (i = table->first_page; i < table->first_page + table->page_count; i++) {
		_cleanup_close_ int fd = -1;
		struct sample_page page;
		uint32_t number, id;

		CHECK_EQ(bpf_map_lookup_elem(sampler_maps(s)->pages, &i, &page), 0);
		hash = hash_add(hash, page.rows);
		if (!page.rows)
			continue;
		number = page.chunk;
		CHECK_EQ(bpf_map_lookup_elem(sampler_maps(s)->chunks, &number, &id), 0);
		fd = bpf_map_get_fd_by_id(id);
		CHECK_EQ(bpf_map_lookup_elem(fd, &zero, &chunk), 0);
		for (k = 0; k < page.rows; k++) {
			const struct unwind_row *row = &chunk.rows[page.start + k];
			uint32_t index = row->rule;

			CHECK_EQ(bpf_map_lookup_elem(sampler_maps(s)->rules, &index, &rule), 0);
			hash = hash_add(hash_add(hash, row->pc), hash_bytes(&rule, sizeof(rule)));
		}
	}
	return hash;
}

static void chunks_stand_ready(void)
{
	STAGE(s, t, 64 << 20, 0);
	uint64_t before;

	before = bytes_at_rest(t);
	CHECK(before >= sizeof(struct sample_chunk));
	load(t, "/proc/self/exe", 1);
	CHECK(bytes_at_rest(t) > before);
}

static void tables_go_that_were_not_used_for_longest(void)
{
	STAGE(s, t, 4 * sizeof(struct sample_chunk), 0);
	size_t bytes = SAMPLE_TABLES_MAX * sizeof(struct sample_table);
	struct sample_table *tables;
	struct table_store_stats before, after;
	struct sample_table used;
	uint32_t number;
	uint64_t i, rows;

	tables = sampler_map_memory(sampler_maps(s)->tables, bytes);
	CHECK(tables != NULL);
	for (i = 1; !t || !table_store_refuses(t); i++)
		load(t, "/proc/self/exe", i);
	table_store_stats(t, &before);
	CHECK_EQ(before.counters.unwind_built, i - 2);
	CHECK_EQ(number_of(s, i - 1), SAMPLE_TABLE_BUDGET);

	/* In the middle of what was loaded. */
	drain_often(s);
	number = number_of(s, i / 2);
	tables[number].used = sampler_drains(s);
	used = tables[number];
	rows = rows_of(s, &used);
	table_store_retry(t);
	CHECK(!table_store_refuses(t));
	CHECK_EQ(number_of(s, i - 1), SAMPLE_TABLE_WANTED);
	load(t, "/proc/self/exe", i - 1);
	table_store_stats(t, &after);
	printf("# %llu of %llu tables went\n", (unsigned long long)after.counters.unwind_evicted,
	       (unsigned long long)before.counters.unwind_built);
	CHECK(after.counters.unwind_evicted > 0 &&
	      after.counters.unwind_evicted < before.counters.unwind_built);
	CHECK_EQ(after.counters.unwind_built, before.counters.unwind_built + 1);
	number = number_of(s, i - 1);
	CHECK(number && number < SAMPLE_TABLES_MAX);
	number = number_of(s, i / 2);
	CHECK(number && number < SAMPLE_TABLES_MAX);
	CHECK_EQ(tables[number].page_count, used.page_count);
	CHECK_EQ(rows_of(s, &tables[number]), rows);
	CHECK(!memcmp(tables[number].segments, used.segments, sizeof(used.segments)));
	/* Requested again while it was moved: it stays as it is. */
	load(t, "/proc/self/exe", i / 2);
	CHECK_EQ(number_of(s, i / 2), number);
	CHECK_EQ(bytes_at_rest(t), 4 * sizeof(struct sample_chunk));
	(void)munmap(tables, bytes);
}

enum { FEW = 64 };

/* Loads @path under the identities of more files than there are numbers. Each is answered as @path
 * is: with a table if @built, else with none. */
static void check_many_files(const char *path, bool built)
{
	STAGE(s, t, 64 << 20, FEW);
	struct table_store_stats stats;
	uint64_t i;

	for (i = 1; i <= 10 * FEW; i++) {
		drain_often(s);
		load(t, path, i);
		CHECK(number_of(s, i) != SAMPLE_TABLE_WANTED);
		CHECK_EQ(number_of(s, i) < FEW, built);
		/* A second request, of a process that is gone, takes nothing away. */
		table_store_give_up(t, &(struct sample_file){ .inode = i });
		CHECK_EQ(number_of(s, i) < FEW, built);
	}
	table_store_stats(t, &stats);
	CHECK_EQ(stats.counters.unwind_built, built ? 10 * FEW : 0);
	CHECK_EQ(stats.counters.unwind_none, built ? 0 : 10 * FEW);
	CHECK_EQ(stats.counters.unwind_refused, 0);
	CHECK_EQ(stats.counters.unwind_evicted > 8 * FEW, built);
}

static void tables_make_way_for_those_of_new_files(void)
{
	check_many_files("/proc/self/exe", true);
}

static void files_without_a_table_leave_room_for_others(void)
{
	check_many_files("/proc/self/maps", false);
}

/* A file whose @count rules no other @number has. */
static int open_many_rules(uint32_t number, uint32_t count)
{
	static const uint8_t step[] = { 0x41, 0x0e, 0xff, 0xff, 0x01 };
	_cleanup_free_ char *path = fake_path("many_rules");
	_cleanup_free_ char *text = NULL;
	ssize_t size = path_read("", path, &text, NULL);
	uint8_t *at = size > 0 ? memmem(text, (size_t)size, step, sizeof(step)) : NULL;
	int fd = memfd_create("rules", MFD_CLOEXEC);
	uint32_t i, value;

	CHECK(at && fd >= 0);
	for (i = 0; i < count && at; i++, at += sizeof(step)) {
		value = number * count + i;
		at[2] = 0x80 | (value & 0x7f);
		at[3] = 0x80 | (value >> 7 & 0x7f);
		at[4] = value >> 14 & 0x7f;
	}
	CHECK_EQ(write(fd, text, (size_t)size), size);
	return fd;
}

static void rules_of_dropped_tables_make_way(void)
{
	STAGE(s, t, 64 << 20, 0);
	struct table_store_stats stats;
	uint32_t i;

	for (i = 1; i <= 200; i++) {
		_cleanup_close_ int fd = open_many_rules(i, 1300);

		drain_often(s);
		table_store_load(t, &(struct sample_file){ .inode = i }, fd);
		CHECK(number_of(s, i) < SAMPLE_TABLES_MAX);
	}
	table_store_stats(t, &stats);
	CHECK_EQ(stats.counters.unwind_built, 200);
	CHECK_EQ(stats.counters.unwind_partial, 0);
	CHECK(stats.counters.unwind_evicted > 100);
}

static void a_file_with_too_many_rules_is_counted(void)
{
	STAGE(s, t, 64 << 20, 0);
	_cleanup_close_ int fd = open_many_rules(1, 3000);
	struct table_store_stats stats;

	table_store_load(t, &(struct sample_file){ .inode = 1 }, fd);
	load(t, "/proc/self/exe", 2);
	table_store_stats(t, &stats);
	CHECK_EQ(stats.counters.unwind_built, 2);
	CHECK_EQ(stats.counters.unwind_partial, 1);
}

/* Loads a copy of the file @path in which the @size bytes @known are @other. */
static void load_changed(struct table_store *t, const char *path, const void *known,
			 const void *other, size_t size)
{
	_cleanup_free_ char *bytes = NULL;
	_cleanup_close_ int fd = memfd_create("changed", MFD_CLOEXEC);
	int64_t n = path_read("", path, &bytes, NULL);
	void *at = n > 0 ? memmem(bytes, (size_t)n, known, size) : NULL;

	if (!CHECK(at != NULL))
		return;
	memcpy(at, other, size);
	CHECK_EQ(write(fd, bytes, (size_t)n), n);
	table_store_load(t, &(struct sample_file){ .inode = 2 }, fd);
}

/* A runtime of a version that is not known has a table, but no frames of its own. */
static void unknown_runtimes_are_counted(void)
{
	static const uint64_t python = 0x030d00f0, no_python = 0x03ff00f0;
	static const struct {
		const char *name;
		const void *known, *other;
		size_t size, counter;
	} rows[] = {
		{ "fake_python", &python, &no_python, sizeof(python),
		  offsetof(struct unwind_counters, python_unknown) },
		{ "fake_php", "PHP/8.2.36", "PHP/8.9.36", strlen("PHP/8.2.36"),
		  offsetof(struct unwind_counters, php_unknown) },
		{ "fake_ruby", "3.1.2", "3.9.2", strlen("3.1.2"),
		  offsetof(struct unwind_counters, ruby_unknown) },
		{ "fake_java_25", "CodeHeap", "codeHeap", sizeof("CodeHeap"),
		  offsetof(struct unwind_counters, java_unknown) },
	};
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		STAGE(s, t, 64 << 20, 0);
		_cleanup_free_ char *path = fake_path(rows[i].name);
		struct unwind_counters counters;

		load(t, path, 1);
		counters = counters_of(t);
		for (k = 0; k < ARRAY_SIZE(rows); k++)
			CHECK_EQ(*counter_in(&counters, rows[k].counter), 0);
		load_changed(t, path, rows[i].known, rows[i].other, rows[i].size);
		counters = counters_of(t);
		for (k = 0; k < ARRAY_SIZE(rows); k++)
			CHECK_EQ(*counter_in(&counters, rows[k].counter), k == i);
		CHECK_EQ(counters.unwind_built, 2);
	}
}

/* There is room for 63; those unused for longest make way. */
static void many_pythons_make_way(void)
{
	enum { PYTHONS = 70, RUNTIME = 632 };
	STAGE(s, t, 64 << 20, 0);
	_cleanup_free_ char *path = fake_path("fake_python");
	_cleanup_free_ char *bytes = NULL;
	struct table_store_stats stats;
	const struct sample_table *tables;
	uint64_t interpreters = RUNTIME, i;
	char *at;
	int64_t n;

	tables = sampler_map_memory(sampler_maps(s)->tables, SAMPLE_TABLES_MAX * sizeof(*tables));
	CHECK(tables != NULL);
	n = path_read("", path, &bytes, NULL);
	at = memmem(bytes, (size_t)n, &interpreters, sizeof(interpreters));
	for (i = 1; i <= PYTHONS; i++) {
		_cleanup_close_ int fd = memfd_create("python", MFD_CLOEXEC);

		interpreters = RUNTIME + 8 * i;
		memcpy(at, &interpreters, sizeof(interpreters));
		CHECK_EQ(write(fd, bytes, (size_t)n), n);
		drain_often(s);
		table_store_load(t, &(struct sample_file){ .inode = i }, fd);
		CHECK(number_of(s, i) < SAMPLE_TABLES_MAX);
		CHECK(tables[number_of(s, i)].interpreter > 0);
	}
	table_store_stats(t, &stats);
	CHECK(stats.counters.unwind_evicted >= 30 && stats.counters.unwind_evicted < PYTHONS);
	CHECK_EQ(stats.counters.unwind_refused, 0);
}

TESTS(T(many_pythons_make_way), T(unknown_runtimes_are_counted),
      T(tables_beyond_the_budget_are_refused), T(chunks_stand_ready),
      T(tables_go_that_were_not_used_for_longest), T(tables_make_way_for_those_of_new_files),
      T(rules_of_dropped_tables_make_way), T(a_file_with_too_many_rules_is_counted),
      T(files_without_a_table_leave_room_for_others))
