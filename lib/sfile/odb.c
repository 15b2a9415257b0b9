/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sfile/odb.h"

#include "base/mem.h"
#include "file/holes.h"
#include "file/open_regular.h"
#include "file/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>

/*
 * The file after the user's header, in host byte order:
 *
 *	descriptor	u32 size	slots, a power of two
 *			u32 current	slots in use, including slot 0
 *			u8 zero[24]
 *	nodes		size times { u64 key, u32 value, u32 next }, slot 0 unused
 *	hash table	size times u32: first node of the bucket's chain
 *
 * A writer orders its stores so that its death can leave only these states:
 *
 *  - An insert completes the node, links it as the head of its chain, then counts it. A writer that
 *    dies in between leaves one node, in slot `current`, that is linked but not counted.
 *  - Growth lengthens the file, builds the new hash table after the end of the old file (changing
 *    the nodes' next fields), then stores the new size. A writer that dies in between leaves a file
 *    that is too long for its size, and chains that must be rebuilt.
 *  - Rebuilding the chains unlinks the last node first and links it last. In every intact file the
 *    last node is the head of its chain; if it is not, a rebuild was interrupted.
 *
 * So three checks, of the length, of slot `current` and of the last node, show whether a file is
 * intact. The next node of a chain always has a lower index. The walk along a chain checks this, so
 * no damage can lead it out of the table or into a loop.
 */
struct descriptor {
	uint32_t size;
	uint32_t current;
	uint8_t zero[24];
};
static_assert(sizeof(struct descriptor) == 32, "as on disk");
static_assert(sizeof(struct odb_node) == 16, "as on disk");

enum {
	FIRST_SIZE = 128,
	ZEROS = 64 << 10,	/* bytes written at once when a file grows */
	COPY_MAX = 64 << 10,	/* readers copy files up to this size instead of mapping them */
	RELINK_AHEAD = 16,	/* nodes between the prefetch of a bucket and its use */
	POPULATE_MIN = 64 << 10 /* smaller ranges fault in page by page */
};

struct odb {
	uint32_t *hash;
	struct odb_node *nodes;
	uint32_t mask;	  /* slots - 1 */
	uint32_t current; /* copy of the descriptor's; readers use the descriptor itself */
	struct descriptor *descriptor;
	uint8_t *map;
	size_t mapped; /* bytes, the file length for this number of slots */
	size_t header_size;
	int fd;
	bool writable;
	bool copied; /* the map is allocated memory with a copy of the file */
};

static uint64_t file_length(size_t header_size, uint64_t size)
{
	return header_size + sizeof(struct descriptor) +
	       size * (sizeof(struct odb_node) + sizeof(uint32_t));
}

/* Sets the pointers into a mapping of @size slots. */
static void set_layout(struct odb *db, uint8_t *map, uint32_t size)
{
	db->map = map;
	db->mapped = file_length(db->header_size, size);
	db->mask = size - 1;
	db->descriptor = (struct descriptor *)(map + db->header_size);
	db->nodes = (struct odb_node *)(db->descriptor + 1);
	db->hash = (uint32_t *)(db->nodes + size);
}

static void link_node(struct odb *db, uint32_t i)
{
	uint32_t *head = &db->hash[odb_bucket(db->nodes[i].key, db->mask)];

	db->nodes[i].next = *head;
	__atomic_store_n(head, i, __ATOMIC_RELEASE);
}

/* Links nodes 1 to current - 1 into a zeroed hash table, in this order. */
static void link_nodes(struct odb *db)
{
	uint32_t i, ahead;

	for (i = 1; i < db->current; i++) {
		ahead = i + RELINK_AHEAD < db->current ? i + RELINK_AHEAD : i;
		__builtin_prefetch(&db->hash[odb_bucket(db->nodes[ahead].key, db->mask)], 1);
		link_node(db, i);
	}
}

/* Returns the head of the bucket of the last node. There must be at least one node. */
static uint32_t *last_head(struct odb *db)
{
	return &db->hash[odb_bucket(db->nodes[db->current - 1].key, db->mask)];
}

/* Rebuilds the chains in place. May be interrupted and started again. */
static void rebuild(struct odb *db)
{
	if (db->current > 1)
		__atomic_store_n(last_head(db), 0, __ATOMIC_SEQ_CST);
	memset(db->hash, 0, ((size_t)db->mask + 1) * sizeof(*db->hash));
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	link_nodes(db);
}

