/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/perf/process_reader.h"

#include "base/mem.h"
#include "file/account.h"
#include "helper/errands.h"

#include <errno.h>

/* Readings at once, and how many of them may be of one user and older than some time. */
enum { LANES = 8, RUNNING_OF_USER = LANES / 2, STUCK_OF_USER = 2, STUCK_NS = 1000000000 };

/* Mappings since a process was asked for that are kept. A process that maps more is read again. */
enum { SINCE_MAX = 1 << 16 };

struct reading_errand {
	struct errand errand;
	process_reader_read *read;
	char *root;
	uint32_t tid;
	struct process_reading *reading; /* the answer */
};

/* A thread, and the process that it reads. */
struct lane {
	struct errands *errands; /* NULL: not started yet */
	uint32_t tgid;		 /* 0: none, or it is not wanted any more */
	bool is_running;
	uid_t user;			 /* of the process */
	uint64_t asked_ns;		 /* the caller's time */
	uint64_t begun_ns;		 /* the clock's */
	uint64_t number;		 /* of the errand */
	struct process_reading *reading; /* once it is there */
	struct mapping *since;
	size_t since_count, since_room;
	bool is_spoilt; /* there were too many of them */
};

struct process_reader {
	process_reader_read *read;
	char *root;
	struct lane lanes[LANES];
};

#define for_each_lane(l, r) for (struct lane *l = (r)->lanes; l < (r)->lanes + LANES; l++)

static void run(struct errand *errand)
{
	struct reading_errand *e = (struct reading_errand *)errand;

	e->reading = e->read(e->root, e->tid);
}

static void drop(struct errand *errand)
{
	struct reading_errand *e = (struct reading_errand *)errand;

	process_reading_free(e->reading);
	free(e->root);
	free(e);
}

static struct errand *make_errand(const struct process_reader *r, uint32_t tid)
{
	struct reading_errand *e = xcalloc(1, sizeof(*e));

	e->errand = (struct errand){ .run = run, .drop = drop };
	e->read = r->read;
	e->root = xstrdup(r->root);
	e->tid = tid;
	return &e->errand;
}

struct process_reader *process_reader_new(const char *root, process_reader_read *read)
{
	struct process_reader *r = xcalloc(1, sizeof(*r));

	r->read = read;
	r->root = xstrdup(root ? root : "");
	return r;
}

/* Forgets the process of a lane; its thread may still be reading it. */
static void clear(struct lane *l)
{
	process_reading_free(STEAL(l->reading));
	free(STEAL(l->since));
	l->since_count = l->since_room = 0;
	l->is_spoilt = false;
	l->tgid = 0;
}

void process_reader_free(struct process_reader *r)
{
	if (!r)
		return;
	for_each_lane(l, r)
	{
		clear(l);
		errands_leave(l->errands);
	}
	free(r->root);
	free(r);
}

/* Takes back what a lane has read. */
static void collect(struct lane *l)
{
	struct reading_errand *e =
		l->is_running ? (struct reading_errand *)errands_take(l->errands) : NULL;

	if (!e)
		return;
	l->is_running = false;
	if (l->tgid)
		l->reading = STEAL(e->reading);
	e->errand.drop(&e->errand);
}

static const struct lane *lane_of(const struct process_reader *r, uint32_t tgid)
{
	for_each_lane(l, (struct process_reader *)r) if (tgid && l->tgid == tgid) return l;
	return NULL;
}

static struct lane *find_lane(struct process_reader *r, uint32_t tgid)
{
	return (struct lane *)lane_of(r, tgid);
}

/* A lane that is free for a process of @user; NULL if there is none. */
static struct lane *free_lane(struct process_reader *r, uid_t user, uint64_t now_ns)
{
	struct lane *found = NULL;
	unsigned int stuck = 0, running = 0;

	for_each_lane(l, r)
	{
		collect(l);
		if (!l->tgid && !l->is_running)
			found = found ?: l;
		running += l->is_running && l->user == user;
		stuck += l->is_running && l->user == user && now_ns > l->asked_ns + STUCK_NS;
	}
	return stuck < STUCK_OF_USER && running < RUNNING_OF_USER ? found : NULL;
}

