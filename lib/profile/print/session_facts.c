/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/print/session_facts.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "history/history.h"
#include "profile/select/gather.h"
#include "sfile/setup.h"

#include <inttypes.h>

/* The sources of facts; each is NULL if it is not there. */
struct sources {
	const struct setup *setup; /* with the time when the session began */
	const struct history_cover *cover;
};

/* Milliseconds, of a number that a file may have any value for. */
static int64_t ms_of(uint64_t seconds)
{
	return (int64_t)MIN(seconds, UINT64_C(1) << 35) * 1000;
}

static char *time_fact(uint64_t seconds)
{
	return seconds ? window_time(ms_of(seconds)) : NULL;
}

static char *began(const struct sources *s)
{
	return time_fact(s->setup->began);
}

static char *ended(const struct sources *s)
{
	return time_fact(s->setup->ended);
}

static char *host(const struct sources *s)
{
	return s->setup->hostname ? xstrdup(s->setup->hostname) : NULL;
}

static char *command(const struct sources *s)
{
	return s->setup->command ? xstrdup(s->setup->command) : NULL;
}

static char *cpu_model(const struct sources *s)
{
	return s->setup->cpu_model ? xstrdup(s->setup->cpu_model) : NULL;
}

static char *rights(const struct sources *s)
{
	return s->setup->rights ? xstrdup(s->setup->rights) : NULL;
}

static char *begin(const struct sources *s)
{
	return s->cover->slices ? window_time(s->cover->span.begin_ms) : NULL;
}

static char *end(const struct sources *s)
{
	return s->cover->slices ? window_time(s->cover->span.end_ms) : NULL;
}

static char *number(uint64_t value)
{
	return xasprintf("%" PRIu64, value);
}

static char *slices(const struct sources *s)
{
	return number(s->cover->slices);
}

static char *gaps(const struct sources *s)
{
	return number((uint64_t)s->cover->gaps_ms);
}

static char *samples(const struct sources *s)
{
	return number(s->cover->samples);
}

static char *taken(const struct sources *s)
{
	return number(s->cover->taken);
}

static char *lost(const struct sources *s)
{
	return number(s->cover->lost);
}

static char *folded(const struct sources *s)
{
	return number(s->cover->folded);
}

static char *functions(const struct sources *s)
{
	return number(s->cover->functions);
}

static const struct {
	enum session_facts which;
	const char *name;
	bool is_number;
	char *(*text)(const struct sources *s);
} facts[] = {
	{ SESSION_FACTS_RECORDING, "began", false, began },
	{ SESSION_FACTS_RECORDING, "ended", false, ended },
	{ SESSION_FACTS_RECORDING, "host", false, host },
	{ SESSION_FACTS_RECORDING, "command", false, command },
	{ SESSION_FACTS_RECORDING, "cpu_model", false, cpu_model },
	{ SESSION_FACTS_RECORDING, "rights", false, rights },
	{ SESSION_FACTS_TIME, "begin", false, begin },
	{ SESSION_FACTS_TIME, "end", false, end },
	{ SESSION_FACTS_TIME, "slices", true, slices },
	{ SESSION_FACTS_TIME, "gaps_ms", true, gaps },
	{ SESSION_FACTS_TIME, "samples", true, samples },
	{ SESSION_FACTS_TIME, "taken", true, taken },
	{ SESSION_FACTS_TIME, "lost", true, lost },
	{ SESSION_FACTS_TIME, "folded", true, folded },
	{ SESSION_FACTS_TIME, "folded_into_functions", true, functions },
};

/* Reads the session's setup; false if it does not say when the session began. */
static bool read_setup(const struct gather_session *s, struct setup *ret)
{
	if (setup_read(s->samples, ret, NULL) < 0)
		return false;
	if (ret->began)
		return true;
	setup_done(ret);
	return false;
}