/* Extends a file with written zeros, which allocates its blocks: later stores there cannot fail. */
static int write_zeros(int fd, uint64_t from, uint64_t to)
{
	static const uint8_t zeros[ZEROS];
	struct iovec parts[16];
	ssize_t n;
	int i;

	while (from < to) {
		uint64_t left = to - from;

		for (i = 0; i < (int)ARRAY_SIZE(parts) && left; i++) {
			parts[i].iov_base = (void *)zeros;
			parts[i].iov_len = MIN(left, (uint64_t)ZEROS);
			left -= parts[i].iov_len;
		}
		n = pwritev(fd, parts, i, (off_t)from);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			from += (uint64_t)n;
	}
	return 0;
}

/* Maps pages before they are used, which is cheaper than a fault for each. Failure costs only
 * time. */
static void populate(uint8_t *from _unused_, const uint8_t *to _unused_)
{
#ifdef MADV_POPULATE_WRITE
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
	uint8_t *start = (uint8_t *)((uintptr_t)from & ~page);

	if (to - from >= POPULATE_MIN)
		(void)madvise(start, (size_t)(to - start), MADV_POPULATE_WRITE);
#else
#endif
}

static int grow(struct odb *db)
{
	uint32_t size = db->mask + 1;
	size_t before = db->mapped;
	uint64_t after = file_length(db->header_size, 2 * (uint64_t)size);
	void *map;
	int r;

	if (size > UINT32_MAX / 2 || after > SIZE_MAX / 2)
		return -EFBIG;
	r = write_zeros(db->fd, before, after);
	if (r == 0) {
		map = mremap(db->map, before, after, MREMAP_MAYMOVE);
		r = map == MAP_FAILED ? -errno : 0;
	}
	if (r < 0) {
		/* If this fails, the next odb_open() recovers the file. */
		(void)!ftruncate(db->fd, (off_t)before);
		return r;
	}
	set_layout(db, map, 2 * size);
	populate(db->map + before, db->map + db->mapped);
	link_nodes(db);
	__atomic_store_n(&db->descriptor->size, 2 * size, __ATOMIC_RELEASE);
	return 0;
}

int odb_start(int fd, const void *header, size_t header_size)
{
	const struct descriptor descriptor = { .size = FIRST_SIZE, .current = 1 };
	size_t length = file_length(header_size, FIRST_SIZE);
	_cleanup_free_ uint8_t *bytes = xcalloc(1, length);
	ssize_t n;

	if (header)
		memcpy(bytes, header, header_size);
	memcpy(bytes + header_size, &descriptor, sizeof(descriptor));
	n = write(fd, bytes, length);
	if (n == (ssize_t)length)
		return 0;
	return n < 0 ? -errno : -ENOSPC;
}

/* Creates the file under a temporary name and renames it when complete. Returns an open descriptor
 * or -errno. */
static int create_file(const char *path, const void *header, size_t header_size, struct error *err)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *temporary =
		xasprintf("%.*s.new.%d", slash ? (int)(slash + 1 - path) : 0, path, (int)gettid());
	_cleanup_close_ int fd = open_regular_new(temporary, O_RDWR, 0644);
	int r;

	if (fd < 0)
		return error_errno(err, fd, "cannot create %s", path);
	/* Without a sync (path_publish()): it has no samples yet, an empty one is made again. */
	r = path_put(temporary, path, 0, odb_start(fd, header, header_size));
	return r < 0 ? error_errno(err, r, "cannot create %s", path) : STEAL_FD(fd);
}

int odb_create(const char *path, const void *header, size_t header_size, struct error *err)
{
	_cleanup_close_ int fd = -1;

	if (access(path, F_OK) == 0)
		return error_errno(err, -EEXIST, "cannot create %s", path);
	fd = create_file(path, header, header_size, err);
	return fd < 0 ? fd : 0;
}

/* Reads the descriptor. Returns 0 or -errno (-EBADMSG if the file is too short). */
static int read_descriptor(int fd, size_t header_size, struct descriptor *ret)
{
	ssize_t n = pread(fd, ret, sizeof(*ret), (off_t)header_size);

	if (n < 0)
		return -errno;
	return n == sizeof(*ret) ? 0 : -EBADMSG;
}

/* Returns whether @length is valid for @size. A file may be longer, but only while it grows. */
static bool length_fits(size_t header_size, uint32_t size, uint64_t length)
{
	return length >= file_length(header_size, size) &&
	       length <= file_length(header_size, 2 * (uint64_t)size);
}

/* Reads the descriptor and checks it against the length of the file. Tries again if a writer grew
 * the file between the two reads. */
