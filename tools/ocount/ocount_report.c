/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/ocount/ocount_report.h"

#include "base/json.h"
#include "base/mem.h"

#include <inttypes.h>
#include <string.h>

static const char *const axis_name[] = {
	[OCOUNT_TOGETHER] = "",
	[OCOUNT_BY_CPU] = "CPU",
	[OCOUNT_BY_THREAD] = "Thread",
};
static_assert(ARRAY_SIZE(axis_name) == OCOUNT_AXIS_COUNT_, "a name for each axis");

enum { NUMBER_ROOM = 32 };

void ocount_report_sum(const struct counting_value *values, size_t place_count, size_t event_count,
		       enum ocount_axis axis, struct counting_sum *sums)
{
	size_t place, event, row;

	for (place = 0; place < place_count; place++)
		for (event = 0; event < event_count; event++) {
			row = axis == OCOUNT_TOGETHER ? 0 : place;
			counting_add(&sums[row * event_count + event],
				     &values[place * event_count + event]);
		}
}

/* Returns whether the event never had a counter. */
static bool never_counted(const struct counting_sum *sum)
{
	return sum->enabled_ns && !sum->running_ns;
}

static const struct counting_sum *sum_of(const struct ocount_report *r, size_t row, size_t event)
{
	return &r->sums[row * r->event_count + event];
}

/* Whether a count is an estimate, as its event shared a counter. */
static bool is_scaled(const struct ocount_report *r)
{
	size_t i;

	for (i = 0; i < r->row_count * r->event_count; i++)
		if (!r->why_not[i % r->event_count] && counting_percent(&r->sums[i]) < 100)
			return true;
	return false;
}

/* "1,234,567" */
static const char *with_commas(uint64_t number, char text[NUMBER_ROOM])
{
	char digits[NUMBER_ROOM];
	size_t length = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, number), i, at = 0;

	for (i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			text[at++] = ',';
		text[at++] = digits[i];
	}
	text[at] = '\0';
	return text;
}

static const char *count_text(const struct counting_sum *sum, char text[NUMBER_ROOM])
{
	return never_counted(sum) ? "not counted" : with_commas(sum->count, text);
}

struct widths {
	int label, number, count;
};

static struct widths measure(const struct ocount_report *r)
{
	struct widths w = { (int)strlen("Event"), (int)strlen(axis_name[r->axis]),
			    (int)strlen("Count") };
	char text[NUMBER_ROOM];
	size_t row, event;

	for (event = 0; event < r->event_count; event++) {
		if (r->why_not[event])
			continue;
		w.label = MAX(w.label, (int)strlen(r->labels[event]));
		for (row = 0; row < r->row_count; row++)
			w.count =
				MAX(w.count, (int)strlen(count_text(sum_of(r, row, event), text)));
	}
	for (row = 0; r->axis != OCOUNT_TOGETHER && row < r->row_count; row++)
		w.number = MAX(w.number, snprintf(text, sizeof(text), "%d", r->numbers[row]));
	return w;
}

static void print_row(const struct ocount_report *r, const struct widths *w, size_t row,
		      size_t event, FILE *out)
{
	const struct counting_sum *sum = sum_of(r, row, event);
	char text[NUMBER_ROOM];

	(void)fprintf(out, "  %-*s", w->label, r->labels[event]);
	if (r->axis != OCOUNT_TOGETHER)
		(void)fprintf(out, "  %*d", w->number, r->numbers[row]);
	(void)fprintf(out, "  %*s  %14.2f\n", w->count, count_text(sum, text),
		      counting_percent(sum));
}

