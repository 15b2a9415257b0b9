/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probes as events: places in the kernel or in a file at which each arrival is an event.
 *
 *	kprobe:vfs_read			a function of the kernel is called
 *	kretprobe:vfs_read		it returns
 *	uprobe:/usr/bin/bash:readline	a function of a file is called
 *	uprobe:/usr/bin/bash:0xb0a10	the instruction at this offset in the file is executed
 *	uretprobe:bash:readline		a function returns; the file is searched in PATH
 *	usdt:FILE:PROVIDER:NAME		a mark (USDT) of the file is reached
 *	usdt:FILE:PROVIDER:NAME@2	its second place, if it has several
 *
 * @root is "" for this machine, or the directory that contains a recorded machine's files; files
 * with probes are always this machine's. The caller owns what is returned.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct event;

/* Whether probes of this kind are functions of the kernel, "kprobe". */
bool evprobe_in_kernel(const char *kind);
/* Returns the length of "KIND:FILE:FUNCTION", or "KIND:FILE:PROVIDER:NAME", at the start of @spec;
 * 0 if it is no probe in a file. */
size_t evprobe_length(const char *spec);
/* Returns the specification with the whole path of the file that it names; a copy of @spec if it is
 * no probe in a file, or the file is not found. */
char *evprobe_absolute(const char *spec);
/* Fills in how the function @name of the kernel is probed, which may have a comma and an offset.
 * Returns 0, or -ENOENT, -EINVAL and the reason. */
int evprobe_encode_kernel(const char *root, const char *kind, const char *name, struct event *event,
			  struct error *err);
/* Fills in how the probe @text, "KIND:FILE:...", is sampled, and its name in sample files,
 * "uprobe~bash~readline". Returns 0, or -errno and the reason. */
int evprobe_encode_file(const char *root, const char *text, struct event *event, struct error *err);
