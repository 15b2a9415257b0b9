/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sfile/internal/tree.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "file/path.h"
#include "test.h"

#include <fcntl.h>
#include <unistd.h>

enum { WIDTH = 20, DEPTH = 20 };

/* Makes a file below @depth directories in @top, and returns its path; caller frees. */
static char *make_deep(const char *top, int number, int depth)
{
	_cleanup_(strbuf_done) struct strbuf path = STRBUF_INIT;

	strbuf_addf(&path, "%s/%d", top, number);
	for (int i = 1; i < depth; i++)
		strbuf_addf(&path, "/d%d", i);
	CHECK_EQ(path_make_dirs(strbuf_text(&path), 0755, NULL), 0);
	strbuf_adds(&path, "/file");
	CHECK_EQ(path_write(strbuf_text(&path), "", 0644, NULL), 0);
	return xstrdup(strbuf_text(&path));
}

/* Counts the files, and checks the paths of their directories. */
static size_t count_files(const struct tree *t, int *deepest, int depth)
{
	size_t i, count = 0;

	CHECK_EQ(t->error, 0);
	*deepest = MAX(*deepest, depth);
	for (i = 0; i < t->count; i++) {
		const struct tree_entry *entry = &t->entries[i];
		_cleanup_free_ char *path = path_join(t->path, entry->name);

		count += entry->kind == TREE_FILE;
		if (!entry->below)
			continue;
		CHECK_STR(entry->below->path, path);
		count += count_files(entry->below, deepest, depth + 1);
	}
	return count;
}

static void all_of_a_wide_and_deep_tree_is_read(void)
{
	_cleanup_directory_ char *top = test_directory();
	_cleanup_close_ int fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(tree_freep) struct tree *t = NULL;
	int deepest = 0;

	for (int i = 0; i < WIDTH; i++)
		free(make_deep(top, i, i ? 2 : DEPTH));
	t = tree_read(fd, NULL);
	CHECK_EQ(count_files(t, &deepest, 0), WIDTH);
	CHECK_EQ(deepest, DEPTH);
}

static void links_are_not_entered_at_any_depth(void)
{
	_cleanup_directory_ char *top = test_directory();
	_cleanup_close_ int fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(tree_freep) struct tree *t = NULL;
	int deepest = 0;

	for (int i = 0; i < WIDTH; i++) {
		_cleanup_free_ char *file = make_deep(top, i, 3);

		CHECK_EQ(unlink(file), 0);
		CHECK_EQ(symlink("..", file), 0);
	}
	t = tree_read(fd, NULL);
	CHECK_EQ(count_files(t, &deepest, 0), 0);
	CHECK_EQ(deepest, 3);
}

TESTS(T(all_of_a_wide_and_deep_tree_is_read), T(links_are_not_entered_at_any_depth))
