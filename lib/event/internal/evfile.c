/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/internal/evfile.h"

#include "base/hash.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/parse.h"
#include "event/event_types.h"
#include "event/internal/evline.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

enum {
	INCLUDE_DEPTH_MAX = 8,
	FILES_MAX = 256, /* limit for includes that multiply */
	USUAL_COUNT = 100000,
};

/* One file being read. */
struct reading {
	struct evfile *f;
	const char *key;  /* of the CPU type it belongs to */
	const char *name; /* "events" or "unit_masks" */
	size_t directory; /* index in the search path */
	unsigned int depth;
	evfile_source *source;
	void *data;
};

/* A line of "events" being parsed. */
struct draft {
	const struct evline *l;
	struct evfile *f;
	struct catalog_event event;
	unsigned int seen; /* one bit per tag seen */
	bool filtered;	   /* this CPU lacks the event */
};

/* Reads a code, which is hexadecimal also without "0x". */
static int read_code(struct draft *d, char *value)
{
	const char *digits = value + (strncasecmp(value, "0x", 2) ? 0 : 2);
	uint64_t code;

	if (parse_hex(&digits, &code) < 0 || *digits)
		return evline_fail(d->l, "event '%s' is not a hexadecimal number", value);
	if (code > UINT32_MAX)
		return evline_fail(d->l, "event '%s' is larger than %#x", value, UINT32_MAX);
	d->event.code = (uint32_t)code;
	return 0;
}

/* Reads "0,1,3" or "0,1,", or "cpuid" for as many as the CPU has. */
static int read_counters(struct draft *d, char *value)
{
	uint64_t number;
	char *part;

	if (!strcmp(value, "cpuid")) {
		d->event.counters = UINT64_MAX;
		return 0;
	}
	while ((part = strsep(&value, ","))) {
		if (!*part)
			continue;
		if (evline_number(d->l, "counter", part, 63, &number) < 0)
			return -EBADMSG;
		d->event.counters |= 1ULL << number;
	}
	return 0;
}

static bool is_zero(const struct evmask *set)
{
	return set->type == EVMASK_MANDATORY && !set->masks->value && !set->masks->name;
}

/* Reads "a" or "a,b": the masks of both, with the defaults of both added up if that is a mask, or
 * else the default of the first. */
static int read_um(struct draft *d, char *value)
{
	struct catalog_mask joined[EVMASK_MAX];
	struct evmask *set, *first = NULL;
	uint32_t defaults = 0;
	size_t count = 0;
	char *part;

	while ((part = strsep(&value, ","))) {
		set = evmask_find(&d->f->masks, part);
		if (!set)
			return evline_fail(d->l, "no unit mask '%s'", part);
		set->used = true;
		if (first && set->type != first->type)
			return evline_fail(d->l, "unit masks '%s' and '%s' differ in type",
					   first->name, set->name);
		if (set->count > EVMASK_MAX - count)
			return evline_fail(d->l, "more than %d unit masks", EVMASK_MAX);
		memcpy(joined + count, set->masks, set->count * sizeof(*joined));
		count += set->count;
		defaults |= set->default_mask;
		first = first ?: set;
	}
	if (count == 1 && is_zero(first))
		return 0;
	d->event.bitmask = first->type == EVMASK_BITMASK;
	d->event.masks = memcpy(arena_alloc(&d->f->arena, count * sizeof(*joined)), joined,
				count * sizeof(*joined));
	d->event.mask_count = count;
	d->event.default_mask =
		catalog_mask_valid(&d->event, defaults) ? defaults : first->default_mask;
	return 0;
}

static int read_minimum(struct draft *d, char *value)
{
	return evline_number(d->l, "minimum", value, INT32_MAX, &d->event.minimum);
}

static int read_count(struct draft *d, char *value)
{
	return evline_number(d->l, "count", value, INT32_MAX, &d->event.count);
}

/* The name becomes part of sample file names, whose parts are separated by dots, and of event
 * specifications, whose parts are separated by colons and commas. */
