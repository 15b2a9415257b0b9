/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/code/java_map.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"
#include "jit/attacher.h"

#include <errno.h>

enum { FAILURES_MAX = 3 };
/* The least time between two questions, and the most: of such as are useful, as samples wait for
 * some seconds, and of others. */
static const uint64_t wait_min = NS_PER_S / 4, wait_max = 8 * NS_PER_S,
		      wait_in_vain_max = 30 * NS_PER_S;
/* For each piece of code: a hundred times what its line costs a virtual machine, up to 1.9 us. */
static const uint64_t wait_for_piece = 200000;

void java_map_miss(struct java_map *map, uint64_t time_ns)
{
	map->missed_ns = MAX(map->missed_ns, time_ns);
}

bool java_map_is_due(const struct java_map *map, uint64_t now_ns)
{
	return map->state == JAVA_MAP_IDLE && map->failures < FAILURES_MAX &&
	       map->missed_ns > map->told_ns &&
	       (!map->asked_ns || now_ns - map->asked_ns >= map->wait_ns);
}

void java_map_hurry(struct java_map *map)
{
	map->wait_ns = MIN(map->wait_ns, wait_min);
}

void java_map_ask(struct java_map *map, uint64_t now_ns, size_t count)
{
	map->state = JAVA_MAP_ASKED;
	map->asked_ns = now_ns;
	map->wait_ns = MAX(map->wait_ns, wait_min);
	map->count = count;
}

/* Whether the virtual machine will answer the same again. */
static bool is_final(int code)
{
	return code == -ENOEXEC || code == -ENOSYS || code == -EPERM || code == -EACCES;
}

bool java_map_note(struct java_map *map, const struct attacher_answer *answer)
{
	map->state = answer->code ? JAVA_MAP_IDLE : JAVA_MAP_WRITTEN;
	if (!answer->code) {
		map->failures = 0;
		map->told_ns = map->asked_ns;
		return false;
	}
	/* It has just begun, or has ended. */
	if (answer->code == -EAGAIN || answer->code == -ESRCH)
		return false;
	map->wait_ns = MIN(map->wait_ns * 2, wait_in_vain_max);
	if (answer->code == -EBUSY)
		return true;
	map->failures = is_final(answer->code) ? FAILURES_MAX : map->failures + 1;
	/* One that fails once may be about to exit. */
	if (answer->code == -ENOEXEC || (answer->code != -EOPNOTSUPP && map->failures == 1))
		return false;
	if (!map->has_refused)
		log_info("process %u: no names of its Java code: %s", answer->tgid,
			 attacher_why(answer->code));
	map->has_refused = true;
	return true;
}

void java_map_read(struct java_map *map, size_t count)
{
	uint64_t cost = MIN(count * wait_for_piece, wait_max), least = MAX(cost, wait_min);
	uint64_t more = MIN(map->wait_ns * 2, wait_in_vain_max);
	bool is_new = count > map->count;

	if (map->state != JAVA_MAP_WRITTEN)
		return;
	map->state = JAVA_MAP_IDLE;
	map->wait_ns = is_new ? least : MAX(least, more);
}
