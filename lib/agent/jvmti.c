/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The agent for Java: reports what the JVM compiles, with lines, through libopagent.
 *
 *	java -agentpath:/usr/lib/oprofile/libjvmti_oprofile.so ...
 *
 * The option "version" prints the interface's version; "debug=yes" of the original is accepted, for
 * lines are always written. Written to JVMTI 1.1 with the inline records of jvmticmlr.h.
 */
#include "agent/java_frame.h"
#include "agent/opagent.h"

#include <errno.h>
#include <jvmti.h>
#include <jvmticmlr.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 4096, LINES_MAX = 65536 };

static op_agent_t agent;

/* A method's line table, by bytecode index. */
struct method_lines {
	jmethodID method;
	jvmtiLineNumberEntry *entries;
	jint count;
	char *file;
};

/* A cache of methods for one piece of code, in which inlined ones recur. */
struct method_cache {
	struct method_lines rows[32];
	size_t count;
};

static char *source_of(jvmtiEnv *env, jmethodID method)
{
	jclass class;
	char *signature = NULL, *name = NULL, *slash, *path = NULL;

	if ((*env)->GetMethodDeclaringClass(env, method, &class) != JVMTI_ERROR_NONE ||
	    (*env)->GetSourceFileName(env, class, &name) != JVMTI_ERROR_NONE)
		return NULL;
	/* "Lpkg/Class;" and "Class.java" are pkg/Class.java. */
	if ((*env)->GetClassSignature(env, class, &signature, NULL) == JVMTI_ERROR_NONE &&
	    (slash = strrchr(signature, '/'))) {
		if (asprintf(&path, "%.*s%s", (int)(slash - signature), signature + 1, name) < 0)
			path = NULL;
	} else {
		path = strdup(name);
	}
	(void)(*env)->Deallocate(env, (unsigned char *)signature);
	(void)(*env)->Deallocate(env, (unsigned char *)name);
	return path;
}

static void row_done(jvmtiEnv *env, struct method_lines *row)
{
	(void)(*env)->Deallocate(env, (unsigned char *)row->entries);
	free(row->file);
}

static const struct method_lines *lines_of(jvmtiEnv *env, struct method_cache *c, jmethodID method)
{
	struct method_lines *row;
	size_t i;

	for (i = 0; i < c->count; i++)
		if (c->rows[i].method == method)
			return &c->rows[i];
	if (c->count == sizeof(c->rows) / sizeof(c->rows[0]))
		row_done(env, &c->rows[--c->count]);
	row = &c->rows[c->count++];
	*row = (struct method_lines){ .method = method };
	if ((*env)->GetLineNumberTable(env, method, &row->count, &row->entries) != JVMTI_ERROR_NONE)
		row->count = 0;
	row->file = source_of(env, method);
	return row;
}

static void cache_done(jvmtiEnv *env, struct method_cache *c)
{
	while (c->count)
		row_done(env, &c->rows[--c->count]);
}

/* The line of a bytecode index: that of the last entry at or before it. */
static unsigned int line_at(const struct method_lines *m, jlocation bci)
{
	jlocation best = -1;
	unsigned int line = 0;
	jint i;

	for (i = 0; i < m->count; i++) {
		if (m->entries[i].start_location <= bci && m->entries[i].start_location > best) {
			best = m->entries[i].start_location;
			line = (unsigned int)m->entries[i].line_number;
		}
	}
	return line;
}

/* The line table of one piece of code. */
struct table {
	struct debug_line_info *rows;
	size_t count, room;
};

/* The cache keeps the names until the table is written. */
static void add_row(struct table *t, const void *pc, const struct method_lines *m, jlocation bci)
{
	unsigned int line = line_at(m, bci);

	if (!line || !m->file || t->count == LINES_MAX)
		return;
	if (t->count == t->room) {
		size_t room = t->room ? 2 * t->room : 64;
		void *grown = realloc(t->rows, room * sizeof(*t->rows));

		if (!grown)
			return;
		t->rows = grown;
		t->room = room;
	}
	t->rows[t->count].filename = strdup(m->file);
	if (!t->rows[t->count].filename)
		return;
	t->rows[t->count].vma = (unsigned long)pc;
	t->rows[t->count++].lineno = line;
}

/* PCs with the methods inlined there: the innermost is what runs. */
static bool add_inlined(jvmtiEnv *env, struct method_cache *c, struct table *t, const void *info)
{
	const jvmtiCompiledMethodLoadRecordHeader *h;
	bool any = false;
	jint i;

	for (h = info; h; h = h->next) {
		const jvmtiCompiledMethodLoadInlineRecord *r = (const void *)h;

		if (h->kind != JVMTI_CMLR_INLINE_INFO)
			continue;
		for (i = 0; i < r->numpcs; i++) {
			const PCStackInfo *p = &r->pcinfo[i];

			if (p->numstackframes > 0)
				add_row(t, p->pc, lines_of(env, c, p->methods[0]), p->bcis[0]);
			any = true;
		}
	}
	return any;
}

static void write_lines(jvmtiEnv *env, jmethodID method, const void *code, jint map_length,
			const jvmtiAddrLocationMap *map, const void *info)
{
	struct method_cache cache = { .count = 0 };
	struct table t = { 0 };
	jint i;

	if (!add_inlined(env, &cache, &t, info))
		for (i = 0; i < map_length; i++)
			add_row(&t, map[i].start_address, lines_of(env, &cache, method),
				map[i].location);
	(void)op_write_debug_line_info(agent, code, t.count, t.rows);
	while (t.count)
		free((char *)t.rows[--t.count].filename);
	free(t.rows);
	cache_done(env, &cache);
}

