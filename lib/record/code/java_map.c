/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/code/java_map.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"
#include "jit/attacher.h"
#include "jit/jit_files.h"

#include <errno.h>

enum {
	WANTED_MIN = 2, /* the first search may not have ended yet */
	FAILURES_MAX = 3,
};
/* The process stops nothing while it writes, but its compilers wait; ten thousand methods take some
 * milliseconds. */
static const uint64_t every_min = NS_PER_S, every_max = 30 * NS_PER_S;

void java_map_want(struct attacher *a, const struct jit_files_query *query, uint64_t serial,
		   struct java_map *map)
{
	uint64_t now = clock_now_ns();

	map->wanted++;
	if (map->wanted < WANTED_MIN || map->failures >= FAILURES_MAX || now < map->next_ns)
		return;
	if (!attacher_ask(a, &(struct attacher_question){ .tgid = query->tgid,
							  .inner = query->inner,
							  .serial = serial }))
		return;
	map->every_ns = map->every_ns ? MIN(map->every_ns * 2, every_max) : every_min;
	map->next_ns = now + map->every_ns;
}

/* Whether the virtual machine will answer the same again. */
static bool is_final(int code)
{
	return code == -ENOEXEC || code == -ENOSYS || code == -EPERM || code == -EACCES;
}

void java_map_note(struct java_map *map, const struct attacher_answer *answer)
{
	if (!answer->code)
		map->failures = 0;
	if (!answer->code || answer->code == -EBUSY)
		return;
	if (!map->failures && answer->code != -ENOEXEC)
		log_info("process %u: no names of its Java code: %s", answer->tgid,
			 attacher_why(answer->code));
	map->failures = is_final(answer->code) ? FAILURES_MAX : map->failures + 1;
}
