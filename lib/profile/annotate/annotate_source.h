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
	const char *heading;   /* lines above the output; borrowed */
	FILE *out;	       /* not used with ->directory */
	const char *directory; /* write a file there for each source, below its path; or NULL */
};

/* Starts without samples; @a is borrowed. Caller frees. */
struct annotate_source *annotate_source_new(struct annotate *a);
/* NULL is fine. */
void annotate_source_free(struct annotate_source *s);
DEFINE_CLEANUP(struct annotate_source *, annotate_source_free);

/* Adds the samples of the view to their lines; adds those without a line to the rest. */
void annotate_source_add(struct annotate_source *s, const struct annotate_view *v);
/* Prints the selected files that reach the threshold, most samples first; adds the others to the
 * rest. Returns 0 or -errno. */
int annotate_source_print(struct annotate_source *s, const struct annotate_source_output *to,
			  struct error *err);
