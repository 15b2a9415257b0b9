/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "elf/elf_build_id.h"

#include "base/mem.h"
#include "file/path.h"

#include <elf.h>
#include <errno.h>
#include <unistd.h>

/* Limits for what is read of a file, whatever its headers claim. */
enum { TABLE_BYTES_MAX = 256 << 10, NOTE_BYTES_MAX = 64 << 10, NOTES_MAX = 64 };

/* Offsets of the members needed in an entry of a header table: @type has 32 bits, @offset and @size
 * are as wide as the file's addresses. */
struct entry_layout {
	size_t type, offset, size, bytes;
};

/* What is needed of the ELF header. In the file, the tables' offsets are as wide as an address,
 * sizes and counts have 16 bits. */
struct class_layout {
	bool wide; /* addresses of 64 bits */
	size_t phoff, phentsize, shoff, shentsize;
	struct entry_layout segment, section;
};

static const struct class_layout layouts[] = {
	[ELFCLASS32] = { false, 28, 42, 32, 46, { 0, 4, 16, 32 }, { 4, 16, 20, 40 } },
	[ELFCLASS64] = { true, 32, 54, 40, 58, { 0, 8, 32, 56 }, { 4, 24, 32, 64 } },
};

struct elf {
	int fd;		  /* -1: the file is in memory */
	struct span file; /* there */
	bool big_endian;
	const struct class_layout *layout;
};

static uint32_t get_half(const struct elf *elf, const uint8_t *p)
{
	return elf->big_endian ? get_be16(p) : get_le16(p);
}

static uint32_t get_word(bool big_endian, const uint8_t *p)
{
	return big_endian ? get_be32(p) : get_le32(p);
}

static uint64_t get_address(const struct elf *elf, const uint8_t *p)
{
	if (!elf->layout->wide)
		return get_word(elf->big_endian, p);
	return elf->big_endian ? get_be64(p) : get_le64(p);
}

static ssize_t copy_at(struct span file, uint64_t offset, void *to, size_t size)
{
	if (offset >= file.left)
		return 0;
	size = MIN(size, file.left - (size_t)offset);
	memcpy(to, file.at + offset, size);
	return (ssize_t)size;
}

/* Reads up to @size bytes at @offset; returns their number, or -errno. */
static ssize_t read_at(const struct elf *elf, uint64_t offset, void *to, size_t size)
{
	ssize_t n;

	if (offset > INT64_MAX)
		return 0;
	if (elf->fd < 0)
		return copy_at(elf->file, offset, to, size);
	do
		n = pread(elf->fd, to, size, (off_t)offset);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* Takes the bytes of one field of a note, padded to 4; NULL if they do not fit. */
static const uint8_t *take_padded(struct span *in, uint32_t size)
{
	const uint8_t *at = span_take(in, size);

	if (at && !span_take(in, -size & 3))
		in->left = 0; /* the last one need not be padded */
	return at;
}

int elf_build_id_from_notes(struct span notes, bool big_endian, struct build_id *ret)
{
	const uint8_t *head, *name, *desc;
	uint32_t name_size, desc_size;

	while ((head = span_take(&notes, 12))) {
		name_size = get_word(big_endian, head);
		desc_size = get_word(big_endian, head + 4);
		name = take_padded(&notes, name_size);
		desc = name ? take_padded(&notes, desc_size) : NULL;
		if (!desc)
			return -ENODATA;
		if (get_word(big_endian, head + 8) != NT_GNU_BUILD_ID || name_size != 4 ||
		    memcmp(name, "GNU", 4) || !desc_size || desc_size > BUILD_ID_MAX)
			continue;
		*ret = (struct build_id){ .size = (uint8_t)desc_size };
		memcpy(ret->bytes, desc, desc_size);
		return 0;
	}
	return -ENODATA;
}

static int read_notes(const struct elf *elf, uint64_t offset, uint64_t size, struct build_id *ret)
{
	size_t room = MIN(size, (uint64_t)NOTE_BYTES_MAX);
	_cleanup_free_ uint8_t *bytes = xmalloc(room + 1);
	ssize_t n = read_at(elf, offset, bytes, room);

	if (n < 0)
		return (int)n;
	return elf_build_id_from_notes(span_of(bytes, (size_t)n), elf->big_endian, ret);
}

/* Searches the notes that a table of segments or sections points at. */
static int search_table(const struct elf *elf, uint64_t table_at, const uint8_t *sizes,
			const struct entry_layout *entry, uint32_t note_type, struct build_id *ret)
{
	uint32_t step = get_half(elf, sizes), count = get_half(elf, sizes + 2);
	size_t bytes = MIN((size_t)step * count, (size_t)TABLE_BYTES_MAX);
	_cleanup_free_ uint8_t *table = xmalloc(bytes + 1);
	unsigned int notes = 0;
	struct span left;
	const uint8_t *at;
	ssize_t n;
	int r;

	if (!table_at || step < entry->bytes)
		return -ENODATA;
	n = read_at(elf, table_at, table, bytes);
	if (n < 0)
		return (int)n;
	left = span_of(table, (size_t)n);
	while ((at = span_take(&left, step)) && notes < NOTES_MAX) {
		if (get_word(elf->big_endian, at + entry->type) != note_type)
			continue;
		notes++;
		r = read_notes(elf, get_address(elf, at + entry->offset),
			       get_address(elf, at + entry->size), ret);
		if (r != -ENODATA)
			return r;
	}
	return -ENODATA;
}

static int search(struct elf *elf, struct build_id *ret)
{
	uint8_t head[64] = { 0 };
	const struct class_layout *l;
	ssize_t n = read_at(elf, 0, head, sizeof(head));
	uint8_t class = head[EI_CLASS], order = head[EI_DATA];
	int r;

	if (n < 0)
		return (int)n;
	if (n < 52 || memcmp(head, ELFMAG, SELFMAG) != 0 ||
	    (class != ELFCLASS32 && class != ELFCLASS64) ||
	    (order != ELFDATA2LSB && order != ELFDATA2MSB))
		return -EBADMSG;
	elf->big_endian = order == ELFDATA2MSB;
	elf->layout = l = &layouts[class];
	r = search_table(elf, get_address(elf, head + l->phoff), head + l->phentsize, &l->segment,
			 PT_NOTE, ret);
	if (r != -ENODATA)
		return r;
	/* Relocatable files (kernel modules) have sections only. */
	return search_table(elf, get_address(elf, head + l->shoff), head + l->shentsize,
			    &l->section, SHT_NOTE, ret);
}

int elf_build_id_read_fd(int fd, struct build_id *ret)
{
	struct elf elf = { .fd = fd };

	return fd < 0 ? -EBADF : search(&elf, ret);
}

int elf_build_id_read(struct span file, struct build_id *ret)
{
	struct elf elf = { .fd = -1, .file = file };

	return search(&elf, ret);
}

int elf_build_id_read_kernel(const char *root, struct build_id *ret)
{
	_cleanup_free_ char *notes = NULL;
	ssize_t n = path_read(root, "/sys/kernel/notes", &notes, NULL);

	if (n < 0)
		return (int)n;
	return elf_build_id_from_notes(span_of(notes, (size_t)n),
				       __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, ret);
}
