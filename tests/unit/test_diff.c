/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "profile/select/classes.h"
#include "profile/rows/container.h"
#include "profile/rows/diff.h"
#include "profile/rows/diff_builds.h"
#include "profile/rows/diff_match.h"
#include "profile/select/gather.h"

#include <errno.h>

enum { IMAGES_MAX = 8 };

/* Names of images; NULL ends them. "anon:LABEL" is anonymous memory. */
static void add_images(struct gather *g, const char *const *names)
{
	size_t i;

	for (i = 0; names[i]; i++) {
		bool anon = !strncmp(names[i], "anon:", 5);

		(void)gather_add_image(
			g, &(struct gather_image){
				   .id = { .kind = anon ? SNAME_ANON : SNAME_ROOT,
					   .name = (char *)names[i] + (anon ? 5 : 0),
					   .start = i },
				   .display = arena_strndup(&g->arena, names[i],
							    strcspn(names[i], "#")),
				   .shown = anon ? arena_strdup(&g->arena, names[i] + i % 2)
						 : names[i],
				   .suffix = "" });
	}
}

static void gather_done(struct gather *g)
{
	free(g->images);
	map_done(&g->image_by_hash);
	arena_done(&g->arena);
}

static void images_match_by_path_then_by_their_only_name(void)
{
	static const struct {
		const char *first[IMAGES_MAX], *second[IMAGES_MAX];
		uint32_t expected
			[IMAGES_MAX]; /* by image of the first; beyond the second's: added */
	} rows[] = {
		{ { "/bin/a", "/lib/b" }, { "/lib/b", "/bin/a" }, { 1, 0 } },
		{ { "/v1/a" }, { "/v2/a" }, { 0 } },
		/* the path goes first, so that the rest is unique */
		{ { "/v1/a", "/bin/a" }, { "/bin/a", "/v2/a" }, { 1, 0 } },
		/* two of one name on either side: neither */
		{ { "/v1/a" }, { "/v2/a", "/v3/a" }, { 2 } },
		{ { "/v1/a", "/v2/a" }, { "/v3/a" }, { 1, 2 } },
		{ { "/v1/a" }, { "/v1/b" }, { 1 } },
		/* builds: those that both have, then in their order */
		{ { "/v1/a" }, { "/v1/b", "/v1/a#1" }, { 1 } },
		{ { "/v1/a" }, { "/v1/a#1", "/v1/a#2" }, { 0 } },
		{ { "/v1/a", "/v1/a#1" }, { "/v1/a#1", "/v1/a#2" }, { 1, 0 } },
		{ { "/v1/a#1", "/v1/a#2" }, { "/v1/a#2" }, { 1, 0 } },
		{ { "anon:heap" }, { "/x", "anon:heap" }, { 1 } },
		{ { "anon:heap" }, { "anon:stack" }, { 1 } },
		{ { NULL }, { "/x" }, { 0 } },
	};
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct gather first = { 0 }, second = { 0 };
		_cleanup_free_ uint32_t *partners = NULL;

		add_images(&first, rows[i].first);
		add_images(&second, rows[i].second);
		partners = diff_match_images(&first, &second, NULL);
		for (j = 0; j < first.image_count; j++)
			if (!CHECK(partners[j] == rows[i].expected[j]))
				printf("# row %zu: %s is %u\n", i, rows[i].first[j], partners[j]);
		gather_done(&first);
		gather_done(&second);
	}
}

static void an_added_image_is_found_by_its_name(void)
{
	static const char *const names[] = { "/bin/a", "/bin/b", NULL };
	struct gather_session session = { .name = "current" };
	struct gather first = { 0 }, second = { .sessions = &session, .session_count = 1 };
	_cleanup_free_ uint32_t *partners = NULL;
	size_t i;

	add_images(&first, names);
	partners = diff_match_images(&first, &second, NULL);
	CHECK_EQ(second.image_count, 2);
	for (i = 0; i < first.image_count; i++)
		CHECK_EQ(gather_image(&second, 0, &first.images[i].id), partners[i]);
	CHECK_EQ(second.image_count, 2);
	gather_done(&first);
	gather_done(&second);
}

