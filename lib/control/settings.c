/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/settings.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "file/path.h"
#include "driver/driver.h"
#include "history/window.h"
#include "record/record.h"

#include <errno.h>
#include <string.h>
#include <sys/types.h>

enum { VALUE_MAX_BYTES = 8000 }; /* a line of daemonrc has at most 8192 */

enum kind {
	KIND_NUMBER,
	KIND_NUMBER_OR_NONE,
	KIND_SIZE,
	KIND_SIZE_OR_NONE,
	KIND_SHARE,
	KIND_TIME_OR_NONE,
	KIND_LIMIT,
	KIND_RANGE,
	KIND_MODE,
	KIND_CHAIN_MODE,
	KIND_LOG_LEVEL,
	KIND_SEPARATION,
	KIND_FLAG,
	KIND_TEXT,
	KIND_PATH,
	KIND_IMAGES,
	KIND_COUNT_
};

struct setting {
	const char *key, *preset, *bare, *option;
	enum kind kind;
	uint64_t least, most;
	size_t offset; /* in struct settings */
};

/* clang-format off */
#define ROW(key, kind, field, least, most, preset, bare, letter, option, arg, help)                \
	[SETTING_##key] = { #key, preset, bare, option, KIND_##kind, least, most,                  \
			    offsetof(struct settings, field) },
static const struct setting table[] = { SETTINGS(ROW) };
#undef ROW
/* clang-format on */

/* --- kinds: parsing text into a field --- */

static int parse_number(const struct setting *row, const char *text, void *field)
{
	return parse_u64(text, row->least, row->most, field);
}

static int parse_bytes(const struct setting *row, const char *text, void *field)
{
	uint64_t bytes;
	int r = parse_size(text, &bytes);

	if (r < 0 || bytes < row->least || bytes > row->most)
		return -EINVAL;
	*(uint64_t *)field = bytes;
	return 0;
}

static bool is_none(const char *text)
{
	return !strcmp(text, "none") || !strcmp(text, "0");
}

static int parse_number_or_none(const struct setting *row, const char *text, void *field)
{
	if (!is_none(text))
		return parse_number(row, text, field);
	*(uint64_t *)field = 0;
	return 0;
}

static int parse_bytes_or_none(const struct setting *row, const char *text, void *field)
{
	if (!is_none(text))
		return parse_bytes(row, text, field);
	*(uint64_t *)field = 0;
	return 0;
}

/* Parses the percentage above 0 at *@at as a share of 1, leaving *@at on the '%'. */
static int take_percent(const char **at, double *ret)
{
	double percent;
	int r = parse_decimal(at, &percent);

	if (r < 0 || !(percent > 0 && percent <= 100))
		return -EINVAL;
	*ret = percent / 100;
	return 0;
}

static int parse_share(const struct setting *row _unused_, const char *text, void *field)
{
	double share = 0;

	if (!is_none(text) &&
	    (take_percent(&text, &share) < 0 || strcmp(text + (*text == '%'), "")))
		return -EINVAL;
	*(double *)field = share;
	return 0;
}

static int parse_time_or_none(const struct setting *row _unused_, const char *text, void *field)
{
	int64_t ms = 0;

	if (!is_none(text) && (window_duration(text, &ms) < 0 || !ms))
		return -EINVAL;
	*(uint64_t *)field = (uint64_t)ms;
	return 0;
}

/* Parses SIZE, PERCENT% or PERCENT%,LEAST,MOST. */
static int parse_limit(const struct setting *row _unused_, const char *text, void *field)
{
	struct setting_limit limit = { 0 };
	_cleanup_free_ char *least = NULL;
	const char *comma;

	if (!strchr(text, '%')) {
		if (!is_none(text) && parse_size(text, &limit.bytes) < 0)
			return -EINVAL;
	} else {
		limit.bytes = UINT64_MAX;
		if (take_percent(&text, &limit.share) < 0 || *text++ != '%')
			return -EINVAL;
		comma = *text == ',' ? strchr(text + 1, ',') : NULL;
		least = comma ? xstrndup(text + 1, (size_t)(comma - text - 1)) : NULL;
		if (*text && (!least || parse_size(least, &limit.least) < 0 ||
			      parse_size(comma + 1, &limit.bytes) < 0))
			return -EINVAL;
	}
	*(struct setting_limit *)field = limit;
	return 0;
}

/* Parses a hexadecimal number with or without 0x. */
static int take_hex(const char **at, uint64_t *ret)
{
	if ((*at)[0] == '0' && ((*at)[1] == 'x' || (*at)[1] == 'X'))
		*at += 2;
	return parse_hex(at, ret);
}

