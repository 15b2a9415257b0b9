/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/event.h"

#include "base/mem.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "event/catalog.h"
#include "event/cpu_type.h"
#include "event/evpfm.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <string.h>

/* The sample file's header has 32 bits for the count, its name prints them with a sign. */
static const uint64_t count_max = INT32_MAX;

/* So many names may stand in a message. */
enum { LISTED_MAX = 20 };

/* The parts of a specification, by their place. */
enum part { PART_NAME, PART_COUNT, PART_MASK, PART_KERNEL, PART_USER, PART_PRECISE, PART_COUNT_ };

struct parts {
	const char *spec; /* the whole, for messages */
	char *at[PART_COUNT_];
	size_t count;
	struct error *err;
};

static void parts_done(struct parts *parts)
{
	size_t i;

	for (i = 0; i < parts->count; i++)
		free(parts->at[i]);
}

static int parts_add(const char *part, void *data)
{
	struct parts *parts = data;

	if (parts->count == PART_COUNT_)
		return error_set(
			parts->err, -EINVAL,
			"event '%s': too many colons; it is NAME:count:unitmask:kernel:user:p",
			parts->spec);
	parts->at[parts->count++] = xstrdup(part);
	return 0;
}

/* Reads a number where the part is there; leaves @ret as it is where it is left out or empty. */
static int parts_number(const struct parts *parts, enum part part, const char *what, uint64_t max,
			uint64_t *ret)
{
	if (parts->count <= part || !*parts->at[part])
		return 0;
	if (parse_u64(parts->at[part], 0, max, ret) < 0)
		return error_set(parts->err, -EINVAL,
				 "event '%s': %s '%s' is not a number from 0 to %" PRIu64,
				 parts->spec, what, parts->at[part], max);
	return 0;
}

static int unknown_name(const struct catalog *c, const char *name, struct error *err)
{
	const char *problem = catalog_problem(c);
	const struct catalog_event *nearest = catalog_event_nearest(c, name);
	_cleanup_(strbuf_done) struct strbuf known = STRBUF_INIT;
	size_t i;

	if (problem)
		return error_set(err, -EINVAL, "event %s: %s", name, problem);
	if (nearest)
		return error_set(err, -EINVAL, "Invalid event %s; did you mean %s?", name,
				 nearest->name);
	if (catalog_size(c) > LISTED_MAX)
		return error_set(err, -EINVAL, "Invalid event %s; ophelp lists the %zu there are",
				 name, catalog_size(c));
	for (i = 0; i < catalog_size(c); i++)
		strbuf_addf(&known, "%s%s", i ? ", " : "", catalog_event_at(c, i)->name);
	return error_set(err, -EINVAL, "Invalid event %s; there are %s", name, strbuf_text(&known));
}

static void fill(struct event *event, const struct catalog_event *info)
{
	*event = (struct event){
		.count = info->count,
		.code = info->code,
		.unit_mask = info->default_mask,
		.kernel = true,
		.user = true,
		.is_timer = info->kind == CATALOG_TIMER,
		.perf_type = info->perf_type,
		.perf_config = info->perf_config,
	};
	assert(strlen(info->name) < sizeof(event->name));
	strcpy(event->name, info->name);
}

/* The count, or the rate of the timer. */
static int read_count(const struct parts *parts, const struct catalog_event *info,
		      struct event *event)
{
	uint64_t *to = event->is_timer ? &event->rate_hz : &event->count;
	uint64_t max = event->is_timer ? EVENT_TIMER_MAX_HZ : count_max;

	if (parts_number(parts, PART_COUNT, event->is_timer ? "rate" : "count", max, to) < 0)
		return -EINVAL;
	if (!event->is_timer && event->count < info->minimum)
		return error_set(parts->err, -EINVAL,
				 "Count %" PRIu64 " for event %s is below the minimum %" PRIu64,
				 event->count, event->name, info->minimum);
	return 0;
}

static int bad_mask(const struct parts *parts, const struct catalog_event *info, uint64_t number)
{
	_cleanup_(strbuf_done) struct strbuf valid = STRBUF_INIT;
	const struct catalog_mask *mask;
	size_t i;

	for (i = 0; i < info->mask_count; i++) {
		mask = &info->masks[i];
		strbuf_adds(&valid, i ? ", " : "it has ");
		if (mask->name)
			strbuf_adds(&valid, mask->name);
		else
			strbuf_addf(&valid, "%#x", mask->value);
	}
	return error_set(parts->err, -EINVAL, "Invalid unit mask %#" PRIx64 " for event %s; %s",
			 number, info->name,
			 info->masks ? strbuf_text(&valid) : "it has none, say 0");
}

