/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the profile for optop, in a process that answers one question after the other. An answer is
 * lines, each a list of fields with tabs between them (text_add_field()):
 *
 *	fact	NAME	NUMBER			struct answer's numbers
 *	event	NAME				if there are others, of time off the CPU
 *	row	SELF	TOTAL	NAME	IMAGE
 *	end	NUMBER				of the question
 *
 * Images stay open, and of a window of time that was asked for before only what is new is read.
 *
 *	struct question q = { .session_dir = "/var/lib/oprofile", .words = words };
 *	collect_serve(&q, stdin, stdout, err);
 */
#pragma once

#include "base/error.h"
#include "tools/optop/rowsum.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What has a row: name of the view, heading of the column. */
#define COLLECT_VIEWS(X)                                                                           \
	X(FUNCTIONS, "functions", "FUNCTION")                                                      \
	X(IMAGES, "images", "IMAGE")                                                               \
	X(APPLICATIONS, "apps", "APPLICATION")                                                     \
	X(CGROUPS, "cgroups", "CGROUP")                                                            \
	X(THREADS, "threads", "THREAD")                                                            \
	X(OFF_CPU, "off-cpu", "FUNCTION")

enum collect_view {
#define X(view, name, heading) COLLECT_##view,
	COLLECT_VIEWS(X) COLLECT_VIEW_COUNT_
#undef X
};

struct question {
	const char *session_dir;
	enum collect_view view;
	int64_t window_ms; /* the last so many; 0: all there is */
	struct rowsum_choice rows;
	char *const *words; /* of a specification, without a time; ends with NULL */
	size_t count;
	const char *event; /* that is shown, if there are several; or NULL */
};

/* Whether the rows are functions. */
bool collect_view_has_functions(enum collect_view view);
/* The view with this name, such as "functions", or one that begins so; -EINVAL if there is none. */
int collect_view_parse(const char *name, struct error *err);
/* "functions"; static. */
const char *collect_view_name(enum collect_view view);
/* "FUNCTION"; static. */
const char *collect_view_heading(enum collect_view view);
/* The word that the view adds to a specification, or NULL; static. */
char *collect_view_word(enum collect_view view);
/* Copies the words of a specification to @to, with @event, if it is not NULL, instead of the events
 * that they name. Returns how many: at most @count + 1. */
size_t collect_replace_event(char *const *words, size_t count, char *event, char **to);
/* The words of a report about the same samples: those of the question, of the view, the event and
 * the time. Caller frees the array and the words that were made for it, which are in @ret_made,
 * too. */
char **collect_words(const struct question *q, char *ret_made[2]);

/* What a question wants first: to have samples until now recorded and read; to have read what was
 * recorded; or nothing, only other rows of what was read. */
enum collect_kind { COLLECT_RECORD = 'u', COLLECT_READ = 'r', COLLECT_ROWS = 's' };

/* A question, for printf(3) and scanf(3): its kind, its number, the view, the window in
 * milliseconds, the order, how many rows. After it come a blank and the text to search for, which
 * can begin with a blank. */
#define COLLECT_QUESTION "%c %" PRIu64 " %u %" PRId64 " %u %zu"

enum { COLLECT_LINE_MAX = 512 };

/* Answers the questions in the lines of @in, about the session and with the words of @q, until its
 * end. 0 or -errno. Confines the process (confine.h), so it is called in a process of its own;
 * then that process must end. */
int collect_serve(const struct question *q, FILE *in, FILE *out, struct error *err);
