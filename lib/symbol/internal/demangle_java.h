/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Formats Java methods, which agents write as class, name and descriptor (JVM specification, 4.3),
 * as in source code: "Lpkg/Cls;get(I[J)Z" is "boolean pkg.Cls.get(int, long[])".
 */
#pragma once

#include <stdbool.h>

struct strbuf;

/* Adds the readable form to @out; false, with nothing added, if @name is not such a method. */
bool demangle_java_add(struct strbuf *out, const char *name);
