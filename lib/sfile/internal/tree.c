/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sfile/internal/tree.h"

#include "base/dirtree.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "base/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* Directories of one depth. */
struct level {
	struct tree **trees;
	size_t count, room;
	int top;
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

/* Reads the entries of the directory. */
static void read_entries(struct tree *t, int top)
{
	int fd = dirtree_open(top, t->path, NULL);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *d;
	size_t room = 0;

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
	(void)closedir(dir);
	if (t->count)
		qsort(t->entries, t->count, sizeof(*t->entries), compare_entries);
}

struct tree *tree_read_one(int top, const char *path)
{
	struct tree *t = xcalloc(1, sizeof(*t));

	t->path = xstrdup(path);
	read_entries(t, top);
	return t;
}

static void read_one(size_t i, unsigned int thread _unused_, void *data)
{
	const struct level *level = data;

	read_entries(level->trees[i], level->top);
}

/* Adds the directories in @t to the next level. */
static void add_below(struct level *next, struct tree *t, bool (*wants)(const char *name))
{
	size_t i;

	for (i = 0; i < t->count; i++) {
		struct tree_entry *entry = &t->entries[i];

		if (entry->kind != TREE_DIRECTORY || (wants && !wants(entry->name)))
			continue;
		entry->below = xcalloc(1, sizeof(*entry->below));
		entry->below->path = path_join(t->path, entry->name);
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
