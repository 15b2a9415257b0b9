/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to the room: other ways to a table of the kernel's symbols than those of kallsyms.h. */
#pragma once

#include "base/error.h"
#include "base/strbuf.h"

struct kallsyms;

/* As kallsyms_load(), without the images that are packed. It may have no symbol. */
int kallsyms_load_plain(const char *path, struct kallsyms **ret, struct error *err);
/* Reads and empties @text; @name is for messages. */
int kallsyms_take_text(struct strbuf *text, const char *name, struct kallsyms **ret,
		       struct error *err);
