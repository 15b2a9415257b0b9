/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Annotated sources: each source file, with samples before its lines. Samples are summed by file
 * and line while the images are open, and printed at the end.
 *
 *	struct annotate_source *s = annotate_source_new(&annotate);
 *	annotate_source_add(s, &view);			once for each image
 *	annotate_source_print(s, &output, err);
 *	annotate_source_free(s);
 */
#pragma once

#include "profile/annotate/annotate.h"

struct annotate_source;
struct sources;

struct annotate_source_output {
	struct sources *sources;
	const char *heading;   /* lines above everything; borrowed */
	FILE *out;	       /* where to; not used with a directory */
	const char *directory; /* a file there for each source, below its path; or NULL */
};

/* Starts without samples; @a is borrowed. Caller frees. */
struct annotate_source *annotate_source_new(struct annotate *a);
/* NULL is fine. */
void annotate_source_free(struct annotate_source *s);
DEFINE_CLEANUP(struct annotate_source *, annotate_source_free);

/* Adds the samples of the view to their lines; those without a line go to the rest. */
void annotate_source_add(struct annotate_source *s, const struct annotate_view *v);
/* Prints the files that are wanted and reach the threshold, most samples first; the others go to
 * the rest. 0 or negative. */
int annotate_source_print(struct annotate_source *s, const struct annotate_source_output *to,
			  struct error *err);
