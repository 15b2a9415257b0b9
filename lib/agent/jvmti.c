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
#include "agent/java_debug.h"
#include "agent/java_methods.h"
#include "agent/opagent.h"

#include <errno.h>
#include <jvmti.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static op_agent_t agent;

static void write_method(jmethodID method, struct java_debug *lines)
{
	uint8_t cfi[JAVA_FRAME_BYTES];
	const struct java_method *m = java_methods_get(lines->methods, method);

	if (!m->name)
		return;
	java_debug_write(lines, agent);
	(void)op_write_unwindable_code(agent, m->name, (uint64_t)(uintptr_t)lines->code,
				       lines->code, (unsigned int)lines->size, cfi,
				       java_frame_cfi((const uint8_t *)lines->code, lines->size,
						      cfi));
}

static void JNICALL on_load(jvmtiEnv *env, jmethodID method, jint size, const void *code,
			    jint map_length, const jvmtiAddrLocationMap *map, const void *info)
{
	struct java_debug lines = { .methods = java_methods_new(env),
				    .code = code,
				    .size = (size_t)size };

	if (size > 0 && lines.methods) {
		if (!java_debug_inlined(&lines, info))
			java_debug_plain(&lines, method, map, map_length);
		write_method(method, &lines);
	}
	java_debug_done(&lines);
	java_methods_free(lines.methods);
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
