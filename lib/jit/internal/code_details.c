/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jit/internal/code_details.h"

#include "base/mem.h"
#include "jit/jit_code.h"
#include "jit/jit_inlined.h"
#include "unwind/unwind_code.h"

#include <elf.h>
#include <stdlib.h>

void code_details_line(struct code_details *d, uint64_t address, uint32_t line, const char *file)
{
	/* 0xff alone means the file of the row before. */
	bool again = d->file_count &&
		     (!strcmp(file, "\xff") || !strcmp(file, d->files[d->file_count - 1]));

	if (!again) {
		array_grow(&d->files, d->file_count + 1, &d->file_room);
		d->files[d->file_count++] = xstrdup(file);
	}
	array_grow(&d->lines, d->line_count + 1, &d->line_room);
	d->lines[d->line_count++] = (struct jit_line){ .address = address,
						       .line = line,
						       .file = d->files[d->file_count - 1] };
}

void code_details_cfi(struct code_details *d, struct span bytes)
{
	free(STEAL(d->cfi));
	d->cfi_bytes = 0;
	if (bytes.left > UNWIND_CODE_CFI_MAX)
		return;
	d->cfi = xmemdup(bytes.at, bytes.left);
	d->cfi_bytes = bytes.left;
}

void code_details_inlined(struct code_details *d, uint64_t address, struct span bytes)
{
	free(STEAL(d->inlined));
	d->inlined_bytes = 0;
	if (bytes.left > JIT_INLINED_MAX)
		return;
	d->inlined = xmemdup(bytes.at, bytes.left);
	d->inlined_bytes = bytes.left;
	d->inlined_into = address;
}

bool code_details_any(const struct code_details *d)
{
	return d->line_count || d->cfi || d->inlined;
}

static enum unwind_machine machine_of(uint16_t machine)
{
	return machine == EM_AARCH64 ? UNWIND_AARCH64
	       : machine == EM_386   ? UNWIND_I386
				     : UNWIND_X86_64;
}

struct unwind_code_row *code_details_fill(const struct code_details *d, uint16_t machine,
					  struct jit_code *code)
{
	const struct unwind_cfi cfi = { machine_of(machine), code->size,
					span_of(d->cfi, d->cfi_bytes) };
	struct unwind_code_row *rows = NULL;

	if (d->line_count && d->lines[0].address - code->address < code->size) {
		code->lines = d->lines;
		code->line_count = d->line_count;
	}
	if (d->cfi)
		code->row_count = unwind_code_read(&cfi, &rows);
	code->rows = rows;
	if (d->inlined && d->inlined_into == code->address) {
		code->inlined = d->inlined;
		code->inlined_bytes = d->inlined_bytes;
	}
	return rows;
}

void code_details_drop_lines(struct code_details *d)
{
	while (d->file_count)
		free(d->files[--d->file_count]);
	d->line_count = 0;
}

void code_details_drop(struct code_details *d)
{
	code_details_drop_lines(d);
	free(STEAL(d->cfi));
	d->cfi_bytes = 0;
	free(STEAL(d->inlined));
	d->inlined_bytes = 0;
}

void code_details_done(struct code_details *d)
{
	code_details_drop(d);
	free(d->files);
	free(d->lines);
}
