/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/select/gather.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "file/path.h"
#include "chains/chain_read.h"
#include "history/history.h"
#include "profile/select/internal/spec_explain.h"
#include "sfile/manifest.h"
#include "sfile/session.h"
#include "sfile/setup.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where sessions are looked for. */
struct place {
	const char *session_dir;
	const char *archive; /* that contains it, or NULL; in the gather's memory */
	uint32_t archive_number;
	struct strbuf *others; /* hosts that are not wanted, in words */
};

/* Sets what the session's setup says. A host that it does not name has the name of the archive. */
static void describe(struct gather *g, struct gather_session *s)
{
	struct setup setup = { 0 };
	struct error quiet = ERROR_INIT; /* what is printed of the setup warns */

	s->host = s->archive ? path_base(s->archive) : NULL;
	if (setup_read(s->samples, &setup, &quiet) == 0) {
		s->host = setup.hostname ? arena_strdup(&g->arena, setup.hostname) : s->host;
		s->command = setup.command ? arena_strdup(&g->arena, setup.command) : NULL;
		s->began = setup.began;
	}
	setup_done(&setup);
}

static bool is_copy(const struct gather_session *a, const struct gather_session *b)
{
	return a->archive_number != b->archive_number && a->began && a->began == b->began &&
	       sname_same_text(a->host, b->host) && sname_same_text(a->command, b->command);
}

/* Warns if the last session is in another archive, too. */
static void warn_of_copy(const struct gather *g)
{
	const struct gather_session *last = &g->sessions[g->session_count - 1], *s;

	for (s = g->sessions; s < last; s++) {
		if (!is_copy(s, last))
			continue;
		log_warn("%s and %s: seem to be of one session (same host, start and command); "
			 "what is in both counts twice",
			 s->archive, last->archive);
		return;
	}
}

static void open_manifest(struct gather_session *s)
{
	struct error err = ERROR_INIT;

	if (manifest_open(s->samples, false, &s->manifest, &err) < 0) {
		s->manifest = NULL;
		log_warn("%s; the names of images are missing", err.text);
	} else if (manifest_damaged(s->manifest)) {
		log_warn("%s/images: %zu damaged lines are skipped", s->samples,
			 manifest_damaged(s->manifest));
	}
}

static void add_session(struct gather *g, const struct spec *spec, const struct place *at,
			const char *name, const char *samples)
{
	struct gather_session s = { .name = arena_strdup(&g->arena, name),
				    .samples = arena_strdup(&g->arena, samples),
				    .archive = at->archive,
				    .archive_number = at->archive_number };
	struct stat st;
	size_t i;

	for (i = 0; i < g->session_count; i++)
		if (!strcmp(g->sessions[i].samples, samples))
			return;
	if (stat(samples, &st) == 0) {
		s.device = st.st_dev;
		s.inode = st.st_ino;
	}
	describe(g, &s);
	if (!spec_wants_host(spec, s.host)) {
		strbuf_addf(at->others, "%s%s", at->others->length ? ", " : "",
			    s.host ?: "unknown");
		return;
	}
	open_manifest(&s);
	array_grow(&g->sessions, g->session_count + 1, &g->session_room);
	g->sessions[g->session_count++] = s;
	warn_of_copy(g);
}

/* Adds a session by its name, or by the path of its directory. */
static bool add_session_named(struct gather *g, const struct spec *spec, const struct place *at,
			      const char *name)
{
	bool is_tree = spec_session_is_path(name);
	_cleanup_free_ char *samples =
		is_tree ? xstrdup(name) : session_samples(at->session_dir, name);

	if (access(samples, F_OK) < 0)
		return false;
	add_session(g, spec, at, is_tree ? path_base(name) : name, samples);
	return true;
}

/* Counts sessions, and keeps the name of the last one. */
struct only_session {
	char *name;
	size_t count;
};

static int count_session(const char *name, void *data)
{
	struct only_session *only = data;

	free(only->name);
	only->name = xstrdup(name);
	only->count++;
	return 0;
}

/* Adds the session of an archive of one that was saved. */
static bool add_only_session(struct gather *g, const struct spec *spec, const struct place *at)
{
	struct only_session only = { 0 };
	bool is_added = false;

	if (at->archive && !spec->of[SPEC_SESSION_EXCLUDE].count &&
	    session_list(at->session_dir, count_session, &only, NULL) == 0 && only.count == 1)
		is_added = add_session_named(g, spec, at, only.name);
	free(only.name);
	return is_added;
}

