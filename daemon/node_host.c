/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "node_host.h"

#include "base/mem.h"
#include "identity/cookie.h"
#include "event/catalog.h"
#include "daemon_options.h"
#include "event_box.h"
#include "view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	COUNTERS_MIN = 4,	   /* room for the kernel's own events, which need no counter */
	WATERSHED_DEFAULT = 32768, /* words, as in OProfile 1.x */
	IBS_COUNT_DEFAULT = 250000,
};

static_assert((int)NODES_COUNTERS_MAX == (int)EVENT_MAX, "a directory for each event");

/* --- settings as nodes --- */

static struct node_counter show_event(const struct settings *s, const struct event *e)
{
	uint64_t rate_hz = e->rate_hz ?: s->rate;

	return (struct node_counter){ .enabled = 1,
				      .event = e->code,
				      .count = e->is_timer ? rate_hz : e->count,
				      .unit_mask = e->unit_mask,
				      .kernel = e->kernel,
				      .user = e->user };
}

/* The number of counters of the CPU, according to its events, but at least COUNTERS_MIN. */
static size_t hardware_counters(void)
{
	size_t i, count = COUNTERS_MIN;

	for (i = 0; i < catalog_count(); i++) {
		uint64_t counters = catalog_peek(i)->counters;

		if (catalog_peek(i)->kind == CATALOG_COUNTER && counters && counters != UINT64_MAX)
			count = MAX(count, (size_t)(64 - __builtin_clzll(counters)));
	}
	return MIN(count, (size_t)NODES_COUNTERS_MAX);
}

static bool has_pmu(const char *name)
{
	_cleanup_free_ char *path = xasprintf("/sys/bus/event_source/devices/%s", name);

	return access(path, F_OK) == 0;
}

static void show_ibs(const struct evderived *derived, struct node_settings *ret)
{
	const struct event_terms *fetch = &derived->ibs[IBS_FETCH], *op = &derived->ibs[IBS_OP];

	ret->ibs_fetch.enable = fetch->count > 0;
	ret->ibs_fetch.max_count = fetch->count ?: IBS_COUNT_DEFAULT;
	ret->ibs_fetch.rand_enable = 1;
	ret->ibs_op.enable = op->count > 0;
	ret->ibs_op.max_count = op->count ?: IBS_COUNT_DEFAULT;
	ret->ibs_op.dispatched_ops = !op->count || op->unit_mask & IBS_OPS;
	ret->ibs_op.branch_target = (op->unit_mask & IBS_BRANCH_TARGET) != 0;
}

static void show_settings(const struct daemon_options *o, struct node_settings *ret)
{
	const struct settings *s = &o->settings;
	size_t i;

	*ret = (struct node_settings){
		.buffer_size = s->buffer_size ?: DRIVER_BUFFER_WORDS,
		.buffer_watershed = s->buffer_watershed ?: WATERSHED_DEFAULT,
		.cpu_buffer_size = s->cpu_buffer_size ?: DRIVER_CPU_BUFFER_BYTES / sizeof(uint64_t),
		.backtrace_depth = s->callgraph,
		.has_ibs_fetch = has_pmu("ibs_fetch"),
		.has_ibs_op = has_pmu("ibs_op"),
	};
	ret->counter_count = MAX(o->event_count, hardware_counters());
	for (i = 0; i < ret->counter_count; i++)
		ret->counters[i] = (struct node_counter){ .kernel = 1, .user = 1 };
	for (i = 0; i < o->event_count; i++)
		ret->counters[i] = show_event(s, &o->events[i]);
	show_ibs(&o->derived, ret);
}

/* --- nodes as settings --- */

static int make_event(const struct node_host *host, size_t number, const struct node_counter *c,
		      struct event *ret, struct error *err)
{
	const struct event_terms terms = { c->count, c->unit_mask, c->kernel, c->user };
	int r = event_box_make(host->events, c->event, &terms, ret, err);

	return r < 0 ? error_prefix(err, "%zu", number) : 0;
}

