/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/opcontrol/session_actions.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "file/path.h"
#include "file/owner.h"
#include "chains/chain_history.h"
#include "history/history.h"
#include "history/levels.h"
#include "sfile/session.h"
#include "sfile/session_lock.h"
#include "sfile/setup.h"
#include "tools/common/tool.h"
#include "tools/opcontrol/daemon_process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* What is listed about a session. */
struct entry {
	char *name;
	struct setup setup; /* zeros: unknown */
	uint64_t samples, bytes;
	struct history_kept kept[HISTORY_LEVELS];
};

struct list {
	const char *session_dir;
	struct entry *entries;
	size_t count, room;
	int status; /* -errno if something could not be read */
};

static void list_done(struct list *l)
{
	size_t i;

	for (i = 0; i < l->count; i++) {
		free(l->entries[i].name);
		setup_done(&l->entries[i].setup);
	}
	free(l->entries);
}

/* Finds what both histories have of each level, together. 0 or -errno. */
static int add_kept(struct entry *e, const char *samples, struct error *err)
{
	struct history_kept chains[HISTORY_LEVELS];
	unsigned int level;
	int r = history_kept(samples, &history_flat, e->kept, err);

	if (r == 0)
		r = history_kept(samples, &history_chains, chains, err);
	if (r < 0)
		return r;
	for (level = 0; level < HISTORY_LEVELS; level++) {
		struct history_kept *kept = &e->kept[level];

		kept->span.begin_ms = MIN(kept->span.begin_ms, chains[level].span.begin_ms);
		kept->span.end_ms = MAX(kept->span.end_ms, chains[level].span.end_ms);
		kept->files += chains[level].files;
		kept->bytes += chains[level].bytes;
	}
	return 0;
}

static int add_entry(const char *name, void *data)
{
	struct list *l = data;
	_cleanup_free_ char *samples = session_samples(l->session_dir, name);
	struct error err = ERROR_INIT;
	struct entry *e;
	int r;

	array_grow(&l->entries, l->count + 1, &l->room);
	e = &l->entries[l->count++];
	*e = (struct entry){ .name = xstrdup(name) };
	if (setup_read(samples, &e->setup, NULL) < 0)
		e->setup = (struct setup){ 0 };
	e->samples = session_stat_get(samples, "total_samples");
	e->bytes = path_disk_bytes(samples, NULL, NULL);
	r = add_kept(e, samples, &err);
	if (r < 0) {
		/* The other sessions are worth listing. */
		tool_warn("%s", err.text);
		memset(e->kept, 0, sizeof(e->kept));
		l->status = r;
	}
	return 0;
}

/* By begin; those that do not say it first, by name. */
static int compare(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;

	if (a->setup.began != b->setup.began)
		return a->setup.began < b->setup.began ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int read_list(const char *session_dir, struct list *l, struct error *err)
{
	int r;

	l->session_dir = session_dir;
	r = session_list(session_dir, add_entry, l, err);
	if (r == -ENOENT)
		return error_set(err, r, "%s: no sessions", session_dir);
	if (l->count)
		qsort(l->entries, l->count, sizeof(*l->entries), compare);
	return r;
}

/* What remains to be said after a list was printed. */
static int list_status(const struct list *l, struct error *err)
{
	return l->status < 0 ? error_set(err, l->status, "%s: not all of its sessions can be read",
					 l->session_dir)
			     : 0;
}

/* --- tables --- */

/* "2026-11-20 14:00:05", "-" if it is not known; caller frees. */
static char *second_text(int64_t ms)
{
	char *text = ms ? window_time(ms) : xstrdup("-");

	if (ms) {
		text[strlen("2026-11-20")] = ' ';
		text[strlen("2026-11-20 14:00:05")] = '\0';
	}
	return text;
}

static int64_t ms_of(uint64_t seconds)
{
	return (int64_t)MIN(seconds, UINT64_C(1) << 35) * 1000;
}

/* "+0100", NULL if the time is not known; caller frees. */
static char *zone_of(int64_t ms)
{
	_cleanup_free_ char *text = ms ? window_time(ms) : NULL;
	const char *zone = text ? text + strlen("2026-11-20T14:00:00") : NULL;

	return zone ? xasprintf("%.3s%s", zone, zone + strlen("+01:")) : NULL;
}

/* The zone of both times, "+0100", or of each, if the clocks were changed between them; 0 is one
 * that is not known. "-" if none is; caller frees. */
static char *zone_text(int64_t begin_ms, int64_t end_ms)
{
	_cleanup_free_ char *begin = zone_of(begin_ms ?: end_ms),
			    *end = zone_of(end_ms ?: begin_ms);

	return begin && strcmp(begin, end) ? xasprintf("%s, %s", begin, end)
					   : xstrdup(begin ?: "-");
}

/* "1.5 MiB"; caller frees. */
static char *size_text(uint64_t bytes)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB" };
	double size = (double)bytes / 1024;
	size_t i = 0;

	for (; size >= 1000 && i < ARRAY_SIZE(units) - 1; i++)
		size /= 1024;
	return xasprintf("%.1f %s", size, units[i]);
}

