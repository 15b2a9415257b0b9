/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "interpreter/java_layout.h"

#include "base/macro.h"
#include "base/mem.h"
#include "elf/elffile.h"
#include "interpreter/interpreter_symbols.h"

#include <stdlib.h>
#include <string.h>

enum symbol { SYMBOL_STRUCTS, SYMBOL_TYPES, SYMBOL_COUNT_ };

/* Pointers to the tables, exported for debuggers. */
static const char *const symbol_names[] = {
	[SYMBOL_STRUCTS] = "gHotSpotVMStructs",
	[SYMBOL_TYPES] = "gHotSpotVMTypes",
};
static_assert(ARRAY_SIZE(symbol_names) == SYMBOL_COUNT_, "one name each");

/* The words of an entry (JDK: src/hotspot/share/runtime/vmStructs.hpp). */
enum {
	STRUCT_WORDS = JAVA_ENTRY_BYTES / 8,
	STRUCT_TYPE = 0,
	STRUCT_FIELD = 1,
	STRUCT_FIELD_TYPE = 2,
	STRUCT_ADDRESS = 5, /* of a static member */
	TYPE_WORDS = 5,
	TYPE_NAME = 0,
	TYPE_SIZE = 4,
};

struct member {
	const char *type, *field;
};

/* The names of the members; in older versions they may be called as in ->before. */
static const struct {
	struct member now, before;
	bool is_optional;
} members[] = {
	[JAVA_HEAP_MEMORY] = { { "CodeHeap", "_memory" } },
	[JAVA_HEAP_MAP] = { { "CodeHeap", "_segmap" } },
	[JAVA_HEAP_SHIFT] = { { "CodeHeap", "_log2_segment_size" } },
	[JAVA_SPACE_START] = { { "VirtualSpace", "_low_boundary" } },
	[JAVA_SPACE_END] = { { "VirtualSpace", "_high_boundary" } },
	[JAVA_LIST_LENGTH] = { { "GrowableArrayBase", "_len" },
			       { "GenericGrowableArray", "_len" } },
	[JAVA_LIST_DATA] = { { "GrowableArray<int>", "_data" } },
	[JAVA_BLOB_NAME] = { { "CodeBlob", "_name" } },
	[JAVA_BLOB_FRAME] = { { "CodeBlob", "_frame_size" } },
	[JAVA_BLOB_COMPLETE] = { { "CodeBlob", "_frame_complete_offset" } },
	[JAVA_BLOB_CODE] = { { "CodeBlob", "_code_offset" }, { "CodeBlob", "_code_begin" } },
	[JAVA_BLOB_DATA] = { { "CodeBlob", "_data_offset" }, .is_optional = true },
	[JAVA_BLOB_METHOD] = { { "nmethod", "_method" },
			       { "CompiledMethod", "_method" },
			       .is_optional = true },
	[JAVA_BLOB_COMPILE] = { { "nmethod", "_compile_id" }, .is_optional = true },
	[JAVA_METHOD_CONST] = { { "Method", "_constMethod" } },
	[JAVA_CONST_POOL] = { { "ConstMethod", "_constants" } },
	[JAVA_CONST_BYTES] = { { "ConstMethod", "_code_size" } },
	[JAVA_CONST_NAME] = { { "ConstMethod", "_name_index" } },
	[JAVA_CONST_SIGNATURE] = { { "ConstMethod", "_signature_index" } },
	[JAVA_CONST_SIZE] = { { "ConstMethod", "_constMethod_size" }, .is_optional = true },
	[JAVA_CONST_FLAGS] = { { "ConstMethod", "_flags._flags" },
			       { "ConstMethod", "_flags" },
			       .is_optional = true },
	[JAVA_POOL_HOLDER] = { { "ConstantPool", "_pool_holder" } },
	[JAVA_POOL_SOURCE] = { { "ConstantPool", "_source_file_name_index" }, .is_optional = true },
	[JAVA_KLASS_NAME] = { { "Klass", "_name" } },
	[JAVA_SYMBOL_LENGTH] = { { "Symbol", "_length" } },
	[JAVA_SYMBOL_BODY] = { { "Symbol", "_body" } },
};
static_assert(ARRAY_SIZE(members) == JAVA_FIELD_COUNT_, "one row each");

