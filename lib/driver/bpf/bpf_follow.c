/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/bpf/bpf_follow.h"

#include "process/process_read.h"

/* Adds descendants to the table and names all of it to the program; 0 or -errno. */
static int follow_found(struct process_table *processes, struct sampler *sampler)
{
	int r = 0;

	process_follow_children(processes, "");
	map_for_each (&processes->by_tgid, slot)
		if (((const struct process *)slot->value)->followed && r == 0)
			r = sampler_follow(sampler, (uint32_t)slot->key, SAMPLE_FOLLOW_ON);
	return r;
}

int bpf_follow_start(struct bpf_follow *f, struct sampler *sampler, struct error *err)
{
	struct process_table processes = PROCESS_TABLE_INIT;
	int i, r = 0;

	process_asked_note(&f->asked, "", f->pid, f->others, f->other_count);
	process_asked_follow(&f->asked, &processes);
	if (f->await_exec)
		r = sampler_follow(sampler, (uint32_t)f->pid, SAMPLE_FOLLOW_WAITING);
	/* Twice: one may fork while /proc is read, but once its parent is in the program's table,
	 * the program sees that. */
	for (i = 0; i < 2 && r == 0 && !f->await_exec; i++)
		r = follow_found(&processes, sampler);
	process_table_clear(&processes);
	if (r < 0)
		return error_errno(err, r, "cannot follow process %d", f->pid);
	f->await_exec = false;
	return 0;
}

void bpf_follow_done(struct bpf_follow *f)
{
	process_asked_done(&f->asked);
}
