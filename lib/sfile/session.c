/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sfile/session.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "file/dirtree.h"
#include "file/open_regular.h"
#include "file/path.h"
#include "sfile/abi.h"
#include "sfile/sname.h"
#include "sfile/internal/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

char *session_samples(const char *session_dir, const char *name)
{
	_cleanup_free_ char *samples = path_join(session_dir, "samples");

	return path_join(samples, name);
}

char *session_code_path(const char *samples, uint32_t tgid)
{
	return xasprintf("%s/jit/%u.jo", samples, tgid);
}

/* Bytes of @path, @length long, without its last part. */
static size_t parent_length(const char *path, size_t length)
{
	while (length && path[length - 1] == '/')
		length--;
	while (length && path[length - 1] != '/')
		length--;
	return length;
}

char *session_symbols(const char *samples)
{
	size_t length = parent_length(samples, parent_length(samples, strlen(samples)));

	return xasprintf("%.*ssymbols", (int)length, samples);
}

bool session_name_valid(const char *name)
{
	size_t length = strlen(name), i;

	for (i = 0; i < length; i++)
		if ((unsigned char)name[i] < ' ' || name[i] == '\177' || name[i] == '/')
			return false;
	return length && *name != '.' && length <= NAME_MAX;
}

int session_name_check(const char *name, struct error *err)
{
	if (session_name_valid(name))
		return 0;
	return error_set(err, -EINVAL, "'%s' is not a valid session name", name);
}

int session_create(const char *session_dir, const char *name, struct error *err)
{
	_cleanup_free_ char *samples = session_samples(session_dir, name);
	_cleanup_free_ char *stats = path_join(samples, "stats");
	_cleanup_free_ char *abi = path_join(session_dir, "abi");
	_cleanup_free_ char *text = abi_text(abi_native());
	int r = session_name_check(name, err);

	if (r == 0)
		r = path_make_dirs(stats, 0755, err);
	if (r == 0 && access(abi, F_OK) < 0)
		r = path_write(abi, text, 0644, err);
	return r;
}

/* --- walking --- */

/* Opens a directory, links followed, that can be read and searched; a descriptor or -errno. */
static int open_readable(const char *directory, struct error *err)
{
	_cleanup_close_ int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || faccessat(fd, ".", X_OK, AT_EACCESS) < 0)
		return error_errno(err, -errno, "%s", directory);
	return STEAL_FD(fd);
}

struct walk {
	int top; /* the directory where the walk started */
	int (*each)(const char *path, const struct sname *name, void *data);
	void (*bad)(const char *path, const struct error *why, void *data);
	void *data;
	struct strbuf path;
	size_t top_length; /* length of the top's path and its slash in path */
};

static int walk_start(struct walk *w, const char *top, struct error *err)
{
	w->top = open_readable(top, err);
	strbuf_adds(&w->path, top);
	while (w->path.length > 1 && w->path.text[w->path.length - 1] == '/')
		w->path.text[--w->path.length] = '\0';
	w->top_length = w->path.length + 1;
	return MIN(w->top, 0);
}

static void walk_done(struct walk *w)
{
	cleanup_closep(&w->top);
	strbuf_done(&w->path);
}

/* Returns the part of w->path below the top. */
static const char *walk_below(const struct walk *w)
{
	return w->path.length < w->top_length ? "." : w->path.text + w->top_length;
}

static void report_bad(struct walk *w, const struct error *why)
{
	if (w->bad)
		w->bad(strbuf_text(&w->path), why, w->data);
}

/* Returns whether a directory of this name in a samples directory contains sample files. */
static bool is_image(const char *name)
{
	return name[0] == '{';
}

/* Returns the directory at w->path: @read if that is given, else newly read. */
static struct tree *take_directory(struct walk *w, struct tree *read)
{
	struct tree *t = read ? read : tree_read_one(w->top, walk_below(w));
	struct error err = ERROR_INIT;

	/* -ENOENT: removed since its parent was read. */
	if (t->error && t->error != -ENOENT) {
		(void)error_errno(&err, t->error, "%s", strbuf_text(&w->path));
		report_bad(w, &err);
	}
	return t;
}

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && !strcmp(s + n - m, end);
}

/* Handles a file below {root}, {kern} or {cgroup}. It is a sample file, or one to ignore: the code
 * of a JIT region (TGID.jo), or a temporary file of an interrupted odb_create(). */
static int walk_file(struct walk *w, enum tree_kind kind)
{
	const char *path = strbuf_text(&w->path);
	struct error err = ERROR_INIT;
	struct sname name;
	int r;

	if (ends_with(path, ".jo") || path_base(path)[0] == '.')
		return 0;
	r = kind == TREE_FILE ? sname_parse(walk_below(w), &name, &err)
			      : error_set(&err, -EBADMSG, "%s: not a regular file", path);
	if (r < 0) {
		report_bad(w, &err);
		return 0;
	}
	r = w->each(path, &name, w->data);
	sname_done(&name);
	return r;
}

