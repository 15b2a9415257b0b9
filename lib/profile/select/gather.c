/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/select/gather.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "file/path.h"
#include "profile/select/internal/spec_explain.h"
#include "chains/chain_arcs.h"
#include "chains/chain_read.h"
#include "history/history.h"
#include "sfile/session_names.h"
#include "sfile/idle.h"
#include "sfile/manifest.h"
#include "sfile/session.h"
#include "sfile/setup.h"

#include <errno.h>
#include <string.h>

/* A walk over one session's files. */
struct walk {
	struct gather *g;
	const struct spec *spec;
	uint32_t session;
	struct spec_explain *why; /* notes why nothing is selected */
	bool has_arcs;		  /* there are call graph files */
	struct map *by_string;	  /* images, or NULL: gather_image_of() */
	struct map by_path;	  /* the first ->listed files: index + 1 */
	size_t listed;
};

void gather_free(struct gather *g)
{
	size_t i;

	if (!g)
		return;
	for (i = 0; i < g->session_count; i++) {
		manifest_close(g->sessions[i].manifest);
		chain_arcs_free(g->sessions[i].arcs);
		history_free(g->sessions[i].history);
		history_free(g->sessions[i].blocks);
		history_free(g->sessions[i].idle);
	}
	free(g->sessions);
	free(g->images);
	free(g->files);
	free(g->others);
	map_done(&g->image_by_hash);
	intern_done(&g->names);
	arena_done(&g->arena);
	free(g);
}

/* Returns whether a call graph file has arcs to a selected image, if not from one. */
static bool is_callee_wanted(const struct spec *spec, const struct sname *name)
{
	struct sname callee = *name;

	if (!name->has_callee)
		return false;
	callee.image = name->callee;
	return spec_reject(spec, &callee) < 0;
}

/* Adds a file with that name, if it is selected. */
static struct gather_file *add_name(struct walk *w, const struct sname *name)
{
	struct gather *g = w->g;
	int tag = spec_reject(w->spec, name);
	bool callee_wanted = is_callee_wanted(w->spec, name);
	struct gather_file file = { .callee = GATHER_NONE,
				    .session = w->session,
				    .slot = g->blocks == GATHER_BLOCKS_OF_SESSIONS ? 1 + w->session
										   : 0 };

	spec_explain_note(w->why, w->spec, callee_wanted ? -1 : tag, name);
	if (tag >= 0 && !callee_wanted)
		return NULL;
	file.app = gather_image_of(g, w->by_string, w->session, &name->app);
	file.image = gather_image_of(g, w->by_string, w->session, &name->image);
	g->images[file.image].is_wanted |= tag < 0;
	if (name->has_callee) {
		file.callee = gather_image(g, w->session, &name->callee);
		g->images[file.callee].is_wanted |= callee_wanted;
	}
	file.event = intern(&g->names, name->event);
	file.task = name->task;
	file.task.cgroup = intern(&g->names, name->task.cgroup);
	file.task.comm = intern(&g->names, name->task.comm);
	file.count = name->count;
	file.unit_mask = name->unit_mask;
	array_grow(&g->files, g->file_count + 1, &g->file_room);
	g->files[g->file_count] = file;
	if (!name->has_callee && !g->images[file.image].file)
		g->images[file.image].file = (uint32_t)g->file_count + 1;
	return &g->files[g->file_count++];
}

static int add_file(const char *path, const struct sname *name, void *data)
{
	struct walk *w = data;
	struct gather_file *file = add_name(w, name);

	w->has_arcs |= name->has_callee;
	if (file)
		file->path = arena_strdup(&w->g->arena, path);
	return 0;
}

static bool has_samples(const struct walk *w, uint32_t app)
{
	size_t i;

	for (i = 0; i < w->g->file_count; i++)
		if (w->g->files[i].session == w->session && w->g->files[i].app == app)
			return true;
	return false;
}

/* Returns whether what is known from chains is missing. An archive may have call graph files, of
 * some applications only, which do not say where chains end. */
static bool is_missing(const struct walk *w, const struct chain_arcs_file *arcs)
{
	if (!w->has_arcs)
		return true;
	return arcs->end && has_samples(w, gather_image(w->g, w->session, &arcs->name.app));
}

