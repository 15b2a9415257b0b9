/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who the daemon is, and what it may do: the user that it becomes, the capabilities that it keeps.
 * It starts as root, or with the capabilities that it needs and no more, and goes down in two
 * steps: before it opens anything it becomes its user and keeps what any driver needs; once a
 * driver is set up, what that driver needs.
 *
 *	struct rights who;
 *	rights_choose(user, group, &who, err);
 *	rights_enter(&who, err);		before there are threads
 *	... a driver is set up ...
 *	rights_keep("bpf", err);
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

/* The user of a daemon that was started as root, where no other is asked for. */
#define RIGHTS_USER "oprofile"

struct rights {
	uid_t uid;
	gid_t gid;
	gid_t group;  /* that may control and read; without one asked for ->gid */
	bool by_root; /* it was started as root */
};

/* Chooses who to be: @user (NULL: RIGHTS_USER if root asks and there is one, else nobody else than
 * now), beside it a member of @group (NULL: none). 0; -ENOENT for a user or group that does not
 * exist; -EPERM for another user where root does not ask. */
int rights_choose(const char *user, const char *group, struct rights *ret, struct error *err);
/* The group that controls and reads where none is asked for: RIGHTS_USER's own if rights_choose()
 * with @user would choose that, else NULL. */
const char *rights_group(const char *user);
/* Becomes that user for good: no other groups, no capabilities but those that some driver needs, of
 * this or any program that it might run, no core dumps. 0 or -errno. */
int rights_enter(const struct rights *who, struct error *err);
/* Drops what the driver called @driver does not need; 0 or -errno. */
int rights_keep(const char *driver, struct error *err);
/* What this process may do: "perfmon,bpf", or "none"; caller frees. */
char *rights_text(void);
