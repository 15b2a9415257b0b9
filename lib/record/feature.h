/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Extended features: kinds of samples that need more than (offset, counter). A feature handles
 * codes of the event buffer that record does not know, and converts them to counts of its own
 * events (event/evderived.h). One feature can be enabled at a time.
 *
 *	struct feature *f = feature_new(&derived, root);
 *	if (f)
 *		f->ops->sample(f, EVBUF_IBS_FETCH, words, count_event, data);
 *	feature_free(f);
 */
#pragma once

#include "base/macro.h"
#include "stats/counters.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct evderived;
struct feature_ops;

/* The state of every feature starts with this. */
struct feature {
	const struct feature_ops *ops;
	struct feature_stats stats;
};

/* Receives a count: @value of the derived event @index at @pc. */
typedef void feature_emit(size_t index, uint64_t pc, uint64_t value, void *data);

/* The process of a sample, as in the event buffer. */
struct feature_where {
	uint32_t cpu, tgid, tid;
	uint64_t app, image; /* cookies */
};

struct feature_ops {
	/* Creates the state of the feature, which starts with a struct feature. Returns NULL if it
	 * derives none of the events. */
	struct feature *(*init)(const struct evderived *derived, const char *root);
	void (*done)(struct feature *f);
	/* Number of words after @code in the event buffer; 0 if the code is not the feature's. */
	size_t (*words)(const struct feature *f, uint64_t code);
	/* Notes a count that the driver made of one of the feature's events. Such counts are
	 * samples of the counters after those of the configuration. NULL: the events come as
	 * codes. */
	void (*counted)(struct feature *f, uint64_t value);
	/* Handles the words of one sample; the first is the offset or PC. NULL: the feature has no
	 * codes. */
	void (*sample)(struct feature *f, uint64_t code, const uint64_t *words, feature_emit *emit,
		       void *data);
	/* Writes the single sample to the feature's own files in @directory, before ->sample().
	 * NULL: the feature keeps no single samples. */
	void (*keep)(struct feature *f, const struct feature_where *where, uint64_t code,
		     const uint64_t *words);
	void (*keep_in)(struct feature *f, const char *directory);
	/* Prints the feature's section of the statistics. */
	void (*print_stats)(const struct feature_stats *stats, FILE *out);
};

/* Creates the feature that derives these events on the machine under @root; caller frees. Returns
 * NULL if there are none. */
struct feature *feature_new(const struct evderived *derived, const char *root);
/* NULL is fine. */
void feature_free(struct feature *f);
DEFINE_CLEANUP(struct feature *, feature_free);

extern const struct feature_ops feature_ibs, feature_offcpu;
