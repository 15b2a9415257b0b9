/* SPDX-License-Identifier: GPL-2.0-or-later */
/* truth_jitted map|dump SECONDS: JIT code that describes itself in a perf map or in a jitdump. One
 * address contains "jit first" for two fifths of the time, then "jit second". */
#include "truth.h"
#include "truth_jitdump.h"

enum { CODE_BYTES = 256 }; /* more than the function has, which is a loop of some instructions */

TRUTH_CHAIN(original)

static FILE *map;
static void *page;

/* All of the code is line 2 of made.txt. */
static void say_line(void)
{
	static const char file[] = "made.txt";

	jitdump_record(2, 16 + 16 + sizeof(file));
	jitdump_u64((uintptr_t)page);
	jitdump_u64(1);
	jitdump_u64((uintptr_t)page);
	jitdump_u32(2);
	jitdump_u32(0);
	(void)fwrite(file, sizeof(file), 1, jitdump);
}

static void say_dump(const char *name)
{
	say_line();
	jitdump_load(page, CODE_BYTES, name);
}

static int open_map(void)
{
	char name[48];

	(void)snprintf(name, sizeof(name), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(name, "w");
	return map ? 0 : -1;
}

static void say_map(const char *name)
{
	(void)fprintf(map, "%lx %x %s\n", (unsigned long)(uintptr_t)page, CODE_BYTES, name);
	(void)fflush(map);
}

int main(int argc, char **argv)
{
	uint64_t (*function)(uint64_t) = original;
	void (*say)(const char *name) = say_map;
	struct truth_part part = { .weight = 1 };
	double seconds;
	const void *code;

	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (argc != 3 || page == MAP_FAILED)
		return 2;
	if (!strcmp(argv[1], "dump"))
		say = say_dump;
	if (say == say_dump ? jitdump_open() : open_map())
		return 1;
	memcpy(&code, &function, sizeof(code));
	memcpy(page, code, CODE_BYTES);
	if (mprotect(page, 4096, PROT_READ | PROT_EXEC) < 0)
		return 1;
	__builtin___clear_cache(page, (char *)page + CODE_BYTES);
	memcpy(&part.run, &page, sizeof(page));
	seconds = strtod(argv[2], NULL);
	say("jit first");
	truth_rounds(&part, 1, seconds * 0.4);
	say("jit second");
	truth_rounds(&part, 1, seconds * 0.6);
	return 0;
}
