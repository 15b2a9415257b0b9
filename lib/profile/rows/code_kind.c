/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/code_kind.h"

#include "base/macro.h"
#include "file/path.h"
#include "profile/rows/container.h"
#include "profile/select/gather.h"
#include "profile/select/programs.h"
#include "sfile/source_image.h"

#include <string.h>

static const char *const names[] = {
#define X(kind, name) [CODE_##kind] = name,
	CODE_KINDS(X)
#undef X
};
static_assert(ARRAY_SIZE(names) == CODE_KIND_COUNT_, "one name each");

#define UNNAMED "JIT code without symbols; "

/* Programs and libraries that make code at run time or interpret it, by the start of their names
 * without "lib"; the kind of that code; how it gets names; and the function that interprets it. */
static const struct {
	const char *program;
	enum code_kind kind;
	const char *remedy, *loop;
} runtimes[] = {
	{ "java", CODE_JAVA,
	  UNNAMED "profile with --attach-java, or run java -agentpath:libjvmti_oprofile.so, see "
		  "opjit(5)" },
	{ "jvm", CODE_JAVA, NULL },
	{ "jli", CODE_JAVA, NULL }, /* the launcher */
	{ "node", CODE_JS, UNNAMED "run node --perf-basic-prof, see opjit(5)" },
	{ "coreclr", CODE_JIT, NULL },
	{ "dotnet", CODE_JIT, UNNAMED "set DOTNET_PerfMapEnabled=1, see opjit(5)" },
	{ "python", CODE_PYTHON, UNNAMED "run python3 -X perf, see opjit(5)",
	  "_PyEval_EvalFrameDefault" },
	{ "pypy", CODE_PYTHON, NULL },
	{ "php", CODE_PHP, UNNAMED "run php -d opcache.jit_debug=16, see opjit(5)", "execute_ex" },
	{ "ruby", CODE_RUBY, UNNAMED "run ruby --yjit-perf (Ruby 3.3 and later), see opjit(5)",
	  "vm_exec_core" },
	{ "beam", CODE_JIT, UNNAMED "run erl +JPperf true, see opjit(5)" },
	{ "luajit", CODE_JIT, UNNAMED "build LuaJIT with LUAJIT_USE_PERFTOOLS, see opjit(5)" },
	{ "wasmtime", CODE_JIT, UNNAMED "run wasmtime --profile=perfmap, see opjit(5)" },
};

const char *code_kind_name(enum code_kind kind)
{
	return names[kind];
}

bool code_kind_is_jit(enum code_kind kind)
{
	return kind >= CODE_RUBY;
}

/* The index in ->runtimes of the program called @name, or their number. */
static size_t find_runtime(const char *name)
{
	static const char library[] = "lib";
	size_t i = 0;

	if (!strncmp(name, library, strlen(library)))
		name += strlen(library);
	while (i < ARRAY_SIZE(runtimes) &&
	       strncmp(name, runtimes[i].program, strlen(runtimes[i].program)) != 0)
		i++;
	return i;
}

/* The index in ->runtimes of the program in "[JIT program]", or their number. */
static size_t find_maker(const char *shown)
{
	const char *space = *shown == '[' ? strchr(shown, ' ') : NULL;

	return space ? find_runtime(space + 1) : ARRAY_SIZE(runtimes);
}

/* Code that the kernel puts into each process. */
static bool is_of_kernel(const char *name)
{
	static const char *const parts[] = { "[vdso]", "[vdso32]", "[vsyscall]" };
	size_t i = 0;

	while (i < ARRAY_SIZE(parts) && strcmp(name, parts[i]) != 0)
		i++;
	return i < ARRAY_SIZE(parts);
}

/* The kind of code in memory without a file. What the names in a perf map say comes first. */
static enum code_kind kind_of_memory(const struct gather *g, const struct row *row)
{
	static const char python[] = "py::";
	size_t i = find_maker(g->images[programs_shown(g, row->image)].id.name);

	if (is_of_kernel(g->images[row->image].id.name))
		return CODE_NATIVE;
	if (row->symbol && !strncmp(row->symbol->name, python, strlen(python)))
		return CODE_PYTHON;
	return i < ARRAY_SIZE(runtimes) ? runtimes[i].kind : CODE_JIT;
}

enum code_kind code_kind_of(const struct gather *g, const struct row *row)
{
	static const enum code_kind of_source[SOURCE_LANGUAGE_COUNT_] = {
		[SOURCE_PYTHON] = CODE_PYTHON, [SOURCE_PHP] = CODE_PHP,
		[SOURCE_RUBY] = CODE_RUBY,     [SOURCE_JAVA] = CODE_JAVA,
		[SOURCE_WAKERS] = CODE_NATIVE,
	};
	const struct gather_image *i = &g->images[row->image];
	int language = source_image_language(i->manifest);

	if (i->id.kind == SNAME_KERN || i->kernel || !strcmp(i->display, "/proc/kallsyms"))
		return CODE_KERNEL;
	if (language >= 0)
		return of_source[language];
	if (i->id.kind == SNAME_ANON)
		return kind_of_memory(g, row);
	return row->is_go ? CODE_GO : CODE_NATIVE;
}

bool code_kind_image_runs(const struct gather *g, uint32_t image, enum code_kind *ret)
{
	const struct gather_image *i = &g->images[image];
	size_t found = ARRAY_SIZE(runtimes);

	if (i->id.kind != SNAME_ANON && !source_image_is(i->manifest))
		found = find_runtime(path_base(i->display));
	if (found == ARRAY_SIZE(runtimes))
		return false;
	*ret = runtimes[found].kind;
	return true;
}

/* Whether it is the code by which HotSpot calls Java, which it makes at run time, too. Its agent
 * interface knows the parts of "StubRoutines (1)". */
static bool is_stub(const struct row *row)
{
	return row->kind == ROW_SYMBOL && row->symbol &&
	       (!strcmp(row->symbol->name, "call_stub") ||
		!strcmp(row->symbol->name, "StubRoutines (1)"));
}

bool code_kind_is_runtime(const struct gather *g, const struct row *row, enum code_kind *ret)
{
	const enum code_kind kind = code_kind_of(g, row);

	if (kind == CODE_JAVA && is_stub(row)) {
		*ret = kind;
		return true;
	}
	return kind == CODE_NATIVE && code_kind_image_runs(g, row->image, ret);
}

const char *code_kind_loop(enum code_kind kind)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(runtimes); i++)
		if (runtimes[i].kind == kind && runtimes[i].loop)
			return runtimes[i].loop;
	return NULL;
}

const char *code_kind_mark(const struct gather *g, const struct row *row, bool is_kernel)
{
	if (is_kernel)
		return "_[k]";
	if (code_kind_is_jit(code_kind_of(g, row)) &&
	    !source_image_is(g->images[row->image].manifest))
		return "_[j]";
	return row->is_inlined ? "_[i]" : "";
}

const char *code_kind_remedy(const char *shown)
{
	size_t i = find_maker(shown);

	return i < ARRAY_SIZE(runtimes) ? runtimes[i].remedy : NULL;
}
