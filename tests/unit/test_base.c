/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/parallel.h"
#include "base/radix.h"
#include "base/span.h"
#include "base/text.h"
#include "file/build_id.h"

#include <errno.h>

/* Whether /proc/self/smaps says that large pages are wished for where @p is: 1 or 0; -1: it does
 * not say. */
static int wants_large_pages(const void *p)
{
	_cleanup_fclose_ FILE *f = fopen("/proc/self/smaps", "re");
	unsigned long from, to;
	bool is_there = false;
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			is_there = (uintptr_t)p >= from && (uintptr_t)p < to;
		else if (is_there && !strncmp(line, "VmFlags:", 8))
			return strstr(line, " hg") != NULL;
	}
	return -1;
}

static void large_memory_is_zero_and_in_large_pages(void)
{
	const size_t count = 2 << 20;
	_cleanup_free_ uint32_t *numbers = xcalloc_whole(count, sizeof(*numbers));
	size_t i, others = 0;

	for (i = 0; i < count; i++)
		others += numbers[i]++ != 0;
	CHECK_EQ(others, 0);
	if (access("/sys/kernel/mm/transparent_hugepage", F_OK) == 0)
		CHECK(wants_large_pages(numbers + count / 2) != 0);
}

static void map_finds_all_after_removals(void)
{
	struct map m = MAP_INIT;
	uintptr_t i;

	for (i = 1; i <= 1000; i++)
		CHECK(!map_set(&m, i * 16, (void *)i));
	for (i = 1; i <= 1000; i += 3)
		CHECK(map_remove(&m, i * 16) == (void *)i);
	for (i = 1; i <= 1000; i++)
		CHECK(map_get(&m, i * 16) == (i % 3 == 1 ? NULL : (void *)i));
	CHECK_EQ(m.count, 666);
	map_done(&m);
	CHECK(!map_get(&m, 16));
}

/* The values that the map has of @key, newest first, as digits. */
static uintptr_t values_of(const struct map *m, uint64_t key)
{
	uintptr_t value, all = 0;

	map_for_each_of(m, key, value) all = all * 10 + value;
	return all;
}

static void a_key_of_the_map_has_several_values(void)
{
	struct map m = MAP_INIT;
	uintptr_t i;

	CHECK_EQ(values_of(&m, 7), 0);
	for (i = 1; i <= 3; i++)
		map_add(&m, 7, (void *)i);
	CHECK_EQ(values_of(&m, 7), 321);
	CHECK(map_get(&m, 7) == (void *)3);
	CHECK(map_remove_value(&m, 7, (void *)2));
	CHECK(!map_remove_value(&m, 7, (void *)2));
	CHECK_EQ(values_of(&m, 7), 31);
	CHECK_EQ(m.count, 2);
	CHECK(map_set(&m, 7, (void *)4) == (void *)3);
	CHECK_EQ(values_of(&m, 7), 41);
	CHECK(map_remove(&m, 7) == (void *)4);
	CHECK_EQ(values_of(&m, 7), 1);
	map_done(&m);
}

static void values_of_a_key_keep_their_order_as_the_map_grows(void)
{
	struct map m = MAP_INIT;
	uintptr_t i;

	for (i = 1; i <= 4; i++)
		for (uint64_t key = 0; key < 500; key++)
			map_add(&m, key, (void *)i);
	for (uint64_t key = 0; key < 500; key += 2)
		CHECK(map_remove_value(&m, key, (void *)3));
	for (uint64_t key = 0; key < 500; key++)
		CHECK_EQ(values_of(&m, key), key % 2 ? 4321 : 421);
	map_done(&m);
}

static void span_never_leaves_its_bytes(void)
{
	static const uint8_t bytes[] = { 1, 0, 0, 0, 'a', 0, 'b' };
	struct span s = span_of(bytes, sizeof(bytes));
	uint32_t word;
	uint64_t quad;

	CHECK_EQ(span_u32(&s, &word), 0);
	CHECK_EQ(word, 1);
	CHECK_EQ(span_u64(&s, &quad), -EBADMSG);
	CHECK_STR(span_string(&s), "a");
	CHECK(!span_string(&s));
	CHECK_EQ(s.left, 1);
	CHECK_EQ(get_le64("\1\2\3\4\5\6\7\10"), 0x0807060504030201);
}

static void build_ids_survive_the_text_form(void)
{
	struct build_id id = { .bytes = { 0xde, 0xad, 0x01 }, .size = 3 }, back = { 0 };
	char text[BUILD_ID_TEXT];

	CHECK_STR(build_id_text(&id, text), "dead01");
	CHECK_EQ(build_id_parse(text, &back), 0);
	CHECK(build_id_equal(&id, &back));
	CHECK_EQ(build_id_parse("abc", &back), -EINVAL);
	CHECK_EQ(build_id_parse("zz", &back), -EINVAL);
	CHECK(!build_id_equal(&(struct build_id){ 0 }, &(struct build_id){ 0 }));
}

static void files_are_written_whole(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "a/b/c"), *text = NULL;
	struct error err = ERROR_INIT;

	CHECK_EQ(path_write(path, "x", 0600, &err), -ENOENT);
	CHECK_EQ(path_make_parents(path, 0755, &err), 0);
	CHECK_EQ(path_write(path, "one\n", 0600, &err), 0);
	CHECK_EQ(path_write(path, "two\n", 0600, &err), 0);
	CHECK_EQ(path_read(dir, "/a/b/c", &text, &err), 4);
	CHECK_STR(text, "two\n");
}

