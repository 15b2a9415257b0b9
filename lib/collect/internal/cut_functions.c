/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/internal/cut_functions.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "collect/internal/sampled_places.h"
#include "file/dirtree.h"
#include "file/open_regular.h"
#include "file/path.h"
#include "sfile/manifest.h"
#include "symbol/function_file.h"
#include "symbol/function_store.h"
#include "symbol/functions.h"
#include "symbol/symtab.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A smaller table takes one block of a file system, cut or not. */
enum { BLOCK = 4096 };

/* One table that takes more memory stays as it is: the keeper has not much. */
enum { MEMORY_MOST = 128 << 20 };

/* A table that may be cut. */
struct table {
	char key[FUNCTION_KEY];
	char *path;
	struct stat was;
	struct symtab *symbols;
	bool *wanted; /* by the number of the first piece */
};

struct job {
	const struct cut_functions *how;
	char *directory; /* of the tables */
	char *sessions;	 /* the directory that they are in */
	struct table *tables;
	size_t count, room;
	uint64_t bytes;	     /* of the tables */
	struct map by_key;   /* index plus 1 of a table by the hash of its key */
	struct map by_image; /* the same by image of the session that is read; or SIZE_MAX: none */
};

/* --- which tables --- */

static bool is_cut(const char *path)
{
	_cleanup_close_ int fd = open_regular(path, O_RDONLY | O_NOFOLLOW);
	struct function_header h;

	return fd < 0 || read(fd, &h, sizeof(h)) != sizeof(h) || !function_header_is_one(&h) ||
	       function_header_is_cut(&h);
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), n = strlen(end);

	return length > n && !strcmp(text + length - n, end);
}

static void add_table(struct job *j, const char *key)
{
	_cleanup_free_ char *path = path_join(j->directory, key);
	struct table t = { .path = path };

	if (ends_with(key, FUNCTION_FILE_CUT)) {
		function_file_recover(path);
		return;
	}
	if (strlen(key) >= sizeof(t.key) || lstat(path, &t.was) < 0 || !S_ISREG(t.was.st_mode) ||
	    t.was.st_size <= BLOCK || t.was.st_mtim.tv_sec >= j->how->until_s || is_cut(path))
		return;
	memcpy(t.key, key, strlen(key) + 1);
	t.path = STEAL(path);
	array_grow(&j->tables, j->count + 1, &j->room);
	j->tables[j->count++] = t;
	j->bytes += (uint64_t)t.was.st_size;
}

static void list_tables(struct job *j)
{
	_cleanup_(strbuf_done) struct strbuf names = STRBUF_INIT;
	const char *name;
	size_t at = 0;

	if (dirtree_names_of(j->directory, &names) < 0)
		return;
	while ((name = dirtree_next_name(&names, &at)))
		add_table(j, name);
}

/* Reads as many of them as there is memory for; one that is larger, if it is the first. */
static void read_tables(struct job *j)
{
	size_t left = j->how->memory_max, i;

	for (i = 0; i < j->count; i++) {
		struct table *t = &j->tables[i];
		size_t memory = function_file_memory(t->path);

		if (memory > (j->by_key.count ? left : MAX(left, (size_t)MEMORY_MOST)) ||
		    function_file_read(t->path, "", &t->symbols, NULL) < 0)
			continue;
		left -= MIN(memory, left);
		t->wanted = xcalloc(symtab_count(t->symbols) + 1, sizeof(*t->wanted));
		map_add(&j->by_key, hash_bytes(t->key, strlen(t->key)), (void *)(i + 1));
	}
}

/* --- what is wanted --- */

static struct table *find_table(const struct job *j, const struct manifest_image *image)
{
	char key[FUNCTION_KEY];
	uintptr_t number;

	if (!function_key(&image->file, &image->version, key))
		return NULL;
	map_for_each_of(&j->by_key, hash_bytes(key, strlen(key)), number)
	{
		if (!strcmp(j->tables[number - 1].key, key))
			return &j->tables[number - 1];
	}
	return NULL;
}

