/* SPDX-License-Identifier: GPL-2.0-or-later */
/* truth_jitted map|dump SECONDS: JIT code that describes itself in a perf map or in a jitdump. One
 * address contains "jit first" for two fifths of the time, then "jit second". */
#include "truth.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CODE_BYTES = 256 }; /* more than the function has, which is a loop of some instructions */

TRUTH_CHAIN(original)

static FILE *dump;
static void *page;

static void put_u32(uint32_t v)
{
	(void)fwrite(&v, sizeof(v), 1, dump);
}

static void put_u64(uint64_t v)
{
	(void)fwrite(&v, sizeof(v), 1, dump);
}

static uint64_t now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* jitdump-specification.txt of Linux: the header; the file is found as it is mapped executable. */
static int open_dump(void)
{
	char name[32];

	(void)snprintf(name, sizeof(name), "jit-%d.dump", (int)getpid());
	dump = fopen(name, "w+");
	if (!dump)
		return -1;
	put_u32(0x4a695444);
	put_u32(1);
	put_u32(40);
	put_u32(62);
	put_u32(0);
	put_u32((uint32_t)getpid());
	put_u64(now());
	put_u64(0);
	(void)fflush(dump);
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0) == MAP_FAILED;
}

/* All of the code is line 2 of made.txt. */
static void say_line(void)
{
	static const char file[] = "made.txt";

	put_u32(2);
	put_u32((uint32_t)(16 + 16 + 16 + sizeof(file)));
	put_u64(now());
	put_u64((uintptr_t)page);
	put_u64(1);
	put_u64((uintptr_t)page);
	put_u32(2);
	put_u32(0);
	(void)fwrite(file, sizeof(file), 1, dump);
}

static void say_dump(const char *name)
{
	static uint64_t index;

	say_line();
	put_u32(0);
	put_u32((uint32_t)(16 + 40 + strlen(name) + 1 + CODE_BYTES));
	put_u64(now());
	put_u32((uint32_t)getpid());
	put_u32((uint32_t)getpid());
	put_u64((uintptr_t)page);
	put_u64((uintptr_t)page);
	put_u64(CODE_BYTES);
	put_u64(++index);
	(void)fwrite(name, strlen(name) + 1, 1, dump);
	(void)fwrite(page, CODE_BYTES, 1, dump);
	(void)fflush(dump);
}

static int open_map(void)
{
	char name[48];

	(void)snprintf(name, sizeof(name), "/tmp/perf-%d.map", (int)getpid());
	dump = fopen(name, "w");
	return dump ? 0 : -1;
}

static void say_map(const char *name)
{
	(void)fprintf(dump, "%lx %x %s\n", (unsigned long)(uintptr_t)page, CODE_BYTES, name);
	(void)fflush(dump);
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
	if (say == say_dump ? open_dump() : open_map())
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
