/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "identity/cgroups.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "file/path.h"
#include "file/procfs.h"
#include "identity/cookie.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>

enum { WALK_EVERY_NS = 100000000 };

/* Every service and container that ever was would stay in the table: when so many are new or were
 * sampled, the others are forgotten. */
enum { YOUNG_MAX = 8192 };

/* The kernel's handle of a directory of cgroups is its number (FILEID_KERNFS). */
enum { HANDLE_KERNFS = 0xfe };

struct cgroup {
	char *path;
	uint64_t cookie; /* 0: not sampled yet */
};

struct cgroups {
	char *root;
	enum cgroups_of of;
	struct cookie_table *cookies;
	/* By the lower half of the number: a new one differs from all that live. Those not used
	 * since YOUNG_MAX others were are in ->old. */
	struct map young, old;
	uint64_t walked_ns;
};

struct cgroups *cgroups_new(const char *root, enum cgroups_of of, struct cookie_table *cookies)
{
	struct cgroups *t = xcalloc(1, sizeof(*t));

	t->root = xstrdup(root ? root : "");
	t->of = of;
	t->cookies = cookies;
	return t;
}

static void forget(struct map *cgroups)
{
	map_for_each (cgroups, slot) {
		struct cgroup *c = slot->value;

		free(c->path);
		free(c);
	}
	map_done(cgroups);
}

/* Makes @c young. */
static void rejuvenate(struct cgroups *t, uint32_t id, struct cgroup *c)
{
	if (t->young.count >= YOUNG_MAX) {
		forget(&t->old);
		t->old = t->young;
		t->young = MAP_INIT;
	}
	(void)map_set(&t->young, id, c);
}

static struct cgroup *find(struct cgroups *t, uint32_t id)
{
	struct cgroup *c = map_get(&t->young, id);

	if (c)
		return c;
	c = map_remove(&t->old, id);
	if (c)
		rejuvenate(t, id, c);
	return c;
}

void cgroups_free(struct cgroups *t)
{
	if (!t)
		return;
	forget(&t->young);
	forget(&t->old);
	free(t->root);
	free(t);
}

void cgroups_add(struct cgroups *t, uint64_t id, const char *path)
{
	struct cgroup *c = find(t, (uint32_t)id);

	if (c && !strcmp(c->path, path))
		return;
	if (!c) {
		c = xcalloc(1, sizeof(*c));
		rejuvenate(t, (uint32_t)id, c);
	}
	free(c->path);
	*c = (struct cgroup){ .path = xstrdup(path) };
}

/* --- those that are there --- */

/* Where the hierarchy of version @version is mounted. */
struct hierarchy {
	unsigned int version;
	char *root, *point; /* the cgroup that is seen at the mount point, and that */
};

static int take_hierarchy(const struct mount_line *m, void *data)
{
	struct hierarchy *h = data;
	bool is_it = h->version == 2
			     ? !strcmp(m->type, "cgroup2")
			     : !strcmp(m->type, "cgroup") && strstr(m->options, "perf_event");

	if (is_it) {
		h->root = xstrdup(m->root);
		h->point = xstrdup(m->point);
	}
	return is_it;
}

static bool find_hierarchy(const struct cgroups *t, unsigned int version, struct hierarchy *ret)
{
	ret->version = version;
	return procfs_mounts(t->root, 0, take_hierarchy, ret) > 0;
}

static void hierarchy_done(struct hierarchy *h)
{
	free(h->root);
	free(h->point);
}

/* The number of the directory @name in @dir; 0 if it has none. */
static uint64_t id_of(int dir, const char *name)
{
	union {
		struct file_handle handle;
		char room[sizeof(struct file_handle) + sizeof(uint64_t)];
	} h = { .handle.handle_bytes = sizeof(uint64_t) };
	uint64_t id = 0;
	int mount;

	if (name_to_handle_at(dir, name, &h.handle, &mount, 0) == 0 &&
	    h.handle.handle_type == HANDLE_KERNFS)
		memcpy(&id, h.handle.f_handle, sizeof(id));
	return id;
}

/* Enters the directory open at @dir, which it closes, and all below. */
static void walk(struct cgroups *t, int dir, struct strbuf *path)
{
	DIR *entries = fdopendir(dir);
	uint64_t id = id_of(dir, ".");
	size_t length = path->length;
	const struct dirent *e;

	if (id)
		cgroups_add(t, id, path->length ? strbuf_text(path) : "/");
	if (!entries) {
		(void)close(dir);
		return;
	}
	while ((e = readdir(entries))) {
		int below;

		if (e->d_type != DT_DIR || !strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		below = openat(dir, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (below < 0)
			continue;
		strbuf_addf(path, "/%s", e->d_name);
		walk(t, below, path);
		strbuf_cut(path, length);
	}
	(void)closedir(entries);
}

static void walk_all(struct cgroups *t)
{
	_cleanup_(strbuf_done) struct strbuf path = STRBUF_INIT;
	_cleanup_free_ char *point = NULL;
	_cleanup_(hierarchy_done) struct hierarchy h = { 0 };
	int dir;

	if (!(t->of == CGROUPS_PERF && find_hierarchy(t, 1, &h)) && !find_hierarchy(t, 2, &h))
		return;
	point = path_under(t->root, h.point);
	dir = open(point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return;
	/* In a cgroup namespace the path to the first one is not known, or made of "..". */
	if (strcmp(h.root, "/") && !strstr(h.root, ".."))
		strbuf_adds(&path, h.root);
	walk(t, dir, &path);
}

uint64_t cgroups_cookie(struct cgroups *t, uint64_t id, uint64_t now_ns)
{
	struct cgroup *c = find(t, (uint32_t)id);

	if (!c && (!t->walked_ns || now_ns > t->walked_ns + WALK_EVERY_NS)) {
		walk_all(t);
		t->walked_ns = now_ns;
		c = find(t, (uint32_t)id);
	}
	if (!c)
		return cookie_cgroup(t->cookies, CGROUPS_UNKNOWN);
	/* It is forgotten if it is not used for long. */
	if (!c->cookie || !cookie_lookup(t->cookies, c->cookie))
		c->cookie = cookie_cgroup(t->cookies, c->path);
	return c->cookie;
}
