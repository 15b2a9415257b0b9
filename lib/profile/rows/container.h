/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The container holds all rows of a report, with a count for each class, and the totals. It is
 * filled by populate.h, then cut to the rows that are shown, named, sorted and printed.
 *
 *	struct container c;
 *	container_init(&c, classes.count);
 *	container_add_row(&c, &(struct row){ .image = i, .app = a, .kind = ROW_SYMBOL, ... });
 *	container_done(&c);
 */
#pragma once

#include "base/arena.h"
#include "profile/binary/binary_why.h"
#include "profile/rows/statistics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct classes;
struct gather;
struct name_style;
struct row_run;
struct symbol_filter;

/* Kinds of rows and the text that is shown instead of a symbol's name. */
#define ROW_KINDS(X)                                                                               \
	X(SYMBOL, NULL)                                                                            \
	X(IMAGE, NULL)		       /* a whole image: the summary */                            \
	X(UNNAMED, "(no symbol here)") /* code between the symbols */                              \
	X(RARE, "[rare]")	       /* the history has no offsets: ophistory(5) */              \
	BINARY_WHYS(X)		       /* reasons why the image has no symbols at all */

enum row_kind {
#define X(kind, text) ROW_##kind,
	ROW_KINDS(X) ROW_KIND_COUNT_
#undef X
};

/* The kind of the one row of an image without symbols. */
static inline enum row_kind row_kind_without_symbols(enum binary_why why)
{
	return (enum row_kind)(ROW_NO_SYMBOLS + why);
}

/* The text that is shown instead of a symbol's name; NULL for symbols and images. Static. */
const char *row_kind_text(enum row_kind kind);

/* A symbol's name, shared by its rows for all applications. */
struct row_symbol {
	const char *text;    /* for people: demangled; NULL until container_name() */
	uint64_t size;	     /* of its code in bytes; 0: not known */
	const uint8_t *code; /* if requested and known; in the file, which is kept open */
	char name[];	     /* as linked */
};

/* A place in the sources. */
struct row_place {
	const char *file;  /* as compiled; lives as long as the container. NULL: not known */
	unsigned int line; /* from 1 */
	uint32_t text;	   /* hash of the line's text, if requested; 0: not known */
};

/* How one line was found in another build. */
enum row_found { ROW_BY_TEXT, ROW_BY_NEIGHBOUR, ROW_BY_NUMBER };

struct row {
	uint32_t image, app; /* indexes in the gather; app GATHER_NONE if merged */
	enum row_kind kind;
	uint32_t symbol_index;	   /* of a symbol: its index in the table of the image */
	uint64_t address;	   /* of the symbol */
	struct row_symbol *symbol; /* NULL except for ROW_SYMBOL */
	const char *text;	   /* for people; set by container_name() */
	uint64_t *counts;	   /* one per class */
	const uint64_t *blocks;	   /* of each class, if there are blocks: container_join_blocks() */
	struct row_place place;	   /* of the symbol, if lines are requested */
	struct row_run *runs;	   /* its single samples, if requested; see row_detail.h */
	enum row_found found;	   /* of one line (line_choice.h): how ->place was found */
	bool is_inlined;	   /* of a symbol: its code inlined elsewhere; ->place is that of
	 * the call */
	bool is_go;		   /* of a symbol: the Go compiler made its code */
	bool is_end;		   /* of a symbol: it is the reason why callers are not known,
	 * "[depth]" */
	uint32_t id;		   /* number of rows added before it; stays when rows move */
	bool is_unchosen;	   /* shown only at the ends of arcs of other rows */
	bool needs_place;	   /* ->place must be looked up: row_places.h */
	/* If two profiles are compared (diff.h): */
	bool is_gone;		/* only the first profile has it, and ->counts are from there */
	const uint64_t *before; /* counts in the first profile; NULL: not there */
	const uint64_t *before_blocks;
	const uint8_t *verdicts; /* enum diff_verdict, one per class */
};

/* Between how many blocks the noise of classes with samples is measured. */
struct container_measured {
	size_t least, most; /* of those where it is; 0: it is nowhere */
	bool is_partial;    /* it is not for all classes */
};

