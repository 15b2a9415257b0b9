/* SPDX-License-Identifier: GPL-2.0-or-later */
/* AMD's instruction-based sampling as an extended feature. */
#include "record/feature.h"

#include "base/mem.h"
#include "base/parse.h"
#include "file/path.h"
#include "event/evderived.h"
#include "stream/evbuf.h"
#include "record/ibs/ibs_log.h"

#include <inttypes.h>
#include <string.h>

/* How samples of each kind are encoded in the event buffer. */
static const struct {
	uint64_t code, words;
} kinds[] = {
	[IBS_FETCH] = { EVBUF_IBS_FETCH, 7 },
	[IBS_OP] = { EVBUF_IBS_OP, 13 },
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

struct ibs {
	struct feature feature;
	struct evderived derived;
	bool branch_target;
	struct ibs_log log;
	uint64_t reserved[IBS_REGS];
};

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
	free(x);
}

static struct feature *ibs_init(const struct evderived *derived, const char *root)
{
	uint64_t op_mask = derived->ibs[IBS_OP].unit_mask;
	struct ibs *x;

	if (!derived->event_count)
		return NULL;
	x = xcalloc(1, sizeof(*x));
	x->feature.ops = &feature_ibs;
	x->derived = *derived;
	x->branch_target = op_mask & IBS_BRANCH_TARGET;
	x->log.memory = op_mask & IBS_LOG_MEMORY;
	x->log.branch = x->branch_target;
	read_family(x, root);
	return &x->feature;
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

	f->stats.ibs_samples[kind]++;
	f->stats.ibs_words[kind] += ibs_words(f, code);
	/* Both kinds: offset, linear address, then the registers. */
	for (i = 0; i < (kind == IBS_OP ? (size_t)IBS_REGS : 1); i++)
		regs[i] = join(words + 3 + 2 * i) & ~x->reserved[i];
	if (kind == IBS_OP && regs[IBS_DATA1] & IBS_DATA1_RIP_INVALID) {
		f->stats.ibs_incomplete[kind]++;
		return;
	}
	for (i = 0; i < x->derived.event_count; i++) {
		const struct ibs_event *e = x->derived.events[i];

		value = e->kind == kind ? ibs_event_value(e, regs) : 0;
		if (!value)
			continue;
		f->stats.ibs_events++;
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

static void ibs_print_stats(const struct feature_stats *stats, FILE *out)
{
	(void)fprintf(out, "\n-- OProfile Extended-Feature Statistics --\n");
	(void)fprintf(out, "Nr. IBS Fetch samples     : %" PRIu64 " (%" PRIu64 " entries)\n",
		      stats->ibs_samples[IBS_FETCH], stats->ibs_words[IBS_FETCH]);
	(void)fprintf(out, "Nr. IBS Fetch incompletes : %" PRIu64 "\n",
		      stats->ibs_incomplete[IBS_FETCH]);
	(void)fprintf(out, "Nr. IBS Op samples        : %" PRIu64 " (%" PRIu64 " entries)\n",
		      stats->ibs_samples[IBS_OP], stats->ibs_words[IBS_OP]);
	(void)fprintf(out, "Nr. IBS Op incompletes    : %" PRIu64 "\n",
		      stats->ibs_incomplete[IBS_OP]);
	(void)fprintf(out, "Nr. IBS derived events    : %" PRIu64 "\n", stats->ibs_events);
}

const struct feature_ops feature_ibs = {
	.init = ibs_init,
	.done = ibs_done,
	.words = ibs_words,
	.sample = ibs_sample,
	.keep = ibs_keep,
	.keep_in = ibs_keep_in,
	.print_stats = ibs_print_stats,
};
