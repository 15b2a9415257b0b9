/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/store/sampled_image.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/keyed_hash.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/parse.h"
#include "file/path.h"
#include "file/procfs.h"
#include "bpf/interpreter.h"
#include "helper/relief.h"
#include "identity/cookie.h"
#include "elf/vdso.h"
#include "sfile/manifest.h"
#include "sfile/session.h"
#include "sfile/source_image.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

/* The number of images after which those unused for long are swept, and of names in a list. */
enum { MANY = 4096, NOTED_MAX = 1 << 18 };
/* The number of source files that have an image of their own, and after how many of them those
 * unused for long are swept: not more often than this, as a program can invent names. */
enum { SOURCES_MAX = 4096, SOURCES_MANY = SOURCES_MAX / 4 * 3 };
static const uint64_t sources_every_ns = 10 * 60 * NS_PER_S;

struct sampled_images {
	char *samples, *root, *select;
	const struct cookie_table *cookies;
	struct relief *relief;	   /* while files are used; or NULL */
	struct manifest *manifest; /* NULL: not open */
	struct keyed_hash hash;	   /* of names: programs choose theirs */
	struct map by_cookie;	   /* cookie: binary */
	struct map by_name;	   /* hash of the image to binaries */
	struct map used;	   /* hashes of names since sampled_image_note_used() */
	struct map sources;	   /* hash of the path of a source file: its own image */
	struct sampled_image_sources counts;
	struct sampled_image **regions; /* images found by /proc/PID/maps */
	size_t region_count, region_room;
	uint32_t count;	   /* number of binaries so far */
	uint32_t age;	   /* number of sweeps */
	size_t swept_to;   /* binaries left by the last sweep, */
	uint64_t swept_ns; /* which was at this time */
	bool has_noted;	   /* since sampled_image_forget() */
	bool complained;   /* a problem with the manifest was already logged */
};

struct sampled_images *sampled_image_table_new(const char *samples, const char *root,
					       const char *select,
					       const struct cookie_table *cookies,
					       struct relief *relief)
{
	struct sampled_images *t = xcalloc(1, sizeof(*t));

	t->hash = keyed_hash_new();
	t->samples = xstrdup(samples);
	t->root = xstrdup(root ? root : "");
	t->select = select ? xstrdup(select) : NULL;
	t->cookies = cookies;
	t->relief = relief;
	return t;
}

struct parser *sampled_image_parser(const struct sampled_images *t)
{
	return t->cookies ? cookie_parser(t->cookies) : NULL;
}

struct opener *sampled_image_opener(const struct sampled_images *t)
{
	return t->cookies ? cookie_opener(t->cookies) : NULL;
}

static void image_free(struct sampled_image *b)
{
	free((char *)b->image.name);
	free(b);
}

void sampled_image_forget(struct sampled_images *t)
{
	map_for_each (&t->by_name, slot)
		image_free(slot->value);
	map_done(&t->by_name);
	map_done(&t->by_cookie);
	map_done(&t->sources);
	map_done(&t->used);
	t->has_noted = false;
	t->region_count = 0;
	manifest_close(t->manifest);
	t->manifest = NULL;
	t->complained = false;
}

void sampled_image_table_free(struct sampled_images *t)
{
	if (!t)
		return;
	sampled_image_forget(t);
	free(t->regions);
	free(t->samples);
	free(t->root);
	free(t->select);
	free(t);
}

int sampled_image_open_manifest(struct sampled_images *t, const char *session_dir,
				const char *session_name, struct error *err)
{
	int r;

	if (t->manifest)
		return 0;
	relief_leave(t->relief);
	r = session_create(session_dir, session_name, err);
	if (r == 0)
		r = manifest_open(t->samples, true, &t->manifest, err);
	relief_return(t->relief);
	return r;
}

int sampled_image_reopen_manifest(struct sampled_images *t, struct error *err)
{
	int r;

	manifest_close(STEAL(t->manifest));
	relief_leave(t->relief);
	r = manifest_open(t->samples, true, &t->manifest, err);
	relief_return(t->relief);
	return r;
}