static int parse_range(const struct setting *row _unused_, const char *text, void *field)
{
	struct setting_range range = { 0 };

	if (text && (take_hex(&text, &range.start) < 0 || *text++ != ',' ||
		     take_hex(&text, &range.end) < 0 || *text || range.start >= range.end))
		return -EINVAL;
	*(struct setting_range *)field = range;
	return 0;
}

/* Parses a directory mode. Others may read the session directory, but only its owner may write to
 * it. */
static int parse_mode(const struct setting *row _unused_, const char *text, void *field)
{
	uint64_t mode;

	if (parse_octal(&text, &mode) < 0 || *text || mode & ~(uint64_t)07755 ||
	    (mode & 0700) != 0700)
		return -EINVAL;
	*(uint64_t *)field = mode;
	return 0;
}

static int parse_chain_mode(const struct setting *row _unused_, const char *text, void *field)
{
	static const char *const names[] = {
#define X(name, text) [DRIVER_CHAINS_##name] = text,
		DRIVER_CHAINS(X)
#undef X
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i], text)) {
			*(uint64_t *)field = i;
			return 0;
		}
	return -EINVAL;
}

static int add_level(const char *word, void *data)
{
	/* The original's names select kinds of messages; ours have levels but no kinds. */
	static const struct {
		const char *word;
		enum log_level level;
	} words[] = {
		{ "none", LOG_LEVEL_WARNING },	{ "info", LOG_LEVEL_INFO },
		{ "debug", LOG_LEVEL_DEBUG },	{ "all", LOG_LEVEL_DEBUG },
		{ "sfile", LOG_LEVEL_DEBUG },	{ "arcs", LOG_LEVEL_DEBUG },
		{ "samples", LOG_LEVEL_DEBUG }, { "module", LOG_LEVEL_DEBUG },
		{ "misc", LOG_LEVEL_DEBUG },	{ "ext", LOG_LEVEL_DEBUG },
		{ "record", LOG_LEVEL_INFO },	{ "convert", LOG_LEVEL_INFO },
	};
	uint64_t *level = data;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(word, words[i].word)) {
			*level = MAX(*level, (uint64_t)words[i].level);
			return 0;
		}
	return -EINVAL;
}

static int parse_log_level(const struct setting *row _unused_, const char *text, void *field)
{
	uint64_t level = LOG_LEVEL_WARNING;

	if (parse_list(text, ',', add_level, &level) < 0)
		return -EINVAL;
	*(uint64_t *)field = level;
	return 0;
}

static int parse_separation(const struct setting *row _unused_, const char *text, void *field)
{
	int bits = record_separate_parse(text);

	if (bits >= 0)
		*(uint64_t *)field = (uint64_t)bits;
	return MIN(bits, 0);
}

static int parse_flag(const struct setting *row, const char *text, void *field)
{
	uint64_t on = 0, *bits = field;

	if (text && parse_u64(text, 0, 1, &on) < 0)
		return -EINVAL;
	*bits = on ? *bits | row->least : *bits & ~row->least;
	return 0;
}

/* Stores @text, which the settings own or which is a default. */
static int parse_text(const struct setting *row _unused_, const char *text, void *field)
{
	*(const char **)field = text;
	return 0;
}

static const struct {
	int (*parse)(const struct setting *row, const char *text, void *field);
	const char *form; /* "'x' is not ..." */
} kinds[] = {
	[KIND_NUMBER] = { parse_number, "a number" },
	[KIND_NUMBER_OR_NONE] = { parse_number_or_none, "a number" },
	[KIND_SIZE] = { parse_bytes, "a size" },
	[KIND_SIZE_OR_NONE] = { parse_bytes_or_none, "a size" },
	[KIND_SHARE] = { parse_share, "a percentage such as 0.5%, or none" },
	[KIND_TIME_OR_NONE] = { parse_time_or_none, "a time such as 12h or 7d, or none" },
	[KIND_LIMIT] = { parse_limit, "a size such as 4G, a percentage such as 10%, or none" },
	[KIND_RANGE] = { parse_range, "START,END in hexadecimal digits" },
	[KIND_MODE] = { parse_mode, "a mode such as 750 that lets only the owner write" },
	[KIND_CHAIN_MODE] = { parse_chain_mode, "one of auto, fp, table" },
	[KIND_LOG_LEVEL] = { parse_log_level, "a list of none, info, debug, all, sfile, arcs, "
					      "samples, module, misc, ext, record, "
					      "convert" },
	[KIND_SEPARATION] = { parse_separation, "a list of none, lib, library, kernel, thread, "
						"cpu, cgroup, comm, all" },
	[KIND_FLAG] = { parse_flag, "0 or 1" },
	[KIND_TEXT] = { parse_text, NULL },
	[KIND_PATH] = { parse_text, NULL },
	[KIND_IMAGES] = { parse_text, NULL },
};
static_assert(ARRAY_SIZE(kinds) == KIND_COUNT_, "each kind can be read");

