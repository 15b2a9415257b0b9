/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/internal/history_source.h"

#include "base/dirtree.h"
#include "base/macro.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/path.h"
#include "history/internal/generations.h"
#include "history/levels.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char segment_mark[] = "flat.", slices_mark[] = ".slices";

static int open_directory(const char *path)
{
	return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Parses a number from 1 on, and moves past it. */
static bool parse_number(const char **at, uint32_t *ret)
{
	uint64_t number;

	if (parse_dec(at, &number) < 0 || !number || number >= UINT32_MAX)
		return false;
	*ret = (uint32_t)number;
	return true;
}

/* Parses the name of a file; false if it is not that of a source. */
static bool parse_name(const char *at, struct history_source *ret)
{
	*ret = (struct history_source){ 0 };
	if (strncmp(at, segment_mark, strlen(segment_mark)) != 0) {
		if (!parse_number(&at, &ret->first) || strcmp(at, slices_mark) != 0)
			return false;
		ret->last = ret->first;
		return true;
	}
	at += strlen(segment_mark);
	return parse_number(&at, &ret->level) && ret->level < HISTORY_LEVELS && *at++ == '.' &&
	       parse_number(&at, &ret->first) && *at++ == '-' && parse_number(&at, &ret->last) &&
	       !*at && ret->first <= ret->last;
}

static int compare(const void *pa, const void *pb)
{
	const struct history_source *a = pa, *b = pb;

	if (a->level != b->level)
		return a->level < b->level ? -1 : 1;
	return (a->first > b->first) - (a->first < b->first);
}

/* Notes which sources are in coarser ones. */
static void find_rolled(struct history_source *list, size_t count)
{
	size_t i, k;

	for (i = 0; i < count; i++)
		for (k = count;
		     k > i + 1 && list[k - 1].level > list[i].level && !list[i].is_rolled; k--)
			list[i].is_rolled = list[k - 1].first <= list[i].first &&
					    list[i].last <= list[k - 1].last;
}

static uint64_t names_bytes(const char *dir, uint32_t generation)
{
	_cleanup_free_ char *path = generation_names_path(dir, generation);
	struct stat st;

	return lstat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

struct history_source *sources_list(const char *dir, size_t *ret_count)
{
	_cleanup_close_ int fd = open_directory(dir);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct history_source *list = NULL, s;
	size_t count = 0, room = 0;
	struct dirent *entry;

	while (d && (entry = readdir(d))) {
		struct stat st;

		if (!parse_name(entry->d_name, &s) ||
		    fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		s.written_s = st.st_mtim.tv_sec;
		s.bytes = (uint64_t)st.st_size + (s.level ? 0 : names_bytes(dir, s.first));
		array_grow(&list, count + 1, &room);
		list[count++] = s;
	}
	if (d) {
		(void)closedir(d);
		fd = -1;
	}
	if (count)
		qsort(list, count, sizeof(*list), compare);
	find_rolled(list, count);
	*ret_count = count;
	return list;
}

char *source_path(const char *dir, const struct history_source *s)
{
	return s->level ? xasprintf("%s/%s%" PRIu32 ".%" PRIu32 "-%" PRIu32, dir, segment_mark,
				    s->level, s->first, s->last)
			: xasprintf("%s/%" PRIu32 "%s", dir, s->first, slices_mark);
}

uint32_t sources_next(const char *dir)
{
	size_t count, i;
	_cleanup_free_ struct history_source *list = sources_list(dir, &count);
	uint32_t last = 0;

	for (i = 0; i < count; i++)
		last = MAX(last, list[i].last);
	return last + 1;
}

void source_remove(const char *dir, const struct history_source *s)
{
	_cleanup_close_ int fd = open_directory(dir);
	_cleanup_free_ char *path = source_path(dir, s);

	/* The slices first: without them the generation does not exist. */
	(void)dirtree_remove(fd, path_base(path), NULL);
	if (!s->level) {
		_cleanup_free_ char *names = generation_names_path(dir, s->first);

		(void)dirtree_remove(fd, path_base(names), NULL);
	}
}

/* Whether @entry is the file of names of a generation before @live. */
static bool is_names(const char *entry, uint32_t live, uint32_t *ret)
{
	return parse_number(&entry, ret) && !strcmp(entry, ".names") && *ret < live;
}

void sources_tidy(const char *dir, uint32_t live)
{
	_cleanup_close_ int fd = open_directory(dir), own = -1;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	uint32_t number;

	own = d ? dup(fd) : -1;
	while (d && (entry = readdir(d))) {
		_cleanup_free_ char *slices = NULL;
		struct stat st;

		if (!is_names(entry->d_name, live, &number))
			continue;
		slices = generation_slices_path(dir, number);
		if (lstat(slices, &st) < 0 && errno == ENOENT)
			(void)dirtree_remove(own, entry->d_name, NULL);
	}
	if (d) {
		(void)closedir(d);
		fd = -1;
	}
}