static struct table *table_of(struct job *j, const struct manifest_image *image)
{
	uintptr_t number = (uintptr_t)map_get(&j->by_image, (uintptr_t)image);
	struct table *t;

	if (!number) {
		t = find_table(j, image);
		number = t ? (uintptr_t)(t - j->tables) + 1 : SIZE_MAX;
		(void)map_set(&j->by_image, (uintptr_t)image, (void *)number);
	}
	return number == SIZE_MAX ? NULL : &j->tables[number - 1];
}

static void want(const struct table *t, uint64_t offset)
{
	const struct symbol *s = symtab_find(t->symbols, offset);

	if (s)
		t->wanted[s->whole] = true;
}

/* Of a caller, the offset is where the call returns to; so what is before it is wanted, too. */
static void mark(const struct manifest_image *image, uint64_t offset, void *data)
{
	const struct table *t = table_of(data, image);

	if (!t)
		return;
	want(t, offset);
	if (offset)
		want(t, offset - 1);
}

/* The sessions, each with its name and inode; the caller frees. NULL: they cannot be listed. */
static char *list_sessions(const struct job *j)
{
	_cleanup_(strbuf_done) struct strbuf names = STRBUF_INIT;
	struct strbuf list = STRBUF_INIT;
	const char *name;
	size_t at = 0;

	if (dirtree_names_of(j->sessions, &names) < 0)
		return NULL;
	while ((name = dirtree_next_name(&names, &at))) {
		_cleanup_free_ char *path = path_join(j->sessions, name);
		struct stat st;

		if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
			strbuf_addf(&list, "%" PRIu64 "/%s\n", (uint64_t)st.st_ino, name);
	}
	return strbuf_take(&list);
}

/* Marks what the session on a line of list_sessions() has. */
static int mark_session(struct job *j, const char *line, size_t length)
{
	const char *slash = memchr(line, '/', length);
	_cleanup_free_ char *name = xstrndup(slash + 1, length - (size_t)(slash + 1 - line));
	_cleanup_free_ char *path = path_join(j->sessions, name);
	int r = sampled_places(path, mark, j);

	map_done(&j->by_image);
	return r;
}

/* Marks what any session has. 0, or -errno: something may be missing. */
static int mark_all(struct job *j)
{
	_cleanup_free_ char *before = list_sessions(j), *after = NULL;
	const char *line = before;
	int r = before ? 0 : -EIO;

	while (r == 0 && *line) {
		size_t length = strcspn(line, "\n");

		r = mark_session(j, line, length);
		line += length + 1;
	}
	if (r < 0)
		return r;
	after = list_sessions(j);
	return after && !strcmp(before, after) ? 0 : -EAGAIN;
}

/* --- cutting --- */

static void cut_table(const struct table *t)
{
	_cleanup_free_ void *bytes = xmalloc((size_t)t->was.st_size);
	struct function_table table = { .bytes = bytes };
	ssize_t n = functions_pack_some(t->symbols, t->wanted, bytes, (size_t)t->was.st_size);

	table.size = n < 0 ? 0 : (size_t)n;
	if (n >= 0)
		(void)function_file_cut(t->path, &t->was, &table);
}

static void cut_all(const struct job *j)
{
	size_t i;

	for (i = 0; i < j->count; i++)
		if (j->tables[i].symbols)
			cut_table(&j->tables[i]);
}

static void job_done(struct job *j)
{
	size_t i;

	for (i = 0; i < j->count; i++) {
		symtab_free(j->tables[i].symbols);
		free(j->tables[i].wanted);
		free(j->tables[i].path);
	}
	free(j->tables);
	map_done(&j->by_key);
	free(j->directory);
	free(j->sessions);
}

void cut_functions(const char *samples, const struct cut_functions *how)
{
	_cleanup_(job_done) struct job j = { .how = how };

	/* Below SESSION/samples/NAME. */
	j.directory = path_join(samples, "../../symbols");
	j.sessions = path_join(samples, "..");
	list_tables(&j);
	if (j.bytes < how->bytes_least)
		return;
	read_tables(&j);
	if (mark_all(&j) == 0)
		cut_all(&j);
}
