/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/binary/sources.h"

#include "base/hash.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "file/holes.h"
#include "file/open_regular.h"
#include "file/path.h"
#include "profile/select/patterns.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { NOTED_SHOWN = 3 };

/* Files to warn of. */
struct noted {
	struct map known; /* hash of each path */
	size_t count;
	struct strbuf names; /* the first of them */
};

struct sources {
	char *root;
	char **more_roots;
	size_t more_count, more_room;
	struct patterns search, base; /* as lists of directories */
	struct noted missing;	      /* files that were not found */
	char *tried;		      /* where the first of them was looked for */
	struct noted newer;	      /* than a binary that was built from them */
	bool is_quiet;		      /* no warnings of these */
};

struct sources *sources_new(const char *root, const char *search_dirs, const char *base_dirs)
{
	struct sources *s = xcalloc(1, sizeof(*s));

	s->root = xstrdup(root ? root : "");
	if (search_dirs)
		patterns_add(&s->search, search_dirs);
	if (base_dirs)
		patterns_add(&s->base, base_dirs);
	return s;
}

void sources_add_root(struct sources *s, const char *root)
{
	array_grow(&s->more_roots, s->more_count + 1, &s->more_room);
	s->more_roots[s->more_count++] = xstrdup(root);
}

/* Adds a file unless it is known. Returns whether it is the first one. */
static bool note(struct noted *n, const char *path)
{
	if (map_set(&n->known, hash_bytes(path, strlen(path)), n))
		return false;
	if (n->count++ < NOTED_SHOWN)
		strbuf_addf(&n->names, "%s%s", n->count > 1 ? ", " : "", path);
	return n->count == 1;
}

/* The names of the first files, and how many others there are; caller frees. */
static char *names_of(const struct noted *n)
{
	const char *names = strbuf_text(&n->names);

	return n->count > NOTED_SHOWN ? xasprintf("%s and %zu more", names, n->count - NOTED_SHOWN)
				      : xstrdup(names);
}

static void noted_done(struct noted *n)
{
	map_done(&n->known);
	strbuf_done(&n->names);
}

/* Warns of all files that were not found. */
static void warn_missing(const struct sources *s)
{
	static const char remedy[] =
		"use --search-dirs, or -R with the root of a container or chroot";
	_cleanup_free_ char *names = names_of(&s->missing);

	if (s->missing.count > 1)
		log_warn("%zu sources not found (%s); %s", s->missing.count, names, remedy);
	else if (s->missing.count)
		log_warn("source %s not found (tried %s); %s", names, s->tried, remedy);
}

/* Warns of all files whose lines may be others than those that were compiled. */
static void warn_newer(const struct sources *s)
{
	static const char meaning[] = "samples may be on the wrong lines";
	_cleanup_free_ char *names = names_of(&s->newer);

	if (s->newer.count > 1)
		log_warn("%zu sources are newer than what was built from them (%s); %s",
			 s->newer.count, names, meaning);
	else if (s->newer.count)
		log_warn("source %s is newer than what was built from it; %s", names, meaning);
}

void sources_free(struct sources *s)
{
	size_t i;

	if (!s)
		return;
	warn_missing(s);
	warn_newer(s);
	free(s->tried);
	noted_done(&s->missing);
	noted_done(&s->newer);
	free(s->root);
	for (i = 0; i < s->more_count; i++)
		free(s->more_roots[i]);
	free(s->more_roots);
	patterns_done(&s->search);
	patterns_done(&s->base);
	free(s);
}

/* The search for a file: the places tried so far, and where it was found. */
struct look {
	char *found;
	struct strbuf places;
};

/* Takes @path. */
static void try_path(struct look *l, char *path)
{
	_cleanup_free_ char *tried = path;
	struct stat st;

	if (l->found)
		return;
	if (stat(tried, &st) == 0 && S_ISREG(st.st_mode) && access(tried, R_OK) == 0) {
		l->found = STEAL(tried);
		return;
	}
	if (!strstr(strbuf_text(&l->places), tried))
		strbuf_addf(&l->places, "%s%s", l->places.length ? ", " : "", tried);
}

/* The part of @path after the longest base directory that contains it, or @path. */
static const char *without_base(const struct sources *s, const char *path)
{
	size_t i, best = 0;

	for (i = 0; i < s->base.count; i++) {
		const char *base = s->base.list[i];
		size_t n = strlen(base);

		while (n && base[n - 1] == '/')
			n--;
		if (n > best && !strncmp(path, base, n) && path[n] == '/')
			best = n;
	}
	return path + best;
}

