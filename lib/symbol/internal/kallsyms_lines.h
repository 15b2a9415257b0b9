/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to the room: the lines of /proc/kallsyms. */
#pragma once

#include "base/error.h"

struct kallsyms_line;

/* Calls @each with every text symbol of the kernel below @root; 0 or -errno. */
int kallsyms_each_text(const char *root, void (*each)(const struct kallsyms_line *line, void *data),
		       void *data, struct error *err);
