/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/archive/excerpt.h"

#include "base/log.h"
#include "base/mem.h"
#include "file/path.h"
#include "chains/chain_merge.h"
#include "chains/chain_names.h"
#include "chains/chain_read.h"
#include "history/history.h"
#include "history/history_copy.h"
#include "profile/select/gather.h"
#include "profile/select/spec.h"
#include "sfile/session.h"
#include "sfile/setup.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static bool is_wanted(const struct sname *name, void *data)
{
	const struct excerpt_config *c = data;

	return spec_reject(c->spec, name) < 0 &&
	       (!c->exclude_dependent || sname_image_equal(&name->app, &name->image));
}

/* Removes what was written of a part that is incomplete: reports would show too few samples. */
static void remove_part(const char *directory, const char *name)
{
	_cleanup_free_ char *part = path_join(directory, name);

	(void)path_remove_tree(part, NULL);
}

static void write_history(const struct excerpt_config *c, const struct gather_session *s,
			  const char *directory)
{
	const struct window everything = WINDOW_ALL;
	const struct history_copying what = { gather_window(s) ?: &everything, is_wanted,
					      (void *)c };
	struct error err = ERROR_INIT;
	size_t damaged = 0;
	int r = history_copy(s->samples, &what, directory, &damaged, &err);

	if (r < 0 && r != -ENOENT) {
		remove_part(directory, HISTORY_DIRECTORY);
		log_warn("%s; the archive does not say when samples were taken", err.text);
	}
	if (damaged && !s->history) /* else it was said */
		log_warn("%s/%s: %zu damaged bytes are skipped", s->samples, HISTORY_DIRECTORY,
			 damaged);
}

static void write_chains(const struct excerpt_config *c, const struct gather_session *s,
			 const char *directory)
{
	const struct chain_copying what = { gather_window(s), is_wanted, (void *)c };
	struct error err = ERROR_INIT;
	int r = chain_copy(s->samples, &what, directory, &err);

	if (r < 0 && r != -ENOENT) {
		remove_part(directory, CHAIN_DIRECTORY);
		log_warn("%s; the archive lacks call chains", err.text);
	}
}

/* The session of the archive lasted as long as the window. */
static void write_setup(const struct gather_session *s, const char *directory)
{
	const struct window *span = gather_window(s);
	struct setup setup = { 0 };
	struct error err = ERROR_INIT;

	if (setup_read(s->samples, &setup, NULL) < 0)
		return;
	if (setup.began)
		setup.began = (uint64_t)span->begin_ms / 1000;
	setup.ended = ((uint64_t)span->end_ms + 999) / 1000;
	if (setup_write(directory, &setup, &err) < 0)
		log_warn("%s", err.text);
	setup_done(&setup);
}

/* Writes what the slices know of the counters. */
static void write_counters(const struct gather_session *s, const char *directory)
{
	const struct history_cover *cover = history_covers(s->history);
	const struct {
		const char *name;
		uint64_t value;
	} counters[] = {
		{ "samples", cover->samples },
		{ "sample_received", cover->samples },
		{ "sample_stretched", cover->samples - MIN(cover->taken, cover->samples) },
		{ "history", cover->lost },
	};
	struct error err = ERROR_INIT;
	size_t i;
	int r = 0;

	for (i = 0; i < ARRAY_SIZE(counters) && r >= 0; i++)
		if (counters[i].value)
			r = session_stat_add(directory, counters[i].name, counters[i].value, &err);
	if (r < 0)
		log_warn("%s; the archive does not say what was lost", err.text);
}

void excerpt_write(const struct excerpt_config *config, uint32_t session, const char *directory)
{
	const struct gather_session *s = &config->gather->sessions[session];
	_cleanup_free_ char *stats = path_join(directory, "stats");
	struct error err = ERROR_INIT;

	if (path_make_dirs(stats, 0755, &err) < 0) {
		log_warn("%s; the archive is incomplete", err.text);
		return;
	}
	if (!config->chains_only)
		write_history(config, s, directory);
	write_chains(config, s, directory);
	if (!s->history || config->chains_only)
		return;
	write_setup(s, directory);
	write_counters(s, directory);
}

void excerpt_chained(const struct excerpt_config *config, uint32_t session, const char *directory,
		     bool *chained)
{
	_cleanup_(chain_reader_closep) struct chain_reader *r = NULL;
	const struct chain_names *names;
	uint32_t i, image;

	if (chain_reader_open(directory, NULL, &r, NULL) < 0)
		return;
	names = chain_reader_names(r);
	for (i = 1; i <= chain_names_images(names); i++) {
		image = gather_find_image(config->gather, session, chain_names_image_at(names, i));
		if (image != GATHER_NONE)
			chained[image] = true;
	}
}

bool excerpt_replaces(const struct excerpt_config *config, const char *below)
{
	static const struct {
		const char *name;
		bool is_of_window;
	} replaced[] = {
		{ HISTORY_DIRECTORY "/", false },
		{ CHAIN_DIRECTORY "/", false },
		{ "stats/", true },
		{ "setup", true },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(replaced); i++)
		if (!strncmp(below, replaced[i].name, strlen(replaced[i].name)) &&
		    (!replaced[i].is_of_window || spec_window(config->spec)))
			return true;
	return false;
}
