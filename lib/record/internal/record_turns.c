/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is done after samples were counted, in turns, each of which is short. */
#include "record/record.h"

#include "base/clock.h"
#include "helper/relief.h"
#include "record/code/jitting.h"
#include "record/code/source_files.h"
#include "record/internal/chain_recorder.h"
#include "record/internal/container_namer.h"
#include "record/internal/kernel_images.h"
#include "record/internal/sampled_names.h"
#include "record/internal/thread_namer.h"
#include "record/internal/transient.h"
#include "record/store/sampled_image.h"
#include "record/store/store.h"
#include "stats/turn.h"

/* How long a turn spends on files that are to be written or closed, and on each of two kinds. */
static const uint64_t tend_ns = 5000000;
/* In how many turns after a sync descriptions of JIT code are read, as long as there are more. */
enum { CODE_TURNS = 12 };
/* How often names of threads are swept at most, if no cgroups are. */
static const uint64_t comms_every_ns = 3600 * NS_PER_S;
/* How long a dump reads descriptions of JIT code at most. */
static const uint64_t dump_read_ns = 2 * NS_PER_S;

static bool is_of_old_images(const struct store_key *key, void *data)
{
	const struct record *rec = data;

	return sampled_image_is_old(rec->binaries, key->app) ||
	       sampled_image_is_old(rec->binaries, key->image);
}

static bool is_known(const char *name, void *images)
{
	return sampled_image_has_file(images, name);
}

/* Frees the images that were not sampled for long, if there are many, once their files are closed,
 * which takes several turns. */
static void sweep_images(struct record *rec, uint64_t until_ns)
{
	const struct store_choice choice = { .until_tick = UINT64_MAX,
					     .leaves = is_of_old_images,
					     .data = rec,
					     .until_ns = until_ns };

	/* The parts of an incomplete chain refer to images. */
	if (!sampled_image_are_many(rec->binaries, clock_now_ns()) ||
	    rec->trans.tracing != TRACE_OFF || rec->pending_count ||
	    source_files_are_writing(rec->sources))
		return;
	if (rec->jitting)
		jitting_use_images(rec->jitting);
	if (!store_leave(rec->store, &choice, true))
		return;
	chain_recorder_let_go(rec->trace);
	rec->trans.app_known = false;
	rec->trans.app = NULL;
	(void)sampled_image_sweep(rec->binaries, clock_now_ns()); /* none is lost */
	source_files_sweep(rec->sources, is_known, rec->binaries);
}

static bool is_of_old_name(const struct store_key *key, void *data)
{
	const struct record *rec = data;

	return sampled_names_is_old(rec->cgroups, key->task.cgroup) ||
	       sampled_names_is_old(rec->comms, key->task.comm);
}

static void use_names(const char *cgroup, const char *comm, void *data)
{
	struct record *rec = data;

	sampled_names_use(rec->cgroups, cgroup);
	sampled_names_use(rec->comms, comm);
}

/* Whether names of threads make way for others: not often, as a program can invent names. */
static bool are_comms_due(const struct record *rec, uint64_t now_ns)
{
	return sampled_names_count(rec->comms) >= COMMS_MAX / 4 * 3 &&
	       (!rec->comms_swept_ns || now_ns - rec->comms_swept_ns >= comms_every_ns);
}

/* Does the same with the paths of cgroups and the names of threads. */
static void sweep_names(struct record *rec, uint64_t now_ns)
{
	const struct store_choice choice = { .until_tick = UINT64_MAX,
					     .leaves = is_of_old_name,
					     .data = rec,
					     .until_ns = now_ns + tend_ns };

	/* An incomplete chain refers to its names. */
	if ((!sampled_names_are_many(rec->cgroups) && !are_comms_due(rec, now_ns)) ||
	    rec->trans.tracing != TRACE_OFF)
		return;
	use_names(rec->trans.cgroup, rec->trans.comm, rec);
	if (rec->jitting)
		jitting_each_name(rec->jitting, use_names, rec);
	if (!store_leave(rec->store, &choice, true))
		return;
	chain_recorder_let_go(rec->trace);
	if (rec->containers)
		container_namer_let_go(rec->containers);
	if (rec->threads)
		thread_namer_let_go(rec->threads);
	(void)sampled_names_sweep(rec->cgroups); /* none is lost */
	(void)sampled_names_sweep(rec->comms);
	rec->comms_swept_ns = now_ns;
}

