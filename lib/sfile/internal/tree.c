/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sfile/internal/tree.h"

#include "base/mem.h"
#include "base/parallel.h"
#include "file/dirtree.h"
#include "file/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* A directory is opened from the top, which takes a step for each part of its path where openat2()
 * is refused, as in a sandbox. So if there are enough directories to occupy all CPUs, each is read
 * together with several levels below it. */
enum { MANY = PARALLEL_MAX, LEVELS = 8 };

/* Directories of one depth. */
struct level {
	struct tree **trees;
	size_t count, room;
	int top;
	unsigned int depth; /* levels to read */
};

static int compare_entries(const void *a, const void *b)
{
	return strcmp(((const struct tree_entry *)a)->name, ((const struct tree_entry *)b)->name);
}

static enum tree_kind kind_of(int dirfd, const struct dirent *d)
{
	unsigned int type = d->d_type;
	struct stat st;

	if (type == DT_UNKNOWN && fstatat(dirfd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		type = IFTODT(st.st_mode);
	if (type == DT_DIR)
		return TREE_DIRECTORY;
	return type == DT_REG ? TREE_FILE : TREE_OTHER;
}

static struct tree *tree_new(char *path)
{
	struct tree *t = xcalloc(1, sizeof(*t));

	t->path = path;
	return t;
}

/* Reads the entries of the directory @path below @at, and @depth - 1 levels of directories below
 * it. */
static void read_entries(struct tree *t, int at, const char *path, unsigned int depth)
{
	int fd = dirtree_open(at, path, NULL);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *d;
	size_t room = 0, i;

	if (!dir) {
		t->error = fd < 0 ? fd : -errno;
		cleanup_closep(&fd);
		return;
	}
	while ((errno = 0, d = readdir(dir))) {
		if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, ".."))
			continue;
		array_grow(&t->entries, t->count + 1, &room);
		t->entries[t->count++] = (struct tree_entry){ .name = xstrdup(d->d_name),
							      .kind = kind_of(dirfd(dir), d) };
	}
	t->error = -errno;
	if (t->count)
		qsort(t->entries, t->count, sizeof(*t->entries), compare_entries);
	for (i = 0; depth > 1 && i < t->count; i++) {
		struct tree_entry *entry = &t->entries[i];

		if (entry->kind != TREE_DIRECTORY)
			continue;
		entry->below = tree_new(path_join(t->path, entry->name));
		read_entries(entry->below, dirfd(dir), entry->name, depth - 1);
	}
	(void)closedir(dir);
}

struct tree *tree_read_one(int top, const char *path)
{
	struct tree *t = tree_new(xstrdup(path));

	read_entries(t, top, path, 1);
	return t;
}

static void read_one(size_t i, unsigned int thread _unused_, void *data)
{
	const struct level *level = data;

	read_entries(level->trees[i], level->top, level->trees[i]->path, level->depth);
}

/* Adds the directories in @t, or below it, that were not read to the next level. */
static void add_below(struct level *next, struct tree *t, bool (*wants)(const char *name))
{
	size_t i;

	for (i = 0; i < t->count; i++) {
		struct tree_entry *entry = &t->entries[i];

		if (entry->kind != TREE_DIRECTORY || (wants && !wants(entry->name)))
			continue;
		if (entry->below) {
			add_below(next, entry->below, NULL);
			continue;
		}
		entry->below = tree_new(path_join(t->path, entry->name));
		array_grow(&next->trees, next->count + 1, &next->room);
		next->trees[next->count++] = entry->below;
	}
}

struct tree *tree_read(int top, bool (*wants)(const char *name))
{
	struct tree *t = tree_read_one(top, ".");
	struct level level = { .top = top }, next;
	size_t i;

	add_below(&level, t, wants);
	while (level.count) {
		level.depth = level.count < MANY ? 1 : LEVELS;
		parallel_each(level.count, read_one, &level);
		next = (struct level){ .top = top };
		for (i = 0; i < level.count; i++)
			add_below(&next, level.trees[i], NULL);
		free(level.trees);
		level = next;
	}
	return t;
}

void tree_free(struct tree *t)
{
	size_t i;

	if (!t)
		return;
	for (i = 0; i < t->count; i++) {
		tree_free(t->entries[i].below);
		free(t->entries[i].name);
	}
	free(t->entries);
	free(t->path);
	free(t);
}
