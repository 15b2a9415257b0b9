/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Debug information as reports read it: the line of every address from the start of the code. */
#include "fuzz.h"

#include "dwarf/lines.h"

#include <stdlib.h>
#include <string.h>

enum { LOOK_UPS = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	_cleanup_(lines_freep) struct lines *lines = NULL;
	/* libelf may write into the memory that it is given: the input stays as it is. */
	_cleanup_free_ uint8_t *copy = malloc(size + 1);
	struct elf_section text;
	const struct lines_call *calls;
	struct lines_place at;
	size_t i, n, length = 0;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	if (elffile_open_memory(copy, size, "input", &ef, NULL) < 0)
		return 0;
	lines = lines_new(ef, NULL);
	if (!elffile_find_section(ef, ".text", &text))
		return 0;
	for (i = 0; i < LOOK_UPS; i++) {
		if (lines_find(lines, text.header.sh_addr + i, &at))
			length += strlen(at.file) + at.line;
		for (n = lines_inlines(lines, text.header.sh_addr + i, &calls); n--;)
			length += strlen(calls[n].function) + calls[n].at.line;
	}
	return length == SIZE_MAX;
}
