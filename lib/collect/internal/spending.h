/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures what a driver and this process spend on sampling and applies a budget: connects the
 * governor (driver/governor.h) with a driver.
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

/* Measures the cost of an interrupt. @share of each CPU's time is the budget; 0: none. The time of
 * the processes of @parser (borrowed, may be NULL) counts, too. Caller frees. */
struct spending *spending_new(double share, struct parser *parser);
/* NULL is fine. */
void spending_free(struct spending *s);
DEFINE_CLEANUP(struct spending *, spending_free);

/* Starts measuring: earlier spending does not count. Does nothing if the driver does not report
 * costs. */
void spending_begin(struct spending *s, const struct driver_ops *ops, struct driver *driver);
/* Adds the spending since the last call, and makes the driver sample less or more often. */
void spending_look(struct spending *s, const struct driver_ops *ops, struct driver *driver);
/* Reads the cost; that of NULL is 0. */
void spending_read(const struct spending *s, struct governor_reading *ret);
