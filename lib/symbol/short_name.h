/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shortens demangled names of C++ and Rust to the room that a line has. What people know a
 * function by is kept longest: parameters go first, then the type that it returns, then arguments
 * of templates.
 *
 *	strbuf_adds(&text, "std::vector<int> ns::find<int>(std::map<int, int> const&) const");
 *	short_name(&text, 0, 20);			"ns::find<int>(...)"
 *	short_name_bare(&text, 0);			"ns::find"
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct strbuf;

/* Shortens the name in @name from byte @from on to at most @room characters (at least 3); a name
 * that is too long all the same ends with three dots. Does nothing to one that fits. */
void short_name(struct strbuf *name, size_t from, unsigned int room);
/* Reduces the name to that of the function and what it is declared in: without the type that it
 * returns, parameters and arguments of templates. */
void short_name_bare(struct strbuf *name, size_t from);
/* Whether it may be the name of a C++ function as debug information has it: not mangled, with what
 * it is declared in and arguments of templates, but without parameters ("ns::Box<int>::put"). Names
 * from perf maps and of interpreted functions that are more than that are none. */
bool short_name_is_scoped(const char *name);
