/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/symcache.h"

#include "base/digest.h"
#include "base/log.h"
#include "base/mem.h"
#include "file/open_regular.h"
#include "file/path.h"
#include "symbol/internal/lru_directory.h"
#include "symbol/internal/symcache_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>

enum { NAME_SIZE = 48 };

struct symcache {
	char *path; /* for messages */
	int directory;
	uint64_t cap;
	uint64_t written; /* bytes */
	struct symcache_stats stats;
};

/* A table in use. */
struct mapped {
	struct symcache *cache;
	char name[NAME_SIZE];
	struct symcache_view view;
	bool damaged;
	struct symcache_reload reload;
	struct symtab *fresh; /* read from the source because of damage, or NULL */
};

char *symcache_directory(void)
{
	const char *named = getenv("OPROFILE_SYMBOL_CACHE"), *home;

	if (named && *named)
		return strcmp(named, "no") ? xstrdup(named) : NULL;
	if (geteuid() == 0)
		return xstrdup("/var/cache/oprofile");
	home = getenv("XDG_CACHE_HOME");
	if (home && path_is_absolute(home))
		return path_join(home, "oprofile");
	home = getenv("HOME");
	return home && path_is_absolute(home) ? path_join(home, ".cache/oprofile") : NULL;
}

/* Whether nobody else can write to the directory. */
static bool is_ours(int directory)
{
	struct stat st;

	return fstat(directory, &st) == 0 && st.st_uid == geteuid() && !(st.st_mode & 022);
}

struct symcache *symcache_open(const char *directory, uint64_t cap)
{
	_cleanup_close_ int fd = -1;
	struct error err = ERROR_INIT;
	struct symcache *c;

	if (path_make_dirs(directory, 0700, &err) < 0) {
		log_debug("no symbol cache: %s", err.text);
		return NULL;
	}
	fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || !is_ours(fd)) {
		log_debug("no symbol cache: %s: others may write to it", directory);
		return NULL;
	}
	c = xcalloc(1, sizeof(*c));
	c->path = xstrdup(directory);
	c->directory = STEAL_FD(fd);
	c->cap = cap;
	return c;
}

static void name_file(const char *key, char name[NAME_SIZE])
{
	size_t size = strlen(key);

	(void)snprintf(name, NAME_SIZE, "%016" PRIx64 "%016" PRIx64 ".sym",
		       digest_bytes(key, size, 1), digest_bytes(key, size, 2));
}

/* Counts and removes a damaged file. */
static void discard(struct symcache *c, const char *name)
{
	log_debug("%s/%s: damaged or from another version; written again", c->path, name);
	(void)unlinkat(c->directory, name, 0);
	__atomic_fetch_add(&c->stats.damaged, 1, __ATOMIC_RELAXED);
}

static void release_mapped(void *data)
{
	struct mapped *m = data;

	if (m->damaged)
		discard(m->cache, m->name);
	symtab_free(m->fresh);
	symcache_view_done(&m->view);
	(void)munmap((void *)m->view.bytes, m->view.size);
	if (m->reload.release)
		m->reload.release(m->reload.data);
	free(m);
}

/* A symbol whose page is damaged: from the table's source. */
static void read_fresh(struct mapped *m, size_t i, struct symbol *ret)
{
	if (!m->damaged && m->reload.load)
		m->fresh = m->reload.load(m->reload.data);
	m->damaged = true;
	if (m->fresh && symtab_count(m->fresh) == m->view.header->count) {
		*ret = *symtab_at(m->fresh, i);
		return;
	}
	*ret = (struct symbol){ .offset = i ? m->view.ends[i - 1] : 0,
				.end = m->view.ends[i],
				.limit = m->view.ends[i],
				.name = "(damaged in the symbol cache)",
				.whole = (uint32_t)i };
}

static void read_symbol(void *data, size_t i, struct symbol *ret)
{
	struct mapped *m = data;

	if (!symcache_view_read(&m->view, i, ret))
		read_fresh(m, i, ret);
}

