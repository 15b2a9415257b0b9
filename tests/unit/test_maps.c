/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "identity/cookie.h"
#include "process/maps.h"

/* Puts [start, end) of the file @cookie, which begins at file offset 0x1000 there. */
static void put(struct maps **m, uint64_t start, uint64_t end, uint64_t cookie)
{
	maps_add(m, &(struct mapping){ start, end, 0x1000, cookie, NULL });
}

/* "start-end:cookie+offset" of all mappings; caller frees. */
static char *text_of(const struct maps *m)
{
	char *text = xstrdup(""), *longer;
	const struct mapping *at;

	for (at = maps_next(m, 0); at; at = maps_next(m, at->end)) {
		longer = xasprintf("%s%s%" PRIx64 "-%" PRIx64 ":%" PRIu64 "+%" PRIx64, text,
				   *text ? " " : "", at->start, at->end, at->cookie, at->offset);
		free(text);
		text = longer;
	}
	return text;
}

static void new_mapping_cuts_what_it_covers(void)
{
	static const struct {
		const char *name;
		uint64_t start, end;
		const char *result;
	} rows[] = {
		{ "after", 0x9000, 0xa000, "1000-4000:1+1000 6000-8000:2+1000 9000-a000:9+1000" },
		{ "between", 0x4000, 0x6000, "1000-4000:1+1000 4000-6000:9+1000 6000-8000:2+1000" },
		{ "head", 0x800, 0x2000, "800-2000:9+1000 2000-4000:1+2000 6000-8000:2+1000" },
		{ "tail", 0x3000, 0x5000, "1000-3000:1+1000 3000-5000:9+1000 6000-8000:2+1000" },
		{ "middle", 0x2000, 0x3000,
		  "1000-2000:1+1000 2000-3000:9+1000 3000-4000:1+3000 6000-8000:2+1000" },
		{ "exactly", 0x1000, 0x4000, "1000-4000:9+1000 6000-8000:2+1000" },
		{ "two in part", 0x2000, 0x7000,
		  "1000-2000:1+1000 2000-7000:9+1000 7000-8000:2+2000" },
		{ "all", 0, UINT64_MAX, "0-ffffffffffffffff:9+1000" },
		{ "nothing", 0x2000, 0x2000, "1000-4000:1+1000 6000-8000:2+1000" },
		{ "backwards", 0x3000, 0x2000, "1000-4000:1+1000 6000-8000:2+1000" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct maps *m = maps_new();
		_cleanup_free_ char *text = NULL;

		put(&m, 0x6000, 0x8000, 2);
		put(&m, 0x1000, 0x4000, 1);
		put(&m, rows[i].start, rows[i].end, 9);
		text = text_of(m);
		if (strcmp(text, rows[i].result))
			printf("# row %s\n", rows[i].name);
		CHECK_STR(text, rows[i].result);
		maps_unref(m);
	}
}

static void address_is_found_up_to_the_last_byte(void)
{
	struct maps *m = maps_new();

	CHECK(!maps_find(m, 0x1000));
	put(&m, 0x1000, 0x2000, 1);
	put(&m, 0x2000, 0x3000, 2);
	put(&m, 0x5000, 0x6000, 3);
	CHECK(!maps_find(m, 0xfff));
	CHECK_EQ(maps_find(m, 0x1000)->cookie, 1);
	CHECK_EQ(maps_find(m, 0x1fff)->cookie, 1);
	CHECK_EQ(maps_find(m, 0x2000)->cookie, 2);
	CHECK(!maps_find(m, 0x3000));
	CHECK(!maps_find(m, 0x4fff));
	CHECK_EQ(maps_find(m, 0x5fff)->cookie, 3);
	CHECK(!maps_find(m, UINT64_MAX));
	maps_unref(m);
}

static void sharers_do_not_see_each_others_changes(void)
{
	struct maps *parent = maps_new(), *child;

	put(&parent, 0x1000, 0x2000, 1);
	child = maps_ref(parent);
	put(&child, 0x1000, 0x2000, 2);
	put(&parent, 0x3000, 0x4000, 3);
	CHECK_EQ(maps_find(parent, 0x1000)->cookie, 1);
	CHECK_EQ(maps_find(child, 0x1000)->cookie, 2);
	CHECK_EQ(maps_count(child), 1);
	maps_unref(parent);
	CHECK_EQ(maps_find(child, 0x1000)->cookie, 2);
	maps_unref(child);
	maps_unref(NULL);
}

static void random_mappings_agree_with_a_plain_array(void)
{
	enum { SPACE = 4096, ADDED = 6000 };
	static uint64_t owner[SPACE], begin[SPACE];
	uint64_t seed = 1, i, k;
	struct maps *m = maps_new();

	for (i = 1; i < ADDED; i++) {
		uint64_t start, end;

		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		start = seed >> 33 & (SPACE - 1);
		end = MIN(start + (seed >> 45 & 7), (uint64_t)SPACE);
		maps_add(&m, &(struct mapping){ start, end, 1000 * i, i, NULL });
		for (k = start; k < end; k++) {
			owner[k] = i;
			begin[k] = start;
		}
		for (k = 0; k < SPACE && i % 16 == 0; k++) {
			const struct mapping *at = maps_find(m, k);

			if ((at ? at->cookie : 0) != owner[k] ||
			    (at && k - at->start + at->offset != 1000 * owner[k] + k - begin[k])) {
				CHECK_EQ(at ? at->cookie : 0, owner[k]);
				maps_unref(m);
				return;
			}
		}
	}
	maps_unref(m);
}

/* A process may have 65,530 mappings, and another limit can be set. */
static void half_a_million_mappings_in_any_order_take_no_longer(void)
{
	static const struct {
		uint64_t first, step;
	} orders[] = { { 0, 1 }, { 499999, 499999 }, { 0, 305621 } };
	enum { COUNT = 500000 };
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(orders); i++) {
		struct maps *m = maps_new();
		const struct mapping *at;
		uint64_t number = orders[i].first;

		for (k = 0; k < COUNT; k++, number = (number + orders[i].step) % COUNT)
			put(&m, 0x4000 + number * 0x2000, 0x5000 + number * 0x2000, number + 1);
		CHECK_EQ(maps_count(m), COUNT);
		for (k = 0, at = maps_next(m, 0); at; at = maps_next(m, at->end))
			k += at->cookie == k + 1;
		CHECK_EQ(k, COUNT);
		/* One over nearly all of them. */
		put(&m, 0x4800, 0x4000 + (COUNT - 1) * (uint64_t)0x2000 + 0x800, COUNT + 1);
		CHECK_EQ(maps_count(m), 3);
		CHECK_EQ(maps_find(m, 0x47ff)->cookie, 1);
		CHECK_EQ(maps_find(m, 0x4800)->cookie, COUNT + 1);
		CHECK_EQ(maps_next(m, 0x4000 + (COUNT - 1) * (uint64_t)0x2000 + 0x800)->cookie,
			 COUNT);
		maps_unref(m);
	}
}

