/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/function_store.h"

#include "base/clock.h"
#include "base/keyed_hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "dwarf/kept_lines.h"
#include "file/build_id.h"
#include "file/file_identity.h"
#include "file/open_regular.h"
#include "file/path.h"
#include "symbol/functions.h"
#include "symbol/internal/lru_directory.h"
#include "symbol/symtab.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/*
 * A file, its numbers little-endian:
 *
 *	0	magic "opfuncs1"
 *	8	u32 owner of the file that has the functions
 *	12	u32 bytes of the table
 *	16	u32 CRC-32 of the owner, the number of bytes, and the table
 *	20	the table (symbol/functions.c)
 *
 * and, if its lines were kept, too:
 *
 *	0	magic "oplines1"
 *	8	u32 bytes of the lines
 *	12	u32 CRC-32 of the lines
 *	16	the lines (dwarf/kept_lines.h)
 */
struct header {
	char magic[8];
	uint32_t owner, size, crc;
};
static_assert(sizeof(struct header) == 20, "as on disk");
static const char magic[] = "opfuncs1";

struct lines_header {
	char magic[8];
	uint32_t size, crc;
};
static_assert(sizeof(struct lines_header) == 16, "as on disk");
static const char lines_magic[] = "oplines1";

enum {
	/* What may be written per second, and at once after a pause. */
	BYTES_PER_S = 4 << 20,
	BYTES_AT_ONCE = 32 << 20,
	BYTES_OF_TABLE = 16 << 10, /* a table counts for at least as many */
	KNOWN_MAX = 65536,
	BLOCK = 4096, /* of a file system: what the smallest file takes */
};
#define LOOK_AGAIN_NS (3600 * NS_PER_S)

/* What is known of a table. */
struct known {
	uint64_t looked_ns; /* since when */
	bool is_lacking;    /* there is none */
	bool is_others;	    /* it is, or may be, of a file that is not root's */
};

struct function_store {
	char *path;
	int directory;	  /* -1: not opened */
	uint64_t limit;	  /* atomic */
	struct map known; /* struct known by the hash of the key */
	struct keyed_hash hash;
	uint64_t left, filled_ns;	     /* bytes that may be written, as of when */
	struct function_store_counts counts; /* atomic */
};

bool function_key(const struct file_identity *file, const struct file_version *version,
		  char ret[FUNCTION_KEY])
{
	static_assert((int)FUNCTION_KEY > (int)BUILD_ID_TEXT, "a build-id fits");

	if (version->build_id.size) {
		(void)build_id_text(&version->build_id, ret);
		return true;
	}
	(void)snprintf(ret, FUNCTION_KEY,
		       "%" PRIx64 "-%" PRIx64 "-%" PRIx64 "-%" PRIx64 "-%" PRIx64, file->device,
		       file->inode, version->size, version->mtime, version->ctime_ns);
	return file->inode && version->size;
}

struct function_store *function_store_new(const char *session_dir, uint64_t limit)
{
	struct function_store *s = xcalloc(1, sizeof(*s));

	s->path = path_join(session_dir, "symbols");
	s->directory = -1;
	s->hash = keyed_hash_new();
	s->limit = limit;
	s->left = BYTES_AT_ONCE;
	s->filled_ns = clock_now_ns();
	return s;
}

void function_store_set_limit(struct function_store *s, uint64_t limit)
{
	__atomic_store_n(&s->limit, limit, __ATOMIC_RELAXED);
}

static uint64_t limit_of(const struct function_store *s)
{
	return __atomic_load_n(&s->limit, __ATOMIC_RELAXED);
}

static void forget_all(struct function_store *s)
{
	map_for_each (&s->known, slot)
		free(slot->value);
	map_done(&s->known);
}

void function_store_free(struct function_store *s)
{
	if (!s)
		return;
	forget_all(s);
	if (s->directory >= 0)
		(void)close(s->directory);
	free(s->path);
	free(s);
}