/* Maps the file called @name; NULL, with errno ENOENT, if there is none, or it is discarded: it is
 * damaged, or another user put it there while the directory was open to others. */
static struct mapped *map_file(struct symcache *c, const char *key, const char *name)
{
	_cleanup_close_ int fd = open_regular_at(c->directory, name, O_RDONLY | O_NOFOLLOW);
	struct mapped *m;
	struct stat st;
	void *bytes;

	if (fd < 0 || fstat(fd, &st) < 0)
		return NULL;
	bytes = S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_size > 0
			? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
			: MAP_FAILED;
	if (bytes == MAP_FAILED) {
		discard(c, name);
		return NULL;
	}
	m = xcalloc(1, sizeof(*m));
	if (symcache_view_init(&m->view, bytes, (size_t)st.st_size, key) < 0) {
		(void)munmap(bytes, (size_t)st.st_size);
		free(m);
		discard(c, name);
		return NULL;
	}
	m->cache = c;
	(void)strcpy(m->name, name);
	lru_directory_touch(fd, &st);
	return m;
}

struct symtab *symcache_stored(struct symcache *c, const char *key,
			       const struct symcache_reload *reload)
{
	char name[NAME_SIZE];
	struct mapped *m;
	struct symtab *st;

	name_file(key, name);
	m = map_file(c, key, name);
	if (!m)
		return NULL;
	if (reload)
		m->reload = *reload;
	st = symtab_new_from(&(struct symtab_source){ .count = m->view.header->count,
						      .ends = m->view.ends,
						      .read = read_symbol,
						      .data = m });
	symtab_hold(st, m, release_mapped);
	return st;
}

struct symtab *symcache_find(struct symcache *c, const char *key,
			     const struct symcache_reload *reload)
{
	struct symtab *st = symcache_stored(c, key, reload);

	__atomic_fetch_add(st ? &c->stats.hits : &c->stats.misses, 1, __ATOMIC_RELAXED);
	return st;
}

/* Writes a temporary file and renames it: readers see all of it or nothing. */
static int write_file(struct symcache *c, const char *key, const char *name,
		      const struct symtab *st)
{
	_cleanup_free_ char *temporary = xasprintf("%s.%d.tmp", name, (int)gettid());
	_cleanup_close_ int fd = -1;
	struct stat file;
	int r;

	(void)unlinkat(c->directory, temporary, 0);
	fd = openat(c->directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	r = symcache_write(fd, key, st);
	/* Without a sync: what a power cut damages is not used, but made again. */
	if (r == 0 &&
	    (fstat(fd, &file) < 0 || renameat(c->directory, temporary, c->directory, name) < 0))
		r = -errno;
	if (r == 0)
		__atomic_fetch_add(&c->written, (uint64_t)file.st_size, __ATOMIC_RELAXED);
	if (r < 0)
		(void)unlinkat(c->directory, temporary, 0);
	return r;
}

void symcache_store(struct symcache *c, const char *key, const struct symtab *st)
{
	char name[NAME_SIZE];
	int r;

	name_file(key, name);
	r = write_file(c, key, name, st);
	if (r < 0)
		log_debug("%s/%s: %s", c->path, name, strerror(-r));
	__atomic_fetch_add(r < 0 ? &c->stats.failed : &c->stats.stored, 1, __ATOMIC_RELAXED);
}

const struct symcache_stats *symcache_stats(const struct symcache *c)
{
	return &c->stats;
}

void symcache_close(struct symcache *c)
{
	uint32_t random = 0;
	uint64_t left;

	if (!c)
		return;
	(void)getrandom(&random, sizeof(random), GRND_NONBLOCK);
	if (lru_directory_is_due(c->written, c->cap, random))
		c->stats.evicted += lru_directory_trim(c->directory, ".sym", c->cap, &left);
	(void)close(c->directory);
	free(c->path);
	free(c);
}
