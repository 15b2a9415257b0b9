/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/common/status_view.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/parse.h"
#include "file/path.h"
#include "control/client.h"
#include "control/server.h"
#include "record/record.h"
#include "sfile/session.h"
#include "sfile/session_lock.h"
#include "stats/counters.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

enum { LABEL_WIDTH = 14, NAMES_SHOWN = 8 };

static void add_counter(const char *name, uint64_t value, void *data)
{
	struct strbuf *lines = data;
	const struct counter *c = counter_find(name);
	_cleanup_free_ char *text = c ? counter_text(c, value) : xstrdup("");

	/* The counters of single CPUs are in directories: too many to show. */
	if (value && !strchr(name, '/'))
		control_answer(lines, "counter", "%s %" PRIu64 " %s", name, value, text);
}

int status_view_silent(const struct settings *s, const char *session_dir, bool refused,
		       struct strbuf *lines)
{
	_cleanup_free_ char *separate = record_separate_text((unsigned int)s->separate);
	_cleanup_free_ char *samples = session_samples(session_dir, "current");
	uint32_t holder = session_lock_holder(session_dir);
	size_t i;

	control_answer(lines, "state", refused ? "hidden" : "absent");
	if (holder)
		control_answer(lines, "writer", "%u", holder);
	for (i = 0; i < s->events.count; i++)
		control_answer(lines, "event", "%s", s->events.items[i]);
	control_answer(lines, "separate", "%s", separate);
	if (s->image_filter)
		control_answer(lines, "images", "%s", s->image_filter);
	control_answer(lines, "session_dir", "%s", session_dir);
	return session_stat_each(samples, add_counter, lines);
}

static int add_session(const char *name, void *data)
{
	control_answer(data, "session", "%s", name);
	return 0;
}

int status_view_session(const char *session_dir, struct strbuf *lines)
{
	_cleanup_free_ char *all = path_join(session_dir, "samples");
	_cleanup_free_ char *current = session_samples(session_dir, "current");

	/* A user who may not look does not know whether there are sessions: print none. */
	if (access(session_dir, X_OK) < 0 && errno == EACCES)
		return -EACCES;
	control_answer(lines, "disk_kib", "%" PRIu64, path_disk_bytes(all, NULL, NULL) / 1024);
	control_answer(lines, "session_samples", "%" PRIu64,
		       session_stat_get(current, "total_samples"));
	return session_list(session_dir, add_session, lines, NULL);
}

/* Calls @each with every value of @key. */
static void each_value(const char *lines, const char *key,
		       void (*each)(const char *value, void *data), void *data)
{
	size_t length = strlen(key);
	const char *line, *end;

	for (line = lines; *line; line = *end ? end + 1 : end) {
		_cleanup_free_ char *value = NULL;

		end = strchrnul(line, '\n');
		if (strncmp(line, key, length) != 0 || line[length] != ' ')
			continue;
		value = xstrndup(line + length + 1, (size_t)(end - line) - length - 1);
		each(value, data);
	}
}

/* Returns the value of a key as a number; 0 if it is missing or not a number. */
static double number_of(const char *lines, const char *key)
{
	_cleanup_free_ char *value = control_value(lines, key);
	const char *at = value;
	double number;

	return value && parse_decimal(&at, &number) == 0 && !*at ? number : 0;
}

static bool has_value(const char *lines, const char *key)
{
	_cleanup_free_ char *value = control_value(lines, key);

	return value != NULL;
}

static bool is_state(const char *lines, const char *state)
{
	_cleanup_free_ char *value = control_value(lines, "state");

	return value && !strcmp(value, state);
}

/* Whether the daemon itself has answered. */
static bool is_answer(const char *lines)
{
	return !is_state(lines, "absent") && !is_state(lines, "hidden");
}

/* Names of sessions: with one saved per day there may be thousands. */
struct names {
	struct strbuf text;
	size_t count;
};

static void add_name(const char *value, void *data)
{
	struct names *names = data;

	if (names->count++ < NAMES_SHOWN)
		strbuf_addf(&names->text, "%s%s", names->text.length ? ", " : "", value);
}

static void add_joined(const char *value, void *data)
{
	struct strbuf *out = data;

	strbuf_addf(out, "%s%s", out->length ? ", " : "", value);
}

/* The table for people: each function adds the text of a row; a row without text is left out. */