static int read_name(struct draft *d, char *value)
{
	static const char valid[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+";

	if (value[strspn(value, valid)])
		return evline_fail(d->l, "'%s' is not a name (letters, digits, '_', '-', '+')",
				   value);
	if (strlen(value) >= EVENT_NAME_MAX)
		return evline_fail(d->l, "'%s' has more than %d letters", value,
				   EVENT_NAME_MAX - 1);
	d->event.name = value;
	return 0;
}

static int read_ext(struct draft *d, char *value)
{
	d->event.kind = CATALOG_FEATURE;
	d->event.feature = value;
	return 0;
}

static int read_filter(struct draft *d, char *value)
{
	uint64_t bit;

	if (evline_number(d->l, "filter", value, 31, &bit) < 0)
		return -EBADMSG;
	d->filtered = d->f->unavailable >> bit & 1;
	return 0;
}

/* Reads "hw/0", the kernel's own number of the event. */
static int read_perf(struct draft *d, char *value)
{
	static const struct {
		const char *name;
		uint32_t type;
		enum catalog_kind kind;
	} types[] = {
		{ "hw", PERF_TYPE_HARDWARE, CATALOG_COUNTER },
		{ "sw", PERF_TYPE_SOFTWARE, CATALOG_SOFTWARE },
		{ "cache", PERF_TYPE_HW_CACHE, CATALOG_COUNTER },
		{ "raw", PERF_TYPE_RAW, CATALOG_COUNTER },
	};
	char *type = strsep(&value, "/");
	size_t i;

	if (!value)
		return evline_fail(d->l, "perf '%s' is not TYPE/CONFIG", type);
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		if (!strcmp(types[i].name, type)) {
			d->event.perf_type = types[i].type;
			d->event.kind = types[i].kind;
			return evline_number(d->l, "perf", value, UINT64_MAX,
					     &d->event.perf_config);
		}
	}
	return evline_fail(d->l, "perf type '%s' is not hw, sw, cache or raw", type);
}

enum tag {
	TAG_EVENT,
	TAG_COUNTERS,
	TAG_UM,
	TAG_MINIMUM,
	TAG_NAME,
	TAG_EXT,
	TAG_FILTER,
	TAG_PERF,
	TAG_COUNT,
	TAG_COUNT_
};

static const struct {
	const char *name;
	int (*read)(struct draft *d, char *value);
} tags[] = {
	[TAG_EVENT] = { "event", read_code },
	[TAG_COUNTERS] = { "counters", read_counters },
	[TAG_UM] = { "um", read_um },
	[TAG_MINIMUM] = { "minimum", read_minimum },
	[TAG_NAME] = { "name", read_name },
	[TAG_EXT] = { "ext", read_ext },
	[TAG_FILTER] = { "filter", read_filter },
	[TAG_PERF] = { "perf", read_perf },
	[TAG_COUNT] = { "count", read_count },
};
static_assert(ARRAY_SIZE(tags) == TAG_COUNT_, "every tag has a reader");

static int read_tag(struct draft *d, char *word)
{
	char *value = strchr(word, ':');
	size_t i;

	if (!value)
		return evline_fail(d->l, "'%s' is not tag:value", word);
	*value++ = '\0';
	for (i = 0; i < TAG_COUNT_ && strcmp(tags[i].name, word) != 0; i++)
		;
	if (i == TAG_COUNT_)
		return evline_fail(d->l, "unknown tag '%s'", word);
	if (d->seen & 1U << i)
		return evline_fail(d->l, "tag '%s' is given twice", word);
	if (!*value)
		return evline_fail(d->l, "tag '%s' has no value", word);
	d->seen |= 1U << i;
	return tags[i].read(d, value);
}

static int missing_tag(const struct draft *d)
{
	static const enum tag needed[] = { TAG_EVENT, TAG_NAME };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(needed); i++)
		if (!(d->seen & 1U << needed[i]))
			return evline_fail(d->l, "an event needs %s:", tags[needed[i]].name);
	return 0;
}

/* Sets the defaults of the tags that are missing. */
static void complete(struct draft *d)
{
	struct catalog_event *event = &d->event;

	event->description = event->description ?: "";
	if (!(d->seen & 1U << TAG_COUNTERS))
		event->counters = UINT64_MAX;
	if (!(d->seen & 1U << TAG_PERF)) {
		event->perf_type = PERF_TYPE_RAW;
		event->perf_config = event->code;
	}
	if (!(d->seen & 1U << TAG_COUNT))
		event->count = MAX(event->minimum, (uint64_t)USUAL_COUNT);
	event->count = MAX(event->count, event->minimum);
}

static void add_event(struct evfile *f, const struct catalog_event *event, unsigned int depth)
{
	array_grow(&f->events, f->count + 1, &f->room);
	array_grow(&f->depth, f->count + 1, &f->depth_room);
	f->depth[f->count] = depth;
	f->events[f->count++] = *event;
}