void sources_be_quiet(struct sources *s)
{
	s->is_quiet = true;
}

/* Keeps what to say of a file that was not found. */
static void note_missing(struct sources *s, const char *path, const struct look *l)
{
	if (!s->is_quiet && note(&s->missing, path))
		s->tried = xstrdup(strbuf_text(&l->places));
}

bool sources_compare(struct sources *s, const char *found, uint64_t built)
{
	struct stat st;

	if (!built || stat(found, &st) < 0 || st.st_mtime <= 0 || (uint64_t)st.st_mtime <= built)
		return false;
	if (!s->is_quiet)
		(void)note(&s->newer, found);
	return true;
}

char *sources_find(struct sources *s, const char *path)
{
	struct look look = { 0 };
	size_t i;

	if (path_is_absolute(path))
		try_path(&look, path_under(s->root, path));
	for (i = 0; i < s->more_count && path_is_absolute(path); i++)
		try_path(&look, path_under(s->more_roots[i], path));
	try_path(&look, xstrdup(path));
	for (i = 0; i < s->search.count; i++) {
		const char *directory = s->search.list[i];

		try_path(&look, path_join(directory, without_base(s, path)));
		try_path(&look, path_join(directory, path));
		try_path(&look, path_join(directory, path_base(path)));
	}
	if (!look.found)
		note_missing(s, path, &look);
	strbuf_done(&look.places);
	return look.found;
}

FILE *sources_open(const char *path, uid_t owner)
{
	_cleanup_close_ int fd = open_regular(path, O_RDONLY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0) {
		log_warn("%s: %s", path, fd < 0 ? open_regular_why(fd) : strerror(errno));
		return NULL;
	}
	if (geteuid() == 0 && owner != 0 && st.st_uid != owner && !(st.st_mode & S_IROTH)) {
		if (owner == (uid_t)-1)
			log_warn("%s: not shown: not everybody may read it, and the binary that "
				 "names this source is gone",
				 path);
		else
			log_warn("%s: not shown: uid %u, who owns the binary that names this "
				 "source, may not read it",
				 path, owner);
		return NULL;
	}
	if (holes_prevail(fd, (uint64_t)st.st_size)) {
		log_warn("%s: not shown: %s", path, holes_text);
		return NULL;
	}
	return xfdopen(STEAL_FD(fd), "r");
}

/* --- lines --- */

struct sourcetext {
	char *bytes; /* mapped; NULL if the file is empty */
	size_t size;
	size_t *ends; /* of each line: its newline or the end of the file */
	size_t count, room;
};

struct sourcetext *sourcetext_open(const char *path, uid_t owner)
{
	_cleanup_fclose_ FILE *in = sources_open(path, owner);
	_cleanup_(sourcetext_freep) struct sourcetext *t = NULL;
	struct stat st;
	size_t at = 0;

	if (!in || fstat(fileno(in), &st) < 0)
		return NULL;
	t = xcalloc(1, sizeof(*t));
	if (st.st_size) {
		void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fileno(in), 0);

		if (bytes == MAP_FAILED) {
			log_warn("cannot map %s: %s", path, strerror(errno));
			return NULL;
		}
		t->bytes = bytes;
		t->size = (size_t)st.st_size;
	}
	while (at < t->size) {
		const char *newline = memchr(t->bytes + at, '\n', t->size - at);
		size_t end = newline ? (size_t)(newline - t->bytes) : t->size;

		array_grow(&t->ends, t->count + 1, &t->room);
		t->ends[t->count++] = end;
		at = end + 1;
	}
	return STEAL(t);
}

void sourcetext_free(struct sourcetext *t)
{
	if (!t)
		return;
	if (t->bytes)
		(void)munmap(t->bytes, t->size);
	free(t->ends);
	free(t);
}

bool sourcetext_line(const struct sourcetext *t, size_t number, const char **ret, size_t *ret_size)
{
	size_t start;

	if (number == 0 || number > t->count)
		return false;
	start = number > 1 ? t->ends[number - 2] + 1 : 0;
	*ret = t->bytes ? t->bytes + start : "";
	*ret_size = t->ends[number - 1] - start;
	return true;
}

uint64_t source_line_hash(const char *text, size_t size)
{
	uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */

	for (; size--; text++)
		if (*text != ' ' && *text != '\t' && *text != '\r')
			hash = (hash ^ (uint8_t)*text) * 0x100000001b3;
	return hash;
}
