/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/diff.h"

#include "base/macro.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "profile/select/cgroup_label.h"
#include "profile/select/classes.h"
#include "profile/rows/container.h"
#include "profile/rows/diff_builds.h"
#include "profile/rows/diff_match.h"
#include "profile/select/gather.h"
#include "profile/rows/statistics.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

static const struct {
	const char *name, *meaning;
} kinds[] = {
#define X(by, name, meaning) [DIFF_##by] = { name, meaning },
	DIFF_BY(X)
#undef X
};

int diff_by_parse(const char *text, struct error *err)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(text, kinds[i].name))
			return (int)i;
	return error_set(err, -EINVAL, "--compare: '%s' is not one of share, samples", text);
}

const char *diff_by_meaning(enum diff_by by)
{
	return kinds[by].meaning;
}

const char *diff_change_name(enum diff_change change)
{
	static const char *const names[] = {
#define X(change, name) [DIFF_##change] = name,
		DIFF_CHANGES(X)
#undef X
	};

	return names[change];
}

static const struct {
	const char *name, *mark;
} verdicts[] = {
#define X(verdict, name, mark) [DIFF_##verdict] = { name, mark },
	DIFF_VERDICTS(X)
#undef X
};

const char *diff_verdict_name(enum diff_verdict verdict)
{
	return verdicts[verdict].name;
}

const char *diff_verdict_mark(enum diff_verdict verdict)
{
	return verdicts[verdict].mark;
}

/* --- classes --- */

static void add_class(struct strbuf *out, const struct class *c, const struct session_names *names)
{
	_cleanup_free_ char *cgroup =
		c->task.cgroup ? cgroup_short_name(names, c->task.cgroup) : NULL;

	strbuf_addf(out, "%s%s", out->length ? ", " : "", c->event_text);
	if (c->count)
		strbuf_addf(out, " count %" PRId64, c->count);
	if (c->unit_mask != SNAME_ALL && c->unit_mask)
		strbuf_addf(out, " unit mask %#" PRIx32, (uint32_t)c->unit_mask);
	if (c->host)
		strbuf_addf(out, " host %s", c->host);
	if (cgroup)
		strbuf_addf(out, " cgroup %s", cgroup);
	if (c->task.comm)
		strbuf_addf(out, " comm %s", c->task.comm);
	if (c->task.tgid != SNAME_ALL)
		strbuf_addf(out, " tgid %" PRId64, c->task.tgid);
	if (c->task.tid != SNAME_ALL)
		strbuf_addf(out, " tid %" PRId64, c->task.tid);
	if (c->task.cpu != SNAME_ALL)
		strbuf_addf(out, " cpu %" PRId64, c->task.cpu);
}

/* Adds a list of the columns, for messages; a report may have hundreds of them. */
static void list_classes(struct strbuf *out, const struct diff_side *side)
{
	enum { LISTED_MAX = 6 };
	const struct classes *c = side->classes;
	size_t i;

	for (i = 0; i < c->count && i < LISTED_MAX; i++)
		add_class(out, &c->classes[i], side->gather->session_names);
	if (c->count > LISTED_MAX)
		strbuf_addf(out, " and %zu more", c->count - LISTED_MAX);
}

static bool same_events(const struct classes *a, const struct classes *b)
{
	size_t i;

	for (i = 0; i < a->count && i < b->count; i++)
		if (!class_same_event(&a->classes[i], &b->classes[i]))
			return false;
	return a->count == b->count;
}

static bool same_tasks(const struct classes *a, const struct classes *b)
{
	size_t i;

	for (i = 0; i < a->count && i < b->count; i++)
		if (!sname_task_equal(&a->classes[i].task, &b->classes[i].task))
			return false;
	return a->count == b->count;
}

/* Whether the columns are of the same hosts. One host may be compared with another, several are
 * columns that have to be the same. */
static bool same_hosts(const struct classes *a, const struct classes *b)
{
	size_t i;

	if (a->axis != AXIS_HOST && b->axis != AXIS_HOST)
		return true;
	for (i = 0; i < a->count && i < b->count; i++)
		if (!sname_same_text(a->classes[i].host, b->classes[i].host))
			return false;
	return a->count == b->count;
}

static const char *remedy_of(const struct classes *a, const struct classes *b)
{
	if (!same_hosts(a, b))
		return "leave out --separate-hosts, or select the same hosts in both";
	if (a->axis > AXIS_EVENT || b->axis > AXIS_EVENT || same_events(a, b))
		return "use --merge=all to merge cgroups, processes, threads and CPUs";
	return "choose what both have with event:NAME or count:N";
}