static uint64_t hash_of(const struct sampled_images *t, const char *name)
{
	return keyed_hash_of(&t->hash, name, strlen(name));
}

static void note_used(struct sampled_images *t, const char *name)
{
	t->has_noted = t->has_noted && t->used.count < NOTED_MAX;
	if (t->has_noted)
		(void)map_set(&t->used, hash_of(t, name), t);
}

void sampled_image_note_used(struct sampled_images *t)
{
	map_done(&t->used);
	t->has_noted = true;
	map_for_each (&t->by_name, slot) {
		const struct sampled_image *b = slot->value;

		note_used(t, b->image.name);
	}
}

bool sampled_image_has_noted(const struct sampled_images *t)
{
	return t->has_noted;
}

bool sampled_image_was_used(const struct sampled_images *t, const char *name)
{
	return map_get(&t->used, hash_of(t, name)) != NULL;
}

static uint64_t image_hash(const struct sampled_images *t, const struct sname_image *i)
{
	uint64_t hash = hash_of(t, i->name);

	hash = hash_add(hash, i->kind);
	return i->kind == SNAME_ANON ? hash_add(hash_add(hash, i->tgid), i->start) : hash;
}

/* Returns the one binary with this name; creates it, with its own copy of the string, if it is
 * new. */
static struct sampled_image *intern(struct sampled_images *t, const struct sname_image *image)
{
	uint64_t hash = image_hash(t, image);
	struct sampled_image *b;

	map_for_each_of(&t->by_name, hash, b)
	{
		if (!sname_image_equal(&b->image, image))
			continue;
		b->age = t->age;
		return b;
	}
	b = xcalloc(1, sizeof(*b));
	b->image = *image;
	b->image.name = xstrdup(image->name);
	b->id = ++t->count;
	b->age = t->age;
	b->selected = !t->select;
	map_add(&t->by_name, hash, b);
	return b;
}

bool sampled_image_are_many(const struct sampled_images *t, uint64_t now_ns)
{
	return t->by_name.count > t->swept_to + MANY ||
	       (t->sources.count >= SOURCES_MANY && now_ns >= t->swept_ns + sources_every_ns);
}

void sampled_image_use(const struct sampled_images *t, const struct sampled_image *b)
{
	if (b)
		((struct sampled_image *)b)->age = t->age;
}

bool sampled_image_is_old(const struct sampled_images *t, const struct sampled_image *b)
{
	return (b->is_shared || b->age != t->age) && !b->is_kernel && b->image.kind != SNAME_KERN;
}

/* Removes the old images from a map, without freeing them. */
static void drop_old(const struct sampled_images *t, struct map *images)
{
	struct map kept = MAP_INIT;

	map_for_each (images, slot)
		if (!sampled_image_is_old(t, slot->value))
			map_add(&kept, slot->key, slot->value);
	map_done(images);
	*images = kept;
}

size_t sampled_image_sweep(struct sampled_images *t, uint64_t now_ns)
{
	size_t i, kept = 0, count = t->by_name.count, sources = t->sources.count;
	struct map all = t->by_name;

	for (i = 0; i < t->region_count; i++)
		if (!sampled_image_is_old(t, t->regions[i]))
			t->regions[kept++] = t->regions[i];
	t->region_count = kept;
	drop_old(t, &t->by_cookie);
	drop_old(t, &t->sources);
	t->counts.swept += sources - t->sources.count;
	t->by_name = MAP_INIT;
	map_for_each (&all, slot) {
		struct sampled_image *b = slot->value;

		if (sampled_image_is_old(t, b))
			image_free(b);
		else
			map_add(&t->by_name, slot->key, b);
	}
	map_done(&all);
	t->age++;
	t->swept_to = t->by_name.count;
	t->swept_ns = now_ns;
	return count - t->swept_to;
}

static int matches(const char *pattern, void *path)
{
	const char *subject = strchr(pattern, '/') ? path : path_base(path);

	return fnmatch(pattern, subject, 0) == 0;
}