/* Walks the directory at w->path; at the top, only directories that contain sample files. */
static int walk_directory(struct walk *w, struct tree *read, bool top)
{
	struct tree *t = take_directory(w, read);
	size_t length = w->path.length, i;
	int r = 0;

	for (i = 0; r == 0 && i < t->count; i++) {
		const struct tree_entry *entry = &t->entries[i];

		if (top && !(entry->kind == TREE_DIRECTORY && is_image(entry->name)))
			continue;
		strbuf_add(&w->path, "/", 1);
		strbuf_adds(&w->path, entry->name);
		r = entry->kind == TREE_DIRECTORY ? walk_directory(w, entry->below, false)
						  : walk_file(w, entry->kind);
		strbuf_cut(&w->path, length);
	}
	if (!read)
		tree_free(t);
	return r;
}

int session_walk(const char *samples,
		 int (*each)(const char *path, const struct sname *name, void *),
		 void (*bad)(const char *path, const struct error *why, void *data), void *data,
		 struct error *err)
{
	_cleanup_(walk_done) struct walk w = { .each = each, .bad = bad, .data = data };
	_cleanup_(tree_freep) struct tree *tree = NULL;
	int r = walk_start(&w, samples, err);

	if (r < 0)
		return r;
	/* One thread gains nothing by reading all directories first, and has to keep them. */
	if (parallel_threads() > 1)
		tree = tree_read(w.top, is_image);
	return walk_directory(&w, tree, true);
}

struct walk_rest {
	int (*each)(const char *path, const char *below, void *data);
	void *data;
	struct walk w;
};

static int walk_rest(struct walk_rest *rest, struct error *err)
{
	struct walk *w = &rest->w;
	_cleanup_(tree_freep) struct tree *t = take_directory(w, NULL);
	size_t length = w->path.length, i;
	int r = 0;

	if (t->error && t->error != -ENOENT)
		return error_errno(err, t->error, "%s", strbuf_text(&w->path));
	for (i = 0; r == 0 && i < t->count; i++) {
		const struct tree_entry *entry = &t->entries[i];
		const char *name = entry->name;

		if (is_image(name) || name[0] == '.' || ends_with(name, ".tmp") ||
		    (w->path.length + 1 == w->top_length && !strcmp(name, SESSION_IDLE)))
			continue;
		strbuf_add(&w->path, "/", 1);
		strbuf_adds(&w->path, name);
		if (entry->kind == TREE_DIRECTORY)
			r = walk_rest(rest, err);
		else if (entry->kind == TREE_FILE)
			r = rest->each(strbuf_text(&w->path), walk_below(w), rest->data);
		else
			log_warn("%s: not a regular file; skipped", strbuf_text(&w->path));
		strbuf_cut(&w->path, length);
	}
	return r;
}

int session_walk_rest(const char *samples,
		      int (*each)(const char *path, const char *below, void *data), void *data,
		      struct error *err)
{
	struct walk_rest rest = { .each = each, .data = data };
	int r = walk_start(&rest.w, samples, err);

	if (r == 0)
		r = walk_rest(&rest, err);
	walk_done(&rest.w);
	return r;
}

static int found_one(const char *p _unused_, const struct sname *n _unused_, void *d _unused_)
{
	return 1;
}

bool session_exists(const char *session_dir, const char *name)
{
	_cleanup_free_ char *samples = session_samples(session_dir, name);
	_cleanup_(walk_done) struct walk w = { .each = found_one, .top = -1 };

	return session_name_valid(name) && walk_start(&w, samples, NULL) == 0 &&
	       (walk_directory(&w, NULL, true) == 1 ||
		faccessat(w.top, SESSION_IDLE, F_OK, 0) == 0);
}

static int list_entries(const char *session_dir, enum tree_kind kind,
			int (*each)(const char *name, void *data), void *data, struct error *err)
{
	_cleanup_free_ char *samples = path_join(session_dir, "samples");
	_cleanup_close_ int top = open_readable(samples, err);
	_cleanup_(tree_freep) struct tree *t = NULL;
	size_t i;
	int r = 0;

	if (top < 0)
		return top;
	t = tree_read_one(top, ".");
	if (t->error)
		return error_errno(err, t->error, "%s", samples);
	for (i = 0; r == 0 && i < t->count; i++)
		if (t->entries[i].kind == kind && session_name_valid(t->entries[i].name))
			r = each(t->entries[i].name, data);
	return r;
}

int session_list(const char *session_dir, int (*each)(const char *name, void *data), void *data,
		 struct error *err)
{
	return list_entries(session_dir, TREE_DIRECTORY, each, data, err);
}

int session_list_strays(const char *session_dir, int (*each)(const char *name, void *data),
			void *data, struct error *err)
{
	return list_entries(session_dir, TREE_FILE, each, data, err);
}

/* --- counters --- */

