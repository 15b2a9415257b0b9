/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "identity/cookie.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "identity/internal/cookie_table.h"
#include "interpreter/python_lines.h"

#include <string.h>

struct cookie_table *cookie_table_new(void)
{
	struct cookie_table *t = xcalloc(1, sizeof(*t));

	t->ahead = (struct copy_limit){ .all = 128, .of_user = 64 };
	t->copies = (struct copy_limit){ .all = 64, .of_user = 16 };
	return t;
}

void cookie_table_parser(struct cookie_table *t, struct parser *parser)
{
	t->parser = parser;
}

struct parser *cookie_parser(const struct cookie_table *t)
{
	return t->parser;
}

void cookie_table_finder(struct cookie_table *t, struct finder *finder)
{
	t->finder = finder;
}

static void entry_free(struct cookie_entry *e)
{
	if (e->image.function) {
		free(e->image.function->name);
		free(e->image.function->lines);
	}
	free(e->image.function);
	free(e->image.path);
	free(e->image.host);
	free(e);
}

void cookie_table_free(struct cookie_table *t)
{
	size_t i;

	if (!t)
		return;
	keep_functions_done(&t->keep);
	for (i = 0; i < t->count; i++)
		entry_free(t->entries[i]);
	for (i = 0; i < t->replaced_count; i++)
		entry_free(t->replaced[i]);
	free(t->entries);
	free(t->replaced);
	map_done(&t->by_cookie);
	map_done(&t->by_key);
	free(t);
}

static uint64_t hash_function(uint64_t hash, const struct cookie_function *f)
{
	return hash_add(hash_add(hash, f->digest), hash_bytes(f->name, strlen(f->name)));
}

/* What an image is looked up by; what else must agree is compared by the lookups. */
static uint64_t key_of(const struct cookie_image *i)
{
	struct file_identity file = i->file;
	uint64_t hash = i->kind;

	switch (i->kind) {
	case COOKIE_FILE:
		file.generation = 0; /* not always known */
		hash = hash_add(hash, file_identity_hash(&file));
		return file.inode ? hash : hash_add(hash, hash_bytes(i->path, strlen(i->path)));
	case COOKIE_ANON:
		return hash_add(hash_add(hash, i->tgid), i->start);
	case COOKIE_THREAD:
	case COOKIE_CGROUP:
	case COOKIE_CODE:
		return hash_add(hash, hash_bytes(i->path, strlen(i->path)));
	case COOKIE_SOURCE:
		hash = hash_add(hash, hash_bytes(i->path, strlen(i->path)));
		return i->function ? hash_function(hash, i->function) : hash;
	case COOKIE_VDSO:
	case COOKIE_KIND_COUNT_:
		break;
	}
	return hash_u64(hash);
}

/* Takes an entry out of the lookups, unless it is already. */
static void unlist(struct cookie_table *t, const struct cookie_entry *e)
{
	(void)map_remove_value(&t->by_key, key_of(&e->image), e);
}

static struct cookie_function *copy_function(const struct cookie_function *from)
{
	struct cookie_function *copy = xmemdup(from, sizeof(*from));

	copy->name = xstrdup(from->name);
	copy->lines = xmemdup(from->lines, from->line_count * sizeof(*from->lines));
	return copy;
}

/* Bytes of memory of an entry; 0 if it is no function. */
static size_t function_bytes(const struct cookie_image *image)
{
	const struct cookie_function *f = image->function;

	return f ? sizeof(struct cookie_entry) + sizeof(*f) + strlen(image->path) +
			       strlen(f->name) + f->line_count * sizeof(*f->lines)
		 : 0;
}

/* Adds a copy of @image under its cookie. */
static struct cookie_entry *add(struct cookie_table *t, const struct cookie_image *image)
{
	struct cookie_entry *e = xcalloc(1, sizeof(*e));

	e->image = *image;
	e->age = t->age;
	e->image.path = xstrdup(image->path ? image->path : "");
	e->image.host = image->host ? xstrdup(image->host) : NULL;
	e->image.function = image->function ? copy_function(image->function) : NULL;
	array_grow(&t->entries, t->count + 1, &t->room);
	t->entries[t->count++] = e;
	(void)map_set(&t->by_cookie, image->cookie, e);
	map_add(&t->by_key, key_of(image), e);
	t->function_bytes += function_bytes(&e->image);
	/* The numbers from the top are taken (EVBUF_INVALID_COOKIE). */
	if (image->cookie > t->last && image->cookie < UINT64_MAX)
		t->last = image->cookie;
	return e;
}

/* Makes a cookie for @image. */
static uint64_t make(struct cookie_table *t, struct cookie_image *image)
{
	image->cookie = t->last + 1;
	return add(t, image)->image.cookie;
}

