/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/archive/internal/plan.h"

#include "base/hash.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/mem.h"
#include "base/parse.h"
#include "file/path.h"
#include "profile/archive/excerpt.h"
#include "profile/select/gather.h"
#include "sfile/session.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct archive_file *plan_add(struct plan *p, const char *from, const char *to)
{
	struct archive *a = p->out;
	uint64_t hash = hash_bytes(to, strlen(to));
	uintptr_t known;

	if (!path_stays_below(to)) {
		log_warn("%s: would be stored outside the archive; skipped", to);
		return NULL;
	}
	map_for_each_of(&a->by_target, hash, known)
	{
		struct archive_file *f = &a->files[known - 1];

		if (strcmp(f->to, to))
			continue;
		if (!strcmp(f->from, from))
			return f;
		log_warn("%s: %s already has that path in the archive; skipped", from, f->from);
		return NULL;
	}
	array_grow(&a->files, a->count + 1, &a->room);
	a->files[a->count++] = (struct archive_file){ .from = arena_strdup(&a->arena, from),
						      .to = arena_strdup(&a->arena, to) };
	map_add(&a->by_target, hash, (void *)(uintptr_t)a->count);
	return &a->files[a->count - 1];
}

/* --- sessions --- */

/* Adds a file below the samples directory of the session being planned. */
static struct archive_file *note_session_file(struct plan *p, const char *path, const char *below)
{
	_cleanup_free_ char *to =
		xasprintf("%s/samples/%s/%s", ARCHIVE_SESSION_PLACE, p->session->name, below);
	struct archive_file *file = plan_add(p, path, to);

	if (file)
		file->flags = O_NOFOLLOW;
	if (file && !strncmp(below, "kallsyms", strlen("kallsyms")) && !strchr(below, '/')) {
		file->kind = ARCHIVE_KALLSYMS;
		file->session = (uint32_t)(p->session - p->gather->sessions);
	}
	return file;
}

void plan_add_of_session(struct plan *p, const char *path, const char *below)
{
	(void)note_session_file(p, path, below);
}

/* Adds files of the session directory itself, if @samples is in one. */
static void add_session_directory(struct plan *p, const char *samples)
{
	static const char *const names[] = { "abi", "samples/oprofiled.log", "samples/operf.log" };
	_cleanup_free_ char *above = path_join(samples, "../..");
	_cleanup_free_ char *directory = xrealpath(above);
	size_t i;

	for (i = 0; directory && i < ARRAY_SIZE(names); i++) {
		_cleanup_free_ char *from = path_join(directory, names[i]);
		_cleanup_free_ char *to = path_join(ARCHIVE_SESSION_PLACE, names[i]);
		struct archive_file *f = access(from, F_OK) == 0 ? plan_add(p, from, to) : NULL;

		if (f)
			f->flags = O_NOFOLLOW;
	}
}

static struct excerpt_config excerpt_of(const struct plan *p)
{
	return (struct excerpt_config){ p->gather, p->config->narrowed,
					p->config->exclude_dependent, p->config->is_list };
}

static bool is_region(const struct plan *p, uint32_t image, uint32_t tgid)
{
	const struct sname_image *id = &p->gather->images[image].id;

	return id->kind == SNAME_ANON && id->tgid == tgid;
}

/* Whether regions of memory of process @tgid are archived: of sample files, or of chains. */
static bool has_regions(const struct plan *p, uint32_t tgid)
{
	const struct gather *g = p->gather;
	size_t i;

	for (i = 0; i < g->image_count; i++)
		if (p->chained[i] && is_region(p, (uint32_t)i, tgid))
			return true;
	for (i = 0; i < g->file_count; i++) {
		const struct gather_file *f = &g->files[i];

		if (p->config->exclude_dependent && f->app != f->image)
			continue;
		if (is_region(p, f->image, tgid) ||
		    (f->callee != GATHER_NONE && is_region(p, f->callee, tgid)))
			return true;
	}
	return false;
}

/* Whether the file at @below is the code of a process whose regions are not archived. */
static bool is_code_of_others(const struct plan *p, const char *below)
{
	static const char directory[] = "jit/";
	const char *at = below;
	uint64_t tgid;

	if (strncmp(at, directory, strlen(directory)) != 0)
		return false;
	at += strlen(directory);
	return parse_dec(&at, &tgid) == 0 && !strcmp(at, ".jo") && tgid <= UINT32_MAX &&
	       !has_regions(p, (uint32_t)tgid);
}

/* Adds a file, unless one of the part of the session takes its place, or it is of another part. */
static int add_unless_replaced(const char *path, const char *below, void *data)
{
	struct plan *p = data;
	const struct excerpt_config excerpt = excerpt_of(p);

	if (p->config->narrowed &&
	    (excerpt_replaces(&excerpt, below) || is_code_of_others(p, below)))
		return 0;
	plan_add_of_session(p, path, below);
	return 0;
}

/* Adds a file of the part of a session. In an archive it is as old as the session, so that compact
 * archives of the same part are equal. */
static int add_made_file(const char *path, const char *below, void *data)
{
	struct plan *p = data;
	_cleanup_free_ char *setup = path_join(p->session->samples, "setup");
	struct archive_file *file = note_session_file(p, path, below);
	struct stat st;

	if (file && (stat(setup, &st) == 0 || stat(p->session->samples, &st) == 0))
		file->mtime = (uint64_t)st.st_mtime;
	return 0;
}

/* Makes the files of the part of the session that is archived, in a directory whose path is
 * returned; caller frees. */
static char *make_excerpt(struct plan *p)
{
	const struct excerpt_config excerpt = excerpt_of(p);
	const uint32_t session = (uint32_t)(p->session - p->gather->sessions);
	char *directory = path_join(p->config->made, p->session->name);

	excerpt_write(&excerpt, session, directory);
	if (!p->config->exclude_dependent)
		excerpt_chained(&excerpt, session, directory, p->chained);
	return directory;
}

void plan_add_sessions(struct plan *p)
{
	struct error err = ERROR_INIT;
	size_t i;

	for (i = 0; i < p->gather->session_count; i++) {
		_cleanup_free_ char *made = NULL;

		p->session = &p->gather->sessions[i];
		if (p->config->narrowed && p->config->made)
			made = make_excerpt(p);
		add_session_directory(p, p->session->samples);
		if (session_walk_rest(p->session->samples, add_unless_replaced, p, &err) < 0)
			log_warn("%s", err.text);
		if (made && !p->config->is_list &&
		    session_walk_rest(made, add_made_file, p, &err) < 0)
			log_warn("%s", err.text);
	}
}
