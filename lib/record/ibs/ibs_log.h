/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instruction-based op samples one by one, as lines of commas, where the unit mask asks for them:
 * accesses to memory in ibs_memaccess.log, targets of branches in ibs_bta.log.
 *
 *	struct ibs_log log = { .directory = xstrdup(samples), .memory = true };
 *	ibs_log_op(&log, &where, words);
 *	ibs_log_done(&log);
 */
#pragma once

#include "record/feature.h"

struct ibs_log {
	char *directory;     /* where they are; owned, NULL: nowhere */
	bool memory, branch; /* what is logged */
	FILE *files[2];	     /* opened with the first line */
	bool failed;	     /* one could not be written: neither is tried again */
};

/* Adds the lines of an op sample, the words behind its code. */
void ibs_log_op(struct ibs_log *log, const struct feature_where *where, const uint64_t *words);
/* Closes the files. */
void ibs_log_done(struct ibs_log *log);
