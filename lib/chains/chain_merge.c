/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "chains/chain_merge.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "file/dirtree.h"
#include "file/path.h"
#include "chains/chain_history.h"
#include "chains/chain_read.h"
#include "history/history_source.h"
#include "history/slice_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct merge {
	const struct chain_names *names;
	struct chain_store *to;
	uint32_t *images, *contexts;	  /* numbers in @to; 0: not requested yet */
	const struct chain_copying *what; /* NULL: all chains */
	struct map verdicts;		  /* by context and image of the sample: VERDICT_ */
	struct chain_frame frames[CHAIN_FRAMES_MAX];
	struct error *err;
};

/* Whether the chains of a context whose sample is in some image are copied. */
enum { VERDICT_NO = 1, VERDICT_YES = 2 };

/* Asks the caller. */
static bool judge(const struct merge *m, uint32_t context, uint32_t image)
{
	const struct chain_context *x = chain_names_context_at(m->names, context);
	_cleanup_free_ char *event = xstrdup(x->event);
	struct sname name = { .app = *chain_names_image_at(m->names, x->app),
			      .image = *chain_names_image_at(m->names, image),
			      .task = x->task };

	return chain_event_split(event, &name) && m->what->wanted(&name, m->what->data);
}

static bool is_wanted(struct merge *m, uint32_t context, uint32_t image)
{
	uint64_t key = (uint64_t)context << 32 | image;
	uintptr_t known;

	if (!m->what)
		return true;
	known = (uintptr_t)map_get(&m->verdicts, key);
	if (!known) {
		known = judge(m, context, image) ? VERDICT_YES : VERDICT_NO;
		(void)map_set(&m->verdicts, key, (void *)known);
	}
	return known == VERDICT_YES;
}

static int image_there(struct merge *m, uint32_t image, uint32_t *ret)
{
	int r = 0;

	if (!m->images[image])
		r = chain_store_image(m->to, chain_names_image_at(m->names, image),
				      chain_names_is_kernel(m->names, image), &m->images[image],
				      m->err);
	*ret = m->images[image];
	return r;
}

static int context_there(struct merge *m, uint32_t context, uint32_t *ret)
{
	struct chain_context own;
	int r = 0;

	if (!m->contexts[context]) {
		own = *chain_names_context_at(m->names, context);
		r = image_there(m, own.app, &own.app);
		if (r == 0)
			r = chain_store_context(m->to, &own, &m->contexts[context], m->err);
	}
	*ret = m->contexts[context];
	return r;
}

static int add_there(uint32_t context, const struct chain *chain, void *data)
{
	struct merge *m = data;
	struct chain own = { m->frames, chain->count, chain->samples };
	uint32_t there = 0;
	size_t i;
	int r;

	if (!is_wanted(m, context, chain->frames[0].image))
		return 0;
	r = chain_store_turn(m->to, m->err);
	if (r > 0) {
		memset(m->images, 0, (chain_names_images(m->names) + 1) * sizeof(*m->images));
		memset(m->contexts, 0, (chain_names_contexts(m->names) + 1) * sizeof(*m->contexts));
	}
	if (r >= 0)
		r = context_there(m, context, &there);
	for (i = 0; i < chain->count && r == 0; i++) {
		m->frames[i] = chain->frames[i];
		r = image_there(m, chain->frames[i].image, &m->frames[i].image);
	}
	return r < 0 ? r : chain_store_add(m->to, there, &own, m->err);
}

static int end_there(const struct slice *slice, void *data)
{
	struct merge *m = data;

	return chain_store_end_slice(m->to, slice, m->err);
}

static bool is_in_window(const struct slice *slice, void *data)
{
	const struct merge *m = data;

	return !m->what || window_overlaps(&slice->span, m->what->window);
}

static void merge_done(struct merge *m)
{
	map_done(&m->verdicts);
	free(m->images);
	free(m->contexts);
	free(m);
}

/* Adds the chains of a reader that are @what, or all, to @to; with @slices, those of all slices,
 * slice by slice. */
static int merge(struct chain_reader *r, const struct chain_copying *what, bool slices,
		 struct chain_store *to, struct error *err)
{
	const struct chain_names *names = chain_reader_names(r);
	struct merge *m = xcalloc(1, sizeof(*m));
	int status;

	m->images = xcalloc(chain_names_images(names) + 1, sizeof(*m->images));
	m->contexts = xcalloc(chain_names_contexts(names) + 1, sizeof(*m->contexts));
	m->names = names;
	m->to = to;
	m->what = what;
	m->err = err;
	status = slices ? chain_reader_each_slice(r, &(struct chain_visitor){ .wants = is_in_window,
									      .each = add_there,
									      .end = end_there,
									      .data = m })
			: chain_reader_each(r, add_there, m);
	merge_done(m);
	return status;
}

int chain_merge(const char *samples, struct chain_store *to, struct error *err)
{
	_cleanup_(chain_reader_closep) struct chain_reader *r = NULL;
	int status = chain_reader_open(samples, NULL, &r, err);

	return status < 0 ? status : merge(r, NULL, false, to, err);
}

int chain_copy(const char *from, const struct chain_copying *what, const char *to,
	       struct error *err)
{
	_cleanup_(chain_reader_closep) struct chain_reader *r = NULL;
	_cleanup_(chain_store_closep) struct chain_store *s = NULL;
	int status = chain_reader_open_finest(from, what->window, &r, err);