static int examine(int fd, const char *path, size_t header_size, struct descriptor *ret,
		   uint64_t *ret_length, struct error *err)
{
	uint64_t length = 0, before;
	struct stat st;
	int r;

	do {
		before = length;
		if (fstat(fd, &st) < 0)
			return error_errno(err, -errno, "%s", path);
		length = (uint64_t)st.st_size;
		r = read_descriptor(fd, header_size, ret);
		if (r == -EBADMSG)
			return error_set(err, r, "%s: cut short: %ju bytes", path,
					 (uintmax_t)length);
		if (r < 0)
			return error_errno(err, r, "%s", path);
	} while (length != before && !length_fits(header_size, ret->size, length));

	if (ret->size < 2 || (ret->size & (ret->size - 1)) != 0 || ret->current < 1 ||
	    ret->current > ret->size)
		return error_set(err, -EBADMSG, "%s: not a sample database: %u of %u slots used",
				 path, ret->current, ret->size);
	if (!length_fits(header_size, ret->size, length))
		return error_set(err, -EINVAL, "%s: %ju bytes long, %ju expected for %u slots",
				 path, (uintmax_t)length,
				 (uintmax_t)file_length(header_size, ret->size), ret->size);
	if (holes_prevail(fd, header_size + sizeof(*ret) +
				      ret->current * (uint64_t)sizeof(struct odb_node)))
		return error_set(err, -EBADMSG, "%s: %s", path, holes_text);
	*ret_length = length;
	return 0;
}

/* Repairs what a killed writer left; see the top of this file. */
static int recover(struct odb *db, uint64_t length, const char *path, struct error *err)
{
	uint32_t last = db->current;

	if (length != db->mapped) {
		if (db->current > 1)
			__atomic_store_n(last_head(db), 0, __ATOMIC_SEQ_CST);
		if (ftruncate(db->fd, (off_t)db->mapped) < 0)
			return error_errno(err, -errno, "%s: cannot undo an interrupted growth",
					   path);
		rebuild(db);
	} else if (last <= db->mask &&
		   db->hash[odb_bucket(db->nodes[last].key, db->mask)] == last) {
		db->descriptor->current = ++db->current;
	} else if (last > 1 && *last_head(db) != last - 1) {
		rebuild(db);
	}
	return 0;
}

/* Returns a copy of the first @size bytes of the file, or MAP_FAILED with errno set. */
static void *copy_file(int fd, size_t size)
{
	uint8_t *bytes = xmalloc(size);
	size_t done = 0;
	ssize_t n;

	while (done < size) {
		n = pread(fd, bytes + done, size - done, (off_t)done);
		if (n == 0)
			errno = EIO;
		if (n <= 0 && !(n < 0 && errno == EINTR)) {
			free(bytes);
			return MAP_FAILED;
		}
		done += n > 0 ? (size_t)n : 0;
	}
	return bytes;
}

int odb_open_fd(int fd, const char *path, enum odb_mode mode, size_t header_size, struct odb **ret,
		struct error *err)
{
	_cleanup_(odb_closep) struct odb *db = NULL;
	struct descriptor d;
	uint64_t length = 0;
	size_t size;
	void *map;
	int r = examine(fd, path, header_size, &d, &length, err);

	if (r < 0)
		return r;
	db = xcalloc(1, sizeof(*db));
	db->fd = -1;
	db->header_size = header_size;
	db->writable = mode == ODB_WRITE;
	size = file_length(header_size, d.size);
	db->copied = mode == ODB_READ_ONCE && size <= COPY_MAX;
	map = db->copied ? copy_file(fd, size)
			 : mmap(NULL, size, db->writable ? PROT_READ | PROT_WRITE : PROT_READ,
				MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		db->copied = false;
		return error_errno(err, -errno, "cannot read %s", path);
	}
	set_layout(db, map, d.size);
	/* A writer may be active. Only nodes counted before the copy was made are complete in
	 * it. */
	if (db->copied)
		db->descriptor->current = d.current;
	db->current = d.current;
	db->fd = fd;
	r = db->writable ? recover(db, length, path, err) : 0;
	if (r < 0) {
		db->fd = -1;
		return r;
	}
	*ret = STEAL(db);
	return 0;
}

bool odb_is_blank(int fd, size_t header_size)
{
	size_t length = header_size + sizeof(struct descriptor);
	_cleanup_free_ uint8_t *bytes = xcalloc(1, length);
	ssize_t n = pread(fd, bytes, length, 0), i = 0;

	while (i < n && !bytes[i])
		i++;
	return i == n;
}

int odb_open(const char *path, enum odb_mode mode, size_t header_size, struct odb **ret,
	     struct error *err)
{
	_cleanup_close_ int fd =
		open_regular(path, (mode == ODB_WRITE ? O_RDWR : O_RDONLY) | O_NOFOLLOW);
	int r;

