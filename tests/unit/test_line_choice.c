/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/line_choice.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "profile/rows/container.h"
#include "profile/rows/row_detail.h"
#include "profile/select/samples.h"
#include "test.h"

#include <errno.h>

/* A line with samples in a build, which is a class and an image. */
struct sampled {
	unsigned int build, line, count;
	uint32_t text;
	const char *function; /* NULL: f */
	bool is_inlined;      /* it is not known where the function starts */
};

enum { BUILDS = 3, START = 5 };

/* Adds what was sampled in a function of a build, which starts at line START of the file. */
static void add_function(struct container *c, unsigned int build, const char *name,
			 const struct sampled *all)
{
	struct row *row = NULL;

	for (; all->line; all++) {
		struct sample sample = { all->line, all->count, build };
		struct row_place *place = arena_alloc(&c->arena, sizeof(*place));

		if (all->build != build || strcmp(all->function ?: "f", name) != 0)
			continue;
		if (!row) {
			row = container_add_row(
				c, &(struct row){ .image = build,
						  .kind = ROW_SYMBOL,
						  .symbol = container_symbol(c, name) });
			if (!all->is_inlined)
				row->place = (struct row_place){ "/src/a.c", START, 0 };
		}
		*place = (struct row_place){ "/src/a.c", all->line, all->text };
		detail_keep(c, row, &sample, 1, 0, NULL);
		row->runs->places = place;
		row->counts[build] += all->count;
	}
}

/* What is found of line @line: "BUILD:FUNCTION:LINE:HOW:COUNT" for each row; the caller frees. */
static char *find(const struct sampled *all, unsigned int line)
{
	static const char *const how[] = { "text", "neighbour", "number" };
	const struct line_choice choice = { (char *)"a.c", line };
	const uint64_t ages[BUILDS] = { 1, 2, 3 };
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	_cleanup_(container_done) struct container c;
	unsigned int build;
	size_t i;

	container_init(&c, BUILDS);
	for (build = 0; build < BUILDS; build++) {
		add_function(&c, build, "f", all);
		add_function(&c, build, "g", all);
	}
	if (line_choice_rows(&choice, ages, &c, NULL) < 0)
		return xstrdup("none");
	for (i = 0; i < c.count; i++) {
		const struct row *row = &c.rows[i];

		strbuf_addf(&text, "%s%u:%s:%u:%s:%u", i ? " " : "", row->image, row->symbol->name,
			    row->place.line, how[row->found],
			    (unsigned int)row->counts[row->image]);
	}
	return strbuf_take(&text);
}

