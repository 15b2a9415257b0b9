/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/record.h"

#include "base/mem.h"
#include "helper/relief.h"
#include "stream/evbuf.h"
#include "record/feature.h"
#include "record/code/jit_reader.h"
#include "record/code/jitting.h"
#include "record/code/source_files.h"
#include "record/stat_writer.h"
#include "record/store/sampled_image.h"
#include "record/store/store.h"
#include "record/internal/chain_recorder.h"
#include "record/internal/transient.h"
#include "stats/turn.h"

#include <inttypes.h>
#include <string.h>

uint64_t record_stats_total(const struct record_stats *s)
{
	/* "samples" include lost_samplefile. */
	uint64_t total = s->filtered - s->lost_samplefile;
	const struct counter *c;

	for (size_t i = 0; (c = counter_at(i)); i++)
		if (c->source == COUNTER_OF_RECORD &&
		    (c->kind == COUNTER_RECORDED || c->kind == COUNTER_LOST))
			total += counter_value(c, NULL, s);
	return total;
}

/* Samples not split by thread since that was shed. */
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
	struct jit_reader_stats jit;

	*ret = rec->stats;
	ret->shed_threads += threads_shed(rec);
	ret->lost_samplefile += store_lost(rec->store, STORE_LOST_SAMPLES) + rec->removed;
	if (rec->jitting) {
		ret->lost_samplefile += jitting_samples(rec->jitting).lost;
		jitting_stats(rec->jitting, &jit);
		ret->jit_dropped = jit.jit_dropped;
		ret->jit_put_off = jit.jit_put_off;
		ret->java_maps = jit.java_maps;
		ret->java_refused = jit.java_refused;
	}
	ret->script_capped = source_files_capped(rec->sources);
	ret->script_unnamed = sampled_image_sources(rec->binaries).shared;
	ret->script_swept = sampled_image_sources(rec->binaries).swept;
	ret->script_unwritten = source_files_unwritten(rec->sources);
	ret->chains_lost = chain_recorder_lost(rec->trace);
	memcpy(ret->chain_ends, chain_recorder_ends(rec->trace), sizeof(ret->chain_ends));
	if (rec->feature)
		ret->feature = rec->feature->stats;
	ret->extended_lost += store_lost(rec->store, STORE_LOST_EXTENDED);
	/* The stream may continue, but for now it ends in the middle of a record. */
	ret->incomplete_code += rec->pending_count > 0;
}

static bool is_of_record(const struct counter *c)
{
	return c->source == COUNTER_OF_RECORD || c->source == COUNTER_OF_CHAINS;
}

uint64_t record_counted(const struct record *rec)
{
	struct jitting_samples code = { 0 };

	if (rec->jitting)
		code = jitting_samples(rec->jitting);
	return rec->stats.samples - rec->stats.lost_samplefile - code.lost - code.waiting;
}

/* Samples in sample files, of this session and all before it. */
static uint64_t in_files(const struct record *rec)
{
	return record_counted(rec) - store_lost(rec->store, STORE_LOST_SAMPLES) - rec->removed;
}

void record_begin_session(struct record *rec)
{
	rec->begun.written = rec->written;
	rec->begun.written_total = rec->written_total;
	rec->begun.counted = in_files(rec);
}

uint64_t record_lose_session(struct record *rec)
{
	/* What waits has a file yet to come. */
	uint64_t lost = in_files(rec) - rec->begun.counted - store_waiting(rec->store);

	rec->removed += lost;
	stat_writer_forget(rec->stat_writer);
	rec->written = rec->begun.written;
	rec->written_total = rec->begun.written_total;
	return lost;
}

void record_note(struct record *rec, const char *name, uint64_t now, uint64_t *written)
{
	stat_writer_note(rec->stat_writer, name, now, written);
}

bool record_is_writing(const struct record *rec)
{
	return stat_writer_is_busy(rec->stat_writer);
}

int record_flush(struct record *rec, bool at_once, struct error *err)
{
	const struct counter *c;
	struct record_stats now;
	int r;

	rec->trans.size = 0; /* its file may have been closed */
	if (at_once)
		store_flush(rec->store);
	else
		rec->flush_tick = store_tick(rec->store);
	turn_stage(rec->turn, TURN_FILES);
	record_stats(rec, &now);
	record_note(rec, "total_samples", record_stats_total(&now), &rec->written_total);
	for (size_t i = 0; (c = counter_at(i)); i++)
		if (is_of_record(c))
			record_note(rec, c->name, counter_value(c, NULL, &now),
				    counter_place(c, &rec->written));
	relief_leave(rec->relief);
	r = at_once ? stat_writer_finish(rec->stat_writer, err)
		    : stat_writer_begin(rec->stat_writer, err);
	relief_return(rec->relief);
	turn_stage(rec->turn, TURN_STATS);
	return r;
}

void record_print_stats(const struct record *rec, const struct record_stats *totals, FILE *out)
{
	const struct counter *c;

	for (size_t i = 0; (c = counter_at(i)); i++) {
		uint64_t value = is_of_record(c) ? counter_value(c, NULL, totals) : 0;

		if (value || c->source == COUNTER_OF_RECORD)
			(void)fprintf(out, "Nr. %s: %" PRIu64 "\n", c->log, value);
	}
	if (rec->feature)
		rec->feature->ops->print_stats(&totals->feature, out);
}