/* A number stands for the one mask of that value, named or not; where several have it, -EINVAL. */
static int number_of_value(const struct parts *parts, const struct catalog_event *info,
			   uint64_t *value)
{
	_cleanup_(strbuf_done) struct strbuf names = STRBUF_INIT;
	const struct catalog_mask *mask, *found = NULL;
	size_t count = 0, i;

	for (i = 0; i < info->mask_count; i++) {
		mask = &info->masks[i];
		if (mask->value != *value || !mask->name || (found && info->pfm))
			continue; /* libpfm4 has several names for one mask */
		strbuf_addf(&names, "%s%s", count++ ? ", " : "", mask->name);
		found = mask;
	}
	if (count > 1)
		return error_set(parts->err, -EINVAL,
				 "Unit mask %#" PRIx64 " of event %s is ambiguous; say one of %s",
				 *value, info->name, strbuf_text(&names));
	if (found)
		*value = catalog_mask_number(found);
	return 0;
}

/* "A" or "A+B": the numbers added up. False if one is no mask's name. */
static bool masks_named(const struct catalog_event *info, const char *names, uint64_t *ret)
{
	_cleanup_free_ char *copy = xstrdup(names);
	const struct catalog_mask *mask;
	char *next = copy, *name;

	*ret = 0;
	while ((name = strsep(&next, "+"))) {
		mask = catalog_mask_named(info, name);
		if (!mask)
			return false;
		*ret |= catalog_mask_number(mask);
	}
	return true;
}

/* Keeps names that the number alone would not bring back. */
static int keep_names(const struct parts *parts, const struct catalog_event *info,
		      struct event *event)
{
	const char *names = parts->at[PART_MASK];
	size_t i;

	for (i = 0; i < info->mask_count; i++)
		if (catalog_mask_number(&info->masks[i]) == event->unit_mask)
			break;
	if (i < info->mask_count ? !strcmp(info->masks[i].name, names) : info->bitmask)
		return 0;
	if (strlen(names) >= sizeof(event->masks))
		return error_set(parts->err, -EINVAL, "event %s: more than %zu letters of masks",
				 info->name, sizeof(event->masks) - 1);
	strcpy(event->masks, names);
	return 0;
}

static int read_mask(const struct parts *parts, const struct catalog_event *info,
		     struct event *event)
{
	uint64_t mask;

	if (parts->count <= PART_MASK || !*parts->at[PART_MASK])
		return 0;
	if (masks_named(info, parts->at[PART_MASK], &mask)) {
		event->unit_mask = (uint32_t)mask;
		if (info->pfm)
			return keep_names(parts, info, event);
	} else if (parts_number(parts, PART_MASK, "unit mask", UINT32_MAX, &mask) < 0 ||
		   number_of_value(parts, info, &mask) < 0) {
		return -EINVAL;
	}
	if (!catalog_mask_valid(info, mask))
		return bad_mask(parts, info, mask);
	event->unit_mask = (uint32_t)mask;
	return 0;
}

/* The names of the masks that the number is made of; caller frees. */
static char *names_of_mask(const struct catalog_event *info, uint32_t number)
{
	struct strbuf names = STRBUF_INIT;
	size_t i;

	for (i = 0; i < info->mask_count; i++)
		if (catalog_mask_number(&info->masks[i]) == number)
			return xstrdup(info->masks[i].name);
	for (i = 0; i < info->mask_count && info->bitmask; i++) {
		if (!(info->masks[i].value & number) ||
		    __builtin_popcount(info->masks[i].value) != 1)
			continue;
		strbuf_addf(&names, "%s%s", names.length ? "+" : "", info->masks[i].name);
		number &= ~info->masks[i].value;
	}
	return strbuf_take(&names);
}

/* perf_event_attr.precise_ip: the kernel is asked for no skid, and may refuse. */
enum { PRECISE_NO_SKID = 2 };

/* The event select register: on AMD the upper bits of the code are at 35:32, a mask with extra bits
 * has all of them in place. */
static void encode_register(const struct catalog_event *info, const struct cpu_type *type,
			    struct event *event)
{
	const bool amd = !strncmp(type->key, "x86-64/", strlen("x86-64/"));
	uint64_t mask = event->unit_mask;
	size_t i;

