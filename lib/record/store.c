/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/store.h"

#include "base/hash.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/path.h"
#include "record/binary.h"
#include "sfile/sfile.h"
#include "sfile/sname.h"

#include <errno.h>
#include <sys/resource.h>
#include <time.h>

#define MAPPED_MAX_DEFAULT ((size_t)24 << 20)
#define RETRY_NS	   1000000000ULL

/* Descriptors left to everything else; files kept open at least; causes remembered. */
enum { FD_RESERVE = 256, OPEN_MIN = 8, OPEN_MAX = 16384, CAUSES = 256 };

struct store {
	char *samples;
	const struct event *events;
	uint32_t cpu_type;
	double cpu_mhz;
	size_t mapped_max, open_max;

	struct map by_hash; /* chains of files */
	struct store_file *newest, *oldest;
	struct store_file *growing; /* the last one used: its ->mapped may be out of date */
	size_t count;		    /* entries, open or not */
	size_t open, mapped;	    /* files with a database, and their bytes */

	uint64_t retry_at_ns; /* no file can be opened for a cause of the machine: not before */
	bool said[CAUSES];    /* by errno */
};

/* The descriptors that sample files may take; the soft limit is raised to the hard one. */
static size_t descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return OPEN_MIN;
	if (limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
		(void)getrlimit(RLIMIT_NOFILE, &limit); /* what it is now, raised or not */
	}
	if (limit.rlim_cur < 2 * FD_RESERVE)
		return MAX((size_t)limit.rlim_cur / 2, (size_t)OPEN_MIN);
	return MIN((size_t)limit.rlim_cur - FD_RESERVE, (size_t)OPEN_MAX);
}

struct store *store_new(const struct store_config *config)
{
	struct store *s = xcalloc(1, sizeof(*s));

	s->samples = xstrdup(config->samples);
	s->events = config->events;
	s->cpu_type = config->cpu_type;
	s->cpu_mhz = config->cpu_mhz;
	s->mapped_max = config->mapped_max ? config->mapped_max : MAPPED_MAX_DEFAULT;
	s->open_max = config->open_max ? config->open_max : descriptors();
	return s;
}

