/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/opreport/opreport_page.h"

#include "tools/common/reporting.h"
#include "tools/common/tool.h"

#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void side_done(struct opreport_page_side *s)
{
	page_report_done(&s->page);
	free(s->words);
}

void opreport_page_done(struct opreport_page *p)
{
	size_t i;

	page_sources_done(&p->sources);
	for (i = 0; i < p->count; i++)
		side_done(&p->sides[i]);
	for (i = 0; i < p->other_count; i++)
		side_done(&p->others[i]);
	free(p->others);
	page_events_done(&p->events);
	page_event_words_free(p->chosen);
	*p = (struct opreport_page){ 0 };
}

/* Collects a profile of the page, which may show one of several events. */
static int collect_side(struct opreport_page *p, const struct opreport_options *o, size_t i,
			const struct braces *from, struct error *err)
{
	struct opreport_page_side *s = &p->sides[i];
	const bool has_several = p->events.count > 1;

	side_done(s);
	*s = (struct opreport_page_side){ .options = *o };
	s->options.profile = from->profile;
	s->options.view.form = i ? REPORT_SECOND : REPORT_HTML;
	s->options.view.compares = false; /* the page compares */
	s->options.view.events = has_several ? p->events.keys : NULL;
	s->options.view.event = has_several ? p->events.keys[p->events.usual] : NULL;
	s->words = reporting_shell_words(from->count, from->words);
	return page_report_collect(&from->profile, &s->options.view, from->count, from->words,
				   &s->page, err);
}

/* Collects rows by symbol of the profile that has call chains, if the other one has none: a graph
 * of callers cannot be compared with one without. */
static int collect_alike(struct opreport_page *p, const struct braces *sides, struct error *err)
{
	struct opreport_page_side *s = &p->sides[!p->sides[0].options.view.chains];
	const struct braces *from = &sides[s - p->sides];

	if (!p->sides[0].options.view.chains == !p->sides[1].options.view.chains)
		return 0;
	page_report_done(&s->page);
	return page_report_collect_rows(&from->profile, &s->options.view, from->count, from->words,
					&s->page, err);
}

/* Refuses profiles of different events: their shares have nothing in common. */
static int check_same_event(const struct opreport_page *p, struct error *err)
{
	const struct class *a = p->sides[0].page.profile->classes.classes;
	const struct class *b = p->sides[1].page.profile->classes.classes;

	if (class_same_event(a, b))
		return 0;
	return error_set(err, -EINVAL,
			 "the two profiles are of different events, the first of %s, the second of "
			 "%s; choose what both have with event:NAME or count:N",
			 a->event_text, b->event_text);
}

static void collect_sources(struct opreport_page *p, const struct braces *from)
{
	const struct page_words words = { from->count, from->words };
	struct error why = ERROR_INIT;

	if (page_sources_collect(&from->profile, &words, &p->sides[0].page, &p->sources, &why) < 0)
		tool_warn("%s; the page has no sources", why.text);
}

static size_t count_of(char *const *words)
{
	size_t count = 0;

	while (words[count])
		count++;
	return count;
}

/* Finds the events of the profile. Of several, *@from becomes the one that is shown. */
static int choose_event(struct opreport_page *p, struct braces *from, struct error *err)
{
	_cleanup_free_ char **words = xcalloc(from->count + 1, sizeof(*words));
	int r;

	memcpy(words, from->words, from->count * sizeof(*words));
	r = page_events_list(&from->profile, words, &p->events, err);
	if (r < 0 || p->events.count < 2)
		return r;
	p->chosen = page_event_words(words, p->events.keys[p->events.usual]);
	from->words = p->chosen;
	from->count = count_of(p->chosen);
	return 0;
}

/* Collects the profile of a page that shows one. Most have one event, so it is asked which there
 * are only if not: reading a long history takes seconds. */
static int collect_one(struct opreport_page *p, const struct opreport_options *o,
		       struct braces *from, struct error *err)
{
	struct error why = ERROR_INIT;
	int r = collect_side(p, o, 0, from, &why);

	if (r == 0 && page_report_has_one_event(&p->sides[0].page))
		return 0;
	if (r < 0 && r != -EINVAL)
		return error_set(err, r, "%s", why.text);
	r = choose_event(p, from, err);
	return r < 0 ? r : collect_side(p, o, 0, from, err);
}

/* Collects what the page has of the other events: rows by symbol, without call chains. */
static int collect_events(struct opreport_page *p, const struct opreport_options *o,
			  const struct braces *from, struct error *err)
{
	size_t i;
	int r = 0;

	if (p->events.count < 2)
		return 0;
	p->others = xcalloc(p->events.count, sizeof(*p->others));
	for (i = 0; i < p->events.count && r == 0; i++) {
		_cleanup_(page_event_words_freep) char **words = NULL;
		struct opreport_page_side *s = &p->others[p->other_count];

		if (i == p->events.usual)
			continue;
		words = page_event_words(p->chosen, p->events.keys[i]);
		p->other_count++;
		s->options = *o;
		s->options.profile = from->profile;
		s->options.view.form = REPORT_SECOND;
		s->options.view.event = p->events.keys[i];
		s->words = reporting_shell_words(count_of(words), words);
		r = page_report_collect_rows(&from->profile, &s->options.view, count_of(words),
					     words, &s->page, err);
	}
	return r;
}

int opreport_page_collect(const struct opreport_options *o, const struct braces *sides,
			  size_t count, struct opreport_page *ret, struct error *err)
{
	struct braces first = sides[0]; /* borrows */
	size_t i;
	int r = 0;

	ret->count = count;
	if (count == 1)
		r = collect_one(ret, o, &first, err);
	for (i = 0; count > 1 && i < count && r == 0; i++)
		r = collect_side(ret, o, i, &sides[i], err);
	if (r == 0)
		r = collect_events(ret, &ret->sides[0].options, &first, err);
	if (r == 0 && count > 1)
		r = collect_alike(ret, sides, err);
	if (r == 0 && count > 1)
		r = check_same_event(ret, err);
	if (r == 0)
		collect_sources(ret, &first);
	return r;
}

static void print_side(struct opreport_page_side *s, FILE *out)
{
	s->options.view.options = opreport_show(&s->options, *s->words ? s->words : NULL);
	profile_report_print(&s->page.report, out);
}

/* Prints what the page has of the other events; caller frees. */
static char *print_events(struct opreport_page *p)
{
	char *text = NULL;
	size_t size = 0, i;
	FILE *memory = xmemstream(&text, &size);

	for (i = 0; i < p->other_count; i++) {
		(void)fputs(i ? " " : "", memory);
		p->others[i].options.view.seconds = p->other_count;
		print_side(&p->others[i], memory);
	}
	xmemstream_close(memory, &text);
	return text;
}

void opreport_page_print(struct opreport_page *p, FILE *out)
{
	_cleanup_free_ char *second = NULL, *events = print_events(p);
	size_t size = 0;

	if (p->count > 1) {
		FILE *memory = xmemstream(&second, &size);

		print_side(&p->sides[1], memory);
		xmemstream_close(memory, &second);
	}
	p->sides[0].options.view.second = second;
	p->sides[0].options.view.other_events = events;
	print_side(&p->sides[0], out);
}
