/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sfile/containers.h"

#include "base/arena.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "file/open_regular.h"
#include "file/path.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* How many names of one session are read. */
enum { NAMES_MAX = 100000 };

struct entry {
	const char *id, *name;
};

struct containers {
	struct arena arena;
	struct map by_id; /* the hash of an id to an entry */
	size_t count;
};

static bool is_id(const char *text)
{
	return strspn(text, "0123456789abcdef") == CONTAINERS_ID;
}

const char *containers_id(const char *path)
{
	for (const char *at = path; *at; at++)
		if ((at == path || strchr("/-", at[-1])) && is_id(at))
			return at;
	return NULL;
}

static char *file_of(const char *samples)
{
	return path_join(samples, "containers");
}

int containers_add(const char *samples, const char *id, const char *name, struct error *err)
{
	_cleanup_free_ char *path = file_of(samples);
	_cleanup_close_ int fd = open_regular_or_create(path, O_WRONLY | O_APPEND, 0644);
	_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT;
	ssize_t n;

	if (fd < 0)
		return error_set(err, fd, "%s: %s", path, open_regular_why(fd));
	strbuf_addf(&line, "%.*s\t", CONTAINERS_ID, id);
	text_add_field(&line, name);
	strbuf_adds(&line, "\n");
	n = write(fd, strbuf_text(&line), line.length);
	if (n < 0)
		return error_errno(err, -errno, "%s", path);
	return (size_t)n == line.length ? 0 : error_set(err, -ENOSPC, "%s: cut short", path);
}

struct containers *containers_new(void)
{
	return xcalloc(1, sizeof(struct containers));
}

static struct entry *find(const struct containers *c, const char *id)
{
	struct entry *e;

	map_for_each_of(&c->by_id, hash_bytes(id, CONTAINERS_ID), e)
	{
		if (!memcmp(e->id, id, CONTAINERS_ID))
			return e;
	}
	return NULL;
}

static void add(struct containers *c, const char *id, const char *name)
{
	struct entry *e = find(c, id);

	if (!e) {
		e = arena_alloc(&c->arena, sizeof(*e));
		e->id = arena_strdup(&c->arena, id);
		map_add(&c->by_id, hash_bytes(id, CONTAINERS_ID), e);
		c->count++;
	}
	e->name = arena_strdup(&c->arena, name);
}

/* Takes the line of an id and a name, without its newline; false if it is damaged. */
static bool take_line(struct containers *c, char *line)
{
	char *tab = strchr(line, '\t');

	if (!is_id(line) || tab != line + CONTAINERS_ID || text_unescape_field(tab + 1) < 0 ||
	    !tab[1])
		return false;
	*tab = '\0';
	if (c->count < NAMES_MAX)
		add(c, line, tab + 1);
	return true;
}

void containers_read(struct containers *c, const char *samples)
{
	_cleanup_free_ char *path = file_of(samples), *text = NULL;
	struct error err = ERROR_INIT;
	ssize_t size = c ? path_read(NULL, path, &text, &err) : -ENOENT;
	size_t damaged = 0;

	if (size < 0) {
		/* The warning about its images says what is wrong with a session that is none. */
		if (size != -ENOENT && size != -ENOTDIR)
			log_warn("%s; the names of containers are missing", err.text);
		return;
	}
	for (char *line = text, *end; *line; line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		damaged += !take_line(c, line);
	}
	if (damaged)
		log_warn("%s: %zu damaged lines are skipped", path, damaged);
}

const char *containers_name(const struct containers *c, const char *id)
{
	const struct entry *e = c && id ? find(c, id) : NULL;

	return e ? e->name : NULL;
}

void containers_free(struct containers *c)
{
	if (!c)
		return;
	map_done(&c->by_id);
	arena_done(&c->arena);
	free(c);
}
