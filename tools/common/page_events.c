/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/common/page_events.h"

#include "base/mem.h"
#include "profile/profile.h"
#include "sfile/sname_event.h"
#include "tools/common/reporting.h"
#include "tools/common/usual_event.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- which there are --- */

static bool is_ambiguous(const struct classes *c, const struct class *event)
{
	size_t i;

	for (i = 0; i < c->count; i++)
		if (!strcmp(c->classes[i].event, event->event) &&
		    !class_same_event(&c->classes[i], event))
			return true;
	return false;
}

static char *key_of(const struct classes *c, const struct class *event)
{
	if (!is_ambiguous(c, event))
		return xstrdup(event->event);
	return xasprintf("%s,%" PRId64, event->event, event->count);
}

static void list(const struct profile *p, struct page_events *ret)
{
	const struct classes *c = &p->classes;
	const size_t usual = usual_event(p);
	size_t i;

	ret->keys = xcalloc(c->count + 1, sizeof(*ret->keys));
	for (i = 0; i < c->count; i++) {
		const struct class *event = &c->classes[i];

		if (i && class_same_event(event, event - 1))
			continue;
		if (i == usual)
			ret->usual = ret->count;
		ret->keys[ret->count++] = key_of(c, event);
	}
}

int page_events_list(const struct profile_config *config, char *const *words,
		     struct page_events *ret, struct error *err)
{
	_cleanup_(profile_closep) struct profile *p = NULL;
	struct profile_config how = *config;
	size_t count = 0;
	int r;

	while (words[count])
		count++;
	how.merge = CLASSES_MERGE_ALL | CLASSES_MANY_AXES;
	how.sums_only = true;
	r = reporting_open(&how, count, words, &p, err);
	if (r < 0)
		return r;
	*ret = (struct page_events){ 0 };
	list(p, ret);
	return 0;
}

void page_events_done(struct page_events *e)
{
	page_event_words_free(e->keys);
	*e = (struct page_events){ 0 };
}

/* --- the words for one --- */

static bool is_about_event(const char *word)
{
	return !strncmp(word, "event:", 6) || !strncmp(word, "count:", 6);
}

/* The word that selects the event called so by the first @length letters of @key. */
static char *event_word(const char *key, size_t length)
{
	_cleanup_free_ char *event = xstrndup(key, length);
	_cleanup_free_ char *word = sname_event_word(event);

	return xasprintf("event:%s", word);
}

char **page_event_words(char *const *words, const char *key)
{
	size_t count = 0, i;
	char **all;

	while (words[count])
		count++;
	all = xcalloc(count + 3, sizeof(*all));
	for (i = count = 0; words[i]; i++)
		if (!key || !is_about_event(words[i]))
			all[count++] = xstrdup(words[i]);
	if (key) {
		size_t name = strcspn(key, ",");

		all[count++] = event_word(key, name);
		if (key[name])
			all[count++] = xasprintf("count:%s", key + name + 1);
	}
	return all;
}

void page_event_words_free(char **words)
{
	size_t i;

	for (i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}