static void entries_are_sorted_and_stay_in_order(void)
{
	static const size_t counts[] = { 0, 1, 2, 48, 49, 5000 };
	struct radix_entry entries[5000], spare[5000];
	size_t row, i;

	for (row = 0; row < ARRAY_SIZE(counts); row++) {
		size_t n = counts[row];

		for (i = 0; i < n; i++)
			entries[i] = (struct radix_entry){ hash_u64(i) >> (i % 3 ? 54 : 0), i };
		radix_sort(entries, spare, n);
		for (i = 1; i < n; i++) {
			struct radix_entry *a = &entries[i - 1], *b = &entries[i];

			if (!CHECK(a->key < b->key || (a->key == b->key && a->value < b->value)))
				return;
		}
		for (i = 0; i < n; i++)
			CHECK_EQ(entries[i].key,
				 hash_u64(entries[i].value) >> (entries[i].value % 3 ? 54 : 0));
	}
}

static void mark_done(size_t i, unsigned int thread, void *data)
{
	unsigned char *done = data;

	CHECK(thread < parallel_threads());
	done[i]++;
}

static void parallel_work_is_done_once(void)
{
	unsigned char done[10000] = { 0 };
	size_t i, wrong = 0;

	parallel_each(0, mark_done, done);
	parallel_each(1, mark_done, done + 9999);
	parallel_each(9999, mark_done, done);
	for (i = 0; i < ARRAY_SIZE(done); i++)
		wrong += done[i] != 1;
	CHECK_EQ(wrong, 0);
}

static void joined_arenas_keep_both(void)
{
	struct arena a = ARENA_INIT, b = ARENA_INIT;
	const char *one, *two, *three;

	arena_join(&a, &b);
	one = arena_strdup(&b, "one");
	arena_join(&a, &b);
	two = arena_strdup(&b, "two");
	(void)arena_alloc(&b, 1 << 20);
	arena_join(&a, &b);
	three = arena_strdup(&a, "three");
	CHECK(!b.blocks);
	CHECK_STR(one, "one");
	CHECK_STR(two, "two");
	CHECK_STR(three, "three");
	arena_done(&a);
}

static void absolute_paths_have_no_dots(void)
{
	static const char *const rows[][2] = {
		{ "/a/b", "/a/b" },	  { "/./a//b/./c", "/a/b/c" }, { "/", "/" },
		{ "/a/../b", "/a/../b" }, { "/a/.b/c.", "/a/.b/c." },  { "/a/", "/a" },
	};
	_cleanup_free_ char *cwd = getcwd(NULL, 0), *below = path_join(cwd, "x/y");
	_cleanup_free_ char *relative = path_absolute("./x//y");
	size_t i;

	CHECK_STR(relative, below);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *got = path_absolute(rows[i][0]);

		CHECK_STR(got, rows[i][1]);
	}
}

static void a_simple_path_has_no_parents(void)
{
	static const char *const rows[][2] = {
		{ "/a/../b", "/b" },
		{ "/a/b/../../c", "/c" },
		{ "/a/b/..", "/a" },
		{ "/../a", "/a" },
		{ "/a/..", "/" },
		{ "a/..", "." },
		{ "../a/../b", "../b" },
		{ "../../a", "../../a" },
		{ "a/./b/.././c", "a/c" },
		{ "/a/..b/../c", "/a/c" },
		{ "/a/.../b", "/a/.../b" },
		{ "/", "/" },
		{ "a", "a" },
		{ "a/../../b", "../b" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *path = xstrdup(rows[i][0]);

		path_simplify(path);
		CHECK_STR(path, rows[i][1]);
	}
}

static void arenas_keep_what_they_gave(void)
{
	struct arena a = ARENA_INIT;
	const char *texts[5000];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		uint64_t *aligned = arena_alloc(&a, sizeof(*aligned));

		CHECK_EQ((uintptr_t)aligned % _Alignof(max_align_t), 0);
		*aligned = UINT64_MAX;
		texts[i] = arena_strndup(&a, "0123456789012345678901234567890123456789", i % 40);
	}
	memset(arena_alloc(&a, 1 << 20), 0xff, 1 << 20);
	for (i = 0; i < ARRAY_SIZE(texts); i++)
		CHECK_EQ(strlen(texts[i]), i % 40);
	arena_done(&a);
	CHECK_STR(arena_strdup(&a, ""), "");
	arena_done(&a);
}

static void equal_strings_become_one(void)
{
	struct intern names = INTERN_INIT;
	char copy[] = "memcpy";
	const char *first = intern(&names, "memcpy");
	unsigned int i;

	CHECK(!intern(&names, NULL));
	CHECK(first != copy && intern(&names, copy) == first);
	CHECK(intern(&names, "memcp") != first);
	for (i = 0; i < 10000; i++) {
		_cleanup_free_ char *other = xasprintf("%u", i);

		CHECK_STR(intern(&names, other), other);
	}
	copy[0] = 'M';
	CHECK_STR(first, "memcpy");
	CHECK(intern(&names, "memcpy") == first);
	intern_done(&names);
}

TESTS(T(large_memory_is_zero_and_in_large_pages), T(map_finds_all_after_removals),
      T(a_key_of_the_map_has_several_values), T(values_of_a_key_keep_their_order_as_the_map_grows),
      T(span_never_leaves_its_bytes), T(build_ids_survive_the_text_form),
      T(files_are_written_whole), T(entries_are_sorted_and_stay_in_order),
      T(parallel_work_is_done_once), T(joined_arenas_keep_both), T(absolute_paths_have_no_dots),
      T(a_simple_path_has_no_parents), T(arenas_keep_what_they_gave), T(equal_strings_become_one))