	if (fd < 0 && (fd != -ENOENT || mode != ODB_WRITE))
		return error_set(err, fd, "cannot open %s: %s", path, open_regular_why(fd));
	if (mode == ODB_WRITE && (fd < 0 || odb_is_blank(fd, header_size))) {
		cleanup_closep(&fd);
		fd = create_file(path, NULL, header_size, err);
		if (fd < 0)
			return fd;
	}
	r = odb_open_fd(fd, path, mode, header_size, ret, err);
	if (r == 0)
		(void)STEAL_FD(fd);
	return r;
}

void odb_close(struct odb *db)
{
	if (!db)
		return;
	if (db->copied)
		free(db->map);
	else if (db->map)
		(void)munmap(db->map, db->mapped);
	cleanup_closep(&db->fd);
	free(db);
}

/* Adds a node for a key that has none yet. */
static int insert(struct odb *db, uint64_t key, uint32_t count)
{
	uint32_t i = db->current;
	int r;

	if (_unlikely_(i > db->mask)) {
		r = grow(db);
		if (r < 0)
			return r;
	}
	db->nodes[i].key = key;
	db->nodes[i].value = count;
	link_node(db, i);
	db->current = i + 1;
	__atomic_store_n(&db->descriptor->current, i + 1, __ATOMIC_RELEASE);
	return 0;
}

/* Returns the node of @key, or NULL. If NULL, *ret_whole is false if the chain is damaged. */
static inline struct odb_node *find(const struct odb *db, uint64_t key, bool *ret_whole)
{
	uint32_t i = db->hash[odb_bucket(key, db->mask)], limit = db->current;

	while (i - 1 < limit - 1) {
		struct odb_node *node = &db->nodes[i];

		if (node->key == key)
			return node;
		limit = i;
		i = node->next;
	}
	*ret_whole = i == 0;
	return NULL;
}

int odb_add(struct odb *db, uint64_t key, uint32_t count)
{
	bool whole = true;
	struct odb_node *node = find(db, key, &whole);

	if (_unlikely_(!whole)) {
		rebuild(db);
		node = find(db, key, &whole);
	}
	if (!node)
		return insert(db, key, count);
	if (__builtin_add_overflow(node->value, count, &count))
		count = UINT32_MAX;
	node->value = count;
	return 0;
}

void odb_prefetch(const struct odb *db, uint64_t key, enum odb_step step)
{
	const uint32_t *head = &db->hash[odb_bucket(key, db->mask)];
	const struct odb_node *node;

	if (step == ODB_STEP_BUCKET) {
		__builtin_prefetch(head, 1);
		return;
	}
	/* Damaged links may point outside the table, which is harmless to prefetch but not to
	 * read. */
	node = &db->nodes[*head & db->mask];
	if (step == ODB_STEP_SECOND && node->key != key)
		node = &db->nodes[node->next & db->mask];
	__builtin_prefetch(node, 1);
}

void odb_populate(struct odb *db)
{
	populate(db->map, db->map + db->mapped);
}

uint32_t odb_get(const struct odb *db, uint64_t key)
{
	bool whole = true;
	const struct odb_node *node;
	uint32_t sum = 0;
	size_t n, i;

	if (db->writable) {
		node = find(db, key, &whole);
		if (node || whole)
			return node ? node->value : 0;
	}
	node = odb_nodes(db, &n);
	for (i = 0; i < n; i++)
		if (node[i].key == key && __builtin_add_overflow(sum, node[i].value, &sum))
			return UINT32_MAX;
	return sum;
}

const struct odb_node *odb_nodes(const struct odb *db, size_t *ret_count)
{
	uint32_t current = __atomic_load_n(&db->descriptor->current, __ATOMIC_ACQUIRE);

	/* If the file has grown since it was opened, only the slots mapped then are visible. */
	*ret_count = current ? MIN(current - 1, db->mask) : 0;
	return db->nodes + 1;
}

void odb_forget(const struct odb *db, size_t count)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
	uintptr_t end = (uintptr_t)(db->nodes + 1 + MIN(count, (size_t)db->mask)) & ~page;

	if (!db->writable && !db->copied && end > (uintptr_t)db->map)
		(void)madvise(db->map, end - (uintptr_t)db->map, MADV_DONTNEED);
}

void *odb_header(struct odb *db)
{
	return db->map;
}

size_t odb_mapped_bytes(const struct odb *db)
{
	return db->mapped;
}

int odb_sync(struct odb *db)
{
	return msync(db->map, db->mapped, MS_SYNC) < 0 ? -errno : 0;
}