/* Returns @samples/stats/@name, or NULL if @name could leave that directory; caller frees. */
static char *stat_path(const char *samples, const char *name)
{
	if (!*name || *name == '/' || *name == '.' || strstr(name, "/."))
		return NULL;
	return xasprintf("%s/stats/%s", samples, name);
}

/* Reads a counter, which somebody may be writing: two reads must agree. The length of its text, or
 * -errno. */
static ssize_t read_stat(int fd, uint64_t *ret)
{
	char text[2][24] = { "", "*" };
	ssize_t n = 0;
	int r;

	for (int i = 0; i < 8 && n >= 0 && strcmp(text[0], text[1]) != 0; i++) {
		n = pread(fd, text[i % 2], sizeof(*text) - 1, 0);
		text[i % 2][MAX(n, 0)] = '\0';
	}
	if (n < 0)
		return -errno;
	text[0][strcspn(text[0], "\n")] = '\0';
	r = parse_u64(text[0], 0, UINT64_MAX, ret);
	return r < 0 ? r : n;
}

uint64_t session_stat_get(const char *samples, const char *name)
{
	_cleanup_free_ char *path = stat_path(samples, name);
	_cleanup_close_ int fd = path ? open_regular(path, O_RDONLY) : -ENOENT;
	uint64_t value = 0;
	ssize_t r = fd < 0 ? fd : read_stat(fd, &value);

	/* -ENOTDIR: session_stat_each() reports the directory. */
	if (r < 0 && r != -ENOENT && r != -ENOTDIR && r != -EINVAL && r != -ERANGE)
		log_warn("%s: %s; counted as 0", path, open_regular_why((int)r));
	return value;
}

/* Opens the file of a counter, and makes it if there is none; a descriptor or -errno. */
static int open_stat(const char *path, struct error *err)
{
	int r, fd = open_regular_or_create(path, O_RDWR, 0644);

	if (fd == -ENOENT) {
		r = path_make_parents(path, 0755, err);
		if (r < 0)
			return r;
		fd = open_regular_or_create(path, O_RDWR, 0644);
	}
	return fd < 0 ? error_errno(err, fd, "cannot create %s", path) : fd;
}

/* A text of the same length is written in place, which needs no sync: a power cut leaves the old
 * value or the new one, because no block is allocated and no size changes. A new file has nothing
 * to lose. Only another digit makes another file. */
static int write_stat(int fd, const char *path, ssize_t before, uint64_t value, struct error *err)
{
	_cleanup_free_ char *text = xasprintf("%llu", (unsigned long long)value);
	ssize_t n, length = (ssize_t)strlen(text);

	if (before > 0 && before != length)
		return path_replace(path, text, 0644, err);
	n = pwrite(fd, text, (size_t)length, 0);
	if (n != length)
		return error_errno(err, n < 0 ? -errno : -ENOSPC, "cannot write %s", path);
	return 0;
}

int session_stat_add(const char *samples, const char *name, uint64_t value, struct error *err)
{
	_cleanup_free_ char *path = stat_path(samples, name);
	_cleanup_close_ int fd = path ? open_stat(path, err) : -EINVAL;
	uint64_t sum = 0;
	ssize_t before;

	if (!path)
		return error_set(err, -EINVAL, "'%s' is not a valid counter name", name);
	if (fd < 0)
		return fd;
	before = read_stat(fd, &sum);
	/* Start from 0 if it is new or not a number, but not if reading it failed. */
	if (before < 0 && before != -EINVAL && before != -ERANGE)
		return error_errno(err, (int)before, "%s", path);
	if (__builtin_add_overflow(sum, value, &sum))
		sum = UINT64_MAX;
	return write_stat(fd, path, before, sum, err);
}

struct stat_walk {
	void (*each)(const char *name, uint64_t v, void *data);
	void *data;
	const char *samples;
	struct walk w;
};

static int each_stat(struct stat_walk *s)
{
	_cleanup_(tree_freep) struct tree *t = take_directory(&s->w, NULL);
	size_t length = s->w.path.length, i;
	int r = t->error;

	for (i = 0; i < t->count; i++) {
		const char *name;
		int below = 0;

		strbuf_addf(&s->w.path, "/%s", t->entries[i].name);
		name = walk_below(&s->w);
		if (t->entries[i].kind == TREE_DIRECTORY)
			below = each_stat(s);
		else if (t->entries[i].kind == TREE_FILE && !ends_with(name, ".tmp"))
			s->each(name, session_stat_get(s->samples, name), s->data);
		r = r ?: below;
		strbuf_cut(&s->w.path, length);
	}
	return r;
}

int session_stat_each(const char *samples, void (*each)(const char *name, uint64_t v, void *data),
		      void *data)
{
	struct stat_walk s = { .each = each, .data = data, .samples = samples };
	_cleanup_free_ char *stats = path_join(samples, "stats");
	int r = walk_start(&s.w, stats, NULL);

	if (r == 0)
		r = each_stat(&s);
	walk_done(&s.w);
	return r;
}
