/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of one run of opcheck, shared by its files. Strings are borrowed. */
#pragma once

#include "base/json.h"
#include "file/owner.h"
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

struct check_sums {
	uint64_t files, nodes, samples, actions[ACTION_COUNT_];
	uint64_t trouble; /* files and directories that could not be read */
	bool listed;	  /* a finding was printed */
};

struct check {
	struct check_sums sums;
	enum check_depth depth;
	bool repair;		 /* repair the current files, which nobody writes */
	const char *samples_dir; /* of the current files, or NULL */
	struct json json;
};

/* Counts and prints a result. */
void finding_report(struct check *c, const struct finding *f);
/* Moves a file that cannot be repaired to where reports do not look, and reports it. */
void finding_move_away(struct check *c, struct finding *f);

/* Checks the other files of a session: the manifest, chains, history, symbols. */
void check_extras(struct check *c);

/* Returns the session directory of DIR/samples/NAME, NULL if it is not in one; caller frees. */
char *place_session(const char *samples);
/* Whether @dir contains @name. */
bool place_has(const char *dir, const char *name);
/* Whether @dir contains the files of a session, as DIR/samples/NAME does. */
bool place_is_samples(const char *dir);
/* Takes on the rights of whoever owns @path or what contains it, up to the session directory: all
 * of them could replace it. *@ret is that directory; caller frees. */
int place_become_owner(const char *path, bool is_directory, enum owner_extent extent, char **ret,
		       struct error *err);
