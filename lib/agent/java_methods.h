/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What JVMTI reports of methods, asked once for each: name, file and lines.
 *
 *	struct java_methods *all = java_methods_new(env);
 *	const struct java_method *m = java_methods_get(all, id);
 *	if (m->file)
 *		printf("%s:%u\n", m->file, java_method_line(m, bci));
 *	java_methods_free(all);
 */
#pragma once

#include <jvmti.h>
#include <stdbool.h>

struct java_methods;

struct java_method {
	jmethodID id;
	char *name; /* "Lpkg/Class;method(I)V": reports show "void pkg.Class.method(int)" */
	char *file; /* "pkg/Class.java", or NULL */
	jvmtiLineNumberEntry *entries;
	jint entry_count;
};

/* NULL if out of memory. Caller frees. */
struct java_methods *java_methods_new(jvmtiEnv *env);
/* NULL is fine. */
void java_methods_free(struct java_methods *all);

/* The method @id; its name is NULL if it is not known. Valid until the next call. */
const struct java_method *java_methods_get(struct java_methods *all, jmethodID id);

/* The line of a bytecode index: that of the last entry at or before it. A negative one is the
 * method's entry. 0 if it is not known. */
unsigned int java_method_line(const struct java_method *m, jlocation bci);
