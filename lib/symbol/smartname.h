/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shortens names of C++ by rules: "std::vector<int, std::allocator<int> >" becomes
 * "std::vector<int>". Rules are lines of a file (man demangle-rules.5):
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

/* Reads the rules in @path. 0, the caller frees; -errno, -EINVAL if a line is no rule. */
int smart_rules_load(const char *path, struct smart_rules **ret, struct error *err);
/* The same from text; @name is for messages. */
int smart_rules_parse(const char *text, const char *name, struct smart_rules **ret,
		      struct error *err);
/* NULL is fine. */
void smart_rules_free(struct smart_rules *rules);
DEFINE_CLEANUP(struct smart_rules *, smart_rules_free);

/* The default file, the first that exists of: $OPROFILE_DEMANGLE_RULES,
 * /etc/oprofile/demangle-rules, the one next to this executable, the installed one. Caller frees;
 * NULL if there is none. */
char *smart_rules_path(void);
/* Applies all rules to @name from byte @from on, innermost parts first. Threads may share
 * @rules. */
void smart_rules_apply(const struct smart_rules *rules, struct strbuf *name, size_t from);

/* How names are shown. */
struct name_style {
	bool mangled;			 /* as linked */
	bool bare;			 /* only the function's own, see short_name_bare() */
	const struct smart_rules *rules; /* NULL: as demangled */
};

/* Adds @name in this style; false, with nothing added, if it is to be shown as it is. */
bool name_style_add(const struct name_style *style, struct strbuf *out, const char *name);
