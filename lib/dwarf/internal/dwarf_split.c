/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dwarf/internal/dwarf_split.h"

#include "base/log.h"
#include "base/mem.h"
#include "file/open_regular.h"
#include "file/path.h"
#include "elf/elf_packed.h"
#include "elf/elffile.h"

#include <dwarf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* An open .dwo file. */
struct object {
	void *bytes;
	size_t size;
	struct elffile *ef;
	struct dwarf_file *file;
	struct object *next;
};

/* A unit of a package. */
struct packed {
	struct dwarf_file *file;
	struct packed *next;
};

struct dwarf_split {
	char *paths[2]; /* of the binary and its debug file */
	bool is_looked_for[2];
	struct object *packages[2]; /* FILE.dwp of each */
	struct object *objects;
	struct packed *packed;
	struct map units; /* by id: the unit, or ->none */
	char none;
};

static void object_free(struct object *o)
{
	if (!o)
		return;
	dwarf_file_free(o->file);
	elffile_close(o->ef);
	(void)munmap(o->bytes, o->size);
	free(o);
}

/* Opens a file with split DWARF; NULL if it has none. Keeps no descriptor open, since there may be
 * thousands of .dwo files. */
static struct object *object_open(const char *path)
{
	_cleanup_close_ int fd = open_regular(path, O_RDONLY);
	struct error err = ERROR_INIT;
	struct object *o;
	struct stat st;
	void *bytes;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size <= 0)
		return NULL;
	/* libelf may write to the memory that it reads. */
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return NULL;
	o = xcalloc(1, sizeof(*o));
	*o = (struct object){ .bytes = bytes, .size = (size_t)st.st_size };
	if (elffile_open_memory(bytes, o->size, path, &o->ef, &err) < 0) {
		log_debug("%s", err.text);
		object_free(o);
		return NULL;
	}
	if (!elf_packed_fits(o->ef)) {
		object_free(o);
		return NULL;
	}
	o->file = dwarf_file_new(elffile_elf(o->ef), path, DWARF_SPLIT, span_of(NULL, 0));
	return o;
}

struct dwarf_split *dwarf_split_new(const char *path, const char *debug)
{
	struct dwarf_split *s = xcalloc(1, sizeof(*s));

	s->paths[0] = xstrdup(path);
	s->paths[1] = debug ? xstrdup(debug) : NULL;
	return s;
}

void dwarf_split_free(struct dwarf_split *s)
{
	size_t i;

	if (!s)
		return;
	while (s->packed) {
		struct packed *p = s->packed;

		s->packed = p->next;
		dwarf_file_free(p->file);
		free(p);
	}
	while (s->objects) {
		struct object *o = s->objects;

		s->objects = o->next;
		object_free(o);
	}
	for (i = 0; i < 2; i++) {
		object_free(s->packages[i]);
		free(s->paths[i]);
	}
	map_done(&s->units);
	free(s);
}

bool dwarf_is_skeleton(const struct dwarf_unit *u)
{
	return u->root[DWARF_SPLIT_NAME].form && u->id;
}

/* --- packages --- */

/* Sections by their number in the index, for versions 2 (GNU) and 5. */
static enum dwarf_section section_of(uint64_t number, uint64_t version)
{
	switch (number) {
	case DW_SECT_INFO:
		return DWARF_SECTION_INFO;
	case DW_SECT_ABBREV:
		return DWARF_SECTION_ABBREV;
	case DW_SECT_LINE:
		return DWARF_SECTION_LINE;
	case DW_SECT_STR_OFFSETS:
		return DWARF_SECTION_STR_OFFSETS;
	case DW_SECT_RNGLISTS:
		return version >= 5 ? DWARF_SECTION_RNGLISTS : DWARF_SECTION_COUNT_;
	default:
		return DWARF_SECTION_COUNT_;
	}
}

/* The index of a package. */
struct package_index {
	struct dwarf_bytes b; /* after the header */
	uint64_t version, columns, units, slots;
};

static bool read_index(const struct dwarf_file *f, struct package_index *ret)
{
	struct dwarf_bytes b = dwarf_bytes_at(f->sections[DWARF_SECTION_CU_INDEX], 0, f->big);
	uint64_t need;

	ret->version = dwarf_uint(&b, 4);
	/* From version 5 on the version has two bytes, followed by two of padding. */
	if (ret->version != 2)
		ret->version = f->big ? ret->version >> 16 : ret->version & UINT16_MAX;
	ret->columns = dwarf_uint(&b, 4);
	ret->units = dwarf_uint(&b, 4);
	ret->slots = dwarf_uint(&b, 4);
	ret->b = b;
	/* Each factor has 32 bits. */
	if (b.bad || (ret->version != 2 && ret->version != 5) || ret->columns > 64)
		return false;
	need = ret->slots * 12 + ret->columns * 4 + ret->units * ret->columns * 8;
	return need <= b.in.left;
}

/* The row of the unit with this id, from 1; 0: none. A linear search, as each unit is looked up
 * once. */
