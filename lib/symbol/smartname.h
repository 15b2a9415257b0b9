/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of C++ made shorter by rules: "std::vector<int, std::allocator<int> >" is what people call
 * "std::vector<int>". The rules stand in a file, man demangle-rules.5, a line each:
 *
 *	std::vector<$1, std::allocator<$1> >	=> std::vector<$1>
 *
 *	struct smart_rules *rules;
 *	if (smart_rules_load("demangle-rules", &rules, err) == 0)
 *		smart_rules_apply(rules, &name, 0);
 *	smart_rules_free(rules);
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct smart_rules;
struct strbuf;

/* Reads the rules in @path. 0, the caller frees; -errno, or -EINVAL with the line that is none. */
int smart_rules_load(const char *path, struct smart_rules **ret, struct error *err);
/* As smart_rules_load() out of text; @name stands in errors. */
int smart_rules_parse(const char *text, const char *name, struct smart_rules **ret,
		      struct error *err);
void smart_rules_free(struct smart_rules *rules);
DEFINE_CLEANUP(struct smart_rules *, smart_rules_free);

/* The file that is used where none is named: $OPROFILE_DEMANGLE_RULES,
 * /etc/oprofile/demangle-rules, that beside this executable, that installed. Caller frees; NULL
 * where there is none. */
char *smart_rules_path(void);
/* Rewrites @name from @from on by all rules, from the inside out. Threads may share @rules. */
void smart_rules_apply(const struct smart_rules *rules, struct strbuf *name, size_t from);

/* How names are shown. */
struct name_style {
	bool mangled;			 /* as linked */
	const struct smart_rules *rules; /* NULL: as demangled */
};

/* Adds @name in this style; false, with nothing added, where it is to be shown as it is. */
bool name_style_add(const struct name_style *style, struct strbuf *out, const char *name);
