/* SPDX-License-Identifier: GPL-2.0-or-later */
/* truth_jit SECONDS: code that was copied to anonymous memory has 60, the function that it was
 * copied from 40 of 100. */
#include "truth.h"

#include <string.h>
#include <sys/mman.h>

enum { CODE_BYTES = 256 }; /* more than the function has, which is a loop of some instructions */

TRUTH_CHAIN(original)

int main(int argc, char **argv)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct truth_part parts[] = {
		{ "truth_jit", "original", original, 40 },
		{ "[JIT", "-", NULL, 60 }, /* "[JIT truth_jit]" in reports */
	};
	uint64_t (*function)(uint64_t) = original;
	const void *code;

	if (argc != 2 || page == MAP_FAILED)
		return 2;
	memcpy(&code, &function, sizeof(code));
	memcpy(page, code, CODE_BYTES);
	if (mprotect(page, 4096, PROT_READ | PROT_EXEC) < 0)
		return 1;
	__builtin___clear_cache(page, (char *)page + CODE_BYTES);
	memcpy(&parts[1].run, &page, sizeof(page));
	truth_run(parts, 2, strtod(argv[1], NULL));
	return 0;
}
