/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "perf/counting.h"

#include "base/mem.h"
#include "file/path.h"
#include "perf/perf_event.h"
#include "perf/perf_pmus.h"
#include "perf/perf_refusal.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>

struct counting {
	struct event events[EVENT_MAX]; /* without the kernel where that is refused */
	bool user_only[EVENT_MAX];
	char *why_not[EVENT_MAX]; /* NULL: it counts */
	size_t event_count, place_count;
	int *fds; /* [place * event_count + event], -1: not open */
	struct perf_attrs attrs;
	const char *root; /* during counting_open() */
	bool of_task;	  /* not of the whole machine */
};

static int *fd_of(const struct counting *c, size_t place, size_t event)
{
	return &c->fds[place * c->event_count + event];
}

/* Events that the kernel raises in its own code only: without the kernel they are always 0. */
static bool needs_kernel(const struct event *event)
{
	return event->perf_type == PERF_TYPE_SOFTWARE &&
	       (event->perf_config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
		event->perf_config == PERF_COUNT_SW_CPU_MIGRATIONS);
}

static int open_one(struct counting *c, size_t event, const struct counting_place *place)
{
	struct event *e = &c->events[event];
	int fd = perf_event_open_counting(&c->attrs, e, place->tid, (unsigned int)place->cpu);

	if (!perf_refusal(fd) || !e->kernel || !e->user || needs_kernel(e))
		return fd;
	e->kernel = false;
	fd = perf_event_open_counting(&c->attrs, e, place->tid, (unsigned int)place->cpu);
	e->kernel = fd < 0;
	c->user_only[event] = !e->kernel;
	return fd;
}

static void close_event(struct counting *c, size_t event)
{
	size_t place;

	for (place = 0; place < c->place_count; place++) {
		cleanup_closep(fd_of(c, place, event));
		*fd_of(c, place, event) = -1;
	}
}

/* Says why an event did not open, and what helps. */
static int explain(const struct counting *c, const struct event *event, int code, struct error *err)
{
	const struct perf_attempt attempt = { c->root, c->of_task, event->name,
					      *event->probed != '\0' };
	uint64_t paranoid = 0;

	(void)path_read_u64(c->root, "/proc/sys/kernel/perf_event_paranoid", &paranoid);
	if (perf_refusal(code) && paranoid == 2 && c->of_task &&
	    (!event->user || needs_kernel(event)))
		return error_set(
			err, code,
			"%s: %s: the event happens in the kernel, and kernel.perf_event_paranoid "
			"is 2: run as root, or sysctl kernel.perf_event_paranoid=1",
			event->name, strerror(-code));
	return perf_refusal_explain(&attempt, code, err);
}

/* Opens an event in every place, but where the task has ended; at least in one. */
static int open_event(struct counting *c, size_t event, const struct counting_place *places,
		      struct error *err)
{
	const struct event *e = &c->events[event];
	size_t place, opened = 0;
	int fd = -ESRCH;

	for (place = 0; place < c->place_count; place++) {
		if (e->outside_cores && places[place].tid >= 0)
			return error_set(
				err, -EINVAL,
				"%s: the event counts for a whole socket, not for a task: count "
				"the whole system or CPUs",
				e->name);
		if (places[place].cpu >= 0 &&
		    !perf_pmus_counts(c->root, e, (unsigned int)places[place].cpu))
			continue;
		fd = open_one(c, event, &places[place]);
		if (fd < 0 && fd != -ESRCH)
			break;
		*fd_of(c, place, event) = fd < 0 ? -1 : fd;
		opened += fd >= 0;
	}
	if (place == c->place_count && opened)
		return 0;
	close_event(c, event);
	if (place == c->place_count && *e->pmu && fd == -ESRCH)
		return error_set(err, -EINVAL, "%s: PMU %s does not count on these CPUs", e->name,
				 e->pmu);
	return explain(c, e, fd, err);
}

