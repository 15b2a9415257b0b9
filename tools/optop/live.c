/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/optop/live.h"

#include "base/clock.h"
#include "base/macro.h"
#include "base/mem.h"
#include "tools/optop/feed.h"
#include "tools/optop/worker.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Rows are sorted whole after so many answers; until then they move only if it is no chance. */
enum { CALM_ANSWERS = 3 };

/* So many rows more than those above the chosen one are asked for at once. */
enum { ROWS_AHEAD = 200 };

/* Percent of a CPU that reading all of a window again and again may take. */
static const int64_t COST_PERCENT = 1;

/* An answer that takes longer is given up. */
enum { ANSWER_TIMEOUT_MS = 20000 };

static const int64_t windows_ms[] = { 5000,   10000,  30000,   60000,
				      300000, 600000, 3600000, 0 /* all there is */ };

void live_init(struct live *l, const struct feed *feed, const struct question *question,
	       int64_t delay_ms)
{
	size_t i;

	*l = (struct live){ .feed = feed,
			    .question = *question,
			    .delay_ms = delay_ms,
			    .rows = ANSWER_INIT,
			    .page = { .answer = ANSWER_INIT },
			    .own_percent = -1,
			    .is_changed = true };
	for (i = 0; i < LIVE_TREND; i++)
		l->busy[i] = -1;
}

void live_done(struct live *l)
{
	worker_close(l->worker);
	l->worker = NULL;
	live_close_page(l);
	answer_done(&l->rows);
	strbuf_done(&l->search);
}

/* --- asking --- */

size_t live_poll(const struct live *l, struct pollfd fds[LIVE_FDS])
{
	size_t count = 0;

	if (l->is_asking)
		fds[count++] = (struct pollfd){ .fd = worker_fd(l->worker), .events = POLLIN };
	if (l->asking_page)
		fds[count++] = (struct pollfd){ .fd = asking_fd(l->asking_page), .events = POLLIN };
	return count;
}

/* When to ask again: later than the user wants, if all of the time that is shown has to be read for
 * each answer. */
static int64_t due_ms(const struct live *l)
{
	int64_t rest_ms = l->rows.whole ? l->answer_ms * 100 / COST_PERCENT : 0;

	return l->asked_ms + MAX(l->delay_ms, rest_ms);
}

int live_timeout(const struct live *l)
{
	int64_t due = l->is_asking ? l->waits_ms + ANSWER_TIMEOUT_MS : due_ms(l);
	int64_t left = due - clock_now_ms();

	if (!l->is_asking && l->is_paused)
		return -1;
	return left < 0 ? 0 : (int)MIN(left, (int64_t)ANSWER_TIMEOUT_MS);
}

void live_ask_again(struct live *l)
{
	l->is_asking = false;
	l->is_changed = true;
	l->asked_ms = 0;
}

void live_choose_again(struct live *l)
{
	l->is_choosing = true;
	l->is_changed = true;
}

static void complain(struct live *l, const char *text)
{
	(void)snprintf(l->trouble, sizeof(l->trouble), "%s", text);
}

static void end_worker(struct live *l)
{
	worker_close(l->worker);
	l->worker = NULL;
	l->reader_seconds = 0;
	l->used_seconds = -1;
}

/* The rows that are wanted: at least those above and below the chosen one. */
static size_t wanted_rows(const struct live *l)
{
	size_t selected = MIN(l->selected, (size_t)ANSWER_ROWS_MAX);

	return (selected / ROWS_AHEAD + 2) * ROWS_AHEAD;
}

