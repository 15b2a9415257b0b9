/* SPDX-License-Identifier: GPL-2.0-or-later */
/* disasm_dump FILE [START END]: disassembles all code of an ELF file, or that between two
 * addresses, one instruction per line ("ADDRESS TEXT"), starting again at every symbol as objdump
 * does; for disasm.py. */
#include "base/mem.h"
#include "base/parse.h"
#include "disasm/disasm.h"
#include "symbol/elfsym.h"

#include <inttypes.h>
#include <stdio.h>

static int compare_u64(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

static void print_range(struct disasm *d, uint64_t start, uint64_t end)
{
	struct disasm_insn insn;

	if (!disasm_seek(d, start, end))
		return;
	while (disasm_next(d, &insn))
		printf("%" PRIx64 " %s\n", insn.address, insn.text);
}

/* Prints the part of a section inside @limits, from the addresses in @starts that are there, in
 * their order. */
static void print_section(struct disasm *d, const struct elf_section *s, const uint64_t *starts,
			  size_t count, const uint64_t limits[2])
{
	uint64_t at = MAX((uint64_t)s->header.sh_addr, limits[0]);
	uint64_t end = MIN((uint64_t)(s->header.sh_addr + s->header.sh_size), limits[1]);
	size_t i;

	for (i = 0; i < count; i++) {
		if (starts[i] <= at || starts[i] >= end)
			continue;
		print_range(d, at, starts[i]);
		at = starts[i];
	}
	print_range(d, at, end);
}

int main(int argc, char **argv)
{
	_cleanup_(symtab_freep) struct symtab *st = symtab_new();
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	_cleanup_(disasm_freep) struct disasm *d = NULL;
	_cleanup_free_ uint64_t *starts = NULL;
	uint64_t limits[2] = { 0, UINT64_MAX };
	struct error err = ERROR_INIT;
	struct elf_section s;
	size_t i;

	if (argc == 4 && (parse_u64(argv[2], 0, UINT64_MAX, &limits[0]) < 0 ||
			  parse_u64(argv[3], 0, UINT64_MAX, &limits[1]) < 0))
		return 2;
	if (argc < 2 || elffile_open(argv[1], &ef, &err) < 0 ||
	    disasm_new(ef, NULL, NULL, NULL, &d, &err) < 0) {
		fprintf(stderr, "disasm_dump: %s\n", err.text);
		return 1;
	}
	(void)elfsym_load(ef, NULL, ELFSYM_FILE_OFFSET, st);
	symtab_settle(st);
	starts = xcalloc(symtab_count(st) + 1, sizeof(*starts));
	for (i = 0; i < symtab_count(st); i++)
		starts[i] = symtab_at(st, i)->address;
	qsort(starts, symtab_count(st), sizeof(*starts), compare_u64);
	for (i = 0; i < elffile_section_count(ef); i++)
		if (elffile_section(ef, i, &s) && s.header.sh_flags & SHF_EXECINSTR)
			print_section(d, &s, starts, symtab_count(st), limits);
	return 0;
}
