/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "identity/cgroups.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "identity/cookie.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

enum { WALK_EVERY_NS = 100000000 };

/* Every service and container that ever was would stay in the table: when it has more than this it
 * is emptied, and filled with what is there. */
enum { KNOWN_MAX = 16384 };

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
	struct map by_id; /* the lower half of the number: a new one differs from all that live */
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

static void forget(struct cgroups *t)
{
	map_for_each (&t->by_id, slot) {
		struct cgroup *c = slot->value;

		free(c->path);
		free(c);
	}
	map_done(&t->by_id);
}

void cgroups_free(struct cgroups *t)
{
	if (!t)
		return;
	forget(t);
	free(t->root);
	free(t);
}

void cgroups_add(struct cgroups *t, uint64_t id, const char *path)
{
	struct cgroup *c = map_get(&t->by_id, (uint32_t)id);

	if (c && !strcmp(c->path, path))
		return;
	if (!c) {
		c = xcalloc(1, sizeof(*c));
		(void)map_set(&t->by_id, (uint32_t)id, c);
	}
	free(c->path);
	*c = (struct cgroup){ .path = xstrdup(path) };
}

size_t cgroups_count(const struct cgroups *t)
{
	return t->by_id.count;
}

/* --- those that are there --- */

/* Where a hierarchy is mounted: a line of mountinfo. */
struct mount {
	char root[256], point[256]; /* the cgroup that is seen at the mount point */
};

/* Whether the line is of the hierarchy of version @version that is looked for; in part. */
static bool is_mount(const char *line, unsigned int version, struct mount *ret)
{
	const char *rest = strstr(line, " - ");
	char type[32], options[512];

	if (!rest || sscanf(line, "%*u %*u %*s %255s %255s", ret->root, ret->point) != 2 ||
	    sscanf(rest, " - %31s %*s %511s", type, options) != 2)
		return false;
	return version == 2 ? !strcmp(type, "cgroup2")
			    : !strcmp(type, "cgroup") && strstr(options, "perf_event");
}

static bool find_mount(const struct cgroups *t, unsigned int version, struct mount *ret)
{
	_cleanup_free_ char *path = path_under(t->root, "/proc/self/mountinfo");
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	_cleanup_free_ char *line = NULL;
	size_t room = 0;

	while (file && xgetline(&line, &room, file) > 0)
		if (is_mount(line, version, ret))
			return true;
	return false;
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
	struct mount mount;
	int dir;

	if (!(t->of == CGROUPS_PERF && find_mount(t, 1, &mount)) && !find_mount(t, 2, &mount))
		return;
	point = path_under(t->root, mount.point);
	dir = open(point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return;
	/* In a cgroup namespace the path to the first one is not known, or made of "..". */
	if (strcmp(mount.root, "/") && !strstr(mount.root, ".."))
		strbuf_adds(&path, mount.root);
	walk(t, dir, &path);
}

uint64_t cgroups_cookie(struct cgroups *t, uint64_t id, uint64_t now_ns)
{
	struct cgroup *c = map_get(&t->by_id, (uint32_t)id);

	if (!c && (!t->walked_ns || now_ns > t->walked_ns + WALK_EVERY_NS)) {
		if (t->by_id.count > KNOWN_MAX)
			forget(t);
		walk_all(t);
		t->walked_ns = now_ns;
		c = map_get(&t->by_id, (uint32_t)id);
	}
	if (!c)
		return cookie_cgroup(t->cookies, CGROUPS_UNKNOWN);
	if (!c->cookie)
		c->cookie = cookie_cgroup(t->cookies, c->path);
	return c->cookie;
}