int process_reader_ask(struct process_reader *r, uint32_t tgid, uint32_t tid, uint64_t now_ns)
{
	uid_t user = account_of(r->root, tgid);
	struct lane *l = free_lane(r, user, now_ns);
	int code;

	if (!l)
		return -EBUSY;
	if (!l->errands) {
		code = errands_new(ERRANDS_PROCESSES, &l->errands, NULL);
		if (code < 0)
			return code;
	}
	l->tgid = tgid;
	l->is_running = true;
	l->user = user;
	l->asked_ns = now_ns;
	l->number = errands_add(l->errands, make_errand(r, tid));
	return 0;
}

bool process_reader_is_asked(const struct process_reader *r, uint32_t tgid, uint64_t *ret_ns)
{
	const struct lane *l = lane_of(r, tgid);

	if (l)
		*ret_ns = l->asked_ns;
	return l;
}

bool process_reader_await(struct process_reader *r, uint32_t tgid, int ms)
{
	const struct lane *l = lane_of(r, tgid);

	return l && (l->reading || errands_wait(l->errands, l->number, ms));
}

/* Adds what the process has mapped since it was asked for. */
static void add_since(const struct lane *l, struct process *p, const struct process_target *to)
{
	size_t i;

	for (i = 0; i < l->since_count; i++)
		process_map(to->table, p, &l->since[i]);
}

int process_reader_take(struct process_reader *r, struct process *p,
			const struct process_target *to, uint64_t until_ns, bool *ret_is_cut)
{
	struct lane *l = find_lane(r, p->tgid);
	int code;

	if (l)
		collect(l);
	if (!l || !l->reading)
		return -EAGAIN;
	*ret_is_cut = l->reading->cut;
	code = l->is_spoilt ? -EOVERFLOW : process_reading_take(l->reading, p, to, until_ns);
	if (code == -EAGAIN)
		return code;
	p->cost_ns = l->reading->took_ns;
	if (code == 0)
		add_since(l, p, to);
	clear(l);
	return code;
}

/* Whether the process has mapped something there since it was asked for. */
static bool is_mapped_since(const struct lane *l, const struct mapping_source *read)
{
	size_t i;

	for (i = 0; i < l->since_count; i++)
		if (l->since[i].start < read->end && l->since[i].end > read->start)
			return true;
	return false;
}

uint64_t process_reader_look(struct process_reader *r, uint32_t tgid,
			     void (*each)(const struct mapping_source *read, void *data),
			     void *data)
{
	struct lane *l = find_lane(r, tgid);
	struct process_reading *reading;
	uint64_t took_ns;
	size_t i;

	if (l)
		collect(l);
	if (!l || !l->reading)
		return 0;
	reading = l->reading;
	took_ns = reading->took_ns;
	for (i = 0; reading->code == 0 && !l->is_spoilt && i < reading->count; i++)
		if (!is_mapped_since(l, &reading->list[i]))
			each(&reading->list[i], data);
	clear(l);
	return took_ns;
}

void process_reader_map(struct process_reader *r, uint32_t tgid, const struct mapping *mapping,
			uint64_t at_ns)
{
	struct lane *l = find_lane(r, tgid);

	if (!l || l->is_spoilt || at_ns < l->asked_ns)
		return;
	l->is_spoilt = l->since_count == SINCE_MAX;
	if (l->is_spoilt)
		return;
	array_grow(&l->since, l->since_count + 1, &l->since_room);
	l->since[l->since_count++] = *mapping;
}

void process_reader_forget(struct process_reader *r, uint32_t tgid, uint64_t at_ns)
{
	struct lane *l = find_lane(r, tgid);

	if (l && at_ns >= l->asked_ns)
		clear(l);
}

void process_reader_restart(struct process_reader *r)
{
	for_each_lane(l, r) if (l->reading)
	{
		maps_unref(STEAL(l->reading->maps));
		l->reading->next = 0;
		l->reading->app_cookie = 0;
	}
}

void process_reader_each_ready(struct process_reader *r, void (*each)(uint32_t tgid, void *data),
			       void *data)
{
	for_each_lane(l, r)
	{
		collect(l);
		if (l->tgid && l->reading)
			each(l->tgid, data);
	}
}
