/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oprofilefs/internal/node_table.h"

#include "base/mem.h"
#include "base/parse.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* --- numbers --- */

/* A number in C's notation. */
static int read_number(const char *text, uint64_t *ret)
{
	int r;

	if (*text != '0' || text[1] < '0' || text[1] > '9')
		return parse_u64(text, 0, UINT64_MAX, ret);
	r = parse_octal(&text, ret);
	return r == 0 && *text ? -EINVAL : r;
}

uint64_t *node_setting(struct nodes *n, const struct place *at)
{
	char *base = at->node->of_counter ? (char *)&n->settings.counters[at->number]
					  : (char *)&n->settings;

	return (uint64_t *)(void *)(base + at->node->offset);
}

static int check_stopped(const struct nodes *n, struct error *err)
{
	if (n->host->running(n->data))
		return error_set(err, -EBUSY,
				 "settings cannot change while sampling; write 0 to enable first");
	return 0;
}

static int write_setting(struct nodes *n, const struct place *at, const char *value,
			 struct error *err)
{
	const struct node *node = at->node;
	uint64_t number, max = node->max ?: setting_most(node->setting);
	int r = check_stopped(n, err);

	if (r < 0)
		return r;
	if (read_number(value, &number) < 0 || number < node->min || number > max)
		return error_set(err, -EINVAL, "'%s' is not a number from %" PRIu64 " to %" PRIu64,
				 value, node->min, max);
	*node_setting(n, at) = number;
	n->changed = true;
	return 0;
}

/* The event of a counter: its code, or its name. */
static int write_event(struct nodes *n, const struct place *at, const char *value,
		       struct error *err)
{
	char code[NODE_NUMBER_ROOM];
	uint64_t number;
	int r;

	if (*value >= '0' && *value <= '9')
		return write_setting(n, at, value, err);
	/* The host takes its time for a name. */
	r = check_stopped(n, err);
	if (r == 0)
		r = n->host->event_code(value, &number, n->data, err);
	if (r < 0)
		return r;
	(void)snprintf(code, sizeof(code), "%" PRIu64, number);
	return write_setting(n, at, code, err);
}

/* --- other nodes --- */

static int read_enable(const struct nodes *n, const struct place *at _unused_, struct strbuf *text)
{
	strbuf_addf(text, "%d\n", n->host->running(n->data));
	return 0;
}

static int write_enable(struct nodes *n, const struct place *at _unused_, const char *value,
			struct error *err)
{
	uint64_t on;

	if (read_number(value, &on) < 0)
		return error_set(err, -EINVAL, "'%s' is not a number", value);
	return n->host->enable(on != 0, n->data, err);
}

/* Any value will do. */
static int write_dump(struct nodes *n, const struct place *at _unused_, const char *value _unused_,
		      struct error *err)
{
	return n->host->dump(n->data, err);
}

/* It is not text: the transport gets it by a request of its own. */
static int read_buffer(const struct nodes *n _unused_, const struct place *at _unused_,
		       struct strbuf *text _unused_)
{
	return -EINVAL;
}

static int read_cpu_type(const struct nodes *n, const struct place *at _unused_,
			 struct strbuf *text)
{
	strbuf_adds(text, n->host->cpu_type(n->data));
	return 0;
}

static int read_pointer_size(const struct nodes *n _unused_, const struct place *at _unused_,
			     struct strbuf *text)
{
	strbuf_addf(text, "%zu\n", sizeof(uint64_t));
	return 0;
}

static void name_number(uint64_t number, const char *before, part_item *item, void *data)
{
	char part[NODE_NAME_ROOM];

	(void)snprintf(part, sizeof(part), "%s%" PRIu64, before, number);
	item(part, data);
}

static bool has_counter(const struct nodes *n, const struct place *at)
{
	return at->number < n->settings.counter_count;
}

static void each_counter(const struct nodes *n, const struct place *in _unused_, part_item *item,
			 void *data)
{
	for (size_t i = 0; i < n->settings.counter_count; i++)
		name_number(i, "", item, data);
}

static bool has_cpu(const struct nodes *n, const struct place *at)
{
	return at->number < n->host->cpu_count(n->data);
}

