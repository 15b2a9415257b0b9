/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an XML report says before its rows: what was asked for, counted and lost.
 *
 *	xml_head(&x, report);
 *	...the rows...
 *	xml_close(&x, "profile");
 */
#pragma once

struct report;
struct xml;

/* Opens the element "profile" and writes its first children. */
void xml_head(struct xml *x, const struct report *r);
