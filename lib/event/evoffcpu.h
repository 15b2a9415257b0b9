/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What of the time that tasks are off the CPU is measured: one event for all of it, OFFCPU, or one
 * for each reason, such as OFFCPU_LOCK, or both. A struct evoffcpu is a value.
 *
 *	struct evoffcpu o = { 0 };
 *	size_t i;
 *	if (evoffcpu_parse("reasons,min=1ms", &o, &err) == 0)
 *		for (i = 0; i < evoffcpu_count(&o); i++)
 *			evoffcpu_event(&o, i, &event);
 */
#pragma once

#include "base/error.h"
#include "bpf/offcpu_reason.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event;

/* All-zero: nothing. */
struct evoffcpu {
	bool total;	  /* event OFFCPU: the time for all reasons without an event of their own */
	bool idle;	  /* including OFFCPU_IDLE */
	bool blocked;	  /* without OFFCPU_QUEUE */
	bool wakers;	  /* a wait counts at who ended it, called by where it was */
	uint32_t reasons; /* with an event of their own: bits 1 << enum offcpu_reason */
	uint64_t min_us;  /* without shorter times */
};

/* Adds the event called @name: "OFFCPU", "OFFCPU_LOCK". */
void evoffcpu_add(struct evoffcpu *o, const char *name);
/* Adds what a list with commas names: "reasons", a reason, "idle", "blocked", "wakers", "min=5ms";
 * "" is the event OFFCPU. Returns 0, or -EINVAL. */
int evoffcpu_parse(const char *text, struct evoffcpu *o, struct error *err);

/* The number of events. */
size_t evoffcpu_count(const struct evoffcpu *o);
/* The index of the event that counts a wait for @reason; -1: none does. */
int evoffcpu_index(const struct evoffcpu *o, enum offcpu_reason reason);
/* Makes the @i-th event, as sample files name it. */
void evoffcpu_event(const struct evoffcpu *o, size_t i, struct event *ret);