/* Adds the call graph files that the session's chains are equivalent to. */
static void add_arcs(struct walk *w)
{
	struct gather_session *s = &w->g->sessions[w->session];
	struct error err = ERROR_INIT;
	int r = chain_arcs_read(s->samples, gather_window(s), &s->arcs, &err);
	struct chain_skipped skipped;
	size_t i;

	if (r < 0 && r != -ENOENT)
		log_warn("%s; the call graph is missing", err.text);
	if (r == 0) {
		skipped = chain_arcs_skipped(s->arcs);
		gather_warn_skipped(s, &skipped);
	}
	for (i = 0; r == 0 && i < chain_arcs_count(s->arcs); i++) {
		const struct chain_arcs_file *arcs = chain_arcs_at(s->arcs, i);
		struct gather_file *file = is_missing(w, arcs) ? add_name(w, &arcs->name) : NULL;

		if (!file)
			continue;
		file->arcs = arcs;
		file->end = arcs->end;
	}
}

/* Adds a file that the history counted, if it is selected. */
static struct gather_file *add_past_file(struct walk *w, const struct history_file *past)
{
	const struct sname name = sname_of_parts(&past->name);
	struct gather_file *file = past->count ? add_name(w, &name) : NULL;

	if (file)
		file->past = past;
	return file;
}

static void add_past_files(struct walk *w, const struct history *history)
{
	bool in_blocks = w->g->blocks == GATHER_BLOCKS_OF_TIME;
	struct map by_string = MAP_INIT;
	size_t i;

	w->by_string = &by_string;
	for (i = 0; i < history_files(history); i++) {
		const struct history_file *past = history_file_at(history, i);
		struct gather_file *file = add_past_file(w, past);

		if (!file)
			continue;
		file->is_rest = past->is_rest;
		file->slot = in_blocks ? 1 : file->slot;
	}
	w->by_string = NULL;
	map_done(&by_string);
}

/* How many symbols are wanted, 0 for all. What is not selected, or is in other sessions, is not
 * known when files are added up. */
static size_t top_wanted(const struct walk *w)
{
	return w->g->session_count == 1 && w->g->slots == 1 && spec_wants_all(w->spec)
		       ? w->spec->top
		       : 0;
}

/* Adds what the session's sample files counted in a window of time. */
static int add_past(struct walk *w, const struct window *window, struct error *err)
{
	struct gather_session *s = &w->g->sessions[w->session];
	const struct history_wanted wanted = { .window = window,
					       .steps = w->g->steps.count ? &w->g->steps : NULL,
					       .wants_keys = spec_wants_offsets,
					       .data = (void *)w->spec,
					       .top = top_wanted(w) };
	int r = history_read_wanted(s->samples, &wanted, &s->history, err);

	if (r == 0 && history_covers(s->history)->damaged)
		log_warn("%s/%s: %zu damaged bytes are skipped", s->samples, HISTORY_DIRECTORY,
			 history_covers(s->history)->damaged);
	if (r == 0)
		add_past_files(w, s->history);
	return r;
}

static void skip_file(const char *path _unused_, const struct error *why, void *data)
{
	struct walk *w = data;

	w->g->skipped++;
	gather_warn_file(w->g, why, &w->g->is_gone);
}

/* Whether the file at @path was listed. */
static bool is_listed(struct walk *w, const char *path)
{
	const struct gather *g = w->g;
	size_t i;

	for (; w->listed < g->file_count; w->listed++) {
		const char *listed = g->files[w->listed].path;

		if (listed)
			map_add(&w->by_path, hash_bytes(listed, strlen(listed)),
				(void *)(uintptr_t)(w->listed + 1));
	}
	map_for_each_of(&w->by_path, hash_bytes(path, strlen(path)),
			i) if (!strcmp(g->files[i - 1].path, path)) return true;
	return false;
}

/* Adds a file that was moved; but not if it was listed where it was before, and moved since: it is
 * found when it is opened. */
static int add_idle_file(const char *path, const struct sname *name, void *data)
{
	struct walk *w = data;
	const char *samples = w->g->sessions[w->session].samples;
	_cleanup_free_ char *before = path_join(samples, idle_below(path)), *moved = NULL;

	if (access(before, F_OK) < 0 && is_listed(w, before))
		moved = idle_find(before);
	return moved && !strcmp(moved, path) ? 0 : add_file(path, name, data);
}

