/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/bpf/executables.h"

#include "base/log.h"
#include "base/mem.h"
#include "file/procfs.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <signal.h>

/* Entries that are looked at in a turn, which takes about a millisecond. */
enum { STEP = 1024 };

static bool is_gone(uint32_t tgid)
{
	return kill((pid_t)tgid, 0) < 0 && errno == ESRCH;
}

static void remove_some(struct executables *e)
{
	_cleanup_free_ struct executable *exes = xcalloc(STEP, sizeof(*exes));
	_cleanup_free_ uint32_t *tgids = xcalloc(STEP, sizeof(*tgids));
	uint32_t i, count = map_reader_next(&e->reader, tgids, exes, STEP);

	for (i = 0; i < count; i++)
		if (is_gone(tgids[i]))
			(void)bpf_map_delete_elem(e->reader.map, &tgids[i]);
	e->sweeping = !e->reader.ended;
}

void executables_look(struct executables *e, const struct sampler *sampler, uint64_t full)
{
	if (e->sweeping) {
		remove_some(e);
		return;
	}
	if (full == e->full)
		return;
	e->full = full;
	if (!e->told)
		log_warn("too many processes to keep the program of each: samples of some that "
			 "exit are attributed to 'unknown'");
	e->told = true;
	e->reader = (struct map_reader){ .map = sampler_maps(sampler)->executables };
	/* The numbers are those of the first PID namespace. */
	e->sweeping = procfs_first_pid_namespace();
}
