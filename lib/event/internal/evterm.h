/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses the two notations in which the kernel describes how an event is programmed: terms,
 * "event=0x3c,umask=1,edge", and formats, "config:0-7,32-35", which name the bits that a term's
 * value is stored in. Everything is stored in the caller's memory.
 *
 *	struct evformat f;
 *	if (evformat_parse("config:0-7,32-35", &f) == 0)
 *		evformat_put(&f, 0x1ff, words);		words[EVTERM_CONFIG] is 0x10000000ff
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The words of perf_event_attr that a format can name. */
enum evterm_word { EVTERM_CONFIG, EVTERM_CONFIG1, EVTERM_CONFIG2, EVTERM_CONFIG3, EVTERM_WORDS };

enum { EVFORMAT_RANGES = 16, EVTERM_NAME_MAX = 64 };

struct evformat {
	enum evterm_word word;
	struct {
		uint8_t low, high; /* first and last bit */
	} ranges[EVFORMAT_RANGES]; /* ascending; the value's low bits go into the first */
	size_t count;
};

/* Parses "config1:0-7,21". Returns 0 or -EINVAL. */
int evformat_parse(const char *text, struct evformat *ret);
/* Stores @value in the format's bits and leaves the others unchanged. Returns 0, or -ERANGE if it
 * has more bits than the format. */
int evformat_put(const struct evformat *f, uint64_t value, uint64_t words[EVTERM_WORDS]);

struct evterm {
	char name[EVTERM_NAME_MAX];
	uint64_t value; /* 1 if none is given */
	bool given;	/* there was a "=" */
	bool open;	/* it is "=?": the user must supply the value */
};

/* Calls @each for every term of a list "event=0x3c,edge" until a call returns non-zero. Returns
 * that value, else 0, or -EINVAL if the list is malformed. */
int evterm_each(const char *text, int (*each)(const struct evterm *term, void *data), void *data);
