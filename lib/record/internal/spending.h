/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a driver and this process spend on sampling, and a budget for it: joins the governor
 * (driver/governor.h) to a driver.
 *
 *	struct spending *s = spending_new(0.005, parser);
 *	spending_begin(s, ops, driver);		sampling starts
 *	spending_look(s, ops, driver);		after each sync
 *	spending_free(s);
 */
#pragma once

#include "base/macro.h"
#include "driver/governor.h"

struct parser;
struct spending;

/* Measures what an interrupt costs; @share of each CPU's time is the budget, 0: none. What the
 * processes of @parser (borrowed, may be NULL) take counts as ours. Caller frees. */
struct spending *spending_new(double share, struct parser *parser);
/* NULL is fine. */
void spending_free(struct spending *s);
DEFINE_CLEANUP(struct spending *, spending_free);

/* Sampling starts: what was spent before does not count. Nothing where the driver knows no costs.
 */
void spending_begin(struct spending *s, const struct driver_ops *ops, struct driver *driver);
/* Takes in what was spent since, and has the driver sample more rarely or more often. */
void spending_look(struct spending *s, const struct driver_ops *ops, struct driver *driver);
/* What it costs. */
void spending_read(const struct spending *s, struct governor_reading *ret);
