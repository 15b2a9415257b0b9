/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/internal/container_namer.h"

#include "base/intern.h"
#include "base/log.h"
#include "base/mem.h"
#include "helper/errands.h"
#include "identity/runtime_name.h"
#include "sfile/session_names.h"

#include <stdlib.h>

/* How long the end of a session waits for names: the files may be on a file system that hangs. */
enum { WAIT_MS = 100 };

struct job {
	struct errand errand;
	char *root, *samples, *id;
	int result;
	struct error why;
};

struct container_namer {
	char *root, *samples;
	struct map seen;	 /* cgroups, by their pointers */
	struct intern ids;	 /* of their containers */
	struct errands *errands; /* NULL: no container was seen yet */
	uint64_t last;		 /* number of the last errand */
	bool is_told;		 /* that writing failed */
};

static void drop(struct errand *e)
{
	struct job *j = (struct job *)e;

	free(j->root);
	free(j->samples);
	free(j->id);
	free(j);
}

static void run(struct errand *e)
{
	struct job *j = (struct job *)e;
	_cleanup_free_ char *name = runtime_name(j->root, j->id);

	if (name)
		j->result = session_names_add(SESSION_NAMES_CONTAINERS, j->samples, j->id, name,
					      &j->why);
}

/* Takes back what the thread is done with. */
static void settle(struct container_namer *n)
{
	struct errand *e;

	while (n->errands && (e = errands_take(n->errands))) {
		const struct job *j = (struct job *)e;

		if (j->result < 0 && !n->is_told)
			log_warn("%s; the names of containers are not kept", j->why.text);
		n->is_told |= j->result < 0;
		drop(e);
	}
}

struct container_namer *container_namer_new(const char *root, const char *samples)
{
	struct container_namer *n = xcalloc(1, sizeof(*n));

	n->root = xstrdup(root);
	n->samples = xstrdup(samples);
	return n;
}

void container_namer_see(struct container_namer *n, const char *cgroup)
{
	_cleanup_free_ char *id = NULL;
	const char *at;
	struct job *j;
	uint64_t number;

	if (map_get(&n->seen, (uintptr_t)cgroup))
		return;
	(void)map_set(&n->seen, (uintptr_t)cgroup, n);
	at = session_names_id(cgroup);
	id = at ? xstrndup(at, SESSION_NAMES_ID) : NULL;
	if (!id || intern_has(&n->ids, id))
		return;
	settle(n);
	if (!n->errands && errands_new(ERRANDS_FILES, &n->errands, NULL) < 0)
		return;
	j = xcalloc(1, sizeof(*j));
	*j = (struct job){ .errand = { .run = run, .drop = drop },
			   .root = xstrdup(n->root),
			   .samples = xstrdup(n->samples),
			   .id = xstrdup(intern(&n->ids, id)) };
	number = errands_add(n->errands, &j->errand);
	n->last = number ?: n->last;
}

/* Waits for the thread, or leaves it to itself: a name that it adds later is as true in the next
 * session. */
static void await(struct container_namer *n)
{
	bool is_done = !n->errands || errands_wait(n->errands, n->last, WAIT_MS);

	settle(n);
	if (is_done)
		return;
	log_warn("the names of containers cannot be read: some may be missing");
	errands_leave(STEAL(n->errands));
	n->last = 0;
}

void container_namer_let_go(struct container_namer *n)
{
	map_done(&n->seen);
	intern_done(&n->ids);
}

void container_namer_forget(struct container_namer *n)
{
	await(n);
	container_namer_let_go(n);
	n->is_told = false;
}

void container_namer_free(struct container_namer *n)
{
	if (!n)
		return;
	await(n);
	errands_free(n->errands);
	container_namer_let_go(n);
	free(n->root);
	free(n->samples);
	free(n);
}