int diff_check_classes(const struct diff_side *a, const struct diff_side *b, struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf first = STRBUF_INIT, second = STRBUF_INIT;
	const struct classes *in_a = a->classes, *in_b = b->classes;

	if (same_events(in_a, in_b) && same_hosts(in_a, in_b) && same_tasks(in_a, in_b))
		return 0;
	list_classes(&first, a);
	list_classes(&second, b);
	return error_set(err, -EINVAL,
			 "the two profiles have different columns: the first %s; the second %s; %s",
			 strbuf_text(&first), strbuf_text(&second), remedy_of(in_a, in_b));
}

/* --- rows --- */

static uint64_t *copy_counts(struct container *c, const uint64_t *counts)
{
	size_t size = c->class_count * sizeof(*counts);

	return memcpy(arena_alloc(&c->arena, size), counts, size);
}

/* Adds a row of the first profile as gone. */
static struct row *add_gone(struct container *to, const struct row *row, const uint32_t *images)
{
	struct row copy = { .image = images[row->image],
			    .app = row->app == GATHER_NONE ? GATHER_NONE : images[row->app],
			    .kind = row->kind,
			    .address = row->address,
			    .place = row->place,
			    .is_inlined = row->is_inlined,
			    .is_go = row->is_go,
			    .is_gone = true };
	struct row *added;

	if (row->symbol)
		copy.symbol = container_symbol(to, row->symbol->name);
	added = container_add_row(to, &copy);
	memcpy(added->counts, row->counts, to->class_count * sizeof(*row->counts));
	return added;
}

void diff_join(const struct container *first, struct container *second, const uint32_t *images,
	       uint32_t *partners)
{
	size_t i;

	second->before_totals = copy_counts(second, first->totals);
	second->first = first;
	for (i = 0; i < first->count; i++) {
		const struct row *row = &first->rows[i];
		struct row *partner = partners[i] == GATHER_NONE ? add_gone(second, row, images)
								 : &second->rows[partners[i]];

		partner->before = copy_counts(second, row->counts);
		partner->before_blocks = row->blocks;
		partners[i] = (uint32_t)(partner - second->rows);
	}
}

int diff_compare(const struct diff_side *first, struct diff_side *second, struct error *err)
{
	const struct gather *const gathers[2] = { first->gather, second->gather };
	_cleanup_free_ uint64_t *of_first = NULL, *of_second = NULL;
	_cleanup_free_ uint32_t *images = NULL, *partners = NULL;
	_cleanup_(diff_builds_done) struct diff_builds builds = { 0 };
	int r = diff_check_classes(first, second, err);

	if (r < 0)
		return r;
	of_first = diff_builds_samples(first->gather, first->container);
	of_second = diff_builds_samples(second->gather, second->container);
	diff_builds_find(gathers, (const uint64_t *const[2]){ of_first, of_second }, &builds);
	diff_builds_join(&builds, 0, first->container, first->gather, NULL);
	diff_builds_join(&builds, 1, second->container, second->gather, NULL);
	images = diff_match_images(first->gather, second->gather,
				   &(struct diff_images){ builds.sampled[0], builds.sampled[1] });
	diff_builds_name(&builds, second->gather);
	partners = diff_match_rows(first, second, images);
	diff_join(first->container, second->container, images, partners);
	return 0;
}

/* --- what a row shows --- */

/* A row of a profile in one class, with what is known of its noise. */
static struct statistics_part part_of(const struct container *c, const uint64_t *counts,
				      const uint64_t *block_counts, size_t class, enum diff_by by)
{
	const struct statistics_blocks blocks =
		container_blocks(c, block_counts, c->block_totals, class);

	const struct statistics_noise alone = container_noise(c, class);

	return (struct statistics_part){ counts ? counts[class] : 0, c->totals[class],
					 by == DIFF_SHARE
						 ? statistics_share_noise(&blocks, alone)
						 : statistics_count_noise(&blocks, alone) };
}

/* The counts of a row in both profiles. */
static struct diff_pair pair_of(const struct container *c, const struct row *row, size_t class,
				enum diff_by by)
{
	struct diff_pair p = {
		.was = part_of(c->first, row->before, row->before_blocks, class, by),
		.is = part_of(c, container_counts(c, row), row->is_gone ? NULL : row->blocks, class,
			      by),
	};

	p.was.total = c->before_totals[class];
	return p;
}

/* In how many of 1 cases chance alone makes the difference. */
static double chance_of(const struct diff_pair *p, enum diff_by by)
{
	return by == DIFF_SHARE ? statistics_shares_chance(p->was, p->is)
				: statistics_counts_chance(p->was, p->is);
}

