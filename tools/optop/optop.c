/* SPDX-License-Identifier: GPL-2.0-or-later */
/* optop: what the machine is doing now, by function, in a terminal. */
#include "tools/optop/feed.h"
#include "tools/optop/live.h"
#include "tools/optop/optop_screen.h"
#include "tools/common/confine.h"
#include "tools/common/tool.h"

#include "base/clock.h"
#include "base/macro.h"
#include "history/window.h"

#include <curses.h>
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEFAULT_DELAY_MS = 3000, DEFAULT_WINDOW_MS = 10000, DEFAULT_HZ = 97, BATCH_ROWS = 20 };
/* Bytes of a text to search for. */
enum { SEARCH_MAX = 200 };

enum { KEY_ESCAPE = 27, KEY_DELETE_CHARACTER = 127, KEY_CONTROL_L = 12 };

static struct {
	bool is_batch;
	uint64_t iterations, rate, top;
	int64_t delay_ms, window_ms;
	int view;
	const char *session_dir;
} options = { .rate = DEFAULT_HZ,
	      .top = BATCH_ROWS,
	      .delay_ms = DEFAULT_DELAY_MS,
	      .window_ms = DEFAULT_WINDOW_MS };

static volatile sig_atomic_t is_ending;

static int set_view(const char *arg, void *target, struct error *err)
{
	int view = collect_view_parse(arg, err);

	*(int *)target = MAX(view, 0);
	return MIN(view, 0);
}

static int set_window(const char *arg, void *target, struct error *err)
{
	int64_t *ms = target;

	if (!strcmp(arg, "all"))
		*ms = 0;
	else if (window_duration(arg, ms) < 0 || *ms < 1000)
		return error_set(err, -EINVAL,
				 "--window: '%s' is not a length of time of a second or more, such "
				 "as 10s, 5m, 1h, or all",
				 arg);
	return 0;
}

static int set_delay(const char *arg, void *target, struct error *err)
{
	char *end;
	double seconds = strtod(arg, &end);

	if (end == arg || *end || !(seconds >= 0.5 && seconds <= 3600))
		return error_set(err, -EINVAL, "--delay: '%s' is not from 0.5 to 3600 seconds",
				 arg);
	*(int64_t *)target = (int64_t)(seconds * 1000);
	return 0;
}

static const struct opt opts[] = {
	{ 'w', "window", OPT_CALL, &options.window_ms, "TIME",
	  "show the last TIME: 5s, 10s (default), 5m, 1h; all", set_window },
	{ 0, "view", OPT_CALL, &options.view, "VIEW",
	  "functions (default), images, apps, cgroups, threads or off-cpu", set_view },
	{ 'd', "delay", OPT_CALL, &options.delay_ms, "SECONDS", "time between two updates (3)",
	  set_delay },
	{ 'b', "batch", OPT_FLAG, &options.is_batch, NULL,
	  "print text instead of using the terminal" },
	{ 'n', "iterations", OPT_U64, &options.iterations, "N",
	  "end after N updates (default: go on; with --batch 1)" },
	{ 0, "top", OPT_U64, &options.top, "N", "with --batch: print N rows (20)" },
	{ 0, "rate", OPT_U64, &options.rate, "HZ",
	  "samples per second per CPU, if no daemon takes them (97)" },
	{ 0, "session-dir", OPT_PATH, &options.session_dir, "DIR",
	  "the session directory of the daemon (/var/lib/oprofile)" },
	CONFINE_OPTION,
	OPT_END
};

static const struct opt_cmdline cmdline = {
	.tool = "optop",
	.usage = "[OPTION]... [SPECIFICATION]...",
	.summary = "Show what the machine is doing now: functions, with callers and sources.",
	.epilog = "optop shows what the daemon samples; without a daemon it samples by itself, as "
		  "root. A specification narrows what is shown, as in opreport(1), such as "
		  "image:nginx. Press ? for help on keys.",
	.opts = opts,
};

/* --- keys --- */

