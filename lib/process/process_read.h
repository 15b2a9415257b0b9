/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Learning of processes from /proc: those that ran before we looked, and those of which records
 * were lost. */
#pragma once

#include "identity/cookie.h"
#include "process/process.h"

/* Where to look, and where files get their cookies; borrowed. */
struct process_source {
	const char *root;
	struct cookie_table *cookies;
};

/* Replaces what is known of the process by what /proc says of its thread @tid (process_reading.h):
 * name, mappings, application, whether it belongs to the kernel. 0, or -errno (-ESRCH for a
 * zombie): then nothing has changed. */
int process_read(struct process_table *t, struct process *p, uint32_t tid,
		 const struct process_source *from);

/* Whether nothing of the process is left but, perhaps, a zombie. */
bool process_is_gone(const char *root, uint32_t tgid);

/* Marks all living descendants of those that are followed, making those that are missing. */
void process_follow_children(struct process_table *t, const char *root);
