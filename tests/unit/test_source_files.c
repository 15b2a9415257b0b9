/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Places of functions that an interpreter runs. */
#include "test.h"

#include "base/mem.h"
#include "identity/cookie_image.h"
#include "jit/jit_code.h"
#include "python/python_lines.h"
#include "record/internal/source_files.h"

/* The place of the function called @name, which @digest distinguishes from others. */
static uint64_t place(struct source_files *t, uint64_t cookie, const char *name, uint64_t digest)
{
	struct python_line lines[] = { { 0, 7 }, { 10, 8 } };
	struct cookie_function function = { .name = (char *)name,
					    .bytes = 30,
					    .digest = digest | COOKIE_DIGEST_SET,
					    .lines = lines,
					    .line_count = 2 };
	const struct cookie_image image = { .cookie = cookie,
					    .kind = COOKIE_SOURCE,
					    .path = (char *)"/srv/app.py",
					    .function = &function };

	return source_files_place(t, &image, "/srv/app.py")->address;
}

static void a_function_has_one_place(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct source_files *t = source_files_new(dir);
	uint64_t f = place(t, 1, "f", 5), g = place(t, 2, "g", 5), changed = place(t, 3, "f", 6);

	CHECK(f && g && changed);
	CHECK(g >= f + 32);
	CHECK(changed >= g + 32);
	CHECK_EQ(place(t, 1, "f", 5), f);
	CHECK_EQ(place(t, 4, "f", 5), f);
	CHECK_EQ(source_files_known(t, 3)->address, changed);
	CHECK(!source_files_known(t, 5));
	CHECK_EQ(source_files_capped(t), 0);
	source_files_free(t);
}

static void places_are_kept_in_the_session(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct source_files *t = source_files_new(dir);
	uint64_t f = place(t, 1, "kept", 5), g = place(t, 2, "kept", 6), h;

	source_files_write(t, 0, true);
	source_files_free(t);
	t = source_files_new(dir);
	h = place(t, 1, "new", 7);
	CHECK(h > g);
	CHECK_EQ(place(t, 2, "kept", 5), f);
	CHECK_EQ(place(t, 3, "kept", 6), g);
	source_files_write(t, 0, true);
	source_files_free(t);
	t = source_files_new(dir);
	CHECK_EQ(place(t, 1, "new", 7), h);
	source_files_free(t);
}

static void functions_beyond_the_limit_share_a_place(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct source_files *t = source_files_new(dir);
	uint64_t python_capped, i, last = 0, now = 0;

	for (i = 1; i <= (1 << 14) + 100; i++) {
		_cleanup_free_ char *name = xasprintf("made_%d", (int)i);

		last = now;
		now = place(t, i, name, i);
	}
	python_capped = source_files_capped(t);
	CHECK_EQ(python_capped, 100);
	CHECK_EQ(now, last);
	source_files_free(t);
}

/* Also functions of many lines take limited memory. */
static void functions_with_many_lines_share_a_place(void)
{
	enum { LINES = 5000, FUNCTIONS = 2000 };
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ struct python_line *lines = xcalloc(LINES, sizeof(*lines));
	struct source_files *t = source_files_new(dir);
	uint64_t i;

	for (i = 0; i < LINES; i++)
		lines[i] = (struct python_line){ (uint32_t)i, (uint32_t)i + 1 };
	for (i = 1; i <= FUNCTIONS; i++) {
		struct cookie_function function = { .name = (char *)"f",
						    .bytes = LINES,
						    .digest = i | COOKIE_DIGEST_SET,
						    .lines = lines,
						    .line_count = LINES };
		const struct cookie_image image = { .cookie = i,
						    .kind = COOKIE_SOURCE,
						    .path = (char *)"/srv/app.py",
						    .function = &function };
		_cleanup_free_ char *name = xasprintf("/srv/%d.py", (int)i % 20);

		CHECK(source_files_place(t, &image, name));
	}
	CHECK(source_files_capped(t) > FUNCTIONS / 2 && source_files_capped(t) < FUNCTIONS - 100);
	source_files_free(t);
}

TESTS(T(a_function_has_one_place), T(places_are_kept_in_the_session),
      T(functions_beyond_the_limit_share_a_place), T(functions_with_many_lines_share_a_place))
