/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Equal steps of time: the columns of a timeline (opreport --timeline). They begin at multiples of
 * their length in local time: steps of five minutes at 14:00, 14:05, ...
 *
 *	struct steps steps;
 *	if (steps_choose(&span, 0, 60, &steps, err) == 0)	as short as fit into 60 columns
 *		column = steps_at(&steps, &slice.span);
 */
#pragma once

#include "base/error.h"
#include "history/window.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most steps of a timeline. */
enum { STEPS_MAX = 4096 };

struct steps {
	int64_t begin_ms, length_ms;
	uint32_t count; /* 0: time is not divided */
};

/* Divides @span into steps of @length_ms; or, if that is 0, into at most @most steps of a usual
 * length, as short as possible. 0, or -EINVAL if steps of @length_ms are not whole slices or are
 * too many. */
int steps_choose(const struct window *span, int64_t length_ms, uint32_t most, struct steps *ret,
		 struct error *err);
/* The step that contains the middle of @slice; the first or the last one if none does. */
uint32_t steps_at(const struct steps *s, const struct window *slice);
/* When step number @i begins and ends. */
struct window steps_window(const struct steps *s, uint32_t i);
/* How far local time is ahead of UTC when the steps begin. */
int64_t steps_east_ms(const struct steps *s);
/* A length of time as window_duration() reads it: "1h30m"; the caller frees. */
char *steps_length_text(int64_t length_ms);
/* A usual length of time that is a multiple of the steps' and at least @columns of them, so that
 * labels can be that far apart. More than a day is whole days, if a day is a multiple of the
 * steps'. */
int64_t steps_label_ms(const struct steps *s, uint32_t columns);
/* Whether step number @i begins at a multiple of @length_ms in local time. */
bool steps_begins_at(const struct steps *s, uint32_t i, int64_t length_ms);