static char *events_text(const struct setup *s)
{
	struct strbuf text = STRBUF_INIT;
	size_t i;

	for (i = 0; i < s->event_count; i++)
		strbuf_addf(&text, "%s%s", i ? "," : "", s->events[i].name);
	if (!text.length)
		strbuf_adds(&text, "-");
	return strbuf_take(&text);
}

/* Prints a line, cut to the terminal. */
static void print_line(struct strbuf *line)
{
	_cleanup_(strbuf_done) struct strbuf shown = STRBUF_INIT;
	unsigned int width = tool_terminal_width(STDOUT_FILENO);

	text_visible(&shown, strbuf_text(line));
	if (width)
		text_cut(&shown, 0, width);
	printf("%s\n", strbuf_text(&shown));
	strbuf_clear(line);
}

static unsigned int widest_name(const struct list *l)
{
	unsigned int width = 4;
	size_t i;

	for (i = 0; i < l->count; i++) {
		unsigned int here = text_width(l->entries[i].name);

		width = MAX(width, here);
	}
	return width;
}

/* Adds a name in its column. */
static void add_name(struct strbuf *line, const char *name, unsigned int width)
{
	unsigned int used = text_width(name);

	strbuf_addf(line, "%s%*s", name, (int)(width > used ? width - used : 0), "");
}

static void print_sessions(const struct list *l)
{
	_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT;
	unsigned int width = widest_name(l);
	size_t i;

	add_name(&line, "Name", width);
	strbuf_addf(&line, "  %-19s  %-19s  %-5s  %9s  %9s  %s", "Begin", "End", "Zone", "Samples",
		    "Size", "Events, command");
	print_line(&line);
	for (i = 0; i < l->count; i++) {
		const struct entry *e = &l->entries[i];
		int64_t began_ms = ms_of(e->setup.began), ended_ms = ms_of(e->setup.ended);
		_cleanup_free_ char *began = second_text(began_ms), *ended = second_text(ended_ms),
				    *zone = zone_text(began_ms, ended_ms),
				    *size = size_text(e->bytes), *events = events_text(&e->setup);

		add_name(&line, e->name, width);
		strbuf_addf(&line, "  %-19s  %-19s  %-5s  %9" PRIu64 "  %9s  %s", began, ended,
			    zone, e->samples, size, events);
		if (e->setup.command)
			strbuf_addf(&line, ", %s", e->setup.command);
		print_line(&line);
	}
}

static void print_history(const struct list *l)
{
	_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT;
	unsigned int width = widest_name(l), level;
	size_t i;

	add_name(&line, "Name", width);
	strbuf_addf(&line, "  %6s  %-19s  %-19s  %-5s  %9s", "Slices", "From", "To", "Zone",
		    "Size");
	print_line(&line);
	for (i = 0; i < l->count; i++)
		for (level = 0; level < HISTORY_LEVELS; level++) {
			const struct history_kept *kept = &l->entries[i].kept[level];
			_cleanup_free_ char *from = NULL, *to = NULL, *zone = NULL, *size = NULL;

			if (!kept->files)
				continue;
			from = second_text(kept->span.begin_ms);
			to = second_text(kept->span.end_ms);
			zone = zone_text(kept->span.begin_ms, kept->span.end_ms);
			size = size_text(kept->bytes);
			add_name(&line, l->entries[i].name, width);
			strbuf_addf(&line, "  %6s  %-19s  %-19s  %-5s  %9s",
				    history_level(level)->slice_text, from, to, zone, size);
			print_line(&line);
		}
}

