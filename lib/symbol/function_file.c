/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/function_file.h"

#include "base/mem.h"
#include "base/span.h"
#include "base/strbuf.h"
#include "dwarf/kept_lines.h"
#include "file/open_regular.h"
#include "file/path.h"
#include "symbol/functions.h"
#include "symbol/symtab.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/*
 * A file, its numbers little-endian:
 *
 *	0	magic "opfuncs1"; "opfuncs2" if functions were left out that were not sampled
 *	8	u32 owner of the file that has the functions
 *	12	u32 bytes of the table
 *	16	u32 CRC-32 of the owner, the number of bytes, and the table
 *	20	the table (symbol/functions.c)
 *
 * and, for each time that lines were kept, up to FUNCTION_FILE_SECTIONS:
 *
 *	0	magic "oplines1"
 *	8	u32 bytes of the lines
 *	12	u32 CRC-32 of the lines
 *	16	the lines (dwarf/kept_lines.h)
 */
static const char magic[] = "opfuncs1", cut_magic[] = "opfuncs2";

struct lines_header {
	char magic[8];
	uint32_t size, crc;
};
static_assert(sizeof(struct lines_header) == 16, "as on disk");
static const char lines_magic[] = "oplines1";

static uint32_t checksum(const struct function_header *h, const void *bytes)
{
	uint32_t crc = (uint32_t)crc32_z(0, (const void *)&h->owner, 2 * sizeof(h->owner));

	return (uint32_t)crc32_z(crc, bytes, le32toh(h->size));
}

static struct function_header header_of(const struct function_table *table)
{
	struct function_header h = { .owner = htole32(table->owner),
				     .size = htole32((uint32_t)table->size) };

	memcpy(h.magic, magic, sizeof(h.magic));
	h.crc = htole32(checksum(&h, table->bytes));
	return h;
}

bool function_header_is_cut(const struct function_header *h)
{
	return !memcmp(h->magic, cut_magic, sizeof(h->magic));
}

bool function_header_is_one(const struct function_header *h)
{
	return !memcmp(h->magic, magic, sizeof(h->magic)) || function_header_is_cut(h);
}

static bool write_all(int fd, const void *bytes, size_t size)
{
	return write(fd, bytes, size) == (ssize_t)size;
}

/* The parts of a whole file, in its bytes. */
struct parts {
	struct function_header header;
	const uint8_t *table;
	size_t size, section_count;
	uint32_t owner;
	struct section {
		const uint8_t *lines;
		size_t size;
	} sections[FUNCTION_FILE_SECTIONS];
};

/* Reads the file into *@ret; its size, or -errno. */
static ssize_t read_file(const char *path, uint8_t **ret)
{
	enum {
		SECTION_MAX = sizeof(struct lines_header) + KEPT_LINES_PACKED_MAX,
		MAX_BYTES = FUNCTIONS_PACKED_MAX + FUNCTION_FILE_SECTIONS * SECTION_MAX
	};
	_cleanup_close_ int fd = open_regular(path, O_RDONLY | O_NOFOLLOW);
	struct stat st;
	size_t size;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	size = (size_t)st.st_size;
	if (size < sizeof(struct function_header) ||
	    size > sizeof(struct function_header) + MAX_BYTES)
		return -EBADMSG;
	*ret = xmalloc(size);
	return read(fd, *ret, size) == st.st_size ? st.st_size : -EBADMSG;
}

/* Finds the next section with lines, and cuts it off @in. */
static bool find_lines(struct span *in, struct parts *ret)
{
	struct section *section = &ret->sections[ret->section_count++];
	struct lines_header h;

	if (ret->section_count > FUNCTION_FILE_SECTIONS || span_copy(in, &h, sizeof(h)) < 0)
		return false;
	section->size = le32toh(h.size);
	section->lines = span_take(in, section->size);
	return section->lines && !memcmp(h.magic, lines_magic, sizeof(h.magic)) &&
	       le32toh(h.crc) == (uint32_t)crc32_z(0, section->lines, section->size);
}

/* Finds and checks the parts of a file. */
static bool find_parts(const uint8_t *bytes, size_t size, struct parts *ret)
{
	struct span in = span_of(bytes, size);
	struct function_header h;

	if (span_copy(&in, &h, sizeof(h)) < 0)
		return false;
	*ret = (struct parts){ .header = h, .size = le32toh(h.size), .owner = le32toh(h.owner) };
	ret->table = span_take(&in, ret->size);
	if (!ret->table || !function_header_is_one(&h) ||
	    le32toh(h.crc) != checksum(&h, ret->table))
		return false;
	while (in.left)
		if (!find_lines(&in, ret))
			return false;
	return true;
}

