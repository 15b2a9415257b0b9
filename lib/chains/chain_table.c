/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "chains/chain_table.h"

#include "base/macro.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "file/dirtree.h"
#include "file/holes.h"
#include "file/open_regular.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file, in host byte order: this header, then the records. */
struct header {
	char magic[8];
	uint32_t byte_order;
	uint32_t version;
	uint32_t kind;
	uint32_t record; /* bytes */
	uint32_t count;	 /* records, including record 0 */
	uint32_t zero;
};
static_assert(sizeof(struct header) == 32, "as on disk");
static_assert(sizeof(struct chain_place) == 8, "as on disk");
static_assert(sizeof(struct chain_node) == 12, "as on disk");

static const char magic[8] = "OPCHAINS";

enum {
	BYTE_ORDER_MARK = 0x01020304,
	VERSION = 1,
	GROWTH_MIN = 4 << 10,
	GROWTH_MAX = 1 << 20,
};

static const size_t record_sizes[] = {
	[CHAIN_TABLE_PLACES] = sizeof(struct chain_place),
	[CHAIN_TABLE_NODES] = sizeof(struct chain_node),
};

static struct header *header_of(const struct chain_table *t)
{
	return (struct header *)t->map;
}

static size_t bytes_of(const struct chain_table *t, uint32_t count)
{
	return sizeof(struct header) + (size_t)count * t->record;
}

/* Writes the header and record 0 if the file is empty or has only zeros left by a killed writer. */
static int make_blank_usable(struct chain_table *t, const struct header *wanted, uint64_t length)
{
	uint8_t bytes[sizeof(struct header) + sizeof(struct chain_node)] = { 0 };
	uint8_t found[sizeof(bytes)];
	size_t need = bytes_of(t, 1);
	ssize_t n = pread(t->fd, found, MIN(length, (uint64_t)sizeof(struct header)), 0);

	if (n < 0 || memcmp(found, bytes, (size_t)n))
		return n < 0 ? -errno : 0;
	memcpy(bytes, wanted, sizeof(*wanted));
	n = pwrite(t->fd, bytes, need, 0);
	if (n == (ssize_t)need)
		return 0;
	return n < 0 ? -errno : -ENOSPC;
}

/* Checks the header and length and sets the count. */
static int check_header(struct chain_table *t, const struct header *wanted, const char *path,
			struct error *err)
{
	struct header h;
	uint64_t room;

	memcpy(&h, t->map, sizeof(h));
	if (memcmp(h.magic, wanted->magic, sizeof(h.magic)))
		return error_set(err, -EBADMSG, "%s: not a call-chain file", path);
	if (h.byte_order == __builtin_bswap32(wanted->byte_order))
		return error_set(err, -ENOTSUP,
				 "%s: call chains from a machine with the other byte order", path);
	if (h.byte_order == wanted->byte_order && h.version != wanted->version)
		return error_set(err, -ENOTSUP, "%s: call chains of version %u, not %u", path,
				 h.version, wanted->version);
	if (h.byte_order != wanted->byte_order || h.kind != wanted->kind ||
	    h.record != wanted->record || !h.count)
		return error_set(err, -EBADMSG, "%s: damaged header", path);
	room = (t->mapped - sizeof(h)) / t->record;
	t->damaged = h.count > room;
	t->count = (uint32_t)MIN((uint64_t)h.count, room);
	return t->count ? 0 : error_set(err, -EBADMSG, "%s: cut short", path);
}

/* A file without a header is empty: its writer was killed before it wrote anything, or the power
 * was cut before it reached the disk. */
static int map_file(struct chain_table *t, const struct header *wanted, const char *path,
		    struct error *err)
{
	static const struct header blank;
	struct stat st;
	void *map;
	int r;

	if (fstat(t->fd, &st) < 0)
		return error_errno(err, -errno, "%s", path);
	if (t->writable && (r = make_blank_usable(t, wanted, (uint64_t)st.st_size)) < 0)
		return error_errno(err, r, "cannot write %s", path);
	if (fstat(t->fd, &st) < 0)
		return error_errno(err, -errno, "%s", path);
	if (st.st_size == 0) {
		t->count = 1;
		return 0;
	}
	if ((uint64_t)st.st_size < sizeof(struct header))
		return error_set(err, -EBADMSG, "%s: cut short", path);
	if (holes_prevail(t->fd, (uint64_t)st.st_size))
		return error_set(err, -EBADMSG, "%s: %s", path, holes_text);
	map = mmap(NULL, (size_t)st.st_size, PROT_READ | (t->writable ? PROT_WRITE : 0), MAP_SHARED,
		   t->fd, 0);
	if (map == MAP_FAILED)
		return error_errno(err, -errno, "cannot map %s", path);
	if (!t->writable && !memcmp(map, &blank, sizeof(blank))) {
		(void)munmap(map, (size_t)st.st_size);
		t->count = 1;
		return 0;
	}
	t->map = map;
	t->mapped = (size_t)st.st_size;
	return check_header(t, wanted, path, err);
}

