/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to the room: the state of jitting (record/code/jitting.h), and the part that writes. */
#pragma once

#include "base/map.h"
#include "record/store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct driver;
struct driver_ops;
struct jit_process;
struct jit_reader;
struct jit_writer;
struct sampled_images;

/* A sample that waits for its code. */
struct waiting_sample {
	struct store_key key;
	uint64_t address, weight;
	uint64_t after, time; /* sampled between these; time 0: since the last sync */
};

/* Where a process's code is written: next to the regions of an application, in a cgroup; or, with
 * all NULL, for call chains. */
struct spot {
	const struct sampled_image *app, *region;
	const char *cgroup, *comm;
};

/* A process that generates code. */
struct maker {
	uint32_t tgid;
	struct jit_process *process;
	struct waiting_sample *waiting;
	size_t waiting_count, waiting_room;
	struct spot *spots;
	size_t spot_count, spot_room;
	size_t written, written_spots; /* pieces of code, and spots, written so far */
	size_t passed;		       /* pieces of code that the driver was passed, or needs not */
	bool has_rows;		       /* some of them have rows for unwinding */
	uint64_t written_at;	       /* the last time */
	uint64_t writing;	       /* the number of that job */
	uint64_t search_at, search_every;
	bool in_chains;	  /* has a spot for call chains */
	bool unnamed;	  /* a frame of a chain was in code that is not known yet */
	bool missed;	  /* the same, since the last sync */
	bool ends;	  /* is forgotten when all is written */
	uint64_t gone_at; /* 0: it runs */
};

struct jitting {
	char *samples;
	const struct driver_ops *const *ops;
	struct driver *const *driver;
	struct jit_reader *reader;
	struct jit_writer *writer;
	struct sampled_images *binaries;
	struct store *store;
	struct map makers; /* by tgid */
	uint64_t last_sync;
	bool has_turns;	    /* of the caller's loop: calls are many and short */
	uint64_t placed_at; /* when samples were placed last */
	struct {
		uint64_t lost, waiting;
	} sums;		   /* of weights, as struct jitting_samples */
	uint64_t flush_at; /* what was new then is to be written at once; 0: nothing */
	bool ending;	   /* some processes are to be forgotten */
};

/* Has some code written, unless the last is still being written. Returns whether any is left that
 * is not only due by time. */
bool jitting_write_some(struct jitting *j, uint64_t now);
/* Whether nothing of a process will be needed: it has exited, and late samples have come. */
bool jitting_is_over(const struct jitting *j, const struct maker *m, uint64_t now);
