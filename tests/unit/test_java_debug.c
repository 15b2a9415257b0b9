/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the agent for Java keeps of a method: lib/agent/java_debug.c. */
#include "test.h"

#include "agent/java_debug.h"
#include "agent/java_methods.h"

#include <jvmticmlr.h>

/* Instead of those that ask a virtual machine. */
const struct java_method *java_methods_get(struct java_methods *all _unused_, jmethodID id)
{
	static struct java_method m = { .name = (char *)"LA;f()V", .file = (char *)"A.java" };

	m.id = id;
	return &m;
}

unsigned int java_method_line(const struct java_method *m _unused_, jlocation bci)
{
	return 1 + (unsigned int)bci;
}

static char code[30000];

/* A call at each third byte, from another bytecode of the method each. */
static void calls_beyond_the_limit_are_left_out(void)
{
	enum { CALLS = ARRAY_SIZE(code) / 3, KEPT = 8192 };
	struct java_debug d = { .code = code, .size = sizeof(code) };
	_cleanup_free_ PCStackInfo *info = xcalloc(CALLS + 1, sizeof(*info));
	_cleanup_free_ jint *bcis = xcalloc(CALLS + 1, 2 * sizeof(*bcis));
	jmethodID methods[2] = { (jmethodID)&info, (jmethodID)&bcis };
	jvmtiCompiledMethodLoadInlineRecord record = { .header = { .kind = JVMTI_CMLR_INLINE_INFO },
						       .numpcs = CALLS + 1,
						       .pcinfo = info };
	size_t i;

	for (i = 0; i <= CALLS; i++) {
		/* The last one is the first call again. */
		bcis[2 * i + 1] = i < CALLS ? (jint)i : 0;
		info[i] = (PCStackInfo){ .pc = &code[MIN(3 * i + 2, sizeof(code) - 1)],
					 .numstackframes = 2,
					 .methods = methods,
					 .bcis = &bcis[2 * i] };
	}
	info[CALLS - 1].pc = &code[sizeof(code) - 2];
	CHECK(java_debug_inlined(&d, &record));
	CHECK_EQ(d.call_count, KEPT);
	CHECK_EQ(d.calls[KEPT - 1].lineno, KEPT);
	CHECK_EQ(d.row_count, KEPT + 2); /* those that are left out have a row of none */
	CHECK_EQ(d.rows[KEPT].call, 0);
	CHECK_EQ(d.rows[KEPT + 1].call, 1);
	java_debug_done(&d);
}

TESTS(T(calls_beyond_the_limit_are_left_out))