static void daemon_row(const char *lines, struct strbuf *out)
{
	_cleanup_free_ char *pid = control_value(lines, "pid");
	_cleanup_free_ char *writer = control_value(lines, "writer");
	unsigned long seconds = (unsigned long)number_of(lines, "uptime_s");

	if (is_state(lines, "absent")) {
		strbuf_adds(out, "not running; start it with opcontrol --start");
		if (writer)
			strbuf_addf(out, " (the session is being written by pid %s)", writer);
		return;
	}
	if (is_state(lines, "hidden")) {
		if (writer)
			strbuf_addf(out, "running, pid %s; only root can see more", writer);
		else
			strbuf_adds(out, "unknown: this user may not read the session; only root "
					 "and its group may");
		return;
	}
	strbuf_addf(out, "%s, pid %s, up ",
		    is_state(lines, "running") ? "sampling" : "running, not sampling", pid ?: "?");
	if (seconds >= 86400)
		strbuf_addf(out, "%lu d ", seconds / 86400);
	if (seconds >= 3600)
		strbuf_addf(out, "%lu h ", seconds / 3600 % 24);
	if (seconds >= 60)
		strbuf_addf(out, "%lu min ", seconds / 60 % 60);
	strbuf_addf(out, "%lu s", seconds % 60);
	if (has_value(lines, "age_s"))
		strbuf_addf(out, "; it is busy, and what follows is %.1f s old",
			    number_of(lines, "age_s"));
}

static void copy_value(const char *lines, const char *key, struct strbuf *out)
{
	_cleanup_free_ char *value = control_value(lines, key);

	strbuf_adds(out, value ?: "");
}

static void warning_row(const char *lines, struct strbuf *out)
{
	_cleanup_free_ char *uid = control_value(lines, "uid");

	if (uid && !strcmp(uid, "0"))
		strbuf_adds(out, "the daemon runs as root, not as a user of its own (--user)");
}

static void events_row(const char *lines, struct strbuf *out)
{
	each_value(lines, "event", add_joined, out);
	if (!out->length)
		strbuf_adds(out, "the CPU's default event");
}

static void add_limit(const char *lines, const char *key, const char *format, double unit,
		      struct strbuf *out)
{
	if (!has_value(lines, key))
		return;
	strbuf_adds(out, out->length ? ", " : "");
	strbuf_addf(out, format, number_of(lines, key) / unit);
}

static void session_row(const char *lines, struct strbuf *out)
{
	struct names names = { .text = STRBUF_INIT };

	copy_value(lines, "session_dir", out);
	if (!has_value(lines, "disk_kib"))
		return;
	each_value(lines, "session", add_name, &names);
	strbuf_addf(out, " (%.0f samples in current, %.1f MiB on disk",
		    number_of(lines, "session_samples"), number_of(lines, "disk_kib") / 1024);
	add_limit(lines, "symbols_kib", "%.1f MiB of it functions", 1024, out);
	strbuf_addf(out, "; %s%s", names.count ? "sessions: " : "no session yet",
		    strbuf_text(&names.text));
	if (names.count > NAMES_SHOWN)
		strbuf_addf(out, " and %zu more", names.count - NAMES_SHOWN);
	strbuf_adds(out, ")");
	strbuf_done(&names.text);
}

static void samples_row(const char *lines, struct strbuf *out)
{
	double received, taken;

	if (!is_answer(lines))
		return;
	received = number_of(lines, "samples_received");
	taken = has_value(lines, "samples_taken") ? number_of(lines, "samples_taken") : received;
	strbuf_addf(out, "%.0f taken", taken);
	if (taken < received)
		strbuf_addf(out, ", which stand for %.0f", received);
	strbuf_addf(out, ", %.0f lost", number_of(lines, "samples_lost"));
	if (is_state(lines, "running"))
		strbuf_addf(out, "; %.0f per second", number_of(lines, "samples_per_s"));
}

/* The stage of the daemon's work that took longest. */
struct longest {
	uint64_t us;
	struct strbuf text;
};

/* Compares the stage @value, "NAME MICROSECONDS TEXT", with the longest so far. */
static void compare_stage(const char *value, void *data)
{
	const char *at = strchr(value, ' ');
	struct longest *longest = data;
	uint64_t us;

	if (!at || (at++, parse_dec(&at, &us) < 0) || us <= longest->us)
		return;
	longest->us = us;
	strbuf_cut(&longest->text, 0);
	strbuf_adds(&longest->text, at);
}

