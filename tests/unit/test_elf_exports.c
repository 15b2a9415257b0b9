/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hash table of dynamic symbols, in a file of three sections that is made here. */
#include "test.h"

#include "elf/elf_exports.h"
#include "elf/elffile.h"

#include <elf.h>
#include <stddef.h>

/* Hashes of these names. */
enum { ALPHA = 0x0f176c2b, BETA = 0x7c9489a1 };

static const char names[] = "\0.gnu.hash\0.dynamic\0.shstrtab";
enum { NAME_HASH = 1, NAME_DYNAMIC = 11, NAME_NAMES = 20, SECTIONS = 4 };

struct image {
	Elf64_Ehdr header;
	Elf64_Shdr sections[SECTIONS];
	struct {
		uint32_t buckets, first, bloom_words, shift;
		uint64_t bloom;
		uint32_t bucket, chain[2];
	} hash;
	Elf64_Dyn dynamic[2];
	char names[sizeof(names)];
};

static Elf64_Shdr section(uint32_t name, uint32_t type, size_t offset, size_t size)
{
	return (Elf64_Shdr){ .sh_name = name,
			     .sh_type = type,
			     .sh_offset = offset,
			     .sh_size = size,
			     .sh_link = SECTIONS - 1,
			     .sh_addralign = 8,
			     .sh_entsize = type == SHT_DYNAMIC ? sizeof(Elf64_Dyn) : 0 };
}

/* A library with the dynamic symbols alpha and beta, which needs another. */
static struct image make_image(void)
{
	struct image i = { .header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64,
						    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
							    ? ELFDATA2LSB
							    : ELFDATA2MSB,
						    EV_CURRENT },
				       .e_type = ET_DYN,
				       .e_machine = EM_X86_64,
				       .e_version = EV_CURRENT,
				       .e_ehsize = sizeof(Elf64_Ehdr),
				       .e_shoff = offsetof(struct image, sections),
				       .e_shentsize = sizeof(Elf64_Shdr),
				       .e_shnum = SECTIONS,
				       .e_shstrndx = SECTIONS - 1 },
			   .hash = { 1, 1, 1, 0, 0, 1, { ALPHA & ~1, BETA | 1 } },
			   .dynamic = { { .d_tag = DT_NEEDED }, { .d_tag = DT_NULL } } };

	i.sections[1] = section(NAME_HASH, SHT_GNU_HASH, offsetof(struct image, hash),
				offsetof(struct image, hash.chain) + sizeof(i.hash.chain) -
					offsetof(struct image, hash));
	i.sections[2] = section(NAME_DYNAMIC, SHT_DYNAMIC, offsetof(struct image, dynamic),
				sizeof(i.dynamic));
	i.sections[3] =
		section(NAME_NAMES, SHT_STRTAB, offsetof(struct image, names), sizeof(names));
	memcpy(i.names, names, sizeof(names));
	return i;
}

static struct elffile *open_image(struct image *i)
{
	struct elffile *ef = NULL;

	CHECK_EQ(elffile_open_memory(i, sizeof(*i), "image", &ef, NULL), 0);
	return ef;
}

static bool may_have(struct image i, const char *name)
{
	_cleanup_(elffile_closep) struct elffile *ef = open_image(&i);

	return elf_exports_may_have(ef, name);
}

static bool needs_others(struct image i)
{
	_cleanup_(elffile_closep) struct elffile *ef = open_image(&i);

	return elf_exports_needs_others(ef);
}

static void a_name_that_is_not_in_the_table_is_not_exported(void)
{
	const struct image i = make_image();

	CHECK(may_have(i, "alpha"));
	CHECK(may_have(i, "beta"));
	CHECK(!may_have(i, "gamma"));
	CHECK(!may_have(i, ""));
}

static void an_empty_bucket_has_no_names(void)
{
	struct image i = make_image();

	i.hash.bucket = 0;
	CHECK(!may_have(i, "alpha"));
}

static void without_an_intact_table_all_may_be_exported(void)
{
	struct image i = make_image();

	i.sections[1].sh_type = SHT_PROGBITS;
	CHECK(may_have(i, "gamma"));

	i = make_image();
	i.sections[1].sh_size = 8;
	CHECK(may_have(i, "gamma"));

	i = make_image();
	i.hash.buckets = 0;
	CHECK(may_have(i, "gamma"));

	i = make_image();
	i.hash.bloom_words = UINT32_MAX;
	CHECK(may_have(i, "gamma"));

	/* A chain that does not end, and one that starts before the table. */
	i = make_image();
	i.hash.chain[1] &= ~1u;
	CHECK(may_have(i, "gamma"));

	i = make_image();
	i.hash.first = 2;
	CHECK(may_have(i, "gamma"));
}

static void what_is_needed_is_in_the_dynamic_section(void)
{
	struct image i = make_image();

	CHECK(needs_others(i));
	i.dynamic[0].d_tag = DT_NULL;
	i.dynamic[1].d_tag = DT_NEEDED;
	CHECK(!needs_others(i));
	i.sections[2].sh_type = SHT_PROGBITS;
	CHECK(!needs_others(i));
}

TESTS(T(a_name_that_is_not_in_the_table_is_not_exported), T(an_empty_bucket_has_no_names),
      T(without_an_intact_table_all_may_be_exported), T(what_is_needed_is_in_the_dynamic_section))