static void each_cpu(const struct nodes *n, const struct place *in _unused_, part_item *item,
		     void *data)
{
	unsigned int count = n->host->cpu_count(n->data);

	for (unsigned int i = 0; i < count; i++)
		name_number(i, "cpu", item, data);
}

static bool find_stat(const struct nodes *n, const struct place *at, uint64_t *ret)
{
	const char *name;

	for (size_t i = 0; n->host->stat(i, &name, ret, n->data); i++)
		if (!strcmp(name, at->name))
			return true;
	return false;
}

static bool has_stat(const struct nodes *n, const struct place *at)
{
	uint64_t value;

	return find_stat(n, at, &value);
}

static void each_stat(const struct nodes *n, const struct place *in _unused_, part_item *item,
		      void *data)
{
	const char *name;
	uint64_t value;

	for (size_t i = 0; n->host->stat(i, &name, &value, n->data); i++)
		item(name, data);
}

static int read_stat(const struct nodes *n, const struct place *at, struct strbuf *text)
{
	uint64_t value;

	if (!find_stat(n, at, &value))
		return -ENOENT;
	strbuf_addf(text, "%" PRIu64 "\n", value);
	return 0;
}

static bool find_cpu_stat(const struct nodes *n, const struct place *at, uint64_t *ret)
{
	const char *name;

	if (!has_cpu(n, at))
		return false;
	for (size_t i = 0; n->host->cpu_stat((unsigned int)at->number, i, &name, ret, n->data); i++)
		if (!strcmp(name, at->name))
			return true;
	return false;
}

static bool has_cpu_stat(const struct nodes *n, const struct place *at)
{
	uint64_t value;

	return find_cpu_stat(n, at, &value);
}

static void each_cpu_stat(const struct nodes *n, const struct place *in, part_item *item,
			  void *data)
{
	const char *name;
	uint64_t value;

	for (size_t i = 0; n->host->cpu_stat((unsigned int)in->number, i, &name, &value, n->data);
	     i++)
		item(name, data);
}

static int read_cpu_stat(const struct nodes *n, const struct place *at, struct strbuf *text)
{
	uint64_t value;

	if (!find_cpu_stat(n, at, &value))
		return -ENOENT;
	strbuf_addf(text, "%" PRIu64 "\n", value);
	return 0;
}

static bool has_ibs_fetch(const struct nodes *n, const struct place *at _unused_)
{
	return n->settings.has_ibs_fetch;
}

static bool has_ibs_op(const struct nodes *n, const struct place *at _unused_)
{
	return n->settings.has_ibs_op;
}

static bool has_cookie(const struct nodes *n, const struct place *at)
{
	_cleanup_free_ char *path = n->host->cookie_path(at->number, n->data);

	return path != NULL;
}

static void each_cookie(const struct nodes *n, const struct place *in _unused_, part_item *item,
			void *data)
{
	uint64_t cookie;

	for (size_t i = 0; (cookie = n->host->cookie_at(i, n->data)); i++) {
		_cleanup_free_ char *path = n->host->cookie_path(cookie, n->data);

		if (path)
			name_number(cookie, "", item, data);
	}
}

static int read_cookie(const struct nodes *n, const struct place *at, struct strbuf *text)
{
	_cleanup_free_ char *path = n->host->cookie_path(at->number, n->data);

	if (!path)
		return -ENOENT;
	strbuf_addf(text, "%s\n", path);
	return 0;
}

/* --- the table --- */

#define DIRECTORY(path, bits, text, ...)                                                           \
	{                                                                                          \
		.pattern = path, .mode = S_IFDIR | (bits), .help = text, .offset = NO_SETTING,     \
		__VA_ARGS__                                                                        \
	}
#define FILE_NODE(path, bits, text, ...)                                                           \
	{                                                                                          \
		.pattern = path, .mode = S_IFREG | (bits), .help = text, .offset = NO_SETTING,     \
		__VA_ARGS__                                                                        \
	}
#define SETTING(path, field, least, most, text, ...)                                               \
	{                                                                                          \
		.pattern = path, .mode = S_IFREG | 0644, .help = text, .min = least, .max = most,  \
		.offset = offsetof(struct node_settings, field), .write = write_setting,           \
		__VA_ARGS__                                                                        \
	}