	if (amd)
		event->perf_config = (info->perf_config & 0xff) | (info->perf_config & 0xf00) << 24;
	for (i = 0; i < info->mask_count; i++) {
		if (info->masks[i].extra && catalog_mask_number(&info->masks[i]) == mask) {
			event->perf_config |= mask & ~(uint64_t)CATALOG_MASK_PRECISE;
			event->precise = mask & CATALOG_MASK_PRECISE ? PRECISE_NO_SKID : 0;
			return;
		}
	}
	event->perf_config |= mask << 8;
}

static int encode(const struct catalog_event *info, const struct cpu_type *type,
		  struct event *event, struct error *err)
{
	_cleanup_free_ char *names = NULL;
	int r = 0;

	event->perf_config = info->perf_config;
	if (info->pfm) {
		names = *event->masks ? xstrdup(event->masks)
				      : names_of_mask(info, event->unit_mask);
		r = evpfm_encode(info, names, event, err);
	} else if (info->perf_type == PERF_TYPE_RAW) {
		encode_register(info, type, event);
	}
	event->precise = MAX(event->precise, event->precise_by);
	return r;
}

/* Takes "p", "pp" or "ppp" away where it is the last part and no mask of that name. */
static int read_precise(struct parts *parts, const struct catalog_event *info, struct event *event)
{
	size_t last = parts->count - 1, length;
	const char *text = parts->at[last];

	length = strspn(text, "p");
	if (last == PART_PRECISE && (!length || text[length]))
		return error_set(parts->err, -EINVAL, "event '%s': '%s' is not p, pp or ppp",
				 parts->spec, text);
	if (!last || !length || text[length] || length > 3 ||
	    (last == PART_MASK && catalog_mask_named(info, text)))
		return 0;
	if (info->kind != CATALOG_COUNTER)
		return error_set(parts->err, -EINVAL,
				 "event %s is no counter's: it cannot be sampled precisely",
				 info->name);
	event->precise = event->precise_by = (uint8_t)length;
	free(parts->at[--parts->count]);
	return 0;
}

static int read_where(const struct parts *parts, struct event *event)
{
	uint64_t kernel = 1, user = 1;

	if (parts_number(parts, PART_KERNEL, "kernel", 1, &kernel) < 0 ||
	    parts_number(parts, PART_USER, "user", 1, &user) < 0)
		return -EINVAL;
	if (!kernel && !user)
		return error_set(parts->err, -EINVAL,
				 "event '%s' counts neither in the kernel nor in user programs",
				 parts->spec);
	event->kernel = kernel;
	event->user = user;
	return 0;
}

/* "r1c2": the event select register as it is, in hexadecimal, as perf(1) takes it. */
static const struct catalog_event *raw_event(const char *name, struct catalog_event *raw)
{
	const char *digits = name + 1;
	uint64_t config;

	if (*name != 'r' || parse_hex(&digits, &config) < 0 || *digits)
		return NULL;
	*raw = (struct catalog_event){ .name = name,
				       .kind = CATALOG_COUNTER,
				       .code = (uint32_t)(config & INT32_MAX),
				       .minimum = 500,
				       .count = 100000,
				       .perf_type = PERF_TYPE_RAW,
				       .perf_config = config };
	return raw;
}

int event_parse_on(const struct cpu_type *type, const char *spec, struct event *ret,
		   struct error *err)
{
	_cleanup_(parts_done) struct parts parts = { .spec = spec, .err = err };
	const struct catalog *c = catalog_of(type);
	const struct catalog_event *info;
	struct catalog_event raw;
	struct event event;

	if (!*spec)
		return error_set(err, -EINVAL, "an event has no name");
	if (parse_list(spec, ':', parts_add, &parts) < 0)
		return -EINVAL;
	info = strcmp(parts.at[PART_NAME], "default") ? catalog_event_find(c, parts.at[PART_NAME])
						      : catalog_default(type);
	if (!info)
		info = raw_event(parts.at[PART_NAME], &raw);
	if (!info)
		return unknown_name(c, parts.at[PART_NAME], err);
	if (info->kind == CATALOG_FEATURE)
		return error_set(err, -EINVAL,
				 "event %s is derived from samples of %s; it is recorded by "
				 "oprofiled --ext-feature only",
				 info->name, info->feature);
	fill(&event, info);
	if (read_precise(&parts, info, &event) < 0 || read_count(&parts, info, &event) < 0 ||
	    read_mask(&parts, info, &event) < 0 || read_where(&parts, &event) < 0)
		return -EINVAL;
	if (info != &raw && encode(info, type, &event, err) < 0)
		return -EINVAL;
	*ret = event;
	return 0;
}

