/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/store/past.h"

#include "base/mem.h"
#include "history/history_writer.h"
#include "record/store/sampled_image.h"
#include "record/store/store_opener.h"

struct past {
	struct history_writer *writer;
	const struct store_opener *opener;
};

struct past *past_new(const struct store_config *config, const struct store_opener *opener)
{
	struct past *p = xcalloc(1, sizeof(*p));

	p->writer = history_writer_new(config->samples);
	p->opener = opener;
	return p;
}

void past_free(struct past *p)
{
	if (!p)
		return;
	history_writer_free(p->writer);
	free(p);
}

static uint32_t number_of(struct past *p, const struct store_key *key)
{
	struct history_name name;

	store_opener_describe(p->opener, key, &name.name, &name.header);
	return history_writer_file(p->writer, &name);
}

void past_count(struct past *p, const struct store_key *key, struct past_mark *mark,
		uint64_t offset, uint64_t count)
{
	if (_unlikely_(mark->epoch != history_writer_epoch(p->writer)))
		*mark = (struct past_mark){ history_writer_epoch(p->writer), number_of(p, key) };
	history_writer_count(p->writer, mark->number, offset, count);
}

bool past_is_full(const struct past *p)
{
	return history_writer_is_full(p->writer);
}

int past_end_slice(struct past *p, struct slice *slice, struct error *err)
{
	return history_writer_end(p->writer, slice, err);
}

uint32_t past_generation(const struct past *p)
{
	return history_writer_generation(p->writer);
}

void past_leave(struct past *p)
{
	history_writer_leave(p->writer);
}

size_t past_memory(const struct past *p)
{
	return history_writer_memory(p->writer);
}
