/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a session with many call chains, for measuring what shows them:
 *
 *	mkchains DIRECTORY CHAINS FILE...
 *
 * As many chains as CHAINS, each of some samples, in an hour of slices, through functions of the
 * files, each of which is an application, too. A function calls a few others, some much more often
 * than the rest, so chains have much in common. The same arguments give the same chains.
 */
#include "base/hash.h"
#include "base/mem.h"
#include "base/parse.h"
#include "chains/chain_store.h"
#include "file/path.h"
#include "history/history_writer.h"
#include "history/slice_file.h"
#include "sfile/manifest.h"
#include "sfile/session.h"
#include "sfile/sfile.h"
#include "symbol/elfsym.h"

#include <stdio.h>
#include <sys/stat.h>

enum { SLICES = 360, SLICE_MS = 10000, DEPTH_MAX = 60, CALLEES = 8, FILES_MAX = 64 };
/* The first slice: 2026-11-23T14:00:00Z. */
#define BEGIN_MS 1795442400000

struct image {
	const char *path;
	struct symtab *symbols;
	uint32_t number, context; /* in the store */
	struct sfile *samples;
	uint32_t file; /* in the history */
};

struct maker {
	struct image images[FILES_MAX];
	size_t image_count;
	char *samples;
	struct manifest *manifest;
	struct chain_store *store;
	struct history_writer *history;
	uint64_t random;
	struct error err;
};

static uint64_t next(struct maker *m)
{
	return m->random = hash_u64(m->random + 1);
}

static int add_names(struct maker *m, struct image *i, struct elffile *ef)
{
	struct manifest_image image = { .path = i->path,
					.version.size = elffile_size(ef),
					.version.mtime = elffile_mtime(ef) };
	struct sname_image name = { .name = i->path };
	struct chain_context context = { .event = "TIMER.0.0",
					 .task = SNAME_TASK_ALL,
					 .end = "complete" };
	struct sname file = {
		.app = name, .image = name, .event = "TIMER", .task = SNAME_TASK_ALL
	};
	struct history_name past = { .name = file };
	_cleanup_free_ char *below = sname_mangle(&file), *path = path_join(m->samples, below);
	int r;

	if (elffile_build_id(ef))
		image.version.build_id = *elffile_build_id(ef);
	if (!manifest_name(m->manifest, &image, &m->err))
		return m->err.code;
	r = chain_store_image(m->store, &name, false, &i->number, &m->err);
	context.app = i->number;
	if (r == 0)
		r = chain_store_context(m->store, &context, &i->context, &m->err);
	if (r == 0)
		r = sfile_create(path, &past.header, &i->samples, &m->err);
	i->file = history_writer_file(m->history, &past);
	return r;
}

static int add_image(struct maker *m, const char *path)
{
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	_cleanup_(symtab_freep) struct symtab *symbols = symtab_new();
	struct image *i = &m->images[m->image_count];
	int r = elffile_open(path, &ef, &m->err);

	if (r < 0)
		return r;
	elfsym_load(ef, NULL, ELFSYM_FILE_OFFSET, symbols);
	symtab_settle(symbols);
	if (!symtab_count(symbols))
		return 0; /* data */
	*i = (struct image){ .path = path };
	r = add_names(m, i, ef);
	symtab_hold(symbols, STEAL(ef), elfsym_release);
	i->symbols = STEAL(symbols);
	m->image_count++;
	return r;
}

/* A place in a function. */
static struct chain_frame frame_in(const struct maker *m, uint64_t function)
{
	const struct image *i = &m->images[function % m->image_count];
	const struct symbol *symbol =
		symtab_at(i->symbols, (function >> 16) % symtab_count(i->symbols));
	uint64_t size = symbol->end - symbol->offset;

	return (struct chain_frame){ i->number, symbol->offset + (function >> 40) % size };
}

/* The function that one calls: the first of its callees in half of the calls, the next in half of
 * the others. */
static uint64_t callee(struct maker *m, uint64_t function)
{
	uint64_t which = (uint64_t)__builtin_ctzll(next(m) | 1ULL << (CALLEES - 1));

	return hash_u64(function % 20000 + which * 20011);
}

/* Adds a chain, and its innermost frame to the sample file and its history. */
static int add_chain(struct maker *m)
{
	struct chain_frame inward[DEPTH_MAX], frames[DEPTH_MAX];
	struct image *app = &m->images[next(m) % m->image_count];
	uint64_t function = hash_u64(app->number), samples = 1 + next(m) % 4;
	struct chain chain = { .frames = frames, .samples = samples };
	const struct image *leaf = app;
	size_t i;
	int r;

	do {
		inward[chain.count++] = frame_in(m, function);
		leaf = &m->images[function % m->image_count];
		function = callee(m, function);
	} while (chain.count < DEPTH_MAX && next(m) % 16);
	for (i = 0; i < chain.count; i++)
		frames[i] = inward[chain.count - 1 - i];
	r = chain_store_add(m->store, app->context, &chain, &m->err);
	if (r == 0 && leaf == app) {
		r = odb_add(sfile_odb(app->samples), frames[0].offset, (uint32_t)samples);
		history_writer_count(m->history, app->file, frames[0].offset, samples);
	}
	return r;
}

static int add_chains(struct maker *m, size_t count)
{
	size_t i, s, each = count / SLICES + 1;
	int r = 0;

	for (s = 0; r == 0 && s < SLICES; s++) {
		struct slice slice = { .span = { BEGIN_MS + (int64_t)s * SLICE_MS,
						 BEGIN_MS + (int64_t)(s + 1) * SLICE_MS },
				       .samples = each * 2 };

		for (i = 0; r == 0 && i < each; i++)
			r = add_chain(m);
		if (r == 0)
			r = chain_store_end_slice(m->store, &slice, &m->err);
		if (r == 0)
			r = history_writer_end(m->history, &slice, &m->err);
	}
	return r;
}

static int make(struct maker *m, const char *directory, size_t chains, char *const *files)
{
	int r = session_create(directory, "current", &m->err);

	if (r < 0)
		return r;
	m->samples = session_samples(directory, "current");
	m->history = history_writer_new(m->samples);
	r = manifest_open(m->samples, true, &m->manifest, &m->err);
	if (r == 0)
		r = chain_store_open_sliced(m->samples, &m->store, &m->err);
	for (; r == 0 && *files && m->image_count < FILES_MAX; files++)
		r = add_image(m, *files);
	return r < 0 ? r : add_chains(m, chains);
}

static void maker_done(struct maker *m)
{
	while (m->image_count) {
		symtab_free(m->images[--m->image_count].symbols);
		sfile_close(m->images[m->image_count].samples);
	}
	chain_store_close(m->store);
	history_writer_free(m->history);
	manifest_close(m->manifest);
	free(m->samples);
}

int main(int argc, char **argv)
{
	_cleanup_(maker_done) struct maker m = { .random = 1 };
	uint64_t chains = 0;
	int r;

	if (argc < 4 || parse_u64(argv[2], 1, 1ULL << 32, &chains) < 0) {
		(void)fputs("usage: mkchains DIRECTORY CHAINS FILE...\n", stderr);
		return 2;
	}
	r = make(&m, argv[1], chains, argv + 3);
	if (r < 0)
		(void)fprintf(stderr, "mkchains: %s\n", m.err.text);
	return r < 0;
}