/* Reads a file and finds its parts in *@ret_bytes, which the caller frees. 0 or -errno. */
static int read_parts(const char *path, uint8_t **ret_bytes, struct parts *ret, struct error *err)
{
	ssize_t size = read_file(path, ret_bytes);

	if (size < 0 && size != -EBADMSG)
		return error_set(err, (int)size, "%s: %s", path, open_regular_why((int)size));
	if (size < 0 || !find_parts(*ret_bytes, (size_t)size, ret))
		return error_set(err, -EBADMSG, "%s: damaged", path);
	return 0;
}

size_t function_file_memory(const char *path)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	struct parts parts;

	return read_parts(path, &bytes, &parts, NULL) < 0
		       ? SIZE_MAX
		       : functions_memory(parts.table, parts.size);
}

int function_file_read(const char *path, const char *name, struct symtab **ret, struct error *err)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	struct parts parts;
	int r = read_parts(path, &bytes, &parts, err);

	if (r < 0)
		return r;
	r = functions_unpack(parts.table, parts.size, name, ret);
	return r < 0 ? error_set(err, r, "%s: damaged", path) : 0;
}

/* Adds up the lines of all sections: newer ones go first. */
static int unpack_all(const struct parts *parts, struct kept_lines *ret)
{
	_cleanup_(kept_lines_done) struct kept_lines all = { 0 };
	size_t i;

	for (i = 0; i < parts->section_count; i++) {
		_cleanup_(kept_lines_done) struct kept_lines lines = { 0 }, older = all;
		int r;

		all = (struct kept_lines){ 0 };
		r = kept_lines_unpack(parts->sections[i].lines, parts->sections[i].size, &lines);
		if (r < 0)
			return r;
		kept_lines_merge(&older, &lines, &all);
	}
	*ret = all;
	all = (struct kept_lines){ 0 };
	return 0;
}

int function_file_read_lines(const char *path, struct kept_lines *ret, struct error *err)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	struct parts parts;
	int r = read_parts(path, &bytes, &parts, err);

	if (r < 0)
		return r;
	if (!parts.section_count)
		return error_set(err, -ENODATA, "%s: no lines were kept", path);
	r = unpack_all(&parts, ret);
	return r < 0 ? error_set(err, r, "%s: damaged", path) : 0;
}

/* --- writing --- */

static bool write_section(int fd, const struct section *section)
{
	struct lines_header h = { .size = htole32((uint32_t)section->size),
				  .crc = htole32(
					  (uint32_t)crc32_z(0, section->lines, section->size)) };

	memcpy(h.magic, lines_magic, sizeof(h.magic));
	return write_all(fd, &h, sizeof(h)) && write_all(fd, section->lines, section->size);
}

/* Writes the parts to the new file @temporary; its descriptor, or -errno, and the file is gone. */
static int write_new(const char *temporary, const struct parts *parts)
{
	int fd = open_regular_new(temporary, O_WRONLY, 0644);
	bool is_written;
	size_t i;

	if (fd < 0)
		return fd;
	is_written = write_all(fd, &parts->header, sizeof(parts->header)) &&
		     write_all(fd, parts->table, parts->size);
	for (i = 0; i < parts->section_count; i++)
		is_written = is_written && write_section(fd, &parts->sections[i]);
	if (is_written)
		return fd;
	(void)close(fd);
	return path_put(temporary, temporary, 0, -EIO);
}

/* Writes the table with the lines to a temporary file and renames it: readers see all of it or
 * nothing. Without a sync: it is not needed before the file that it is of is gone. */
static int write_parts(const char *path, const struct parts *parts)
{
	const int length = (int)(path_base(path) - path);
	_cleanup_free_ char *temporary = xasprintf("%.*snew.tmp", length, path);
	_cleanup_close_ int fd = write_new(temporary, parts);

	return fd < 0 ? fd : path_put(temporary, path, 0, 0);
}

int function_file_put(const char *path, const struct function_table *table)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	struct parts parts;

	/* Lines are kept in addition, if they may be of the same file. */
	if (read_parts(path, &bytes, &parts, NULL) < 0 || parts.owner != table->owner)
		parts = (struct parts){ 0 };
	parts.header = header_of(table);
	parts.table = table->bytes;
	parts.size = table->size;
	return write_parts(path, &parts);
}

/* --- leaving functions out --- */

