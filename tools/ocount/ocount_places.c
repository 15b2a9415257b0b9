/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/ocount/ocount_places.h"

#include "base/mem.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "file/procfs.h"
#include "perf/cpulist.h"
#include "process/process_read.h"

#include <errno.h>
#include <string.h>

static void add_place(struct ocount_places *p, struct counting_place place)
{
	array_grow(&p->places, p->count + 1, &p->places_room);
	array_grow(&p->numbers, p->count + 1, &p->numbers_room);
	p->places[p->count] = place;
	p->numbers[p->count++] = place.cpu < 0 ? place.tid : place.cpu;
}

static void add_thread(uint32_t tid, void *data)
{
	add_place(data, (struct counting_place){ .tid = (pid_t)tid, .cpu = -1 });
}

static void add_cpu(struct ocount_places *p, unsigned int cpu)
{
	add_place(p, (struct counting_place){ .tid = -1, .cpu = (int)cpu });
}

void ocount_places_command(struct ocount_places *ret, pid_t pid, char *const *command)
{
	_cleanup_(strbuf_done) struct strbuf title = STRBUF_INIT;

	for (; *command; command++)
		strbuf_addf(&title, "%s%s", title.length ? " " : "", *command);
	ret->kind = OCOUNT_COMMAND;
	ret->title = strbuf_take(&title);
	add_thread((uint32_t)pid, ret);
}

static int find_online(unsigned int **ret, struct error *err)
{
	int count = cpulist_online("", ret);

	return count < 0 ? error_errno(err, count, "the list of CPUs that are online") : count;
}

int ocount_places_system(struct ocount_places *ret, struct error *err)
{
	_cleanup_free_ unsigned int *online = NULL;
	int i, count = find_online(&online, err);

	if (count < 0)
		return count;
	ret->kind = OCOUNT_SYSTEM;
	ret->title = xstrdup("the whole system");
	for (i = 0; i < count; i++)
		add_cpu(ret, online[i]);
	return 0;
}

static bool is_member(unsigned int cpu, const unsigned int *cpus, int count)
{
	int i;

	for (i = 0; i < count; i++)
		if (cpus[i] == cpu)
			return true;
	return false;
}

int ocount_places_cpus(struct ocount_places *ret, const char *list, struct error *err)
{
	_cleanup_free_ unsigned int *online = NULL, *wanted = NULL;
	int i, count = cpulist_parse(list, &wanted), online_count;

	if (count < 0)
		return error_set(err, count, "--cpu-list=%s: not a rising list such as 0-3,5",
				 list);
	online_count = find_online(&online, err);
	if (online_count < 0)
		return online_count;
	for (i = 0; i < count; i++) {
		if (!is_member(wanted[i], online, online_count))
			return error_set(err, -ENODEV, "--cpu-list=%s: CPU %u is not online", list,
					 wanted[i]);
		add_cpu(ret, wanted[i]);
	}
	ret->kind = OCOUNT_CPUS;
	ret->title = xasprintf("%s %s", count == 1 ? "CPU" : "CPUs", list);
	return 0;
}

/* Adds a number to ->ids, once. */
static int add_id(const char *part, void *data)
{
	struct ocount_places *p = data;
	uint64_t id;
	size_t i;

	if (parse_u64(part, 1, INT32_MAX, &id) < 0)
		return -EINVAL;
	for (i = 0; i < p->id_count; i++)
		if (p->ids[i] == (pid_t)id)
			return 0;
	array_grow(&p->ids, p->id_count + 1, &p->id_room);
	p->ids[p->id_count++] = (pid_t)id;
	return 0;
}

static int read_ids(struct ocount_places *p, const char *option, const char *what, const char *list,
		    struct error *err)
{
	if (parse_list(list, ',', add_id, p) < 0 || !p->id_count)
		return error_set(err, -EINVAL, "--%s=%s: not a list of numbers such as 17,42",
				 option, list);
	p->title = xasprintf("%s %s", what, list);
	return 0;
}

int ocount_places_processes(struct ocount_places *ret, const char *list, struct error *err)
{
	size_t i, before;

	ret->kind = OCOUNT_PROCESSES;
	if (read_ids(ret, "process-list", strchr(list, ',') ? "processes" : "process", list, err) <
	    0)
		return -EINVAL;
	for (i = 0; i < ret->id_count; i++) {
		before = ret->count;
		if (process_is_gone("", (uint32_t)ret->ids[i]) ||
		    procfs_tids("", (uint32_t)ret->ids[i], add_thread, ret) < 0 ||
		    ret->count == before)
			return error_set(err, -ESRCH, "no process %d", ret->ids[i]);
	}
	return 0;
}

static bool thread_is_gone(pid_t tid)
{
	struct procfs_stat st;

	return procfs_stat("", (uint32_t)tid, &st) < 0 || st.state == 'Z' || st.state == 'X';
}

int ocount_places_threads(struct ocount_places *ret, const char *list, struct error *err)
{
	size_t i;

	ret->kind = OCOUNT_THREADS;
	if (read_ids(ret, "thread-list", strchr(list, ',') ? "threads" : "thread", list, err) < 0)
		return -EINVAL;
	for (i = 0; i < ret->id_count; i++) {
		if (thread_is_gone(ret->ids[i]))
			return error_set(err, -ESRCH, "no thread %d", ret->ids[i]);
		add_thread((uint32_t)ret->ids[i], ret);
	}
	return 0;
}

bool ocount_places_ended(const struct ocount_places *places)
{
	size_t i;

	for (i = 0; i < places->id_count; i++)
		if (places->kind == OCOUNT_THREADS ? !thread_is_gone(places->ids[i])
						   : !process_is_gone("", (uint32_t)places->ids[i]))
			return false;
	return places->id_count > 0;
}

void ocount_places_done(struct ocount_places *places)
{
	free(places->places);
	free(places->numbers);
	free(places->ids);
	free(places->title);
	*places = (struct ocount_places){ 0 };
}
