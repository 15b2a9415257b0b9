/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/code/jit_writer.h"

#include "base/log.h"
#include "base/mem.h"
#include "file/path.h"
#include "helper/errands.h"
#include "elfwrite/jit_elf.h"
#include "jit/jit.h"

#include <stdlib.h>

/* How long a wait takes before it is repeated. */
enum { WAIT_MS = 60000 };

struct jit_writing {
	struct errand errand;
	uint32_t tgid;
	struct jit_elf *code;
	char **paths;
	size_t path_count, path_room;
	size_t count;		    /* pieces of code */
	struct jit_written *result; /* may be NULL */
	struct error err;	    /* the last one; code 0: none */
};

struct jit_writer {
	struct errands *errands; /* NULL: nothing was added yet */
	uint64_t added;		 /* the last number */
};

struct jit_writer *jit_writer_new(void)
{
	return xcalloc(1, sizeof(struct jit_writer));
}

void jit_writer_free(struct jit_writer *w)
{
	if (!w)
		return;
	jit_writer_wait(w);
	errands_free(w->errands);
	free(w);
}

static void drop(struct errand *e)
{
	struct jit_writing *job = (struct jit_writing *)e;

	while (job->path_count)
		free(job->paths[--job->path_count]);
	free(job->paths);
	jit_elf_free(job->code);
	free(job);
}

static void run(struct errand *e)
{
	struct jit_writing *job = (struct jit_writing *)e;
	size_t i;

	for (i = 0; i < job->path_count; i++)
		if (path_make_parents(job->paths[i], 0755, &job->err) == 0)
			(void)jit_elf_write(job->code, job->paths[i], &job->err);
}

struct jit_writing *jit_writing_new(const struct jit *jit, uint32_t tgid)
{
	struct jit_writing *job = xcalloc(1, sizeof(*job));

	*job = (struct jit_writing){ .errand = { .run = run, .drop = drop },
				     .tgid = tgid,
				     .code = jit_elf_new(jit),
				     .count = jit_count(jit),
				     .err = ERROR_INIT };
	return job;
}

void jit_writing_path(struct jit_writing *job, char *path)
{
	array_grow(&job->paths, job->path_count + 1, &job->path_room);
	job->paths[job->path_count++] = path;
}

void jit_writing_result(struct jit_writing *job, struct jit_written *ret)
{
	job->result = ret;
}

static void end_job(struct errand *e)
{
	const struct jit_writing *job = (struct jit_writing *)e;

	if (job->result && !job->err.code)
		job->result->count = job->count;
	else if (job->result && job->result->failed++ == 0)
		log_warn("%s: its functions have no names until it can be written", job->err.text);
	else if (!job->result && job->err.code)
		log_warn("%s: code of process %u has no names", job->err.text, job->tgid);
	drop(e);
}

uint64_t jit_writer_add(struct jit_writer *w, struct jit_writing *job)
{
	if (!w->errands && errands_new(ERRANDS_FILES, &w->errands, NULL) < 0) {
		run(&job->errand);
		end_job(&job->errand);
		return 0;
	}
	if (w->added - errands_finished(w->errands) >= ERRANDS_MAX)
		jit_writer_wait(w);
	return w->added = errands_add(w->errands, &job->errand);
}

bool jit_writer_is_over(const struct jit_writer *w, uint64_t number)
{
	return !number || errands_finished(w->errands) >= number;
}

bool jit_writer_is_idle(struct jit_writer *w)
{
	bool is_idle = jit_writer_is_over(w, w->added);
	struct errand *e;

	while (w->errands && (e = errands_take(w->errands)))
		end_job(e);
	return is_idle;
}

void jit_writer_wait(struct jit_writer *w)
{
	while (!jit_writer_is_idle(w))
		(void)errands_wait(w->errands, w->added, WAIT_MS);
}