static void builds_are_one_if_most_samples_moved(void)
{
	/* Samples of /a, /a#1 and /a#2 in both profiles; which build stands for the path. */
	static const struct {
		uint64_t samples[2][3];
		bool joined;
		uint32_t shown[2];
	} rows[] = {
		{ { { 100 }, { 7, 93 } }, true, { 0, 1 } },
		{ { { 7, 93 }, { 0, 100 } }, false, { 0 } },
		{ { { 93, 7 }, { 7, 93 } }, true, { 0, 1 } },
		{ { { 50, 50 }, { 500, 500 } }, false, { 0 } },
		{ { { 100 }, { 50, 50 } }, false, { 0 } },
		{ { { 100 }, { 49, 51 } }, true, { 0, 1 } },
		{ { { 0, 100 }, { 40, 0, 60 } }, true, { 1, 2 } },
		/* one build on each side needs no addition, and one side alone nothing */
		{ { { 100 }, { 0, 100 } }, false, { 0 } },
		{ { { 50, 50 }, { 0 } }, false, { 0 } },
	};
	static const char *const names[] = { "/a", "/a#1", "/a#2", NULL };
	size_t i, side;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(diff_builds_done) struct diff_builds b = { 0 };
		const uint64_t *samples[2] = { rows[i].samples[0], rows[i].samples[1] };
		struct gather first = { 0 }, second = { 0 };
		uint32_t image;

		add_images(&first, names);
		add_images(&second, names);
		diff_builds_find((const struct gather *const[2]){ &first, &second }, samples, &b);
		for (side = 0; side < 2; side++) {
			for (image = 0; image < 3; image++) {
				bool joined = rows[i].joined && samples[side][image];

				if (!CHECK(b.joined[side][image] == joined &&
					   b.shown[side][image] ==
						   (joined ? rows[i].shown[side] : image)))
					printf("# row %zu: side %zu, %s\n", i, side, names[image]);
			}
			CHECK_EQ(b.any[side], rows[i].joined);
		}
		diff_builds_name(&b, &second);
		CHECK_EQ(second.images[1].has_builds, rows[i].joined && rows[i].shown[1] == 1);
		CHECK(!rows[i].joined || !strcmp(second.images[rows[i].shown[1]].shown, "/a"));
		gather_done(&first);
		gather_done(&second);
	}
}

/* Functions of one name are one row over all builds; those of other files only at one address. */
static void rows_of_builds_are_added_up(void)
{
	static const char *const names[] = { "/a", "/a#1", "/lib", NULL };
	static const struct {
		uint32_t image, app;
		uint64_t address, count, expected; /* 0: it is part of another row */
	} rows[] = {
		{ 0, 0, 0x10, 1, 3 }, { 1, 1, 0x20, 2, 0 },   { 2, 0, 0x10, 4, 4 + 8 },
		{ 2, 1, 0x10, 8, 0 }, { 2, 1, 0x18, 16, 16 }, { 2, 2, 0x10, 32, 32 },
	};
	struct gather g = { 0 };
	struct container c;
	uint32_t shown[] = { 1, 1, 2 }, ids[ARRAY_SIZE(rows)];
	bool joined[] = { true, true, false };
	const struct diff_builds b = { .shown = { shown }, .joined = { joined }, .any = { true } };
	size_t i, n = 0;

	add_images(&g, names);
	container_init(&c, 1);
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		container_add_row(&c, &(struct row){ .kind = ROW_SYMBOL,
						     .image = rows[i].image,
						     .app = rows[i].app,
						     .symbol = container_symbol(&c, "f"),
						     .address = rows[i].address })
			->counts[0] = rows[i].count;
	diff_builds_join(&b, 0, &c, &g, ids);
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].expected) {
			CHECK_EQ(ids[i], n);
			CHECK_EQ(c.rows[n].id, n);
			CHECK_EQ(c.rows[n++].counts[0], rows[i].expected);
		}
	CHECK_EQ(c.count, n);
	CHECK_EQ(c.rows[0].image, 1);
	CHECK_EQ(c.rows[0].address, 0x20); /* in the build that is shown */
	CHECK_EQ(c.rows[1].app, 1);
	container_done(&c);
	gather_done(&g);
}

/* A symbol "f" on one side of a comparison: its place in the sources. */
struct place {
	const char *file;
	unsigned int line;
};

static void add_rows(struct container *c, const struct place *places)
{
	size_t i;

	container_init(c, 1);
	for (i = 0; places[i].file; i++) {
		struct row row = { .kind = ROW_SYMBOL,
				   .symbol = container_symbol(c, "f"),
				   .address = 0x1000 + i * 0x10,
				   .place = { *places[i].file ? places[i].file : NULL,
					      places[i].line } };

		container_add_row(c, &row)->counts[0] = 1;
	}
}