static void begin(struct live *l, int64_t now_ms)
{
	enum collect_kind kind = l->is_paused ? COLLECT_READ : COLLECT_RECORD;
	struct error err = ERROR_INIT;
	int r = 0;

	/* A process that has read nothing for the question has no other rows. */
	l->has_chosen = l->is_choosing && l->asked_ms && l->worker;
	l->is_choosing = false;
	l->waits_ms = now_ms;
	if (l->has_chosen)
		kind = COLLECT_ROWS;
	else
		l->asked_ms = now_ms;
	l->question.rows.search = l->search.length ? strbuf_text(&l->search) : NULL;
	l->question.rows.limit = MAX(wanted_rows(l), l->least_rows);
	if (l->worker && worker_has_ended(l->worker))
		end_worker(l);
	if (!l->worker)
		r = worker_open(l->feed, &l->question, &l->worker, &err);
	if (r == 0)
		r = worker_ask(l->worker, &l->question, kind, &err);
	if (r < 0)
		complain(l, err.text);
	l->is_asking = r == 0;
}

static double seconds_of(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

/* Finds what this tool, the processes that it asked, and its own sampling cost since the last
 * answer, in percent of a CPU. */
static void note_cost(struct live *l)
{
	static const int whose[] = { RUSAGE_SELF, RUSAGE_CHILDREN };
	double reader = (double)l->rows.spent_us / 1e6, before = l->used_seconds;
	double used = feed_own_seconds(l->feed) + reader;
	int64_t now_ms = clock_now_ms(), since_ms = l->cost_ms;
	struct rusage usage;
	size_t i;

	used += l->worker ? worker_seconds(l->worker) : 0;
	for (i = 0; i < ARRAY_SIZE(whose); i++)
		if (getrusage(whose[i], &usage) == 0)
			used += seconds_of(&usage.ru_utime) + seconds_of(&usage.ru_stime);
	l->answer_ms = (int64_t)((reader - l->reader_seconds) * 1000);
	l->reader_seconds = reader;
	l->used_seconds = used;
	l->cost_ms = now_ms;
	/* What the start cost is not what it costs to go on. */
	l->own_percent = since_ms && now_ms > since_ms && before >= 0 && used >= before
				 ? (used - before) / (double)(now_ms - since_ms) * 1e5
				 : -1;
}

static void note_busy(struct live *l)
{
	double seconds = live_cpu_seconds(l, l->rows.samples);
	double there = (double)l->rows.cpu_ms / 1000;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (l->rows.is_time)
		return;
	memmove(l->busy, l->busy + 1, sizeof(l->busy) - sizeof(l->busy[0]));
	l->busy[LIVE_TREND - 1] =
		seconds < 0 || there <= 0 ? -1 : seconds / there * (double)MAX(cpus, 1L);
}

static void take_rows(struct live *l)
{
	struct answer next = ANSWER_INIT, before = l->rows;
	bool is_calm = !l->is_changed && (l->has_chosen || l->calm < CALM_ANSWERS);

	worker_take(l->worker, &next);
	l->is_asking = false;
	complain(l, strbuf_text(&next.complaint));
	/* An answer that failed leaves what is shown, which is better than nothing. */
	if (!next.count && *l->trouble && !next.is_empty && !l->is_changed) {
		answer_done(&next);
		return;
	}
	answer_arrange(&next, &before, l->question.rows.order, is_calm);
	l->calm = is_calm ? l->calm + !l->has_chosen : 0;
	answer_done(&before);
	l->rows = next;
	l->question.event = next.event;
	l->is_changed = false;
	if (l->has_chosen)
		return;
	note_busy(l);
	note_cost(l);
}

static void take_page(struct live *l)
{
	asking_end(l->asking_page, &l->page.answer);
	l->asking_page = NULL;
	l->page.is_complete = true;
}

bool live_go_on(struct live *l)
{
	int64_t now_ms = clock_now_ms();
	bool is_new = false;

	if (l->is_asking && worker_go_on(l->worker)) {
		take_rows(l);
		is_new = true;
	} else if (l->is_asking && now_ms - l->waits_ms > ANSWER_TIMEOUT_MS) {
		end_worker(l);
		l->is_asking = false;
		complain(l, "reading the profile takes too long");
		is_new = true;
	}
	if (l->asking_page && asking_go_on(l->asking_page)) {
		take_page(l);
		is_new = true;
	}
	if (wanted_rows(l) > l->question.rows.limit && l->rows.count < l->rows.matching)
		l->is_choosing = true;
	if (!l->is_asking &&
	    (l->is_choosing || !l->asked_ms || (!l->is_paused && now_ms >= due_ms(l))))
		begin(l, now_ms);
	return is_new;
}

/* --- what the user wants --- */

void live_change_window(struct live *l, int step)
{
	size_t i = 0;

	while (i + 1 < ARRAY_SIZE(windows_ms) && windows_ms[i] < l->question.window_ms)
		i++;
	if (!l->question.window_ms)
		i = ARRAY_SIZE(windows_ms) - 1;
	if ((step < 0 && i == 0) || (step > 0 && i + 1 == ARRAY_SIZE(windows_ms)))
		return;
	l->question.window_ms = windows_ms[step < 0 ? i - 1 : i + 1];
	live_ask_again(l);
}

char *live_window_text(const struct live *l)
{
	int64_t s = l->question.window_ms / 1000;

	if (!s)
		return xstrdup("all");
	/* Slices do not begin when the window does. */
	if (l->rows.end_ms > l->rows.begin_ms && s <= 60)
		return xasprintf("%.1f s", (double)(l->rows.end_ms - l->rows.begin_ms) / 1000);
	if (s % 3600 == 0)
		return xasprintf("%" PRId64 " h", s / 3600);
	return s % 60 == 0 ? xasprintf("%" PRId64 " min", s / 60) : xasprintf("%" PRId64 " s", s);
}

void live_open_page(struct live *l, enum asking_page kind)
{
	const struct answer_row *row = live_row(l, l->selected);
	bool needs_row = kind != ASKING_HEADER;
	struct asking_what what = { .question = l->question,
				    .page = kind,
				    .name = row ? row->name : NULL };
	struct error err = ERROR_INIT;

	if (needs_row && (!row || !collect_view_has_functions(l->question.view)))
		return;
	live_close_page(l);
	if (asking_begin(&what, &l->asking_page, &err) < 0) {
		complain(l, err.text);
		return;
	}
	l->page.kind = kind;
	l->page.title = needs_row ? xasprintf("%s  %s", row->name, row->image) : xstrdup("quality");
}

void live_close_page(struct live *l)
{
	if (l->asking_page)
		asking_end(l->asking_page, NULL);
	l->asking_page = NULL;
	answer_done(&l->page.answer);
	free(l->page.title);
	l->page = (struct live_page){ .answer = ANSWER_INIT };
}

/* --- what there is --- */

const struct answer_row *live_row(const struct live *l, size_t i)
{
	return i < l->rows.count ? &l->rows.rows[i] : NULL;
}

double live_cpu_seconds(const struct live *l, uint64_t samples)
{
	return l->rows.hz && !l->rows.is_time ? (double)samples / (double)l->rows.hz : -1;
}

char *live_command(const struct live *l)
{
	static const char *const options[] = { [COLLECT_FUNCTIONS] = " -l --merge=all",
					       [COLLECT_IMAGES] = " --merge=all",
					       [COLLECT_APPLICATIONS] = "",
					       [COLLECT_CGROUPS] = " --merge=cpu,tid",
					       [COLLECT_THREADS] = " --merge=cpu,cgroup",
					       [COLLECT_OFF_CPU] = " -l --merge=all" };
	bool has_chains = collect_view_has_functions(l->question.view) && l->rows.chains;
	struct strbuf text = STRBUF_INIT;
	char *made[2], **words = collect_words(&l->question, made);
	size_t i;

	strbuf_addf(&text, "opreport%s", has_chains ? " --children" : options[l->question.view]);
	for (i = 0; words[i]; i++)
		strbuf_addf(&text, " %s", words[i]);
	free(made[0]);
	free(made[1]);
	free(words);
	return strbuf_take(&text);
}