/* "Lpkg/Class;method(I)V", which reports show as "void pkg.Class.method(int)". */
static bool name_of(jvmtiEnv *env, jmethodID method, char name[NAME_MAX_BYTES])
{
	char *class_name = NULL, *method_name = NULL, *signature = NULL;
	jclass class;
	bool known = (*env)->GetMethodDeclaringClass(env, method, &class) == JVMTI_ERROR_NONE &&
		     (*env)->GetClassSignature(env, class, &class_name, NULL) == JVMTI_ERROR_NONE &&
		     (*env)->GetMethodName(env, method, &method_name, &signature, NULL) ==
			     JVMTI_ERROR_NONE;

	if (known)
		(void)snprintf(name, NAME_MAX_BYTES, "%s%s%s", class_name, method_name, signature);
	(void)(*env)->Deallocate(env, (unsigned char *)class_name);
	(void)(*env)->Deallocate(env, (unsigned char *)method_name);
	(void)(*env)->Deallocate(env, (unsigned char *)signature);
	return known;
}

static void JNICALL on_load(jvmtiEnv *env, jmethodID method, jint size, const void *code,
			    jint map_length, const jvmtiAddrLocationMap *map, const void *info)
{
	uint8_t cfi[JAVA_FRAME_BYTES];
	char name[NAME_MAX_BYTES];

	if (size <= 0 || !name_of(env, method, name))
		return;
	write_lines(env, method, code, map_length, map, info);
	(void)op_write_unwindable_code(agent, name, (uint64_t)(uintptr_t)code, code,
				       (unsigned int)size, cfi,
				       java_frame_cfi(code, (size_t)size, cfi));
}

static void JNICALL on_unload(jvmtiEnv *env, jmethodID method, const void *code)
{
	(void)env, (void)method;
	(void)op_unload_native_code(agent, (uint64_t)(uintptr_t)code);
}

/* The interpreter, stubs and adapters of the JVM itself. */
static void JNICALL on_dynamic(jvmtiEnv *env, const char *name, const void *code, jint size)
{
	(void)env;
	if (size > 0)
		(void)op_write_native_code(agent, name, (uint64_t)(uintptr_t)code, code,
					   (unsigned int)size);
}

static int complain(const char *what, jvmtiError code)
{
	(void)fprintf(stderr,
		      "oprofile agent: %s: JVMTI error %d; names of Java code will be missing\n",
		      what, (int)code);
	return JNI_ERR;
}

static jvmtiError enable(jvmtiEnv *env)
{
	static const jvmtiEvent events[] = { JVMTI_EVENT_COMPILED_METHOD_LOAD,
					     JVMTI_EVENT_COMPILED_METHOD_UNLOAD,
					     JVMTI_EVENT_DYNAMIC_CODE_GENERATED };
	jvmtiError e = JVMTI_ERROR_NONE;
	size_t i;

	for (i = 0; e == JVMTI_ERROR_NONE && i < sizeof(events) / sizeof(events[0]); i++)
		e = (*env)->SetEventNotificationMode(env, JVMTI_ENABLE, events[i], NULL);
	return e;
}

static int start(JavaVM *vm, const char *options, jvmtiEnv **ret)
{
	const jvmtiCapabilities wanted = { .can_generate_compiled_method_load_events = 1,
					   .can_get_source_file_name = 1,
					   .can_get_line_numbers = 1 };
	const jvmtiEventCallbacks callbacks = { .CompiledMethodLoad = on_load,
						.CompiledMethodUnload = on_unload,
						.DynamicCodeGenerated = on_dynamic };
	jvmtiEnv *env;
	jvmtiError e;

	if (options && strstr(options, "version"))
		(void)fprintf(stderr, "oprofile agent: libopagent %d.%d\n", op_major_version(),
			      op_minor_version());
	if ((*vm)->GetEnv(vm, (void **)&env, JVMTI_VERSION_1_1) != JNI_OK)
		return complain("no JVMTI 1.1", JVMTI_ERROR_UNSUPPORTED_VERSION);
	agent = op_open_agent();
	if (!agent) {
		(void)fprintf(stderr,
			      "oprofile agent: cannot write a jitdump (%s); JITDUMPDIR names a "
			      "directory for it\n",
			      strerror(errno));
		return JNI_ERR;
	}
	if ((e = (*env)->AddCapabilities(env, &wanted)) != JVMTI_ERROR_NONE)
		return complain("capabilities", e);
	if ((e = (*env)->SetEventCallbacks(env, &callbacks, sizeof(callbacks))) != JVMTI_ERROR_NONE)
		return complain("callbacks", e);
	if ((e = enable(env)) != JVMTI_ERROR_NONE)
		return complain("events", e);
	*ret = env;
	return JNI_OK;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	jvmtiEnv *env;

	(void)reserved;
	return start(vm, options, &env);
}

/* Attached to a running JVM: code compiled earlier is reported too. */
JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
	jvmtiEnv *env;

	(void)reserved;
	if (start(vm, options, &env) != JNI_OK)
		return JNI_ERR;
	(void)(*env)->GenerateEvents(env, JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
	(void)(*env)->GenerateEvents(env, JVMTI_EVENT_COMPILED_METHOD_LOAD);
	return JNI_OK;
}

JNIEXPORT void JNICALL Agent_OnUnload(JavaVM *vm)
{
	(void)vm;
	if (agent)
		(void)op_close_agent(agent);
	agent = NULL;
}
