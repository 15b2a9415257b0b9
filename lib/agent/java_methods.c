/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "agent/java_methods.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES = 256 };

/* A method is kept at the place that its number has, until another one needs that. */
struct java_methods {
	jvmtiEnv *env;
	struct java_method at[PLACES];
};

static void release(jvmtiEnv *env, void *memory)
{
	(void)(*env)->Deallocate(env, memory);
}

static void forget(jvmtiEnv *env, struct java_method *m)
{
	release(env, m->entries);
	free(m->file);
	free(m->name);
	*m = (struct java_method){ .id = NULL };
}

/* "Lpkg/Class;" and "Class.java" are pkg/Class.java. Caller frees; NULL if out of memory. */
static char *path_of(const char *class_name, const char *file)
{
	const char *slash = strrchr(class_name, '/');
	char *path;

	if (!slash)
		return strdup(file);
	return asprintf(&path, "%.*s%s", (int)(slash - class_name), class_name + 1, file) < 0
		       ? NULL
		       : path;
}

/* Cuts the address out of the name of a class that was made at run time, which differs in each
 * process: "LShop$$Lambda$5.0x00007fc54c000a08;". */
static void cut_address(char *class_name)
{
	char *at = strstr(class_name, ".0x");

	if (at && !strcmp(at + 3 + strspn(at + 3, "0123456789abcdef"), ";"))
		memcpy(at, ";", sizeof(";"));
}

static void ask_names(jvmtiEnv *env, struct java_method *m)
{
	char *class_name = NULL, *method_name = NULL, *signature = NULL, *file = NULL;
	jclass class;

	if ((*env)->GetMethodDeclaringClass(env, m->id, &class) == JVMTI_ERROR_NONE &&
	    (*env)->GetClassSignature(env, class, &class_name, NULL) == JVMTI_ERROR_NONE) {
		cut_address(class_name);
		if ((*env)->GetMethodName(env, m->id, &method_name, &signature, NULL) ==
			    JVMTI_ERROR_NONE &&
		    asprintf(&m->name, "%s%s%s", class_name, method_name, signature) < 0)
			m->name = NULL;
		if ((*env)->GetSourceFileName(env, class, &file) == JVMTI_ERROR_NONE)
			m->file = path_of(class_name, file);
	}
	release(env, class_name);
	release(env, method_name);
	release(env, signature);
	release(env, file);
}

struct java_methods *java_methods_new(jvmtiEnv *env)
{
	struct java_methods *all = calloc(1, sizeof(*all));

	if (all)
		all->env = env;
	return all;
}

void java_methods_free(struct java_methods *all)
{
	size_t i;

	for (i = 0; all && i < PLACES; i++)
		forget(all->env, &all->at[i]);
	free(all);
}

const struct java_method *java_methods_get(struct java_methods *all, jmethodID id)
{
	struct java_method *m = &all->at[(uintptr_t)id / sizeof(void *) % PLACES];

	if (m->id == id)
		return m;
	forget(all->env, m);
	m->id = id;
	ask_names(all->env, m);
	if ((*all->env)->GetLineNumberTable(all->env, id, &m->entry_count, &m->entries) !=
	    JVMTI_ERROR_NONE)
		m->entry_count = 0;
	return m;
}

unsigned int java_method_line(const struct java_method *m, jlocation bci)
{
	jlocation best = -1;
	unsigned int line = 0;
	jint i;

	bci = bci < 0 ? 0 : bci;
	for (i = 0; i < m->entry_count; i++) {
		if (m->entries[i].start_location <= bci && m->entries[i].start_location > best) {
			best = m->entries[i].start_location;
			line = (unsigned int)m->entries[i].line_number;
		}
	}
	return line;
}
