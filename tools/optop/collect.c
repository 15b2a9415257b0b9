/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/optop/collect.h"

#include "base/macro.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "history/history.h"
#include "history/window.h"
#include "profile/print/losses.h"
#include "profile/print/report_header.h"
#include "profile/profile.h"
#include "profile/profile_report.h"
#include "sfile/sname.h"
#include "tools/common/reporting.h"
#include "tools/common/tool.h"
#include "tools/optop/rowsum.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum {
	LENDERS_MAX = 32,
	/* A window is read in so many stretches, so it is by up to this part longer than asked. */
	STRETCHES_MIN = 10,
	NAMES_MAX = 1 << 16
};

static void print_fact(FILE *out, const char *name, uint64_t value)
{
	(void)fprintf(out, "fact\t%s\t%" PRIu64 "\n", name, value);
}

/* Adds the time as a specification takes it. */
static void add_time(struct strbuf *out, int64_t ms)
{
	time_t seconds = (time_t)(ms / 1000);
	struct tm tm;
	char text[32];

	(void)strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", gmtime_r(&seconds, &tm));
	strbuf_addf(out, "%s.%03dZ", text, (int)(ms % 1000));
}

/* --- rows --- */

/* What is kept from one answer to the next. */
struct collect {
	const char *session_dir;
	char *const *words; /* of the specification; ends with NULL */
	size_t count;
	enum collect_view view;
	int64_t window_ms;
	struct rowsum_choice rows;
	struct rowsum *sum; /* what was read of the window */
	int64_t until_ms;   /* ... and until when; 0: nothing was read yet */
	dev_t device;	    /* of the session's directory, with ->inode: another one is another */
	ino_t inode;
	uint64_t hz;
	char event[64]; /* that is shown, if there are others; or "" */
	bool is_time;	/* samples are microseconds off the CPU, and the squares of these waits, */
	double squares; /* all of the session's */
	bool is_whole;	/* the window is read whole for each answer */
	/* Profiles that have opened images, which the next ones need not open again. */
	struct profile *lenders[LENDERS_MAX];
	size_t lender_count;
};

/* Finds when the samples were taken, and what was lost meanwhile. */
static void find_cover(const struct profile *p, struct rowsum_facts *facts)
{
	const struct gather_session *s = &p->gather->sessions[0];
	const struct history_cover *cover = s->history ? history_covers(s->history) : NULL;

	if (!cover) {
		facts->lost = p->losses.samples;
		return;
	}
	if (!cover->slices)
		return;
	facts->begin_ms = cover->span.begin_ms;
	facts->end_ms = cover->span.end_ms;
	facts->cpu_ms = cover->cpu_ms;
	facts->taken = cover->taken;
	facts->lost = cover->lost;
}

/* Adds the rows of @rows, with their own samples in class @self and all in class @total. */
static void add_rows(struct rowsum *t, const struct profile *p, const struct container *rows,
		     const size_t classes[2], struct rowsum_facts *facts)
{
	size_t i;

	for (i = 0; i < rows->count; i++) {
		const struct row *row = &rows->rows[i];
		_cleanup_(strbuf_done) struct strbuf name = STRBUF_INIT;
		const char *image = gather_image_name(p->gather, row->image, false);
		uint64_t self = row->counts[classes[0]], total = row->counts[classes[1]];

		if (row->is_end)
			continue;
		facts->samples += self;
		facts->unnamed += row->kind == ROW_SYMBOL || row->kind == ROW_IMAGE ? 0 : self;
		if (row->kind != ROW_IMAGE)
			report_add_name(&name, row, 0);
		rowsum_add(t, row->kind == ROW_IMAGE ? image : strbuf_text(&name),
			   row->kind == ROW_IMAGE ? "" : image, self, total);
	}
}

static bool is_time(const struct profile *p, size_t class)
{
	return sname_event_is_time(p->classes.classes[class].event);
}

/* The class that is shown if a row has one: the first that is not time off the CPU, if there is
 * any. */
static size_t class_of(const struct profile *p)
{
	size_t i;

	for (i = 0; i < p->classes.count; i++)
		if (!is_time(p, i))
			return i;
	return 0;
}

static int add_chains(struct rowsum *t, struct profile *p, struct rowsum_facts *facts,
		      struct error *err)
{
	static const size_t classes[] = { CHAINS_SELF, CHAINS_INCLUSIVE };
	struct name_style style = { 0 };
	int r;

