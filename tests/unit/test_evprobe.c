/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Probes in files as events: those of this very program, which has functions, and marks like those
 * that <sys/sdt.h> makes. */
#include "event/evprobe.h"

#include "base/strbuf.h"
#include "event/event.h"
#include "file/path.h"
#include "file/procfs.h"
#include "test.h"

#include <errno.h>
#include <unistd.h>

/* A mark of the provider "op_test", as a note: its address, none of a base, that of its semaphore,
 * and three strings. */
#define MARK(name, semaphore)                                                                      \
	__asm__ volatile("990: nop\n"                                                              \
			 ".pushsection .note.stapsdt,\"\",\"note\"\n"                              \
			 ".balign 4\n"                                                             \
			 ".4byte 992f-991f, 994f-993f, 3\n"                                        \
			 "991: .asciz \"stapsdt\"\n"                                               \
			 "992: .balign 4\n"                                                        \
			 "993: .8byte 990b, 0, " semaphore "\n"                                    \
			 ".asciz \"op_test\"\n.asciz \"" name "\"\n.asciz \"\"\n"                  \
			 "994: .balign 4\n"                                                        \
			 ".popsection\n")

uint16_t op_test_semaphore __attribute__((used)) = 7;
extern const char op_test_place[] __attribute__((visibility("hidden")));
void op_test_guarded(void);
void op_test_twice(void);
int op_test_function(int a);

__attribute__((noinline)) void op_test_guarded(void)
{
	__asm__ volatile(".globl op_test_place\nop_test_place:\n");
	MARK("guarded", "op_test_semaphore");
}

__attribute__((noinline)) void op_test_twice(void)
{
	MARK("twice", "0");
	MARK("twice", "0");
}

__attribute__((noinline)) int op_test_function(int a)
{
	return a * 3;
}

/* Makes the kernel of a machine that has probes. */
static char *machine(void)
{
	static const struct {
		const char *path, *text;
	} files[] = {
		{ "type", "9\n" },
		{ "format/retprobe", "config:0\n" },
		{ "format/ref_ctr_offset", "config:32-63\n" },
	};
	char *root = test_directory();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		_cleanup_free_ char *path =
			xasprintf("%s/sys/bus/event_source/devices/uprobe/%s", root, files[i].path);
		FILE *out;

		CHECK_EQ(path_make_parents(path, 0755, NULL), 0);
		out = fopen(path, "w");
		if (CHECK(out)) {
			(void)fputs(files[i].text, out);
			(void)fclose(out);
		}
	}
	return root;
}

/* The path of this program. */
static char *self(void)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path));

	return n > 0 ? xstrndup(path, (size_t)n) : xstrdup("?");
}

struct place {
	uint64_t address, offset;
};

static int find_offset(const struct maps_line *line, void *data)
{
	struct place *p = data;

	if (p->address >= line->start && p->address < line->end)
		p->offset = p->address - line->start + line->offset;
	return 0;
}

/* The offset in its file of what is at @address in this process. */
static uint64_t offset_of(const void *address)
{
	struct place p = { .address = (uintptr_t)address };

	CHECK_EQ(procfs_maps("", (uint32_t)getpid(), find_offset, &p), 0);
	return p.offset;
}

/* Parses "@before FILE @after", where FILE is this program. */
static int parse(const char *root, const char *before, const char *after, struct event *ret,
		 struct error *err)
{
	_cleanup_free_ char *file = self();
	_cleanup_free_ char *spec = xasprintf("%s%s%s", before, file, after);

	return event_parse_at(root, spec, ret, err);
}

static void functions_are_found_in_the_file(void)
{
	_cleanup_directory_ char *root = machine();
	_cleanup_free_ char *file = self();
	struct error err = ERROR_INIT;
	struct event event = { 0 };

	CHECK_EQ(op_test_function(2), 6);
	CHECK_EQ(parse(root, "uprobe:", ":op_test_function", &event, &err), 0);
	CHECK_STR(event.name, "uprobe~test_evprobe~op_test_function");
	CHECK_STR(event.probed, file);
	CHECK_STR(event.pmu, "uprobe");
	CHECK_EQ(event.perf_type, 9);
	CHECK_EQ(event.perf_config, 0);
	CHECK_EQ(event.perf_config2, offset_of((const void *)op_test_function));
	CHECK_EQ(event.count, 1);
	CHECK_EQ(parse(root, "uretprobe:", ":op_test_function:5:0:0:1", &event, &err), 0);
	CHECK_EQ(event.perf_config, 1);
	CHECK_EQ(event.count, 5);
	CHECK(!event.kernel);
	CHECK_EQ(parse(root, "uprobe:", ":0x1a2b", &event, &err), 0);
	CHECK_EQ(event.perf_config2, 0x1a2b);
	CHECK_STR(event.name, "uprobe~test_evprobe~0x1a2b");
}