static void step(struct live *l, const struct optop_screen_state *s, int key)
{
	bool is_page = l->page.kind != ASKING_ROWS;
	size_t *at = is_page ? &l->page.first : &l->selected;
	size_t by = key == KEY_PPAGE || key == KEY_NPAGE ? MAX(s->rows, (size_t)1) : 1;

	if (key == KEY_HOME)
		*at = 0;
	else if (key == KEY_END)
		*at = ANSWER_TEXT_MAX;
	else if (key == KEY_DOWN || key == KEY_NPAGE)
		*at += by;
	else
		*at -= MIN(*at, by);
}

static void shift(struct live *l, int key)
{
	enum { COLUMNS = 20, MOST = 1 << 16 };

	if (key == KEY_RIGHT && l->page.left < MOST)
		l->page.left += COLUMNS;
	else if (key == KEY_LEFT)
		l->page.left -= MIN(l->page.left, (size_t)COLUMNS);
}

static void click(struct live *l, const struct optop_screen_state *s)
{
	int wheel, row = optop_screen_mouse(&wheel);

	if (wheel)
		step(l, s, wheel < 0 ? KEY_UP : KEY_DOWN);
	else if (row >= 0 && l->page.kind == ASKING_ROWS)
		l->selected = l->first + (size_t)row;
}

static void search_nothing(struct live *l)
{
	strbuf_clear(&l->search);
	live_choose_again(l);
}

static void type(struct live *l, struct optop_screen_state *s, int key)
{
	char c = (char)key;

	if (key == KEY_ESCAPE)
		search_nothing(l);
	if (key == KEY_ESCAPE || key == '\n' || key == KEY_ENTER) {
		s->is_typing = false;
	} else if (key == KEY_BACKSPACE || key == KEY_DELETE_CHARACTER || key == '\b') {
		if (l->search.length)
			strbuf_cut(&l->search, l->search.length - 1);
	} else if (key >= ' ' && key < 256 && l->search.length < SEARCH_MAX) {
		strbuf_add(&l->search, &c, 1);
	}
	l->selected = 0;
	live_choose_again(l);
}

static void change_view(struct live *l, enum collect_view view)
{
	live_close_page(l);
	if (view == l->question.view)
		return;
	l->question.view = view;
	l->selected = 0;
	live_ask_again(l);
}

static void change_order(struct live *l)
{
	enum answer_order *order = &l->question.rows.order;

	*order = *order == ANSWER_NAME ? ANSWER_SELF : *order + 1;
	live_choose_again(l);
}

static void pause_or_go_on(struct live *l)
{
	l->is_paused = !l->is_paused;
	if (!l->is_paused)
		live_ask_again(l);
}

/* What the user's key does; false: quit. */
static bool press(struct live *l, struct optop_screen_state *s, int key)
{
	static const struct {
		int key;
		enum asking_page page;
	} pages[] = { { '\n', ASKING_CALLS }, { KEY_ENTER, ASKING_CALLS }, { 's', ASKING_CALLS },
		      { 'S', ASKING_SOURCE }, { 'a', ASKING_ASSEMBLY },	   { 'Q', ASKING_HEADER } };
	bool is_top = l->page.kind == ASKING_ROWS && !s->has_help;
	size_t i;

	s->has_help = key == '?' && !s->has_help;
	for (i = 0; i < ARRAY_SIZE(pages); i++)
		if (key == pages[i].key)
			live_open_page(l, pages[i].page);
	if (key >= '1' && key < '1' + COLLECT_VIEW_COUNT_)
		change_view(l, (enum collect_view)(key - '1'));
	else if (key == '<' || key == '>')
		live_change_window(l, key == '<' ? -1 : 1);
	else if (key == 'p' || key == ' ')
		pause_or_go_on(l);
	else if (key == '/')
		s->is_typing = is_top;
	else if (key == 'o') {
		change_order(l);
	} else if (key == KEY_MOUSE)
		click(l, s);
	else if (key == KEY_LEFT || key == KEY_RIGHT)
		shift(l, key);
	else if (key == KEY_UP || key == KEY_DOWN || key == KEY_PPAGE || key == KEY_NPAGE ||
		 key == KEY_HOME || key == KEY_END)
		step(l, s, key);
	else if (key == KEY_ESCAPE && is_top)
		search_nothing(l);
	else if (key == 'q' || key == KEY_ESCAPE)
		live_close_page(l);
	return key != 'q' || !is_top;
}

