/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/chains.h"

#include "base/hash.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/parse.h"
#include "profile/rows/internal/chain_filter.h"
#include "profile/rows/internal/chain_frames.h"
#include "profile/select/gather.h"
#include "profile/select/programs.h"
#include "chains/chain_read.h"
#include "history/history_name.h"
#include "history/slice_file.h"
#include "sfile/sfile.h"
#include "sfile/sname_event.h"

#include <errno.h>
#include <string.h>

uint64_t chains_end_in_jit(const struct chains *c)
{
	return c->end_count ? c->ends[CHAIN_END_NO_CODE].samples : 0;
}

uint64_t chains_end_by_depth(const struct chains *c)
{
	return c->end_count ? c->ends[CHAIN_END_DEPTH].samples : 0;
}

void chains_done(struct chains *c)
{
	size_t i;

	for (i = 0; i < c->source_count; i++) {
		chain_reader_close(c->sources[i].reader);
		free(c->sources[i].images);
		free(c->sources[i].ends);
		free(c->sources[i].tasks);
		free(c->sources[i].leaf);
		free(c->sources[i].leaf_tasks);
	}
	free(c->sources);
	free(c->event);
	if (c->rows.class_count)
		container_done(&c->rows);
	if (c->by_line.class_count)
		container_done(&c->by_line);
	call_tree_done(&c->tree);
	free(c->lines);
	free(c->moments);
	free(c->parts);
	task_list_done(&c->tasks);
	free(c->frames);
	free(c->ends);
	free(c->is_kernel);
	free(c->quality);
	*c = CHAINS_INIT;
}

/* --- which chains are wanted --- */

/* Whether an image is a region of JIT code of a program that is not known yet. */
static bool is_homeless(const struct gather_image *i)
{
	return i->id.kind == SNAME_ANON && i->id.tgid && i->program == GATHER_NONE &&
	       !strcmp(i->id.name, "anon");
}

/* Adds the programs that the regions of JIT code may belong to which only chains have. */
static void find_programs(struct gather *g, const struct chains_source *s)
{
	const struct chain_names *names = chain_reader_names(s->reader);
	bool is_any = false;
	uint32_t i;

	for (i = 1; i <= chain_names_images(names); i++)
		is_any |= is_homeless(&g->images[s->images[i]]);
	for (i = 1; is_any && i <= chain_names_contexts(names); i++)
		programs_add(g, s->images[chain_names_context_at(names, i)->app]);
}

static int open_source(struct chains *c, struct gather *g, uint32_t session, struct error *err)
{
	struct chains_source *s;
	const struct chain_names *names;
	struct chain_skipped skipped;
	const struct gather_session *from = &g->sessions[session];
	uint32_t i;

	array_grow(&c->sources, c->source_count + 1, &c->source_room);
	s = &c->sources[c->source_count];
	*s = (struct chains_source){ .host = from->host };
	if (chain_reader_open(from->samples, gather_window(from), &s->reader, err) < 0)
		return err->code;
	c->source_count++;
	skipped = chain_reader_skipped(s->reader);
	if (!from->arcs) /* else it was said */
		gather_warn_skipped(from, &skipped);
	names = chain_reader_names(s->reader);
	s->images = xcalloc(chain_names_images(names) + 1, sizeof(*s->images));
	for (i = 1; i <= chain_names_images(names); i++)
		s->images[i] = gather_image(g, session, chain_names_image_at(names, i));
	s->ends = xcalloc(chain_names_contexts(names) + 1, sizeof(*s->ends));
	for (i = 1; i <= chain_names_contexts(names); i++)
		s->ends[i] = chain_ends_find(chain_names_context_at(names, i)->end);
	find_programs(g, s);
	return 0;
}

int chains_open(struct chains *c, struct gather *g, const struct spec *spec, struct error *err)
{
	int failed = 0;
	uint32_t i;

	*c = (struct chains){ .gather = g, .spec = spec };
	for (i = 0; i < g->session_count; i++) {
		struct error why = ERROR_INIT;
		int r = open_source(c, g, i, &why);

		if (r < 0 && r != -ENOENT && failed == 0)
			failed = error_set(err, r, "%s", why.text);
	}
	if (failed < 0 || c->source_count)
		return failed;
	return error_set(err, -ENODATA,
			 "%s: no call chains were recorded%s; profile with --callgraph (operf, "
			 "opcontrol)",
			 g->sessions[0].samples, spec_window(spec) ? " in this time" : "");
}

char *chains_event_text(const char *event)
{
	_cleanup_free_ char *name = xstrndup(event, strcspn(event, "."));

	return sname_event_text(name);
}

bool chains_select(const struct chains *c, const struct sname *name)
{
	_cleanup_free_ char *event = xstrdup(c->event ?: "");
	struct sname wanted = { 0 };

	return chain_event_split(event, &wanted) && !strcmp(name->event, wanted.event) &&
	       name->count == wanted.count && name->unit_mask == wanted.unit_mask &&
	       spec_reject(c->spec, name) < 0;
}

bool *chains_images(const struct chains *c)
{
	bool *ret = xcalloc(c->gather ? c->gather->image_count + 1 : 1, sizeof(*ret));
	size_t i, k;

	for (i = 0; i < c->source_count; i++) {
		const struct chain_names *names = chain_reader_names(c->sources[i].reader);

		for (k = 1; k <= chain_names_images(names); k++)
			ret[c->sources[i].images[k]] = true;
	}
	return ret;
}

const struct row *chains_frame(const struct chains *c, const struct chains_line *line, size_t i)
{
	return &c->rows.rows[c->frames[line->first + i]];
}

static const char *const outer_names[] = {
	[CHAINS_OUTER_APP] = "application",
	[CHAINS_OUTER_HOST] = "host",
	[CHAINS_OUTER_CGROUP] = "cgroup",
	[CHAINS_OUTER_COMM] = "comm",
};

int chains_outer_parse(const char *text, struct error *err)
{
	size_t i;

	for (i = 0; text && i < ARRAY_SIZE(outer_names); i++)
		if (!strcmp(text, outer_names[i]))
			return (int)i;
	return text ? error_set(err, -EINVAL,
				"--folded: '%s' is not one of application, host, cgroup, "
				"comm",
				text)
		    : CHAINS_OUTER_APP;
}

const char *chains_outer_name(enum chains_outer outer)
{
	return outer_names[outer];
}
