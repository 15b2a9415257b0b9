/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/store/file_maker.h"

#include "base/mem.h"
#include "helper/errands.h"
#include "sfile/sfile.h"

#include <limits.h>

/* Each that waits will have a descriptor, whatever the caller's limit is. */
enum { ASKED_MAX = 64 };

struct question {
	struct errand errand;
	char *path;
	struct sfile_header header;
	struct made_file made;
};

struct file_maker {
	struct errands *errands; /* NULL: nothing was asked yet */
	uint64_t asked, taken;
	bool is_absent;
};

static void drop(struct errand *e)
{
	struct question *q = (struct question *)e;

	sfile_close(q->made.sf);
	free(q->path);
	free(q);
}

static void run(struct errand *e)
{
	struct question *q = (struct question *)e;

	q->made.code = sfile_create(q->path, &q->header, &q->made.sf, &q->made.err);
}

struct file_maker *file_maker_new(void)
{
	return xcalloc(1, sizeof(struct file_maker));
}

void file_maker_free(struct file_maker *m)
{
	if (!m)
		return;
	errands_free(m->errands);
	free(m);
}

bool file_maker_is_absent(const struct file_maker *m)
{
	return m->is_absent;
}

bool file_maker_ask(struct file_maker *m, char *path, const struct sfile_header *header, void *data)
{
	struct question *q;

	if (!m->errands && !m->is_absent)
		m->is_absent = errands_new(ERRANDS_FILES, &m->errands, NULL) < 0;
	if (m->is_absent || m->asked - m->taken >= ASKED_MAX) {
		free(path);
		return false;
	}
	q = xcalloc(1, sizeof(*q));
	*q = (struct question){ .errand = { .run = run, .drop = drop },
				.path = path,
				.header = *header,
				.made = { .data = data, .err = ERROR_INIT } };
	m->asked = errands_add(m->errands, &q->errand);
	return true;
}

bool file_maker_take(struct file_maker *m, struct made_file *ret)
{
	struct question *q = m->errands ? (struct question *)errands_take(m->errands) : NULL;

	if (!q)
		return false;
	m->taken++;
	*ret = q->made;
	q->made.sf = NULL;
	drop(&q->errand);
	return true;
}

void file_maker_wait(struct file_maker *m)
{
	while (m->errands && !errands_wait(m->errands, m->asked, INT_MAX))
		;
}
