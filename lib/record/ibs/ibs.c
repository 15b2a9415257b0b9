/* SPDX-License-Identifier: GPL-2.0-or-later */
/* AMD's instruction-based sampling as an extended feature: "ibs:fetch:EVENT,...:COUNT:MASK|op:
 * EVENT,...:COUNT:MASK". ":KERNEL:USER" may follow each MASK. */
#include "record/feature.h"

#include "base/mem.h"
#include "base/parse.h"
#include "base/path.h"
#include "base/text.h"
#include "stream/evbuf.h"
#include "record/ibs/ibs_event.h"
#include "record/ibs/ibs_log.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Bits of the op mask: count ops, not cycles; log memory accesses; record and log branch
 * targets. */
enum { MASK_DISPATCHED_OPS = 1, MASK_LOG_MEMORY = 2, MASK_BRANCH_TARGET = 4 };

static const struct {
	uint64_t code, words;
	uint64_t count_max;
} kinds[] = {
	[IBS_FETCH] = { EVBUF_IBS_FETCH, 7, 1048575 },
	[IBS_OP] = { EVBUF_IBS_OP, 13, 134217727 },
};
static_assert(ARRAY_SIZE(kinds) == IBS_KIND_COUNT_, "one row a kind");

/* Bits that have no meaning on a family, although they may be set. */
static const struct {
	uint64_t family;
	uint64_t reserved[IBS_REGS];
} families[] = {
	{ 0x10, { IBS_DATA1_RIP_INVALID, 0, 0 } },
	{ 0x12, { 0, 0x30, 0 } },
	{ 0x14, { 0, 0x30, 0x81620 } },
};

/* The terms that all events of a kind share. */
struct terms {
	uint64_t count, mask, kernel, user;
};

struct ibs {
	struct feature feature;
	struct event *events;		  /* the events that record counts */
	const struct ibs_event **derived; /* how each is derived */
	size_t count, room, derived_room;
	bool branch_target;
	struct ibs_log log;
	struct terms
		given[IBS_KIND_COUNT_]; /* from the arguments; all-zero if the kind is not given */
	uint64_t reserved[IBS_REGS];
	uint64_t samples[IBS_KIND_COUNT_], words[IBS_KIND_COUNT_], incomplete[IBS_KIND_COUNT_];
	uint64_t derived_events;
};

/* One part of the arguments while its event list is read. */
struct part {
	struct ibs *ibs;
	enum ibs_kind kind;
	struct terms terms;
	struct error *err;
};

static const char *nearest(const char *name)
{
	const struct ibs_event *e;
	const char *best = "";
	unsigned int distance, least = UINT32_MAX;
	size_t i;

	for (i = 0; (e = ibs_event_at(i)); i++) {
		distance = text_distance(name, e->name);
		if (distance < least) {
			least = distance;
			best = e->name;
		}
	}
	return best;
}

static int add_event(const char *name, void *data)
{
	struct part *p = data;
	struct ibs *x = p->ibs;
	const struct ibs_event *e = ibs_event_find(name);
	struct event event = { 0 };

	if (!e || e->kind != p->kind)
		return error_set(p->err, -EINVAL, "no IBS %s event '%s'; did you mean %s?",
				 ibs_kinds[p->kind].name, name, nearest(name));
	(void)snprintf(event.name, sizeof(event.name), "%s", e->name);
	event.count = p->terms.count;
	event.unit_mask = (uint32_t)p->terms.mask;
	event.code = e->code;
	event.kernel = p->terms.kernel;
	event.user = p->terms.user;
	array_grow(&x->events, x->count + 1, &x->room);
	array_grow(&x->derived, x->count + 1, &x->derived_room);
	x->derived[x->count] = e;
	x->events[x->count++] = event;
	return 0;
}

/* All events of a kind come from the same samples: one count, one unit mask. */
static int check_same(const struct part *p)
{
	struct terms *given = &p->ibs->given[p->kind];

	if (given->count && memcmp(given, &p->terms, sizeof(*given)) != 0)
		return error_set(p->err, -EINVAL,
				 "all IBS %s events must have the same count and unit mask, kernel "
				 "and user, not %" PRIu64 ":%" PRIu64 ":%" PRIu64 ":%" PRIu64
				 " and %" PRIu64 ":%" PRIu64 ":%" PRIu64 ":%" PRIu64,
				 ibs_kinds[p->kind].name, given->count, given->mask, given->kernel,
				 given->user, p->terms.count, p->terms.mask, p->terms.kernel,
				 p->terms.user);
	*given = p->terms;
	return 0;
}

