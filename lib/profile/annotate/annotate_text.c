/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/annotate/annotate_text.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "profile/print/report_header.h"
#include "symbol/short_name.h"

#include <ctype.h>
#include <string.h>

enum { COUNT_WIDTH = 6, PERCENT_WIDTH = 7 };

/* Whether a class is of time off the CPU. */
static bool is_time(const struct annotate *a, size_t class)
{
	return report_is_time(&a->report, MIN(class, a->own_count - 1));
}

static void write_count(const struct annotate *a, size_t class, uint64_t count,
			char text[REPORT_COUNT_MAX])
{
	report_value(is_time(a, class), a->config->decimals, count, text);
}

/* Characters of the largest count that can occur, so that columns line up. */
static int count_width(const struct annotate *a)
{
	char text[REPORT_COUNT_MAX];
	int width = COUNT_WIDTH;
	size_t i;

	for (i = 0; i < a->totals.class_count; i++) {
		write_count(a, i, a->totals.totals[i], text);
		width = MAX(width, (int)strlen(text));
	}
	return width;
}

const char *annotate_unit(const struct annotate *a)
{
	size_t i = 0;

	while (i < a->own_count && is_time(a, i))
		i++;
	return i && i == a->own_count ? "milliseconds off the CPU" : "samples";
}

/* Adds the numbers of the first @n classes. */
static void add_numbers(const struct annotate *a, const uint64_t *counts, size_t n,
			struct strbuf *out)
{
	int width = count_width(a);
	size_t i;

	for (i = 0; i < n; i++) {
		char share[16], count[REPORT_COUNT_MAX];

		write_count(a, i, counts[i], count);
		report_percent(a->config->decimals, container_percent(&a->totals, counts[i], i),
			       share);
		strbuf_addf(out, "%s%*s %s", i ? "  " : "", width, count, share);
	}
}

void annotate_numbers(const struct annotate *a, const uint64_t *counts, struct strbuf *out)
{
	add_numbers(a, counts, a->own_count, out);
}

/* The colour of a line, by its greatest share. */
static const char *colour_of(const struct annotate *a, const uint64_t *counts)
{
	double most = 0;
	size_t i;

	for (i = 0; i < a->own_count; i++)
		most = MAX(most, container_percent(&a->totals, counts[i], i));
	return report_colour(most);
}

void annotate_prefix(const struct annotate *a, const uint64_t *counts, struct strbuf *out)
{
	size_t n = a->totals.class_count, i = 0;
	const char *colour;

	while (counts && i < n && !counts[i])
		i++;
	if (counts && i < n) {
		colour = a->config->colour ? colour_of(a, counts) : NULL;
		strbuf_adds(out, colour ?: "");
		add_numbers(a, counts, n, out);
		strbuf_adds(out, colour ? report_colour_end : "");
	} else {
		strbuf_addf(out, "%*s",
			    (int)n * (count_width(a) + 1 + PERCENT_WIDTH) + 2 * (int)(n - 1), "");
	}
	strbuf_adds(out, " :");
}

void annotate_symbol_total(const struct annotate *a, const char *name, bool is_inlined,
			   const uint64_t *counts, struct strbuf *out)
{
	enum { LEAST = 24 };
	unsigned int used =
		(unsigned int)a->totals.class_count * (COUNT_WIDTH + PERCENT_WIDTH) + 32;
	size_t from;

	strbuf_adds(out, " /* ");
	from = out->length;
	text_visible(out, name);
	if (a->config->width)
		short_name(out, from, MAX(a->config->width, used + LEAST) - used);
	strbuf_adds(out, is_inlined ? " inlined: " : " total: ");
	add_numbers(a, counts, a->totals.class_count, out);
	strbuf_adds(out, " */");
}

void annotate_comment(const char *text, struct strbuf *out)
{
	strbuf_adds(out, "/*\n");
	while (*text) {
		size_t n = strcspn(text, "\n");

		strbuf_addf(out, n ? " * %.*s\n" : " *\n", (int)n, text);
		text += n + (text[n] == '\n');
	}
	strbuf_adds(out, " */\n");
}

/* What report_header_text() prints. */
static char *header_lines(const struct report *r)
{
	char *text = NULL;
	size_t size;
	FILE *out = xmemstream(&text, &size);

	report_header_text(r, out);
	xmemstream_close(out, &text);
	return text;
}

void annotate_report_heading(const struct report *r, const char *command_line, const char *meaning,
			     struct strbuf *out)
{
	_cleanup_free_ char *header = header_lines(r);

	strbuf_addf(out, "Command line: %s\n\nInterpretation of command line:\n%s\n\n%s",
		    command_line, meaning, header);
}

void annotate_heading(const struct annotate *a, const struct losses *l, const char *command_line,
		      const char *meaning, struct strbuf *out)
{
	struct report report = a->report;
	struct container own = a->totals;

	own.class_count = a->own_count;
	report.container = &own;
	report.losses = l;
	annotate_report_heading(&report, command_line, meaning, out);
}

/* Adds how much of the rest is called by what is shown. */
static void add_called(const struct annotate *a, struct strbuf *text)
{
	const uint64_t counts[] = { annotate_called(a), 0 };

	if (!*counts)
		return;
	annotate_numbers(a, counts, text);
	strbuf_adds(text, " of these are called by selected symbols, and are in their totals\n");
}

void annotate_rest_text(const struct annotate *a, struct strbuf *out)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	size_t i;

	if (a->rest_count == 0)
		return;
	strbuf_adds(&text, annotate_unit(a));
	text.text[0] = (char)toupper((unsigned char)text.text[0]);
	strbuf_adds(&text, a->config->calls ? " that are not in the code above:\n\n"
					    : " that are not shown above:\n\n");
	for (i = 0; i < a->rest_count; i++) {
		const struct annotate_rest *rest = &a->rest[i];

		annotate_numbers(a, rest->counts, &text);
		if (rest->image == ANNOTATE_NONE)
			strbuf_addf(&text, " %s\n", rest->why);
		else
			strbuf_addf(&text, " %s: %s\n",
				    gather_image_name(a->report.gather, rest->image, true),
				    rest->why);
	}
	add_called(a, &text);
	annotate_comment(strbuf_text(&text), out);
}
