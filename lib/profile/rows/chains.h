/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whole call chains for a report: read from the sessions of a gather, their frames turned into
 * functions, with chains of the same functions added up. From them come the hottest chains, folded
 * stacks, and the exact inclusive counts of functions: a chain counts once for each function in it,
 * however often it recurs.
 *
 *	struct chains c = CHAINS_INIT;
 *	chains_open(&c, gather, &spec, err);	adds their images to the gather
 *	chains_collect(&c, binaries, err);	binaries made after that
 *	chains_name(&c, &style);
 *	report_chains_text(&report, stdout);
 *	chains_done(&c);
 *
 * Functions are rows of a container without applications, with two classes: own samples, and
 * samples with the function anywhere in their chain.
 */
#pragma once

#include "base/error.h"
#include "history/steps.h"
#include "profile/rows/call_tree.h"
#include "profile/rows/chain_ends.h"
#include "profile/rows/container.h"
#include "profile/rows/task_list.h"
#include "profile/select/spec.h"
#include "profile/select/symfilter.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct binaries;
struct chain_reader;
struct gather;
struct map;
struct name_style;

enum { CHAINS_SELF, CHAINS_INCLUSIVE, CHAINS_CLASS_COUNT_ };

/* How many chains end in an image for one reason. */
struct chains_quality {
	uint32_t image; /* of the outermost frame; of the gather */
	uint32_t end;	/* index of ->ends */
	uint64_t samples;
};

/* Chains of one application that go through the same functions and end for the same reason. */
struct chains_line {
	uint32_t id;	       /* number of lines added before it; stays when lines move */
	uint32_t app;	       /* of the gather */
	uint32_t end;	       /* index of ->ends */
	uint32_t first, count; /* ids of rows in ->frames, the innermost first */
	uint64_t samples;
};

/* Samples of a line that were taken in a step of time. */
struct chains_moment {
	uint32_t line; /* its ->id; or a node of the tree, or what the caller numbers */
	uint32_t step;
	uint32_t task; /* of ->tasks; 0 unless samples are divided by task */
	uint64_t samples;
};

/* By what a report divides whole stacks: their outermost part. */
enum chains_outer { CHAINS_OUTER_APP, CHAINS_OUTER_HOST, CHAINS_OUTER_CGROUP, CHAINS_OUTER_COMM };

/* What a node of the tree is: the application with a number of the gather, the end with a number of
 * ->ends; other numbers are ids of rows. */
#define CHAINS_NODE_APP 0x80000000U
#define CHAINS_NODE_END 0x40000000U

/* What is read of one session. */
struct chains_source {
	struct chain_reader *reader;
	const char *host; /* where it was recorded; NULL: not known */
	uint32_t *images; /* by number there: of the gather */
	uint32_t *ends;	  /* by number of context: index of ->ends */
	uint32_t *tasks;  /* the same: of ->tasks; NULL unless samples are divided by task */
	/* Of a tree with steps, by node there: the node of the tree where its chain ends, 0 if it
	 * is not chosen; and the same as ->tasks. */
	uint32_t *leaf, *leaf_tasks;
};

struct chains {
	struct gather *gather;
	const struct spec *spec;
	struct chains_source *sources;
	size_t source_count, source_room;
	bool quality_only; /* set by the caller: no lines; of several events together */
	bool rows_only;	   /* set by the caller: the functions with their samples, and no lines */
	bool no_time;	   /* set by the caller: of these, not those of time off the CPU */
	const struct chain_choice *choice; /* set by the caller; NULL: all chains and frames */
	bool inlines;	       /* set by the caller: inlined functions are frames, too */
	bool regions;	       /* set by the caller: see struct populate_config */
	bool by_difference;    /* set by the caller: the order of two profiles that are compared */
	bool wants_tree;       /* set by the caller: a tree instead of lines */
	bool own_only;	       /* set by the caller: rows of a tree have only own samples */
	bool apps_only;	       /* set by the caller: a tree of applications, without functions */
	bool is_read_again;    /* set by the caller: after a tree was made (chain_calls.h) */
	struct steps steps;    /* set by the caller: that time is divided into, for ->moments */
	char *event;	       /* "NAME.COUNT.UNITMASK" of all; NULL: none is wanted */
	struct container rows; /* in the order of their ids */
	/* If two profiles are compared (chains_diff.h): a row for each line, in the order of their
	 * ids, with one class. A line that is gone has the samples that it had. */
	struct container by_line;
	/* If that is wanted, what lines would be: below the root applications, then the mark of an
	 * end if there is one, then functions from the outermost on. */
	struct call_tree tree;
	struct chains_line *lines;
	size_t line_count, line_room;
	/* Samples of lines taken in steps of time; others have no time, or another one. If the
	 * gather has blocks that are sessions, a step is a source. May have two of the same line
	 * and step. Those of a tree are visited: chains_each_moment(). */
	struct chains_moment *moments;
	size_t moment_count, moment_room;
	bool by_task;		 /* set by the caller: samples are divided by task, too */
	enum chains_outer outer; /* set by the caller: with ->by_task, only this divides tasks; a
				  * host is noted as the name of a thread */
	bool by_source;		 /* set by the caller: with ->by_task, sources divide them, too */
	/* Then, if any are separated, else empty; the caller sets ->tasks.by_comm before. And all
	 * samples of each line, by task, with the number of the source as ->step, or 0. */
	struct task_list tasks;
	struct chains_moment *parts;
	size_t part_count, part_room;
	uint32_t *frames;
	size_t frame_count, frame_room;
	struct chains_end *ends;
	size_t end_count; /* all reasons, with samples or without */
	bool *is_kernel;  /* by image of the gather: whether it is the kernel or a part of it */
	struct chains_quality *quality;
	size_t quality_count, quality_room;
	uint64_t samples;      /* all, of the chains that are chosen */
	uint64_t unchosen;     /* the others */
	uint64_t folded;       /* of ->samples, whose innermost frames were too rare to be kept */
	uint64_t of_functions; /* of ->samples, of which only the function is known */
};