bool record_tend_files(struct record *rec)
{
	struct store_choice choice = { .until_ns = clock_now_ns() + tend_ns };
	bool is_left;

	rec->trans.size = 0; /* its file may be closed */
	is_left = store_turn(rec->store, choice.until_ns);
	choice.until_tick = rec->flush_tick;
	if (rec->flush_tick && store_leave(rec->store, &choice, false))
		rec->flush_tick = 0;
	choice.until_tick = rec->yield_tick;
	if (rec->yield_tick && store_leave(rec->store, &choice, true))
		rec->yield_tick = 0;
	choice.until_tick = rec->renew_tick;
	choice.by_opening = true;
	if (rec->renew_tick && store_leave(rec->store, &choice, true))
		rec->renew_tick = 0;
	if (store_is_lacking(rec->store))
		return false; /* later */
	return is_left || rec->flush_tick || rec->yield_tick || rec->renew_tick;
}

/* Reads descriptions of JIT code, places samples in it, and writes source files. */
static void sync_code(struct record *rec, bool all)
{
	rec->trans.size = 0; /* its file may be closed */
	if (rec->jitting && (!all || !rec->is_dumped))
		jitting_sync(rec->jitting, clock_now_ns(), all);
	relief_leave(rec->relief);
	if (rec->jitting && all && rec->is_dumped)
		jitting_write_all(rec->jitting, clock_now_ns());
	source_files_write(rec->sources, clock_now_ns(), all);
	relief_return(rec->relief);
	turn_stage(rec->turn, TURN_JIT);
}

/* The rest of what record_tend() does. */
static bool tend(struct record *rec)
{
	bool is_left = record_tend_files(rec);

	if (rec->threads)
		thread_namer_write(rec->threads);
	turn_stage(rec->turn, TURN_FILES);
	is_left |= rec->jitting && jitting_tend(rec->jitting, clock_now_ns());
	turn_stage(rec->turn, TURN_JIT);
	sweep_images(rec, clock_now_ns() + tend_ns);
	sweep_names(rec, clock_now_ns());
	turn_stage(rec->turn, TURN_IMAGES);
	return is_left;
}

bool record_tend(struct record *rec)
{
	bool is_left;

	if (rec->code_turns) {
		sync_code(rec, false);
		rec->code_turns -= 1;
	}
	if (!rec->jitting || !jitting_reads(rec->jitting))
		rec->code_turns = 0;
	is_left = tend(rec);
	return is_left || rec->code_turns;
}

void record_sync(struct record *rec, bool all)
{
	/* A loop with turns tends, and drains in between. */
	if (rec->turn && !all) {
		rec->code_turns = CODE_TURNS;
		return;
	}
	rec->code_turns = 0;
	sync_code(rec, all);
	(void)tend(rec);
}

void record_begin_dump(struct record *rec)
{
	uint64_t now_ns = clock_now_ns();

	rec->trans.size = 0; /* its file may be closed */
	rec->flush_tick = store_tick(rec->store);
	rec->dump_since_ns = now_ns;
	if (!rec->jitting)
		return;
	jitting_search(rec->jitting, now_ns);
	rec->dump_until_ns = now_ns + dump_read_ns;
}

/* Reads descriptions of JIT code; once all are read, counts the samples that wait for them. */
static void dump_jit(struct record *rec)
{
	uint64_t now_ns = clock_now_ns();

	jitting_sync(rec->jitting, now_ns, false);
	if (now_ns >= rec->dump_until_ns || !jitting_reads(rec->jitting)) {
		jitting_flush(rec->jitting, now_ns);
		rec->flush_tick = store_tick(rec->store);
		rec->dump_until_ns = 0;
	}
	turn_stage(rec->turn, TURN_JIT);
}

bool record_dump(struct record *rec)
{
	bool is_left;

	if (rec->dump_until_ns)
		dump_jit(rec);
	is_left = record_tend(rec);
	is_left |= source_files_dump(rec->sources, clock_now_ns(), rec->dump_since_ns);
	is_left |= kernel_images_is_saving(rec->kernel);
	is_left |= rec->threads && thread_namer_is_busy(rec->threads);
	rec->is_dumped = !is_left && !rec->dump_until_ns;
	return !rec->is_dumped;
}