static void count(uint64_t *counter, uint64_t n)
{
	__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

void function_store_put_off(struct function_store *s, uint64_t n)
{
	count(&s->counts.functions_put_off, n);
}

void function_store_count(const struct function_store *s, struct function_store_counts *ret)
{
	const uint64_t *from = (const uint64_t *)&s->counts;
	uint64_t *to = (uint64_t *)ret;
	size_t i;

	for (i = 0; i < sizeof(*ret) / sizeof(*to); i++)
		to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}

/* Removes what exceeds the limit, and measures the rest. */
static void trim(struct function_store *s)
{
	uint64_t bytes;
	size_t removed = lru_directory_trim(s->directory, "", limit_of(s), &bytes);

	/* It is not known which are left. */
	if (removed)
		forget_all(s);
	count(&s->counts.functions_evicted, removed);
	__atomic_store_n(&s->counts.bytes, bytes, __ATOMIC_RELAXED);
}

/* Opens the directory, and for @make creates it. */
static int open_directory(struct function_store *s, bool make)
{
	int r;

	if (s->directory >= 0)
		return 0;
	r = make ? path_make_dirs(s->path, 0755, NULL) : 0;
	if (r < 0)
		return r;
	s->directory = open(s->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (s->directory < 0)
		return -errno;
	trim(s);
	return 0;
}

static struct known *know(struct function_store *s, const char *key)
{
	uint64_t hash = keyed_hash_of(&s->hash, key, strlen(key));
	struct known *k = map_get(&s->known, hash);

	if (!k) {
		if (s->known.count >= KNOWN_MAX)
			forget_all(s);
		k = xcalloc(1, sizeof(*k));
		(void)map_set(&s->known, hash, k);
	}
	k->looked_ns = clock_now_ns();
	return k;
}

/* Looks for the table in the directory, and notes that it is in use. NULL if there is none. */
static const struct known *look(struct function_store *s, const char *key)
{
	_cleanup_close_ int fd = -1;
	struct header h;
	struct known *k;
	struct stat st;

	if (open_directory(s, false) < 0)
		return NULL;
	fd = open_regular_at(s->directory, key, O_RDONLY | O_NOFOLLOW);
	if (fd < 0 || fstat(fd, &st) < 0 || pread(fd, &h, sizeof(h), 0) != sizeof(h) ||
	    memcmp(h.magic, magic, sizeof(h.magic)) != 0)
		return NULL;
	lru_directory_touch(fd, &st);
	k = know(s, key);
	k->is_lacking = false;
	k->is_others = h.owner != 0;
	return k;
}

bool function_store_wants(struct function_store *s, const char *key, bool is_new)
{
	const struct known *k = map_get(&s->known, keyed_hash_of(&s->hash, key, strlen(key)));

	if (!limit_of(s))
		return false;
	if (!k || clock_now_ns() - k->looked_ns > LOOK_AGAIN_NS)
		k = look(s, key);
	return !k || (is_new && k->is_others);
}

void function_store_lacks(struct function_store *s, const char *key)
{
	struct known *k = know(s, key);

	k->is_lacking = true;
	/* Another file of this key may have what this one lacks. */
	k->is_others = true;
}

/* Takes the budget for @size bytes; false if it is used up. */
static bool spend(struct function_store *s, size_t size)
{
	uint64_t now_ns = clock_now_ns();
	uint64_t gone_ms = MIN((now_ns - s->filled_ns) / 1000000, (uint64_t)3600000);

	s->left = MIN(s->left + gone_ms * BYTES_PER_S / 1000, (uint64_t)BYTES_AT_ONCE);
	s->filled_ns += gone_ms * 1000000;
	if (s->left < MAX(size, (size_t)BYTES_OF_TABLE))
		return false;
	s->left -= MAX(size, (size_t)BYTES_OF_TABLE);
	return true;
}

static uint32_t checksum(const struct header *h, const void *bytes)
{
	uint32_t crc = (uint32_t)crc32_z(0, (const void *)&h->owner, 2 * sizeof(h->owner));

	return (uint32_t)crc32_z(crc, bytes, le32toh(h->size));
}

static bool write_all(int fd, const void *bytes, size_t size)
{
	return write(fd, bytes, size) == (ssize_t)size;
}

/* Writes a temporary file and renames it: readers see all of it or nothing. */
static int write_file(const struct function_store *s, const char *key,
		      const struct function_table *table)
{
	struct header h = { .owner = htole32(table->owner),
			    .size = htole32((uint32_t)table->size) };
	_cleanup_free_ char *path = path_join(s->path, key),
			    *temporary = path_join(s->path, "new.tmp");
	_cleanup_close_ int fd = -1;
	int r = 0;

	memcpy(h.magic, magic, sizeof(h.magic));
	h.crc = htole32(checksum(&h, table->bytes));
	fd = open_regular_new(temporary, O_WRONLY, 0644);
	if (fd < 0)
		return fd;
	/* Without a sync: the table is not needed before the file that it is of is gone. */
	if (!write_all(fd, &h, sizeof(h)) || !write_all(fd, table->bytes, table->size))
		r = -EIO;
	return path_put(temporary, path, 0, r);
}

static int put(struct function_store *s, const char *key, const struct function_table *table)
{
	int r = open_directory(s, true);

	if (r < 0)
		return r;
	r = write_file(s, key, table);
	if (r < 0) {
		/* It may have been removed: the next table makes it again. */
		(void)close(s->directory);
		s->directory = -1;
	}
	return r;
}

void function_store_put(struct function_store *s, const char *key,
			const struct function_table *table)
{
	struct known *k = map_get(&s->known, keyed_hash_of(&s->hash, key, strlen(key)));

	/* Anybody can make a file with the build-id of another. */
	if (k && !k->is_lacking && table->owner != 0)
		return;
	if (!spend(s, table->size)) {
		count(&s->counts.functions_put_off, 1);
		return;
	}
	if (table->size > FUNCTIONS_PACKED_MAX || put(s, key, table) < 0) {
		count(&s->counts.functions_failed, 1);
		function_store_lacks(s, key);
		return;
	}
	k = know(s, key);
	k->is_lacking = false;
	k->is_others = table->owner != 0;
	count(&s->counts.functions_kept, 1);
	count(&s->counts.bytes, (sizeof(struct header) + table->size + BLOCK - 1) / BLOCK * BLOCK);
	if (s->counts.bytes > limit_of(s))
		trim(s);
}

/* --- reading --- */

/* The parts of a whole file, in its bytes. */
struct parts {
	const uint8_t *table, *lines; /* ->lines is NULL if there are none */
	size_t size, lines_size;
};

/* Reads the file into *@ret; its size, or -errno. */
static ssize_t read_file(const char *path, uint8_t **ret)
{
	enum { MAX_BYTES = FUNCTIONS_PACKED_MAX + KEPT_LINES_PACKED_MAX };
	_cleanup_close_ int fd = open_regular(path, O_RDONLY | O_NOFOLLOW);
	struct stat st;
	size_t size;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	size = (size_t)st.st_size;
	if (size < sizeof(struct header) ||
	    size > sizeof(struct header) + sizeof(struct lines_header) + MAX_BYTES)
		return -EBADMSG;
	*ret = xmalloc(size);
	return read(fd, *ret, size) == st.st_size ? st.st_size : -EBADMSG;
}

/* Finds the lines in what follows the table. */
static bool find_lines(const uint8_t *bytes, size_t size, struct parts *ret)
{
	struct lines_header h;

	if (size < sizeof(h))
		return false;
	memcpy(&h, bytes, sizeof(h));
	ret->lines = bytes + sizeof(h);
	ret->lines_size = size - sizeof(h);
	return !memcmp(h.magic, lines_magic, sizeof(h.magic)) &&
	       le32toh(h.size) == ret->lines_size &&
	       le32toh(h.crc) == (uint32_t)crc32_z(0, ret->lines, ret->lines_size);
}

/* Finds and checks the parts of a file. */
static bool find_parts(const uint8_t *bytes, size_t size, struct parts *ret)
{
	struct header h;

	memcpy(&h, bytes, sizeof(h));
	*ret = (struct parts){ .table = bytes + sizeof(h), .size = le32toh(h.size) };
	size -= sizeof(h);
	return !memcmp(h.magic, magic, sizeof(h.magic)) && ret->size <= size &&
	       le32toh(h.crc) == checksum(&h, ret->table) &&
	       (ret->size == size || find_lines(ret->table + ret->size, size - ret->size, ret));
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

size_t function_store_memory(const char *path)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	struct parts parts;

	return read_parts(path, &bytes, &parts, NULL) < 0
		       ? SIZE_MAX
		       : functions_memory(parts.table, parts.size);
}

int function_store_read(const char *path, const char *name, struct symtab **ret, struct error *err)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	struct parts parts;
	int r = read_parts(path, &bytes, &parts, err);

	if (r < 0)
		return r;
	r = functions_unpack(parts.table, parts.size, name, ret);
	return r < 0 ? error_set(err, r, "%s: damaged", path) : 0;
}

int function_store_read_lines(const char *path, struct kept_lines *ret, struct error *err)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	struct parts parts;
	int r = read_parts(path, &bytes, &parts, err);

	if (r < 0)
		return r;
	if (!parts.lines)
		return error_set(err, -ENODATA, "%s: no lines were kept", path);
	r = kept_lines_unpack(parts.lines, parts.lines_size, ret);
	return r < 0 ? error_set(err, r, "%s: damaged", path) : 0;
}

