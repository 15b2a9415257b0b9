/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dwarf/internal/dwarf_units.h"

#include "base/mem.h"
#include "file/open_regular.h"
#include "elf/debugfile.h"
#include "elf/elf_packed.h"
#include "dwarf/internal/dwarf_ranges.h"
#include "dwarf/internal/dwarf_split.h"
#include "dwarf/internal/nested_ranges.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The address of a section of a relocatable file: ours, and that of its debug information. */
struct moved {
	uint64_t start, end, there;
};

/* Limit for pages of the file in memory that were read and are not needed again. */
enum { READ_MAX = 32 << 20 };

struct dwarf_units {
	struct dwarf_file *file;
	Dwfl *dwfl; /* holds its sections if the file is relocatable; else NULL */
	struct moved *moved;
	size_t moved_count;
	void *map; /* the file, or NULL */
	size_t map_size;
	uint64_t read;		    /* bytes of it since they were given back */
	struct nested_ranges units; /* numbers of units, by address */
	struct elffile *alt;
	struct dwarf_file *alt_file;
	struct dwarf_split *split; /* NULL until needed */
	char *path, *debug_path;
};

static bool has_lines(const struct elffile *ef)
{
	struct elf_section s;

	return elffile_find_section(ef, ".debug_line", &s) ||
	       elffile_find_section(ef, ".zdebug_line", &s);
}

/* --- relocatable files --- */

static int find_no_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
			     const char *file, const char *link, GElf_Word crc, char **ret)
{
	(void)module, (void)data, (void)name, (void)base, (void)file, (void)link, (void)crc;
	*ret = NULL;
	return -1;
}

static const Dwfl_Callbacks callbacks = { .find_debuginfo = find_no_debuginfo,
					  .section_address = dwfl_offline_section_address };

/* libdwfl lays out all sections; we only those with code, as the kernel does. */
static void note_sections(struct dwarf_units *d, const struct elffile *ef, Elf *laid_out)
{
	size_t i, n = elffile_section_count(ef);

	d->moved = xcalloc(n + 1, sizeof(*d->moved));
	for (i = 0; i < n; i++) {
		uint64_t base = elffile_section_base(ef, i);
		Elf_Scn *scn = elf_getscn(laid_out, i);
		struct elf_section s;
		GElf_Shdr there;

		if (!elffile_section(ef, i, &s) || !elffile_section_is_code(ef, &s) || !scn ||
		    !gelf_getshdr(scn, &there))
			continue;
		d->moved[d->moved_count++] =
			(struct moved){ base, base + s.header.sh_size, there.sh_addr };
	}
}

/* As elffile_check_memory(), for libdwfl. */
static void check_memory(void)
{
	int code = dwfl_errno();

	if (code && !strcmp(dwfl_errmsg(code), "out of memory"))
		mem_exhausted();
}

static bool open_relocatable(struct dwarf_units *d, const struct elffile *ef)
{
	Dwfl_Module *module;
	GElf_Addr bias;
	Elf *elf;
	int fd;

	d->dwfl = dwfl_begin(&callbacks);
	if (!d->dwfl)
		mem_exhausted();
	fd = open_regular(elffile_path(ef), O_RDONLY);
	if (fd < 0)
		return false;
	module = dwfl_report_elf(d->dwfl, "module", elffile_path(ef), fd, 0, false);
	if (!module) /* otherwise it owns the descriptor */
		(void)close(fd);
	(void)dwfl_report_end(d->dwfl, NULL, NULL);
	elf = module ? dwfl_module_getelf(module, &bias) : NULL;
	/* Getting its DWARF makes libdwfl relocate it. */
	if (!elf || !dwfl_module_getdwarf(module, &bias)) {
		check_memory();
		return false;
	}
	d->file = dwarf_file_new(elf, elffile_path(ef), DWARF_WHOLE, span_of(NULL, 0));
	note_sections(d, ef, elf);
	return true;
}

/* The address in the debug information of a relocatable file; false if no code is there. */
static bool move(const struct dwarf_units *d, uint64_t *address)
{
	size_t i;

	if (!d->dwfl)
		return true;
	for (i = 0; i < d->moved_count; i++) {
		if (*address < d->moved[i].start || *address >= d->moved[i].end)
			continue;
		*address += d->moved[i].there - d->moved[i].start;
		return true;
	}
	return false;
}

