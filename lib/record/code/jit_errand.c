/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/code/jit_errand.h"

#include "base/mem.h"

#include <fcntl.h>

void jit_errand_free(struct jit_errand *e)
{
	if (!e)
		return;
	cleanup_closep(&e->from.fd);
	cleanup_closep(&e->found);
	free((char *)e->from.name);
	free(e->path);
	free(e->bytes);
	free(e);
}

static void drop(struct errand *e)
{
	jit_errand_free((struct jit_errand *)e);
}

static void run(struct errand *errand)
{
	struct jit_errand *e = (struct jit_errand *)errand;
	int r;

	if (e->source) {
		e->code = opener_jit_read(e->opener, &e->from, &e->bytes, &e->size);
	} else {
		r = e->is_root ? opener_jit_root(e->opener, &e->query)
			       : opener_jit_find(e->opener, e->from.fd, &e->query, &e->path);
		e->code = MIN(r, 0);
		e->found = MAX(r, -1);
	}
	cleanup_closep(&e->from.fd); /* here: see jit_reader_close() */
	e->from.fd = -1;
}

static void close_all(struct errand *errand)
{
	struct jit_errand *e = (struct jit_errand *)errand;

	cleanup_closep(&e->from.fd);
	cleanup_closep(&e->found);
	e->from.fd = e->found = -1;
}

struct errand *jit_errand_closing(struct jit_errand *e)
{
	e->errand.run = close_all;
	return &e->errand;
}

/* A question about what @fd refers to; -1: nothing yet. */
static struct jit_errand *make(struct opener *o, uint64_t serial, const struct jit_files *files,
			       int fd)
{
	struct jit_errand *e = xcalloc(1, sizeof(*e));

	e->errand = (struct errand){ .run = run, .drop = drop };
	e->opener = o;
	e->serial = serial;
	e->query = *jit_files_query(files);
	e->from.tgid = e->query.tgid;
	e->from.owner = e->query.owner;
	e->from.fd = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
	e->found = -1;
	return e;
}

struct errand *jit_errand_root(struct opener *o, uint64_t serial, const struct jit_files *files)
{
	struct jit_errand *e = make(o, serial, files, -1);

	e->is_root = true;
	return &e->errand;
}

struct errand *jit_errand_find(struct opener *o, uint64_t serial, const struct jit_files *files)
{
	return &make(o, serial, files, jit_files_root(files))->errand;
}

struct errand *jit_errand_read(struct opener *o, uint64_t serial, const struct jit_files *files,
			       const struct jit_source *source, uint64_t now)
{
	struct jit_errand *e = make(o, serial, files, jit_source_fd(source));

	e->source = source;
	e->from.name = xstrdup(jit_source_name(source));
	jit_source_state(source, &e->from.state);
	e->from.now = now;
	return &e->errand;
}
