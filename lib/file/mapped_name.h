/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file that is mapped at an address: for the handler of SIGBUS, which the kernel sends if a
 * mapped file was cut short, or if its disk is full or fails.
 *
 *	char name[MAPPED_NAME_ROOM];
 *
 *	if (!mapped_name(address, name, sizeof(name)))
 *		(void)strcpy(name, "memory without a file");
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* For a line of /proc/self/maps: a path has at most 4096 bytes. */
enum { MAPPED_NAME_ROOM = 4352 };

/* Writes the path of the file that is mapped at @address to @line, which has @room bytes. Control
 * characters in it are replaced. False if there is none. Safe in signal handlers. */
bool mapped_name(const void *address, char *line, size_t room);