#define CHAINS_INIT ((struct chains){ 0 })

/* Opens the chains of all sessions of @g and adds their images to it. 0, or -errno: -ENODATA if
 * there are none, else the error of the first session whose chains cannot be read; those of the
 * others are open then. @g and @spec are borrowed. The caller calls chains_done() in any case. */
int chains_open(struct chains *c, struct gather *g, const struct spec *spec, struct error *err);
/* Whether chains have frames or samples in each image of the gather; caller frees. */
bool *chains_images(const struct chains *c);
/* Returns the number of samples whose chains end in JIT code, or are deeper than requested. */
uint64_t chains_end_in_jit(const struct chains *c);
uint64_t chains_end_by_depth(const struct chains *c);
/* Parses what follows --folded; NULL is the application. An enum chains_outer, or -EINVAL. */
int chains_outer_parse(const char *text, struct error *err);
/* The word for it. */
const char *chains_outer_name(enum chains_outer outer);
/* Frees all; CHAINS_INIT is fine. */
void chains_done(struct chains *c);

/* Reads the chains that the specification selects by application, image of the sample, event, task
 * and CPU, with symbols from @bs. Returns 0 or -errno: -EINVAL if they are of several events,
 * -ENODATA if there are none. */
int chains_collect(struct chains *c, struct binaries *bs, struct error *err);
/* The NAME of "NAME.COUNT.UNITMASK", such as ->event, as people write it; caller frees. */
char *chains_event_text(const char *event);
/* Whether a sample file has samples of the event and the selection of the chains. */
bool chains_select(const struct chains *c, const struct sname *name);
/* Names the functions in @style, and sorts the lines by falling count, or by difference. */
void chains_name(struct chains *c, const struct name_style *style);

/* If a tree with steps was wanted: calls @each with the samples of each step of time, and with
 * those outside of all steps. @numbers has a number below @count for each node, and becomes the
 * ->line of the moment. Samples of nodes with equal numbers may be added up first. */
void chains_each_moment(const struct chains *c, const uint32_t *numbers, uint32_t count,
			void (*each)(const struct chains_moment *m, void *data), void *data);
/* If a tree was wanted: the samples with each row in their chain, by id; or, if @groups has a
 * number below that of the rows for each of them, those with any row of each group. Caller frees.
 */
uint64_t *chains_tree_totals(const struct chains *c, const uint32_t *groups);

/* The line of the same application and end that goes through the same functions as @line, or NULL;
 * borrowed until one is added. @by_hash has all lines. */
struct chains_line *chains_find_line(const struct chains *c, const struct map *by_hash,
				     const struct chains_line *line);
/* Adds a copy of @line and keeps its frames, which are the last in ->frames. Borrowed as above. */
struct chains_line *chains_add_line(struct chains *c, struct map *by_hash,
				    const struct chains_line *line);
/* Enters all lines into @by_hash, which is empty. */
void chains_index_lines(const struct chains *c, struct map *by_hash);

/* The row of the @i-th frame of a line, from the innermost on; borrowed. */
const struct row *chains_frame(const struct chains *c, const struct chains_line *line, size_t i);