int counting_open(const struct counting_config *config, struct counting **ret, struct error *err)
{
	_cleanup_(counting_freep) struct counting *c = xcalloc(1, sizeof(*c));
	size_t i, opened = 0, fds = config->event_count * config->place_count;
	struct error why = ERROR_INIT;

	assert(config->event_count && config->event_count <= EVENT_MAX && config->place_count);
	memcpy(c->events, config->events, config->event_count * sizeof(*c->events));
	c->fds = xcalloc(fds, sizeof(*c->fds));
	memset(c->fds, -1, fds * sizeof(*c->fds));
	c->event_count = config->event_count;
	c->place_count = config->place_count;
	c->attrs = (struct perf_attrs){ .inherit = config->inherit,
					.enable_on_exec = config->enable_on_exec,
					.open = config->open_event,
					.open_data = config->open_data };
	c->root = config->root;
	c->of_task = config->places[0].tid >= 0;
	for (i = 0; i < c->event_count; i++) {
		int r = open_event(c, i, config->places, &why);

		if (r < 0 && !config->optional)
			return error_set(err, r, "cannot count %s", why.text);
		if (r < 0)
			c->why_not[i] = xstrdup(why.text + strlen(c->events[i].name) + 2);
		else
			opened++;
	}
	if (!opened)
		return error_set(err, why.code, "cannot count %s", why.text);
	*ret = STEAL(c);
	return 0;
}

void counting_free(struct counting *c)
{
	size_t i;

	if (!c)
		return;
	for (i = 0; i < c->event_count; i++) {
		close_event(c, i);
		free(c->why_not[i]);
	}
	free(c->fds);
	free(c);
}

const char *counting_why_not(const struct counting *c, size_t event)
{
	return c->why_not[event];
}

bool counting_user_only(const struct counting *c, size_t event)
{
	return c->user_only[event];
}

static void control_all(struct counting *c, unsigned long request)
{
	size_t i;

	for (i = 0; i < c->event_count * c->place_count; i++)
		if (c->fds[i] >= 0)
			(void)ioctl(c->fds[i], request, 0); /* fails for no event that is open */
}

void counting_start(struct counting *c)
{
	control_all(c, PERF_EVENT_IOC_ENABLE);
}

void counting_stop(struct counting *c)
{
	control_all(c, PERF_EVENT_IOC_DISABLE);
}

int counting_read(const struct counting *c, struct counting_value *values, struct error *err)
{
	uint64_t words[3]; /* as perf_event_open_counting() asks for */
	ssize_t got;
	size_t i;

	for (i = 0; i < c->event_count * c->place_count; i++) {
		values[i] = (struct counting_value){ 0 };
		if (c->fds[i] < 0)
			continue;
		got = read(c->fds[i], words, sizeof(words));
		if (got != (ssize_t)sizeof(words))
			return error_errno(err, got < 0 ? -errno : -EIO, "cannot read event %s",
					   c->events[i % c->event_count].name);
		values[i] = (struct counting_value){ words[0], words[1], words[2] };
	}
	return 0;
}

static uint64_t difference(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

struct counting_value counting_since(const struct counting_value *now,
				     const struct counting_value *before)
{
	return (struct counting_value){ difference(now->raw, before->raw),
					difference(now->enabled_ns, before->enabled_ns),
					difference(now->running_ns, before->running_ns) };
}

static uint64_t scaled(const struct counting_value *v)
{
	unsigned __int128 all;

	if (!v->running_ns || v->running_ns >= v->enabled_ns)
		return v->raw;
	all = ((unsigned __int128)v->raw * v->enabled_ns + v->running_ns / 2) / v->running_ns;
	return all > UINT64_MAX ? UINT64_MAX : (uint64_t)all;
}

static void add_saturating(uint64_t *to, uint64_t more)
{
	if (__builtin_add_overflow(*to, more, to))
		*to = UINT64_MAX;
}

void counting_add(struct counting_sum *sum, const struct counting_value *value)
{
	add_saturating(&sum->count, scaled(value));
	add_saturating(&sum->raw, value->raw);
	add_saturating(&sum->enabled_ns, value->enabled_ns);
	add_saturating(&sum->running_ns, value->running_ns);
}

double counting_percent(const struct counting_sum *sum)
{
	if (sum->running_ns >= sum->enabled_ns)
		return 100;
	return 100 * (double)sum->running_ns / (double)sum->enabled_ns;
}