static void print_table(const struct ocount_report *r, FILE *out)
{
	struct widths w = measure(r);
	size_t row, event;

	if (r->at_ns)
		(void)fprintf(out, "\nCurrent time (seconds since epoch): %.1f\n",
			      (double)r->at_ns / 1e9);
	(void)fprintf(out, "\nEvents were actively counted for %.*f seconds.\n",
		      r->elapsed_ns < 1000000000 ? 3 : 1, (double)r->elapsed_ns / 1e9);
	(void)fprintf(out, "Event counts (%s) for %s:\n", is_scaled(r) ? "scaled" : "actual",
		      r->title);
	(void)fprintf(out, "  %-*s", w.label, "Event");
	if (r->axis != OCOUNT_TOGETHER)
		(void)fprintf(out, "  %*s", w.number, axis_name[r->axis]);
	(void)fprintf(out, "  %*s  %% time counted\n", w.count, "Count");
	for (event = 0; event < r->event_count; event++)
		for (row = 0; !r->why_not[event] && row < r->row_count; row++)
			print_row(r, &w, row, event, out);
	if (is_scaled(r))
		(void)fprintf(out, "Events that shared a counter were counted part of the time; "
				   "their counts are scaled up.\n");
	if (is_scaled(r) && r->watchdog)
		(void)fprintf(out, "The NMI watchdog uses a counter; sysctl kernel.nmi_watchdog=0 "
				   "frees it.\n");
}

/* Prints a label as a field, in quotes if it contains commas (RFC 4180). */
static void print_field(const char *label, FILE *out)
{
	(void)fprintf(out, strchr(label, ',') ? "\"%s\"," : "%s,", label);
}

static void print_brief(const struct ocount_report *r, FILE *out)
{
	size_t row, event;

	if (r->at_ns)
		(void)fprintf(out, "timestamp,%.1f\n", (double)r->at_ns / 1e9);
	for (event = 0; event < r->event_count; event++)
		for (row = 0; !r->why_not[event] && row < r->row_count; row++) {
			const struct counting_sum *sum = sum_of(r, row, event);

			if (r->axis != OCOUNT_TOGETHER)
				(void)fprintf(out, "%d,", r->numbers[row]);
			print_field(r->labels[event], out);
			(void)fprintf(out, "%" PRIu64 ",%.2f\n", sum->count, counting_percent(sum));
		}
}

static void json_count(struct json *j, const struct ocount_report *r, size_t row, size_t event)
{
	const struct counting_sum *sum = sum_of(r, row, event);

	json_open(j, NULL, '{');
	json_string(j, "event", r->labels[event]);
	if (r->axis == OCOUNT_BY_CPU)
		json_u64(j, "cpu", (uint64_t)r->numbers[row]);
	if (r->axis == OCOUNT_BY_THREAD)
		json_u64(j, "thread", (uint64_t)r->numbers[row]);
	if (never_counted(sum))
		json_string(j, "count", NULL);
	else
		json_u64(j, "count", sum->count);
	json_u64(j, "raw", sum->raw);
	json_u64(j, "enabled_ns", sum->enabled_ns);
	json_u64(j, "running_ns", sum->running_ns);
	json_close(j, '}');
}

static void print_json(const struct ocount_report *r, FILE *out)
{
	struct json j = JSON_INIT(out);
	size_t row, event;

	json_open(&j, NULL, '{');
	json_string(&j, "for", r->title);
	if (r->at_ns)
		json_u64(&j, "time_ns", r->at_ns);
	json_u64(&j, "elapsed_ns", r->elapsed_ns);
	json_open(&j, "counts", '[');
	for (event = 0; event < r->event_count; event++)
		for (row = 0; !r->why_not[event] && row < r->row_count; row++)
			json_count(&j, r, row, event);
	json_close(&j, ']');
	json_open(&j, "not_counted", '[');
	for (event = 0; event < r->event_count; event++) {
		if (!r->why_not[event])
			continue;
		json_open(&j, NULL, '{');
		json_string(&j, "event", r->labels[event]);
		json_string(&j, "why", r->why_not[event]);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_close(&j, '}');
	(void)fputc('\n', out);
}

void ocount_report_print(const struct ocount_report *report, enum ocount_format format, FILE *out)
{
	switch (format) {
	case OCOUNT_TABLE:
		print_table(report, out);
		return;
	case OCOUNT_BRIEF:
		print_brief(report, out);
		return;
	case OCOUNT_JSON:
		print_json(report, out);
		return;
	case OCOUNT_FORMAT_COUNT_:
		return;
	}
}