/* --- the file's data --- */

/* Words of the file as they are in memory, but with addresses as they were linked. */
struct words {
	uint64_t start; /* address */
	uint64_t *all;
	size_t count;
};

static void words_done(struct words *w)
{
	free(w->all);
}

/* Puts addresses where the dynamic loader would put them. */
static void relocate(struct words *w, const struct elf_section *table)
{
	Elf_Data *data = (Elf_Data *)elffile_data(table);
	GElf_Rela rela;
	int i;

	for (i = 0; data && gelf_getrela(data, i, &rela); i++)
		if (rela.r_offset - w->start < w->count * 8 &&
		    (rela.r_offset - w->start) % 8 == 0 &&
		    GELF_R_TYPE(rela.r_info) == R_X86_64_RELATIVE)
			w->all[(rela.r_offset - w->start) / 8] = (uint64_t)rela.r_addend;
}

/* Reads up to @count words at the linked @address; fewer if their section ends. */
static bool words_read(struct words *w, const struct elffile *ef, uint64_t address, size_t count)
{
	struct elf_section section;
	const void *bytes;
	uint64_t offset;
	size_t i, n;

	for (i = 0; i < elffile_section_count(ef); i++)
		if (elffile_section(ef, i, &section) && section.header.sh_type == SHT_PROGBITS &&
		    address - section.header.sh_addr < section.header.sh_size)
			break;
	if (i == elffile_section_count(ef) || !elffile_offset(ef, address, &offset))
		return false;
	n = MIN(count, (section.header.sh_size - (address - section.header.sh_addr)) / 8);
	bytes = n ? elffile_bytes(ef, offset, n * 8) : NULL;
	if (!bytes)
		return false;
	w->start = address;
	w->count = n;
	w->all = xmalloc(n * 8);
	memcpy(w->all, bytes, n * 8);
	for (i = 0; i < elffile_section_count(ef); i++)
		if (elffile_section(ef, i, &section) && section.header.sh_type == SHT_RELA)
			relocate(w, &section);
	return true;
}

/* Reads the table that the pointer @symbol points to. */
static bool read_table(struct words *ret, const struct elffile *ef, const GElf_Sym *symbol,
		       size_t entry_words)
{
	_cleanup_(words_done) struct words pointer = { 0 };

	return symbol->st_value && words_read(&pointer, ef, symbol->st_value, 1) &&
	       words_read(ret, ef, pointer.all[0], JAVA_ENTRIES_MAX * entry_words);
}

static bool is_text(const struct elffile *ef, uint64_t address, const char *text)
{
	const size_t size = strlen(text) + 1;
	const char *bytes;
	uint64_t offset;

	if (!address || !elffile_offset(ef, address, &offset))
		return false;
	bytes = elffile_bytes(ef, offset, size);
	return bytes && !memcmp(bytes, text, size);
}

/* --- the tables --- */

/* The index of the entry about a member; JAVA_NO_ENTRY if there is none. */
static uint16_t find_member(const struct words *table, const struct elffile *ef,
			    const struct member *m)
{
	size_t i;

	for (i = 0; m->type && (i + 1) * STRUCT_WORDS <= table->count; i++) {
		const uint64_t *entry = table->all + i * STRUCT_WORDS;

		if (!entry[STRUCT_TYPE])
			break;
		if (is_text(ef, entry[STRUCT_TYPE], m->type) &&
		    is_text(ef, entry[STRUCT_FIELD], m->field))
			return (uint16_t)i;
	}
	return JAVA_NO_ENTRY;
}

/* The address of a static member; 0 if there is none. */
static uint64_t find_static(const struct words *table, const struct elffile *ef,
			    const struct member *m)
{
	uint16_t i = find_member(table, ef, m);

	return i == JAVA_NO_ENTRY ? 0 : table->all[i * STRUCT_WORDS + STRUCT_ADDRESS];
}

