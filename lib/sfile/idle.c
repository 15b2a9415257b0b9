/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sfile/idle.h"

#include "base/macro.h"
#include "base/mem.h"
#include "base/parse.h"
#include "file/path.h"
#include "sfile/internal/tree.h"
#include "sfile/session.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const char segment_mark[] = "flat.3.1-";

/* Parses a number from 1 on, followed by @after. */
static uint32_t parse_number(const char *at, const char *after)
{
	uint64_t number;

	if (parse_dec(&at, &number) < 0 || number >= UINT32_MAX || strcmp(at, after) != 0)
		return 0;
	return (uint32_t)number;
}

uint32_t idle_batch(const char *entry)
{
	return parse_number(entry, ".files");
}

uint32_t idle_segment_last(const char *entry)
{
	size_t length = strlen(segment_mark);

	return strncmp(entry, segment_mark, length) ? 0 : parse_number(entry + length, "");
}

/* Reads the entries of the directory; none if there is no such directory. */
static struct tree *read_entries(const char *samples)
{
	_cleanup_free_ char *path = path_join(samples, SESSION_IDLE);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const int error = errno;
	struct tree *t;

	if (fd >= 0)
		return tree_read_one(fd, ".");
	t = xcalloc(1, sizeof(*t));
	if (error != ENOENT && error != ENOTDIR && error != ELOOP)
		t->error = -error;
	return t;
}

int idle_last(const char *samples, uint32_t *ret, struct error *err)
{
	_cleanup_(tree_freep) struct tree *t = read_entries(samples);
	_cleanup_free_ char *idle = path_join(samples, SESSION_IDLE);
	uint32_t last = 0;
	size_t i;

	*ret = 0;
	if (t->error)
		return error_errno(err, t->error, "%s", idle);

	for (i = 0; i < t->count; i++)
		if (t->entries[i].kind == TREE_FILE)
			last = MAX(last, idle_segment_last(t->entries[i].name));
	*ret = last;
	return 0;
}

int idle_walk(const char *samples, uint32_t after,
	      int (*each)(const char *path, const struct sname *name, void *),
	      void (*bad)(const char *path, const struct error *why, void *data), void *data,
	      struct error *err)
{
	_cleanup_(tree_freep) struct tree *t = read_entries(samples);
	_cleanup_free_ char *idle = path_join(samples, SESSION_IDLE);
	struct error why = ERROR_INIT;
	int r = 0;
	size_t i;

	if (t->error && bad) {
		(void)error_errno(&why, t->error, "%s", idle);
		bad(idle, &why, data);
	}
	for (i = 0; r == 0 && i < t->count; i++) {
		_cleanup_free_ char *path = NULL;

		if (t->entries[i].kind != TREE_DIRECTORY || idle_batch(t->entries[i].name) <= after)
			continue;
		path = path_join(idle, t->entries[i].name);
		r = session_walk(path, each, bad, data, err);
		if (r == -ENOENT) /* it has just been removed */
			r = 0;
	}
	return r;
}

const char *idle_below(const char *path)
{
	const char *mark = strstr(path, "/{");

	return mark ? mark + 1 : NULL;
}

char *idle_find(const char *path)
{
	const char *below = idle_below(path);
	_cleanup_free_ char *samples = below ? xstrndup(path, (size_t)(below - path)) : NULL;
	_cleanup_(tree_freep) struct tree *t = samples ? read_entries(samples) : NULL;
	uint32_t best = 0;
	char *found = NULL;
	size_t i;

	for (i = 0; t && i < t->count; i++) {
		char *at =
			xasprintf("%s" SESSION_IDLE "/%s/%s", samples, t->entries[i].name, below);

		if (idle_batch(t->entries[i].name) > best && access(at, F_OK) == 0) {
			best = idle_batch(t->entries[i].name);
			free(found);
			found = STEAL(at);
		}
		free(at);
	}
	return found;
}
