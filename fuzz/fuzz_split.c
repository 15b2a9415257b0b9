/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Split DWARF: the input is a package or a .dwo file, and its last eight bytes are the requested
 * id. Reads all functions and inlined calls of the unit that is found. */
#include "fuzz.h"

#include "base/mem.h"
#include "file/path.h"
#include "dwarf/internal/dwarf_split.h"
#include "dwarf/internal/inlines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LOOK_UPS = 64 };

/* In memory where that is possible: a disk takes its time. */
static char directories[][32] = { "/dev/shm/fuzz_split.XXXXXX", "/tmp/fuzz_split.XXXXXX" };
static char *directory;
static char path[48], package[64];

static void leave(void)
{
	(void)unlink(package);
	(void)rmdir(directory);
}

static bool put(const uint8_t *data, size_t size)
{
	_cleanup_fclose_ FILE *f = NULL;

	if (!*path) {
		directory = mkdtemp(directories[0]) ?: mkdtemp(directories[1]);
		if (!directory)
			abort();
		(void)snprintf(path, sizeof(path), "%s/a", directory);
		(void)snprintf(package, sizeof(package), "%s.dwp", path);
		(void)atexit(leave);
	}
	f = fopen(package, "we");
	return f && fwrite(data, 1, size, f) == size && fflush(f) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct span empty = span_of("", 0), none[DWARF_SECTION_COUNT_] = {
		empty, empty, empty, empty, empty, empty, empty, empty, empty, empty,
	};
	_cleanup_(dwarf_file_freep) struct dwarf_file *file = dwarf_file_of(none, false);
	struct dwarf_unit skeleton = { .file = file, .shape = { 5, 8, 4 }, .is_open = true };
	struct dwarf_split *split;
	struct dwarf_unit *unit;
	struct inlines *inlines;
	const struct inlines_call *calls;
	size_t i, n, length = 0;

	if (size < 8 || !put(data, size - 8))
		return 0;
	skeleton.id = get_le64(data + size - 8);
	split = dwarf_split_new(path, NULL);
	inlines = inlines_new();
	unit = skeleton.id ? dwarf_split_find(split, &skeleton) : NULL;
	for (i = 0; unit && i < LOOK_UPS; i++)
		for (n = inlines_find(inlines, unit, i * 4, &calls); n--;)
			length += strlen(calls[n].function) + calls[n].line;
	inlines_free(inlines);
	dwarf_split_free(split);
	return length == SIZE_MAX;
}
