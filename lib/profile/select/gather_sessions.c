/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/select/gather.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "file/path.h"
#include "profile/select/internal/spec_explain.h"
#include "sfile/manifest.h"
#include "sfile/session.h"
#include "sfile/setup.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Where sessions are looked for. */
struct place {
	const char *session_dir;
	const char *archive; /* that contains it, or NULL; in the gather's memory */
	uint32_t archive_number;
	struct strbuf *others; /* hosts that are not wanted, in words */
};

/* The name of the host that the session is of: what it says, or else that of its archive. */
static const char *find_host(struct gather *g, const char *samples, const struct place *at)
{
	struct setup setup = { 0 };
	struct error quiet = ERROR_INIT; /* what is printed of the setup warns */
	const char *host = at->archive ? path_base(at->archive) : NULL;

	if (setup_read(samples, &setup, &quiet) == 0 && setup.hostname)
		host = arena_strdup(&g->arena, setup.hostname);
	setup_done(&setup);
	return host;
}

static void add_session(struct gather *g, const struct spec *spec, const struct place *at,
			const char *name, const char *samples)
{
	const char *host = find_host(g, samples, at);
	struct gather_session *s;
	struct error err = ERROR_INIT;
	size_t i;

	for (i = 0; i < g->session_count; i++)
		if (!strcmp(g->sessions[i].samples, samples))
			return;
	if (!spec_wants_host(spec, host)) {
		strbuf_addf(at->others, "%s%s", at->others->length ? ", " : "", host ?: "unknown");
		return;
	}
	array_grow(&g->sessions, g->session_count + 1, &g->session_room);
	s = &g->sessions[g->session_count++];
	*s = (struct gather_session){ .name = arena_strdup(&g->arena, name),
				      .samples = arena_strdup(&g->arena, samples),
				      .archive = at->archive,
				      .archive_number = at->archive_number,
				      .host = host };
	if (manifest_open(samples, false, &s->manifest, &err) < 0) {
		s->manifest = NULL;
		log_warn("%s; the names of images are missing", err.text);
	} else if (manifest_damaged(s->manifest)) {
		log_warn("%s/images: %zu damaged lines are skipped", samples,
			 manifest_damaged(s->manifest));
	}
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

static int add_sessions(struct gather *g, const struct spec *spec, const struct place *at,
			struct error *err)
{
	const struct spec_values *wanted = &spec->of[SPEC_SESSION];
	_cleanup_free_ bool *missing = xcalloc(wanted->count + 1, sizeof(*missing));
	bool any = !wanted->count && spec_wants_session(spec, "current") &&
		   add_session_named(g, spec, at, "current");
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
