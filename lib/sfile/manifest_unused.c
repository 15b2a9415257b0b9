/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sfile/manifest_unused.h"

#include "base/intern.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "file/open_regular.h"
#include "file/path.h"
#include "sfile/manifest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	SMALL = 64 << 10, /* bytes of a manifest from which nothing is removed */
	PART = 4,	  /* nor if less than one in so many images is unused */
};

static char *list_path(const char *samples)
{
	return path_join(samples, "images.unused.tmp");
}

void manifest_unused_clear(const char *samples)
{
	_cleanup_free_ char *path = list_path(samples);

	(void)path_remove_tree(path, NULL);
}

/* The name in the first column of @line; NULL if the line is damaged. Caller frees. */
static char *name_in(const char *line)
{
	_cleanup_free_ char *name = xstrndup(line, strcspn(line, "\t\n"));

	return text_unescape_field(name) == 0 && *name ? STEAL(name) : NULL;
}

/* Calls @each for each complete line of the file at @path, with its newline. 0 or -errno. */
static int each_line(const char *path, void (*each)(const char *line, void *data), void *data)
{
	_cleanup_fclose_ FILE *f = open_regular_stream(path);
	_cleanup_free_ char *line = NULL;
	size_t room = 0;
	ssize_t n;

	if (!f)
		return -errno;
	while ((n = xgetline(&line, &room, f)) > 0)
		if (line[n - 1] == '\n' && strlen(line) == (size_t)n)
			each(line, data);
	return ferror(f) ? -EIO : 0;
}

/* --- finding them --- */

struct search {
	bool (*is_used)(const char *name, void *data);
	void *data;
	struct strbuf list;
	size_t lines, unused;
};

static void look_at(const char *line, void *data)
{
	struct search *s = data;
	_cleanup_free_ char *name = name_in(line);

	s->lines++;
	if (!name || s->is_used(name, s->data))
		return;
	s->unused++;
	text_add_field(&s->list, name);
	strbuf_adds(&s->list, "\n");
}

ssize_t manifest_unused_write(const char *samples, bool (*is_used)(const char *name, void *data),
			      void *data)
{
	_cleanup_free_ char *images = path_join(samples, MANIFEST_FILE), *list = list_path(samples);
	struct search s = { .is_used = is_used, .data = data };
	struct stat st;
	int r = stat(images, &st) < 0 ? -errno : 0;

	if (r == 0 && st.st_size < SMALL)
		return 0;
	if (r == 0)
		r = each_line(images, look_at, &s);
	if (s.unused < s.lines / PART)
		s.unused = 0;
	if (r == 0 && s.unused)
		r = path_write(list, strbuf_text(&s.list), 0644, NULL);
	strbuf_done(&s.list);
	return r < 0 ? r : (ssize_t)s.unused;
}

/* --- removing them --- */

struct removal {
	const struct manifest_choice *choice;
	struct intern list;
	struct strbuf kept; /* lines */
	struct intern dropped;
};

static void read_listed(const char *line, void *data)
{
	struct removal *r = data;
	_cleanup_free_ char *name = name_in(line);

	if (name && !r->choice->is_used(name, r->choice->data))
		(void)intern(&r->list, name);
}

static void keep_or_drop(const char *line, void *data)
{
	struct removal *r = data;
	_cleanup_free_ char *name = name_in(line);

	if (name && intern_has(&r->list, name))
		(void)intern(&r->dropped, name);
	else
		strbuf_adds(&r->kept, line);
}

ssize_t manifest_unused_drop(const char *samples, const struct manifest_choice *choice,
			     struct error *err)
{
	_cleanup_free_ char *images = path_join(samples, MANIFEST_FILE), *list = list_path(samples);
	struct removal removal = { .choice = choice };
	ssize_t count;
	int r = each_line(list, read_listed, &removal);

	if (r == 0)
		r = each_line(images, keep_or_drop, &removal);
	count = (ssize_t)removal.dropped.by_hash.count;
	if (r == 0 && count)
		r = path_write(images, strbuf_text(&removal.kept), 0644, err);
	else if (r < 0 && r != -ENOENT)
		(void)error_errno(err, r, "%s", images);
	map_for_each (&removal.dropped.by_hash, slot)
		if (r == 0)
			choice->dropped(slot->value, choice->data);
	manifest_unused_clear(samples);
	intern_done(&removal.list);
	intern_done(&removal.dropped);
	strbuf_done(&removal.kept);
	return r == -ENOENT ? 0 : r < 0 ? r : count;
}