static const struct {
	const char *name;
	struct sampled all[8];
	unsigned int line;
	const char *expected;
} matches[] = {
	{ "moved",
	  { { 0, 7, 10, 77 }, { 0, 8, 20, 88 }, { 1, 10, 30, 77 } },
	  10,
	  "0:f:7:text:10 1:f:10:text:30" },
	{ "the newest build says which",
	  { { 0, 7, 10, 77 }, { 1, 7, 30, 88 } },
	  7,
	  "0:f:0:neighbour:0 1:f:7:text:30" },
	{ "an older build has it only",
	  { { 0, 7, 10, 77 }, { 1, 8, 30, 77 } },
	  7,
	  "0:f:7:text:10 1:f:8:text:30" },
	{ "twice: the nearest",
	  { { 0, 7, 10, 77 }, { 0, 20, 5, 77 }, { 1, 19, 30, 77 } },
	  19,
	  "0:f:20:text:5 1:f:19:text:30" },
	{ "changed",
	  { { 0, 7, 10, 77 }, { 0, 8, 20, 88 }, { 1, 10, 30, 77 }, { 1, 11, 40, 99 } },
	  11,
	  "0:f:8:neighbour:20 1:f:11:text:40" },
	{ "another line of the function is not the changed one",
	  { { 0, 7, 10, 77 },
	    { 0, 8, 20, 88 },
	    { 1, 10, 30, 77 },
	    { 1, 11, 40, 99 },
	    { 1, 14, 40, 88 } },
	  11,
	  "0:f:0:neighbour:0 1:f:11:text:40" },
	{ "no texts", { { 0, 7, 10, 0 }, { 1, 7, 30, 77 } }, 7, "0:f:7:number:10 1:f:7:text:30" },
	{ "the same function only",
	  { { 0, 7, 10, 77, "g" }, { 1, 9, 30, 77 } },
	  9,
	  "1:f:9:text:30" },
	{ "in two functions",
	  { { 0, 7, 10, 77, "g" }, { 0, 7, 5, 77 }, { 1, 9, 30, 77 }, { 1, 9, 40, 77, "g" } },
	  9,
	  "0:f:7:text:5 0:g:7:text:10 1:f:9:text:30 1:g:9:text:40" },
	{ "three builds",
	  { { 0, 7, 10, 77 }, { 1, 8, 5, 77 }, { 2, 9, 30, 77 } },
	  9,
	  "0:f:7:text:10 1:f:8:text:5 2:f:9:text:30" },
	{ "inlined in one build, no texts",
	  { { 0, 7, 10, 0, NULL, true }, { 0, 9, 10, 0, NULL, true }, { 1, 7, 30, 77 } },
	  7,
	  "0:f:7:number:10 1:f:7:text:30" },
	{ "inlined in one build, changed",
	  { { 0, 7, 10, 77, NULL, true },
	    { 0, 8, 20, 88, NULL, true },
	    { 1, 10, 30, 77 },
	    { 1, 11, 40, 99 } },
	  11,
	  "0:f:8:neighbour:20 1:f:11:text:40" },
	{ "no samples in the newest build",
	  { { 0, 7, 10, 77 }, { 0, 9, 20, 88 }, { 1, 9, 0, 77 }, { 1, 11, 30, 88 } },
	  9,
	  "0:f:7:text:10 1:f:9:text:0" },
	{ "no samples in the newest build, no texts",
	  { { 0, 7, 10, 0 }, { 1, 7, 0, 77 }, { 1, 11, 30, 88 } },
	  7,
	  "0:f:7:number:10 1:f:7:text:0" },
	{ "the function has no samples in the newest build",
	  { { 0, 7, 10, 77, "g" }, { 1, 9, 0, 77, "g" }, { 1, 11, 30, 88 } },
	  9,
	  "0:g:7:text:10 1:g:9:text:0" },
	{ "no build has samples in that of the newest one",
	  { { 0, 7, 10, 77 }, { 1, 7, 0, 66 }, { 1, 11, 30, 77 } },
	  7,
	  "0:f:7:text:10 1:f:11:text:30" },
	{ "not sampled", { { 0, 7, 10, 77 } }, 8, "none" },
};

static void lines_are_matched(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(matches); i++) {
		_cleanup_free_ char *found = find(matches[i].all, matches[i].line);

		if (!CHECK(!strcmp(found, matches[i].expected)))
			printf("# %s: %s\n", matches[i].name, found);
	}
}

static void a_line_is_a_file_and_a_number(void)
{
	static const struct {
		const char *text, *file; /* NULL: it is none */
		unsigned int line;
	} cases[] = {
		{ "a.c:7", "a.c", 7 },	 { "/src/a.c:12", "/src/a.c", 12 },
		{ "a::b:3", "a::b", 3 }, { "a.c:0", NULL, 0 },
		{ "a.c:", NULL, 0 },	 { ":7", NULL, 0 },
		{ "std::7", NULL, 0 },	 { "main", NULL, 0 },
		{ "f[a:7]", NULL, 0 },	 { "a.c:4294967296", NULL, 0 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct line_choice c = { 0 };

		if (!CHECK(line_choice_parse(cases[i].text, &c) == (cases[i].file != NULL)) ||
		    !CHECK(!cases[i].file ||
			   (!strcmp(c.file, cases[i].file) && c.line == cases[i].line)))
			printf("# %s\n", cases[i].text);
		line_choice_done(&c);
	}
}

static void a_file_is_named_by_the_last_parts_of_its_path(void)
{
	const struct line_choice c = { (char *)"src/a.c", 7 };

	CHECK(line_choice_has(&c, "src/a.c"));
	CHECK(line_choice_has(&c, "/home/src/a.c"));
	CHECK(!line_choice_has(&c, "/home/xsrc/a.c"));
	CHECK(!line_choice_has(&c, "a.c"));
	CHECK(!line_choice_has(&c, NULL));
}

TESTS(T(lines_are_matched), T(a_line_is_a_file_and_a_number),
      T(a_file_is_named_by_the_last_parts_of_its_path))
