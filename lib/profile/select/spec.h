/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The profile specification: which sample files a report is about. It consists of words of the
 * command line, each "tag:value,value" (a comma after a backslash is part of the value) or the name
 * of an image (man opreport.1).
 *
 *	struct spec spec;
 *	if (spec_parse(argv + i, argc - i, &spec, err) == 0 && spec_reject(&spec, &name) < 0)
 *		...the file is wanted
 *	spec_done(&spec);
 */
#pragma once

#include "base/error.h"
#include "history/window.h"

#include <stdbool.h>
#include <stddef.h>

struct session_names;
struct sname;
struct sname_image;

/* Tags in the order in which they are tried: name, what it selects by (for messages), kind of its
 * values. */
#define SPEC_TAGS(X)                                                                               \
	X(ARCHIVE, "archive", "archive", FILES)                                                    \
	X(SESSION, "session", "session", ANY)                                                      \
	X(SESSION_EXCLUDE, "session-exclude", "session", ANY)                                      \
	X(HOST, "host", "host", ANY)                                                               \
	X(TIME, "time", "time", TIME)                                                              \
	X(PATH, "", "image", ANY)                                                                  \
	X(IMAGE, "image", "application", ANY)                                                      \
	X(IMAGE_EXCLUDE, "image-exclude", "image", ANY)                                            \
	X(LIB_IMAGE, "lib-image", "image", ANY)                                                    \
	X(LIB_IMAGE_EXCLUDE, "lib-image-exclude", "image", ANY)                                    \
	X(EVENT, "event", "event", ANY)                                                            \
	X(COUNT, "count", "count", NUMBER)                                                         \
	X(UNIT_MASK, "unit-mask", "unit mask", NUMBER)                                             \
	X(CGROUP, "cgroup", "cgroup", ANY)                                                         \
	X(COMM, "comm", "name of threads", ANY)                                                    \
	X(TGID, "tgid", "process", NUMBER)                                                         \
	X(TID, "tid", "thread", NUMBER)                                                            \
	X(CPU, "cpu", "CPU", NUMBER)

enum spec_tag {
#define X(tag, name, what, kind) SPEC_##tag,
	SPEC_TAGS(X) SPEC_TAG_COUNT_
#undef X
};

struct spec_values {
	char **values;
	size_t count, room;
	bool *used; /* of each value: spec_reject() found that a file matches it */
	size_t used_room;
};

/* Whether, and how, time is divided into steps (history/steps.h). */
struct spec_division {
	uint32_t most;	   /* so many steps at most, if their length is not given; 0: it is not */
	int64_t length_ms; /* 0: as fits */
	bool in_parts;	   /* each step is divided into equal parts, of which steps are made */
};

struct spec {
	struct spec_values of[SPEC_TAG_COUNT_];
	struct session_names *session_names; /* gather_files() adds those of the sessions */
	struct window window;		     /* of the tag time, if it was given */
	struct spec_division division;
	bool wants_blocks; /* counts of blocks of the profile, too: gather.h */
	bool sums_only;	   /* the offsets of samples do not matter: gather.h */
	size_t top;	   /* not 0: only so many symbols matter, those with the most samples */
};

/* Parses @count words. 0, the caller calls spec_done(); or -EINVAL with the reason: a tag given
 * twice, a value that is not a number although it must be. */
int spec_parse(char *const *words, size_t count, struct spec *ret, struct error *err);
/* A command line with two profiles in braces, which are words of their own:
 * WORD... { FIRST... } WORD... { SECOND... } WORD... */
struct spec_pair {
	char *const *words[2]; /* inside the braces; borrowed */
	size_t count[2];
	char **outside; /* the other words, and NULL; of the caller's words */
	size_t outside_count;
};

/* Splits the words at the braces. 1, and the caller calls spec_pair_done(); 0 if no word is a
 * brace, or -EINVAL with how they must look. */
int spec_split(char *const *words, size_t count, struct spec_pair *ret, struct error *err);
/* Sets the error of spec_split(); -EINVAL. For words outside the braces that are not options. */
int spec_bad_pair(struct error *err);
/* Frees what spec_split() allocated; a zeroed pair is fine. */
void spec_pair_done(struct spec_pair *pair);
/* Frees what spec_parse() allocated. */
void spec_done(struct spec *spec);

/* Divides the window of time, which is all if the tag time was not given. */
void spec_divide_time(struct spec *spec, struct spec_division division);
/* The window of the tag time, or that is divided; NULL if there is none. Borrowed. */
const struct window *spec_window(const struct spec *spec);
/* The first value of a tag, or NULL. */
const char *spec_value(const struct spec *spec, enum spec_tag tag);
/* Whether a value of the tag session is a directory of sample files, not a session's name. */
bool spec_session_is_path(const char *value);
/* Whether any session that is read is in the session directory. */
bool spec_wants_session_dir(const struct spec *spec);
/* Replaces archive number @i by the directory that it was unpacked into, which it takes. */
void spec_set_archive(struct spec *spec, size_t i, char *directory);
/* Leaves archives out that were named before. */
void spec_drop_repeated(struct spec *spec);
/* Replaces shell patterns of the tag session by the names of sessions that match, in the session
 * directory or, below it, in all archives; except those that match none. */
void spec_expand_sessions(struct spec *spec, const char *session_dir);
/* Whether session @name is wanted ("current" where no session is named). */
bool spec_wants_session(const struct spec *spec, const char *name);
/* Whether the tag session-exclude names the session. */
bool spec_excludes_session(const struct spec *spec, const char *name);
/* Whether sessions of the host are wanted; NULL is not known. */
bool spec_wants_host(const struct spec *spec, const char *host);
/* The same for samples of threads called @comm. */
bool spec_wants_comm(const struct spec *spec, const char *comm);
/* The tag that rejects the sample file called @name, or -1 if it is selected. */
int spec_reject(const struct spec *spec, const struct sname *name);
/* Whether the offsets of samples in the file called @name matter, for history_read_wanted(): those
 * of files that are not selected do not. @spec is the struct spec. */
bool spec_wants_offsets(const struct sname *name, void *spec);

/* Whether all samples of the sessions in the window are selected. */
bool spec_wants_all(const struct spec *spec);

/* The tag's word before the colon ("" for a plain image), and what it selects by. */
const char *spec_tag_name(enum spec_tag tag);
/* What the tag selects by, for messages. */
const char *spec_tag_what(enum spec_tag tag);
