/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The inside of opcheck: what it found, between its files. Strings are borrowed. */
#pragma once

#include "base/json.h"
#include "sfile/check.h"

enum action {
	ACTION_NONE,	 /* whole */
	ACTION_LEFT,	 /* damaged, and left as it is */
	ACTION_REPAIRED, /* whole again */
	ACTION_MOVED,	 /* out of the way, into damaged/ */
	ACTION_COUNT_
};

/* What is said of one file. */
struct finding {
	const char *path, *text;
	const struct check_result *result; /* NULL: no sample file */
	enum action action;
	const char *target; /* of ACTION_MOVED */
	const char *failed; /* why a repair did not succeed, or NULL */
};

struct check {
	uint64_t files, nodes, samples, actions[ACTION_COUNT_];
	unsigned int trouble; /* operands that could not be looked at */
	enum check_depth depth;
	bool repair;		 /* the files at hand, which nobody writes */
	const char *samples_dir; /* to which they belong, or NULL */
	bool listed;		 /* a finding was printed */
	struct json json;
};

/* Counts and prints what was found. */
void finding_report(struct check *c, const struct finding *f);
/* Removes what cannot be repaired from where reports look, and reports that. */
void finding_move_away(struct check *c, struct finding *f);

/* Checks what a session has beside its sample files: the manifest, the call chains. */
void check_beside(struct check *c);
