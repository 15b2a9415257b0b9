/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to the room: the state of a reader (record/code/jit_reader.h), and the parts that
 * search for files and that ask Java's virtual machines. */
#pragma once

#include "base/map.h"
#include "record/code/jit_complaints.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct attacher;
struct errand;
struct errands;
struct jit_code;
struct jit_errand;
struct jit_process;
struct opener;

struct relief;

struct jit_reader {
	char *root;
	uint64_t memory;
	struct map users;     /* struct jit_user by uid; those with processes */
	struct map processes; /* struct jit_process by tgid */
	size_t bytes, waiting;
	uint64_t turn, serial;
	struct opener *opener;	   /* or NULL */
	struct attacher *attacher; /* or NULL */
	struct relief *relief;	   /* or NULL */
	struct errands *errands;   /* NULL: nothing was asked yet */
	struct errands *closing;   /* of descriptors; NULL: nothing was closed yet */
	uint64_t asked;		   /* the last errand's number */
	uint64_t asked_before;	   /* that of the last one before this call */
	uint64_t taken;		   /* answers */
	bool reading;		   /* a source is being read */
	uint64_t now;		   /* of the last jit_reader_sync() */
	struct jit_complaints of_memory, of_pieces, of_sources, of_closing;
	struct {
		uint64_t jit_dropped, jit_put_off, java_maps, java_refused;
	} stats; /* as struct jit_reader_stats */
};

/* Hands a question to the thread that asks them; returns whether it will be answered. */
bool jit_reader_send(struct jit_reader *r, struct errand *e);
/* Has a thread run @e, which closes descriptors, and drop it: their files may be on a file system
 * that hangs, or that goes away with the last one of them. */
void jit_reader_close(struct jit_reader *r, struct errand *e);
/* Whether so much waits to be closed that no further files may be opened: their file system hangs,
 * and there would be no descriptors left. */
bool jit_reader_is_clogged(const struct jit_reader *r);
/* Opens the root directory of a new process, or has it opened. */
void jit_process_begin_search(struct jit_process *p);
/* Takes the answer to a question for files of a process, and asks on. */
void jit_process_take_search(struct jit_process *p, struct jit_errand *e);
/* Whether one has not answered yet. */
bool jit_reader_is_asking(const struct jit_reader *r);
/* Takes the answer of a virtual machine, if one has come. */
void jit_reader_take_java(struct jit_reader *r);
/* Adds code, if there is memory for it. */
void jit_process_add(struct jit_process *p, const struct jit_code *code);
/* Adds the code that was found before it was known whether the process describes its own. */
void jit_process_add_early(struct jit_process *p);