struct container {
	struct row *rows;
	size_t count, room;
	size_t class_count;
	uint32_t *events; /* of each class: its event; classes of one are next to each other */
	uint64_t *none;	  /* zeros, one per class */
	uint64_t *totals; /* of all samples read, one per class */
	const uint64_t *before_totals; /* of the first of two profiles, else NULL */
	const struct container *first; /* that profile, else NULL */
	unsigned int compared_by;      /* enum diff_by, once rows have verdicts */
	double weight;		       /* average number of samples that one represents */
	double *squares;	       /* of each class of time off the CPU: struct
					* statistics_noise; else 0 */
	size_t block_count;	       /* 0: there are none */
	bool blocks_are_sessions;      /* else parts of the time */
	uint64_t *block_totals;	       /* as row->blocks */
	uint64_t *block_lengths;       /* of parts of the time: how much was recorded; or NULL */
	uint64_t *hidden;	       /* part of ->totals in rows that container_cut() removed */
	size_t hidden_rows;
	uint64_t *beyond; /* the same for container_top() */
	size_t beyond_rows;
	/* Images of applications whose rows were not made, as none is among those that are shown;
	 * their part of ->totals is in ->beyond: struct history_wanted. */
	size_t beyond_images;
	uint64_t *unchosen; /* what container_choose() removed; not in ->totals */
	size_t unchosen_rows;
	struct arena arena; /* holds names and counts */
};

/* An empty container for so many classes, of one event; the caller calls container_done(). */
void container_init(struct container *c, size_t class_count);
/* The same for @classes, of as many events as they have. */
void container_init_classes(struct container *c, const struct classes *classes);
/* The same with the classes and the totals of @other. */
void container_init_like(struct container *c, const struct container *other);
/* Frees all. */
void container_done(struct container *c);

/* A symbol's name without a version; the caller frees. */
char *container_plain_name(const char *name);
/* Keeps a symbol's name for as long as the container, without a version ("@@GLIBC_2.17"). */
struct row_symbol *container_symbol(struct container *c, const char *name);
/* Adds a row with zero counts (@row's own are ignored); the row is borrowed until the next one is
 * added. Its symbol must be the container's. */
struct row *container_add_row(struct container *c, const struct row *row);

/* Adds the counts of blocks up to those of the classes. There were @slots counts for each class:
 * that of the whole profile, and one per block. The first is their sum unless @has_whole. Removes
 * rows that only blocks have. */
void container_join_blocks(struct container *c, size_t slots, bool has_whole, bool are_sessions);
/* The same of a profile of @g, with the lengths of its blocks. */
void container_join_blocks_of(struct container *c, const struct gather *g, size_t slots);
/* Adds the rows of each application to one row, whose image is the application. */
void container_fold_apps(struct container *c);
/* Removes the rows that @filter excludes; with @keep, only marks them as unchosen. Subtracts them
 * from the totals, so that percentages are of the selected rows. @g names the images. */
void container_choose(struct container *c, const struct gather *g,
		      const struct symbol_filter *filter, bool keep);
/* The same if only rows that are chosen were added (struct populate_config), without blocks; how
 * many others there are is not known. */
void container_choose_rows(struct container *c);
/* Removes the rows that do not reach @percent (container_reaches()). */
void container_cut(struct container *c, double percent);
/* Removes the rows with fewer samples than @count others, as if they were beyond the top of a list
 * that is ordered by samples; 0: none. */
void container_most(struct container *c, size_t count);
/* Removes the rows after the first @count; 0: none. */
void container_top(struct container *c, size_t count);
/* Whether the row has at least @percent of the samples of some event in the profile, or in one of
 * the two that are compared. */
bool container_reaches(const struct container *c, const struct row *row, double percent);
/* Whether @counts are at least @percent of @totals for some event, with all its classes added
 * up. */
bool container_counts_reach(const struct container *c, const uint64_t *counts,
			    const uint64_t *totals, double percent);
/* The samples of all classes, which rows are ordered by. */
uint64_t container_sum(const uint64_t *counts, size_t class_count);
/* Sets the text of all remaining rows, in this style (NULL: linker names). Equal names are
 * demangled once. */
void container_name(struct container *c, const struct name_style *style);
/* The row's samples, one count per class; zeros if it is gone. */
const uint64_t *container_counts(const struct container *c, const struct row *row);
/* How much the counts of @class vary, as if samples were independent. */
struct statistics_noise container_noise(const struct container *c, size_t class);
/* The confidence interval of the share of @count in @total, of @class, with that noise. */
struct statistics_interval container_interval(const struct container *c, size_t class,
					      uint64_t count, uint64_t total);
/* The confidence interval of the row's share in those of @whole; NULL: in all of the class. */
struct statistics_interval container_row_interval(const struct container *c, const struct row *row,
						  const struct row *whole, size_t class);
/* The numbers of blocks that show how much shares vary, else counts. */
struct container_measured container_measured(const struct container *c, bool of_share);
/* What is known of the counts of a row (of its blocks) in blocks, and of their @totals. */
struct statistics_blocks container_blocks(const struct container *c, const uint64_t *blocks,
					  const uint64_t *totals, size_t class);
/* Share of @count in @total, in percent; 0 of nothing is 0. */
double container_share(uint64_t count, uint64_t total);
/* Share of @count in the total of @class, in percent. */
double container_percent(const struct container *c, uint64_t count, size_t class);
