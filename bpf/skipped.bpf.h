/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts the samples of clocks that the kernel skips. While a program of a perf event, a kprobe or
 * a tracepoint runs on a CPU, or a system call changes a map, it runs no program of a perf event
 * there, and counts that nowhere. But a clock is a timer, and a program of a raw tracepoint always
 * runs when a timer expires: take_sample must have run before the same timer expires again.
 */
#pragma once

#include "follow.bpf.h"
#include "maps.bpf.h"

/* Whether @timer belongs to a clock that take_sample is attached to, and that samples everywhere
 * except in the idle task. */
static __always_inline bool is_our_clock(__u64 timer)
{
	struct perf_event *event =
		(void *)timer - bpf_core_field_offset(struct perf_event, hw.hrtimer);

	return BPF_CORE_READ(event, prog, aux, id) == control.program &&
	       !BPF_CORE_READ_BITFIELD_PROBED(event, attr.exclude_user) &&
	       !BPF_CORE_READ_BITFIELD_PROBED(event, attr.exclude_kernel);
}

/* Looks at a timer that is not known to be the clock of this CPU. The gate remembers some that are
 * not, which is quicker than asking. */
static __noinline int meet_timer(struct sample_gate *gate, __u64 timer)
{
	__u64 *known;

	if (!gate)
		return 0;
	known = &gate->no_clocks[timer >> 6 & (SAMPLE_NO_CLOCKS - 1)];
	if (*known == timer)
		return 0;
	if (!is_our_clock(timer)) {
		*known = timer;
		return 0;
	}
	gate->clock = timer;
	gate->is_due = 0;
	return 1;
}

/* Counts a sample that was due when the clock expired the last time, and was not taken. */
static __noinline int count_skipped(struct sample_gate *gate, __u64 timer)
{
	__u32 slot = SAMPLE_SLOT_EVENT;
	struct sample_counters *totals = bpf_map_lookup_elem(&counters, &slot);

	if (gate && totals && is_our_clock(timer))
		totals->skipped += weigh(gate);
	return 0;
}

SEC("raw_tp/hrtimer_expire_entry")
int skip_sample(__u64 *context)
{
	__u32 place = run_place(SAMPLE_SLOT_EVENT);
	struct sample_gate *gate = bpf_map_lookup_elem(&gates, &place);
	__u64 timer = context[0], ids;

	if (!gate || (timer != gate->clock && !meet_timer(gate, timer)))
		return 0;
	if (gate->is_due)
		(void)count_skipped(gate, timer);
	ids = bpf_get_current_pid_tgid();
	gate->is_due = ids && !is_filtered(ids >> 32);
	return 0;
}
