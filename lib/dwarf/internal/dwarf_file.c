/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dwarf/internal/dwarf_file.h"

#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "elf/elffile.h"

#include <dwarf.h>
#include <gelf.h>
#include <string.h>

/* Limit for cached tables of abbreviations that are not in use. */
enum { ABBREV_BYTES_MAX = 16 << 20 };

/* --- sections --- */

static enum dwarf_section section_called(const char *name, enum dwarf_kind kind)
{
	static const char *const names[] = {
#define X(section, text) [DWARF_SECTION_##section] = text,
		DWARF_SECTIONS(X)
#undef X
	};
	const char *tail = kind == DWARF_SPLIT ? ".dwo" : "";
	size_t i;

	if (strncmp(name, ".debug_", 7) && strncmp(name, ".zdebug_", 8))
		return DWARF_SECTION_COUNT_;
	name = strchr(name, '_') + 1;
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		size_t n = strlen(names[i]);

		/* The index of a package has a plain name. */
		if (!strncmp(name, names[i], n) &&
		    !strcmp(name + n, i == DWARF_SECTION_CU_INDEX ? "" : tail))
			return (enum dwarf_section)i;
	}
	return DWARF_SECTION_COUNT_;
}

/* Unpacks a section, if it is compressed; false if that fails. */
static bool unpack(Elf_Scn *scn, const char *name)
{
	const Elf_Data *data;
	GElf_Shdr header;
	int r = 0;

	if (gelf_getshdr(scn, &header) && header.sh_flags & SHF_COMPRESSED) {
		r = elf_compress(scn, 0, 0);
	} else if (name[1] == 'z') {
		/* An earlier reader of the file may have unpacked it. */
		data = elf_getdata(scn, NULL);
		if (data && data->d_buf && data->d_size >= 4 && !memcmp(data->d_buf, "ZLIB", 4))
			r = elf_compress_gnu(scn, 0, 0);
	}
	return r >= 0;
}

/* The section's bytes: from the mapped file, or unpacked by libelf. A section that libelf has
 * unpacked, now or for an earlier reader of the file, is not in the file as its header says. */
static struct span section_bytes(Elf *elf, Elf_Scn *scn, struct span map)
{
	size_t raw_size = 0;
	GElf_Shdr header;
	const Elf_Data *data;
	const char *raw;

	if (!gelf_getshdr(scn, &header) || header.sh_type == SHT_NOBITS)
		return span_of("", 0);
	data = elf_getdata(scn, NULL);
	if (!data)
		elffile_check_memory();
	if (!data || !data->d_buf)
		return span_of("", 0);
	raw = elf_rawfile(elf, &raw_size);
	if (raw && header.sh_offset <= map.left && data->d_size <= map.left - header.sh_offset &&
	    data->d_buf == raw + header.sh_offset)
		return span_of(map.at + header.sh_offset, data->d_size);
	return span_of(data->d_buf, data->d_size);
}

/* Whether any code is linked to the address 0. */
static bool has_code_at_zero(Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr header;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &header) && header.sh_flags & SHF_EXECINSTR &&
		    header.sh_size && !header.sh_addr)
			return true;
	return false;
}

static void read_units(struct dwarf_file *f);

struct dwarf_file *dwarf_file_new(Elf *elf, const char *path, enum dwarf_kind kind, struct span map)
{
	struct dwarf_file *f = xcalloc(1, sizeof(*f));
	const char *identity = elf_getident(elf, NULL);
	bool is_warned = false;
	unsigned int section;
	Elf_Scn *scn = NULL;
	GElf_Shdr header;
	size_t names;