	if (status == 0)
		status = what->window ? chain_store_open_sliced(to, &s, err)
				      : chain_store_open(to, &s, err);
	return status < 0 ? status : merge(r, what, what->window, s, err);
}

/* Copies the chains of all slices. */
static int copy_slices(const char *from, const char *to, struct error *err)
{
	_cleanup_(chain_reader_closep) struct chain_reader *r = NULL;
	_cleanup_(chain_store_closep) struct chain_store *s = NULL;
	int status = chain_reader_open_unsummed(from, &WINDOW_ALL, &r, err);

	/* Only a reader with a window fails if there are no slices. */
	if (status < 0)
		return status == -ENOENT ? 0 : status;
	chain_reader_close(r);
	r = NULL;
	status = chain_reader_open_unsummed(from, NULL, &r, err);
	if (status == 0)
		status = chain_store_open_sliced(to, &s, err);
	return status < 0 ? status : merge(r, NULL, true, s, err);
}

/* Copies what is in no slice. */
static int copy_rest(const char *from, const char *to, struct error *err)
{
	_cleanup_(chain_reader_closep) struct chain_reader *r = NULL;
	_cleanup_(chain_store_closep) struct chain_store *s = NULL;
	int status = chain_reader_open_unsummed(from, NULL, &r, err);

	if (status == -ENOENT)
		return 0; /* all that is left is in the sum */
	if (status == 0)
		status = chain_store_open(to, &s, err);
	if (status < 0)
		return status;
	chain_reader_keep_rest(r);
	return merge(r, NULL, false, s, err);
}

/* Writes the files in @directory to the disk, with all else on its file system. */
static int sync_files(const char *directory)
{
	_cleanup_close_ int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -1 : syncfs(fd);
}

/* Replaces the directory @to by @from. */
static int replace_directory(const char *from, const char *to, struct error *err)
{
	_cleanup_free_ char *aside = xasprintf("%s.old.tmp", to);

	(void)path_remove_tree(aside, NULL);
	if (sync_files(from) < 0 || rename(to, aside) < 0 || rename(from, to) < 0 ||
	    path_sync_parent(to) < 0)
		return error_errno(err, -errno, "cannot replace %s", to);
	return path_remove_tree(aside, err);
}

/* Whether @name is a file of the history: a segment, a sum, of a pair that is in the sum, or the
 * names that older sessions have for all pairs. */
static bool is_of_history(const char *name, bool has_sum, uint32_t last)
{
	const char *number = strchr(name, '.');
	uint64_t pair;

	if (!strncmp(name, history_chains.mark, strlen(history_chains.mark)) ||
	    !strncmp(name, "sum.", strlen("sum.")))
		return true;
	if (!has_sum || !number)
		return has_sum && !strcmp(name, "names");
	number++;
	return parse_dec(&number, &pair) == 0 && !*number && pair <= last;
}

/* Removes the segments in @to of pairs in @from that are in no sum: these are copied, with their
 * slices. */
static int drop_copied(const char *from, const char *to, struct error *err)
{
	_cleanup_free_ struct history_source *list = NULL;
	size_t count = 0, i, k;
	uint32_t last = 0;
	int r = sources_list(from, &history_chains, &list, &count, err);
	int has_sum = r < 0 ? r : sources_sum(from, &last, err);

	if (has_sum < 0)
		return has_sum;
	for (i = 0; i < count; i++) {
		if (list[i].is_segment || (has_sum && list[i].first <= last))
			continue;
		for (k = 0; k < count; k++)
			if (list[k].is_segment && list[k].first <= list[i].first &&
			    list[i].first <= list[k].last)
				source_remove(to, &list[k]);
	}
	return 0;
}

/* Keeps the files of the history as they are: all is in a sum, so no more is lost with a damaged
 * one than with what it was made of. */
static int keep_history(const char *from, const char *to, struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf names = STRBUF_INIT;
	uint32_t last = 0;
	int has_sum = sources_sum(from, &last, err), r;
	const char *name;
	size_t at = 0;

	if (has_sum < 0)
		return has_sum;
	r = dirtree_names_of(from, &names);
	if (r < 0)
		return error_errno(err, r, "%s", from);
	r = path_make_dirs(to, 0755, err);
	while (r == 0 && (name = dirtree_next_name(&names, &at))) {
		_cleanup_free_ char *old = path_join(from, name);
		_cleanup_free_ char *new = path_join(to, name);

		if (is_of_history(name, has_sum, last) && link(old, new) < 0)
			r = error_errno(err, -errno, "cannot link %s", new);
	}
	return r;
}

int chain_repair(const char *samples, struct error *err)
{
	_cleanup_free_ char *work = path_join(samples, ".chains.tmp");
	_cleanup_free_ char *made = path_join(work, CHAIN_DIRECTORY);
	_cleanup_free_ char *dir = path_join(samples, CHAIN_DIRECTORY);
	int r;

	(void)path_remove_tree(work, NULL);
	r = keep_history(dir, made, err);
	if (r == 0)
		r = drop_copied(dir, made, err);
	if (r == 0)
		r = copy_rest(samples, work, err);
	if (r == 0)
		r = copy_slices(samples, work, err);
	if (r == 0)
		r = replace_directory(made, dir, err);
	(void)path_remove_tree(work, NULL);
	return r;
}
