/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is in the sample files of a session and what its chains say of arcs, as lines of text. */
#pragma once

#include "test.h"

#include "base/strbuf.h"
#include "chains/chain_arcs.h"
#include "sfile/odb.h"
#include "sfile/session.h"
#include "sfile/sfile.h"
#include "sfile/sname.h"

#include <inttypes.h>

static inline int list_sample_file(const char *path, const struct sname *name, void *data)
{
	_cleanup_(sfile_closep) struct sfile *sf = NULL;
	_cleanup_free_ char *mangled = sname_mangle(name);
	const struct odb_node *nodes = NULL;
	size_t i, count = 0;

	CHECK_EQ(sfile_open(path, &sf, NULL), 0);
	if (sf)
		nodes = odb_nodes(sfile_odb(sf), &count);
	for (i = 0; i < count; i++)
		strbuf_addf(data, "%s %" PRIx64 " %u\n", mangled, nodes[i].key, nodes[i].value);
	return 0;
}

/* The samples of all arcs from number @from on that have its key, which none before it has; or 0.
 */
static inline uint64_t samples_of_arc(const struct chain_arcs_file *f, size_t from)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < f->count; i++) {
		if (f->arcs[i].key != f->arcs[from].key)
			continue;
		if (i < from)
			return 0;
		sum += f->arcs[i].samples;
	}
	return sum;
}

/* The same for the call graph files that are derived from the session's chains. */
static inline void list_arcs(const char *samples, char separator, struct strbuf *text)
{
	_cleanup_(chain_arcs_freep) struct chain_arcs *arcs = NULL;
	size_t i, j;

	if (chain_arcs_read(samples, NULL, &arcs, NULL) < 0)
		return;
	for (i = 0; i < chain_arcs_count(arcs); i++) {
		const struct chain_arcs_file *f = chain_arcs_at(arcs, i);
		_cleanup_free_ char *mangled = sname_mangle(&f->name);

		for (j = 0; j < f->count && !f->end; j++) {
			uint64_t sum = samples_of_arc(f, j);

			if (sum)
				strbuf_addf(text, "%s%c%" PRIx64 "%c%" PRIu64 "\n", mangled,
					    separator, f->arcs[j].key, separator, sum);
		}
	}
}

/* All of the session @name, "FILE KEY COUNT" a line, in no order; caller frees. */
static inline char *sample_lines(const char *session_dir, const char *name)
{
	_cleanup_free_ char *samples = session_samples(session_dir, name);
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;

	CHECK_EQ(session_walk(samples, list_sample_file, NULL, &text, NULL), 0);
	list_arcs(samples, ' ', &text);
	return strbuf_take(&text);
}

/* The session "current" holds each of @lines, and nothing else. */
static inline void check_sample_lines(const char *session_dir, const char *const *lines,
				      size_t count)
{
	_cleanup_free_ char *text = sample_lines(session_dir, "current");
	size_t i, have = 0;

	for (i = 0; text[i]; i++)
		have += text[i] == '\n';
	for (i = 0; i < count; i++)
		if (!CHECK(strstr(text, lines[i])))
			printf("# missing: %s\n", lines[i]);
	if (!CHECK(have == count))
		printf("# %zu lines, not %zu:\n# %s", have, count, text);
}