static void symbols_of_one_name_match_by_file_then_line_then_order(void)
{
	static const struct {
		struct place first[4], second[4];
		uint32_t expected[4];
	} rows[] = {
		/* one of each: the name is enough */
		{ { { "a.c", 5 } }, { { "b.c", 9 } }, { 0 } },
		{ { { "a.c", 5 }, { "b.c", 5 } }, { { "b.c", 7 }, { "a.c", 7 } }, { 1, 0 } },
		/* a new one before the old ones of its file: the same line wins */
		{ { { "a.c", 50 } }, { { "a.c", 5 }, { "a.c", 50 } }, { 1 } },
		/* all lines moved: the order counts */
		{ { { "a.c", 5 }, { "a.c", 50 } }, { { "a.c", 6 }, { "a.c", 51 } }, { 0, 1 } },
		{ { { "a.c", 50 }, { "a.c", 5 } }, { { "a.c", 6 }, { "a.c", 51 } }, { 1, 0 } },
		/* another file has no partner */
		{ { { "a.c", 5 }, { "c.c", 5 } },
		  { { "a.c", 5 }, { "b.c", 5 } },
		  { 0, GATHER_NONE } },
		/* nothing known: the order of addresses */
		{ { { "", 0 }, { "", 0 } }, { { "", 0 }, { "", 0 } }, { 0, 1 } },
		{ { { "", 0 }, { "", 0 } }, { { "", 0 } }, { 0, GATHER_NONE } },
	};
	static const char *const image[] = { "/lib/x", NULL };
	static const uint32_t images[] = { 0 };
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct gather g[2] = { 0 };
		struct container c[2];
		struct diff_side sides[2];
		_cleanup_free_ uint32_t *partners = NULL;

		for (j = 0; j < 2; j++) {
			add_images(&g[j], image);
			g[j].images[0].id.kind = SNAME_KERN; /* has no file to look for lines in */
			add_rows(&c[j], j ? rows[i].second : rows[i].first);
			sides[j] = (struct diff_side){ .gather = &g[j], .container = &c[j] };
		}
		partners = diff_match_rows(&sides[0], &sides[1], images);
		for (j = 0; j < c[0].count; j++)
			if (!CHECK(partners[j] == rows[i].expected[j]))
				printf("# row %zu: %zu is %u\n", i, j, partners[j]);
		for (j = 0; j < 2; j++) {
			container_done(&c[j]);
			gather_done(&g[j]);
		}
	}
}

/* Many names, so that groups share slots of the map, and many rows of each. */
static void each_row_has_at_most_one_partner(void)
{
	enum { NAMES = 500, ROWS = 3000 };
	static const char *const image[] = { "/lib/x", NULL };
	static const uint32_t images[] = { 0 };
	struct gather g[2] = { 0 };
	struct container c[2];
	struct diff_side sides[2];
	_cleanup_free_ uint32_t *partners = NULL;
	static uint8_t taken[ROWS];
	size_t i, j, paired = 0, wrong = 0;

	for (j = 0; j < 2; j++) {
		add_images(&g[j], image);
		g[j].images[0].id.kind = SNAME_KERN;
		container_init(&c[j], 1);
		for (i = 0; i < ROWS; i++) {
			_cleanup_free_ char *name = xasprintf("f%zu", i * (j + 1) % NAMES);

			(void)container_add_row(
				&c[j], &(struct row){ .kind = ROW_SYMBOL,
						      .symbol = container_symbol(&c[j], name),
						      .address = i });
		}
		sides[j] = (struct diff_side){ .gather = &g[j], .container = &c[j] };
	}
	partners = diff_match_rows(&sides[0], &sides[1], images);
	for (i = 0; i < ROWS; i++) {
		if (partners[i] == GATHER_NONE)
			continue;
		paired++;
		wrong += taken[partners[i]]++;
		wrong +=
			strcmp(c[0].rows[i].symbol->name, c[1].rows[partners[i]].symbol->name) != 0;
	}
	/* The second has every other name, each twice as often. */
	CHECK_EQ(paired, ROWS / 2);
	CHECK_EQ(wrong, 0);
	for (j = 0; j < 2; j++) {
		container_done(&c[j]);
		gather_done(&g[j]);
	}
}

static void classes_must_be_the_same(void)
{
	char text[] = "A";
	struct class a[] = {
		{ .event = "A", .event_text = text, .count = 1, .task = SNAME_TASK_ALL }
	};
	struct class b[] = {
		{ .event = "A", .event_text = text, .count = 2, .task = SNAME_TASK_ALL }
	};
	struct classes first = { .classes = a, .count = 1 }, second = { .classes = b, .count = 1 };
	struct gather g = { 0 };
	struct diff_side sides[2] = { { .gather = &g, .classes = &first },
				      { .gather = &g, .classes = &second } };
	struct error err = ERROR_INIT;

	CHECK_EQ(diff_compare(&sides[0], &sides[1], &err), -EINVAL);
	CHECK(strstr(err.text, "A count 1") && strstr(err.text, "A count 2"));
}

TESTS(T(images_match_by_path_then_by_their_only_name), T(an_added_image_is_found_by_its_name),
      T(builds_are_one_if_most_samples_moved), T(rows_of_builds_are_added_up),
      T(symbols_of_one_name_match_by_file_then_line_then_order),
      T(each_row_has_at_most_one_partner), T(classes_must_be_the_same))