/* The name of @file in the session; borrowed until the next call, or NULL. */
static const char *name_in_session(struct sampled_images *t, const struct manifest_image *file,
				   struct error *err)
{
	struct manifest_image copy = *file;
	_cleanup_free_ char *host = file->host ? xstrdup(file->host) : NULL;
	const char *name;

	copy.host = host; /* who relieves us may learn another one */
	relief_leave(t->relief);
	name = manifest_name(t->manifest, &copy, err);
	relief_return(t->relief);
	return name;
}

struct sampled_image *sampled_image_file(struct sampled_images *t,
					 const struct manifest_image *file, bool is_kernel)
{
	struct sname_image image = { .kind = SNAME_ROOT };
	struct error err = ERROR_INIT;
	struct sampled_image *b;

	if (t->manifest)
		image.name = name_in_session(t, file, &err);
	if (t->manifest && !image.name && !t->complained) {
		log_error("%s", err.text);
		t->complained = true;
	}
	if (!image.name)
		image.name = file->path;
	note_used(t, image.name);
	b = intern(t, &image);
	b->mtime = file->version.mtime;
	b->is_kernel = is_kernel;
	/* A name made unique by the manifest ends in a mark, so ask for the path itself. */
	if (t->select)
		b->selected = parse_list(t->select, ',', matches, (void *)file->path);
	return b;
}

struct sampled_image *sampled_image_kernel(struct sampled_images *t, const char *name,
					   bool is_kernel)
{
	struct sampled_image *b =
		intern(t, &(struct sname_image){ .kind = SNAME_KERN, .name = name });

	b->is_kernel = is_kernel;
	return b;
}

struct sampled_image *sampled_image_region(struct sampled_images *t, uint32_t tgid, uint64_t start,
					   uint64_t end, const char *label)
{
	_cleanup_free_ char *name = xstrdup(*label == '[' ? label : "anon");
	struct sampled_image *b;
	char *slash;

	while ((slash = strchr(name, '/')))
		*slash = '_';
	b = intern(t, &(struct sname_image){ .kind = SNAME_ANON,
					     .name = name,
					     .tgid = tgid,
					     .start = start,
					     .end = end });
	b->selected = false;
	return b;
}

/* Returns a region; that of the vdso of 32-bit processes, too, belongs to none. */
static struct sampled_image *region_binary(struct sampled_images *t, const struct cookie_image *c)
{
	struct error err = ERROR_INIT;

	if (cookie_is_vdso_32(c)) {
		_cleanup_free_ char *path = path_join(t->samples, "vdso32");

		relief_leave(t->relief);
		if (vdso_save_32(path, &err) < 0)
			log_warn("%s: its functions will have no names", err.text);
		relief_return(t->relief);
	}
	return sampled_image_region(t, c->tgid, c->start, c->end, c->path);
}

/* Returns the vdso, which is the same for all processes of a boot: one region that belongs to none.
 * Its code is copied to the session, because no file contains it. */
static struct sampled_image *vdso_binary(struct sampled_images *t)
{
	_cleanup_free_ char *path = path_join(t->samples, "vdso");
	struct error err = ERROR_INIT;
	uint64_t size = vdso_size();

	relief_leave(t->relief);
	if (vdso_save(path, &err) < 0)
		log_warn("%s: functions of the vdso will have no names", err.text);
	relief_return(t->relief);
	return sampled_image_region(t, 0, 0, size, "[vdso]");
}

/* The language of the functions of @c. */
static enum source_language language_of(const struct cookie_image *c)
{
	static const enum source_language languages[INTERPRETER_COUNT_] = {
		[INTERPRETER_NONE] = SOURCE_PYTHON, [INTERPRETER_PYTHON] = SOURCE_PYTHON,
		[INTERPRETER_PHP] = SOURCE_PHP,	    [INTERPRETER_RUBY] = SOURCE_RUBY,
		[INTERPRETER_JAVA] = SOURCE_JAVA,
	};
	const uint32_t interpreter = c->function ? c->function->language : INTERPRETER_NONE;

