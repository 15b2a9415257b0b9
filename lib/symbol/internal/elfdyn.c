/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/internal/elfdyn.h"

#include "elf/elffile.h"

/* The largest programs export some hundred thousand. A hole in a file reads as zeros, so the end of
 * a chain may never come. */
enum { SYMBOLS_MAX = 1 << 24 };

/* What the dynamic section says about the symbols; addresses are linked ones, 0: not there. */
struct dynamic {
	uint64_t symbols, names, names_size, hash, gnu_hash;
};

static void note(struct dynamic *d, const GElf_Dyn *entry)
{
	if (entry->d_tag == DT_SYMTAB)
		d->symbols = entry->d_un.d_ptr;
	else if (entry->d_tag == DT_STRTAB)
		d->names = entry->d_un.d_ptr;
	else if (entry->d_tag == DT_STRSZ)
		d->names_size = entry->d_un.d_val;
	else if (entry->d_tag == DT_HASH)
		d->hash = entry->d_un.d_ptr;
	else if (entry->d_tag == DT_GNU_HASH)
		d->gnu_hash = entry->d_un.d_ptr;
}

static bool read_dynamic(const struct elffile *ef, struct dynamic *ret)
{
	Elf *elf = elffile_elf(ef);
	size_t i, count = 0;
	Elf_Data *data;
	GElf_Dyn entry;
	GElf_Phdr ph;

	if (elf_getphdrnum(elf, &count) < 0)
		return false;
	for (i = 0; i < count; i++)
		if (gelf_getphdr(elf, (int)i, &ph) && ph.p_type == PT_DYNAMIC)
			break;
	if (i == count)
		return false;
	data = elffile_chunk(ef, ph.p_offset, ph.p_filesz, ELF_T_DYN);
	*ret = (struct dynamic){ 0 };
	for (i = 0; data && gelf_getdyn(data, (int)i, &entry) && entry.d_tag != DT_NULL; i++)
		note(ret, &entry);
	return ret->symbols && ret->names;
}

/* The 32-bit word number @i of a table at a linked address. */
static bool word_at(const struct elffile *ef, uint64_t table, uint64_t i, uint32_t *ret)
{
	const void *word;
	uint64_t offset;

	if (!elffile_offset(ef, table + i * 4, &offset) || !(word = elffile_bytes(ef, offset, 4)))
		return false;
	*ret = elffile_header(ef)->e_ident[EI_DATA] == ELFDATA2MSB ? get_be32(word)
								   : get_le32(word);
	return true;
}

/* The number of symbols according to DT_GNU_HASH: the last one is at the end of the chain that
 * starts last. */
static bool count_by_gnu_hash(const struct elffile *ef, uint64_t table, uint32_t *ret)
{
	uint32_t buckets, first, bloom_words, start, hash, last = 0, i;
	uint64_t at;

	if (!word_at(ef, table, 0, &buckets) || !word_at(ef, table, 1, &first) ||
	    !word_at(ef, table, 2, &bloom_words))
		return false;
	if (buckets > SYMBOLS_MAX)
		return false;
	at = 4 +
	     (uint64_t)bloom_words * (elffile_header(ef)->e_ident[EI_CLASS] == ELFCLASS64 ? 2 : 1);
	for (i = 0; i < buckets; i++, at++) {
		if (!word_at(ef, table, at, &start))
			return false;
		last = MAX(last, start);
	}
	for (; last >= first; last++) {
		if (last > SYMBOLS_MAX || !word_at(ef, table, at + last - first, &hash))
			return false;
		if (hash & 1)
			break;
	}
	*ret = MAX(last + 1, first);
	return true;
}

bool elfdyn_find(const struct elffile *ef, struct elfdyn *ret)
{
	Elf *elf = elffile_elf(ef);
	struct dynamic d;
	uint32_t count;
	uint64_t symbols, names;
	const char *text;

	if (!read_dynamic(ef, &d) || !elffile_offset(ef, d.symbols, &symbols) ||
	    !elffile_offset(ef, d.names, &names))
		return false;
	/* DT_HASH has a chain entry for each symbol. */
	if (!(d.hash && word_at(ef, d.hash, 1, &count)) &&
	    !(d.gnu_hash && count_by_gnu_hash(ef, d.gnu_hash, &count)))
		return false;
	text = elffile_bytes(ef, names, d.names_size);
	if (!text || !d.names_size || text[d.names_size - 1])
		return false;
	ret->count = MIN(count, (uint32_t)SYMBOLS_MAX);
	ret->names = span_of(text, d.names_size);
	ret->symbols = elffile_chunk(
		ef, symbols, ret->count * gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT), ELF_T_SYM);
	return ret->symbols;
}

const char *elfdyn_name(const struct elfdyn *dyn, const GElf_Sym *sym)
{
	return sym->st_name < dyn->names.left ? (const char *)dyn->names.at + sym->st_name : "";
}
