/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sfile/session_names.h"

#include "base/arena.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "file/open_regular.h"
#include "file/path.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file that is larger is set aside. Reading one of twice the size is refused (file/path.h). */
enum { FILE_MAX = 8 << 20 };

struct entry {
	const char *key, *name;
	unsigned int session;
};

struct session_names {
	struct arena arena;
	struct map by_key;    /* the hash of a key to an entry */
	unsigned int session; /* that is read, from 1 on */
};

/* Returns the length of a container's id at the start of @text; 0: it is none. */
static size_t id_length(const char *text)
{
	size_t length = strspn(text, "0123456789abcdef");

	return length == SESSION_NAMES_ID ? length : 0;
}

/* The same of "TGID.TID". */
static size_t task_length(const char *text)
{
	static const char digits[] = "0123456789";
	size_t tgid = strspn(text, digits), tid;

	if (!tgid || text[tgid] != '.')
		return 0;
	tid = strspn(text + tgid + 1, digits);
	return tid ? tgid + 1 + tid : 0;
}

static const struct {
	const char *file;
	size_t (*key_length)(const char *text);
} kinds[] = {
	[SESSION_NAMES_CONTAINERS] = { "containers", id_length },
	[SESSION_NAMES_THREADS] = { "threads", task_length },
};
static_assert(ARRAY_SIZE(kinds) == SESSION_NAMES_COUNT_, "a row for each kind");

const char *session_names_id(const char *path)
{
	for (const char *at = path; *at; at++)
		if ((at == path || strchr("/-", at[-1])) && id_length(at))
			return at;
	return NULL;
}

void session_names_line(struct strbuf *lines, const char *key, const char *name)
{
	strbuf_addf(lines, "%s\t", key);
	text_add_field(lines, name);
	strbuf_adds(lines, "\n");
}

/* The file of what was written before; caller frees. */
static char *old_path(enum session_names_kind kind, const char *samples)
{
	return xasprintf("%s/%s.old", samples, kinds[kind].file);
}

/* Sets the file aside if it is large; returns whether it did. */
static bool set_aside(enum session_names_kind kind, const char *samples, const char *path)
{
	_cleanup_free_ char *old = old_path(kind, samples);
	struct stat st;

	if (lstat(path, &st) < 0 || st.st_size <= FILE_MAX)
		return false;
	(void)path_put(path, old, 0, 0);
	return true;
}

int session_names_append(enum session_names_kind kind, const char *samples,
			 const struct strbuf *lines, struct error *err)
{
	_cleanup_free_ char *path = path_join(samples, kinds[kind].file);
	bool is_new = set_aside(kind, samples, path);
	_cleanup_close_ int fd = open_regular_or_create(path, O_WRONLY | O_APPEND, 0644);
	ssize_t n;

	if (fd < 0)
		return error_set(err, fd, "%s: %s", path, open_regular_why(fd));
	n = write(fd, strbuf_text(lines), lines->length);
	if (n < 0)
		return error_errno(err, -errno, "%s", path);
	return (size_t)n == lines->length ? is_new : error_set(err, -ENOSPC, "%s: cut short", path);
}

int session_names_add(enum session_names_kind kind, const char *samples, const char *key,
		      const char *name, struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT;

	session_names_line(&line, key, name);
	return MIN(session_names_append(kind, samples, &line, err), 0);
}

struct session_names *session_names_new(void)
{
	return xcalloc(1, sizeof(struct session_names));
}

static struct entry *find(const struct session_names *n, const char *key, size_t length)
{
	struct entry *e;

	map_for_each_of(&n->by_key, hash_bytes(key, length), e)
	{
		if (!strncmp(e->key, key, length) && !e->key[length])
			return e;
	}
	return NULL;
}

static void add(struct session_names *n, const char *key, const char *name)
{
	size_t length = strlen(key);
	struct entry *e = find(n, key, length);

	if (e && (e->session != n->session || !strcmp(e->name, name)))
		return;
	if (!e) {
		e = arena_alloc(&n->arena, sizeof(*e));
		e->key = arena_strdup(&n->arena, key);
		e->session = n->session;
		map_add(&n->by_key, hash_bytes(key, length), e);
	}
	e->name = arena_strdup(&n->arena, name);
}

/* Takes the line of a key and a name, without its newline; false if it is damaged. */
static bool take_line(struct session_names *n, enum session_names_kind kind, char *line)
{
	size_t length = kinds[kind].key_length(line);
	char *tab = line + length;

	if (!length || *tab != '\t' || text_unescape_field(tab + 1) < 0 || !tab[1])
		return false;
	*tab = '\0';
	add(n, line, tab + 1);
	return true;
}

static void read_file(struct session_names *n, enum session_names_kind kind, const char *path)
{
	_cleanup_free_ char *text = NULL;
	struct error err = ERROR_INIT;
	ssize_t size = path_read(NULL, path, &text, &err);
	size_t damaged = 0;

	if (size < 0) {
		/* The warning about its images says what is wrong with a session that is none. */
		if (size != -ENOENT && size != -ENOTDIR)
			log_warn("%s; the names of %s are missing", err.text, kinds[kind].file);
		return;
	}
	for (char *line = text, *end; *line; line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		damaged += !take_line(n, kind, line);
	}
	if (damaged)
		log_warn("%s: %zu damaged lines are skipped", path, damaged);
}

void session_names_read(struct session_names *n, const char *samples)
{
	enum session_names_kind kind;

	if (n)
		n->session++;
	for (kind = 0; n && kind < SESSION_NAMES_COUNT_; kind++) {
		_cleanup_free_ char *old = old_path(kind, samples),
				    *path = path_join(samples, kinds[kind].file);

		read_file(n, kind, old);
		read_file(n, kind, path);
	}
}

static const char *name_of(const struct session_names *n, const char *key, size_t length)
{
	const struct entry *e = find(n, key, length);

	return e ? e->name : NULL;
}

const char *session_names_container(const struct session_names *n, const char *id)
{
	return n && id ? name_of(n, id, SESSION_NAMES_ID) : NULL;
}

const char *session_names_thread(const struct session_names *n, int64_t tgid, int64_t tid)
{
	char key[48];
	int length = snprintf(key, sizeof(key), "%" PRId64 ".%" PRId64, tgid, tid < 0 ? tgid : tid);

	return n ? name_of(n, key, (size_t)length) : NULL;
}

void session_names_free(struct session_names *n)
{
	if (!n)
		return;
	map_done(&n->by_key);
	arena_done(&n->arena);
	free(n);
}