static bool same_counter(const struct node_counter *a, const struct node_counter *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/* Takes the events of the enabled counters. A counter that was not written keeps its event, which
 * may have properties that numbers cannot express. */
static int take_events(const struct node_host *host, const struct node_settings *shown,
		       const struct node_settings *wanted, struct daemon_options *o,
		       struct error *err)
{
	struct event events[EVENT_MAX];
	size_t i, count = 0, old = o->event_count;
	int r;

	for (i = 0; i < wanted->counter_count; i++) {
		const struct node_counter *c = &wanted->counters[i];

		if (!c->enabled)
			continue;
		if (i < old && same_counter(c, &shown->counters[i])) {
			events[count++] = o->events[i];
			continue;
		}
		r = make_event(host, i, c, &events[count], err);
		if (r < 0)
			return r;
		count++;
	}
	if (!count && !evderived_name(&o->derived))
		return error_set(err, -EINVAL, "no counter is enabled: write 1 to 0/enabled");
	memcpy(o->events, events, count * sizeof(*events));
	o->event_count = count;
	return 0;
}

/* Adds the event that counts all of AMD's samples of a kind. */
static int derive_all(struct evderived *d, enum ibs_kind kind, uint64_t count, uint32_t unit_mask,
		      struct error *err)
{
	struct event all = {
		.count = count,
		.unit_mask = unit_mask,
		.kernel = true,
		.user = true,
		.feature = ibs_kinds[kind].pmu,
	};

	(void)snprintf(all.name, sizeof(all.name), "%sALL", ibs_kinds[kind].prefix);
	return evderived_add(d, &all, err);
}

/* Adds the requested IBS samples. */
static int take_ibs(const struct node_settings *wanted, struct daemon_options *o, struct error *err)
{
	uint32_t op_mask = (wanted->ibs_op.dispatched_ops ? IBS_OPS : 0) |
			   (wanted->ibs_op.branch_target ? IBS_BRANCH_TARGET : 0);
	int r = 0;

	o->derived = (struct evderived){ 0 };
	if (wanted->ibs_fetch.enable)
		r = derive_all(&o->derived, IBS_FETCH, wanted->ibs_fetch.max_count, 0, err);
	if (r == 0 && wanted->ibs_op.enable)
		r = derive_all(&o->derived, IBS_OP, wanted->ibs_op.max_count, op_mask, err);
	return r;
}

static int set_number(struct settings *s, enum setting_id id, uint64_t number, struct error *err)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%" PRIu64, number);
	return settings_set(s, id, text, err);
}

/* Applies the written settings to @o, but only those that differ from what the nodes showed, which
 * may be a default that depends on other settings. */
static int take_settings(const struct node_host *host, const struct node_settings *wanted,
			 struct daemon_options *o, struct error *err)
{
	struct settings *s = &o->settings;
	struct node_settings shown;
	int r = 0;

