/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/function_store.h"

#include "base/clock.h"
#include "base/keyed_hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "file/build_id.h"
#include "file/file_identity.h"
#include "file/open_regular.h"
#include "file/path.h"
#include "symbol/functions.h"
#include "symbol/function_file.h"
#include "symbol/internal/lru_directory.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
	bool is_cut;	    /* it lacks functions that were not sampled */
	uint32_t owner;	    /* of the file that it is of */
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
	struct function_header h;
	struct stat st, now;
	struct known *k;

	if (open_directory(s, false) < 0)
		return NULL;
	fd = open_regular_at(s->directory, key, O_RDONLY | O_NOFOLLOW);
	if (fd < 0 || fstat(fd, &st) < 0 || pread(fd, &h, sizeof(h), 0) != sizeof(h) ||
	    !function_header_is_one(&h))
		return NULL;
	lru_directory_touch(fd, &st);
	/* It may have been cut before it was noted that it is in use: then all of it is needed. */
	if (fstatat(s->directory, key, &now, AT_SYMLINK_NOFOLLOW) < 0 || now.st_ino != st.st_ino)
		return NULL;
	k = know(s, key);
	k->is_lacking = false;
	k->owner = le32toh(h.owner);
	k->is_others = k->owner != 0;
	k->is_cut = function_header_is_cut(&h);
	return k;
}

bool function_store_wants(struct function_store *s, const char *key, bool is_new)
{
	const struct known *k = map_get(&s->known, keyed_hash_of(&s->hash, key, strlen(key)));

	if (!limit_of(s))
		return false;
	if (!k || clock_now_ns() - k->looked_ns > LOOK_AGAIN_NS)
		k = look(s, key);
	return !k || k->is_cut || (is_new && k->is_others);
}

void function_store_lacks(struct function_store *s, const char *key)
{
	struct known *k = know(s, key);

	k->is_lacking = true;
	k->is_cut = false;
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

static int put(struct function_store *s, const char *key, const struct function_table *table)
{
	_cleanup_free_ char *path = path_join(s->path, key);
	int r = open_directory(s, true);

	if (r < 0)
		return r;
	r = function_file_put(path, table);
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
	if (k && !k->is_lacking && table->owner != 0 && !(k->is_cut && k->owner == table->owner))
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
	k->is_lacking = k->is_cut = false;
	k->owner = table->owner;
	k->is_others = table->owner != 0;
	count(&s->counts.functions_kept, 1);
	count(&s->counts.bytes,
	      (sizeof(struct function_header) + table->size + BLOCK - 1) / BLOCK * BLOCK);
	if (s->counts.bytes > limit_of(s))
		trim(s);
}

int function_store_put_lines(struct function_store *s, const char *key, bool replaces_last,
			     const struct function_table *lines)
{
	_cleanup_free_ char *path = path_join(s->path, key);
	uint64_t grown = 0;
	int r;

	if (!spend(s, lines->size))
		return -EAGAIN;
	r = function_file_put_lines(path, replaces_last, lines, &grown);
	count(&s->counts.bytes, r == 0 ? grown : 0);
	if (r == 0 && s->counts.bytes > limit_of(s))
		trim(s);
	return r;
}

void function_store_count_lines(struct function_store *s, int code)
{
	if (code == 0)
		count(&s->counts.lines_kept, 1);
	else if (code != -ENODATA)
		count(&s->counts.lines_put_off, 1);
}
