/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sample files are mapped into memory: where the disk below one fails, is full after all, or the
 * file was cut short by others, the kernel can only tell by SIGBUS.
 */
#pragma once

/* From now on a SIGBUS is said in the log, with the file's name, and on stderr, and ends the
 * process with status 1. All that was recorded before is in the files. */
void sigbus_catch(void);
