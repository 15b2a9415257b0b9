/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Extended features: kinds of samples that need more than (offset, counter). A feature takes codes
 * of the event buffer that record itself does not know and makes counts of events of its own of
 * them. One is enabled at a time, by "NAME:ARGUMENTS".
 *
 *	struct feature *f;
 *	if (feature_new("ibs:fetch:IBS_FETCH_ALL:250000:0", root, &f, err) == 0)
 *		f->ops->sample(f, EVBUF_IBS_FETCH, words, count_event, data);
 *	feature_free(f);
 */
#pragma once

#include "base/error.h"
#include "driver/driver.h"
#include "event/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct feature_ops;

/* What every feature's state starts with. */
struct feature {
	const struct feature_ops *ops;
};

/* Takes one count: @value of the feature's event @index at @pc. */
typedef void feature_emit(size_t index, uint64_t pc, uint64_t value, void *data);

/* Whose sample it is, as the event buffer has it. */
struct feature_where {
	uint32_t cpu, tgid, tid;
	uint64_t app, image; /* cookies */
};

struct feature_ops {
	const char *name;
	/* Parses @args; the state starts with a struct feature. 0 or -EINVAL with the reason. */
	int (*init)(const char *args, const char *root, struct feature **ret, struct error *err);
	void (*done)(struct feature *f);
	/* Its events, borrowed; the index in the list is that given to feature_emit. */
	const struct event *(*events)(const struct feature *f, size_t *ret_count);
	/* Words behind @code in the event buffer, 0 if the feature does not take this code. */
	size_t (*words)(const struct feature *f, uint64_t code);
	/* Notes that a driver, which counts the feature's events itself, sent a count of one of
	 * them; such events are samples of the counters behind those of the configuration. NULL:
	 * they come by codes. */
	void (*counted)(struct feature *f, uint64_t value);
	/* Takes the words of one sample; the first one is the offset or PC. NULL: there are none.
	 */
	void (*sample)(struct feature *f, uint64_t code, const uint64_t *words, feature_emit *emit,
		       void *data);
	/* Told before ->sample(), for who keeps single samples: in files of its own in @directory,
	 * which is told once. NULL: is not told. */
	void (*keep)(struct feature *f, const struct feature_where *where, uint64_t code,
		     const uint64_t *words);
	void (*keep_in)(struct feature *f, const char *directory);
	/* Adds its section to the statistics. */
	void (*print_stats)(const struct feature *f, FILE *out);
};

/* The feature that @text asks for. Caller frees; 0, or -EINVAL naming those there are. */
int feature_new(const char *text, const char *root, struct feature **ret, struct error *err);
/* NULL is fine. */
void feature_free(struct feature *f);
DEFINE_CLEANUP(struct feature *, feature_free);

/* What a driver has to sample for the feature that @text asks for; all-zero if nothing, or if it is
 * not right, which feature_new() says. */
struct driver_ibs feature_ibs_needs(const char *text);
/* Whether @text asks for off-CPU time, *@ret_blocked: of tasks that had to wait for something. */
bool feature_is_offcpu(const char *text, bool *ret_blocked);

extern const struct feature_ops feature_ibs, feature_offcpu;