	for (section = 0; section < DWARF_SECTION_COUNT_; section++)
		f->sections[section] = span_of("", 0);
	f->big = identity && identity[EI_DATA] == ELFDATA2MSB;
	f->drops_zero = !has_code_at_zero(elf);
	if (elf_getshdrstrndx(elf, &names) < 0)
		return f;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name =
			gelf_getshdr(scn, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;

		section = name ? section_called(name, kind) : DWARF_SECTION_COUNT_;
		if (section == DWARF_SECTION_COUNT_ || f->sections[section].left)
			continue;
		if (unpack(scn, name)) {
			f->sections[section] = section_bytes(elf, scn, map);
		} else if (!is_warned) {
			log_warn("%s: its section %s cannot be unpacked (%s); its debug "
				 "information is not read",
				 path, name, elf_errmsg(-1));
			is_warned = true;
		}
	}
	elffile_check_memory();
	read_units(f);
	return f;
}

struct dwarf_file *dwarf_file_of(const struct span sections[DWARF_SECTION_COUNT_], bool big)
{
	struct dwarf_file *f = xcalloc(1, sizeof(*f));

	memcpy(f->sections, sections, sizeof(f->sections));
	f->big = big;
	f->drops_zero = true;
	read_units(f);
	return f;
}

static void free_abbrevs(struct dwarf_file *f)
{
	map_for_each (&f->abbrevs, slot)
		dwarf_abbrevs_free(slot->value);
	map_done(&f->abbrevs);
	f->abbrev_bytes = 0;
}

void dwarf_file_free(struct dwarf_file *f)
{
	if (!f)
		return;
	free_abbrevs(f);
	free(f->units);
	free(f);
}

/* --- units --- */

/* Reads a unit's header at @offset; false if no further one can be found. */
static bool read_header(struct dwarf_file *f, uint64_t offset, struct dwarf_unit *u)
{
	struct dwarf_bytes b = dwarf_bytes_at(f->sections[DWARF_SECTION_INFO], offset, f->big);
	size_t all = b.in.left;
	uint64_t length = dwarf_length(&b, &u->shape.offset_size);

	u->file = f;
	u->offset = offset;
	u->end = offset + (all - b.in.left) + length;
	if (b.bad || length > b.in.left)
		return false;
	b.in.left = (size_t)length;
	u->shape.version = (uint8_t)MIN(dwarf_uint(&b, 2), (uint64_t)UINT8_MAX);
	if (u->shape.version >= 5) {
		u->type = (uint8_t)dwarf_uint(&b, 1);
		u->shape.address_size = (uint8_t)dwarf_uint(&b, 1);
		u->abbrevs = dwarf_uint(&b, u->shape.offset_size);
		if (u->type == DW_UT_skeleton || u->type == DW_UT_split_compile)
			u->id = dwarf_uint(&b, 8);
		else if (u->type == DW_UT_type || u->type == DW_UT_split_type)
			dwarf_skip(&b, 8 + u->shape.offset_size);
	} else {
		u->type = DW_UT_compile;
		u->abbrevs = dwarf_uint(&b, u->shape.offset_size);
		u->shape.address_size = (uint8_t)dwarf_uint(&b, 1);
	}
	u->entries = u->end - b.in.left;
	if (b.bad || u->shape.version < 2 || u->shape.version > 5)
		u->entries = u->end;
	return true;
}

static void read_units(struct dwarf_file *f)
{
	struct dwarf_unit unit = { .file = NULL };
	uint64_t offset = 0;

	while (offset < f->sections[DWARF_SECTION_INFO].left && read_header(f, offset, &unit)) {
		array_grow(&f->units, f->unit_count + 1, &f->unit_room);
		f->units[f->unit_count++] = unit;
		offset = unit.end;
		unit = (struct dwarf_unit){ .file = NULL };
	}
}

/* The offset after the header of a table in the unit's format: the base for a split unit, which has
 * its tables to itself. */
static uint64_t after_header(const struct dwarf_unit *u, uint64_t rest)
{
	return u->shape.version < 5 ? 0 : rest + (u->shape.offset_size == 8 ? 12 : 4);
}

static uint64_t base_of(const struct dwarf_unit *u, enum dwarf_fact fact, uint64_t otherwise)
{
	uint64_t number;

	return dwarf_number(&u->root[fact], &number) ? number : otherwise;
}

