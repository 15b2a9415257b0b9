/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "elf/elffile.h"

#include "base/mem.h"
#include "file/open_regular.h"
#include "elf/elf_build_id.h"
#include "elf/internal/decompress.h"
#include "elf/internal/packed_strings.h"
#include "elf/internal/section_count.h"

#include <errno.h>
#include <fcntl.h>
#include <libelf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* libelf allocates memory for each; programs have some dozens, objects some thousands. */
enum { SECTIONS_MAX = 65535 };

struct segment {
	uint64_t address, offset, size; /* size: bytes present in the file */
	bool is_code;
};

struct elffile {
	char *path;
	int fd;
	Elf *elf;
	GElf_Ehdr header;
	void *unpacked; /* contents of a compressed file; NULL: not compressed */
	uint64_t mtime, size;
	uid_t owner;
	bool is_subset;		  /* of the file that was profiled: see ELFFILE_ORIGINAL */
	struct segment *segments; /* PT_LOAD */
	size_t segment_count;
	uint64_t *bases; /* of the sections of a relocatable file */
	size_t section_count;
	size_t names; /* section of section names */
	struct build_id build_id;
};

static void read_segments(struct elffile *ef)
{
	size_t i, n = 0, count = 0;

	if (elf_getphdrnum(ef->elf, &count) < 0 || count > 65536)
		count = 0;
	ef->segments = xcalloc(count + 1, sizeof(*ef->segments));
	for (i = 0; i < count; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(ef->elf, (int)i, &ph) || ph.p_type != PT_LOAD)
			continue;
		ef->segments[n++] =
			(struct segment){ ph.p_vaddr, ph.p_offset, ph.p_filesz, ph.p_flags & PF_X };
	}
	ef->segment_count = n;
}

/* Lays out the code of a relocatable file as the kernel's module loader does: section after
 * section, each aligned, init code elsewhere (kernel/module/main.c, layout_sections()). */
static void lay_out(struct elffile *ef)
{
	uint64_t at = 0;
	size_t i;

	ef->bases = xcalloc(ef->section_count + 1, sizeof(*ef->bases));
	for (i = 0; i < ef->section_count; i++) {
		struct elf_section s;
		uint64_t align;

		if (!elffile_section(ef, i, &s) || !elffile_section_is_code(ef, &s))
			continue;
		align = s.header.sh_addralign;
		if (align > 1 && !(align & (align - 1)))
			at = (at + align - 1) & ~(align - 1);
		ef->bases[i] = at;
		at += s.header.sh_size;
	}
}

static void read_build_id(struct elffile *ef)
{
	(void)elf_build_id_read(elffile_whole(ef), &ef->build_id);
}

/* Reads the length of the original from an ELF subset. */
static void read_original_size(struct elffile *ef)
{
	static const char owner[12] = "OProfile";
	bool big = ef->header.e_ident[EI_DATA] == ELFDATA2MSB;
	const uint8_t *note;
	struct elf_section s;
	const Elf_Data *data;

	if (!elffile_find_section(ef, ELFFILE_ORIGINAL, &s) || !(data = elf_rawdata(s.scn, NULL)) ||
	    !data->d_buf || data->d_size != 12 + sizeof(owner) + 8)
		return;
	note = data->d_buf;
	if (memcmp(note + 12, owner, sizeof(owner)))
		return;
	note += 12 + sizeof(owner);
	ef->is_subset = true;
	ef->size = big ? get_be32(note) | (uint64_t)get_be32(note + 4) << 32 : get_le64(note);
}

/* Reads what every user needs; completes the elffile. */
static int read_structure(struct elffile *ef, struct error *err)
{
	int r;

	elffile_check_memory();
	if (!ef->elf || elf_kind(ef->elf) != ELF_K_ELF || !gelf_getehdr(ef->elf, &ef->header))
		return error_set(err, -EBADMSG, "%s: not an ELF file", ef->path);
	r = packed_strings_check(ef->elf, ef->path, err);
	if (r < 0)
		return r;
	if (elf_getshdrnum(ef->elf, &ef->section_count) < 0 || ef->section_count > UINT32_MAX)
		ef->section_count = 0;
	if (elf_getshdrstrndx(ef->elf, &ef->names) < 0)
		ef->section_count = 0;
	read_segments(ef);
	if (ef->header.e_type == ET_REL)
		lay_out(ef);
	read_build_id(ef);
	read_original_size(ef);
	elffile_check_memory();
	return 0;
}

static struct elffile *elffile_new(const char *path)
{
	struct elffile *ef = xcalloc(1, sizeof(*ef));

	(void)elf_version(EV_CURRENT);
	ef->path = xstrdup(path);
	ef->fd = -1;
	return ef;
}

