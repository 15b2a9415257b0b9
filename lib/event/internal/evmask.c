/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/internal/evmask.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/parse.h"
#include "event/catalog_types.h"

#include <errno.h>
#include <string.h>

static const char *const type_names[] = {
	[EVMASK_MANDATORY] = "mandatory",
	[EVMASK_EXCLUSIVE] = "exclusive",
	[EVMASK_BITMASK] = "bitmask",
};
static_assert(ARRAY_SIZE(type_names) == EVMASK_TYPE_COUNT_, "every type has a name");

/* Positions of flags in Intel's event select registers; pebs is not a bit of these registers. */
static const struct {
	const char *name;
	uint32_t bits;
} flags[] = {
	{ "edge", 1U << 18 },
	{ "any", 1U << 21 },
	{ "inv", 1U << 23 },
	{ "pebs", CATALOG_MASK_PRECISE },
};

/* Returns the value of "prefix:value", or NULL if @word is something else. */
static char *tag_value(char *word, const char *prefix)
{
	size_t length = strlen(prefix);

	return strncmp(word, prefix, length) ? NULL : word + length;
}

static int set_type(const struct evline *l, struct evmask *set, const char *value)
{
	int i;

	for (i = 0; i < EVMASK_TYPE_COUNT_; i++) {
		if (!strcmp(type_names[i], value)) {
			set->type = (enum evmask_type)i;
			return 0;
		}
	}
	return evline_fail(l, "unit mask type '%s' is not mandatory, exclusive or bitmask", value);
}

static bool is_head(char *line)
{
	return tag_value(line, "name:") || tag_value(line, "type:") || tag_value(line, "default:");
}

/* Reads "name:N type:T default:D", in any order; the default is 0 if it is missing. */
static int read_head(const struct evline *l, char *line, struct evmask *set)
{
	const char *type = NULL;
	const char **to;
	char *word, *value;

	while ((word = evline_word(&line))) {
		if ((value = tag_value(word, "name:")))
			to = &set->name;
		else if ((value = tag_value(word, "type:")))
			to = &type;
		else if ((value = tag_value(word, "default:")))
			to = &set->default_text;
		else
			return evline_fail(l, "unknown tag '%s'", word);
		if (*to)
			return evline_fail(l, "tag '%.*s' is given twice", (int)(value - word - 1),
					   word);
		if (!*value)
			return evline_fail(l, "tag '%s' has no value", word);
		*to = value;
	}
	if (!set->name || !type)
		return evline_fail(l, "a unit mask needs name: and type:");
	set->default_text = set->default_text ?: "0";
	return set_type(l, set, type);
}

/* Reads "inv,edge,cmask=1f". */
static int read_extra(const struct evline *l, char *list, uint32_t *ret)
{
	const char *digits;
	uint64_t number;
	char *flag;
	size_t i;

	while ((flag = strsep(&list, ","))) {
		if (!*flag)
			continue;
		for (i = 0; i < ARRAY_SIZE(flags) && strcmp(flags[i].name, flag) != 0; i++)
			;
		if (i < ARRAY_SIZE(flags)) {
			*ret |= flags[i].bits;
			continue;
		}
		digits = tag_value(flag, "cmask=");
		if (!digits)
			return evline_fail(l, "unknown extra '%s'", flag);
		digits += !strncmp(digits, "0x", 2) ? 2 : 0;
		if (parse_hex(&digits, &number) < 0 || *digits || number > 0xff)
			return evline_fail(l, "'%s' is not a hexadecimal number up to ff", flag);
		*ret |= (uint32_t)number << 24;
	}
	return 0;
}

/* Notes that several masks of a set have the same name, as in some files of OProfile 1.x. */
static void note_repeated(const struct evline *l, const struct evmask *set, const char *name)
{
	size_t i;

	for (i = 0; name && i < set->count; i++) {
		if (!set->masks[i].name || strcmp(set->masks[i].name, name) != 0)
			continue;
		log_info("%s:%u: mask name '%s' is given twice in '%s'; the first is used", l->path,
			 l->number, name, set->name);
		return;
	}
}

/* Reads "0xNN [extra:... name] description". */
static int add_mask(const struct evline *l, char *line, struct evmask *set)
{
	struct catalog_mask mask = { 0 };
	uint64_t value;
	char *extra;

	if (evline_number(l, "unit mask", evline_word(&line), UINT32_MAX, &value) < 0)
		return -EBADMSG;
	mask.value = (uint32_t)value;
	line += strspn(line, " \t");
	extra = tag_value(line, "extra:");
	if (extra) {
		line = extra + strcspn(extra, " \t");
		if (*line)
			*line++ = '\0';
		if (read_extra(l, extra, &mask.extra) < 0)
			return -EBADMSG;
		mask.name = evline_word(&line);
		if (!mask.name)
			return evline_fail(l, "a mask with extra: needs a name");
		if (mask.extra && mask.value > 0xff)
			return evline_fail(l, "a mask with extra bits is at most 0xff");
	}
	if (set->count == EVMASK_MAX)
		return evline_fail(l, "'%s' has more than %d masks", set->name, EVMASK_MAX);
	line += strspn(line, " \t");
	mask.description = *line || !mask.name ? line : mask.name;
	note_repeated(l, set, mask.name);
	array_grow(&set->masks, set->count + 1, &set->room);
	set->masks[set->count++] = mask;
	return 0;
}

