/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a page's data say of the whole profile: what was sampled, when, and how well.
 *
 *	json_open(&j, NULL, '{');
 *	page_head_write(report, &times, &j);
 */
#pragma once

struct json;
struct page_times;
struct report;
struct task_list;

/* Writes members of an open object. */
void page_head_write(const struct report *r, const struct page_times *times, struct json *j);
/* Writes the tasks that samples are divided by, each as [cgroup, process, thread, CPU] with null
 * for what is not separated; nothing if there are none. */
void page_head_tasks(const struct report *r, const struct task_list *tasks, struct json *j);