static uint64_t row_of(const struct package_index *index, uint64_t id)
{
	struct dwarf_bytes ids = index->b, rows = index->b;
	uint64_t i;

	dwarf_skip(&rows, index->slots * 8);
	for (i = 0; i < index->slots; i++) {
		uint64_t row = dwarf_uint(&rows, 4);

		if (dwarf_uint(&ids, 8) == id && row && row <= index->units)
			return row;
	}
	return 0;
}

/* Cuts the sections of a package to the parts of the unit in @row. */
static void cut_sections(const struct dwarf_file *f, const struct package_index *index,
			 uint64_t row, struct span sections[DWARF_SECTION_COUNT_])
{
	struct dwarf_bytes names = index->b, offsets, sizes;
	uint64_t i;

	dwarf_skip(&names, index->slots * 12);
	offsets = names;
	dwarf_skip(&offsets, index->columns * 4 * row);
	sizes = offsets;
	dwarf_skip(&sizes, index->columns * 4 * index->units);
	for (i = 0; i < index->columns; i++) {
		enum dwarf_section section = section_of(dwarf_uint(&names, 4), index->version);
		uint64_t offset = dwarf_uint(&offsets, 4), size = dwarf_uint(&sizes, 4);
		struct span whole;

		if (section == DWARF_SECTION_COUNT_)
			continue;
		whole = f->sections[section];
		sections[section] = span_of("", 0);
		if (span_take(&whole, offset) && size <= whole.left)
			sections[section] = span_of(whole.at, size);
	}
}

static struct dwarf_unit *find_packed(struct dwarf_split *s, const struct dwarf_file *package,
				      uint64_t id)
{
	struct span sections[DWARF_SECTION_COUNT_];
	struct package_index index;
	struct packed *p;
	uint64_t row;

	if (!read_index(package, &index) || !(row = row_of(&index, id)))
		return NULL;
	memcpy(sections, package->sections, sizeof(sections));
	cut_sections(package, &index, row, sections);
	p = xcalloc(1, sizeof(*p));
	*p = (struct packed){ dwarf_file_of(sections, package->big), s->packed };
	s->packed = p;
	return p->file->unit_count ? &p->file->units[0] : NULL;
}

/* The unit from the FILE.dwp next to the @i-th file. */
static struct dwarf_unit *search_package(struct dwarf_split *s, size_t i, uint64_t id)
{
	if (!s->is_looked_for[i] && s->paths[i]) {
		_cleanup_free_ char *path = xasprintf("%s.dwp", s->paths[i]);

		s->packages[i] = object_open(path);
	}
	s->is_looked_for[i] = true;
	return s->packages[i] ? find_packed(s, s->packages[i]->file, id) : NULL;
}

/* --- single files --- */

static bool has_id(struct dwarf_unit *u, uint64_t id)
{
	if (u->type != DW_UT_split_compile && u->type != DW_UT_compile)
		return false;
	dwarf_unit_open(u);
	return u->id == id;
}

static struct dwarf_unit *try_object(struct dwarf_split *s, const char *path, uint64_t id)
{
	struct object *o = object_open(path);
	size_t i;

	if (!o)
		return NULL;
	for (i = 0; i < o->file->unit_count; i++) {
		if (!has_id(&o->file->units[i], id))
			continue;
		o->next = s->objects;
		s->objects = o;
		return &o->file->units[i];
	}
	log_debug("%s: the unit that %s refers to is missing", path, s->paths[0]);
	object_free(o);
	return NULL;
}

/* Tries @name in the directory of the file @sibling. */
static struct dwarf_unit *try_sibling(struct dwarf_split *s, const char *sibling, const char *name,
				      uint64_t id)
{
	_cleanup_free_ char *path =
		xasprintf("%.*s%s", (int)(path_base(sibling) - sibling), sibling, name);

	return try_object(s, path, id);
}

static struct dwarf_unit *search_object(struct dwarf_split *s, const struct dwarf_unit *skeleton)
{
	const char *name = dwarf_text(skeleton, &skeleton->root[DWARF_SPLIT_NAME]);
	const char *directory = dwarf_text(skeleton, &skeleton->root[DWARF_DIRECTORY]);
	struct dwarf_unit *found = NULL;
	size_t i;

	if (!name || !*name)
		return NULL;
	if (*name == '/' || !directory) {
		found = try_object(s, name, skeleton->id);
	} else {
		_cleanup_free_ char *path = path_join(directory, name);

		found = try_object(s, path, skeleton->id);
	}
	for (i = 0; i < 2 && !found && s->paths[i]; i++) {
		if (*name != '/')
			found = try_sibling(s, s->paths[i], name, skeleton->id);
		if (!found)
			found = try_sibling(s, s->paths[i], path_base(name), skeleton->id);
	}
	return found;
}

struct dwarf_unit *dwarf_split_find(struct dwarf_split *s, struct dwarf_unit *skeleton)
{
	void *known = map_get(&s->units, skeleton->id);
	struct dwarf_unit *found = NULL;
	size_t i;

	if (known)
		return known == &s->none ? NULL : known;
	for (i = 0; i < 2 && !found; i++)
		found = search_package(s, i, skeleton->id);
	if (!found)
		found = search_object(s, skeleton);
	if (found) {
		found->skeleton = skeleton;
		dwarf_unit_open(found);
	}
	(void)map_set(&s->units, skeleton->id, found ? (void *)found : &s->none);
	return found;
}