static int read_event(struct reading *at, const struct evline *l, char *line)
{
	struct draft d = { .l = l, .f = at->f };
	char *word;

	for (;;) {
		line += strspn(line, " \t");
		if (*line == ':') {
			d.event.description = line + 1 + strspn(line + 1, " \t");
			break;
		}
		word = evline_word(&line);
		if (!word)
			break;
		if (read_tag(&d, word) < 0)
			return -EBADMSG;
	}
	if (missing_tag(&d) < 0)
		return -EBADMSG;
	complete(&d);
	if (!d.filtered)
		add_event(at->f, &d.event, at->depth);
	return 0;
}

static int read_file(struct reading *at, size_t from, struct error *err);

/* Reads an included file. A file that includes its own CPU type means the next directory in the
 * search path that has this type, which it would otherwise hide. */
static int include(void *data, const char *key, const struct evline *l)
{
	const struct reading *at = data;
	struct reading inner = *at;
	bool own = !strcmp(key, at->key);
	int r;

	if (at->depth == INCLUDE_DEPTH_MAX)
		return evline_fail(l, "includes are nested more than %d deep", INCLUDE_DEPTH_MAX);
	if (at->f->files == FILES_MAX)
		return evline_fail(l, "more than %d files are included", FILES_MAX);
	inner.key = key;
	inner.depth++;
	r = read_file(&inner, own ? at->directory + 1 : 0, l->err);
	return r == -ENOENT ? evline_fail(l, "cannot include %s of %s: no such file", at->name, key)
			    : r;
}

static void read_events(struct reading *at, struct evline *l)
{
	static const char prefix[] = "include:";
	char *line, *key;

	while ((line = evline_next(l))) {
		key = line + strlen(prefix);
		(void)evline_ok(l, strncmp(line, prefix, strlen(prefix))
					   ? read_event(at, l, line)
					   : include(at, evline_word(&key) ?: "", l));
	}
}

static int read_file(struct reading *at, size_t from, struct error *err)
{
	struct error mistake = ERROR_INIT;
	struct evfile_text text = { 0 };
	struct evline l = { .err = &mistake, .mistakes = &at->f->mistakes };
	int r = at->source(at->data, at->key, at->name, from, &text, err);

	if (r < 0)
		return r;
	l.path = arena_strdup(&at->f->arena, text.path);
	l.next = arena_strdup(&at->f->arena, text.text);
	free(text.path);
	free(text.text);
	at->directory = text.directory;
	at->f->files++;
	if (strcmp(at->name, "events") != 0)
		evmask_read(&at->f->masks, &l, at->depth, include, at);
	else
		read_events(at, &l);
	return 0;
}

static uint64_t name_key(const struct catalog_event *event)
{
	return hash_bytes(event->name, strlen(event->name));
}

/* Removes repeated names: of the events from @start on, keeps those read at the least depth, and
 * none whose name was already present before @start. */
static void drop_repeated(struct evfile *f, size_t start)
{
	struct map seen = MAP_INIT;
	size_t i, best, kept = start;

	for (i = 0; i < f->count; i++) {
		uint64_t key = name_key(&f->events[i]);
		size_t old = (uintptr_t)map_get(&seen, key);

		if (!old || (old > start && f->depth[i] < f->depth[old - 1]))
			(void)map_set(&seen, key, (void *)(uintptr_t)(i + 1));
	}
	for (i = start; i < f->count; i++) {
		best = (uintptr_t)map_get(&seen, name_key(&f->events[i])) - 1;
		if (best < start || f->depth[i] > f->depth[best])
			continue;
		if (best != i)
			log_info("event %s is described twice; the first description is used",
				 f->events[i].name);
		f->events[kept++] = f->events[i];
	}
	f->count = kept;
	map_done(&seen);
}

int evfile_read(struct evfile *f, const char *key, evfile_source *source, void *data,
		struct error *err)
{
	struct reading at = { .f = f, .key = key, .source = source, .data = data };
	size_t start = f->count;
	int r;

	at.name = "unit_masks";
	r = read_file(&at, 0, err);
	if (r < 0 && r != -ENOENT)
		return r;
	at.name = "events";
	r = read_file(&at, 0, err);
	if (r < 0)
		return r;
	evmask_check_used(&f->masks);
	evmask_done(&f->masks);
	drop_repeated(f, start);
	if (f->mistakes > EVLINE_WARNINGS)
		log_warn("%u more mistakes in the events and unit masks of %s",
			 f->mistakes - EVLINE_WARNINGS, key);
	f->mistakes = 0;
	return 0;
}

void evfile_done(struct evfile *f)
{
	evmask_done(&f->masks);
	arena_done(&f->arena);
	free(f->events);
	free(f->depth);
	*f = (struct evfile){ 0 };
}
