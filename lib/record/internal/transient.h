/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to the room: the state between words of the event buffer ("transient"), and the functions
 * that count samples.
 */
#pragma once

#include "base/strbuf.h"
#include "identity/hot_code.h"
#include "stream/evbuf.h"
#include "record/internal/callers.h"
#include "record/internal/kernel_images.h"
#include "stats/counters.h"
#include "record/internal/chain_recorder.h"

struct container_namer;
struct thread_namer;
struct sampled_image;
struct feature;
struct sampled_names;
struct relief;
struct store;
struct store_file;
struct stat_writer;

enum transient_mode {
	MODE_NONE, /* neither kernel nor user yet */
	MODE_USER,
	MODE_KERNEL,
	MODE_XEN
};

enum transient_trace {
	TRACE_OFF,
	TRACE_START, /* the next sample is the innermost frame of a chain */
	TRACE_ON     /* the next one is its caller */
};

struct transient {
	uint32_t cpu, tgid, tid;
	uint64_t app_cookie, image_cookie;
	enum transient_mode mode;
	enum transient_trace tracing;
	uint64_t weight;       /* of the next sample */
	uint64_t trace_weight; /* of the current chain */
	uint64_t chain_end;    /* why it ends (enum chain_end), if known */

	const char *cgroup, *comm; /* in the record's tables; NULL: no name of a thread came */
	struct sampled_image *app; /* of app_cookie, if app_known; NULL: none */
	bool app_known;

	/* Shortcut: samples of this counter at addresses low ... low + size - 1 go to the same file
	 * as the last one. size 0: no shortcut. */
	struct store_file *file;
	uint64_t counter, low, size, base;
};

/* Threads choose their names: so many different ones have files of their own. */
enum { COMMS_MAX = 4096 };

/* Longest record: escape, code, and the words of IBS_OP with a branch target. */
enum { RECORD_WORDS_LONGEST = 2 + 14, RECORD_CODES = 64 };

struct record {
	struct transient trans;
	struct record_stats stats;
	struct store *store;
	struct chain_recorder *trace;
	struct callers_table callers;
	unsigned int separate;
	bool select; /* an image filter is set */
	size_t event_count;
	unsigned int shed;   /* enum record_shed */
	uint64_t shed_since; /* ->stats.samples when threads were last shed */
	bool chains_seen;
	bool wanders; /* as in record_config */

	uint64_t pending[RECORD_WORDS_LONGEST]; /* the start of an incomplete record */
	size_t pending_count;
	struct strbuf name; /* the parts so far of that of generated code */

	struct kernel_images *kernel;
	struct sampled_images *binaries;
	struct source_files *sources;
	struct jitting *jitting; /* NULL: JIT code is not looked up */
	struct feature *feature; /* or NULL */
	const struct cookie_table *cookies;
	struct hot_code *hot; /* or NULL */
	struct sampled_names *cgroups, *comms;
	uint64_t comms_swept_ns;	    /* the last time; 0: not yet */
	struct container_namer *containers; /* NULL: cgroups are not separated */
	struct thread_namer *threads;	    /* NULL: threads are not */
	struct event *events;		    /* events of the configuration, then of the feature */
	size_t derived_count;		    /* the latter */
	char *root, *session_dir, *session_name, *samples;
	char *command; /* or NULL */
	struct stat_writer *stat_writer;
	struct record_stats written; /* the part of this run that was noted for stats/ */
	uint64_t written_total;	     /* the same for their sum */
	struct {
		struct record_stats written; /* the next two as they were */
		uint64_t written_total;
		uint64_t counted; /* samples, apart from those that were lost */
	} begun;		  /* when the session began */
	uint64_t removed;	  /* samples in sessions that were removed meanwhile */
	bool session_ready;	  /* its directory and manifest are open */
	/* Sample files used before this tick are to be written, or closed, in the next turns; 0:
	 * none. */
	uint64_t flush_tick, yield_tick, renew_tick;
	unsigned int code_turns; /* in which record_tend() still reads JIT code */
	uint64_t dump_since_ns;	 /* when the last dump began */
	uint64_t dump_until_ns;	 /* a dump reads descriptions of JIT code until then; 0: not now */
	bool is_dumped;		 /* nothing was counted since a dump */
	struct turn *turn;	 /* of the caller's loop, or NULL */
	struct relief *relief;	 /* while files are used; or NULL */
};

/* Does what is left to do with the files, for a short time; returns whether there is more. */
bool record_tend_files(struct record *rec);
/* Counts what was shed so far, before ->shed changes. */
void record_settle_shed(struct record *rec);
/* Notes that @weight samples are in the current image's code at @pc. */
static inline void note_hot(struct record *rec, uint64_t pc, uint64_t weight)
{
	if (rec->hot && rec->trans.mode == MODE_USER)
		hot_code_count(rec->hot, rec->trans.image_cookie, pc, weight);
}
/* Takes the sample (@pc, @counter) if the shortcut does not apply. */
void sample_add(struct record *rec, uint64_t pc, uint64_t counter);
/* Adds the next caller to the current chain. */
void sample_add_caller(struct record *rec, const struct evbuf_frame *frame);
/* Takes a sample of the extended feature. */
void sample_add_feature(struct record *rec, uint64_t code, const uint64_t *words);
