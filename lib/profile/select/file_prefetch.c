/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/select/file_prefetch.h"

#include "base/mem.h"
#include "base/parallel.h"
#include "profile/select/gather.h"

/* Files opened at a time (limited by descriptors and memory), and by one thread in a row. */
enum { BATCH = 256, CHUNK = 16 };

struct prefetched {
	struct file_counts *file; /* NULL: taken, or see ->result */
	int result;
	char *why; /* reason for a negative result */
};

static void open_chunk(size_t chunk, unsigned int thread _unused_, void *data)
{
	struct file_prefetch *p = data;
	size_t i = chunk * CHUNK, end = MIN(p->ready, i + CHUNK);

	for (; i < end; i++) {
		const struct gather_file *f = &p->gather->files[p->order[p->first + i]];
		struct error err = ERROR_INIT;

		p->files[i].result = file_counts_open(f, &p->files[i].file, &err);
		if (p->files[i].result < 0)
			p->files[i].why = xstrdup(err.text);
	}
}

static void drop(struct file_prefetch *p)
{
	size_t i;

	for (i = 0; i < p->ready; i++) {
		file_counts_close(p->files[i].file);
		free(p->files[i].why);
	}
	p->ready = 0;
}

int file_prefetch_take(struct file_prefetch *p, size_t i, struct file_counts **ret,
		       struct error *err)
{
	const struct gather_file *file = &p->gather->files[p->order[i]];
	struct prefetched *f;

	if (!file->path) /* its counts are in memory */
		return file_counts_open(file, ret, err);
	if (!p->files || i >= p->first + p->ready) {
		drop(p);
		free(p->files);
		p->files = xcalloc(BATCH, sizeof(*p->files));
		p->first = i;
		p->ready = MIN(p->count - i, (size_t)BATCH);
		parallel_each((p->ready + CHUNK - 1) / CHUNK, open_chunk, p);
	}
	f = &p->files[i - p->first];
	if (f->result < 0)
		return error_set(err, f->result, "%s", f->why);
	*ret = STEAL(f->file);
	return 0;
}

void file_prefetch_done(struct file_prefetch *p)
{
	drop(p);
	free(p->files);
	p->files = NULL;
}
