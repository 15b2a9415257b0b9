/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a page's data say of the whole profile: what was sampled, when, and how well.
 *
 *	json_open(&j, NULL, '{');
 *	page_head_write(report, &j);
 */
#pragma once

struct json;
struct report;

/* Writes members of an open object. */
void page_head_write(const struct report *r, struct json *j);