/* Notes that @e is asked for; returns its cookie. */
uint64_t cookie_table_use(const struct cookie_table *t, struct cookie_entry *e)
{
	e->age = t->age;
	return e->image.cookie;
}

struct cookie_entry *cookie_table_succeed(struct cookie_table *t, struct cookie_entry *e)
{
	struct cookie_image want = { .kind = COOKIE_FILE,
				     .file = e->image.file,
				     .path = e->image.path };

	unlist(t, e);
	e->successor = map_get(&t->by_cookie, make(t, &want));
	e->successor->looked_ns = e->looked_ns;
	return e->successor;
}

/* Cuts " (deleted)" off, except where only the suffix distinguishes memory from a file of that
 * name: memfds and System V segments have it from birth. */
static char *file_path(const char *path)
{
	static const char suffix[] = " (deleted)";
	size_t length = strlen(path), cut = sizeof(suffix) - 1;

	if (length > cut && !strcmp(path + length - cut, suffix) && strncmp(path, "/memfd:", 7) &&
	    strncmp(path, "/SYSV", 5))
		length -= cut;
	return xstrndup(path, length);
}

/* Whether an entry of the same device and inode is the same file. /proc/PID/maps does not tell the
 * generation (0): there the path must do. */
static bool same_file(const struct cookie_image *have, const struct cookie_image *want)
{
	if (have->kind != COOKIE_FILE || !file_identity_matches(&have->file, &want->file))
		return false;
	return (want->file.inode && want->file.generation && have->file.generation) ||
	       !strcmp(have->path, want->path);
}

uint64_t cookie_file(struct cookie_table *t, const struct file_identity *file, const char *path)
{
	_cleanup_free_ char *clean = file_path(path);
	struct cookie_image want = { .kind = COOKIE_FILE, .file = *file, .path = clean };
	struct cookie_entry *e;

	map_for_each_of(&t->by_key, key_of(&want), e)
	{
		if (!same_file(&e->image, &want))
			continue;
		if (!e->image.file.generation)
			e->image.file.generation = file->generation;
		return cookie_table_use(t, e);
	}
	return make(t, &want);
}

/* The entry of a region of a process, or NULL. */
static struct cookie_entry *find_anon(const struct cookie_table *t, const struct cookie_image *want)
{
	struct cookie_entry *e;

	map_for_each_of(&t->by_key, key_of(want), e)
	{
		if (e->image.kind == COOKIE_ANON && e->image.tgid == want->tgid &&
		    e->image.start == want->start && !strcmp(e->image.path, want->path))
			return e;
	}
	return NULL;
}

uint64_t cookie_anon(struct cookie_table *t, uint32_t tgid, uint64_t start, uint64_t end,
		     const char *label)
{
	struct cookie_image want = {
		.kind = COOKIE_ANON, .tgid = tgid, .start = start, .end = end, .path = (char *)label
	};
	struct cookie_entry *e = find_anon(t, &want);

	if (!e)
		return make(t, &want);
	e->image.end = MAX(e->image.end, end);
	return cookie_table_use(t, e);
}

uint64_t cookie_find_anon(const struct cookie_table *t, uint32_t tgid, uint64_t start,
			  const char *label)
{
	const struct cookie_image want = {
		.kind = COOKIE_ANON, .tgid = tgid, .start = start, .path = (char *)label
	};
	const struct cookie_entry *e = find_anon(t, &want);

	return e ? e->image.cookie : 0;
}

uint64_t cookie_vdso(struct cookie_table *t)
{
	char path[] = "[vdso]";
	struct cookie_image want = { .kind = COOKIE_VDSO, .path = path };

	if (!t->vdso)
		t->vdso = make(t, &want);
	return t->vdso;
}

uint64_t cookie_vdso_32(struct cookie_table *t, uint64_t size)
{
	return cookie_anon(t, 0, 0, size, "[vdso32]");
}

bool cookie_is_vdso_32(const struct cookie_image *image)
{
	return image->kind == COOKIE_ANON && !image->tgid && !strcmp(image->path, "[vdso32]");
}

/* The cookie of what has a name only. */
static uint64_t named(struct cookie_table *t, enum cookie_kind kind, const char *name)
{
	struct cookie_image want = { .kind = kind, .path = (char *)name };
	struct cookie_entry *e;

	map_for_each_of(&t->by_key, key_of(&want), e)
	{
		if (e->image.kind == kind && !strcmp(e->image.path, name))
			return cookie_table_use(t, e);
	}
	return make(t, &want);
}

uint64_t cookie_thread(struct cookie_table *t, const char *name)
{
	size_t length = strcspn(name, "/:");
	_cleanup_free_ char *cut = length ? xstrndup(name, length) : xstrdup("unnamed");

	return named(t, COOKIE_THREAD, cut);
}

