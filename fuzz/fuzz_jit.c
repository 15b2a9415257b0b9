/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz.h"

#include "jit/jit.h"
#include "elfwrite/jit_elf.h"
#include "jit/jit_source.h"
#include "unwind/unwind_code.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* How to unwind code is known from its start, and in order. */
static void check_rows(const struct jit_code *code)
{
	size_t i;

	for (i = 0; i < code->row_count; i++)
		if (code->rows[i].offset >= code->size ||
		    (i ? code->rows[i].offset <= code->rows[i - 1].offset : code->rows[i].offset))
			abort();
}

/* What any process may have written about its code; what it made must answer, and be written. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(jit_freep) struct jit *j = jit_new();
	_cleanup_(jit_source_freep) struct jit_source *s = NULL;
	char path[] = "/tmp/fuzz-jit-XXXXXX";
	int fd = memfd_create("jit", MFD_CLOEXEC), out;
	struct jit_source_state state;
	_cleanup_(jit_elf_freep) struct jit_elf *elf = NULL;
	size_t i;

	if (fd < 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
		return 0;
	s = jit_source_new(fd, "input");
	(void)jit_source_read(s, j, 1, NULL);
	/* It goes on where it was, as another process does that knows no more than this. */
	jit_source_state(s, &state);
	jit_source_resume(s, &state);
	(void)jit_source_read(s, j, 2, NULL);
	for (i = 0; i < jit_count(j); i++) {
		(void)jit_find(j, jit_at(j, i)->address, jit_at(j, i)->from);
		check_rows(jit_at(j, i));
	}
	out = mkstemp(path);
	if (out < 0)
		return 0;
	(void)close(out);
	elf = jit_elf_new(j);
	(void)jit_elf_write(elf, path, NULL);
	(void)unlink(path);
	return 0;
}
