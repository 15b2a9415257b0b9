/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's way to say how an event is programmed: terms, "event=0x3c,umask=1,edge", and
 * formats, "config:0-7,32-35", which say which bits a term's value goes into. Callers own what is
 * returned; nothing else is kept.
 *
 *	struct evformat f;
 *	if (evformat_parse("config:0-7,32-35", &f) == 0)
 *		evformat_put(&f, 0x1ff, words);		words[EVTERM_CONFIG] is 0x10000000ff
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The words of perf_event_attr that formats speak of. */
enum evterm_word { EVTERM_CONFIG, EVTERM_CONFIG1, EVTERM_CONFIG2, EVTERM_CONFIG3, EVTERM_WORDS };

enum { EVFORMAT_RANGES = 16, EVTERM_NAME_MAX = 64 };

struct evformat {
	enum evterm_word word;
	struct {
		uint8_t low, high; /* bits, both included */
	} ranges[EVFORMAT_RANGES]; /* rising; the value's low bits go into the first */
	size_t count;
};

/* Takes "config1:0-7,21" apart; 0 or -EINVAL. */
int evformat_parse(const char *text, struct evformat *ret);
/* Puts @value where the format has it, in place of what was there; 0, or -ERANGE where it has more
 * bits than the format. */
int evformat_put(const struct evformat *f, uint64_t value, uint64_t words[EVTERM_WORDS]);

struct evterm {
	char name[EVTERM_NAME_MAX];
	uint64_t value; /* 1 where none is given */
	bool given;	/* there was a "=" */
	bool open;	/* it is "=?": whoever asks for the event has to say it */
};

/* Calls @each with every term of a list "event=0x3c,edge" until one returns non-zero; returns that
 * value, else 0, or -EINVAL where the list is no list of terms. */
int evterm_each(const char *text, int (*each)(const struct evterm *term, void *data), void *data);