/* Whether both are one file, which was neither written nor used in between. */
static bool is_unchanged(const struct stat *was, const struct stat *is)
{
	return was->st_ino == is->st_ino && was->st_dev == is->st_dev &&
	       was->st_size == is->st_size && was->st_mtim.tv_sec == is->st_mtim.tv_sec &&
	       was->st_mtim.tv_nsec == is->st_mtim.tv_nsec;
}

/* Gives the file @cut the name @path, if what has that name is still what @was describes, which is
 * then removed. Who writes or uses it meanwhile needs no lock: the two are exchanged, and exchanged
 * again if it turns out that somebody did. */
static int exchange(const char *cut, const char *path, const struct stat *was)
{
	struct stat is;

	if (renameat2(AT_FDCWD, cut, AT_FDCWD, path, RENAME_EXCHANGE) < 0)
		return -errno;
	if (lstat(cut, &is) == 0 && is_unchanged(was, &is))
		return 0;
	(void)renameat2(AT_FDCWD, cut, AT_FDCWD, path, RENAME_EXCHANGE);
	return -EBUSY;
}

int function_file_cut(const char *path, const struct stat *was, const struct function_table *table)
{
	_cleanup_free_ char *cut = xasprintf("%s" FUNCTION_FILE_CUT, path);
	const struct timespec times[] = { was->st_mtim, was->st_mtim };
	_cleanup_free_ uint8_t *bytes = NULL;
	_cleanup_close_ int fd = -1;
	struct parts parts;
	int r = read_parts(path, &bytes, &parts, NULL);

	if (r < 0)
		return r;
	parts.header =
		header_of(&(struct function_table){ table->bytes, table->size, parts.owner });
	memcpy(parts.header.magic, cut_magic, sizeof(parts.header.magic));
	parts.table = table->bytes;
	parts.size = table->size;
	fd = write_new(cut, &parts);
	if (fd < 0)
		return fd;
	/* What it takes the place of is needed, as the file that it is of may be gone. */
	r = futimens(fd, times) < 0 || fsync(fd) < 0 ? -errno : exchange(cut, path, was);
	(void)unlink(cut);
	return r;
}

void function_file_recover(const char *cut)
{
	_cleanup_free_ char *path = xstrndup(cut, strlen(cut) - (sizeof(FUNCTION_FILE_CUT) - 1));
	_cleanup_free_ uint8_t *bytes = NULL;
	struct parts parts;

	int r = read_parts(cut, &bytes, &parts, NULL);

	if (r == 0 && function_header_is_cut(&parts.header))
		r = -EEXIST;
	(void)path_put(cut, path, 0, r);
}

/* --- adding lines --- */

int function_file_add_lines(const char *path, const struct kept_lines *lines, struct error *err)
{
	_cleanup_(kept_lines_done) struct kept_lines kept = { 0 }, all = { 0 };
	_cleanup_(strbuf_done) struct strbuf packed = STRBUF_INIT;
	_cleanup_free_ uint8_t *bytes = NULL;
	struct parts parts;
	int r = read_parts(path, &bytes, &parts, err);

	if (r < 0)
		return r;
	(void)unpack_all(&parts, &kept);
	kept_lines_merge(&kept, lines, &all);
	r = kept_lines_pack(&all, &packed);
	/* All are too many. */
	if (r < 0)
		r = kept_lines_pack(lines, &packed);
	parts.section_count = 1;
	parts.sections[0] = (struct section){ (const uint8_t *)packed.text, packed.length };
	if (r == 0)
		r = write_parts(path, &parts);
	return r < 0 ? error_errno(err, r, "%s", path) : 0;
}

int function_file_put_lines(const char *path, bool replaces_last,
			    const struct function_table *lines, uint64_t *ret_grown)
{
	const struct section section = { lines->bytes, lines->size };
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t i, before = 0, after = lines->size;
	struct parts parts;
	int r = read_parts(path, &bytes, &parts, NULL);

	if (r < 0)
		return r;
	if (lines->size > KEPT_LINES_PACKED_MAX)
		return -EFBIG;
	if (parts.owner != lines->owner)
		return -EPERM;
	for (i = 0; i < parts.section_count; i++)
		before += parts.sections[i].size;
	if (replaces_last && parts.section_count)
		parts.section_count--;
	else if (parts.section_count == FUNCTION_FILE_SECTIONS)
		memmove(parts.sections, parts.sections + 1,
			--parts.section_count * sizeof(*parts.sections));
	for (i = 0; i < parts.section_count; i++)
		after += parts.sections[i].size;
	parts.sections[parts.section_count++] = section;
	*ret_grown = after > before ? after - before : 0;
	return write_parts(path, &parts);
}