void store_free(struct store *s)
{
	if (!s)
		return;
	store_close_all(s);
	map_done(&s->by_hash);
	free(s->samples);
	free(s);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

static uint64_t key_hash(const struct store_key *k)
{
	uint64_t images = (uint64_t)k->app->id << 32 | k->image->id;
	uint64_t rest = (uint64_t)k->event << 32 | (uint32_t)k->cpu;
	uint64_t task = (uint64_t)k->tgid << 32 ^ (uint64_t)k->tid;

	if (k->callee)
		rest = hash_add(rest, k->callee->id);
	return hash_u64(images) ^ hash_u64(rest * 0x9e3779b97f4a7c15ULL + task);
}

static bool key_equal(const struct store_key *a, const struct store_key *b)
{
	return a->image == b->image && a->app == b->app && a->event == b->event &&
	       a->callee == b->callee && a->cpu == b->cpu && a->tid == b->tid && a->tgid == b->tgid;
}

static void list_remove(struct store *s, struct store_file *f)
{
	*(f->newer ? &f->newer->older : &s->newest) = f->older;
	*(f->older ? &f->older->newer : &s->oldest) = f->newer;
}

static void list_push(struct store *s, struct store_file *f)
{
	f->newer = NULL;
	f->older = s->newest;
	*(s->newest ? &s->newest->newer : &s->oldest) = f;
	s->newest = f;
}

/* Asks the database how large it is by now. */
static void account(struct store *s, struct store_file *f)
{
	size_t mapped = f && f->db ? odb_mapped_bytes(f->db) : 0;

	if (!f)
		return;
	s->mapped += mapped - f->mapped;
	f->mapped = mapped;
}

static void file_close(struct store *s, struct store_file *f)
{
	s->mapped -= f->mapped;
	s->open -= f->db != NULL;
	sfile_close(f->sf);
	f->sf = NULL;
	f->db = NULL;
	f->mapped = 0;
}

/* Closes a file and forgets it. */
static void drop(struct store *s, struct store_file *f)
{
	struct store_file *first = map_get(&s->by_hash, f->hash), **at = &first;

	while (*at != f)
		at = &(*at)->next;
	*at = f->next;
	if (first)
		(void)map_set(&s->by_hash, f->hash, first);
	else
		(void)map_remove(&s->by_hash, f->hash);
	list_remove(s, f);
	if (f->key.image->recent == f)
		f->key.image->recent = NULL;
	if (s->growing == f)
		s->growing = NULL;
	file_close(s, f);
	s->count--;
	free(f);
}

/* Makes room, but keeps @needed. */
static void evict(struct store *s, const struct store_file *needed)
{
	while ((s->count > s->open_max || s->mapped > s->mapped_max) && s->oldest != needed)
		drop(s, s->oldest);
}

void store_close_all(struct store *s)
{
	while (s->oldest)
		drop(s, s->oldest);
	store_retry(s);
	for (int i = 0; i < CAUSES; i++)
		s->said[i] = false;
}

void store_retry(struct store *s)
{
	struct store_file *f;

	s->retry_at_ns = 0;
	for (f = s->newest; f; f = f->older)
		f->retry_at_ns = 0;
}

static char *file_path(const struct store *s, const struct store_key *k)
{
	const struct event *e = &s->events[k->event];
	struct sname name = { .app = k->app->image,
			      .image = k->image->image,
			      .has_callee = k->callee != NULL,
			      .event = e->name,
			      .count = (int32_t)e->count,
			      .unit_mask = (int32_t)e->unit_mask,
			      .tgid = k->tgid,
			      .tid = k->tid,
			      .cpu = k->cpu };
	_cleanup_free_ char *mangled = NULL;

	if (k->callee)
		name.callee = k->callee->image;
	mangled = sname_mangle(&name);
	return path_join(s->samples, mangled);
}

static bool say_once(struct store *s, int code)
{
	int cause = MIN(-code, CAUSES - 1);
	bool first = !s->said[cause];

	s->said[cause] = true;
	return first;
}

void store_complain(struct store *s, const struct store_file *f, int code)
{
	_cleanup_free_ char *path = NULL;
	struct error err = ERROR_INIT;

	if (!say_once(s, code))
		return;
	path = file_path(s, &f->key);
	(void)error_errno(&err, code, "cannot write %s", path);
	log_error("%s: its samples are lost and counted in stats/lost_samplefile", err.text);
}

/* Whether other files will fail likewise. */
static bool is_of_machine(int code)
{
	return code == -ENOSPC || code == -EDQUOT || code == -EROFS || code == -EIO ||
	       code == -EMFILE || code == -ENFILE || code == -ENOMEM;
}

/* Out of descriptors or mappings: lives with fewer files from now on. */
static bool shrink(struct store *s, const struct store_file *needed, int code)
{
	if ((code != -EMFILE && code != -ENFILE && code != -ENOMEM) || s->open < OPEN_MIN)
		return false;
	log_info("only %zu sample files can be open at a time", s->open);
	s->open_max = s->count - s->count / 8 - 1;
	evict(s, needed);
	return true;
}

static int file_create(struct store *s, struct store_file *f, const char *path, struct error *err)
{
	const struct store_key *k = &f->key;
	const struct event *e = &s->events[k->event];
	struct sfile_header header = { .cpu_type = s->cpu_type,
				       .event = e->code,
				       .unit_mask = e->unit_mask,
				       .count = (uint32_t)e->count,
				       .is_kernel = k->image->is_kernel,
				       .cpu_mhz = s->cpu_mhz,
				       .mtime = k->image->mtime,
				       .anon_start = k->image->image.start };

	if (k->callee) {
		header.cg_to_is_kernel = k->callee->is_kernel;
		header.cg_to_anon_start = k->callee->image.start;
	}
	return sfile_create(path, &header, &f->sf, err);
}

/* Opens the file of an entry if it is time to try. */
static bool file_open(struct store *s, struct store_file *f)
{
	uint64_t now = f->retry_at_ns || s->retry_at_ns ? now_ns() : 0;
	_cleanup_free_ char *path = NULL;
	struct error err = ERROR_INIT;
	int r;

	if (now < f->retry_at_ns || now < s->retry_at_ns)
		return false;
	path = file_path(s, &f->key);
	r = file_create(s, f, path, &err);
	if (r < 0 && shrink(s, f, r))
		r = file_create(s, f, path, &err);
	if (r < 0) {
		if (say_once(s, r))
			log_error("%s: its samples are lost and counted in stats/lost_samplefile",
				  err.text);
		f->retry_at_ns = now_ns() + RETRY_NS;
		if (is_of_machine(r))
			s->retry_at_ns = f->retry_at_ns;
		return false;
	}
	f->retry_at_ns = 0;
	f->db = sfile_odb(f->sf);
	s->open++;
	account(s, f);
	evict(s, f);
	return true;
}

static struct store_file *lookup(struct store *s, const struct store_key *key)
{
	uint64_t hash = key_hash(key);
	struct store_file *first = map_get(&s->by_hash, hash), *f;

	for (f = first; f; f = f->next)
		if (key_equal(&f->key, key))
			return f;
	f = xcalloc(1, sizeof(*f));
	f->key = *key;
	f->hash = hash;
	f->next = first;
	(void)map_set(&s->by_hash, hash, f);
	list_push(s, f);
	s->count++;
	return f;
}

struct store_file *store_get(struct store *s, const struct store_key *key)
{
	struct store_file *f = key->image->recent;

	if (s->growing) {
		account(s, s->growing);
		s->growing = NULL;
	}
	if (!f || !key_equal(&f->key, key))
		f = lookup(s, key);
	if (s->newest != f) {
		list_remove(s, f);
		list_push(s, f);
	}
	if (_unlikely_(s->count > s->open_max || s->mapped > s->mapped_max))
		evict(s, f);
	if (_unlikely_(!f->db) && !file_open(s, f))
		return NULL;
	key->image->recent = f;
	s->growing = f;
	return f;
}

size_t store_open_files(struct store *s, size_t *ret_mapped)
{
	account(s, s->growing);
	if (ret_mapped)
		*ret_mapped = s->mapped;
	return s->open;
}
