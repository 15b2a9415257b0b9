/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/optop/optop_answer.h"

#include "base/macro.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/text.h"
#include "profile/rows/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 5 };

/* The field as a name that a terminal may show; caller frees. */
static char *name_of(char *field)
{
	struct strbuf name = STRBUF_INIT;

	if (text_unescape_field(field) == 0 && strcmp(field, "-") != 0)
		text_visible(&name, field);
	return strbuf_take(&name);
}

static bool add_fact(struct answer *a, const char *name, const char *value)
{
	static const struct {
		const char *name;
		size_t offset;
	} facts[] = {
#define X(fact) { #fact, offsetof(struct answer, fact) },
		ANSWER_FACTS(X)
#undef X
	};
	uint64_t number;
	size_t i;

	if (parse_u64(value, 0, INT64_MAX, &number) < 0)
		return false;
	for (i = 0; i < ARRAY_SIZE(facts); i++)
		if (!strcmp(facts[i].name, name)) {
			memcpy((char *)a + facts[i].offset, &number, sizeof(number));
			return true;
		}
	return false;
}

static bool add_row(struct answer *a, char *const fields[FIELDS])
{
	struct answer_row row = { 0 };

	if (parse_u64(fields[1], 0, INT64_MAX, &row.self) < 0 ||
	    parse_u64(fields[2], 0, INT64_MAX, &row.total) < 0)
		return false;
	if (a->count == ANSWER_ROWS_MAX)
		return true;
	row.name = name_of(fields[3]);
	row.image = name_of(fields[4]);
	array_grow(&a->rows, a->count + 1, &a->room);
	a->rows[a->count++] = row;
	return true;
}

void answer_add_text(struct answer *a, const char *line, size_t size)
{
	if (a->text.length + size > ANSWER_TEXT_MAX)
		return;
	text_visible_line(&a->text, line, size);
	strbuf_adds(&a->text, "\n");
}

void answer_add_line(struct answer *a, char *line)
{
	static const char own[] = "optop: ";
	static const size_t length = sizeof(own) - 1;
	_cleanup_free_ char *copy = xstrdup(line);
	char *fields[FIELDS], *rest = copy;
	size_t count = 0;

	while (count < FIELDS && (fields[count] = strsep(&rest, "\t")))
		count++;
	if (count == 3 && !strcmp(fields[0], "fact") && add_fact(a, fields[1], fields[2]))
		return;
	if (count == 2 && !strcmp(fields[0], "event")) {
		free(a->event);
		a->event = name_of(fields[1]);
		return;
	}
	if (count == 5 && !strcmp(fields[0], "row") && add_row(a, fields))
		return;
	if (a->complaint.length > ANSWER_TEXT_MAX)
		return;
	if (a->complaint.length)
		strbuf_adds(&a->complaint, "; ");
	/* The process that answers says who it is, and so does who prints it. */
	text_visible(&a->complaint, line + (strncmp(line, own, length) ? 0 : length));
}

/* --- order --- */

static uint64_t key_of(const struct answer_row *row, enum answer_order order)
{
	return order == ANSWER_TOTAL ? row->total : row->self;
}

static int by_number(const void *a, const void *b, void *data)
{
	const struct answer_row *x = a, *y = b;
	enum answer_order order = *(const enum answer_order *)data;
	uint64_t m = key_of(x, order), n = key_of(y, order);
	int names = strcmp(x->name, y->name);

	if (order == ANSWER_NAME || m == n)
		return names ? names : strcmp(x->image, y->image);
	return m < n ? 1 : -1;
}

/* The place of the row among those that were shown before; SIZE_MAX: it is new. */
static size_t place_before(const struct answer *before, const struct answer_row *row)
{
	size_t i;

	for (i = 0; i < before->count; i++)
		if (!strcmp(before->rows[i].name, row->name) &&
		    !strcmp(before->rows[i].image, row->image))
			return i;
	return SIZE_MAX;
}

/* Puts rows back to where they were before, one after the other from the bottom to the top, where
 * chance alone may have changed their order. */
static void calm(struct answer *a, const struct answer *before)
{
	enum { VISIBLE_ROWS = 200 };
	size_t count = MIN(a->count, (size_t)VISIBLE_ROWS), places[VISIBLE_ROWS], i, j;

	for (i = 0; i < count; i++)
		places[i] = place_before(before, &a->rows[i]);
	for (i = 1; i < count; i++)
		for (j = i;
		     j > 0 && places[j] < places[j - 1] && a->rows[j].high >= a->rows[j - 1].low;
		     j--) {
			struct answer_row row = a->rows[j];
			size_t place = places[j];

			a->rows[j] = a->rows[j - 1];
			places[j] = places[j - 1];
			a->rows[j - 1] = row;
			places[j - 1] = place;
		}
}

/* How much the counts vary. Time off the CPU consists of waits, in the worst case of one. */
static struct statistics_noise noise_of(const struct answer *a)
{
	const double us2 = 1e6; /* in a millisecond squared */
	struct statistics_noise noise = { .weight = 1 };

	if (a->is_time)
		noise.squares = a->squares ? (double)a->squares * us2 : HUGE_VAL;
	else if (a->taken && a->samples > a->taken)
		noise.weight = (double)a->samples / (double)a->taken;
	return noise;
}

void answer_arrange(struct answer *a, const struct answer *before, enum answer_order order,
		    bool is_calm)
{
	const struct statistics_noise noise = noise_of(a);
	size_t i;

	for (i = 0; i < a->count; i++) {
		struct statistics_part part = { MIN(key_of(&a->rows[i], order), a->samples),
						a->samples, noise };
		struct statistics_interval share = statistics_share(part);

		a->rows[i].low = share.low * 100;
		a->rows[i].high = share.high * 100;
	}
	if (a->count)
		qsort_r(a->rows, a->count, sizeof(*a->rows), by_number, &order);
	/* An order of few samples is not worth keeping. */
	if (is_calm && order != ANSWER_NAME && before->samples >= a->samples / 2)
		calm(a, before);
	for (i = 1; i < a->count; i++)
		a->rows[i].is_near = order != ANSWER_NAME && a->rows[i].high >= a->rows[i - 1].low;
}

double answer_percent(const struct answer *a, uint64_t count)
{
	return a->samples ? (double)count / (double)a->samples * 100 : 0;
}

void answer_done(struct answer *a)
{
	size_t i;

	for (i = 0; i < a->count; i++) {
		free(a->rows[i].name);
		free(a->rows[i].image);
	}
	free(a->rows);
	free(a->event);
	strbuf_done(&a->text);
	strbuf_done(&a->complaint);
	*a = ANSWER_INIT;
}