static int add_sessions(struct gather *g, const struct spec *spec, const struct place *at,
			struct error *err)
{
	const struct spec_values *wanted = &spec->of[SPEC_SESSION];
	_cleanup_free_ bool *missing = xcalloc(wanted->count + 1, sizeof(*missing));
	bool any = !wanted->count && spec_wants_session(spec, "current") &&
		   (add_session_named(g, spec, at, "current") || add_only_session(g, spec, at));
	size_t i;

	for (i = 0; i < wanted->count; i++) {
		if (!spec_wants_session(spec, wanted->values[i]))
			continue;
		missing[i] = !add_session_named(g, spec, at, wanted->values[i]);
		any |= !missing[i];
	}
	if (!any)
		return spec_explain_no_session(spec, at->session_dir, err);
	for (i = 0; i < wanted->count; i++)
		if (missing[i])
			log_warn("%s: no session '%s'", at->session_dir, wanted->values[i]);
	return 0;
}

/* Says which of the wanted hosts have no session; an error if none has. */
static int check_hosts(const struct gather *g, const struct spec *spec, const struct strbuf *others,
		       struct error *err)
{
	const struct spec_values *wanted = &spec->of[SPEC_HOST];
	size_t i;

	if (!g->session_count)
		return error_set(err, -ENODATA, "no session is of the host '%s'; available: %s",
				 wanted->values[0], strbuf_text(others));
	for (i = 0; i < wanted->count; i++)
		if (!wanted->used[i])
			log_warn("no session is of the host '%s'", wanted->values[i]);
	return 0;
}

int gather_add_sessions(struct gather *g, const struct spec *spec, const char *session_dir,
			struct error *err)
{
	const struct spec_values *archives = &spec->of[SPEC_ARCHIVE];
	_cleanup_(strbuf_done) struct strbuf others = STRBUF_INIT;
	struct place at = { .session_dir = session_dir, .others = &others };
	int r = archives->count ? 0 : add_sessions(g, spec, &at, err);
	size_t i;

	for (i = 0; i < archives->count && r == 0; i++) {
		const char *archive = archives->values[i];
		_cleanup_free_ char *directory = path_under(archive, session_dir);

		at.session_dir = directory;
		at.archive = arena_strdup(&g->arena, archive);
		at.archive_number = (uint32_t)i;

		if (access(archive, F_OK) < 0)
			return error_errno(err, -errno, "archive:%s", archive);
		r = add_sessions(g, spec, &at, err);
		g->has_archives |= i > 0;
	}
	return r == 0 ? check_hosts(g, spec, &others, err) : r;
}

const struct window *gather_window(const struct gather_session *s)
{
	return s->history ? &history_covers(s->history)->span : NULL;
}

int gather_check_there(const struct gather *g, struct error *err)
{
	struct stat st;
	size_t i;

	for (i = 0; i < g->session_count; i++) {
		const struct gather_session *s = &g->sessions[i];

		if (stat(s->samples, &st) < 0 || st.st_dev != s->device || st.st_ino != s->inode)
			return error_set(err, -ESTALE,
					 "%s: emptied, renamed or deleted while it was read; run "
					 "this again",
					 s->samples);
	}
	return 0;
}

void gather_warn_file(const struct gather *g, const struct error *why, bool *is_gone)
{
	struct error gone = ERROR_INIT;

	if (*is_gone)
		return;
	*is_gone = gather_check_there(g, &gone) < 0;
	log_warn("%s%s", *is_gone ? gone.text : why->text, *is_gone ? "" : "; skipped");
}

void gather_warn_skipped(const struct gather_session *s, const struct chain_skipped *skipped)
{
	if (skipped->invalid)
		log_warn("%s/%s: damaged: call chains of %" PRIu64 " samples are left out; see "
			 "opcheck",
			 s->samples, CHAIN_DIRECTORY, skipped->invalid);
	if (skipped->lost)
		log_warn("%s/%s: damaged: call chains of at least %" PRIu64
			 " samples are missing; see opcheck",
			 s->samples, CHAIN_DIRECTORY, skipped->lost);
	else if (skipped->is_damaged && !skipped->invalid)
		log_warn("%s/%s: damaged: call chains are missing; see opcheck", s->samples,
			 CHAIN_DIRECTORY);
	if (skipped->bytes)
		log_warn("%s/%s: %zu damaged bytes of slices are skipped", s->samples,
			 CHAIN_DIRECTORY, skipped->bytes);
	if (skipped->samples)
		log_warn("%s/%s: samples of slices whose chains are lost: %" PRIu64, s->samples,
			 CHAIN_DIRECTORY, skipped->samples);
	if (skipped->pairs)
		log_warn("%s/%s: missing files of slices, with the times of call chains: %zu",
			 s->samples, CHAIN_DIRECTORY, skipped->pairs);
}