uint64_t cookie_comm(struct cookie_table *t, const char *name)
{
	return named(t, COOKIE_THREAD, *name ? name : "unnamed");
}

uint64_t cookie_cgroup(struct cookie_table *t, const char *path)
{
	return named(t, COOKIE_CGROUP, path);
}

uint64_t cookie_code(struct cookie_table *t, const char *symbol)
{
	return named(t, COOKIE_CODE, symbol);
}

static bool same_function(const struct cookie_function *a, const struct cookie_function *b)
{
	return a && a->digest == b->digest && a->bytes == b->bytes && !strcmp(a->name, b->name);
}

uint64_t cookie_source(struct cookie_table *t, const char *path,
		       const struct cookie_function *function)
{
	struct cookie_image want = { .kind = COOKIE_SOURCE,
				     .path = (char *)path,
				     .function = (struct cookie_function *)function };
	struct cookie_entry *e;

	map_for_each_of(&t->by_key, key_of(&want), e)
	{
		if (e->image.kind == COOKIE_SOURCE && !strcmp(e->image.path, path) &&
		    same_function(e->image.function, function))
			return cookie_table_use(t, e);
	}
	return make(t, &want);
}

/* Takes @e out of the lookups but keeps it. */
static void retire(struct cookie_table *t, struct cookie_entry *e)
{
	size_t i = 0;

	unlist(t, e);
	while (t->entries[i] != e)
		i++;
	memmove(t->entries + i, t->entries + i + 1, (--t->count - i) * sizeof(*t->entries));
	array_grow(&t->replaced, t->replaced_count + 1, &t->replaced_room);
	t->replaced[t->replaced_count++] = e;
}

void cookie_define(struct cookie_table *t, const struct cookie_image *image)
{
	struct cookie_entry *old = map_get(&t->by_cookie, image->cookie);

	if (old)
		retire(t, old);
	(void)add(t, image);
	if (image->kind == COOKIE_VDSO)
		t->vdso = image->cookie;
}

const struct cookie_image *cookie_lookup(const struct cookie_table *t, uint64_t cookie)
{
	struct cookie_entry *e;

	/* Nearly always entry N - 1 has cookie N. */
	if (cookie && cookie <= t->count && t->entries[cookie - 1]->image.cookie == cookie)
		e = t->entries[cookie - 1];
	else
		e = map_get(&t->by_cookie, cookie);
	if (e)
		(void)cookie_table_use(t, e);
	return e ? &e->image : NULL;
}

void cookie_age(struct cookie_table *t)
{
	t->age++;
}

/* Makes what an image that stays refers to stay as well. */
static void keep_related(const struct cookie_table *t, const struct cookie_entry *e)
{
	struct cookie_entry *related = e->original ? map_get(&t->by_cookie, e->original) : NULL;

	if (related)
		(void)cookie_table_use(t, related);
	for (related = e->successor; related; related = related->successor)
		(void)cookie_table_use(t, related);
}

/* Whether @e is to be forgotten. The kernel's code may be in a queue, but not for as long as from
 * one sweep to the next. */
static bool is_old(const struct cookie_table *t, const struct cookie_entry *e)
{
	if (e->image.kind == COOKIE_FILE && !e->image.identified)
		return true;
	if (e->image.kind == COOKIE_CODE)
		return t->age - e->age > 1;
	return e->age != t->age && e->image.kind != COOKIE_VDSO;
}

size_t cookie_sweep(struct cookie_table *t, const struct map *in_use)
{
	size_t i, kept = 0, count = t->count;

	if (t->is_held)
		return 0;
	for (i = 0; i < count; i++)
		if ((in_use && map_get(in_use, t->entries[i]->image.cookie)) ||
		    !is_old(t, t->entries[i]))
			keep_related(t, t->entries[i]);
	for (i = 0; i < count; i++) {
		struct cookie_entry *e = t->entries[i];

		if (!is_old(t, e) || (in_use && map_get(in_use, e->image.cookie))) {
			t->entries[kept++] = e;
			continue;
		}
		unlist(t, e);
		(void)map_remove(&t->by_cookie, e->image.cookie);
		t->function_bytes -= function_bytes(&e->image);
		entry_free(e);
	}
	t->count = kept;
	return count - kept;
}

void cookie_hold(struct cookie_table *t, bool on)
{
	t->is_held = on;
}

size_t cookie_function_bytes(const struct cookie_table *t)
{
	return t->function_bytes;
}

size_t cookie_count(const struct cookie_table *t)
{
	return t->count;
}

const struct cookie_image *cookie_at(const struct cookie_table *t, size_t i)
{
	return &t->entries[i]->image;
}