/* Adds the files that were moved to idle/, and what was added up of them, until batch @last. */
static int add_idle(struct walk *w, uint32_t last, struct error *err)
{
	const struct gather_session *s = &w->g->sessions[w->session];
	size_t i;
	int r;

	for (i = 0; s->idle && i < history_files(s->idle); i++)
		(void)add_past_file(w, history_file_at(s->idle, i));
	r = idle_walk(s->samples, last, add_idle_file, skip_file, w, err);
	map_done(&w->by_path);
	return r;
}

/* Adds the sample files of the session, and, in blocks, when their counts were made. */
static int add_present(struct walk *w, struct error *err)
{
	struct gather *g = w->g;
	struct gather_session *s = &g->sessions[w->session];
	struct error why = ERROR_INIT;
	uint32_t last;
	int r = history_read_idle(s->samples, &s->idle, &last, &why);

	if (r < 0)
		log_warn("%s; the samples of files that were not used for long are missing",
			 why.text);
	r = session_walk(s->samples, add_file, skip_file, w, err);
	if (r == 0)
		r = add_idle(w, last, err);
	if (r == 0 && g->blocks == GATHER_BLOCKS_OF_TIME &&
	    history_read(s->samples, &WINDOW_ALL, &g->steps, &s->blocks, NULL) == 0)
		add_past_files(w, s->blocks);
	return r;
}

/* Chooses the blocks. */
static void choose_blocks(struct gather *g, const struct spec *spec)
{
	enum { MOST = 64 };
	const struct window *window = spec_window(spec) ?: &WINDOW_ALL;
	struct window span;
	int64_t slices;

	g->has_whole = !spec_window(spec) && g->session_count == 1;
	if (g->session_count > 1) {
		g->blocks = GATHER_BLOCKS_OF_SESSIONS;
		g->slots = 1 + (uint32_t)g->session_count;
		return;
	}
	if (history_span(g->sessions[0].samples, window, &span, NULL) < 0)
		return;
	slices = (span.end_ms - span.begin_ms) / HISTORY_SLICE_MS;
	if (steps_choose(&span, (slices / MOST + 1) * HISTORY_SLICE_MS, 0, &g->steps, NULL) < 0)
		return;
	g->blocks = GATHER_BLOCKS_OF_TIME;
	g->slots = 1 + g->steps.count;
}

uint64_t *gather_block_lengths(const struct gather *g)
{
	const struct history *h;
	uint64_t *lengths;
	uint32_t i;

	if (g->blocks != GATHER_BLOCKS_OF_TIME)
		return NULL;
	h = g->sessions[0].blocks ?: g->sessions[0].history;
	lengths = xcalloc(g->steps.count, sizeof(*lengths));
	for (i = 0; h && i < g->steps.count; i++)
		lengths[i] = (uint64_t)MAX(history_covers_step(h, i)->covered_ms, INT64_C(0));
	return lengths;
}

/* The time that the sessions cover in the window, all together. False if there is none. */
static bool find_span(const struct gather *g, const struct spec *spec, struct window *ret)
{
	const struct window everything = WINDOW_ALL, *wanted = spec_window(spec) ?: &everything;
	struct window one;
	size_t i;

	*ret = (struct window){ INT64_MAX, INT64_MIN };
	for (i = 0; i < g->session_count; i++) {
		if (history_span(g->sessions[i].samples, wanted, &one, NULL) < 0)
			continue;
		ret->begin_ms = MIN(ret->begin_ms, one.begin_ms);
		ret->end_ms = MAX(ret->end_ms, one.end_ms);
	}
	return ret->begin_ms < ret->end_ms;
}

int gather_steps(const struct gather *g, const struct spec *spec, struct spec_division division,
		 struct steps *ret, struct error *err)
{
	struct window all;

	*ret = (struct steps){ 0 };
	return find_span(g, spec, &all)
		       ? steps_choose(&all, division.length_ms, division.most, ret, err)
		       : 0;
}

/* Divides each step into as many parts as are useful and possible; returns their number. Parts show
 * how much counts vary, for which 24 of a step are enough; and when a build began and ended, so a
 * short time has more: of a longer one, finer levels of the history would have to be read. */