/* --- settings --- */

static void *field_of(const struct settings *s, const struct setting *row)
{
	return (char *)s + row->offset;
}

static bool is_string(const struct setting *row)
{
	return kinds[row->kind].parse == parse_text;
}

/* Whether the value is stored in the bits of --separate rather than in settings.text. */
static bool is_bits(const struct setting *row)
{
	return row->kind == KIND_FLAG || row->kind == KIND_SEPARATION;
}

struct settings settings_default(void)
{
	struct settings s = { 0 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(table); i++)
		(void)kinds[table[i].kind].parse(&table[i], table[i].preset,
						 field_of(&s, &table[i]));
	return s;
}

static void list_add(struct setting_list *list, const char *text)
{
	array_grow(&list->items, list->count + 1, &list->room);
	list->items[list->count++] = xstrdup(text);
}

static void list_done(struct setting_list *list)
{
	while (list->count)
		free(list->items[--list->count]);
	free(list->items);
	*list = (struct setting_list){ 0 };
}

void settings_done(struct settings *s)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(s->text); i++)
		free(s->text[i]);
	list_done(&s->events);
	list_done(&s->unknown);
	*s = settings_default();
}

void settings_copy(const struct settings *s, struct settings *ret)
{
	size_t i;

	*ret = *s;
	ret->events = ret->unknown = (struct setting_list){ 0 };
	for (i = 0; i < s->events.count; i++)
		list_add(&ret->events, s->events.items[i]);
	for (i = 0; i < s->unknown.count; i++)
		list_add(&ret->unknown, s->unknown.items[i]);
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		if (!s->text[i])
			continue;
		ret->text[i] = xstrdup(s->text[i]);
		if (is_string(&table[i]))
			*(const char **)field_of(ret, &table[i]) = ret->text[i];
	}
}

/* Whether @value can be written as the rest of a line and read back unchanged. */
static bool fits_a_line(const char *value)
{
	const unsigned char *at = (const unsigned char *)value;

	if (strlen(value) > VALUE_MAX_BYTES)
		return false;
	for (; *at; at++)
		if (*at < ' ' || *at == 0x7f)
			return false;
	return true;
}

/* The text to store for @value; caller frees. NULL: the default. */
static char *text_of(const struct setting *row, const char *value)
{
	if (!*value || (row->kind == KIND_IMAGES && !strcmp(value, "all")))
		return NULL;
	/* VMLINUX=none is no path. */
	if (row->kind == KIND_PATH && !(row->bare && !strcmp(value, row->bare)))
		return path_absolute(value);
	return xstrdup(value);
}

/* Appends @number as a bound of a range; bytes are printed in the largest unit that divides
 * them. */
static void add_bound(struct strbuf *out, uint64_t number, bool bytes)
{
	static const char units[] = "KMGT";
	size_t unit = 0;

	while (bytes && number && number % 1024 == 0 && units[unit]) {
		number /= 1024;
		unit++;
	}
	strbuf_addu(out, number);
	if (unit)
		strbuf_add(out, &units[unit - 1], 1);
}

static int refuse(const struct setting *row, const char *value, struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf form = STRBUF_INIT;
	bool none = row->kind == KIND_NUMBER_OR_NONE || row->kind == KIND_SIZE_OR_NONE;
	bool bytes = row->kind == KIND_SIZE || row->kind == KIND_SIZE_OR_NONE;

	strbuf_adds(&form, kinds[row->kind].form);
	if (row->most) {
		strbuf_adds(&form, " from ");
		add_bound(&form, row->least, bytes);
		strbuf_adds(&form, " to ");
		add_bound(&form, row->most, bytes);
	}
	return error_set(err, -EINVAL, "'%s' is not %s%s", value, strbuf_text(&form),
			 none ? ", or none" : "");
}

