/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "profile/select/classes.h"
#include "profile/rows/container.h"
#include "profile/rows/diff.h"
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
      T(symbols_of_one_name_match_by_file_then_line_then_order),
      T(each_row_has_at_most_one_partner), T(classes_must_be_the_same))
