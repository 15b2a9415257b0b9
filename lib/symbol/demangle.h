/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Demangles names of C++, Rust, D, Java and Go.
 *
 *	_cleanup_free_ char *text = demangle(name);
 *	puts(text ? text : name);				"std::sort(int*, int*)"
 */
#pragma once

#include <stdbool.h>

struct strbuf;

/* The demangled form of @name, caller frees; NULL if it is not mangled. A suffix that a compiler
 * or we added (.isra.0, .cold, @plt) is kept. */
char *demangle(const char *name);
/* As demangle(), but adds the text to @out; false, with nothing added, if @name is not mangled.
 * Thread-safe. */
bool demangle_add(struct strbuf *out, const char *name);
/* The readable form of a method of Java, as HotSpot writes it in its maps; caller frees. NULL if
 * @name is not a method as agents write it: "LMain;run()V" is "void Main.run()". */
char *demangle_method(const char *name);
