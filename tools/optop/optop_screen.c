/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/optop/optop_screen.h"

#include "base/macro.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "profile/print/report.h"
#include "tools/optop/live.h"

#include <curses.h>
#include <langinfo.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Lines above and below the rows. */
enum { HEAD_LINES = 3, FOOT_LINES = 2 };

/* Columns of a row: its numbers, the bar, and the image at the end. */
enum { NUMBERS = 14, BAR = 14, TOTAL = 9, IMAGE = 20 };

enum { COLOUR_GOOD = 1, COLOUR_WARN, COLOUR_BAD, COLOUR_DIM, COLOUR_BAR };

/* Shares of lost samples, and of those without a symbol, that are worth a colour. */
static const double lost_warn = 0.1, lost_bad = 2;

static bool is_utf8(void)
{
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

/* --- lines --- */

static void add_cpu_seconds(struct strbuf *out, double seconds)
{
	if (seconds >= 3600)
		strbuf_addf(out, "%.1f CPU-h", seconds / 3600);
	else if (seconds >= 0)
		strbuf_addf(out, "%.1f CPU-s", seconds);
}

/* "1712 samples", "1234.57 ms off the CPU" */
static void add_count(struct strbuf *out, const struct answer *a)
{
	char text[REPORT_COUNT_MAX];

	report_value(a->is_time, 2, a->samples, text);
	strbuf_addf(out, "%s %s%s", text, report_unit_of(a->is_time),
		    a->is_time ? " off the CPU" : "");
}

/* Losses are samples, which have no share in time off the CPU. */
static double lost_percent(const struct answer *a)
{
	return a->lost && !a->is_time ? (double)a->lost / (double)(a->samples + a->lost) * 100 : 0;
}

/* "10.2 s  19.2 CPU-s  0 lost, 29.7 % no symbol, 99.1 % whole, own 0.3 %" */
static void add_quality(struct strbuf *out, const struct live *l)
{
	const struct answer *a = &l->rows;
	_cleanup_free_ char *window = live_window_text(l);
	double seconds = live_cpu_seconds(l, a->samples);

	strbuf_addf(out, "%s  ", window);
	if (seconds >= 0)
		add_cpu_seconds(out, seconds);
	else
		add_count(out, a);
	if (a->samples > a->taken && a->taken && !a->is_time)
		strbuf_addf(out, " of %llu samples", (unsigned long long)a->taken);
	if (a->lost && !a->is_time)
		strbuf_addf(out, lost_percent(a) < 9.95 ? "  %.2g %% lost" : "  %.0f %% lost",
			    lost_percent(a));
	else
		strbuf_addf(out, "  %llu lost", (unsigned long long)a->lost);
	if (collect_view_has_functions(l->question.view))
		strbuf_addf(out, ", %.1f %% no symbol", answer_percent(a, a->unnamed));
	if (a->chains)
		strbuf_addf(out, ", %.1f %% whole", (double)a->complete / (double)a->chains * 100);
	if (l->own_percent >= 0)
		strbuf_addf(out, ", own %.1f %%", l->own_percent);
}

static void add_head(struct strbuf *out, const struct live *l, bool has_bar)
{
	strbuf_addf(out, "%7s %5s ", l->question.rows.order == ANSWER_SELF ? "SELF %v" : "SELF %",
		    "+-");
	if (has_bar)
		strbuf_fill(out, ' ', BAR + 1);
	if (l->rows.chains)
		strbuf_addf(out, "%8s ",
			    l->question.rows.order == ANSWER_TOTAL ? "TOTAL %v" : "TOTAL %");
	strbuf_adds(out, collect_view_heading(l->question.view));
}

/* A percentage with no more digits than it is known by. */
static void add_percent(struct strbuf *out, double percent, unsigned int width)
{
	char text[16];

	(void)snprintf(text, sizeof(text), percent >= 10 || percent == 0 ? "%.1f" : "%.2f",
		       percent);
	strbuf_addf(out, "%*s", (int)width, percent > 0 && percent < 0.005 ? "<0.01" : text);
}

static void add_numbers(struct strbuf *out, const struct live *l, const struct answer_row *row)
{
	add_percent(out, answer_percent(&l->rows, row->self), 6);
	strbuf_adds(out, row->is_near ? "\u00b7" : " ");
	add_percent(out, (row->high - row->low) / 2, 5);
	strbuf_adds(out, " ");
}

/* The share as a bar, the interval that it is in as a whisker at its end. @most fills it. */
static void add_bar(struct strbuf *out, const struct answer_row *row, double most)
{
	bool blocks = is_utf8();
	double scale = most > 0 ? BAR / most : 0;
	int low = (int)lround(row->low * scale), high = (int)lround(row->high * scale), i;

	for (i = 0; i < BAR; i++)
		strbuf_adds(out, i < low	 ? (blocks ? "\u2593" : "#")
				 : i < high - 1	 ? (blocks ? "\u2500" : "=")
				 : i == high - 1 ? (blocks ? "\u2524" : "|")
						 : " ");
	strbuf_adds(out, " ");
}

/* The name, and the image at the end of a line of @width. */
static void add_name(struct strbuf *out, const struct answer_row *row, unsigned int width)
{
	unsigned int used = text_width(strbuf_text(out));
	unsigned int left = width > used ? width - used : 0;
	unsigned int image = *row->image && left > 2 * IMAGE ? IMAGE : 0;
	size_t from = out->length;

	if (width && left < 3)
		return;
	strbuf_adds(out, row->name);
	if (!width) {
		strbuf_addf(out, "  %s", row->image);
		return;
	}
	text_cut(out, from, left - image - (image > 0));
	if (!image)
		return;
	used = text_width(strbuf_text(out) + from);
	strbuf_fill(out, ' ', left - image > used ? left - image - used : 0);
	from = out->length;
	strbuf_adds(out, row->image);
	text_cut(out, from, image);
}

/* @width 0: as long as it is. @most: the share that a bar is full at; 0: no bar. */
static void add_row(struct strbuf *out, const struct live *l, const struct answer_row *row,
		    double most, unsigned int width)
{
	add_numbers(out, l, row);
	if (most > 0)
		add_bar(out, row, most);
	if (l->rows.chains) {
		add_percent(out, answer_percent(&l->rows, row->total), 8);
		strbuf_adds(out, " ");
	}
	add_name(out, row, width);
}

void optop_screen_print(const struct live *l, size_t count, FILE *out)
{
	_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT;
	const struct answer_row *row;
	size_t i;

	add_quality(&line, l);
	strbuf_adds(&line, "\n");
	if (l->rows.count) {
		add_head(&line, l, false);
		strbuf_adds(&line, "\n");
	}
	for (i = 0; i < count && (row = live_row(l, i)); i++) {
		struct strbuf one = STRBUF_INIT;

		add_row(&one, l, row, 0, 0);
		strbuf_addf(&line, "%s\n", strbuf_text(&one));
		strbuf_done(&one);
	}
	(void)fputs(strbuf_text(&line), out);
}

/* --- the terminal --- */

static bool is_open;

void optop_screen_open(void)
{
	const char *no_colour = getenv("NO_COLOR");

	(void)initscr();
	(void)cbreak();
	(void)noecho();
	(void)keypad(stdscr, TRUE);
	(void)nodelay(stdscr, TRUE);
	(void)curs_set(0);
	(void)set_escdelay(25);
	(void)mousemask(BUTTON1_CLICKED | BUTTON1_PRESSED | BUTTON1_DOUBLE_CLICKED |
				BUTTON4_PRESSED | BUTTON5_PRESSED,
			NULL);
	is_open = true;
	if ((no_colour && *no_colour) || start_color() == ERR)
		return;
	(void)use_default_colors();
	(void)init_pair(COLOUR_GOOD, COLOR_GREEN, -1);
	(void)init_pair(COLOUR_WARN, COLOR_YELLOW, -1);
	(void)init_pair(COLOUR_BAD, COLOR_RED, -1);
	(void)init_pair(COLOUR_DIM, COLOR_BLUE, -1);
	(void)init_pair(COLOUR_BAR, COLOR_CYAN, -1);
}

void optop_screen_close(void)
{
	if (is_open)
		(void)endwin();
	is_open = false;
}

int optop_screen_key(void)
{
	return getch();
}

int optop_screen_mouse(int *ret_wheel)
{
	MEVENT event;

	*ret_wheel = 0;
	if (getmouse(&event) == ERR)
		return -1;
	if (event.bstate & BUTTON4_PRESSED)
		*ret_wheel = -1;
	if (event.bstate & BUTTON5_PRESSED)
		*ret_wheel = 1;
	return *ret_wheel || event.y < HEAD_LINES ? -1 : event.y - HEAD_LINES;
}

static unsigned int width_of_screen(void)
{
	return COLS > 0 ? (unsigned int)COLS : 80;
}

/* Draws @text from column @x on, cut to the line. */
static void put(int y, int x, const char *text, attr_t attributes)
{
	_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT;
	unsigned int width = width_of_screen() - (unsigned int)x;

	strbuf_adds(&line, text);
	if (text_width(text) > width)
		text_cut(&line, 0, MAX(width, 3U));
	(void)attron(attributes);
	(void)mvaddstr(y, x, strbuf_text(&line));
	(void)attroff(attributes);
}

static attr_t quality_colour(const struct answer *a)
{
	double lost = lost_percent(a);

	return (attr_t)COLOR_PAIR(lost > lost_bad    ? COLOUR_BAD
				  : lost > lost_warn ? COLOUR_WARN
						     : COLOUR_GOOD);
}

static void draw_quality(const struct live *l)
{
	_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT;

	put(0, 0, "optop ", A_BOLD);
	if (l->is_paused)
		strbuf_adds(&line, "[paused]  ");
	add_quality(&line, l);
	put(0, 6, strbuf_text(&line), quality_colour(&l->rows));
}

/* The CPUs that were busy, as a trend, and the names of the views. */
static void draw_trend(const struct live *l)
{
	static const char *const bars[] = { " ",      "\u2581", "\u2582", "\u2583", "\u2584",
					    "\u2585", "\u2586", "\u2587", "\u2588" };
	static const char ascii[] = " .,-:=+*#";
	_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT;
	long cpus = MAX(sysconf(_SC_NPROCESSORS_ONLN), 1L);
	enum { SHOWN = 8 };
	unsigned int view;
	size_t i;
	int x;

	for (i = LIVE_TREND - SHOWN; i < LIVE_TREND; i++) {
		double share = l->busy[i] / (double)cpus * 8;
		size_t height = l->busy[i] < 0 ? 0 : (size_t)MIN(lround(share), 8L);

		if (is_utf8())
			strbuf_adds(&line, bars[height]);
		else
			strbuf_addf(&line, "%c", ascii[height]);
	}
	if (l->busy[LIVE_TREND - 1] >= 0)
		strbuf_addf(&line, " %.1f/%ld CPU%s", l->busy[LIVE_TREND - 1], cpus,
			    text_plural(cpus));
	put(1, 0, strbuf_text(&line), (attr_t)COLOR_PAIR(COLOUR_BAR));
	x = (int)text_width(strbuf_text(&line)) + 2;
	for (view = 0; view < COLLECT_VIEW_COUNT_ && x < COLS; view++) {
		_cleanup_free_ char *name = xasprintf("%u %s", view + 1, collect_view_name(view));

		put(1, x, name, view == l->question.view ? A_REVERSE : A_NORMAL);
		x += (int)strlen(name) + 1;
	}
}

static double most_of(const struct live *l)
{
	double most = 0;
	size_t i;

	for (i = 0; i < l->rows.count; i++)
		most = MAX(most, l->rows.rows[i].high);
	return most;
}

static void draw_rows(struct live *l, const struct optop_screen_state *s)
{
	_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT;
	bool has_bar = width_of_screen() >= 70;
	double most = has_bar ? most_of(l) : 0;
	const struct answer_row *row;
	size_t i;

	add_head(&line, l, most > 0);
	put(2, 0, strbuf_text(&line), A_UNDERLINE);
	for (i = 0; i < s->rows && (row = live_row(l, l->first + i)); i++) {
		strbuf_clear(&line);
		add_row(&line, l, row, most, width_of_screen());
		put(HEAD_LINES + (int)i, 0, strbuf_text(&line),
		    l->first + i == l->selected ? A_REVERSE : A_NORMAL);
	}
	if (!l->rows.count)
		put(HEAD_LINES + 1, 2,
		    *l->trouble	   ? l->trouble
		    : l->is_asking ? "reading the first samples..."
				   : "no samples in this time",
		    A_NORMAL);
}

static size_t page_lines(const struct live *l)
{
	const char *at = strbuf_text(&l->page.answer.text);
	size_t count = 0;

	while ((at = strchr(at, '\n'))) {
		count++;
		at++;
	}
	return count;
}

static void draw_page(struct live *l, const struct optop_screen_state *s)
{
	const char *at = strbuf_text(&l->page.answer.text);
	size_t lines = page_lines(l), i;

	l->page.first = MIN(l->page.first, lines > s->rows ? lines - s->rows : 0);
	put(2, 0, l->page.title, A_UNDERLINE | A_BOLD);
	if (!l->page.is_complete)
		put(HEAD_LINES + 1, 2, "reading...", A_NORMAL);
	for (i = 0; i < l->page.first && at; i++)
		at = strchr(at, '\n') + 1;
	for (i = 0; i < s->rows && *at; i++) {
		size_t length = strcspn(at, "\n");
		_cleanup_free_ char *line = xstrndup(at, length);
		const char *shown = line;
		size_t left;

		for (left = l->page.left; left && *shown; left--)
			shown += MAX(text_utf8_length(shown), (size_t)1);
		put(HEAD_LINES + (int)i, 0, shown, A_NORMAL);
		at += length + (at[length] != '\0');
	}
}

static void draw_help(void)
{
	static const char *const lines[] = {
		"1 ... 6            functions, images, apps, cgroups, threads, time off the CPU",
		"< >                shorter, longer time",
		"up, down, page up, page down, home, end, mouse: choose a row; left, right: a page",
		"Enter, s           callers and callees of the function",
		"S, a               its source lines, its instructions",
		"Q                  quality: losses, where call chains end",
		"/                  only rows with this text; Esc shows all again",
		"o                  order: by self, total, name",
		"p, space           pause; again: go on",
		"?                  this help",
		"q                  quit; on a page: back to the rows",
		"",
		"SELF %  share of the samples in the function's own code",
		"TOTAL % share with the function anywhere in the call chain",
		"+-      half of the interval that the share is in, at 95 %",
		"\u00b7       the order of this row and the one above may be chance",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lines); i++)
		put(HEAD_LINES + 1 + (int)i, 2, lines[i], A_NORMAL);
}