#define DAEMON_SETTING(name, id, least, text)                                                      \
	SETTING(#name, name, least, 0, text, .setting = SETTING_##id),
#define COUNTER(field, function, most, text)                                                       \
	{                                                                                          \
		.pattern = "#/" #field, .mode = S_IFREG | 0644, .help = text, .max = most,         \
		.offset = offsetof(struct node_counter, field), .of_counter = true,                \
		.exists = has_counter, .write = function                                           \
	}

/* clang-format off */
const struct node node_table[] = {
	DIRECTORY("", 0755, "oprofilefs"),
	FILE_NODE("enable", 0644, "1 while sampling; write 1 to start, 0 to stop",
		  .read = read_enable, .write = write_enable),
	FILE_NODE("dump", 0666, "write anything to record all samples taken so far",
		  .write = write_dump),
	FILE_NODE("buffer", 0400, "the event buffer, for one reader", .read = read_buffer),
	NODES_OF_SETTINGS(DAEMON_SETTING)
	FILE_NODE("cpu_type", 0444, "key of the CPU type", .read = read_cpu_type),
	FILE_NODE("pointer_size", 0444, "bytes of a word of the buffer", .read = read_pointer_size),
	DIRECTORY("#", 0755, "an event", .exists = has_counter, .each = each_counter),
	COUNTER(enabled, write_setting, 1, "1: this event is sampled"),
	COUNTER(event, write_event, UINT32_MAX, "its code; its name can be written"),
	COUNTER(count, write_setting, INT64_MAX,
		"events between two samples; for the clock, samples per second"),
	COUNTER(unit_mask, write_setting, UINT32_MAX, "selects kinds of the event"),
	COUNTER(kernel, write_setting, 1, "1: sampled in the kernel"),
	COUNTER(user, write_setting, 1, "1: sampled in user space"),
	DIRECTORY("stats", 0755, "the daemon's counters"),
	FILE_NODE("stats/$", 0444, "a counter",
		  .exists = has_stat, .each = each_stat, .read = read_stat),
	DIRECTORY("stats/cpu#", 0755, "counters of a CPU", .exists = has_cpu, .each = each_cpu),
	FILE_NODE("stats/cpu#/$", 0444, "a counter",
		  .exists = has_cpu_stat, .each = each_cpu_stat, .read = read_cpu_stat),
	DIRECTORY("ibs_fetch", 0755, "AMD's samples of fetches", .exists = has_ibs_fetch),
	SETTING("ibs_fetch/enable", ibs_fetch.enable, 0, 1, "1: they are taken",
		.exists = has_ibs_fetch),
	SETTING("ibs_fetch/max_count", ibs_fetch.max_count, 1, 1048575,
		"fetches between two samples", .exists = has_ibs_fetch),
	SETTING("ibs_fetch/rand_enable", ibs_fetch.rand_enable, 1, 1,
		"1: at random intervals (always)", .exists = has_ibs_fetch),
	DIRECTORY("ibs_op", 0755, "AMD's samples of ops", .exists = has_ibs_op),
	SETTING("ibs_op/enable", ibs_op.enable, 0, 1, "1: they are taken", .exists = has_ibs_op),
	SETTING("ibs_op/max_count", ibs_op.max_count, 1, 134217727,
		"cycles or ops between two samples", .exists = has_ibs_op),
	SETTING("ibs_op/dispatched_ops", ibs_op.dispatched_ops, 0, 1,
		"1: count dispatched ops, 0: cycles", .exists = has_ibs_op),
	SETTING("ibs_op/branch_target", ibs_op.branch_target, 0, 1,
		"1: record the targets of branches", .exists = has_ibs_op),
	/* Shows what all users run: only for those who may read the buffer. */
	DIRECTORY(NODE_COOKIES, 0500, "images by their cookies in the buffer"),
	FILE_NODE(NODE_COOKIES "/#", 0400, "path of the image",
		  .exists = has_cookie, .each = each_cookie, .read = read_cookie),
};
/* clang-format on */

const size_t node_count = ARRAY_SIZE(node_table);