/* --- adding lines --- */

/* Writes the table with the lines to a temporary file and renames it. */
static int write_with_lines(const char *path, const uint8_t *table, size_t size,
			    const struct strbuf *lines)
{
	struct lines_header h = { .size = htole32((uint32_t)lines->length),
				  .crc = htole32((uint32_t)crc32_z(0, (const uint8_t *)lines->text,
								   lines->length)) };
	const int length = (int)(path_base(path) - path);
	_cleanup_free_ char *temporary = xasprintf("%.*snew.tmp", length, path);
	_cleanup_close_ int fd = -1;
	int r = 0;

	memcpy(h.magic, lines_magic, sizeof(h.magic));
	fd = open_regular_new(temporary, O_WRONLY, 0644);
	if (fd < 0)
		return fd;
	if (!write_all(fd, table, size) || !write_all(fd, &h, sizeof(h)) ||
	    !write_all(fd, lines->text, lines->length))
		r = -EIO;
	return path_put(temporary, path, 0, r);
}

/* Packs @lines with those that are kept already, or alone if all are too many. */
static int pack_with_kept(const struct parts *parts, const struct kept_lines *lines,
			  struct strbuf *out)
{
	_cleanup_(kept_lines_done) struct kept_lines kept = { 0 }, all = { 0 };

	if (!parts->lines || kept_lines_unpack(parts->lines, parts->lines_size, &kept) < 0)
		return kept_lines_pack(lines, out);
	kept_lines_merge(&kept, lines, &all);
	if (all.count <= KEPT_LINES_ROWS_MAX && kept_lines_pack(&all, out) == 0)
		return 0;
	return kept_lines_pack(lines, out);
}

int function_store_add_lines(const char *path, const struct kept_lines *lines, struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf packed = STRBUF_INIT;
	_cleanup_free_ uint8_t *bytes = NULL;
	struct parts parts;
	int r = read_parts(path, &bytes, &parts, err);

	if (r < 0)
		return r;
	r = pack_with_kept(&parts, lines, &packed);
	if (r == 0)
		r = write_with_lines(path, bytes, sizeof(struct header) + parts.size, &packed);
	return r < 0 ? error_errno(err, r, "%s", path) : 0;
}