/* Many systems install kernel modules compressed. */
static bool is_compressed(const char *path)
{
	static const char *const endings[] = { ".xz", ".zst", ".gz" };
	size_t i, length = strlen(path);

	for (i = 0; i < ARRAY_SIZE(endings); i++) {
		size_t n = strlen(endings[i]);

		if (length > n && !strcmp(path + length - n, endings[i]))
			return true;
	}
	return false;
}

/* Makes @bytes, which are compressed, the content of the file. */
static int unpack_bytes(struct elffile *ef, const void *bytes, size_t size, struct error *err)
{
	size_t unpacked;
	int r = decompress(bytes, size, &ef->unpacked, &unpacked);

	if (r == -EFBIG)
		return error_set(err, r, "%s: not unpacked: it would be far larger than %zu KiB",
				 ef->path, size >> 10);
	if (r < 0)
		return error_set(err, r, "%s: cannot unpack: %s", ef->path,
				 r == -EBADMSG ? "the compressed data are damaged or cut short"
					       : strerror(-r));
	ef->elf = elf_memory(ef->unpacked, unpacked);
	return 0;
}

/* Replaces a compressed file by its contents; other files stay as they are. */
static int unpack_file(struct elffile *ef, struct error *err)
{
	void *bytes = mmap(NULL, ef->size, PROT_READ, MAP_PRIVATE, ef->fd, 0);
	int r = 0;

	if (bytes == MAP_FAILED)
		return error_errno(err, -errno, "%s", ef->path);
	if (decompress_is(bytes, ef->size)) {
		(void)elf_end(ef->elf);
		ef->elf = NULL;
		r = unpack_bytes(ef, bytes, ef->size, err);
	}
	(void)munmap(bytes, ef->size);
	return r;
}

/* Takes @fd. */
static int open_fd(int fd, const char *path, bool may_be_compressed, struct elffile **ret,
		   struct error *err)
{
	_cleanup_(elffile_closep) struct elffile *ef = elffile_new(path);
	struct stat st;
	int r = 0;

	ef->fd = fd;
	if (fstat(fd, &st) < 0)
		return error_errno(err, -errno, "%s", path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, -EBADMSG, "%s: not a regular file", path);
	ef->mtime = (uint64_t)st.st_mtime;
	ef->owner = st.st_uid;
	ef->size = (uint64_t)st.st_size;
	if (section_count(fd) > SECTIONS_MAX)
		return error_set(err, -EBADMSG, "%s: has more than %d sections", path,
				 SECTIONS_MAX);
	ef->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (ef->elf && elf_kind(ef->elf) != ELF_K_ELF && may_be_compressed && ef->size)
		r = unpack_file(ef, err);
	if (r == 0)
		r = read_structure(ef, err);
	if (r < 0)
		return r;
	*ret = STEAL(ef);
	return 0;
}

int elffile_open(const char *path, struct elffile **ret, struct error *err)
{
	int fd = open_regular(path, O_RDONLY);

	if (fd < 0)
		return error_set(err, fd, "%s: %s", path, open_regular_why(fd));
	return open_fd(fd, path, is_compressed(path), ret, err);
}

int elffile_open_fd(int fd, const char *name, struct elffile **ret, struct error *err)
{
	return open_fd(fd, name, false, ret, err);
}

int elffile_open_packed(const void *bytes, size_t size, const char *name, struct elffile **ret,
			struct error *err)
{
	_cleanup_(elffile_closep) struct elffile *ef = elffile_new(name);
	int r = unpack_bytes(ef, bytes, size, err);

	if (r == 0)
		r = read_structure(ef, err);
	if (r < 0)
		return r;
	*ret = STEAL(ef);
	return 0;
}

int elffile_open_memory(void *bytes, size_t size, const char *name, struct elffile **ret,
			struct error *err)
{
	_cleanup_(elffile_closep) struct elffile *ef = elffile_new(name);
	int r;

	ef->elf = elf_memory(bytes, size);
	r = read_structure(ef, err);
	if (r < 0)
		return r;
	*ret = STEAL(ef);
	return 0;
}

void elffile_close(struct elffile *ef)
{
	if (!ef)
		return;
	(void)elf_end(ef->elf);
	if (ef->fd >= 0)
		(void)close(ef->fd);
	free(ef->unpacked);
	free(ef->path);
	free(ef->segments);
	free(ef->bases);
	free(ef);
}

const char *elffile_path(const struct elffile *ef)
{
	return ef->path;
}

const GElf_Ehdr *elffile_header(const struct elffile *ef)
{
	return &ef->header;
}

Elf *elffile_elf(const struct elffile *ef)
{
	return ef->elf;
}

int elffile_fd(const struct elffile *ef)
{
	return ef->unpacked ? -1 : ef->fd;
}

const struct build_id *elffile_build_id(const struct elffile *ef)
{
	return ef->build_id.size ? &ef->build_id : NULL;
}

uint64_t elffile_mtime(const struct elffile *ef)
{
	return ef->mtime;
}

uid_t elffile_owner(const struct elffile *ef)
{
	return ef->owner;
}

