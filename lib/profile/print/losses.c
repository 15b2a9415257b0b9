/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/print/losses.h"

#include "base/log.h"
#include "base/mem.h"
#include "history/history.h"
#include "profile/rows/container.h"
#include "profile/select/classes.h"
#include "profile/select/gather.h"
#include "sfile/session.h"
#include "sfile/sname.h"
#include "stats/counters.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A session being read: a counter of one CPU counts only if there is none for all CPUs. */
struct reading {
	struct losses *losses;
	const char *samples;
};

/* The counter's name without the directory of its CPU, "cpuN/". */
static const char *without_cpu(const char *name)
{
	size_t digits;

	if (strncmp(name, "cpu", 3))
		return name;
	digits = strspn(name + 3, "0123456789");
	return digits && name[3 + digits] == '/' ? name + 3 + digits + 1 : name;
}

/* OProfile 1.x has a directory throttled/ with a file, possibly empty, for each event. */
static bool is_throttled_event(const char *path)
{
	return !strncmp(path, "throttled/", strlen("throttled/"));
}

static void add_loss(struct losses *l, const char *name, uint64_t value, const struct counter *c)
{
	size_t i;

	for (i = 0; i < l->count; i++)
		if (!strcmp(l->list[i].name, name))
			break;
	if (i == l->count) {
		array_grow(&l->list, l->count + 1, &l->room);
		l->list[l->count++] = (struct loss){
			.name = xstrdup(name),
			.meaning = c ? counter_meaning(c)
				     : xstrdup("(a counter unknown to this version)"),
			.is_samples = c && c->kind == COUNTER_LOST,
		};
	}
	l->list[i].value += value;
	if (l->list[i].is_samples)
		l->samples += value;
}

static void read_counter(const char *path, uint64_t value, void *data)
{
	struct reading *reading = data;
	const char *name = without_cpu(path);
	const struct counter *c = counter_find(is_throttled_event(name) ? "throttled" : name);

	if (name != path && session_stat_get(reading->samples, name))
		return;
	if (is_throttled_event(name))
		value = MAX(value, (uint64_t)1);
	if (value == 0 || (c && c->kind == COUNTER_INFO))
		return;
	if (c && c->kind == COUNTER_RECORDED)
		reading->losses->recorded += value;
	else
		add_loss(reading->losses, name, value, c);
}

/* Samples whose file could not be written are counted as recorded, too (counters.h). */
static void take_off_unwritten(struct losses *l, const char *samples)
{
	uint64_t unwritten = session_stat_get(samples, "lost_samplefile");

	l->recorded -= MIN(unwritten, l->recorded);
}

/* What is known of a window of time: not why samples were lost. */
static void take_cover(struct losses *l, const struct history_cover *c)
{
	const struct counter *any = counter_find("history");

	if (c->lost)
		add_loss(l, any->name, c->lost, any);
	l->recorded += c->samples;
	l->received += c->samples;
	l->stretched += c->samples - MIN(c->taken, c->samples);
}

/* Adds the counters of a session. */
static void take_session(struct losses *l, const struct gather_session *s)
{
	struct reading reading = { l, s->samples };
	int r;

	if (s->history) {
		take_cover(l, history_covers(s->history));
		return;
	}
	r = session_stat_each(reading.samples, read_counter, &reading);
	take_off_unwritten(l, reading.samples);
	l->received += session_stat_get(reading.samples, "sample_received");
	l->stretched += session_stat_get(reading.samples, "sample_stretched");
	l->cost_ns += session_stat_get(reading.samples, "cost_ns");
	l->cost_of_ns += session_stat_get(reading.samples, "cost_of_ns");
	if (r < 0 && r != -ENOENT)
		log_warn("%s/stats: %s; the report may miss losses", reading.samples, strerror(-r));
}

/* Notes that @value of the loss is the host's. */
static void note_host(struct loss *loss, uint64_t value, const char *host)
{
	size_t i = 0;

	if (!value)
		return;
	while (i < loss->part_count && strcmp(loss->parts[i].host, host) != 0)
		i++;
	if (i == loss->part_count) {
		array_grow(&loss->parts, i + 1, &loss->part_room);
		loss->parts[loss->part_count++] = (struct loss_part){ .host = host };
	}
	loss->parts[i].value += value;
}

static int by_value(const void *a, const void *b)
{
	const struct loss_part *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	return strcmp(x->host, y->host);
}

void losses_collect(const struct gather *g, struct losses *ret)
{
	size_t i, k;

	*ret = (struct losses){ 0 };
	for (i = 0; i < g->session_count; i++) {
		const size_t count = ret->count;
		_cleanup_free_ uint64_t *before = xcalloc(count + 1, sizeof(*before));

		for (k = 0; k < count; k++)
			before[k] = ret->list[k].value;
		take_session(ret, &g->sessions[i]);
		for (k = 0; k < ret->count && g->has_archives; k++)
			note_host(&ret->list[k], ret->list[k].value - (k < count ? before[k] : 0),
				  g->sessions[i].host ?: "unknown");
	}
	for (k = 0; k < ret->count; k++)
		if (ret->list[k].part_count)
			qsort(ret->list[k].parts, ret->list[k].part_count,
			      sizeof(*ret->list[k].parts), by_value);
}

double losses_weight(const struct losses *l)
{
	return l->stretched < l->received
		       ? (double)l->received / (double)(l->received - l->stretched)
		       : 1;
}

static bool has_event(const struct gather *g, size_t session, const char *event)
{
	size_t i;

	for (i = 0; i < g->file_count; i++)
		if (g->files[i].session == session && !strcmp(g->files[i].event, event))
			return true;
	return false;
}

double losses_wait_squares(const struct gather *g, const char *event)
{
	const double us2 = 1e6; /* in a millisecond squared */
	const struct counter *counter = counter_of_waits(event);
	double sum = 0;
	size_t i;

	if (!sname_event_is_time(event))
		return 0;
	for (i = 0; counter && i < g->session_count; i++) {
		uint64_t squares = session_stat_get(g->sessions[i].samples, counter->name);

		if (!squares && has_event(g, i, event))
			return HUGE_VAL;
		sum += (double)squares * us2;
	}
	return sum > 0 ? sum : HUGE_VAL;
}

void losses_set_noise(const struct losses *l, const struct gather *g, const struct classes *classes,
		      struct container *rows)
{
	size_t i;

	rows->weight = losses_weight(l);
	for (i = 0; i < rows->class_count; i++)
		rows->squares[i] = i && classes->classes[i].event == classes->classes[i - 1].event
					   ? rows->squares[i - 1]
					   : losses_wait_squares(g, classes->classes[i].event);
}

void losses_done(struct losses *l)
{
	size_t i;

	for (i = 0; i < l->count; i++) {
		free(l->list[i].name);
		free(l->list[i].meaning);
		free(l->list[i].parts);
	}
	free(l->list);
	*l = (struct losses){ 0 };
}