/* An ELF subset (oparchive --compact) has its own lines. */
static bool is_relocated(const struct elffile *ef)
{
	struct elf_section s;

	return elffile_header(ef)->e_type != ET_REL ||
	       elffile_find_section(ef, ELFFILE_ORIGINAL, &s);
}

/* Maps the file, so that pages can be released, which libelf's mapping does not allow. */
static void map_file(struct dwarf_units *d, const struct elffile *ef)
{
	int fd = elffile_fd(ef);
	struct stat st;
	void *map;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size <= 0)
		return;
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return;
	d->map = map;
	d->map_size = (size_t)st.st_size;
}

static bool open_file(struct dwarf_units *d, const struct elffile *ef)
{
	struct build_id id;

	if (!ef || !has_lines(ef) || !elf_packed_fits(ef))
		return false;
	if (!is_relocated(ef)) {
		if (!open_relocatable(d, ef))
			return false;
	} else {
		map_file(d, ef);
		d->file = dwarf_file_new(elffile_elf(ef), elffile_path(ef), DWARF_WHOLE,
					 span_of(d->map, d->map_size));
	}
	if (debugfile_alt(ef, &id, &d->alt) == 0 && elf_packed_fits(d->alt))
		d->file->alt = d->alt_file = dwarf_file_new(
			elffile_elf(d->alt), elffile_path(d->alt), DWARF_WHOLE, span_of(NULL, 0));
	return true;
}

/* --- units --- */

struct adding {
	struct nested_ranges *units;
	uint32_t number;
};

static void add_range(uint64_t start, uint64_t end, void *data)
{
	const struct adding *adding = data;

	nested_ranges_add(adding->units, start, end, 0, adding->number);
}

/* Notes the address ranges of each unit, from .debug_info: clang does not write .debug_aranges. */
static void read_units(struct dwarf_units *d)
{
	size_t i;

	for (i = 0; i < d->file->unit_count; i++) {
		struct dwarf_unit *u = &d->file->units[i];
		struct adding adding = { &d->units, (uint32_t)i };

		dwarf_unit_open(u);
		if (u->is_code)
			(void)dwarf_ranges_each(u, u->root, add_range, &adding);
	}
	nested_ranges_settle(&d->units);
}

struct dwarf_units *dwarf_units_new(const struct elffile *ef, const struct elffile *debug)
{
	_cleanup_(dwarf_units_freep) struct dwarf_units *d = xcalloc(1, sizeof(*d));

	if (!open_file(d, debug) && !open_file(d, ef))
		return NULL;
	d->path = xstrdup(elffile_path(ef));
	d->debug_path = debug ? xstrdup(elffile_path(debug)) : NULL;
	read_units(d);
	return STEAL(d);
}

void dwarf_units_free(struct dwarf_units *d)
{
	if (!d)
		return;
	dwarf_split_free(d->split);
	dwarf_file_free(d->file);
	dwarf_file_free(d->alt_file);
	elffile_close(d->alt);
	if (d->dwfl)
		dwfl_end(d->dwfl);
	if (d->map)
		(void)munmap(d->map, d->map_size);
	nested_ranges_done(&d->units);
	free(d->moved);
	free(d->path);
	free(d->debug_path);
	free(d);
}

struct dwarf_unit *dwarf_units_unit(struct dwarf_units *d, uint64_t *address)
{
	uint64_t there = *address;
	uint32_t number;

	if (!move(d, &there) || !nested_ranges_find(&d->units, there, &number))
		return NULL;
	*address = there;
	return &d->file->units[number];
}

struct dwarf_unit *dwarf_units_entries(struct dwarf_units *d, struct dwarf_unit *u)
{
	if (!dwarf_is_skeleton(u))
		return u;
	if (!d->split)
		d->split = dwarf_split_new(d->path, d->debug_path);
	return dwarf_split_find(d->split, u);
}

void dwarf_units_read(struct dwarf_units *d, uint64_t size)
{
	d->read += size;
	if (!d->map || d->read < READ_MAX)
		return;
	(void)madvise(d->map, d->map_size, MADV_DONTNEED);
	d->read = 0;
}