	p->chains.no_time = !is_time(p, class_of(p));
	p->chains.rows_only = true;
	r = chains_collect(&p->chains, p->binaries, err);
	if (r < 0)
		return r;
	container_name(&p->chains.rows, &style);
	facts->chains = p->chains.samples;
	facts->complete = p->chains.ends[CHAIN_END_COMPLETE].samples;
	add_rows(t, p, &p->chains.rows, classes, facts);
	return 0;
}

/* Adds what differs between the classes: threads, cgroups. */
static void add_classes(struct rowsum *t, const struct profile *p, const struct container *c,
			struct rowsum_facts *facts)
{
	size_t i;

	for (i = class_of(p); i < p->classes.count; i++) {
		if (is_time(p, i) != is_time(p, class_of(p)))
			continue;
		facts->samples += c->totals[i];
		rowsum_add(t, p->classes.classes[i].name, "", c->totals[i], c->totals[i]);
	}
}

static int check_events(const struct profile *p, struct error *err)
{
	const struct class *classes = p->classes.classes;
	size_t shown = class_of(p), i;

	for (i = shown + 1; i < p->classes.count; i++)
		if (is_time(p, i) == is_time(p, shown) &&
		    !class_same_event(&classes[shown], &classes[i]))
			return error_set(err, -EINVAL,
					 "there are samples of several events; choose one: "
					 "event:%s or event:%s",
					 classes[shown].event_text, classes[i].event_text);
	return 0;
}

static int add_flat(const struct collect *c, struct profile *p, struct rowsum_facts *facts,
		    struct error *err)
{
	const size_t classes[] = { class_of(p), class_of(p) };
	enum collect_view view = c->view;
	struct populate_config config = { .symbols = collect_view_has_functions(view),
					  .merge_lib = collect_view_has_functions(view) ||
						       view == COLLECT_IMAGES };
	struct container rows;
	struct populate_job job = { .gather = p->gather,
				    .classes = &p->classes,
				    .by_image = &p->by_image,
				    .binaries = p->binaries,
				    .config = &config,
				    .out = &rows };
	int r = check_events(p, err);

	if (r < 0)
		return r;
	container_init_classes(&rows, &p->classes);
	populate_images(&job);
	if (view == COLLECT_APPLICATIONS)
		container_fold_apps(&rows);
	container_name(&rows, NULL);
	if (view == COLLECT_CGROUPS || view == COLLECT_THREADS)
		add_classes(c->sum, p, &rows, facts);
	else
		add_rows(c->sum, p, &rows, classes, facts);
	container_done(&rows);
	return 0;
}

static unsigned int merges_of(enum collect_view view)
{
	unsigned int all = CLASSES_MERGE_ALL & ~(unsigned int)CLASSES_MERGE_LIB;

	if (view == COLLECT_CGROUPS)
		all &= ~(unsigned int)CLASSES_MERGE_CGROUP;
	if (view == COLLECT_THREADS)
		all &= ~(unsigned int)(CLASSES_MERGE_TID | CLASSES_MERGE_TGID);
	return all | CLASSES_MANY_AXES;
}

/* --- stretches of time --- */

static void forget_lenders(struct collect *c)
{
	while (c->lender_count)
		profile_close(c->lenders[--c->lender_count]);
}

/* Keeps the profile if it has opened images. Takes it. */
static void keep_lender(struct collect *c, struct profile *p)
{
	if (!binaries_lends(p->binaries)) {
		profile_close(p);
		return;
	}
	if (c->lender_count == LENDERS_MAX) { /* files that are used no more would stay open */
		profile_close(p);
		forget_lenders(c);
		return;
	}
	chains_done(&p->chains);
	c->lenders[c->lender_count++] = p;
}

/* Whether the profile is of what is sampled now, and can be read one stretch after the other. */
static bool is_live(const struct profile *p)
{
	const struct gather *g = p->gather;

	return g->session_count == 1 && !strcmp(g->sessions[0].name, "current") &&
	       g->sessions[0].history && !spec_value(&p->spec, SPEC_ARCHIVE);
}

