/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events that an extended feature of oprofiled derives from samples of its own ("ext:" in the
 * description files), such as AMD's IBS events. This module collects those in a list of events and
 * makes the argument of oprofiled --ext-feature from them.
 *
 *	struct evderived d = { 0 };
 *	if (evderived_add(&d, &event, &err) == 0)
 *		text = evderived_text(&d);	"ibs:op:IBS_OP_ALL,IBS_OP_LOAD:250000:1"
 *	evderived_done(&d);
 */
#pragma once

#include "base/error.h"
#include "base/strbuf.h"
#include "event/event_types.h"

/* AMD's two kinds of instruction-based samples. */
enum ibs_kind { IBS_FETCH, IBS_OP, IBS_KIND_COUNT_ };

/* Names of a kind: its own, the kernel's (also used after "ext:"), and the prefix of its events. */
struct ibs_kind_names {
	const char *name, *pmu, *start;
};
extern const struct ibs_kind_names ibs_kinds[IBS_KIND_COUNT_];

struct evderived {
	struct strbuf names[IBS_KIND_COUNT_]; /* "A,B" */
	struct event first[IBS_KIND_COUNT_];  /* valid if there are names: settings shared by all */
	bool offcpu;
};

/* Adds an event whose ->feature is set. Returns 0, or -EINVAL if no feature derives the event or if
 * it cannot be combined with those added before: all events of a kind come from the same samples,
 * so their settings must agree. */
int evderived_add(struct evderived *d, const struct event *event, struct error *err);
/* Returns the argument of --ext-feature, or NULL if nothing was added; the caller frees it. */
char *evderived_text(const struct evderived *d);
/* Frees the contents. */
void evderived_done(struct evderived *d);

/* Checks that the machine under @root can take the samples that @feature needs for the event @name.
 * Returns 0, or -EINVAL and a message naming what is missing. If @root is NULL, no machine is
 * checked. */
int evderived_check(const char *root, const char *name, const char *feature, struct error *err);
/* Returns the feature that derives events with names like @name, or NULL. */
const char *evderived_feature(const char *name);
