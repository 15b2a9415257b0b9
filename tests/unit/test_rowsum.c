/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "base/mem.h"
#include "tools/optop/rowsum.h"

#include <stdlib.h>
#include <string.h>

/* The answer; caller frees. */
static char *print(const struct rowsum *s, const struct rowsum_choice *choice)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	rowsum_print(s, choice, f);
	(void)fclose(f);
	return text;
}

/* Its lines that are rows; caller frees. */
static char *rows_of(const struct rowsum *s)
{
	char *text = print(s, &(struct rowsum_choice){ .limit = 100 }), *row;

	row = strstr(text, "row\t");
	row = xstrdup(row ?: "");
	free(text);
	return row;
}

static void end(struct rowsum *s, int64_t begin_ms, int64_t end_ms, uint64_t samples,
		int64_t grain_ms)
{
	const struct rowsum_facts facts = {
		.begin_ms = begin_ms, .end_ms = end_ms, .samples = samples, .lost = 1
	};

	rowsum_end(s, &facts, grain_ms);
}

static void what_is_too_old_is_subtracted(void)
{
	_cleanup_(rowsum_freep) struct rowsum *s = rowsum_new();
	_cleanup_free_ char *both = NULL, *second = NULL, *none = NULL;

	rowsum_add(s, "main", "fib", 3, 7);
	rowsum_add(s, "once", "fib", 2, 2);
	end(s, 1000, 2000, 5, 0);
	rowsum_add(s, "main", "fib", 4, 4);
	rowsum_add(s, "main", "other", 1, 1);
	end(s, 2000, 3000, 5, 0);
	both = rows_of(s);
	CHECK_STR(both, "row\t7\t11\tmain\tfib\nrow\t2\t2\tonce\tfib\nrow\t1\t1\tmain\tother\n");
	CHECK_EQ(rowsum_facts(s).samples, 10);
	CHECK_EQ(rowsum_facts(s).begin_ms, 1000);
	rowsum_drop(s, 1999);
	CHECK_EQ(rowsum_facts(s).samples, 10);
	rowsum_drop(s, 2000);
	second = rows_of(s);
	CHECK_STR(second, "row\t4\t4\tmain\tfib\nrow\t1\t1\tmain\tother\n");
	CHECK_EQ(rowsum_facts(s).samples, 5);
	CHECK_EQ(rowsum_facts(s).lost, 1);
	CHECK_EQ(rowsum_facts(s).begin_ms, 2000);
	CHECK_EQ(rowsum_facts(s).end_ms, 3000);
	rowsum_drop(s, 3000);
	none = rows_of(s);
	CHECK_STR(none, "");
	CHECK_EQ(rowsum_facts(s).samples, 0);
}

static void short_stretches_become_one(void)
{
	_cleanup_(rowsum_freep) struct rowsum *s = rowsum_new();
	_cleanup_free_ char *rows = NULL, *left = NULL;
	int i;

	for (i = 0; i < 6; i++) {
		rowsum_add(s, i % 2 ? "odd" : "even", "fib", 1, 2);
		end(s, i * 1000, i * 1000 + 1000, 1, 3000);
	}
	rows = rows_of(s);
	CHECK_STR(rows, "row\t3\t6\teven\tfib\nrow\t3\t6\todd\tfib\n");
	rowsum_drop(s, 2000); /* the first three are one, and not over */
	CHECK_EQ(rowsum_facts(s).samples, 6);
	rowsum_drop(s, 3000);
	left = rows_of(s);
	CHECK_STR(left, "row\t2\t4\todd\tfib\nrow\t1\t2\teven\tfib\n");
	CHECK_EQ(rowsum_facts(s).begin_ms, 3000);
}

static void names_are_fields_of_a_line(void)
{
	_cleanup_(rowsum_freep) struct rowsum *s = rowsum_new();
	_cleanup_free_ char *rows = NULL;

	rowsum_add(s, "a\tb\nend\t1", "", 1, 1);
	end(s, 0, 1, 1, 0);
	rows = rows_of(s);
	CHECK_EQ(strcspn(rows, "\n"), strlen(rows) - 1);
	CHECK(!strstr(rows, "\nend"));
	rowsum_clear(s);
	CHECK_EQ(rowsum_names(s), 0);
}

static void the_first_rows_are_chosen(void)
{
	static const struct {
		struct rowsum_choice choice;
		const char *expected;
	} rows[] = {
		{ { ANSWER_SELF, 3, NULL },
		  "matching\t40\nfact\tmatching_self\t820\n"
		  "row\t40\t41\tf40\ti\nrow\t39\t42\tf39\ti\n"
		  "row\t38\t43\tf38\ti\n" },
		{ { ANSWER_TOTAL, 2, NULL },
		  "matching\t40\nfact\tmatching_self\t820\n"
		  "row\t1\t80\tf1\ti\nrow\t2\t79\tf2\ti\n" },
		{ { ANSWER_NAME, 2, NULL },
		  "matching\t40\nfact\tmatching_self\t820\n"
		  "row\t1\t80\tf1\ti\nrow\t10\t71\tf10\ti\n" },
		{ { ANSWER_SELF, 9, "F39" },
		  "matching\t1\nfact\tmatching_self\t39\n"
		  "row\t39\t42\tf39\ti\n" },
		{ { ANSWER_SELF, 0, "f1" }, "matching\t11\nfact\tmatching_self\t146\n" },
	};
	_cleanup_(rowsum_freep) struct rowsum *s = rowsum_new();
	char name[16];
	size_t i;

	for (i = 1; i <= 40; i++) {
		(void)snprintf(name, sizeof(name), "f%zu", i * 7 % 41);
		rowsum_add(s, name, "i", i * 7 % 41, 81 - i * 7 % 41);
	}
	end(s, 0, 1, 1, 0);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *text = print(s, &rows[i].choice);

		CHECK_STR(strstr(text, "matching\t") ?: "", rows[i].expected);
	}
}

TESTS(T(what_is_too_old_is_subtracted), T(short_stretches_become_one),
      T(names_are_fields_of_a_line), T(the_first_rows_are_chosen))
