/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/print/report.h"

#include "base/strbuf.h"
#include "base/text.h"
#include "file/path.h"
#include "symbol/short_name.h"

#include <inttypes.h>
#include <string.h>

const char *report_image(const struct report *r, uint32_t image)
{
	return gather_image_name(r->gather, image, r->view->long_names);
}

bool report_has_apps(const struct report *r)
{
	size_t i;

	for (i = 1; i < r->container->count; i++)
		if (r->container->rows[i].app != r->container->rows[0].app)
			return true;
	return false;
}

void report_add_difference(struct strbuf *out, const struct report *r, const struct container *c,
			   const struct row *row, size_t class)
{
	enum diff_verdict verdict;
	double percent;

	switch (diff_of_row(c, row, class, r->view->compare_by, &percent, &verdict)) {
	case DIFF_CHANGED:
		strbuf_addf(out, "%+.4f", percent);
		break;
	case DIFF_NEW:
		strbuf_adds(out, "+++");
		break;
	case DIFF_GONE:
	case DIFF_CHANGE_COUNT_:
		strbuf_adds(out, "---");
		break;
	}
	strbuf_adds(out, diff_verdict_mark(verdict));
}

double report_share_before(const struct container *c, const struct row *row, size_t class)
{
	return container_share(row->before ? row->before[class] : 0, c->before_totals[class]);
}

double report_points(const struct container *c, const struct row *row, size_t class)
{
	uint64_t now = row->is_gone ? 0 : row->counts[class];

	return container_share(now, c->totals[class]) - report_share_before(c, row, class);
}

void report_add_points(struct strbuf *out, const struct report *r, double points)
{
	const unsigned int decimals = r->view->decimals;

	strbuf_addf(out, "%+.*f", (int)(decimals ?: REPORT_DECIMALS_MAX), points);
}

void report_add_name(struct strbuf *out, const struct row *row, unsigned int room)
{
	static const char mark[] = " (inlined)";
	unsigned int least = 8, length = row->is_inlined ? sizeof(mark) - 1 : 0;
	size_t before = out->length;

	text_visible(out, row->text);
	if (room)
		short_name(out, before, room > length + least ? room - length : least);
	if (row->is_inlined)
		strbuf_adds(out, mark);
}

/* "%7.4f" for values below 100, without printf's arithmetic on long numbers, because every row has
 * it. */
static void write_percent(double percent, char text[16])
{
	double exact = percent * 1e4;
	unsigned int scaled = (unsigned int)exact;
	int i;

	exact -= scaled;
	scaled += exact > 0.5 || (exact == 0.5 && scaled % 2);
	for (i = 6; i > 2; i--, scaled /= 10)
		text[i] = (char)('0' + scaled % 10);
	text[2] = '.';
	text[1] = (char)('0' + scaled % 10);
	text[0] = (char)(scaled >= 10 ? '0' + scaled / 10 : ' ');
	text[7] = '\0';
}

/* "%7.1e" for values below 0.001; false if rounding is too close to decide. */
static bool write_small_percent(double percent, char text[16])
{
	int exponent = 3, tenths;
	double scaled = percent * 1e4, rest;

	while (scaled < 10 && exponent < 99) {
		scaled *= 10;
		exponent++;
	}
	tenths = (int)scaled;
	rest = scaled - tenths;
	if (exponent > 12 || (rest > 0.5 - 1e-6 && rest < 0.5 + 1e-6) || rest < 1e-6 ||
	    rest > 1 - 1e-6)
		return false;
	tenths += rest > 0.5;
	if (tenths == 100) {
		tenths = 10;
		exponent--;
	}
	(void)memcpy(text, "0.0e-00", 8);
	text[0] = (char)('0' + tenths / 10);
	text[2] = (char)('0' + tenths % 10);
	text[5] = (char)('0' + exponent / 10);
	text[6] = (char)('0' + exponent % 10);
	return true;
}

/* With few decimals; what is not 0 does not look like it. */
static void write_rounded_percent(unsigned int decimals, double percent, char text[16])
{
	static const double least[REPORT_DECIMALS_MAX] = { 1, 0.1, 0.01, 0.001 };
	char rounded[16];

	(void)snprintf(rounded, sizeof(rounded), "%s%.*f",
		       percent > 0 && percent < least[decimals] / 2 ? "<" : "", (int)decimals,
		       percent > 0 ? MAX(percent, least[decimals]) : 0);
	(void)snprintf(text, 16, "%7s", rounded);
}