/* Parses "COUNT[:MASK[:KERNEL[:USER]]]" after the strtok_r() state @save. */
static int read_terms(struct part *p, char **save)
{
	struct {
		const char *what;
		uint64_t min, max, *to;
	} numbers[] = {
		{ "count", 1, kinds[p->kind].count_max, &p->terms.count },
		{ "unit mask", 0, 7, &p->terms.mask },
		{ "kernel", 0, 1, &p->terms.kernel },
		{ "user", 0, 1, &p->terms.user },
	};
	const char *text;
	size_t i;

	p->terms = (struct terms){ 0, 0, 1, 1 };
	for (i = 0; i < ARRAY_SIZE(numbers) && (text = strtok_r(NULL, ":", save)); i++)
		if (parse_u64(text, numbers[i].min, numbers[i].max, numbers[i].to) < 0)
			return error_set(p->err, -EINVAL,
					 "IBS %s %s '%s' is not from %" PRIu64 " to %" PRIu64,
					 ibs_kinds[p->kind].name, numbers[i].what, text,
					 numbers[i].min, numbers[i].max);
	return 0;
}

/* Takes "KIND:EVENT,...:COUNT:MASK". */
static int add_part(const char *text, void *data)
{
	struct part *p = data;
	_cleanup_free_ char *copy = xstrdup(text);
	char *save = NULL, *kind = strtok_r(copy, ":", &save), *list = strtok_r(NULL, ":", &save);

	if (!kind)
		return 0;
	p->kind = IBS_FETCH;
	while (p->kind < IBS_KIND_COUNT_ && strcmp(kind, ibs_kinds[p->kind].name) != 0)
		p->kind++;
	if (p->kind < IBS_KIND_COUNT_ && list && read_terms(p, &save) < 0)
		return -EINVAL;
	if (p->kind == IBS_KIND_COUNT_ || !list || !p->terms.count)
		return error_set(
			p->err, -EINVAL,
			"'%s' is not fetch:EVENT,...:COUNT:MASK or op:EVENT,...:COUNT:MASK", text);
	if (check_same(p) < 0)
		return -EINVAL;
	if (p->kind == IBS_OP)
		p->ibs->branch_target = p->terms.mask & MASK_BRANCH_TARGET;
	return parse_list(list, ',', add_event, p);
}

/* Finds the bits that have no meaning on this processor. */
static void read_family(struct ibs *x, const char *root)
{
	_cleanup_free_ char *text = NULL;
	const char *at;
	uint64_t family;
	size_t i;

	if (path_read(root, "/proc/cpuinfo", &text, NULL) < 0)
		return;
	at = strstr(text, "cpu family");
	at = at ? strchr(at, ':') : NULL;
	if (!at)
		return;
	at += 1 + strspn(at + 1, " \t");
	if (parse_dec(&at, &family) < 0)
		return;
	for (i = 0; i < ARRAY_SIZE(families); i++)
		if (families[i].family == family)
			memcpy(x->reserved, families[i].reserved, sizeof(x->reserved));
}

static void ibs_done(struct feature *f)
{
	struct ibs *x = (struct ibs *)f;

	ibs_log_done(&x->log);
	free(x->events);
	free(x->derived);
	free(x);
}

static int ibs_init(const char *args, const char *root, struct feature **ret, struct error *err)
{
	struct ibs *x = xcalloc(1, sizeof(*x));
	struct part part = { .ibs = x, .err = err };
	int r;

	x->feature.ops = &feature_ibs;
	r = parse_list(args, '|', add_part, &part);
	if (r == 0 && !x->count)
		r = error_set(err, -EINVAL, "ibs: no event given");
	if (r < 0) {
		ibs_done(&x->feature);
		return r;
	}
	x->log.memory = x->given[IBS_OP].mask & MASK_LOG_MEMORY;
	x->log.branch = x->branch_target;
	read_family(x, root);
	*ret = &x->feature;
	return 0;
}

struct driver_ibs feature_ibs_needs(const char *text)
{
	_cleanup_(feature_freep) struct feature *f = NULL;
	struct driver_ibs needs = { 0 };
	enum ibs_kind kind;
	const struct ibs *x;

