/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/opreport/opreport_page.h"

#include "tools/common/reporting.h"
#include "tools/common/tool.h"

#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>

void opreport_page_done(struct opreport_page *p)
{
	size_t i;

	page_sources_done(&p->sources);
	for (i = 0; i < p->count; i++) {
		page_report_done(&p->sides[i].page);
		free(p->sides[i].words);
	}
	*p = (struct opreport_page){ 0 };
}

static int collect_side(struct opreport_page_side *s, const struct braces *from, struct error *err)
{
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

int opreport_page_collect(const struct opreport_options *o, const struct braces *sides,
			  size_t count, struct opreport_page *ret, struct error *err)
{
	size_t i;
	int r = 0;

	ret->count = count;
	for (i = 0; i < count && r == 0; i++) {
		struct opreport_page_side *s = &ret->sides[i];

		s->options = *o;
		s->options.profile = sides[i].profile;
		s->options.view.form = i ? REPORT_SECOND : REPORT_HTML;
		s->options.view.compares = false; /* the page compares */
		s->words = reporting_shell_words(sides[i].count, sides[i].words);
		r = collect_side(s, &sides[i], err);
	}
	if (r == 0 && count > 1)
		r = collect_alike(ret, sides, err);
	if (r == 0 && count > 1)
		r = check_same_event(ret, err);
	if (r == 0)
		collect_sources(ret, &sides[0]);
	return r;
}

static void print_side(struct opreport_page_side *s, FILE *out)
{
	s->options.view.options = opreport_show(&s->options, *s->words ? s->words : NULL);
	profile_report_print(&s->page.report, out);
}

void opreport_page_print(struct opreport_page *p, FILE *out)
{
	_cleanup_free_ char *second = NULL;
	size_t size = 0;

	if (p->count > 1) {
		FILE *memory = xmemstream(&second, &size);

		print_side(&p->sides[1], memory);
		xmemstream_close(memory, &second);
	}
	p->sides[0].options.view.second = second;
	print_side(&p->sides[0], out);
}
