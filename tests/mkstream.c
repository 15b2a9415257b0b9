/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mkstream FILE < TEXT: writes a stream as 'oprofiled --tee' does, from a description, so that a
 * test of the recorder can replay it. The lines are ("#" starts a comment):
 *
 *	event NAME COUNT		before all others; "TIMER" counts per second
 *	process CPU TGID TID APP [CGROUP]	whose samples follow
 *	sample COUNTER WEIGHT IMAGE OFFSET
 *	chain COUNTER WEIGHT END IMAGE OFFSET ...	the innermost frame first
 *	total COUNTER VALUE		of the driver (lib/stats/counters.h)
 *
 * An image is a path, anon:LABEL:TGID:START:END, or "none".
 */
#include "base/error.h"
#include "base/mem.h"
#include "base/parse.h"
#include "identity/cookie.h"
#include "stats/counters.h"
#include "stream/evbuf.h"
#include "stream/stream_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { WORDS_MAX = 64 };

struct maker {
	const char *path;
	struct event events[EVENT_MAX];
	size_t event_count;
	struct cookie_table *cookies;
	struct stream_file *file; /* opened by the first line that is no event */
	struct evbuf *buffer;
	struct driver_stats totals;
	struct error err;
};

static uint64_t number(const char *word)
{
	uint64_t value = 0;

	(void)parse_u64(word, 0, UINT64_MAX, &value);
	return value;
}

static uint64_t image(struct maker *m, char *word)
{
	char *parts[4], *rest = word;
	size_t i;

	if (!strcmp(word, "none"))
		return EVBUF_INVALID_COOKIE;
	if (strncmp(word, "anon:", 5) != 0)
		return cookie_file(m->cookies,
				   &(struct file_identity){ .device = 1, .inode = strlen(word) },
				   word);
	rest += 5;
	for (i = 0; i < 4; i++)
		parts[i] = strsep(&rest, ":") ?: (char *)"";
	return cookie_anon(m->cookies, (uint32_t)number(parts[1]), number(parts[2]),
			   number(parts[3]), parts[0]);
}

static int do_event(struct maker *m, size_t n, char **words)
{
	struct event *e = &m->events[m->event_count];

	if (n != 2 || m->event_count == EVENT_MAX || m->file)
		return -EINVAL;
	event_timer(e, number(words[1]), true, true);
	(void)snprintf(e->name, sizeof(e->name), "%s", words[0]);
	e->is_timer = !strcmp(words[0], "TIMER");
	if (!e->is_timer) {
		e->count = e->rate_hz;
		e->rate_hz = 0;
	}
	m->event_count++;
	return 0;
}

static int do_process(struct maker *m, size_t n, char **words)
{
	struct evbuf_context context = { 0 };

	if (n != 4 && n != 5)
		return -EINVAL;
	context.cpu = (uint32_t)number(words[0]);
	context.tgid = (uint32_t)number(words[1]);
	context.tid = (uint32_t)number(words[2]);
	context.app = image(m, words[3]);
	context.cgroup = n == 5 ? cookie_cgroup(m->cookies, words[4]) : EVBUF_NO_COOKIE;
	evbuf_context(m->buffer, &context);
	return 0;
}

static int do_sample(struct maker *m, size_t n, char **words)
{
	if (n != 4)
		return -EINVAL;
	evbuf_sample(m->buffer, image(m, words[2]), number(words[3]),
		     (unsigned int)number(words[0]), number(words[1]));
	return 0;
}

static int do_chain(struct maker *m, size_t n, char **words)
{
	struct evbuf_frame frames[WORDS_MAX / 2];
	struct evbuf_trace trace = { 0 };
	size_t i, count = 0;

	if (n < 5 || n % 2 == 0)
		return -EINVAL;
	trace.counter = (unsigned int)number(words[0]);
	trace.weight = number(words[1]);
	while (trace.end < CHAIN_END_COUNT_ && strcmp(chain_end_name(trace.end), words[2]) != 0)
		trace.end++;
	for (i = 3; i < n; i += 2)
		frames[count++] = (struct evbuf_frame){ image(m, words[i]), number(words[i + 1]) };
	evbuf_chain(m->buffer, frames, count, &trace);
	return 0;
}

static int do_total(struct maker *m, size_t n, char **words)
{
	const struct counter *c = n == 2 ? counter_find(words[0]) : NULL;

	if (!c || c->source != COUNTER_OF_DRIVER)
		return -EINVAL;
	*counter_place(c, &m->totals) = number(words[1]);
	return 0;
}

static const struct {
	const char *word;
	int (*run)(struct maker *m, size_t n, char **words);
} commands[] = {
	{ "event", do_event }, { "process", do_process }, { "sample", do_sample },
	{ "chain", do_chain }, { "total", do_total },
};

static int run_line(struct maker *m, char *line)
{
	char *words[WORDS_MAX], *rest = NULL, *word;
	size_t n = 0, i;

	line[strcspn(line, "#\n")] = '\0';
	for (word = strtok_r(line, " \t", &rest); word && n < WORDS_MAX;
	     word = strtok_r(NULL, " \t", &rest))
		words[n++] = word;
	if (!n)
		return 0;
	if (!m->file && strcmp(words[0], "event") != 0) {
		if (stream_file_create(m->path, m->events, m->event_count, m->cookies, &m->file,
				       &m->err) < 0)
			return -EIO;
		m->buffer = evbuf_new(256, stream_file_words, m->file);
	}
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(commands[i].word, words[0]))
			return commands[i].run(m, n - 1, words + 1);
	return -EINVAL;
}

int main(int argc, char **argv)
{
	struct maker m = { .path = argv[1], .cookies = cookie_table_new() };
	char line[4096], copy[4096];
	int r = argc == 2 ? 0 : -EINVAL;

	while (r == 0 && fgets(line, sizeof(line), stdin)) {
		(void)strcpy(copy, line);
		r = run_line(&m, line);
		if (r < 0)
			(void)fprintf(stderr, "mkstream: %s %s", m.err.text, copy);
	}
	if (m.buffer && r == 0)
		r = evbuf_flush(m.buffer);
	evbuf_free(m.buffer);
	if (stream_file_close(m.file, &m.totals, &m.err) < 0)
		r = -EIO;
	cookie_table_free(m.cookies);
	return r < 0;
}