/* Notes what a sample is, and its event's name if there is time off the CPU, too. */
static void note_event(struct collect *c, const struct profile *p)
{
	size_t i, shown = class_of(p);
	const char *event = p->classes.classes[shown].event;

	c->is_time = is_time(p, shown);
	c->squares = losses_wait_squares(p->gather, event);
	*c->event = '\0';
	for (i = 0; i < p->classes.count && !c->is_time; i++)
		if (is_time(p, i))
			(void)snprintf(c->event, sizeof(c->event), "%s", event);
}

static int add_profile(struct collect *c, struct profile *p, struct rowsum_facts *facts,
		       struct error *err)
{
	int r = -ENODATA;

	find_cover(p, facts);
	c->hz = report_header_timer_hz(p->gather);
	note_event(c, p);
	if (p->chains.source_count)
		r = add_chains(c->sum, p, facts, err);
	return r == -ENODATA ? add_flat(c, p, facts, err) : r;
}

/* Adds what the session has in the time @time (NULL: all) to the sum. 0, with the end of that in
 * *@ret_end_ms; or -errno: -ENODATA if there is nothing. */
static int add_stretch(struct collect *c, char *time, int64_t *ret_end_ms, struct error *err)
{
	struct profile_config config = {
		.session_dir = c->session_dir,
		.symbol_cache = collect_view_has_functions(c->view),
		.merge = merges_of(c->view),
		.binaries = { .symbols_only = true, .keep = true },
		.chains = collect_view_has_functions(c->view) ? PROFILE_CHAINS_IF_ANY
							      : PROFILE_NO_CHAINS,
		.lender = c->lender_count ? c->lenders[c->lender_count - 1] : NULL,
	};
	_cleanup_free_ char **words = xcalloc(c->count + 3, sizeof(*words));
	struct rowsum_facts facts = { 0 };
	size_t count;
	struct profile *p;
	int r;

	count = collect_replace_event(c->words, c->count, collect_view_word(c->view), words);
	words[count] = time;
	r = profile_open(&config, count + (time != NULL), words, &p, err);
	if (r < 0)
		return r;
	r = add_profile(c, p, &facts, err);
	if (r == 0)
		c->is_whole = !is_live(p);
	keep_lender(c, p);
	/* With an error, there are no rows yet. */
	rowsum_end(c->sum, &facts, c->window_ms / STRETCHES_MIN);
	*ret_end_ms = facts.end_ms;
	return r;
}

/* The same of the time from @begin_ms to @end_ms; INT64_MAX: to now. Sets what was read. */
static int add_span(struct collect *c, int64_t begin_ms, int64_t end_ms, struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf time = STRBUF_INIT;
	int64_t until_ms = 0;
	int r;

	strbuf_adds(&time, "time:");
	add_time(&time, begin_ms);
	strbuf_adds(&time, "..");
	if (end_ms != INT64_MAX)
		add_time(&time, end_ms);
	r = add_stretch(c, time.text, &until_ms, err);
	if (end_ms != INT64_MAX)
		until_ms = MAX(until_ms, end_ms);
	c->until_ms = MAX(c->until_ms, until_ms);
	return r;
}

/* Reads all of the window, in parts that can be dropped one by one as they become too old. */
static int add_window(struct collect *c, int64_t now_ms, struct error *err)
{
	int64_t begin_ms = now_ms - c->window_ms, step_ms = c->window_ms / STRETCHES_MIN;
	int i, r = 0, any = -ENODATA;

	c->until_ms = begin_ms;
	for (i = 1; i <= STRETCHES_MIN && (r == 0 || r == -ENODATA); i++) {
		bool is_last = i == STRETCHES_MIN;

		if (!is_last && begin_ms + i * step_ms <= c->until_ms)
			continue;
		r = add_span(c, c->until_ms, is_last ? INT64_MAX : begin_ms + i * step_ms, err);
		any = r == 0 ? 0 : any;
		if (c->is_whole)
			return 0;
	}
	return r == -ENODATA ? any : r;
}

static void forget(struct collect *c)
{
	rowsum_clear(c->sum);
	c->until_ms = 0;
}

/* Forgets what was read of another session. */
static void note_session(struct collect *c)
{
	_cleanup_free_ char *samples = xasprintf("%s/samples/current", c->session_dir);
	struct stat st = { 0 };

	(void)stat(samples, &st);
	if (st.st_dev == c->device && st.st_ino == c->inode)
		return;
	forget(c);
	forget_lenders(c);
	c->device = st.st_dev;
	c->inode = st.st_ino;
}

