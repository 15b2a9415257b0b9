/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "elf/elf_exports.h"

#include "elf/elffile.h"

#include <string.h>

/* The words at the start of the table: number of buckets, first symbol that is in it, words of its
 * Bloom filter, and a shift for that. The filter, the buckets and the chains follow. */
enum { BUCKETS, FIRST, BLOOM, SHIFT, HEADER_WORDS };

/* The table as words of this machine. */
struct table {
	const uint8_t *at;
	size_t words;
};

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (uint8_t)*name;
	return hash;
}

static bool word(const struct table *t, uint64_t i, uint32_t *ret)
{
	if (i >= t->words)
		return false;
	memcpy(ret, t->at + i * sizeof(*ret), sizeof(*ret));
	return true;
}

static bool find_table(const struct elffile *ef, struct table *ret)
{
	struct elf_section s;
	const Elf_Data *data;

	if (!elffile_find_section(ef, ".gnu.hash", &s) || s.header.sh_type != SHT_GNU_HASH ||
	    !(data = elffile_data(&s)) || !data->d_buf)
		return false;
	*ret = (struct table){ data->d_buf, data->d_size / sizeof(uint32_t) };
	return true;
}

bool elf_exports_may_have(const struct elffile *ef, const char *name)
{
	const uint32_t hash = hash_of(name);
	uint32_t head[HEADER_WORDS], found;
	uint64_t buckets, chains, i;
	struct table t;

	if (!find_table(ef, &t))
		return true;
	for (i = 0; i < HEADER_WORDS; i++)
		if (!word(&t, i, &head[i]))
			return true;
	buckets = HEADER_WORDS +
		  (uint64_t)head[BLOOM] * (gelf_getclass(elffile_elf(ef)) == ELFCLASS64 ? 2 : 1);
	chains = buckets + head[BUCKETS];
	if (!head[BUCKETS] || !word(&t, buckets + hash % head[BUCKETS], &found))
		return true;
	if (!found)
		return false;
	/* The last bit of a hash is set at the end of its chain. */
	for (i = found; i >= head[FIRST] && word(&t, chains + i - head[FIRST], &found); i++) {
		if ((found | 1) == (hash | 1))
			return true;
		if (found & 1)
			return false;
	}
	return true;
}

bool elf_exports_needs_others(const struct elffile *ef)
{
	struct elf_section s;
	Elf_Data *data;
	GElf_Dyn entry;
	int i;

	if (!elffile_find_section(ef, ".dynamic", &s) || s.header.sh_type != SHT_DYNAMIC ||
	    !(data = (Elf_Data *)elffile_data(&s)))
		return false;
	for (i = 0; i < ELFFILE_SYMBOLS_MAX && gelf_getdyn(data, i, &entry); i++) {
		if (entry.d_tag == DT_NEEDED)
			return true;
		if (entry.d_tag == DT_NULL)
			break;
	}
	return false;
}