static void kernel_names_become_cookies_or_labels(void)
{
	static const struct {
		const char *path;
		uint64_t inode;
		enum cookie_kind kind;
		const char *label;
	} rows[] = {
		{ "/usr/bin/a", 5, COOKIE_FILE, NULL },
		{ "/usr/bin/a (deleted)", 5, COOKIE_FILE, NULL },
		{ "/memfd:jit (deleted)", 6, COOKIE_FILE, NULL },
		{ "/SYSV00000000 (deleted)", 7, COOKIE_FILE, NULL },
		{ "/dev/zero.so", 8, COOKIE_FILE, NULL },
		{ "[vdso]", 0, COOKIE_VDSO, NULL },
		{ "", 0, COOKIE_ANON, "anon" },
		{ "//anon", 0, COOKIE_ANON, "anon" },
		{ "/anon_hugepage (deleted)", 9, COOKIE_ANON, "anon" },
		{ "/dev/zero (deleted)", 10, COOKIE_ANON, "anon" },
		{ "[anon:v8 code]", 0, COOKIE_ANON, "anon" },
		{ "[heap]", 0, COOKIE_ANON, "[heap]" },
		{ "[stack]", 0, COOKIE_ANON, "[stack]" },
		{ "[uprobes]", 0, COOKIE_ANON, "[uprobes]" },
	};
	const uint64_t high = 1ULL << 46;
	struct cookie_table *cookies = cookie_table_new();
	struct mapping m;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct mapping_source source = { .start = high,
						 .end = high + 0x1000,
						 .offset = 0x300,
						 .file.device = 1,
						 .file.inode = rows[i].inode,
						 .path = rows[i].path };

		mapping_from(&source, cookies, &m);
		if (rows[i].kind == COOKIE_ANON) {
			CHECK_STR(m.label, rows[i].label);
			CHECK_EQ(m.cookie, 0);
			CHECK_EQ(m.offset, 0);
			continue;
		}
		CHECK(!m.label);
		CHECK_EQ(cookie_lookup(cookies, m.cookie)->kind, rows[i].kind);
		CHECK_EQ(m.offset, rows[i].kind == COOKIE_FILE ? 0x300 : 0);
	}
	/* Of 32-bit processes: another one, but the same for all of them. */
	mapping_from(&(struct mapping_source){ .start = 0x1000, .end = 0x3000, .path = "[vdso]" },
		     cookies, &m);
	CHECK(!m.label);
	CHECK_STR(cookie_lookup(cookies, m.cookie)->path, "[vdso32]");
	CHECK_EQ(cookie_lookup(cookies, m.cookie)->tgid, 0);
	CHECK_EQ(cookie_lookup(cookies, m.cookie)->end, 0x2000);
	CHECK_EQ(cookie_vdso_32(cookies, 0x2000), m.cookie);
	cookie_table_free(cookies);
}

TESTS(T(new_mapping_cuts_what_it_covers), T(address_is_found_up_to_the_last_byte),
      T(sharers_do_not_see_each_others_changes), T(random_mappings_agree_with_a_plain_array),
      T(half_a_million_mappings_in_any_order_take_no_longer),
      T(kernel_names_become_cookies_or_labels))