int settings_set(struct settings *s, enum setting_id id, const char *value, struct error *err)
{
	const struct setting *row = &table[id];
	_cleanup_free_ char *text = NULL;

	text = text_of(row, value);
	if (!fits_a_line(text ?: value))
		return error_set(err, -EINVAL, "the value is too long or has control characters");
	if (kinds[row->kind].parse(row, text ?: row->preset, field_of(s, row)) < 0)
		return refuse(row, value, err);
	if (is_bits(row))
		return 0;
	free(s->text[id]);
	s->text[id] = STEAL(text);
	return 0;
}

/* Handles CHOSEN_EVENTS_n: events are kept in file order, whatever their numbers. */
static int set_event(struct settings *s, const char *number, const char *value, struct error *err)
{
	uint64_t n;

	if (parse_u64(number, 0, UINT32_MAX, &n) < 0)
		return error_set(err, -EINVAL, "CHOSEN_EVENTS_%s: no number after the last '_'",
				 number);
	return *value ? settings_add_event(s, value, err) : 0;
}

int settings_set_key(struct settings *s, const char *key, const char *value, struct error *err)
{
	static const char events_prefix[] = "CHOSEN_EVENTS_";
	const size_t length = sizeof(events_prefix) - 1;
	enum setting_id id;

	if (!strncmp(key, events_prefix, length))
		return set_event(s, key + length, value, err);
	/* The original's event count is ignored: the events themselves are counted. */
	if (!strcmp(key, "NR_CHOSEN"))
		return 0;
	for (id = 0; id < SETTING_COUNT_; id++) {
		if (!setting_key(id) || strcmp(key, setting_key(id)) != 0)
			continue;
		/* Earlier versions wrote 0 for an unset number. */
		if (table[id].kind == KIND_NUMBER && table[id].least && !strcmp(value, "0"))
			value = "";
		return settings_set(s, id, value, err) < 0 ? error_prefix(err, "%s", key) : 0;
	}
	return error_set(err, -ENOENT, "unknown key %s", key);
}

const char *setting_key(enum setting_id id)
{
	return table[id].kind == KIND_SEPARATION ? NULL : table[id].key;
}

uint64_t setting_most(enum setting_id id)
{
	return table[id].most;
}

char *settings_text(const struct settings *s, enum setting_id id)
{
	const struct setting *row = &table[id];

	if (row->kind == KIND_FLAG)
		return xstrdup(*(uint64_t *)field_of(s, row) & row->least ? "1" : "0");
	return s->text[id] ? xstrdup(s->text[id]) : NULL;
}

int settings_add_event(struct settings *s, const char *event, struct error *err)
{
	if (s->events.count == SETTINGS_EVENTS_MAX)
		return error_set(err, -EINVAL, "more than %d events", SETTINGS_EVENTS_MAX);
	if (!*event || !fits_a_line(event))
		return error_set(err, -EINVAL, "an event is empty or has control characters");
	list_add(&s->events, event);
	return 0;
}

void settings_clear_events(struct settings *s)
{
	list_done(&s->events);
}

char *settings_events(const struct settings *s)
{
	struct strbuf out = STRBUF_INIT;
	size_t i;

	for (i = 0; i < s->events.count; i++)
		strbuf_addf(&out, "%s%s", i ? "," : "", s->events.items[i]);
	return s->events.count ? strbuf_take(&out) : NULL;
}

uint64_t setting_limit_bytes(const struct setting_limit *limit, uint64_t all)
{
	uint64_t bytes;

	if (limit->share <= 0)
		return limit->bytes;
	bytes = MIN((uint64_t)((double)all * limit->share), limit->bytes);
	return MAX(bytes, limit->least);
}

/* --- options --- */

int setting_give(const char *arg, void *target, struct error *err)
{
	_cleanup_(settings_done) struct settings checked = settings_default();
	struct setting_given *given = target;
	const struct setting *row = &table[given->id];
	const char *value = arg ?: row->bare;

	if (row->kind == KIND_PATH && !*value)
		return error_set(err, -EINVAL, "--%s: an empty name", row->option);
	if (settings_set(&checked, given->id, value, err) < 0)
		return error_prefix(err, "--%s", row->option);
	if (given->id == SETTING_EXT_FEATURE && given->value)
		return error_set(err, -EINVAL,
				 "--%s: given twice; only one extended feature can be enabled",
				 row->option);
	given->value = value;
	return 0;
}

int settings_take(struct settings *s, const struct setting_given given[SETTING_COUNT_],
		  struct error *err)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(table); i++)
		if (given[i].value && settings_set(s, given[i].id, given[i].value, err) < 0)
			return error_prefix(err, "--%s", table[i].option);
	return 0;
}
