/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "profile/rows/unresolved.h"
#include "profile/select/gather.h"
#include "sfile/manifest.h"
#include "sfile/source_image.h"

/* Adds a row with @count samples of @symbol in an image, and to the total. */
static void add(struct container *c, struct gather *g, const char *image, const char *symbol,
		uint64_t count)
{
	struct row *row;

	(void)gather_add_image(
		g, &(struct gather_image){ .id = { .kind = SNAME_ROOT, .name = (char *)image },
					   .display = image,
					   .shown = image,
					   .suffix = "" });
	row = container_add_row(c, &(struct row){ .image = (uint32_t)g->image_count - 1,
						  .app = (uint32_t)g->image_count - 1,
						  .kind = ROW_SYMBOL,
						  .symbol = container_symbol(c, symbol) });
	row->counts[0] = count;
	c->totals[0] += count;
}

static void gather_done(struct gather *g)
{
	free(g->images);
	map_done(&g->image_by_hash);
	arena_done(&g->arena);
}

/* What the foot says of @u; caller frees. */
static char *foot(const struct unresolved *u, const struct gather *g)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!CHECK(out))
		return xstrdup("");
	unresolved_text(u, g, out);
	(void)fclose(out);
	return text;
}

static void loops_of_interpreters_are_told(void)
{
	_cleanup_(gather_done) struct gather g = { 0 };
	_cleanup_(container_done) struct container c;
	_cleanup_(unresolved_done) struct unresolved u = { 0 };
	_cleanup_free_ char *all = NULL, *none = NULL;

	container_init(&c, 1);
	add(&c, &g, "/usr/bin/python3.11", "_PyEval_EvalFrameDefault", 60);
	add(&c, &g, "/usr/lib/libpython3.12.so.1.0", "_PyEval_EvalFrameDefault", 10);
	add(&c, &g, "/usr/bin/python3.13", "PyObject_Free", 16);
	add(&c, &g, "/usr/bin/own", "_PyEval_EvalFrameDefault", 10); /* who knows what it runs */
	add(&c, &g, "/usr/bin/php8.2", "execute_ex", 4);	     /* too little */
	unresolved_collect(&c, &g, &u);
	CHECK_EQ(u.loops[CODE_PYTHON], 70);
	CHECK_EQ(u.loops[CODE_PHP], 4);
	all = foot(&u, &g);
	CHECK(strstr(all, "\nInterpreted: 70.0 % of the samples are in python functions"));
	CHECK(!strstr(all, "php"));
	unresolved_forget_loops(&u);
	none = foot(&u, &g);
	CHECK_STR(none, "");
}

static void a_source_file_has_no_debug_package(void)
{
	const struct manifest_image source = { .version.build_id =
						       *source_image_id(SOURCE_PYTHON) };
	_cleanup_(gather_done) struct gather g = { 0 };
	_cleanup_(container_done) struct container c;
	_cleanup_(unresolved_done) struct unresolved u = { 0 };
	_cleanup_free_ char *all = NULL;

	container_init(&c, 1);
	add(&c, &g, "/srv/app.py", "main", 9);
	g.images[0].manifest = &source;
	c.rows[0].kind = ROW_UNNAMED;
	unresolved_collect(&c, &g, &u);
	all = foot(&u, &g);
	CHECK_STR(all,
		  "\nWithout a symbol: 100.0 % of the samples\n"
		  "  100.0 %  /srv/app.py: functions of a program whose names were not read\n");
}

TESTS(T(loops_of_interpreters_are_told), T(a_source_file_has_no_debug_package))