static int add_whole(struct collect *c, struct error *err)
{
	_cleanup_free_ char *time =
		c->window_ms ? xasprintf("time:-%" PRId64 "s", c->window_ms / 1000) : NULL;
	int64_t end_ms;

	forget(c);
	return add_stretch(c, time, &end_ms, err);
}

/* Brings the sum up to date. */
static int update(struct collect *c, struct error *err)
{
	int64_t now_ms = window_now_ms();
	bool is_known = c->until_ms && now_ms - c->until_ms < c->window_ms / 2 &&
			rowsum_names(c->sum) < NAMES_MAX;
	int r;

	if (!is_known)
		forget(c);
	if (!c->window_ms || c->is_whole)
		return add_whole(c, err);
	r = is_known ? add_span(c, c->until_ms, INT64_MAX, err) : add_window(c, now_ms, err);
	if (c->is_whole) /* as the first part has shown */
		return add_whole(c, err);
	rowsum_drop(c->sum, now_ms - c->window_ms);
	return r == -ENODATA && rowsum_facts(c->sum).samples ? 0 : r;
}

/* --- the process --- */

/* In milliseconds squared; 0: not known. */
static uint64_t squares_ms(const struct collect *c)
{
	double squares = ceil(c->squares / 1e6);

	return isinf(squares) ? 0 : (uint64_t)MIN(squares, (double)(INT64_MAX >> 1));
}

/* Whether nothing is to be said of an answer: it is complete, or a machine that is idle has no
 * samples. What does not match the words is named. */
static bool is_silent(const struct collect *c, int r)
{
	return r == 0 || (r == -ENODATA && !c->count && !collect_view_word(c->view));
}

static void answer(struct collect *c, bool reads, FILE *out)
{
	struct error err = ERROR_INIT;
	struct timespec used = { 0 };
	int r = 0;

	if (reads) {
		note_session(c);
		r = update(c, &err);
	}
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	print_fact(out, "spent_us",
		   (uint64_t)used.tv_sec * 1000000 + (uint64_t)used.tv_nsec / 1000);
	print_fact(out, "hz", c->hz);
	print_fact(out, "is_time", c->is_time);
	print_fact(out, "squares", squares_ms(c));
	print_fact(out, "is_empty", r == -ENODATA);
	print_fact(out, "whole", c->is_whole || !c->window_ms);
	if (*c->event)
		(void)fprintf(out, "event\t%s\n", c->event);
	rowsum_print(c->sum, &c->rows, out);
	(void)fflush(out);
	if (!is_silent(c, r))
		(void)tool_fail(&err);
}

/* Takes the question in a line, which is kept; false if it is none. */
static bool take_question(struct collect *c, char *line, char *ret_kind, uint64_t *ret_number)
{
	unsigned int view, order;
	int64_t window_ms;
	int end = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, COLLECT_QUESTION "%n", ret_kind, ret_number, &view, &window_ms, &order,
		   &c->rows.limit, &end) != 6 ||
	    view >= COLLECT_VIEW_COUNT_ || window_ms < 0 || order > ANSWER_NAME || line[end] != ' ')
		return false;
	c->rows.order = order;
	c->rows.search = line[end + 1] ? line + end + 1 : NULL;
	if (view != c->view || window_ms != c->window_ms) {
		forget(c);
		c->is_whole = false;
		c->view = view;
		c->window_ms = window_ms;
	}
	return true;
}

int collect_serve(const struct question *q, FILE *in, FILE *out, struct error *err)
{
	struct collect c = { .session_dir = q->session_dir, .words = q->words, .count = q->count };
	struct profile_config config = { .session_dir = q->session_dir, .symbol_cache = true };
	int status = 0, r = reporting_become_owner(&config, false, q->words, err);
	uint64_t number;
	char line[COLLECT_LINE_MAX], kind;

	if (r == 0)
		r = reporting_confine(&config, NULL, q->words, &status, err);
	if (r != 0) /* 1: another process has done it all */
		return r < 0 ? r : -status;
	c.sum = rowsum_new();
	while (fgets(line, sizeof(line), in) && take_question(&c, line, &kind, &number)) {
		answer(&c, kind != COLLECT_ROWS, out);
		(void)fprintf(out, "end\t%" PRIu64 "\n", number);
		if (fflush(out) != 0)
			break;
	}
	forget_lenders(&c);
	rowsum_free(c.sum);
	return 0;
}