/* Adds for how long the daemon did not drain, and what took most of that. */
static void add_busy(const char *lines, struct strbuf *out)
{
	struct longest longest = { .text = STRBUF_INIT };

	if (!has_value(lines, "busy_longest_ms"))
		return;
	strbuf_addf(out, ", busy for at most %.0f ms at a time",
		    number_of(lines, "busy_longest_ms"));
	each_value(lines, "busy_stage", compare_stage, &longest);
	if (longest.us)
		strbuf_addf(out, " (%.0f of them%s)", (double)longest.us / 1000,
			    strbuf_text(&longest.text));
	strbuf_done(&longest.text);
}

static void cost_row(const char *lines, struct strbuf *out)
{
	if (!is_answer(lines))
		return;
	if (has_value(lines, "cost_percent"))
		strbuf_addf(out, "%.2f %% of the CPUs' time; the daemon ",
			    number_of(lines, "cost_percent"));
	strbuf_addf(out,
		    "%.2f %% of a CPU, %.1f MiB of memory (%.1f of it in the kernel), "
		    "%.0f sample files open",
		    number_of(lines, "cpu_percent"), number_of(lines, "memory_kib") / 1024,
		    number_of(lines, "kernel_kib") / 1024, number_of(lines, "open_files"));
	add_busy(lines, out);
}

/* Adds the budget, and how far samples are stretched to keep it. */
static void budget_row(const char *lines, struct strbuf *out)
{
	double mean = number_of(lines, "stretch");

	if (!has_value(lines, "budget_percent"))
		return;
	strbuf_addf(out, "%.15g %% of each CPU's time", number_of(lines, "budget_percent"));
	if (mean > 1.005)
		strbuf_addf(
			out,
			", kept by sampling less often: each sample counts for %.1f (at most %.1f)",
			mean, number_of(lines, "stretch_highest"));
	if (has_value(lines, "budget_starting"))
		strbuf_adds(out, "; that of the first five minutes may be spent at the start");
	if (has_value(lines, "budget_exceeded"))
		strbuf_adds(out, "; it cannot be kept; use fewer events, or no call chains");
}

/* Adds the CPUs that are not sampled because they are offline. */
static void cpus_row(const char *lines, struct strbuf *out)
{
	_cleanup_free_ char *offline = control_value(lines, "cpus_offline");

	if (offline)
		strbuf_addf(out, "%s offline", offline);
}

static void limits_row(const char *lines, struct strbuf *out)
{
	_cleanup_free_ char *shed = control_value(lines, "shed_text");

	add_limit(lines, "memory_max_kib", "%.0f MiB of memory", 1024, out);
	add_limit(lines, "disk_max_kib", "%.0f MiB of disk", 1024, out);
	add_limit(lines, "keep_free_kib", "%.0f MiB of disk kept free", 1024, out);
	add_limit(lines, "descriptors_max", "%.0f descriptors", 1, out);
	if (shed)
		strbuf_addf(out, "%s%s", out->length ? "; " : "", shed);
}

/* A row is the value of a key, or made by a function. */
static const struct {
	const char *label, *key;
	void (*add)(const char *lines, struct strbuf *out);
} rows[] = {
	{ "Daemon", NULL, daemon_row },	  { "Trouble", "trouble" },
	{ "Warning", NULL, warning_row }, { "Driver", "driver" },
	{ "CPUs", NULL, cpus_row },	  { "Events", NULL, events_row },
	{ "Separate", "separate" },	  { "Images", "images" },
	{ "Session", NULL, session_row }, { "Samples", NULL, samples_row },
	{ "Own cost", NULL, cost_row },	  { "Budget", NULL, budget_row },
	{ "Limits", NULL, limits_row },	  { "History", "history_trouble" },
	{ "Settings", "config" },
};

/* Prints the line of a counter, "name value text", if it is a loss or trouble. */
static void print_loss(const char *value, void *data)
{
	_cleanup_free_ char *name = xstrndup(value, strcspn(value, " "));
	const struct counter *c = counter_find(name);

	if (c && (c->kind == COUNTER_LOST || c->kind == COUNTER_TROUBLE) && value[strlen(name)])
		(void)fprintf(data, "%-*s %s\n", LABEL_WIDTH, "", value + strlen(name) + 1);
}

void status_view_text(const char *lines, FILE *out)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;

		if (rows[i].key)
			copy_value(lines, rows[i].key, &text);
		else
			rows[i].add(lines, &text);
		if (!text.length)
			continue;
		(void)fprintf(out, "%s:%*s %s\n", rows[i].label,
			      LABEL_WIDTH - 1 - (int)strlen(rows[i].label), "", strbuf_text(&text));
		if (rows[i].add == samples_row)
			each_value(lines, "counter", print_loss, out);
	}
}