	show_settings(o, &shown);
	if (wanted->buffer_watershed >= wanted->buffer_size)
		return error_set(err, -EINVAL, "buffer_watershed must be less than buffer_size");
#define X(node, id, ...)                                                                           \
	if (r == 0 && wanted->node != shown.node)                                                  \
		r = set_number(s, SETTING_##id, wanted->node, err);
	NODES_OF_SETTINGS(X)
#undef X
	if (r == 0 && (memcmp(&wanted->ibs_fetch, &shown.ibs_fetch, sizeof(shown.ibs_fetch)) != 0 ||
		       memcmp(&wanted->ibs_op, &shown.ibs_op, sizeof(shown.ibs_op)) != 0))
		r = take_ibs(wanted, o, err);
	return r < 0 ? r : take_events(host, &shown, wanted, o, err);
}

int node_host_take_over(struct node_host *host, struct nodes *nodes, struct error *err)
{
	struct daemon_options *o = host->options, wanted = *o;
	_cleanup_(settings_done) struct settings before = o->settings;
	struct collector_config config;
	int r;

	settings_copy(&before, &wanted.settings);
	r = take_settings(host, nodes_settings(nodes), &wanted, err);
	if (r == 0) {
		daemon_options_collector(&wanted, &config);
		r = collector_change(host->collector, &config, o->no_seccomp, err);
	}
	if (r < 0) {
		before = wanted.settings; /* so that the old settings are freed */
		return r;
	}
	*o = wanted;
	nodes_taken_over(nodes);
	return 0;
}

/* --- what nodes show --- */

static bool host_running(void *data)
{
	return ((const struct node_host *)data)->view->running;
}

static int host_enable(bool on, void *data, struct error *err)
{
	const struct node_host *h = data;

	return h->actions->enable(on, h->data, err);
}

static int host_dump(void *data, struct error *err)
{
	const struct node_host *h = data;

	return h->actions->dump(h->data, err);
}

static const char *host_cpu_type(void *data)
{
	return ((const struct node_host *)data)->view->cpu_type;
}

static int host_event_code(const char *name, uint64_t *ret, void *data, struct error *err)
{
	return event_box_code(((const struct node_host *)data)->events, name, ret, err);
}

/* The number of counters of driver and record, which come first in the table. */
static size_t own_counters(void)
{
	size_t n = 0;

	while (counter_at(n)->source != COUNTER_OF_SESSION)
		n++;
	return n;
}

/* Call chains that end because a frame is in no mapping: what the kernel driver counted as
 * bt_lost_no_mapping. */
static uint64_t chains_without_mapping(const struct record_stats *record)
{
	return record->chain_ends[CHAIN_END_NO_MAPPING];
}

/* The files of stats/: our counters, then two with their names in OProfile 1.x. */
static bool host_stat(size_t i, const char **ret_name, uint64_t *ret_value, void *data)
{
	const struct view *v = ((const struct node_host *)data)->view;
	size_t own = own_counters();

	if (i < own) {
		*ret_name = counter_at(i)->name;
		*ret_value = counter_value(counter_at(i), &v->driver, &v->record);
	} else if (i == own) {
		*ret_name = "event_lost_overflow";
		*ret_value = v->event_lost;
	} else if (i == own + 1) {
		*ret_name = "bt_lost_no_mapping";
		*ret_value = chains_without_mapping(&v->record);
	}
	return i <= own + 1;
}

static const struct {
	const char *name, *log;
	size_t offset;
} cpu_stats[] = {
#define X(name, log) { #name, log, offsetof(struct driver_cpu_stats, name) },
	COUNTERS_OF_CPU(X)
#undef X
};

static bool host_cpu_stat(unsigned int cpu, size_t i, const char **ret_name, uint64_t *ret_value,
			  void *data)
{
	const struct view *v = ((const struct node_host *)data)->view;

	if (i >= ARRAY_SIZE(cpu_stats) || cpu >= v->cpu_count)
		return false;
	*ret_name = cpu_stats[i].name;
	memcpy(ret_value, (const char *)&v->cpus[cpu] + cpu_stats[i].offset, sizeof(*ret_value));
	return true;
}

static unsigned int host_cpu_count(void *data)
{
	return ((const struct node_host *)data)->view->cpu_count;
}

static uint64_t host_cookie_at(size_t i, void *data)
{
	const struct cookie_table *t =
		collector_cookies(((const struct node_host *)data)->collector);

	return i < cookie_count(t) ? cookie_at(t, i)->cookie : 0;
}

static char *host_cookie_path(uint64_t cookie, void *data)
{
	const struct cookie_table *t =
		collector_cookies(((const struct node_host *)data)->collector);
	const struct cookie_image *image = cookie_lookup(t, cookie);

	/* Those that are in the buffer (collect/stream_outlet.h). */
	if (!image || (image->kind != COOKIE_FILE && image->kind != COOKIE_VDSO &&
		       image->kind != COOKIE_SOURCE))
		return NULL;
	return xstrdup(image->path);
}

static const struct nodes_host node_functions = {
	.running = host_running,
	.enable = host_enable,
	.dump = host_dump,
	.cpu_type = host_cpu_type,
	.event_code = host_event_code,
	.stat = host_stat,
	.cpu_stat = host_cpu_stat,
	.cpu_count = host_cpu_count,
	.cookie_at = host_cookie_at,
	.cookie_path = host_cookie_path,
};

void node_host_settings(const struct node_host *host, struct node_settings *ret)
{
	show_settings(host->options, ret);
}

struct nodes *node_host_nodes(struct node_host *host, const struct node_settings *settings)
{
	return nodes_new(settings, &node_functions, host);
}

void node_host_print_stats(struct node_host *host, FILE *out)
{
	const struct view *v = host->view;
	const char *name;
	uint64_t value;

	(void)fprintf(out, "Nr. samples lost due to buffer overflow: %" PRIu64 "\n", v->event_lost);
	(void)fprintf(out, "Nr. backtraces skipped due to no file mapping: %" PRIu64 "\n",
		      chains_without_mapping(&v->record));
	for (unsigned int cpu = 0; cpu < v->cpu_count; cpu++) {
		(void)fprintf(out, "---- Statistics for cpu : %u\n", cpu);
		for (size_t i = 0; host_cpu_stat(cpu, i, &name, &value, host); i++)
			(void)fprintf(out, "Nr. %s: %" PRIu64 "\n", cpu_stats[i].log, value);
	}
}