static uint32_t divide_steps(struct steps *s, const struct window *span)
{
	static const uint32_t parts[] = { 1440, 720, 360, 288, 144, 96, 60, 48, 24,
					  12,	10,  9,	  8,   6,   5,	4,  3,	2 };
	enum { ENOUGH = 24, SHORT_MS = 6 * 3600 * 1000 };
	const bool is_short = span->end_ms - span->begin_ms <= SHORT_MS;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		if (s->length_ms % (parts[i] * HISTORY_SLICE_MS) ||
		    s->count > STEPS_MAX / parts[i] || (parts[i] > ENOUGH && !is_short))
			continue;
		s->length_ms /= parts[i];
		s->count *= parts[i];
		return parts[i];
	}
	return 1;
}

static int divide_time(struct gather *g, const struct spec *spec, struct error *err)
{
	struct window span;
	int r = gather_steps(g, spec, spec->division, &g->steps, err);

	if (r < 0)
		return r;
	g->step_parts = 1;
	if (spec->division.in_parts && g->steps.count && find_span(g, spec, &span))
		g->step_parts = divide_steps(&g->steps, &span);
	g->slots = g->steps.count;
	return r;
}

/* Sets the error that nothing was sampled in the window, with what the history has instead. */
static int say_no_slice(struct gather *g, const struct spec *spec, const struct window *wanted,
			struct error *err)
{
	_cleanup_free_ char *window = window_text(wanted), *there = NULL, *other = NULL;
	const char *samples = g->sessions[0].samples;
	struct window span;
	int r = history_span(samples, &WINDOW_ALL, &span, err);

	if (r < 0)
		return r;
	there = window_text(&span);
	gather_find_others(g, spec, wanted);
	other = gather_others_text(g, false);
	return error_set(err, -ENODATA,
			 "%s: no samples were taken in the time %s; there are some from %s%s%s",
			 samples, window, there, *other ? ", and in session:" : "", other);
}

static int say_nothing_there(struct gather *g, const struct spec *spec, struct error *err)
{
	_cleanup_(setup_done) struct setup setup = { 0 };

	if (spec_window(spec))
		return say_no_slice(g, spec, spec_window(spec), err);
	if (!g->skipped && setup_read(g->sessions[0].samples, &setup, NULL) == 0 && setup.ended)
		return error_set(err, -ENODATA,
				 "%s: no samples: the run '%s' was too short, or its events too "
				 "rare; let it run longer, or sample at a higher rate",
				 g->sessions[0].samples, setup.command ?: "opcontrol --start");
	return error_set(err, -ENODATA,
			 "%s: contains no sample files%s; nothing was sampled yet, or it was not "
			 "written out (opcontrol --dump)",
			 g->sessions[0].samples, g->skipped ? " that can be read" : "");
}

int gather_files(const struct spec *spec, const char *session_dir, bool calls, struct gather **ret,
		 struct error *err)
{
	_cleanup_(gather_freep) struct gather *g = xcalloc(1, sizeof(*g));
	_cleanup_(spec_explain_done) struct spec_explain why = { 0 };
	int r;

	*g = (struct gather){ .slots = 1, .session_names = spec->session_names };
	r = gather_add_sessions(g, spec, session_dir, err);
	if (r == 0 && spec->division.most)
		r = divide_time(g, spec, err);
	else if (r == 0 && spec->wants_blocks)
		choose_blocks(g, spec);
	for (size_t i = 0; r == 0 && i < g->session_count; i++) {
		struct walk w = { .g = g, .spec = spec, .session = (uint32_t)i, .why = &why };

		session_names_read(spec->session_names, g->sessions[i].samples);
		r = spec_window(spec) ? add_past(&w, spec_window(spec), err) : add_present(&w, err);
		if (r == 0 && calls)
			add_arcs(&w);
	}
	if (gather_check_there(g, err) < 0)
		return -ESTALE;
	if (r < 0)
		return r;
	if (g->file_count == 0)
		return why.files ? spec_explain_say(&why, spec, err)
				 : say_nothing_there(g, spec, err);
	spec_explain_warn_unused(&why, spec);
	if (spec_value(spec, SPEC_TIME) && !spec_value(spec, SPEC_SESSION))
		gather_find_others(g, spec, spec_window(spec));
	*ret = STEAL(g);
	return 0;
}
