/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/internal/thread_namer.h"

#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "sfile/session_names.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So many threads are remembered. If there are more, names are written again. */
enum { THREADS_MAX = 65536 };

struct thread_namer {
	char *samples;
	struct map seen; /* the process and the thread: its name */
	struct strbuf lines;
	bool is_told; /* that writing failed */
};

struct thread_namer *thread_namer_new(const char *samples)
{
	struct thread_namer *n = xcalloc(1, sizeof(*n));

	n->samples = xstrdup(samples);
	return n;
}

void thread_namer_see(struct thread_namer *n, uint32_t tgid, uint32_t tid, const char *comm)
{
	uint64_t key = (uint64_t)tgid << 32 | tid;
	char text[24];

	if (map_get(&n->seen, key) == comm || !strcmp(comm, "(unknown)"))
		return;
	if (n->seen.count >= THREADS_MAX)
		map_done(&n->seen);
	(void)map_set(&n->seen, key, (void *)comm);
	(void)snprintf(text, sizeof(text), "%" PRIu32 ".%" PRIu32, tgid, tid);
	session_names_line(&n->lines, text, comm);
}

void thread_namer_write(struct thread_namer *n)
{
	struct error err = ERROR_INIT;
	int r;

	if (!n->lines.length)
		return;
	r = session_names_append(SESSION_NAMES_THREADS, n->samples, &n->lines, &err);
	if (r > 0)
		map_done(&n->seen);
	if (r < 0) {
		if (!n->is_told)
			log_warn("%s; the names of threads are not kept", err.text);
		n->is_told = true;
	}
	strbuf_clear(&n->lines);
}

void thread_namer_forget(struct thread_namer *n)
{
	thread_namer_write(n);
	map_done(&n->seen);
	n->is_told = false;
}

void thread_namer_free(struct thread_namer *n)
{
	if (!n)
		return;
	map_done(&n->seen);
	strbuf_done(&n->lines);
	free(n->samples);
	free(n);
}
