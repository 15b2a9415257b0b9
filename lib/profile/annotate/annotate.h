/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What annotated sources and assembly are made from: the samples of all selected files by image,
 * one by one instead of summed by symbol, and for one image at a time the symbols that they are in.
 *
 *	struct annotate a;
 *	annotate_collect(gather, &classes, &inverted, &config, &a);
 *	for (i = 0; i < a.image_count; i++) {
 *		annotate_open(&a, i, binaries, &view);
 *		...view.symbols[view.of_sample[j]] holds a.images[i].samples.samples[j]
 *		annotate_close(&view);
 *	}
 *	annotate_done(&a);
 *
 * Every sample of the totals is either printed or in the rest, which is printed, too.
 */
#pragma once

#include "symbol/smartname.h"
#include "profile/binary/binary.h"
#include "profile/rows/chain_calls.h"
#include "profile/rows/container.h"
#include "profile/select/patterns.h"
#include "profile/print/report.h"
#include "profile/select/samples.h"
#include "profile/select/symfilter.h"

struct by_image;
struct strbuf;
struct symbol;

enum { ANNOTATE_NONE = UINT32_MAX };

/* The class of samples in a line or function and in what it calls, if that is wanted. */
enum { ANNOTATE_WITH_CALLS = 1 };

struct annotate_config {
	bool exclude_dependent; /* only samples in the application's own image */
	struct name_style names;
	double threshold;      /* in percent: less is not shown */
	unsigned int decimals; /* of percentages; 0: the digits of OProfile 1.x */
	unsigned int width;    /* of the terminal, to which names are shortened; 0: they are not */
	bool colour;	       /* numbers of hot lines in colour */
	struct symbol_filter symbols;
	struct patterns include_files, exclude_files;
	/* Of the profile, which then has one class: lines, instructions and functions also have the
	 * samples of what they call. NULL: they do not. */
	const struct chain_calls *calls;
};

/* The samples of one image, sorted by offset. */
struct annotate_image {
	uint32_t image; /* in the gather */
	struct sfile_header header;
	struct samples samples;
	uint64_t *counts; /* their sums, one per class */
	uint64_t sum;	  /* of all classes */
};

/* Samples that could not be annotated or were not selected. */
struct annotate_rest {
	uint32_t image; /* in the gather; ANNOTATE_NONE: several */
	const char *why;
	uint64_t *counts;
};

/* A chosen symbol. */
struct annotate_choice {
	uint32_t image; /* in the gather */
	uint32_t first; /* index of its first piece in the table of symbols */
	uint64_t sum;	/* samples of all classes */
};

struct annotate {
	const struct annotate_config *config;
	struct annotate_image *images; /* most samples first */
	size_t image_count;
	struct container totals; /* has no rows; its arena contains the names and counts */
	size_t own_count;	 /* classes of samples that are in a line itself: the first ones */
	struct report report;	 /* for the header */
	struct annotate_rest *rest;
	size_t rest_count, rest_room;
	struct chain_keys selected; /* with ->calls: the places of all selected symbols, key 0 */
	size_t read, bad;	    /* sample files */
	struct annotate_choice *chosen; /* annotate_top(); NULL: all */
	size_t chosen_count;
};

/* A symbol with samples. */
struct annotate_symbol {
	const struct symbol *symbol; /* its first piece */
	const char *text;	     /* its name for people */
	uint32_t first, last;	     /* indexes in the table of its first and last piece; other
	 * symbols may be in between */
	bool is_wanted;		     /* by --include-symbols and --exclude-symbols */
	uint64_t *counts;
};

/* An open image. */
struct annotate_view {
	const struct annotate_image *image;
	struct binary binary;		 /* without symtab its samples cannot be annotated */
	struct annotate_symbol *symbols; /* by address */
	size_t symbol_count;
	uint32_t *of_sample; /* of each sample: its symbol, or ANNOTATE_NONE */
};

/* Reads the sample files. @config is borrowed. The caller calls annotate_done(). */
void annotate_collect(const struct gather *g, const struct classes *c, const struct by_image *inv,
		      const struct annotate_config *config, struct annotate *ret);
/* Frees all. */
void annotate_done(struct annotate *a);

/* Opens the i-th image and finds the symbols of its samples; samples in no symbol, or in one that
 * is not selected, are added to the rest. If later images are the same file in other archives, it
 * takes over their samples in code that it has: what is left there are functions that only those
 * archives have. Images are opened in order. The caller calls annotate_close(). */
void annotate_open(struct annotate *a, size_t i, struct binaries *bs, struct annotate_view *ret);
/* Closes what annotate_open() opened. */
void annotate_close(struct annotate_view *v);

/* The address that sample number @i of the view, which has a symbol, is linked to. */
uint64_t annotate_address(const struct annotate_view *v, size_t i);
/* The symbol that begins at the address or, as an inlined call has an address within another one,
 * that contains it; NULL if there is none. */
const struct annotate_symbol *annotate_symbol_at(const struct annotate_view *v, uint64_t address);
/* Whether a view of the image @by has the samples of image number @i: its own, or those of the same
 * code in another archive. */
bool annotate_takes(const struct annotate *a, const struct annotate_image *by, size_t i);
/* The samples of all own classes. */
uint64_t annotate_sum(const struct annotate *a, const uint64_t *counts);
/* New zero counts, one per class; they live as long as @a. */
uint64_t *annotate_counts(struct annotate *a);
/* The reason for samples that options left out. */
extern const char annotate_not_selected[];
/* Adds @counts to the rest of @image for the reason @why, a literal. */
void annotate_add_rest(struct annotate *a, uint32_t image, const char *why, const uint64_t *counts);
/* Of the rest: the samples that selected symbols call, which their totals have. */
uint64_t annotate_called(const struct annotate *a);
/* Adds the samples of the selected symbols of @v to the rest, because they cannot be shown, for the
 * reason @why. */
void annotate_give_up(struct annotate *a, const struct annotate_view *v, const char *why);
/* Returns whether the share of the counts reaches the threshold in some class. */
bool annotate_reaches(const struct annotate *a, const uint64_t *counts);