	if (!text || feature_new(text, NULL, &f, NULL) < 0 || f->ops != &feature_ibs)
		return needs;
	x = (const struct ibs *)f;
	needs.fetch_count = x->given[IBS_FETCH].count;
	needs.op_count = x->given[IBS_OP].count;
	needs.branch_target = x->branch_target;
	needs.count_ops = x->given[IBS_OP].mask & MASK_DISPATCHED_OPS;
	for (kind = IBS_FETCH; kind < IBS_KIND_COUNT_; kind++) {
		needs.no_kernel[kind] = !x->given[kind].kernel;
		needs.no_user[kind] = !x->given[kind].user;
	}
	return needs;
}

static const struct event *ibs_events(const struct feature *f, size_t *ret_count)
{
	const struct ibs *x = (const struct ibs *)f;

	*ret_count = x->count;
	return x->events;
}

static size_t ibs_words(const struct feature *f, uint64_t code)
{
	const struct ibs *x = (const struct ibs *)f;

	if (code == kinds[IBS_FETCH].code)
		return kinds[IBS_FETCH].words;
	return code == kinds[IBS_OP].code ? kinds[IBS_OP].words + x->branch_target : 0;
}

/* The register whose halves are the low halves of two words. */
static uint64_t join(const uint64_t *words)
{
	return (words[0] & UINT32_MAX) | words[1] << 32;
}

static void ibs_sample(struct feature *f, uint64_t code, const uint64_t *words, feature_emit *emit,
		       void *data)
{
	struct ibs *x = (struct ibs *)f;
	enum ibs_kind kind = code == kinds[IBS_OP].code ? IBS_OP : IBS_FETCH;
	uint64_t regs[IBS_REGS] = { 0 }, value;
	size_t i;

	x->samples[kind]++;
	x->words[kind] += ibs_words(f, code);
	/* Both kinds: offset, linear address, then the registers. */
	for (i = 0; i < (kind == IBS_OP ? (size_t)IBS_REGS : 1); i++)
		regs[i] = join(words + 3 + 2 * i) & ~x->reserved[i];
	if (kind == IBS_OP && regs[IBS_DATA1] & IBS_DATA1_RIP_INVALID) {
		x->incomplete[kind]++;
		return;
	}
	for (i = 0; i < x->count; i++) {
		value = x->derived[i]->kind == kind ? ibs_event_value(x->derived[i], regs) : 0;
		if (!value)
			continue;
		x->derived_events++;
		emit(i, words[0], value, data);
	}
}

static void ibs_keep(struct feature *f, const struct feature_where *where, uint64_t code,
		     const uint64_t *words)
{
	struct ibs *x = (struct ibs *)f;

	if (code == kinds[IBS_OP].code && (x->log.memory || x->log.branch))
		ibs_log_op(&x->log, where, words);
}

static void ibs_keep_in(struct feature *f, const char *directory)
{
	((struct ibs *)f)->log.directory = xstrdup(directory);
}

static void ibs_print_stats(const struct feature *f, FILE *out)
{
	const struct ibs *x = (const struct ibs *)f;

	(void)fprintf(out, "\n-- OProfile Extended-Feature Statistics --\n");
	(void)fprintf(out, "Nr. IBS Fetch samples     : %" PRIu64 " (%" PRIu64 " entries)\n",
		      x->samples[IBS_FETCH], x->words[IBS_FETCH]);
	(void)fprintf(out, "Nr. IBS Fetch incompletes : %" PRIu64 "\n", x->incomplete[IBS_FETCH]);
	(void)fprintf(out, "Nr. IBS Op samples        : %" PRIu64 " (%" PRIu64 " entries)\n",
		      x->samples[IBS_OP], x->words[IBS_OP]);
	(void)fprintf(out, "Nr. IBS Op incompletes    : %" PRIu64 "\n", x->incomplete[IBS_OP]);
	(void)fprintf(out, "Nr. IBS derived events    : %" PRIu64 "\n", x->derived_events);
}

const struct feature_ops feature_ibs = {
	.name = "ibs",
	.init = ibs_init,
	.done = ibs_done,
	.events = ibs_events,
	.words = ibs_words,
	.sample = ibs_sample,
	.keep = ibs_keep,
	.keep_in = ibs_keep_in,
	.print_stats = ibs_print_stats,
};