bool session_facts_each(const struct gather_session *s, enum session_facts which,
			void (*each)(const struct session_fact *fact, void *data), void *data)
{
	struct setup setup = { 0 };
	struct sources sources = { 0 };
	bool any = false;
	size_t i;

	if (which == SESSION_FACTS_RECORDING && read_setup(s, &setup))
		sources.setup = &setup;
	if (which == SESSION_FACTS_TIME && s->history)
		sources.cover = history_covers(s->history);
	for (i = 0; i < ARRAY_SIZE(facts) && (sources.setup || sources.cover); i++) {
		_cleanup_free_ char *text =
			facts[i].which == which ? facts[i].text(&sources) : NULL;

		if (!text)
			continue;
		each(&(struct session_fact){ facts[i].name, text, facts[i].is_number }, data);
		any = true;
	}
	setup_done(&setup);
	return any;
}

/* --- for people --- */

static char *recording_line(const struct gather_session *s, const struct setup *setup)
{
	const struct window span = { ms_of(setup->began),
				     setup->ended ? ms_of(setup->ended) : INT64_MAX };
	_cleanup_free_ char *text = window_text(&span);
	struct strbuf line = STRBUF_INIT;

	strbuf_adds(&line, "Session: ");
	text_visible(&line, s->name);
	if (setup->hostname) {
		strbuf_adds(&line, " on ");
		text_visible(&line, setup->hostname);
	}
	strbuf_addf(&line, ", %s", text);
	if (setup->ended > setup->began) {
		_cleanup_free_ char *length = text_duration(setup->ended - setup->began);

		strbuf_addf(&line, " (%s)", length);
	}
	if (setup->command) {
		strbuf_adds(&line, ", ");
		text_visible(&line, setup->command);
	}
	return strbuf_take(&line);
}

static char *machine_line(const struct setup *setup)
{
	const char *between = "Machine: ";
	struct strbuf line = STRBUF_INIT;

	if (setup->cpu_model) {
		strbuf_adds(&line, between);
		text_visible(&line, setup->cpu_model);
		between = ", ";
	}
	if (setup->cpus) {
		strbuf_addf(&line, "%s%" PRIu64 " CPU%s", between, setup->cpus,
			    text_plural(setup->cpus));
		between = ", ";
	}
	if (setup->kernel) {
		strbuf_addf(&line, "%sLinux ", between);
		text_visible(&line, setup->kernel);
		between = ", ";
	}
	if (setup->rights) {
		strbuf_adds(&line, between);
		text_visible(&line, setup->rights);
	}
	return strbuf_take(&line);
}

/* Adds how long the slices are, unless they are as they were written. */
static void add_levels(struct strbuf *line, const struct history_cover *c)
{
	const char *between = " (";
	unsigned int i;

	if (c->by_level[0] == c->slices)
		return;
	for (i = 0; i < HISTORY_LEVELS; i++)
		if (c->by_level[i]) {
			strbuf_addf(line, "%s%zu of %s", between, c->by_level[i],
				    history_level(i)->slice_text);
			between = ", ";
		}
	strbuf_adds(line, ")");
}

static char *time_line(const struct gather_session *s)
{
	const struct history_cover *c = history_covers(s->history);
	_cleanup_free_ char *span = window_text(&c->span);
	struct strbuf line = STRBUF_INIT;

	if (!c->slices) {
		strbuf_adds(&line, "Time: nothing was sampled then in the session ");
		text_visible(&line, s->name);
		return strbuf_take(&line);
	}
	strbuf_addf(&line, "Time: %s, %zu slice%s", span, c->slices, text_plural(c->slices));
	add_levels(&line, c);
	if (c->folded)
		strbuf_addf(&line, "; %" PRIu64 " sample%s folded as rare", c->folded,
			    c->folded == 1 ? " is" : "s are");
	if (c->functions)
		strbuf_addf(&line, "; of %" PRIu64 " only the function was kept", c->functions);
	if (c->gaps_ms >= 100)
		strbuf_addf(&line, "; %.1f s of it are in none", (double)c->gaps_ms / 1000);
	return strbuf_take(&line);
}

char *session_facts_line(const struct gather_session *s, enum session_facts which)
{
	struct setup setup = { 0 };
	char *line = NULL;

	if (which == SESSION_FACTS_TIME)
		return s->history ? time_line(s) : NULL;
	if (read_setup(s, &setup))
		line = which == SESSION_FACTS_MACHINE ? machine_line(&setup)
						      : recording_line(s, &setup);
	setup_done(&setup);
	return line;
}