static bool take_keys(struct live *l, struct optop_screen_state *s)
{
	bool goes_on = true;
	int key;

	while (goes_on && (key = optop_screen_key()) != ERR) {
		if (s->is_typing)
			type(l, s, key);
		else
			goes_on = press(l, s, key);
	}
	return goes_on;
}

/* --- loops --- */

static void end(int signal _unused_)
{
	is_ending = 1;
}

static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = end };

	(void)sigaction(SIGINT, &action, NULL);
	(void)sigaction(SIGTERM, &action, NULL);
	(void)sigaction(SIGHUP, &action, NULL);
}

/* Waits for what is due, an answer or a key; with @keys, on the terminal. */
static void await(const struct live *l, bool keys)
{
	struct pollfd fds[LIVE_FDS + 1];
	size_t count = live_poll(l, fds);

	if (keys)
		fds[count++] = (struct pollfd){ .fd = STDIN_FILENO, .events = POLLIN };
	(void)poll(fds, count, live_timeout(l));
}

static void run_screen(struct live *l)
{
	struct optop_screen_state state = { 0 };
	uint64_t shown = 0;

	optop_screen_open();
	optop_screen_draw(l, &state);
	while (!is_ending && take_keys(l, &state)) {
		if (live_go_on(l) && options.iterations && ++shown >= options.iterations)
			break;
		optop_screen_draw(l, &state);
		await(l, true);
	}
	optop_screen_close();
}

static int run_batch(struct live *l, struct error *err)
{
	uint64_t left = MAX(options.iterations, UINT64_C(1));

	while (left && !is_ending) {
		l->is_changed = true; /* each answer on its own, in order */
		if (!live_go_on(l)) {
			await(l, false);
			continue;
		}
		if (*l->trouble && !l->rows.count && !l->rows.is_empty)
			return error_set(err, -ENODATA, "%s", l->trouble);
		if (*l->trouble && l->rows.is_empty)
			tool_warn("%s", l->trouble);
		optop_screen_print(l, options.top, stdout);
		if (--left)
			(void)putchar('\n');
		if (tool_flush(stdout, NULL, err) < 0)
			return err->code;
	}
	return 0;
}

/* Without an earlier slice there is nothing to see: has the first samples taken. */
static void wait_for_samples(const struct feed *feed)
{
	static const unsigned int first_ms = 1500;

	if (feed_is_own(feed))
		(void)usleep(first_ms * 1000);
}

static bool selects_time(char *const *words)
{
	for (; *words; words++)
		if (!strncmp(*words, "time:", strlen("time:")))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	_cleanup_(feed_closep) struct feed *feed = NULL;
	struct error err = ERROR_INIT;
	struct question question;
	struct live live;
	int operands, r;

	(void)setlocale(LC_CTYPE, "");
	operands = tool_options(&cmdline, argc, argv);
	if (selects_time(argv + operands))
		return tool_usage("time: is not allowed; select the time with --window");
	if (!options.is_batch && !tool_can_redraw(STDOUT_FILENO))
		return tool_usage(
			"standard output is not a terminal that can be redrawn; use --batch");
	r = feed_open(options.session_dir, options.rate, &feed, &err);
	if (r < 0)
		return tool_fail(&err);
	if (options.session_dir && feed_is_own(feed))
		tool_warn("no daemon samples into %s; these are samples of this machine that optop "
			  "takes by itself",
			  options.session_dir);
	catch_signals();
	wait_for_samples(feed);
	question = (struct question){ .session_dir = feed_session_dir(feed),
				      .view = (enum collect_view)options.view,
				      .window_ms = options.window_ms,
				      .words = argv + operands,
				      .count = (size_t)(argc - operands) };
	live_init(&live, feed, &question, options.delay_ms);
	live.least_rows =
		options.is_batch ? (size_t)MIN(options.top, (uint64_t)ANSWER_ROWS_MAX) : 0;
	if (options.is_batch)
		r = run_batch(&live, &err);
	else
		run_screen(&live);
	live_done(&live);
	return r < 0 ? tool_fail(&err) : 0;
}