/* The size of a type; 0 if it is not known, or too big. */
static uint16_t find_size(const struct words *table, const struct elffile *ef, const char *name)
{
	size_t i;

	for (i = 0; (i + 1) * TYPE_WORDS <= table->count; i++) {
		const uint64_t *entry = table->all + i * TYPE_WORDS;

		if (!entry[TYPE_NAME])
			break;
		if (is_text(ef, entry[TYPE_NAME], name))
			return entry[TYPE_SIZE] <= UINT16_MAX ? (uint16_t)entry[TYPE_SIZE] : 0;
	}
	return 0;
}

/* The version, a static int. */
static uint16_t find_version(const struct words *table, const struct elffile *ef)
{
	static const struct member member = { "Abstract_VM_Version", "_vm_major_version" };
	uint64_t address = find_static(table, ef, &member), offset;
	const void *bytes;
	uint16_t version = 0;

	if (address && elffile_offset(ef, address, &offset)) {
		bytes = elffile_bytes(ef, offset, sizeof(version));
		if (bytes)
			memcpy(&version, bytes, sizeof(version));
	}
	return version;
}

static void find_members(const struct words *table, const struct elffile *ef,
			 struct java_layout *ret)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(members); i++) {
		ret->entries[i] = find_member(table, ef, &members[i].now);
		ret->is_offset |= i == JAVA_BLOB_CODE && ret->entries[i] != JAVA_NO_ENTRY;
		if (ret->entries[i] == JAVA_NO_ENTRY)
			ret->entries[i] = find_member(table, ef, &members[i].before);
	}
	i = ret->entries[JAVA_BLOB_COMPLETE];
	ret->is_short = i != JAVA_NO_ENTRY &&
			is_text(ef, table->all[i * STRUCT_WORDS + STRUCT_FIELD_TYPE], "int16_t");
}

bool java_layout_read(const struct elffile *ef, uint64_t base, struct java_layout *ret)
{
	static const struct member heaps = { "CodeCache", "_heaps" };
	_cleanup_(words_done) struct words structs = { 0 }, types = { 0 };
	GElf_Sym s[SYMBOL_COUNT_];
	struct java_layout layout = { 0 };
	uint64_t offset, address;

	if (elffile_header(ef)->e_ident[EI_CLASS] != ELFCLASS64 ||
	    !interpreter_symbols_find(ef, symbol_names, SYMBOL_COUNT_, s) ||
	    !elffile_offset(ef, s[SYMBOL_STRUCTS].st_value, &offset))
		return false;
	*ret = layout;
	if (elffile_header(ef)->e_machine != EM_X86_64 ||
	    !read_table(&structs, ef, &s[SYMBOL_STRUCTS], STRUCT_WORDS) ||
	    !read_table(&types, ef, &s[SYMBOL_TYPES], TYPE_WORDS))
		return true;
	layout.table = (int64_t)(structs.start - base);
	layout.pointer = (int64_t)(s[SYMBOL_STRUCTS].st_value - base);
	layout.data = (int64_t)(s[SYMBOL_STRUCTS].st_value - base - offset);
	address = find_static(&structs, ef, &heaps);
	layout.heaps = (int64_t)(address - base);
	find_members(&structs, ef, &layout);
	layout.version = find_version(&structs, ef);
	layout.block_bytes = find_size(&types, ef, "HeapBlock");
	layout.const_bytes = find_size(&types, ef, "ConstMethod");
	layout.pool_bytes = find_size(&types, ef, "ConstantPool");
	layout.is_known = address != 0;
	if (!java_layout_makes_sense(&layout))
		layout.is_known = 0;
	*ret = layout;
	return true;
}

bool java_layout_makes_sense(const struct java_layout *l)
{
	size_t i;

	if (!l->is_known)
		return true; /* nothing of it is used */
	for (i = 0; i < JAVA_FIELD_COUNT_; i++)
		if (l->entries[i] >= JAVA_ENTRIES_MAX &&
		    (l->entries[i] != JAVA_NO_ENTRY || !members[i].is_optional))
			return false;
	return l->is_known == 1 && l->is_offset <= 1 && l->is_short <= 1 && l->block_bytes &&
	       l->block_bytes <= 64 && l->const_bytes && l->const_bytes <= 256 && l->pool_bytes &&
	       l->pool_bytes <= 256;
}
