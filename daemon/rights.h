/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The daemon's user and capabilities. It is started as root, or with just the capabilities that it
 * needs, and drops rights in two steps: before it opens anything it switches to its user and keeps
 * the capabilities that any driver needs; once a driver is set up, only those of that driver.
 *
 *	struct rights who;
 *	rights_choose(user, group, &who, err);
 *	rights_enter(&who, err);		before there are threads
 *	... a driver is set up ...
 *	rights_keep("bpf", err);
 */
#pragma once

#include "base/error.h"
#include "sfile/session.h"

#include <stdbool.h>
#include <sys/types.h>

/* The default user to switch to when started as root. */
#define RIGHTS_USER SESSION_SYSTEM_USER

struct rights {
	uid_t uid;
	gid_t gid;
	gid_t group;  /* may control the daemon and read the session; default: ->gid */
	bool by_root; /* it was started as root */
};

/* Chooses the user and group: @user (NULL: RIGHTS_USER if started as root and it exists, else the
 * current user), and @group (NULL: the user's). 0; -ENOENT for a user or group that does not exist;
 * -EPERM for another user unless started as root. */
int rights_choose(const char *user, const char *group, struct rights *ret, struct error *err);
/* Whether that user was meant: 0, or -EPERM if it is root only because nobody else is there, which
 * @as_root allows. */
int rights_check(const struct rights *who, const char *user, bool as_root, struct error *err);
/* The default group that may control and read: that of RIGHTS_USER if rights_choose() would choose
 * RIGHTS_USER for @user, else NULL. */
const char *rights_group(const char *user);
/* Switches to that user for good: drops all other groups, and all capabilities that no driver
 * needs, for this program and any that it might run; disables core dumps. 0 or -errno. */
int rights_enter(const struct rights *who, struct error *err);
/* Drops all capabilities of the calling thread. */
void rights_renounce(void);
/* Drops that of the calling thread to set priorities. */
void rights_renounce_priority(void);
/* Drops the capabilities that the driver called @driver does not need, in the calling thread; 0 or
 * -errno: -EPERM if another thread has any of them. */
int rights_keep(const char *driver, struct error *err);
/* The capabilities of this process: "perfmon,bpf", or "none"; caller frees. */
char *rights_text(void);