/* --- JSON --- */

static void write_time(struct json *j, const char *name, int64_t ms)
{
	_cleanup_free_ char *text = ms ? window_time(ms) : NULL;

	if (text)
		json_string(j, name, text);
}

static void write_session(const struct entry *e, struct json *j)
{
	size_t i;

	write_time(j, "began", ms_of(e->setup.began));
	write_time(j, "ended", ms_of(e->setup.ended));
	if (e->setup.hostname)
		json_string(j, "host", e->setup.hostname);
	if (e->setup.command)
		json_string(j, "command", e->setup.command);
	json_open(j, "events", '[');
	for (i = 0; i < e->setup.event_count; i++)
		json_string(j, NULL, e->setup.events[i].name);
	json_close(j, ']');
	json_u64(j, "samples", e->samples);
	json_u64(j, "bytes", e->bytes);
}

static void write_history(const struct entry *e, struct json *j)
{
	unsigned int level;

	json_open(j, "history", '[');
	for (level = 0; level < HISTORY_LEVELS; level++) {
		const struct history_kept *kept = &e->kept[level];

		if (!kept->files)
			continue;
		json_open(j, NULL, '{');
		json_i64(j, "slice_ms", history_level(level)->slice_ms);
		write_time(j, "begin", kept->span.begin_ms);
		write_time(j, "end", kept->span.end_ms);
		json_u64(j, "bytes", kept->bytes);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void print_json(const struct list *l,
		       void (*write_entry)(const struct entry *e, struct json *j))
{
	struct json j = JSON_INIT(stdout);
	size_t i;

	json_open(&j, NULL, '[');
	for (i = 0; i < l->count; i++) {
		json_line(&j);
		json_open(&j, NULL, '{');
		json_string(&j, "name", l->entries[i].name);
		write_entry(&l->entries[i], &j);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	(void)fputc('\n', stdout);
}

/* --- actions --- */

int session_action_list(const char *session_dir, bool json, struct error *err)
{
	_cleanup_(list_done) struct list l = { 0 };
	int r = read_list(session_dir, &l, err);

	if (r == 0 && json)
		print_json(&l, write_session);
	else if (r == 0)
		print_sessions(&l);
	return r < 0 ? r : list_status(&l, err);
}

int session_action_history(const char *session_dir, bool json, struct error *err)
{
	_cleanup_(list_done) struct list l = { 0 };
	int r = read_list(session_dir, &l, err);

	if (r == 0 && json)
		print_json(&l, write_history);
	else if (r == 0)
		print_history(&l);
	return r < 0 ? r : list_status(&l, err);
}

/* Deletes the session as its owner; the current one under the lock that a writer holds. */
static int delete_as_owner(const char *session_dir, const char *name, struct error *err)
{
	_cleanup_close_ int lock = -1;
	_cleanup_free_ char *samples = session_samples(session_dir, name);
	struct stat st;

	if (session_name_check(name, err) < 0)
		return -EINVAL;
	if (lstat(samples, &st) < 0 || !S_ISDIR(st.st_mode))
		return error_set(err, -ENOENT,
				 "%s: no session '%s'; 'opcontrol --list-sessions' lists them",
				 session_dir, name);
	if (!strcmp(name, "current")) {
		lock = session_lock(session_dir, err);
		if (lock < 0)
			return lock;
	}
	return session_remove(session_dir, name, err);
}

int session_action_delete(const char *session_dir, const char *name, struct error *err)
{
	int r;

	if (!strcmp(name, "current") && daemon_runs(session_dir))
		return error_set(err, -EBUSY,
				 "%s: the daemon is writing the current session; '--reset' empties "
				 "it, '--shutdown' ends the daemon",
				 session_dir);
	r = owner_become(session_dir, OWNER_EXCEPT_OUTPUT, NULL, err);
	if (r == 0)
		r = delete_as_owner(session_dir, name, err);
	(void)owner_pause();
	return r;
}