/* Pairs with fewer samples can show nothing, and would only add comparisons. */
static bool is_compared(const struct diff_pair *p)
{
	enum { LEAST = 12 };

	return p->was.count + p->is.count >= LEAST;
}

static bool is_more(const struct diff_pair *p, enum diff_by by)
{
	double was = (double)p->was.count, is = (double)p->is.count;

	if (by == DIFF_SHARE)
		return is * (double)p->was.total > was * (double)p->is.total;
	return is > was;
}

void diff_judge_pairs(struct diff_pair *pairs, size_t count, enum diff_by by)
{
	_cleanup_free_ double *chances = xcalloc(2 * count + 1, sizeof(*chances));
	double *compared = chances + count, certain;
	size_t n = 0, i;

	for (i = 0; i < count; i++) {
		chances[i] = chance_of(&pairs[i], by);
		if (is_compared(&pairs[i]))
			compared[n++] = chances[i];
	}
	certain = statistics_certain(compared, n);
	for (i = 0; i < count; i++) {
		struct diff_pair *p = &pairs[i];

		if (is_compared(p) && chances[i] <= certain)
			p->verdict = is_more(p, by) ? DIFF_MORE : DIFF_LESS;
		else
			p->verdict = chances[i] <= STATISTICS_LEVEL ? DIFF_PERHAPS : DIFF_CHANCE;
	}
}

double diff_percent(const struct diff_pair *p, enum diff_by by)
{
	double was = (double)p->was.count, is = (double)p->is.count;

	if (by == DIFF_SHARE) {
		was = container_share(p->was.count, p->was.total);
		is = container_share(p->is.count, p->is.total);
	}
	return 100 * (is - was) / was;
}

void diff_judge(struct container *c, enum diff_by by)
{
	_cleanup_free_ struct diff_pair *pairs = xcalloc(c->count + 1, sizeof(*pairs));
	uint8_t *all = arena_alloc(&c->arena, c->count * c->class_count + 1);
	size_t class, i;

	for (class = 0; class < c->class_count; class ++) {
		for (i = 0; i < c->count; i++)
			pairs[i] = pair_of(c, &c->rows[i], class, by);
		diff_judge_pairs(pairs, c->count, by);
		for (i = 0; i < c->count; i++)
			all[i * c->class_count + class] = (uint8_t)pairs[i].verdict;
	}
	for (i = 0; i < c->count; i++)
		c->rows[i].verdicts = all + i * c->class_count;
	c->compared_by = by;
}

/* How far the counts are apart: in samples, or in parts of a million millions of all, so that
 * shares that differ only by rounding are equal. */
static uint64_t distance_of(const struct container *c, const struct row *row, size_t class)
{
	uint64_t was = row->before ? row->before[class] : 0, is = container_counts(c, row)[class];
	double was_share, is_share;

	if (c->compared_by != DIFF_SHARE)
		return MAX(was, is) - MIN(was, is);
	was_share = (double)was / fmax((double)c->before_totals[class], 1);
	is_share = (double)is / fmax((double)c->totals[class], 1);
	return (uint64_t)nearbyint(1e12 * fabs(is_share - was_share));
}

uint64_t diff_rank(const struct container *c, const struct row *row)
{
	static const uint64_t of_verdict[] = {
		[DIFF_MORE] = 0, [DIFF_LESS] = 0, [DIFF_PERHAPS] = 1, [DIFF_CHANCE] = 2
	};
	const uint64_t most = UINT64_MAX >> 2;
	uint64_t best = UINT64_MAX;
	size_t i;

	for (i = 0; row->verdicts && i < c->class_count; i++) {
		uint64_t near = most - MIN(distance_of(c, row, i), most);

		best = MIN(best, of_verdict[row->verdicts[i]] << 62 | near);
	}
	return best;
}

enum diff_change diff_of_row(const struct container *c, const struct row *row, size_t class,
			     enum diff_by by, double *ret_percent, enum diff_verdict *ret_verdict)
{
	const struct diff_pair p = {
		.was = { row->before ? row->before[class] : 0, c->before_totals[class], { 0 } },
		.is = { container_counts(c, row)[class], c->totals[class], { 0 } },
	};

	*ret_verdict = (enum diff_verdict)row->verdicts[class];
	*ret_percent = p.was.count ? diff_percent(&p, by) : 0;
	if (row->is_gone)
		return DIFF_GONE;
	return p.was.count || !p.is.count ? DIFF_CHANGED : DIFF_NEW;
}