/* As JSON. */

enum json_kind { JSON_TEXT, JSON_NUMBER, JSON_LIST, JSON_COUNTERS };

/* The members of the object: the key of their lines, and their name if it differs. */
static const struct {
	const char *key;
	enum json_kind kind;
	const char *name;
} members[] = {
	{ "state", JSON_TEXT },
	{ "trouble", JSON_TEXT },
	{ "history_trouble", JSON_TEXT },
	{ "pid", JSON_NUMBER },
	{ "uid", JSON_NUMBER },
	{ "writer", JSON_NUMBER },
	{ "version", JSON_TEXT },
	{ "uptime_s", JSON_NUMBER },
	{ "age_s", JSON_NUMBER },
	{ "driver", JSON_TEXT },
	{ "cpus_offline", JSON_TEXT },
	{ "event", JSON_LIST, "events" },
	{ "separate", JSON_TEXT },
	{ "images", JSON_TEXT },
	{ "session_dir", JSON_TEXT },
	{ "session", JSON_LIST, "sessions" },
	{ "session_samples", JSON_NUMBER },
	{ "disk_kib", JSON_NUMBER },
	{ "samples_received", JSON_NUMBER },
	{ "samples_taken", JSON_NUMBER },
	{ "samples_lost", JSON_NUMBER },
	{ "samples_per_s", JSON_NUMBER },
	{ "busy_longest_ms", JSON_NUMBER },
	{ "busy_stage", JSON_COUNTERS, "busy_stages_us" },
	{ "cpu_percent", JSON_NUMBER },
	{ "budget_percent", JSON_NUMBER },
	{ "budget_starting", JSON_NUMBER },
	{ "budget_exceeded", JSON_NUMBER },
	{ "cost_percent", JSON_NUMBER },
	{ "cost_interrupts_percent", JSON_NUMBER },
	{ "cost_program_percent", JSON_NUMBER },
	{ "cost_daemon_percent", JSON_NUMBER },
	{ "cost_worst_percent", JSON_NUMBER },
	{ "interrupt_ns", JSON_NUMBER },
	{ "stretch", JSON_NUMBER },
	{ "stretch_highest", JSON_NUMBER },
	{ "memory_kib", JSON_NUMBER },
	{ "resident_kib", JSON_NUMBER },
	{ "parser_kib", JSON_NUMBER },
	{ "kernel_kib", JSON_NUMBER },
	{ "memory_max_kib", JSON_NUMBER },
	{ "disk_max_kib", JSON_NUMBER },
	{ "symbols_kib", JSON_NUMBER },
	{ "keep_free_kib", JSON_NUMBER },
	{ "descriptors", JSON_NUMBER },
	{ "descriptors_max", JSON_NUMBER },
	{ "shed", JSON_TEXT },
	{ "shed_text", JSON_TEXT },
	{ "open_files", JSON_NUMBER },
	{ "mapped_kib", JSON_NUMBER },
	{ "hour_kib", JSON_NUMBER },
	{ "config", JSON_TEXT },
	{ "counter", JSON_COUNTERS, "counters" },
};

static void json_element(const char *value, void *data)
{
	json_bytes(data, NULL, value);
}

static void json_counter(const char *value, void *data)
{
	_cleanup_free_ char *name = xstrndup(value, strcspn(value, " "));
	const char *space = strchr(value, ' ');
	uint64_t number;

	if (space && (space++, parse_dec(&space, &number) == 0))
		json_u64(data, name, number);
}

static void json_member(const char *lines, size_t i, struct json *j)
{
	const char *key = members[i].key, *name = members[i].name ?: key;
	_cleanup_free_ char *value = control_value(lines, key);

	if (!value)
		return;
	json_line(j);
	switch (members[i].kind) {
	case JSON_TEXT:
		json_bytes(j, name, value);
		break;
	case JSON_NUMBER:
		json_number(j, name, value);
		break;
	case JSON_LIST:
		json_open(j, name, '[');
		each_value(lines, key, json_element, j);
		json_close(j, ']');
		break;
	case JSON_COUNTERS:
		json_open(j, name, '{');
		each_value(lines, key, json_counter, j);
		json_close(j, '}');
		break;
	}
}

void status_view_json(const char *lines, FILE *out)
{
	struct json j = JSON_SPACED(out);
	size_t i;

	json_open(&j, NULL, '{');
	for (i = 0; i < ARRAY_SIZE(members); i++)
		json_member(lines, i, &j);
	json_line(&j);
	json_close(&j, '}');
	(void)fputc('\n', out);
}