void report_percent(unsigned int decimals, double percent, char text[16])
{
	if (decimals && decimals < REPORT_DECIMALS_MAX)
		write_rounded_percent(decimals, percent, text);
	else if (percent == 0)
		(void)snprintf(text, 16, "%7d", 0);
	else if (percent < 0.001 && write_small_percent(percent, text))
		return;
	else if (percent < 0.001)
		(void)snprintf(text, 16, "%7.1e", percent);
	else if (percent >= 99.99995)
		(void)snprintf(text, 16, "%7.3f", percent);
	else
		write_percent(percent, text);
}

void report_note_percent(const struct report_view *view, double percent, char text[16])
{
	char padded[16];

	if (!view->decimals) {
		(void)snprintf(text, 16, "%.4f", percent);
		return;
	}
	report_percent(view->decimals, percent, padded);
	(void)strcpy(text, padded + strspn(padded, " "));
}

const char *report_all_hint(const struct report_view *view)
{
	return view->top_is_default ? "; --all shows them)\n" : ")\n";
}

struct container_measured report_measured(const struct report *r, const struct container *c)
{
	return container_measured(c, !r->before || !r->view || r->view->compare_by == DIFF_SHARE);
}

bool report_is_time(const struct report *r, size_t class)
{
	return class < r->classes->count && sname_event_is_time(r->classes->classes[class].event);
}

const char *report_unit(const struct report *r, size_t class)
{
	return report_unit_of(report_is_time(r, class));
}

const char *report_unit_of(bool is_time)
{
	return is_time ? "ms" : "samples";
}

void report_value(bool is_time, unsigned int decimals, uint64_t count, char text[REPORT_COUNT_MAX])
{
	if (!is_time)
		(void)snprintf(text, REPORT_COUNT_MAX, "%" PRIu64, count);
	else if (decimals)
		(void)snprintf(text, REPORT_COUNT_MAX, "%.*f", (int)MIN(decimals, 3u),
			       (double)count / 1000);
	else
		(void)snprintf(text, REPORT_COUNT_MAX, "%" PRIu64 ".%03u", count / 1000,
			       (unsigned int)(count % 1000));
}

void report_count(const struct report *r, size_t class, uint64_t count, char text[REPORT_COUNT_MAX])
{
	report_value(report_is_time(r, class), r->view->decimals, count, text);
}

void report_count_noun(const struct report *r, size_t class, uint64_t count,
		       char text[REPORT_COUNT_MAX + 8])
{
	char number[REPORT_COUNT_MAX];

	report_count(r, class, count, number);
	(void)snprintf(text, REPORT_COUNT_MAX + 8, "%s %.*s", number,
		       report_is_time(r, class) || count != 1 ? 7 : 6, report_unit(r, class));
}

const char report_colour_end[] = "\033[0m";

const char *report_colour(double percent)
{
	static const char red[] = "\033[31m", green[] = "\033[32m";
	enum { HOT = 5, WARM = 1 };

	return percent >= HOT ? red : percent >= WARM ? green : NULL;
}

void report_class_name(const struct report *r, size_t class, size_t width, char *text)
{
	static const char cgroup[] = "cgroup:";
	const struct class *c = &r->classes->classes[class];
	_cleanup_(strbuf_done) struct strbuf whole = STRBUF_INIT;
	const char *name = c->name, *tail = c->comm ? NULL : strrchr(name, ':');
	size_t keep = tail ? strlen(tail) : 0;

	if (c->comm && (r->classes->axes & (1U << AXIS_TGID | 1U << AXIS_TID))) {
		strbuf_addf(&whole, "%s ", name);
		text_visible(&whole, c->comm);
		name = strbuf_text(&whole);
	}
	if (strlen(name) > width && !strncmp(name, cgroup, strlen(cgroup)))
		name += strlen(cgroup);
	if (strlen(name) <= width) {
		(void)strcpy(text, name);
		return;
	}
	if (keep + 3 >= width)
		keep = 0;
	(void)snprintf(text, width + 1, "%.*s...%s", (int)(width - 3 - keep), name,
		       keep ? tail : "");
}