	if (!strcmp(c->path, COOKIE_WAKERS))
		return SOURCE_WAKERS;
	return languages[interpreter % INTERPRETER_COUNT_];
}

/* Returns the image of a source file. Those that are too many share one. */
static struct sampled_image *source_binary(struct sampled_images *t, const struct cookie_image *c)
{
	const enum source_language language = language_of(c);
	const uint64_t hash = hash_of(t, c->path);
	struct manifest_image file = {
		.path = c->path,
		.version.build_id = *source_image_id(language),
	};
	bool is_shared = language != SOURCE_WAKERS && t->sources.count >= SOURCES_MAX &&
			 !map_get(&t->sources, hash);
	struct sampled_image *b;

	if (is_shared)
		file.path = (char *)"/[other files]";
	b = sampled_image_file(t, &file, false);
	b->is_source = true;
	b->is_shared = is_shared;
	if (is_shared)
		t->counts.shared++;
	else
		(void)map_set(&t->sources, hash, b);
	return b;
}

static struct sampled_image *cookie_binary(struct sampled_images *t, const struct cookie_image *c)
{
	_cleanup_free_ char *absolute = NULL;
	struct manifest_image file = { .file = c->file, .version = c->version, .host = c->host };

	switch (c->kind) {
	case COOKIE_FILE:
		absolute = path_join("/", c->path);
		file.path = absolute;
		return sampled_image_file(t, &file, false);
	case COOKIE_ANON:
		return region_binary(t, c);
	case COOKIE_VDSO:
		return vdso_binary(t);
	case COOKIE_THREAD:
		return sampled_image_kernel(t, c->path, false);
	case COOKIE_SOURCE:
		return source_binary(t, c);
	case COOKIE_CGROUP:
	case COOKIE_CODE:
	case COOKIE_KIND_COUNT_:
		break;
	}
	return NULL;
}

struct sampled_image_sources sampled_image_sources(const struct sampled_images *t)
{
	return t->counts;
}

bool sampled_image_has_file(const struct sampled_images *t, const char *name)
{
	const struct sname_image image = { .kind = SNAME_ROOT, .name = (char *)name };
	const struct sampled_image *b;

	map_for_each_of(&t->by_name, image_hash(t, &image), b)
	{
		if (sname_image_equal(&b->image, &image))
			return true;
	}
	return false;
}

struct sampled_image *sampled_image_of_cookie(struct sampled_images *t, uint64_t cookie)
{
	struct sampled_image *b = map_get(&t->by_cookie, cookie);
	const struct cookie_image *image;

	if (b) {
		b->age = t->age;
		return b;
	}
	image = cookie_lookup(t->cookies, cookie);
	b = image ? cookie_binary(t, image) : NULL;
	if (b)
		(void)map_set(&t->by_cookie, cookie, b);
	return b;
}

/* The search for the mapping that contains an address. */
struct search {
	uint64_t pc;
	struct sampled_images *table;
	uint32_t tgid;
	struct sampled_image *found;
};

static int look_at_mapping(const struct maps_line *line, void *data)
{
	struct search *s = data;

	if (s->pc < line->start || s->pc >= line->end)
		return 0;
	s->found = sampled_image_region(s->table, s->tgid, line->start, line->end, line->path);
	return 1;
}

struct sampled_image *sampled_image_of_region(struct sampled_images *t, uint32_t tgid, uint64_t pc)
{
	struct search s = { .pc = pc, .table = t, .tgid = tgid };
	size_t i;

	for (i = t->region_count; i-- > 0;)
		if (t->regions[i]->image.tgid == tgid && pc >= t->regions[i]->image.start &&
		    pc < t->regions[i]->image.end) {
			t->regions[i]->age = t->age;
			return t->regions[i];
		}
	if (procfs_maps(t->root, tgid, look_at_mapping, &s) <= 0 || !s.found)
		return NULL;
	array_grow(&t->regions, t->region_count + 1, &t->region_room);
	t->regions[t->region_count++] = s.found;
	return s.found;
}