static void marks_are_found_in_the_notes(void)
{
	_cleanup_directory_ char *root = machine();
	uint64_t semaphore = offset_of(&op_test_semaphore);
	struct event first = { 0 }, second = { 0 }, event = { 0 };
	struct error err = ERROR_INIT;

	op_test_guarded();
	op_test_twice();
	CHECK_EQ(parse(root, "usdt:", ":op_test:guarded", &event, &err), 0);
	CHECK_STR(event.name, "usdt~test_evprobe~op_test~guarded");
	CHECK_EQ(event.perf_config2, offset_of(op_test_place));
	CHECK_EQ(event.perf_config, semaphore << 32);
	CHECK_EQ(parse(root, "usdt:", ":op_test:twice", &event, &err), -EINVAL);
	CHECK(strstr(err.text, "are @1 to @2; choose one"));
	CHECK_EQ(parse(root, "usdt:", ":op_test:twice@1", &first, NULL), 0);
	CHECK_EQ(parse(root, "usdt:", ":op_test:twice@2:3", &second, NULL), 0);
	CHECK_STR(second.name, "usdt~test_evprobe~op_test~twice@2");
	CHECK_EQ(second.count, 3);
	CHECK_EQ(second.perf_config, 0);
	CHECK(first.perf_config2 < second.perf_config2);
}

static void mistakes_are_named(void)
{
	static const struct {
		const char *before, *after, *says;
	} rows[] = {
		{ "uprobe:", ":op_test_functions", "no function op_test_functions; did you mean" },
		{ "uprobe:", ":nothing_at_all_like_it_is_here_xyzzy",
		  "no function nothing_at_all_like_it_is_here_xyzzy; if it was stripped" },
		{ "usdt:", ":op_test:garded",
		  "has no mark op_test:garded; did you mean "
		  "op_test:guarded?" },
		{ "usdt:", ":op_test:guarded@2", "are @1 to @1; choose one" },
		{ "usdt:", ":op_test:guarded@x", "'x' is not the number of a place" },
		{ "usdt:", ":guarded", "write usdt:FILE:PROVIDER:NAME" },
		{ "uprobe:", "", "write uprobe:FILE:FUNCTION" },
		{ "uprobe:", ":0x1z", "'0x1z' is not an offset in" },
		{ "uprobe:/nowhere", ":main", "/nowhere" },
		{ "uprobe:no-such-program-", ":main", "No such file or directory" },
		{ "uprobe:", ":op_test_function:k", "only the kernel was chosen" },
		{ "uprobe:", ":op_test_function:0", "Count 0 for event" },
	};
	_cleanup_directory_ char *root = machine(), *bare = test_directory();
	struct error err = ERROR_INIT;
	struct event event;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error why = ERROR_INIT;

		CHECK_EQ(parse(root, rows[i].before, rows[i].after, &event, &why), -EINVAL);
		if (!CHECK(strstr(why.text, rows[i].says)))
			printf("# %zu gives '%s'\n", i, why.text);
	}
	CHECK_EQ(parse(bare, "uprobe:", ":op_test_function", &event, &err), -EINVAL);
	CHECK(strstr(err.text, "this kernel has no uprobes (CONFIG_UPROBE_EVENTS)"));
	CHECK_EQ(event_parse_at(root, "uprobe:no-such-program:main", &event, &err), -EINVAL);
	CHECK(strstr(err.text, "no program 'no-such-program' in PATH; write ./no-such-program"));
}

static void slashes_and_commas_of_lists_are_told_apart(void)
{
	_cleanup_directory_ char *root = machine();
	_cleanup_free_ char *file = self();
	_cleanup_free_ char *list = xasprintf("uprobe:%s:op_test_function:2,uretprobe:/%s:"
					      "op_test_function,PAGE_FAULTS",
					      file, file);
	_cleanup_free_ char *whole = evprobe_absolute("uprobe:/../..//:main:5");
	struct event events[EVENT_MAX];
	struct error err = ERROR_INIT;

	CHECK_EQ(event_parse_list_at(root, list, events, &err), 3);
	CHECK_EQ(events[0].count, 2);
	CHECK_STR(events[1].name, "uretprobe~test_evprobe~op_test_function");
	CHECK_STR(events[2].name, "PAGE_FAULTS");
	CHECK_STR(whole, "uprobe:/:main:5");
	CHECK_EQ(event_name_length("usdt:/a/b:c:d:5"), strlen("usdt:/a/b:c:d"));
}

TESTS(T(functions_are_found_in_the_file), T(marks_are_found_in_the_notes), T(mistakes_are_named),
      T(slashes_and_commas_of_lists_are_told_apart))
