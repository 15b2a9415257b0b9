/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/select/internal/spec_explain.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "file/path.h"
#include "profile/select/cgroup_label.h"
#include "sfile/session.h"
#include "sfile/sname.h"
#include "sfile/sname_event.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static char *number_or_all(int64_t value)
{
	return value == SNAME_ALL ? xstrdup("all") : xasprintf("%" PRId64, value);
}

static char *cgroup_value(const struct spec *spec, const char *path)
{
	char *label = cgroup_label(spec->session_names, path);

	return label ?: xstrdup(path);
}

/* The value of a file that the tag rejects; caller frees. */
static char *value_of(const struct spec *spec, enum spec_tag tag, const struct sname *name)
{
	switch (tag) {
	case SPEC_PATH:
	case SPEC_LIB_IMAGE:
	case SPEC_LIB_IMAGE_EXCLUDE:
	case SPEC_IMAGE_EXCLUDE:
		return sname_image_display(&name->image);
	case SPEC_IMAGE:
		return sname_image_display(&name->app);
	case SPEC_EVENT:
		return sname_event_word(name->event);
	case SPEC_COUNT:
		return xasprintf("%" PRIu32, (uint32_t)name->count);
	case SPEC_UNIT_MASK:
		return xasprintf("%#" PRIx32, (uint32_t)name->unit_mask);
	case SPEC_CGROUP:
		return cgroup_value(spec, name->task.cgroup ?: "all");
	case SPEC_COMM:
		return xstrdup(name->task.comm ?: "all");
	case SPEC_TGID:
		return number_or_all(name->task.tgid);
	case SPEC_TID:
		return number_or_all(name->task.tid);
	case SPEC_CPU:
		return number_or_all(name->task.cpu);
	case SPEC_ARCHIVE:
	case SPEC_SESSION:
	case SPEC_SESSION_EXCLUDE:
	case SPEC_HOST:
	case SPEC_TIME:
	case SPEC_TAG_COUNT_:
		break;
	}
	return xstrdup("");
}

static void note_value(struct spec_explain_part *part, char *value)
{
	size_t i;

	for (i = 0; i < SPEC_EXPLAIN_SHOWN_MAX && part->present[i]; i++) {
		if (!strcmp(part->present[i], value)) {
			free(value);
			return;
		}
	}
	if (i < SPEC_EXPLAIN_SHOWN_MAX) {
		part->present[i] = value;
		return;
	}
	part->more++;
	free(value);
}

void spec_explain_note(struct spec_explain *n, const struct spec *spec, int tag,
		       const struct sname *name)
{
	n->files++;
	if (tag < 0)
		return;
	n->parts[tag].rejected++;
	note_value(&n->parts[tag], value_of(spec, (enum spec_tag)tag, name));
	/* A plain name can match either image. */
	if (tag == SPEC_PATH)
		note_value(&n->parts[tag], value_of(spec, SPEC_IMAGE, name));
}

/* " (available: A, B)"; if files have only "all", they are not separated by this. */
static void add_present(struct strbuf *out, enum spec_tag tag, const struct spec_explain_part *part)
{
	size_t i;

	if (tag >= SPEC_CGROUP && !part->present[1] && !strcmp(part->present[0] ?: "", "all")) {
		strbuf_addf(out, " (samples are not kept by %s)", spec_tag_what(tag));
		return;
	}
	strbuf_adds(out, " (available: ");
	for (i = 0; i < SPEC_EXPLAIN_SHOWN_MAX && part->present[i]; i++) {
		strbuf_adds(out, i ? ", " : "");
		text_visible(out, part->present[i]);
	}
	strbuf_adds(out, part->more ? ", ...)" : ")");
}

/* Adds the part as given. */
static void add_given(struct strbuf *out, const struct spec *spec, enum spec_tag tag)
{
	const struct spec_values *values = &spec->of[tag];
	size_t i;

	strbuf_addf(out, "the %s '%s%s", spec_tag_what(tag), spec_tag_name(tag),
		    *spec_tag_name(tag) ? ":" : "");
	for (i = 0; i < values->count; i++)
		strbuf_addf(out, "%s%s", i ? "," : "", values->values[i]);
	strbuf_adds(out, "'");
}

