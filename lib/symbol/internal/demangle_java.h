/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Methods of Java as agents write them, class, name and descriptor (JVM specification, 4.3) in a
 * row, as people do: "Lpkg/Cls;get(I[J)Z" is "boolean pkg.Cls.get(int, long[])".
 */
#pragma once

#include <stdbool.h>

struct strbuf;

/* Adds the readable form to @out; false, with nothing added, where @name is no such method. */
bool demangle_java_add(struct strbuf *out, const char *name);
