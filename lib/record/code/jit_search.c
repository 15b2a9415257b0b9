/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Searches for the files that describe the code of a process: here, or elsewhere (jit_errand.h). */
#include "record/code/jit_reader.h"

#include "base/log.h"
#include "file/open_regular.h"
#include "record/code/internal/jit_reader_state.h"
#include "record/code/jit_errand.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* How many errands that close files may wait. Most close two: a root directory, a description. */
enum { CLOSING_MAX = 64 };

bool jit_reader_send(struct jit_reader *r, struct errand *e)
{
	uint64_t number;

	if (!r->errands && errands_new(ERRANDS_OUTSIDE, &r->errands, NULL) < 0) {
		e->drop(e);
		return false;
	}
	number = errands_add(r->errands, e);
	r->asked = MAX(r->asked, number);
	return number != 0;
}

void jit_reader_close(struct jit_reader *r, struct errand *e)
{
	struct errand *closed;

	if (!r->opener || (!r->closing && errands_new(ERRANDS_OUTSIDE, &r->closing, NULL) < 0)) {
		e->run(e);
		e->drop(e);
		return;
	}
	while ((closed = errands_take(r->closing)))
		closed->drop(closed);
	(void)errands_add(r->closing, e);
}

bool jit_reader_is_clogged(const struct jit_reader *r)
{
	return r->closing && errands_left(r->closing) >= CLOSING_MAX;
}

/* Leaves the code of a process without names, as it would have files that cannot be closed. */
static void give_up(struct jit_process *p)
{
	struct jit_reader *r = p->reader;

	if (!p->searched && !p->source_count &&
	    jit_complaints_may(&r->of_closing, p->user->uid, r->now))
		log_warn("process %u: its code has no names, as a file system on which others had "
			 "code does not let go of their files",
			 p->tgid);
	p->searched = true;
}

/* Asks for a file or, before the first one, for the root directory. */
static void ask(struct jit_process *p)
{
	struct jit_reader *r = p->reader;

	if (p->searching)
		return;
	if (jit_reader_is_clogged(r)) {
		give_up(p);
		return;
	}
	if (jit_files_root(p->files) < 0)
		p->searching = jit_reader_send(r, jit_errand_root(r->opener, p->serial, p->files));
	else if (p->source_count < JIT_FILES_MAX)
		p->searching = jit_reader_send(r, jit_errand_find(r->opener, p->serial, p->files));
	p->searched = p->searched || !p->searching;
}

void jit_process_begin_search(struct jit_process *p)
{
	if (p->reader->opener)
		ask(p);
	else
		jit_files_take_root(p->files, jit_files_open_root(p->reader->root, p->tgid));
}

/* Adds the file @path, which @fd refers to and which it takes. */
static void add_source(struct jit_process *p, int fd, const char *path)
{
	jit_files_note(p->files, fd);
	p->sources[p->source_count++] = jit_source_new(fd, path);
	p->unread = true;
	p->found = true;
}

void jit_process_take_search(struct jit_process *p, struct jit_errand *e)
{
	p->searching = false;
	if (e->found < 0) {
		p->searched = true;
		return;
	}
	if (e->is_root)
		jit_files_take_root(p->files, STEAL_FD(e->found));
	else
		add_source(p, STEAL_FD(e->found), e->path);
	ask(p);
}

/* Searches in this process. */
static void search_here(struct jit_process *p)
{
	const char *root = p->reader->root;
	int handle, fd;
	char *path;

	while (p->source_count < JIT_FILES_MAX &&
	       (handle = jit_files_find(root, jit_files_root(p->files), jit_files_query(p->files),
					&path)) >= 0) {
		fd = open_regular_found(handle, O_RDONLY);
		if (fd >= 0)
			add_source(p, fd, path);
		else
			jit_files_note(p->files, handle);
		(void)close(handle);
		free(path);
	}
	p->searched = true;
}

bool jit_process_search(struct jit_process *p)
{
	bool found;

	if (p->reader->opener)
		ask(p);
	else
		search_here(p);
	found = p->found;
	p->found = false;
	return found;
}
