/* SPDX-License-Identifier: GPL-2.0-or-later */
/* truth_replaced map|move|write SECONDS: puts a copy of the text of a library in its place, and
 * calls that for SECONDS. Then puts other code there, and calls that. */
#include "truth.h"

#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

TRUTH_CHAIN(chain_before)
TRUTH_CHAIN(chain_after)

void lib_calls(void (*work)(uint64_t steps), uint64_t steps);

struct text {
	uint8_t *start;
	size_t bytes;
};

/* Keeps a frame pointer, and calls its first argument with the second. */
#if defined(__x86_64__)
static const uint8_t code[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0xf8,
				0x48, 0x89, 0xf7, 0xff, 0xd0, 0x5d, 0xc3 };
#else
static const uint32_t code[] = { 0xa9bf7bfd, 0x910003fd, 0xaa0003e9, 0xaa0103e0,
				 0xd63f0120, 0xa8c17bfd, 0xd65f03c0 };
#endif

static void work_before(uint64_t steps)
{
	(void)chain_before(steps);
	__asm__ volatile("");
}

static void work_after(uint64_t steps)
{
	(void)chain_after(steps);
	__asm__ volatile("");
}

/* The executable mapping that lib_calls() is in. */
static int find_text(struct dl_phdr_info *info, size_t size, void *data)
{
	uintptr_t at = (uintptr_t)lib_calls, page = 4095;
	struct text *ret = data;
	int i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type != PT_LOAD || at < start || at >= start + p->p_memsz)
			continue;
		ret->start = (uint8_t *)(start & ~page);
		ret->bytes = ((start + p->p_memsz + page) & ~page) - (start & ~page);
		return 1;
	}
	return 0;
}

/* Puts memory with @bytes in the place of @text: maps it there. */
static int map_over(const struct text *text, const uint8_t *bytes)
{
	if (mmap(text->start, text->bytes, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		return 1;
	memcpy(text->start, bytes, text->bytes);
	return mprotect(text->start, text->bytes, PROT_READ | PROT_EXEC) < 0;
}

/* The same, but maps it elsewhere and moves it there. */
static int move_over(const struct text *text, const uint8_t *bytes)
{
	uint8_t *memory =
		mmap(NULL, text->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return 1;
	memcpy(memory, bytes, text->bytes);
	return mprotect(memory, text->bytes, PROT_READ | PROT_EXEC) < 0 ||
	       mremap(memory, text->bytes, text->bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
		      text->start) == MAP_FAILED;
}

static int write_over(const struct text *text, const uint8_t *bytes)
{
	if (mprotect(text->start, text->bytes, PROT_READ | PROT_WRITE) < 0)
		return 1;
	memcpy(text->start, bytes, text->bytes);
	return mprotect(text->start, text->bytes, PROT_READ | PROT_EXEC) < 0;
}

static void spend(void (*work)(uint64_t steps), double seconds)
{
	double end = truth_cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + seconds;

	while (truth_cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < end)
		lib_calls(work, TRUTH_UNIT);
}

__attribute__((noinline)) static void first(double seconds)
{
	spend(work_before, seconds);
	__asm__ volatile("");
}

__attribute__((noinline)) static void second(double seconds)
{
	spend(work_after, seconds);
	__asm__ volatile("");
}

static int put_over(const char *how, const struct text *text, const uint8_t *bytes)
{
	if (!strcmp(how, "move"))
		return move_over(text, bytes);
	return (strcmp(how, "map") ? write_over : map_over)(text, bytes);
}

int main(int argc, char **argv)
{
	struct text text = { 0 };
	bool is_moved = argc > 1 && !strcmp(argv[1], "move");
	uint8_t *other;

	if (argc != 3)
		return 2;
	(void)dl_iterate_phdr(find_text, &text);
	other = malloc(text.bytes);
	if (!text.bytes || !other)
		return 1;
	memcpy(other, text.start, text.bytes);
	if (put_over(is_moved ? "move" : "map", &text, other))
		return 1;
	first(strtod(argv[2], NULL));
	memcpy(other + ((uint8_t *)(uintptr_t)lib_calls - text.start), code, sizeof(code));
	if (put_over(argv[1], &text, other))
		return 1;
	__builtin___clear_cache((char *)text.start, (char *)text.start + text.bytes);
	second(strtod(argv[2], NULL));
	free(other);
	return 0;
}
