/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is in the sample files of a session, as lines of text. */
#pragma once

#include "test.h"

#include "base/strbuf.h"
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

/* All of the session @name, "FILE KEY COUNT" a line, in no order; caller frees. */
static inline char *sample_lines(const char *session_dir, const char *name)
{
	_cleanup_free_ char *samples = session_samples(session_dir, name);
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;

	CHECK_EQ(session_walk(samples, list_sample_file, NULL, &text, NULL), 0);
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
