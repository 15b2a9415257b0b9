/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sample files are mapped into memory. If the disk fails or is full, or another program has cut the
 * file short, the kernel can report that only by SIGBUS.
 */
#pragma once

/* From now on a SIGBUS is reported with the file's name, in the log and on stderr, and ends the
 * process with status 1. Everything recorded before is in the files. */
void sigbus_catch(void);