/* What was searched for, what is wrong, or the command that prints the same. */
static void draw_foot(const struct live *l, const struct optop_screen_state *s)
{
	_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT;
	_cleanup_free_ char *command = live_command(l);
	size_t count = l->rows.matching;

	if (s->is_typing || l->search.length)
		strbuf_addf(&line, "/%s%s  %.1f %% in %zu row%s", strbuf_text(&l->search),
			    s->is_typing ? "_" : "",
			    answer_percent(&l->rows, l->rows.matching_self), count,
			    text_plural(count));
	else if (*l->trouble && l->rows.count)
		strbuf_adds(&line, l->trouble);
	else if (count > s->rows)
		strbuf_addf(&line, "%zu row%s, %zu more below", count, text_plural(count),
			    count > l->first + s->rows ? count - l->first - s->rows : 0);
	put(LINES - 2, 0, strbuf_text(&line), (attr_t)COLOR_PAIR(COLOUR_WARN));
	strbuf_clear(&line);
	strbuf_addf(&line, "same numbers: %s   ? help   q quit", command);
	put(LINES - 1, 0, strbuf_text(&line), A_DIM);
}

void optop_screen_draw(struct live *l, struct optop_screen_state *s)
{
	size_t count = l->rows.matching;

	s->rows = LINES > HEAD_LINES + FOOT_LINES ? (size_t)(LINES - HEAD_LINES - FOOT_LINES) : 1;
	l->selected = count ? MIN(l->selected, count - 1) : 0;
	if (l->selected < l->first)
		l->first = l->selected;
	if (l->selected >= l->first + s->rows)
		l->first = l->selected - s->rows + 1;
	(void)erase();
	draw_quality(l);
	draw_trend(l);
	if (s->has_help)
		draw_help();
	else if (l->page.kind != ASKING_ROWS)
		draw_page(l, s);
	else
		draw_rows(l, s);
	draw_foot(l, s);
	(void)refresh();
}
