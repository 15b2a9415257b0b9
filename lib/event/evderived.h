/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events that an extended feature derives from samples of its own kind ("ext:" in the description
 * files), in lists of events: gathered into the feature's text, as oprofiled --ext-feature has it.
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

/* What a kind is called: by itself, by the kernel (and "ext:"), at the start of its events. */
struct ibs_kind_names {
	const char *name, *pmu, *start;
};
extern const struct ibs_kind_names ibs_kinds[IBS_KIND_COUNT_];

struct evderived {
	struct strbuf names[IBS_KIND_COUNT_]; /* "A,B" */
	struct event first[IBS_KIND_COUNT_];  /* where there are names: what holds for all */
	bool offcpu;
};

/* Adds an event whose ->feature is set. 0, or -EINVAL where it cannot go with those before it, as
 * all of a kind come from the same samples, or if no feature derives it. */
int evderived_add(struct evderived *d, const struct event *event, struct error *err);
/* The feature's text, NULL where nothing was added; caller frees. */
char *evderived_text(const struct evderived *d);
/* Frees what it holds. */
void evderived_done(struct evderived *d);

/* Whether the machine below @root can take the samples that events of @feature are derived from: 0,
 * or -EINVAL with what is missing. NULL for @root: some machine, which can. */
int evderived_check(const char *root, const char *name, const char *feature, struct error *err);
/* The feature that derives events called like @name, NULL if there is none. */
const char *evderived_feature(const char *name);
