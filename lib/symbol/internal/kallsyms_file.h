/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to the room: opens the kernel's list of symbols. Whoever opens it decides whether it
 * shows addresses, not who reads it. So a service without CAP_SYSLOG can get them from its
 * manager, which opens the list as the standard input of the service.
 */
#pragma once

#include <stdio.h>

/* Opens /proc/kallsyms below @root. That of this machine is the standard input of this process, if
 * that is the list: it is read from its start, and its offset is left as it is. The caller closes
 * the file. NULL with errno. */
FILE *kallsyms_file_open(const char *root);
