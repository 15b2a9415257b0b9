/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "elf/filefind.h"

#include "base/arena.h"
#include "base/log.h"
#include "base/mem.h"
#include "file/path.h"

#include <errno.h>
#include <fts.h>
#include <string.h>
#include <sys/stat.h>

struct filefind {
	char **directories; /* those not read yet */
	size_t directory_count, directory_room;
	const char **files; /* sorted by base name, then by path */
	size_t file_count, file_room;
	struct arena arena;
};

struct filefind *filefind_new(void)
{
	return xcalloc(1, sizeof(struct filefind));
}

void filefind_free(struct filefind *ff)
{
	if (!ff)
		return;
	while (ff->directory_count)
		free(ff->directories[--ff->directory_count]);
	free(ff->directories);
	free(ff->files);
	arena_done(&ff->arena);
	free(ff);
}

void filefind_add(struct filefind *ff, const char *directory)
{
	array_grow(&ff->directories, ff->directory_count + 1, &ff->directory_room);
	ff->directories[ff->directory_count++] = xstrdup(directory);
}

static int compare_files(const void *pa, const void *pb)
{
	const char *a = *(const char *const *)pa, *b = *(const char *const *)pb;
	int r = strcmp(path_base(a), path_base(b));

	return r ? r : strcmp(a, b);
}

static void read_tree(struct filefind *ff, char *directory)
{
	char *const roots[] = { directory, NULL };
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *entry;

	while (fts && (entry = fts_read(fts))) {
		if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_NS)
			log_warn("%s: %s", entry->fts_path, strerror(entry->fts_errno));
		if (entry->fts_info != FTS_F)
			continue;
		array_grow(&ff->files, ff->file_count + 1, &ff->file_room);
		ff->files[ff->file_count++] = arena_strdup(&ff->arena, entry->fts_path);
	}
	if (fts)
		(void)fts_close(fts);
}

static void read_directories(struct filefind *ff)
{
	if (ff->directory_count == 0)
		return;
	while (ff->directory_count) {
		_cleanup_free_ char *directory = ff->directories[--ff->directory_count];

		read_tree(ff, directory);
	}
	if (ff->file_count)
		qsort(ff->files, ff->file_count, sizeof(*ff->files), compare_files);
}

const char *filefind_get(struct filefind *ff, const char *name, size_t i)
{
	size_t low;

	read_directories(ff);
	low = FIRST_NOT(k, 0, ff->file_count, strcmp(path_base(ff->files[k]), name) < 0);
	if (i >= ff->file_count - low || strcmp(path_base(ff->files[low + i]), name))
		return NULL;
	return ff->files[low + i];
}