int event_parse(const char *spec, struct event *ret, struct error *err)
{
	return event_parse_on(cpu_type_detect("", false), spec, ret, err);
}

struct list {
	struct event *events;
	size_t count;
	struct error *err;
};

/* Whether two events would write the same sample files. */
static bool event_same_files(const struct event *a, const struct event *b)
{
	return !strcmp(a->name, b->name) && a->count == b->count && a->unit_mask == b->unit_mask;
}

static bool event_same(const struct event *a, const struct event *b)
{
	return event_same_files(a, b) && a->rate_hz == b->rate_hz && a->kernel == b->kernel &&
	       a->user == b->user;
}

static int list_add(const char *spec, void *data)
{
	struct list *list = data;
	struct event event;
	size_t i;

	if (event_parse(spec, &event, list->err) < 0)
		return -EINVAL;
	for (i = 0; i < list->count; i++) {
		if (event_same(&list->events[i], &event))
			return 0;
		if (event_same_files(&list->events[i], &event))
			return error_set(list->err, -EINVAL,
					 "event %s is there twice, and both would be one profile",
					 event.name);
	}
	if (list->count == EVENT_MAX)
		return error_set(list->err, -EINVAL, "more than %d events", EVENT_MAX);
	list->events[list->count++] = event;
	return 0;
}

int event_parse_list(const char *specs, struct event *events, struct error *err)
{
	struct list list = { .events = events, .err = err };

	if (!*specs)
		return error_set(err, -EINVAL, "the list of events is empty");
	if (parse_list(specs, ',', list_add, &list) < 0)
		return -EINVAL;
	return (int)list.count;
}

void event_default(struct event *ret)
{
	const struct cpu_type *type = cpu_type_detect("", false);

	const struct catalog_event *info = catalog_default(type);

	fill(ret, info);
	(void)encode(info, type, ret, NULL); /* the files' events cannot fail, and cycles is one */
}

void event_timer(struct event *ret, uint64_t rate_hz, bool kernel, bool user)
{
	fill(ret, catalog_find("TIMER"));
	ret->rate_hz = rate_hz;
	ret->kernel = kernel;
	ret->user = user;
}

bool event_clock_only(const struct event *events, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!events[i].is_timer)
			return false;
	return count > 0;
}

/* The mask as a specification has it: by name where it has one, for its value may be that of other
 * masks too. */
static char *mask_spec(const struct catalog *c, const struct event *event)
{
	const struct catalog_event *info = catalog_event_find(c, event->name);
	size_t i;

	if (*event->masks)
		return xstrdup(event->masks);
	for (i = 0; info && i < info->mask_count; i++)
		if (info->masks[i].name && catalog_mask_number(&info->masks[i]) == event->unit_mask)
			return xstrdup(info->masks[i].name);
	return xasprintf("%u", event->unit_mask);
}

static char *spec_text(const struct catalog *c, const struct event *event)
{
	_cleanup_free_ char *mask = mask_spec(c, event);

	return xasprintf("%s:%" PRIu64 ":%s:%d:%d%s%.*s", event->name,
			 event->is_timer ? event->rate_hz : event->count, mask, event->kernel,
			 event->user, event->precise_by ? ":" : "", event->precise_by, "ppp");
}

char *event_text(const struct event *event)
{
	return spec_text(catalog_here(), event);
}

char *event_text_on(const struct cpu_type *type, const struct event *event)
{
	return spec_text(catalog_of(type), event);
}

char *event_describe(const struct cpu_type *type, const char *name, uint64_t count,
		     uint64_t unit_mask)
{
	const struct catalog *c = type ? catalog_of(type) : catalog_here();
	const struct catalog_event *info = catalog_event_find(c, name);

	if (info && info->kind == CATALOG_TIMER)
		return xstrdup("Profiling through timer interrupt");
	if (!info)
		return xasprintf("Counted %s events with a unit mask of 0x%02" PRIx64
				 " count %" PRIu64,
				 name, unit_mask, count);
	return xasprintf("Counted %s events (%s) with a unit mask of 0x%02" PRIx64
			 " (%s) count %" PRIu64,
			 name, info->description, unit_mask, catalog_mask_text(info, unit_mask),
			 count);
}

void event_each(void (*each)(const char *name, const char *description, void *data), void *data)
{
	size_t i;

	for (i = 0; i < catalog_count(); i++)
		each(catalog_at(i)->name, catalog_at(i)->description, data);
}