int chain_table_open(struct chain_table *t, const char *path, enum chain_table_kind kind,
		     bool write, struct error *err)
{
	struct header wanted = { .byte_order = BYTE_ORDER_MARK,
				 .version = VERSION,
				 .kind = kind,
				 .record = (uint32_t)record_sizes[kind],
				 .count = 1 };
	int r;

	memcpy(wanted.magic, magic, sizeof(magic));
	*t = CHAIN_TABLE_INIT;
	t->record = record_sizes[kind];
	t->writable = write;
	t->fd = write ? open_regular_or_create(path, O_RDWR, 0644)
		      : open_regular(path, O_RDONLY | O_NOFOLLOW);
	if (t->fd < 0)
		return error_set(err, t->fd, "%s: %s", path, open_regular_why(t->fd));
	r = map_file(t, &wanted, path, err);
	if (r < 0) {
		t->writable = false;
		chain_table_close(t);
	}
	return r;
}

void chain_table_forget(const struct chain_table *t, uint32_t before)
{
	if (t->mapped)
		(void)madvise(t->map, MIN((size_t)before * t->record, t->mapped), MADV_DONTNEED);
}

void chain_table_close(struct chain_table *t)
{
	if (t->map && t->writable && ftruncate(t->fd, (off_t)bytes_of(t, t->count)) < 0)
		log_warn("cannot return the unused space of a call-chain file: %s",
			 strerror(errno));
	if (t->map)
		(void)munmap(t->map, t->mapped);
	if (t->fd >= 0)
		(void)close(t->fd);
	*t = CHAIN_TABLE_INIT;
}

/* Extends the file with zeros by writing them, so that its blocks are allocated and later stores to
 * the mapping cannot fail. */
static int grow(struct chain_table *t)
{
	size_t used = bytes_of(t, t->count);
	size_t wanted = MAX(used / 4, (size_t)GROWTH_MIN), more = MIN(wanted, (size_t)GROWTH_MAX);
	_cleanup_free_ uint8_t *zeros = xcalloc(1, more);
	ssize_t n = pwrite(t->fd, zeros, more, (off_t)used);
	void *map;

	if (n < (ssize_t)t->record)
		return n < 0 ? -errno : -ENOSPC;
	map = mremap(t->map, t->mapped, used + (size_t)n, MREMAP_MAYMOVE);
	if (map == MAP_FAILED)
		return -errno;
	t->map = map;
	t->mapped = used + (size_t)n;
	return 0;
}

uint32_t chain_table_add(struct chain_table *t, const void *record)
{
	uint32_t i = t->count;
	int r = 0;

	if (i == UINT32_MAX)
		r = -EFBIG;
	else if (bytes_of(t, i + 1) > t->mapped)
		r = grow(t);
	if (r < 0) {
		errno = -r;
		return 0;
	}
	memcpy(chain_table_at(t, i), record, t->record);
	__atomic_store_n(&header_of(t)->count, i + 1, __ATOMIC_RELEASE);
	t->count = i + 1;
	return i;
}

void chain_table_cut(struct chain_table *t, uint32_t count)
{
	if (count >= t->count)
		return;
	__atomic_store_n(&header_of(t)->count, count, __ATOMIC_RELEASE);
	memset(chain_table_at(t, count), 0, (t->count - count) * t->record);
	t->count = count;
}

/* Gets the number in the name of a file of nodes; returns false if it is another file. */
static bool pair_of(const char *name, uint32_t *ret)
{
	static const char prefix[] = "nodes.";
	const char *at = name + MIN(strlen(name), strlen(prefix));
	uint64_t number;

	if (strncmp(name, prefix, strlen(prefix)) != 0 || parse_dec(&at, &number) < 0 || *at ||
	    number >= UINT32_MAX)
		return false;
	*ret = (uint32_t)number;
	return true;
}

static int compare(const void *pa, const void *pb)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return (a > b) - (a < b);
}

int chain_pairs(const char *dir, uint32_t **ret, size_t *ret_count, struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf names = STRBUF_INIT;
	_cleanup_free_ uint32_t *list = NULL;
	size_t count = 0, room = 0, at = 0;
	int r = dirtree_names_of(dir, &names);
	const char *name;
	uint32_t number;

	if (r < 0 && r != -ENOENT)
		return error_errno(err, r, "%s", dir);
	while ((name = dirtree_next_name(&names, &at))) {
		if (!pair_of(name, &number))
			continue;
		array_grow(&list, count + 1, &room);
		list[count++] = number;
	}
	if (count)
		qsort(list, count, sizeof(*list), compare);
	*ret = STEAL(list);
	*ret_count = count;
	return 0;
}