int spec_explain_say(const struct spec_explain *n, const struct spec *spec, struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	size_t left = n->files, i;

	for (i = 0; i < SPEC_TAG_COUNT_; i++) {
		const struct spec_explain_part *part = &n->parts[i];

		if (!part->rejected)
			continue;
		strbuf_adds(&text, text.length ? "; of the rest, " : "");
		add_given(&text, spec, (enum spec_tag)i);
		strbuf_addf(&text, " excludes %zu of %zu", part->rejected, left);
		add_present(&text, (enum spec_tag)i, part);
		left -= part->rejected;
	}
	return error_set(err, -ENODATA, "no sample file matches: %s", strbuf_text(&text));
}

static bool selects(enum spec_tag tag)
{
	return tag > SPEC_TIME && tag != SPEC_IMAGE_EXCLUDE && tag != SPEC_LIB_IMAGE_EXCLUDE;
}

void spec_explain_warn_unused(const struct spec_explain *n, const struct spec *spec)
{
	size_t tag, i;

	for (tag = 0; tag < SPEC_TAG_COUNT_; tag++) {
		const struct spec_values *values = &spec->of[tag];

		for (i = 0; i < values->count && selects((enum spec_tag)tag); i++) {
			_cleanup_(strbuf_done) struct strbuf there = STRBUF_INIT;

			if (values->used[i])
				continue;
			if (n->parts[tag].rejected)
				add_present(&there, (enum spec_tag)tag, &n->parts[tag]);
			log_warn("no sample file matches '%s%s%s'%s",
				 spec_tag_name((enum spec_tag)tag),
				 *spec_tag_name((enum spec_tag)tag) ? ":" : "", values->values[i],
				 strbuf_text(&there));
		}
	}
}

void spec_explain_done(struct spec_explain *n)
{
	size_t tag, i;

	for (tag = 0; tag < SPEC_TAG_COUNT_; tag++)
		for (i = 0; i < SPEC_EXPLAIN_SHOWN_MAX; i++)
			free(n->parts[tag].present[i]);
	*n = (struct spec_explain){ 0 };
}

struct session_list {
	struct strbuf text;
	size_t count;
};

static int list_session(const char *name, void *data)
{
	struct session_list *list = data;

	strbuf_addf(&list->text, "%s%s", list->count++ ? ", " : "", name);
	return 0;
}

/* Returns whether all selected sessions are excluded. */
static bool all_excluded(const struct spec *spec)
{
	const struct spec_values *wanted = &spec->of[SPEC_SESSION];
	size_t i;

	for (i = 0; i < wanted->count; i++)
		if (spec_wants_session(spec, wanted->values[i]))
			return false;
	return wanted->count || !spec_wants_session(spec, "current");
}

int spec_explain_no_session(const struct spec *spec, const char *session_dir, struct error *err)
{
	const struct spec_values *wanted = &spec->of[SPEC_SESSION];
	_cleanup_free_ char *inside = path_join(session_dir, "."); /* a file is not a session */
	struct session_list list = { .text = STRBUF_INIT };
	int r;

	if (!wanted->count) {
		_cleanup_free_ char *samples = session_samples(session_dir, "current");

		if (access(samples, R_OK | X_OK) < 0 && errno == EACCES)
			return error_errno(err, -EACCES,
					   "%s: the profile belongs to another user; read it as "
					   "that user or as root",
					   samples);
	}
	if (access(session_dir, F_OK) < 0 && errno == ENOENT)
		return error_set(err, -ENOENT,
				 "%s: no profile found; make one with 'operf COMMAND' (in "
				 "./oprofile_data) or 'opcontrol --start' (in /var/lib/oprofile), "
				 "or use --session-dir=DIR",
				 session_dir);
	if (access(inside, F_OK) < 0)
		return error_errno(err, -errno, "%s", session_dir);
	(void)session_list(session_dir, list_session, &list, NULL);
	if (list.count && all_excluded(spec))
		r = error_set(err, -ENODATA,
			      "%s: session-exclude leaves out all selected sessions; available: %s",
			      session_dir, strbuf_text(&list.text));
	else if (list.count)
		r = error_set(err, -ENOENT, "%s: no session '%s'; available: %s", session_dir,
			      wanted->count ? wanted->values[0] : "current",
			      strbuf_text(&list.text));
	else
		r = error_set(err, -ENOENT,
			      "%s: contains no session yet; profile something first (operf "
			      "COMMAND, or opcontrol --start)",
			      session_dir);
	strbuf_done(&list.text);
	return r;
}
