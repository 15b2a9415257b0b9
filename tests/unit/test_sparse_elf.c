/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ELF files of some bytes that claim to be very large: their tables are in holes, which read as
 * zeros and cost their maker nothing. */
#include "test.h"

#include "base/clock.h"
#include "elf/elffile.h"
#include "parser/parser.h"
#include "symbol/elfsym.h"
#include "unwind/unwind.h"

#include <elf.h>
#include <errno.h>
#include <sys/mman.h>

static const uint64_t names_at = 0x200, table_at = 0x400, data_at = 0x1000;
static const char names[] = "\0.shstrtab\0.eh_frame\0.note.go.buildid\0.symtab";
enum { SHSTRTAB = 1, EH_FRAME = 11, GO = 21, SYMTAB = 38 };

static void put(int fd, uint64_t at, const void *bytes, size_t size)
{
	CHECK_EQ(pwrite(fd, bytes, size, (off_t)at), size);
}

/* A file with these sections, in a hole where they are said to have contents; closed by the
 * caller. */
static int make(const Elf64_Shdr *sections, uint16_t count)
{
	const Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
				    .e_type = ET_DYN,
				    .e_machine = EM_X86_64,
				    .e_version = 1,
				    .e_phoff = 64,
				    .e_shoff = table_at,
				    .e_ehsize = 64,
				    .e_phentsize = 56,
				    .e_phnum = 1,
				    .e_shentsize = 64,
				    .e_shnum = count,
				    .e_shstrndx = 1 };
	const Elf64_Phdr code = {
		.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = data_at, .p_memsz = data_at
	};
	int fd = memfd_create("sparse", MFD_CLOEXEC);

	put(fd, 0, &header, sizeof(header));
	put(fd, header.e_phoff, &code, sizeof(code));
	put(fd, names_at, names, sizeof(names));
	put(fd, table_at, sections, MAX(count, (uint16_t)1) * sizeof(*sections));
	CHECK_EQ(ftruncate(fd, (off_t)64 << 30), 0);
	return fd;
}

static const Elf64_Shdr string_table = {
	.sh_name = SHSTRTAB, .sh_type = SHT_STRTAB, .sh_offset = 0x200, .sh_size = sizeof(names)
};

/* Has the file read; returns the CPU time that it took, in ms. */
static uint64_t read_table(int fd, int expected)
{
	_cleanup_(parser_freep) struct parser *p = NULL;
	_cleanup_(unwind_rules_freep) struct unwind_rules *rules = unwind_rules_new();
	_cleanup_(unwind_table_freep) struct unwind_table *table = NULL;

	CHECK_EQ(parser_new(&p, NULL), 0);
	CHECK_EQ(parser_table(p, fd, rules, &table, NULL), expected);
	CHECK_EQ(parser_lost(p), 0);
	return parser_cpu(p) / 1000000;
}

static void more_sections_than_any_program_has_are_refused(void)
{
	const Elf64_Shdr first = { .sh_size = 3000000 };
	_cleanup_close_ int fd = make(&first, 0);
	struct error err = ERROR_INIT;
	struct elffile *ef;

	CHECK_EQ(elffile_open_fd(dup(fd), "hostile", &ef, &err), -EBADMSG);
	CHECK_STR(err.text, "hostile: has more than 65535 sections");
	CHECK(read_table(fd, -EBADMSG) < 1000);
}

static void a_hole_ends_eh_frame(void)
{
	const Elf64_Shdr sections[] = { { 0 },
					string_table,
					{ .sh_name = EH_FRAME,
					  .sh_type = SHT_PROGBITS,
					  .sh_flags = SHF_ALLOC,
					  .sh_addr = 0x2000,
					  .sh_offset = data_at,
					  .sh_size = (uint64_t)32 << 30 } };
	_cleanup_close_ int fd = make(sections, ARRAY_SIZE(sections));

	CHECK(read_table(fd, -ENODATA) < 1000);
}

static void a_table_of_billions_of_symbols_is_not_read(void)
{
	const Elf64_Shdr sections[] = { { 0 },
					string_table,
					{ .sh_name = EH_FRAME,
					  .sh_type = SHT_PROGBITS,
					  .sh_flags = SHF_ALLOC,
					  .sh_addr = 0x2000,
					  .sh_offset = data_at,
					  .sh_size = 64 },
					{ .sh_name = GO, .sh_type = SHT_NOTE, .sh_size = 4 },
					{ .sh_name = SYMTAB,
					  .sh_type = SHT_SYMTAB,
					  .sh_link = 1,
					  .sh_offset = 2 * data_at,
					  .sh_size = (uint64_t)24 << 30,
					  .sh_entsize = 24 } };
	/* A CIE and an FDE of 16 bytes of code. */
	static const uint8_t frame[] = { 20,   0,    0,	   0,  0, 0,	0,    0, 1, 'z',  'R',
					 0,    1,    0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1,
					 0,    0,    16,   0,  0, 0,	28,   0, 0, 0,	  0,
					 0xe0, 0xff, 0xff, 16, 0, 0,	0,    0, 0, 0,	  0 };
	_cleanup_close_ int fd = make(sections, ARRAY_SIZE(sections));

	put(fd, data_at, frame, sizeof(frame));
	CHECK(read_table(fd, 0) < 1000);
}

/* The end of the symbols is marked in the last chain of their hash table. */
static void an_endless_chain_of_symbols_ends(void)
{
	static const Elf64_Phdr segments[] = {
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R | PF_X,
		  .p_filesz = (uint64_t)64 << 30,
		  .p_memsz = (uint64_t)64 << 30 },
		{ .p_type = PT_DYNAMIC, .p_offset = 0x300, .p_filesz = 5 * sizeof(Elf64_Dyn) },
	};
	static const Elf64_Dyn dynamic[] = { { DT_SYMTAB, { 0x100000 } },
					     { DT_STRTAB, { 0x100000 } },
					     { DT_STRSZ, { 16 } },
					     { DT_GNU_HASH, { 0x200000 } } };
	static const uint32_t hash[] = { 1, 0, 0, 0 };
	const uint16_t count = ARRAY_SIZE(segments), none = 0;
	_cleanup_close_ int fd = make(&string_table, 0);
	_cleanup_(symtab_freep) struct symtab *st = symtab_new();
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	uint64_t since = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	put(fd, offsetof(Elf64_Ehdr, e_phnum), &count, sizeof(count));
	put(fd, offsetof(Elf64_Ehdr, e_shoff), &(uint64_t){ 0 }, sizeof(uint64_t));
	put(fd, offsetof(Elf64_Ehdr, e_shstrndx), &none, sizeof(none));
	put(fd, 64, segments, sizeof(segments));
	put(fd, 0x300, dynamic, sizeof(dynamic));
	put(fd, 0x200000, hash, sizeof(hash));
	CHECK_EQ(elffile_open_fd(dup(fd), "hostile", &ef, NULL), 0);
	CHECK_EQ(elfsym_load(ef, NULL, ELFSYM_FILE_OFFSET, st), 0);
	CHECK(clock_ns(CLOCK_THREAD_CPUTIME_ID) - since < 5 * NS_PER_S);
}

TESTS(T(more_sections_than_any_program_has_are_refused), T(a_hole_ends_eh_frame),
      T(a_table_of_billions_of_symbols_is_not_read), T(an_endless_chain_of_symbols_ends))
