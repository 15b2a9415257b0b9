/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files whose code a target will run, as far as that can be known beforehand.
 *
 *	target_files(&target, expect, collector);	after target_command() or target_process()
 */
#pragma once

#include "tools/common/target.h"

/* Calls @each with files open for reading, borrowed for the call. Of a command that waits: the
 * program, or the one that reads the script it is, and what the dynamic loader, which is asked,
 * maps with it; nothing of them is run. Of a process: what it has mapped. Of the machine: what
 * those processes have that run now. */
void target_files(const struct target *target, void (*each)(int fd, void *data), void *data);
