/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Logs single instruction-based op samples as comma-separated lines if the unit mask requests it:
 * memory accesses to ibs_memaccess.log, branch targets to ibs_bta.log.
 *
 *	struct ibs_log log = { .directory = xstrdup(samples), .memory = true };
 *	ibs_log_op(&log, &where, words);
 *	ibs_log_done(&log);
 */
#pragma once

#include "record/feature.h"

struct ibs_log {
	char *directory;     /* directory of the files; owned; NULL: none */
	bool memory, branch; /* what is logged */
	FILE *files[2];	     /* opened when the first line is written */
	bool failed;	     /* a file could not be written: both are given up */
};

/* Adds the lines of an op sample; @words are those after its code. */
void ibs_log_op(struct ibs_log *log, const struct feature_where *where, const uint64_t *words);
/* Closes the files. */
void ibs_log_done(struct ibs_log *log);
