/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code as opannotate reads it: disassembles everything that an ELF file marks as code. */
#include "fuzz.h"

#include "disasm/disasm.h"

#include <stdlib.h>
#include <string.h>

enum { INSTRUCTIONS_MAX = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	_cleanup_(disasm_freep) struct disasm *d = NULL;
	/* libelf may write into the memory that it is given: the input stays as it is. */
	_cleanup_free_ uint8_t *copy = malloc(size + 1);
	struct disasm_insn insn;
	size_t i, n = 0;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	if (elffile_open_memory(copy, size, "input", &ef, NULL) < 0 ||
	    disasm_new(ef, size & 1 ? "intel" : NULL, NULL, NULL, &d, NULL) < 0)
		return 0;
	for (i = 0; i < elffile_section_count(ef); i++) {
		uint64_t start = elffile_section_base(ef, i);

		if (!disasm_seek(d, start, UINT64_MAX))
			continue;
		while (n++ < INSTRUCTIONS_MAX && disasm_next(d, &insn))
			;
	}
	return 0;
}
