/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The places where ocount counts: a command, processes, threads, some CPUs or all CPUs. The struct
 * is in the caller's storage and owns its lists.
 *
 *	struct ocount_places places = { 0 };
 *	ocount_places_processes(&places, "1,17", &err);
 *	while (!ocount_places_ended(&places)) ...
 *	ocount_places_done(&places);
 */
#pragma once

#include "perf/counting.h"

enum ocount_kind { OCOUNT_COMMAND, OCOUNT_SYSTEM, OCOUNT_PROCESSES, OCOUNT_THREADS, OCOUNT_CPUS };

struct ocount_places {
	enum ocount_kind kind;
	struct counting_place *places;
	int *numbers; /* by place: its CPU or thread */
	size_t count, places_room, numbers_room;
	pid_t *ids; /* OCOUNT_PROCESSES: the processes of the list */
	size_t id_count, id_room;
	char *title; /* "the whole system", "process 17" */
};

/* The command that waits as process @pid. */
void ocount_places_command(struct ocount_places *ret, pid_t pid, char *const *command);
/* Every CPU that is online. */
int ocount_places_system(struct ocount_places *ret, struct error *err);
/* The CPUs of a list such as "0-3,5"; -EINVAL, -ENODEV for one that is not online. */
int ocount_places_cpus(struct ocount_places *ret, const char *list, struct error *err);
/* All threads of the processes of a comma list; -EINVAL, -ESRCH for one that does not exist. */
int ocount_places_processes(struct ocount_places *ret, const char *list, struct error *err);
/* The threads of a comma list; -EINVAL, -ESRCH for one that does not exist. */
int ocount_places_threads(struct ocount_places *ret, const char *list, struct error *err);

/* Whether all processes or threads have ended; false for other places. */
bool ocount_places_ended(const struct ocount_places *places);
/* Frees the lists. */
void ocount_places_done(struct ocount_places *places);
