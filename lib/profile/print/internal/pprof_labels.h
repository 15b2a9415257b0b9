/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the labels of a sample for pprof say: what samples are separated by, as pprof and
 * perf_to_profile call it. The texts are borrowed from the labels and the report.
 *
 *	struct pprof_label labels[PPROF_LABELS_MOST];
 *	struct pprof_labels all;
 *	pprof_labels_init(&all, report);
 *	count = pprof_labels_find(&all, &report->chains->parts[0], labels);
 *	pprof_labels_done(&all);
 */
#pragma once

#include "base/intern.h"

#include <stddef.h>
#include <stdint.h>

struct chains_moment;
struct report;

enum { PPROF_LABELS_MOST = 6 };

struct pprof_label {
	const char *key;
	const char *text; /* NULL: it is ->number */
	int64_t number;
};

struct pprof_labels {
	const struct report *report;
	const char **cgroups; /* the names of the cgroups of the tasks */
	struct intern names;  /* their characters */
};

/* Prepares the labels of a report with chains that are divided by task. */
void pprof_labels_init(struct pprof_labels *l, const struct report *report);
/* Writes the labels of a part of the chains to @ret; returns their number. */
size_t pprof_labels_find(const struct pprof_labels *l, const struct chains_moment *part,
			 struct pprof_label ret[PPROF_LABELS_MOST]);
/* Frees what pprof_labels_init() allocated; zeros are fine. */
void pprof_labels_done(struct pprof_labels *l);
