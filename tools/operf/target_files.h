/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files with the code that a target will run, as far as that is known in advance.
 *
 *	target_files(&target, opener, expect, collector);	after target_command()
 */
#pragma once

#include "tools/common/target.h"

struct opener;

/* Calls @each with files open for reading, borrowed for the call. For a command that waits to be
 * started: the program, or its script's interpreter and what env(1) runs for it, and the libraries
 * that the dynamic loader lists for them, without running any of them. For a process: the files it
 * has mapped. For the machine: those of all running processes. A file of another process that keeps
 * @opener waiting, and all after it, are left out, and those that are not reached within two
 * seconds; with NULL none are. */
void target_files(const struct target *target, struct opener *opener,
		  void (*each)(int fd, void *data), void *data);
/* Calls @each in the same way for the files that were sampled in the last profiles of a session, if
 * they are still the same: an earlier run of a command shows what it will start and load. Those
 * that are not reached within 80 ms are left out; with @opener NULL all are. */
void target_files_sampled(const char *session_dir, struct opener *opener,
			  void (*each)(int fd, void *data), void *data);
