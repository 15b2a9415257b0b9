/* SPDX-License-Identifier: GPL-2.0-or-later */
/* truth_moved anon|writable|memfd SECONDS: copies its text to memory, which may stay writable, and
 * puts that in the place of the file, as programs do that move their text to huge pages. Then 30
 * and 70 of 100 in two functions. */
#include "truth.h"

#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

TRUTH_CHAIN(moved_a)
TRUTH_CHAIN(moved_b)

static const struct truth_part parts[] = {
	{ "truth_moved", "moved_a", moved_a, 30 },
	{ "truth_moved", "moved_b", moved_b, 70 },
};

struct text {
	char *start;
	size_t bytes;
};

/* The text of the program, which comes first. */
static int find_text(struct dl_phdr_info *info, size_t size, void *data)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start, end;
	struct text *ret = data;
	int i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		start = (info->dlpi_addr + p->p_vaddr) & ~(page - 1);
		end = (info->dlpi_addr + p->p_vaddr + p->p_memsz + page - 1) & ~(page - 1);
		memcpy(&ret->start, &start, sizeof(start));
		ret->bytes = end - start;
	}
	return 1;
}

static int move_to_memory(const struct text *text, int rights)
{
	void *copy =
		mmap(NULL, text->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (copy == MAP_FAILED)
		return 1;
	memcpy(copy, text->start, text->bytes);
	if (mprotect(copy, text->bytes, rights) < 0)
		return 1;
	return mremap(copy, text->bytes, text->bytes, MREMAP_MAYMOVE | MREMAP_FIXED, text->start) ==
	       MAP_FAILED;
}

static int move_to_memfd(const struct text *text)
{
	int fd = memfd_create("moved", 0);

	if (fd < 0 || write(fd, text->start, text->bytes) != (ssize_t)text->bytes)
		return 1;
	return mmap(text->start, text->bytes, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED, fd,
		    0) == MAP_FAILED;
}

static int move(const char *how, const struct text *text)
{
	if (!strcmp(how, "memfd"))
		return move_to_memfd(text);
	return move_to_memory(text,
			      PROT_READ | PROT_EXEC | (strcmp(how, "writable") ? 0 : PROT_WRITE));
}

int main(int argc, char **argv)
{
	struct text text = { 0 };

	if (argc != 3)
		return 2;
	(void)dl_iterate_phdr(find_text, &text);
	if (!text.bytes || move(argv[1], &text))
		return 1;
	truth_run(parts, 2, strtod(argv[2], NULL));
	return 0;
}