/* Sets a numeric default. Returns whether it is one of the masks or, for a bitmask, a combination
 * of them. */
static bool default_number(struct evmask *set, uint64_t number)
{
	uint64_t all = 0;
	size_t i;

	for (i = 0; i < set->count; i++) {
		if (set->masks[i].value == number) {
			set->default_mask = catalog_mask_number(&set->masks[i]);
			return true;
		}
		all |= set->masks[i].value;
	}
	set->default_mask = (uint32_t)number;
	return set->type == EVMASK_BITMASK && !(number & ~all);
}

static bool default_name(struct evmask *set)
{
	size_t i;

	for (i = 0; i < set->count; i++) {
		if (set->masks[i].name && !strcmp(set->masks[i].name, set->default_text)) {
			set->default_mask = catalog_mask_number(&set->masks[i]);
			return true;
		}
	}
	return false;
}

static bool set_default(struct evmask *set)
{
	uint64_t number;

	return parse_u64(set->default_text, 0, UINT32_MAX, &number) == 0
		       ? default_number(set, number)
		       : default_name(set);
}

/* Checks the last set, which is complete, and sets its default mask. Mistakes are reported at its
 * first line, and cost as little as possible. */
static void finish_set(struct evmask_table *t, const struct evline *at)
{
	struct evmask *set = &t->sets[t->count - 1];
	struct evline l = *at;

	l.path = set->path;
	l.number = set->line;
	if (!set->count) {
		t->count--;
		(void)evline_ok(&l, evline_fail(&l, "unit mask '%s' has no masks", set->name));
		return;
	}
	if (set->type == EVMASK_MANDATORY && set->count > 1) {
		(void)evline_fail(&l, "mandatory unit mask '%s' has more than one mask", set->name);
		evline_warn(&l, "it is read as exclusive");
		set->type = EVMASK_EXCLUSIVE;
	}
	if (set_default(set))
		return;
	(void)evline_fail(&l, "default '%s' of unit mask '%s' is not one of its masks",
			  set->default_text, set->name);
	evline_warn(&l, "its first mask is the default");
	set->default_mask = catalog_mask_number(&set->masks[0]);
}

static int start_set(struct evmask_table *t, const struct evline *l, char *line, unsigned int depth)
{
	struct evmask set = { .path = l->path, .line = l->number, .depth = depth };
	size_t i;

	if (read_head(l, line, &set) < 0)
		return -EBADMSG;
	for (i = 0; i < t->count; i++)
		if (t->sets[i].path == set.path && !strcmp(t->sets[i].name, set.name))
			return evline_fail(l, "unit mask '%s' is defined twice", set.name);
	array_grow(&t->sets, t->count + 1, &t->room);
	t->sets[t->count++] = set;
	return 0;
}

void evmask_read(struct evmask_table *t, struct evline *l, unsigned int depth,
		 evmask_include *include, void *data)
{
	enum { OUTSIDE, IN_SET, IN_IGNORED_SET } where = OUTSIDE;
	char *line, *key;

	while ((line = evline_next(l))) {
		key = tag_value(line, "include:");
		if (!key && !is_head(line)) {
			if (where == IN_SET)
				(void)evline_ok(l, add_mask(l, line, &t->sets[t->count - 1]));
			else if (where == OUTSIDE)
				(void)evline_ok(l, evline_fail(l, "'%s' belongs to no unit mask",
							       line));
			continue;
		}
		if (where == IN_SET)
			finish_set(t, l);
		where = OUTSIDE;
		if (key)
			(void)evline_ok(l, include(data, evline_word(&key) ?: "", l));
		else
			where = evline_ok(l, start_set(t, l, line, depth)) ? IN_SET
									   : IN_IGNORED_SET;
	}
	if (where == IN_SET)
		finish_set(t, l);
}

struct evmask *evmask_find(const struct evmask_table *t, const char *name)
{
	struct evmask *found = NULL;
	size_t i;

	for (i = 0; i < t->count; i++)
		if (!strcmp(t->sets[i].name, name) && (!found || t->sets[i].depth < found->depth))
			found = &t->sets[i];
	return found;
}

void evmask_check_used(const struct evmask_table *t)
{
	size_t i;

	for (i = 0; i < t->count; i++) {
		const struct evmask *set = &t->sets[i];

		if (!set->used && !set->depth && strcmp(set->name, "zero") != 0)
			log_warn("%s:%u: no event uses unit mask '%s'", set->path, set->line,
				 set->name);
	}
}

void evmask_done(struct evmask_table *t)
{
	size_t i;

	for (i = 0; i < t->count; i++)
		free(t->sets[i].masks);
	free(t->sets);
	*t = (struct evmask_table){ 0 };
}
