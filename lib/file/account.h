/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who answers for a process, for limits per user: an ordinary user who made the user namespace that
 * it is in may have very many uids there.
 *
 *	uid_t account = account_of_process("", tgid, uid);
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/* The user who made the outermost user namespace around process @tgid, whose user is @uid; @uid if
 * it is in none, or root made it. @root as in file/procfs.h. */
uid_t account_of_process(const char *root, uint32_t tgid, uid_t uid);
/* The same of the user of its directory in /proc, which waits for nothing; (uid_t)-1 if there is no
 * such process. @root may be NULL. */
uid_t account_of(const char *root, uint32_t tgid);
