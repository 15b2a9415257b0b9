/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of one run of opcheck, shared by its files. Strings are borrowed. */
#pragma once

#include "base/json.h"
#include "sfile/check.h"

enum action {
	ACTION_NONE,	 /* not damaged */
	ACTION_LEFT,	 /* damaged, and not changed */
	ACTION_REPAIRED, /* no longer damaged */
	ACTION_MOVED,	 /* moved into damaged/ */
	ACTION_COUNT_
};

/* The result for one file. */
struct finding {
	const char *path, *text;
	const struct check_result *result; /* NULL: not a sample file */
	enum action action;
	const char *target; /* new path, for ACTION_MOVED */
	const char *failed; /* why a repair failed, or NULL */
};

struct check {
	uint64_t files, nodes, samples, actions[ACTION_COUNT_];
	unsigned int trouble; /* files and directories that could not be read */
	enum check_depth depth;
	bool repair;		 /* repair the current files, which nobody writes */
	const char *samples_dir; /* of the current files, or NULL */
	bool listed;		 /* a finding was printed */
	struct json json;
};

/* Counts and prints a result. */
void finding_report(struct check *c, const struct finding *f);
/* Moves a file that cannot be repaired to where reports do not look, and reports it. */
void finding_move_away(struct check *c, struct finding *f);

/* Checks the other files of a session: the manifest and the call chains. */
void check_extras(struct check *c);
