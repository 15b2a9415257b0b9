/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "chains/chain_merge.h"

#include "base/mem.h"
#include "base/parse.h"
#include "base/path.h"
#include "chains/chain_history.h"
#include "chains/chain_read.h"
#include "history/history_source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct merge {
	const struct chain_names *names;
	struct chain_store *to;
	uint32_t *images, *contexts; /* numbers in @to; 0: not requested yet */
	struct chain_frame frames[CHAIN_FRAMES_MAX];
	struct error *err;
};

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
	int r = chain_store_turn(m->to, m->err);

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

/* Adds all chains of a reader to @to; with @slices, those of all slices, slice by slice. */
static int merge(struct chain_reader *r, bool slices, struct chain_store *to, struct error *err)
{
	const struct chain_names *names = chain_reader_names(r);
	_cleanup_free_ uint32_t *images = xcalloc(chain_names_images(names) + 1, sizeof(*images));
	_cleanup_free_ uint32_t *contexts =
		xcalloc(chain_names_contexts(names) + 1, sizeof(*contexts));
	_cleanup_free_ struct merge *m = xcalloc(1, sizeof(*m));

	m->names = names;
	m->to = to;
	m->images = images;
	m->contexts = contexts;
	m->err = err;
	return slices ? chain_reader_each_slice(r,
						&(struct chain_visitor){ add_there, end_there, m })
		      : chain_reader_each(r, add_there, m);
}

int chain_merge(const char *samples, struct chain_store *to, struct error *err)
{
	_cleanup_(chain_reader_closep) struct chain_reader *r = NULL;
	int status = chain_reader_open(samples, NULL, &r, err);

	return status < 0 ? status : merge(r, false, to, err);
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
	return status < 0 ? status : merge(r, true, s, err);
}

/* Copies what is in no slice. */
static int copy_rest(const char *from, const char *to, struct error *err)
{
	_cleanup_(chain_reader_closep) struct chain_reader *r = NULL;
	_cleanup_(chain_store_closep) struct chain_store *s = NULL;
	int status = chain_reader_open_unsummed(from, NULL, &r, err);

	if (status == 0)
		status = chain_store_open(to, &s, err);
	if (status < 0)
		return status;
	chain_reader_keep_rest(r);
	return merge(r, false, s, err);
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
static void drop_copied(const char *from, const char *to)
{
	size_t count, i, k;
	_cleanup_free_ struct history_source *list = sources_list(from, &history_chains, &count);
	uint32_t last;
	bool has_sum = sources_sum(from, &last);

	for (i = 0; i < count && !list[i].level; i++)
		for (k = i + 1; k < count && !(has_sum && list[i].first <= last); k++)
			if (list[k].level && list[k].first <= list[i].first &&
			    list[i].first <= list[k].last)
				source_remove(to, &list[k]);
}

/* Keeps the files of the history as they are: all is in a sum, so no more is lost with a damaged
 * one than with what it was made of. */
static int keep_history(const char *from, const char *to, struct error *err)
{
	_cleanup_close_ int fd = open(from, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	uint32_t last = 0;
	bool has_sum = sources_sum(from, &last);
	struct dirent *entry;
	int r = path_make_dirs(to, 0755, err);

	while (r == 0 && d && (entry = readdir(d))) {
		_cleanup_free_ char *old = path_join(from, entry->d_name);
		_cleanup_free_ char *new = path_join(to, entry->d_name);

		if (is_of_history(entry->d_name, has_sum, last) && link(old, new) < 0)
			r = error_errno(err, -errno, "cannot link %s", new);
	}
	if (d) {
		(void)closedir(d);
		fd = -1;
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
	if (r == 0) {
		drop_copied(dir, made);
		r = copy_rest(samples, work, err);
	}
	if (r == 0)
		r = copy_slices(samples, work, err);
	if (r == 0)
		r = replace_directory(made, dir, err);
	(void)path_remove_tree(work, NULL);
	return r;
}
