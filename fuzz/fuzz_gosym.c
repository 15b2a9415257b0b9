/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Go's table of functions: all that it says of its first functions. */
#include "fuzz.h"

#include "elf/elffile.h"
#include "gosym/gosym.h"

#include <stdlib.h>
#include <string.h>

enum { FUNCTIONS = 16, ADDRESSES = 32 };

/* Adds up what is read, so that all of it is. */
static size_t read_function(const struct gosym *go, const struct gosym_function *fn)
{
	struct gosym_range r = gosym_stack(go, fn);
	struct gosym_call calls[GOSYM_DEPTH_MAX];
	struct gosym_place at;
	size_t i, n, sum = strlen(fn->name);
	uint64_t last = fn->start;

	for (; gosym_next(go, &r); last = r.end)
		if (r.start != last || r.end <= r.start || r.end > fn->end)
			abort();
	for (i = 0; i < ADDRESSES; i++) {
		if (gosym_line(go, fn->start + i, &at))
			sum += strlen(at.file) + at.line;
		for (n = gosym_inlines(go, fn->start + i, calls); n--;)
			sum += strlen(calls[n].function) + calls[n].at.line;
	}
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	_cleanup_(gosym_freep) struct gosym *go = NULL;
	/* libelf may write into the memory that it is given: the input stays as it is. */
	_cleanup_free_ uint8_t *copy = malloc(size + 1);
	struct gosym_function fn;
	size_t i, sum = 0;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	if (elffile_open_memory(copy, size, "input", &ef, NULL) < 0 || !(go = gosym_new(ef)))
		return 0;
	for (i = 0; i < gosym_count(go) && i < FUNCTIONS; i++)
		if (gosym_at(go, i, &fn))
			sum += read_function(go, &fn);
	return sum == SIZE_MAX;
}
