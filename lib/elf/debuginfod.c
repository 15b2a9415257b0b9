/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "elf/debuginfod.h"

#include "base/macro.h"
#include "base/mem.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

enum { FETCHERS = 4 };

/* The most that one file may take, unless the environment says otherwise: a server could send for
 * ever. The largest debug files, of browsers, have some 4 GB. */
#define SIZE_BYTES   "8589934592"
#define TIME_SECONDS "1800"

struct debuginfod_client;

/* The functions of libdebuginfod.so.1 that we call. */
struct library {
	struct debuginfod_client *(*begin)(void);
	void (*end)(struct debuginfod_client *client);
	int (*find_debuginfo)(struct debuginfod_client *client, const unsigned char *id, int size,
			      char **path);
	int (*find_executable)(struct debuginfod_client *client, const unsigned char *id, int size,
			       char **path);
	void (*set_progressfn)(struct debuginfod_client *client,
			       int (*say)(struct debuginfod_client *client, long a, long b));
};

/* Shared by all fetchers. */
struct fetch {
	struct library library;
	struct debuginfod_want *wants;
	size_t count;
	const struct debuginfod_progress *progress;
	pthread_mutex_t lock; /* for all members below */
	size_t next, done;
	uint64_t bytes;
	bool dead; /* no server answered */
};

/* One thread with its client. */
struct fetcher {
	struct fetch *fetch;
	struct debuginfod_client *client;
	pthread_t thread;
	uint64_t bytes; /* of the present file */
};

static int load_library(struct library *l, struct error *err)
{
	/* It stays loaded, since curl does not survive being unloaded. */
	void *handle = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
	const struct {
		const char *name;
		void *function;
	} functions[] = { { "debuginfod_begin", &l->begin },
			  { "debuginfod_end", &l->end },
			  { "debuginfod_find_debuginfo", &l->find_debuginfo },
			  { "debuginfod_find_executable", &l->find_executable },
			  { "debuginfod_set_progressfn", &l->set_progressfn } };
	size_t i;

	if (!handle)
		return error_set(err, -ENOSYS, "debuginfod: %s; install libdebuginfod1", dlerror());
	for (i = 0; i < ARRAY_SIZE(functions); i++) {
		void *function = dlsym(handle, functions[i].name);

		if (!function)
			return error_set(err, -ENOSYS, "debuginfod: %s", dlerror());
		memcpy(functions[i].function, &function, sizeof(function));
	}
	return 0;
}

static void say_progress(struct fetch *f)
{
	if (f->progress && f->progress->say)
		f->progress->say(f->done, f->count, f->bytes, f->progress->data);
}

/* The fetcher of this thread, as the library passes no data to its callback. */
static _Thread_local struct fetcher *current;

/* Called by the library while it transfers: @a of @b bytes. Non-zero would cancel. */
static int on_progress(struct debuginfod_client *client _unused_, long a, long b _unused_)
{
	struct fetcher *x = current;

	if (a > 0 && (uint64_t)a > x->bytes) {
		(void)pthread_mutex_lock(&x->fetch->lock);
		x->fetch->bytes += (uint64_t)a - x->bytes;
		x->bytes = (uint64_t)a;
		say_progress(x->fetch);
		(void)pthread_mutex_unlock(&x->fetch->lock);
	}
	return 0;
}

/* Whether an error means that no server answered, rather than that none has the file. */
static bool is_unreachable(int error)
{
	return error == -ECONNREFUSED || error == -EHOSTUNREACH || error == -ENETUNREACH ||
	       error == -ETIME || error == -ETIMEDOUT || error == -ENOMEDIUM;
}

static void fetch_one(struct fetcher *x, struct debuginfod_want *w)
{
	const struct library *l = &x->fetch->library;
	int (*find)(struct debuginfod_client * client, const unsigned char *id, int size,
		    char **path) = w->executable ? l->find_executable : l->find_debuginfo;
	int fd;

	x->bytes = 0;
	fd = find(x->client, w->id->bytes, (int)w->id->size, &w->path);
	if (fd >= 0)
		(void)close(fd);
	else
		w->error = fd;
}

/* Fetches one file after another until none is left or no server answers. */
static void *run_fetcher(void *data)
{
	struct fetcher *x = data;
	struct fetch *f = x->fetch;

	current = x;
	(void)pthread_mutex_lock(&f->lock);
	while (f->next < f->count) {
		struct debuginfod_want *w = &f->wants[f->next++];

		if (f->dead) {
			w->error = -EHOSTUNREACH;
			continue;
		}
		(void)pthread_mutex_unlock(&f->lock);
		fetch_one(x, w);
		(void)pthread_mutex_lock(&f->lock);
		f->dead = f->dead || is_unreachable(w->error);
		f->done++;
		say_progress(f);
	}
	(void)pthread_mutex_unlock(&f->lock);
	return NULL;
}

static void run(struct fetch *f)
{
	struct fetcher fetchers[FETCHERS] = { { .fetch = f } };
	size_t i, started = 0;

	for (i = 0; i < MIN((size_t)FETCHERS, f->count); i++) {
		struct fetcher *x = &fetchers[started];

		*x = (struct fetcher){ .fetch = f, .client = f->library.begin() };
		if (!x->client)
			break;
		f->library.set_progressfn(x->client, on_progress);
		if (pthread_create(&x->thread, NULL, run_fetcher, x) != 0) {
			f->library.end(x->client);
			break;
		}
		started++;
	}
	for (i = 0; i < started; i++) {
		(void)pthread_join(fetchers[i].thread, NULL);
		f->library.end(fetchers[i].client);
	}
	for (; f->next < f->count; f->next++)
		f->wants[f->next].error = -EAGAIN;
}

int debuginfod_fetch(struct debuginfod_want *wants, size_t count,
		     const struct debuginfod_progress *progress, struct error *err)
{
	struct fetch f = { .wants = wants,
			   .count = count,
			   .progress = progress,
			   .lock = PTHREAD_MUTEX_INITIALIZER };
	const char *urls = getenv("DEBUGINFOD_URLS");
	int r;

	if (!urls || !*urls)
		return error_set(err, -EDESTADDRREQ,
				 "debuginfod: the environment variable DEBUGINFOD_URLS names no "
				 "server");
	r = load_library(&f.library, err);
	if (r < 0)
		return r;
	(void)setenv("DEBUGINFOD_MAXSIZE", SIZE_BYTES, 0);
	(void)setenv("DEBUGINFOD_MAXTIME", TIME_SECONDS, 0);
	run(&f);
	if (f.dead)
		return error_set(err, -EHOSTUNREACH,
				 "debuginfod: no answer from %s; not contacted again", urls);
	return 0;
}
