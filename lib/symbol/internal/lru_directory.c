/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/internal/lru_directory.h"

#include "base/macro.h"
#include "base/mem.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { STALE_SECONDS = 3600, BLOCK = 512 };

/* A file, to decide whether to remove it. */
struct candidate {
	char *name;
	uint64_t size;
	struct timespec used;
};

struct census {
	struct candidate *files;
	size_t count, room;
	uint64_t size;
};

void lru_directory_touch(int fd, const struct stat *st)
{
	if (time(NULL) - st->st_mtime > STALE_SECONDS)
		(void)futimens(fd, NULL);
}

static bool ends_with(const char *name, const char *tail)
{
	size_t length = strlen(name), n = strlen(tail);

	return length > n && !strcmp(name + length - n, tail);
}

static void add(struct census *c, const char *name, const struct stat *st)
{
	array_grow(&c->files, c->count + 1, &c->room);
	/* Blocks may be allocated later only. */
	c->files[c->count] =
		(struct candidate){ xstrdup(name),
				    MAX((uint64_t)st->st_size, (uint64_t)st->st_blocks * BLOCK),
				    st->st_mtim };
	c->size += c->files[c->count++].size;
}

static void take_census(int directory, const char *tail, struct census *ret)
{
	int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;
	struct stat st;

	while (d && (entry = readdir(d))) {
		if (fstatat(directory, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		if (ends_with(entry->d_name, ".tmp")) {
			if (time(NULL) - st.st_mtime > STALE_SECONDS)
				(void)unlinkat(directory, entry->d_name, 0);
		} else if (ends_with(entry->d_name, tail)) {
			add(ret, entry->d_name, &st);
		}
	}
	if (d)
		(void)closedir(d);
	else if (fd >= 0)
		(void)close(fd);
}

static int compare_use(const void *pa, const void *pb)
{
	const struct candidate *a = pa, *b = pb;

	if (a->used.tv_sec != b->used.tv_sec)
		return (a->used.tv_sec > b->used.tv_sec) - (a->used.tv_sec < b->used.tv_sec);
	if (a->used.tv_nsec != b->used.tv_nsec)
		return (a->used.tv_nsec > b->used.tv_nsec) - (a->used.tv_nsec < b->used.tv_nsec);
	return strcmp(a->name, b->name);
}

bool lru_directory_is_due(uint64_t written, uint64_t limit, uint32_t random)
{
	double chance = (double)written * 100 / (double)MAX(limit, UINT64_C(1));

	return written && (double)random <= chance * UINT32_MAX;
}

size_t lru_directory_trim(int directory, const char *tail, uint64_t limit, uint64_t *ret_bytes)
{
	struct census census = { 0 };
	size_t i, removed = 0;

	take_census(directory, tail, &census);
	if (census.size > limit) {
		qsort(census.files, census.count, sizeof(*census.files), compare_use);
		for (; removed < census.count && census.size > limit / 4 * 3; removed++) {
			(void)unlinkat(directory, census.files[removed].name, 0);
			census.size -= census.files[removed].size;
		}
	}
	for (i = 0; i < census.count; i++)
		free(census.files[i].name);
	free(census.files);
	*ret_bytes = census.size;
	return removed;
}
