/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/record.h"

#include "base/mem.h"
#include "stream/evbuf.h"
#include "record/feature.h"
#include "record/internal/jitting.h"
#include "record/internal/store.h"
#include "record/internal/chain_recorder.h"
#include "record/internal/transient.h"
#include "sfile/session.h"

#include <inttypes.h>
#include <string.h>

uint64_t record_stats_total(const struct record_stats *s)
{
	return s->samples + s->lost_no_context + s->lost_kernel + s->lost_no_mapping +
	       s->lost_no_app_for_kernel_sample + s->lost_no_app_for_user_sample + s->lost_counter +
	       s->filtered;
}

/* Samples for which threads were not told apart, since that was shed. */
static uint64_t threads_shed(const struct record *rec)
{
	return rec->shed & RECORD_SHED_THREADS ? rec->stats.samples - rec->shed_since : 0;
}

void record_settle_shed(struct record *rec)
{
	rec->stats.shed_threads += threads_shed(rec);
	rec->shed_since = rec->stats.samples;
}

void record_stats(const struct record *rec, struct record_stats *ret)
{
	*ret = rec->stats;
	ret->shed_threads += threads_shed(rec);
	ret->lost_samplefile += store_lost(rec->store, STORE_LOST_SAMPLES);
	if (rec->jitting)
		ret->lost_samplefile += jitting_lost(rec->jitting);
	ret->chains_lost = chain_recorder_lost(rec->trace);
	memcpy(ret->chain_ends, chain_recorder_ends(rec->trace), sizeof(ret->chain_ends));
	ret->extended_lost += store_lost(rec->store, STORE_LOST_EXTENDED);
	/* The stream may still go on, but as it stands it ends in the middle of a record. */
	ret->incomplete_code += rec->pending_count > 0;
}

/* Adds what a counter grew by since the last time; 0 or -errno. */
static int write_growth(const struct record *rec, const char *name, uint64_t now, uint64_t before,
			struct error *err)
{
	return now > before ? session_stat_add(rec->samples, name, now - before, err) : 0;
}

static int write_chain_ends(struct record *rec, const struct record_stats *now, struct error *err)
{
	int i, r = 0;

	for (i = 0; i < EVBUF_END_COUNT_ && r == 0; i++) {
		_cleanup_free_ char *name = xasprintf("chain_%s", evbuf_end_name((uint64_t)i));

		r = write_growth(rec, name, now->chain_ends[i], rec->written.chain_ends[i], err);
		if (r == 0)
			rec->written.chain_ends[i] = now->chain_ends[i];
	}
	return r;
}

int record_flush(struct record *rec, struct error *err)
{
	struct record_stats now;
	uint64_t total;
	int r;

	rec->trans.size = 0; /* its file may be closed now */
	store_flush(rec->store);
	if (rec->jitting)
		jitting_write(rec->jitting);
	record_stats(rec, &now);
	total = record_stats_total(&now);
	r = write_growth(rec, "total_samples", total, rec->written_total, err);
	if (r == 0)
		rec->written_total = total;
#define X(name, text)                                                                              \
	if (r == 0)                                                                                \
		r = write_growth(rec, #name, now.name, rec->written.name, err);                    \
	if (r == 0)                                                                                \
		rec->written.name = now.name;
	RECORD_STATS(X)
#undef X
	return r == 0 ? write_chain_ends(rec, &now, err) : r;
}

void record_print_stats(const struct record *rec, const struct record_stats *totals, FILE *out)
{
	uint64_t i;

#define X(name, text) (void)fprintf(out, "%s: %" PRIu64 "\n", text, totals->name);
	RECORD_STATS(X)
#undef X
	for (i = 0; i < EVBUF_END_COUNT_; i++)
		if (totals->chain_ends[i])
			(void)fprintf(out, "Nr. call chains, %s: %" PRIu64 "\n",
				      evbuf_end_meaning(i), totals->chain_ends[i]);
	if (rec->feature)
		rec->feature->ops->print_stats(rec->feature, out);
}