void dwarf_unit_open(struct dwarf_unit *u)
{
	struct dwarf_bytes b = dwarf_unit_bytes(u, u->entries);
	const struct dwarf_abbrev *a;
	struct dwarf_abbrevs *t;
	bool is_read;

	if (u->is_open)
		return;
	u->is_open = true;
	t = dwarf_unit_abbrevs(u);
	a = dwarf_abbrevs_find(t, dwarf_uleb(&b));
	is_read = a && dwarf_entry_read(&b, u, t, a, u->root);
	if (!is_read)
		memset(u->root, 0, sizeof(u->root));
	u->is_code = is_read && (a->tag == DW_TAG_compile_unit || a->tag == DW_TAG_skeleton_unit);
	dwarf_unit_done(t);
	u->strings_base = base_of(u, DWARF_STRINGS_BASE, after_header(u, 4));
	u->lists_base = base_of(u, DWARF_LISTS_BASE, after_header(u, 8));
	u->address_base = base_of(u, DWARF_ADDRESS_BASE, 0);
	u->ranges_base = base_of(u, DWARF_RANGES_BASE, 0);
	if (!u->id)
		u->id = base_of(u, DWARF_SPLIT_ID, 0);
	if (!dwarf_address(u, &u->root[DWARF_LOW_PC], &u->low_pc))
		u->low_pc = 0;
}

struct dwarf_unit *dwarf_file_unit(struct dwarf_file *f, uint64_t offset)
{
	size_t after = FIRST_NOT(i, 0, f->unit_count, f->units[i].offset <= offset);
	struct dwarf_unit *u = after ? &f->units[after - 1] : NULL;

	if (!u || offset < u->entries || offset >= u->end)
		return NULL;
	dwarf_unit_open(u);
	return u;
}

/* --- abbreviations --- */

/* Frees the tables that are not in use. */
static void forget_abbrevs(struct dwarf_file *f)
{
	struct map kept = MAP_INIT;

	f->abbrev_bytes = 0;
	map_for_each (&f->abbrevs, slot) {
		struct dwarf_abbrevs *t = slot->value;

		if (!t->users) {
			dwarf_abbrevs_free(t);
			continue;
		}
		(void)map_set(&kept, slot->key, t);
		f->abbrev_bytes += dwarf_abbrevs_bytes(t);
	}
	map_done(&f->abbrevs);
	f->abbrevs = kept;
}

struct dwarf_abbrevs *dwarf_unit_abbrevs(const struct dwarf_unit *u)
{
	struct dwarf_file *f = u->file;
	const struct dwarf_shape *s = &u->shape;
	/* Offsets are far below the 2^40 that leave room for the shape. */
	uint64_t key = hash_u64(u->abbrevs << 24 | (uint64_t)s->version << 16 |
				(uint64_t)s->address_size << 8 | s->offset_size);
	struct dwarf_abbrevs *t = map_get(&f->abbrevs, key);

	if (!t) {
		struct dwarf_bytes b =
			dwarf_bytes_at(f->sections[DWARF_SECTION_ABBREV], u->abbrevs, f->big);

		if (f->abbrev_bytes > ABBREV_BYTES_MAX)
			forget_abbrevs(f);
		t = dwarf_abbrevs_read(&b, s);
		f->abbrev_bytes += dwarf_abbrevs_bytes(t);
		(void)map_set(&f->abbrevs, key, t);
	}
	t->users++;
	return t;
}

void dwarf_unit_done(struct dwarf_abbrevs *t)
{
	t->users--;
}

struct dwarf_bytes dwarf_unit_bytes(const struct dwarf_unit *u, uint64_t offset)
{
	struct dwarf_bytes b =
		dwarf_bytes_at(u->file->sections[DWARF_SECTION_INFO], offset, u->file->big);

	if (offset < u->entries || offset > u->end)
		dwarf_bytes_fail(&b);
	b.in.left = MIN(b.in.left, (size_t)(u->end - offset));
	return b;
}