uint64_t elffile_size(const struct elffile *ef)
{
	return ef->size;
}

bool elffile_offset(const struct elffile *ef, uint64_t address, uint64_t *ret)
{
	size_t i;

	if (ef->header.e_type == ET_REL) {
		*ret = address;
		return true;
	}
	for (i = 0; i < ef->segment_count; i++) {
		const struct segment *s = &ef->segments[i];

		if (address >= s->address && address - s->address < s->size) {
			*ret = address - s->address + s->offset;
			return true;
		}
	}
	return false;
}

bool elffile_address(const struct elffile *ef, uint64_t offset, uint64_t *ret)
{
	size_t i;

	if (ef->header.e_type == ET_REL) {
		*ret = offset;
		return true;
	}
	for (i = 0; i < ef->segment_count; i++) {
		const struct segment *s = &ef->segments[i];

		if (offset >= s->offset && offset - s->offset < s->size) {
			*ret = offset - s->offset + s->address;
			return true;
		}
	}
	return false;
}

bool elffile_code_segment(const struct elffile *ef, size_t i, uint64_t *ret_start,
			  uint64_t *ret_end)
{
	size_t k;

	for (k = 0; k < ef->segment_count; k++) {
		const struct segment *s = &ef->segments[k];

		if (!s->is_code || i--)
			continue;
		*ret_start = s->address;
		return !__builtin_add_overflow(s->address, s->size, ret_end);
	}
	return false;
}

uint64_t elffile_section_base(const struct elffile *ef, size_t index)
{
	struct elf_section s;

	if (ef->bases)
		return index < ef->section_count ? ef->bases[index] : 0;
	return elffile_section(ef, index, &s) ? s.header.sh_addr : 0;
}

size_t elffile_section_count(const struct elffile *ef)
{
	return ef->section_count;
}

bool elffile_section(const struct elffile *ef, size_t index, struct elf_section *ret)
{
	Elf_Scn *scn = index < ef->section_count ? elf_getscn(ef->elf, index) : NULL;

	if (!scn || !gelf_getshdr(scn, &ret->header)) {
		elffile_check_memory();
		return false;
	}
	ret->scn = scn;
	ret->index = index;
	ret->name = elffile_string(ef, ef->names, ret->header.sh_name);
	if (!ret->name)
		ret->name = "";
	return true;
}

bool elffile_find_section(const struct elffile *ef, const char *name, struct elf_section *ret)
{
	size_t i;

	for (i = 0; i < ef->section_count; i++)
		if (elffile_section(ef, i, ret) && !strcmp(ret->name, name))
			return true;
	return false;
}

bool elffile_section_is_code(const struct elffile *ef, const struct elf_section *section)
{
	return section->header.sh_flags & SHF_EXECINSTR &&
	       !(ef->header.e_type == ET_REL && !strncmp(section->name, ".init", strlen(".init")));
}

/* An ELF subset has code at other offsets than the original, which its sections record. */
static const void *subset_bytes(const struct elffile *ef, uint64_t offset, uint64_t size)
{
	struct elf_section s;
	uint64_t address;
	size_t i;

	if (!elffile_address(ef, offset, &address))
		return NULL;
	for (i = 0; i < ef->section_count; i++) {
		const Elf_Data *data;
		uint64_t at;

		if (!elffile_section(ef, i, &s) || !elffile_section_is_code(ef, &s))
			continue;
		at = address - elffile_section_base(ef, i);
		data = at < s.header.sh_size ? elffile_data(&s) : NULL;
		if (data && at < data->d_size && size <= data->d_size - at)
			return (const char *)data->d_buf + at;
	}
	return NULL;
}

const void *elffile_bytes(const struct elffile *ef, uint64_t offset, uint64_t size)
{
	struct span whole;

	if (ef->is_subset)
		return subset_bytes(ef, offset, size);
	whole = elffile_whole(ef);
	return offset <= whole.left && size <= whole.left - offset ? whole.at + offset : NULL;
}

bool elffile_debuglink(const struct elffile *ef, const char **ret_name, uint32_t *ret_crc)
{
	struct elf_section s;
	const Elf_Data *data;
	struct span in;
	const char *name;
	const void *crc;
	bool little = ef->header.e_ident[EI_DATA] == ELFDATA2LSB;

	if (!elffile_find_section(ef, ".gnu_debuglink", &s) || !(data = elffile_data(&s)))
		return false;
	in = span_of(data->d_buf, data->d_size);
	name = span_string(&in);
	if (!name || !*name)
		return false;
	/* The CRC follows the name at the next multiple of four. */
	(void)span_take(&in, -(size_t)(in.at - (const uint8_t *)data->d_buf) & 3);
	crc = span_take(&in, 4);
	if (!crc)
		return false;
	*ret_name = name;
	*ret_crc = little ? get_le32(crc) : __builtin_bswap32(get_le32(crc));
	return true;
}
