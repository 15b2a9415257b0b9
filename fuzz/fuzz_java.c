/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables in which HotSpot's file describes its structures. */
#include "fuzz.h"

#include "base/mem.h"
#include "elf/elffile.h"
#include "interpreter/java_layout.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* libelf may write into the memory that it is given: the input stays as it is. */
	_cleanup_free_ uint8_t *copy = malloc(size + 1);
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	struct java_layout layout;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	if (elffile_open_memory(copy, size, "input", &ef, NULL) < 0 ||
	    !java_layout_read(ef, 0x1000, &layout))
		return 0;
	if (!java_layout_makes_sense(&layout))
		abort();
	return 0;
}
