/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel half of the driver "bpf". At each counter overflow or clock tick it converts the
 * program counter to a file and an offset, with the mappings of that moment, and counts it by
 * process, CPU and event. To read the counts, user space begins another round and reads those of
 * the last one.
 *
 * The verifier looks at a function that is not static once, alone, with any arguments of its types,
 * and at a static one again at each call. So what needs no pointer of the kernel's is not static:
 * looking at all took three times as long.
 */
#include "arch.bpf.h"
#include "chain.bpf.h"
#include "count.bpf.h"
#include "follow.bpf.h"
#include "maps.bpf.h"
#include "offcpu.bpf.h"
#include "place.bpf.h"
#include "place_app.bpf.h"
#include "skipped.bpf.h"

char gpl[] SEC("license") = "GPL";

static __always_inline void take(struct perf_event_context *context, struct run *run)
{
	__u64 ids = bpf_get_current_pid_tgid();

	run->totals->received++;
	run->totals->stood_for += run->weight - 1;
	run->scratch->key.tgid = ids >> 32;
	run->scratch->key.tid = (__u32)ids;
	if (is_filtered(run->scratch->key.tgid)) {
		run->totals->filtered += run->weight;
		return;
	}
	if (config.cgroups)
		run->scratch->key.cgroup = (__u32)bpf_get_current_cgroup_id();
	if (config.comms)
		bpf_get_current_comm(run->scratch->key.comm, SAMPLE_COMM_BYTES);
	run->scratch->key.cpu = (__u16)bpf_get_smp_processor_id();
	run->scratch->key.counter = (__u8)bpf_get_attach_cookie(context);
	(void)mappings_begin(run);
	place_app(run);
	if (registers_in_user(&context->registers)) {
		if (!place_user(run, context->registers.ip))
			return;
	} else {
		run->scratch->key.place = SAMPLE_KERNEL;
		run->scratch->key.offset = context->registers.ip;
	}
	if (config.depth)
		place_chain(context, run);
	if (run->scratch->key.place == SAMPLE_KERNEL)
		note_moment(run, SAMPLE_SLOT_EVENT);
	mappings_end(run);
	count(run);
}

/* Runs on every sample. Returns nonzero if perf should also write its own record. */
SEC("perf_event")
int take_sample(struct perf_event_context *context)
{
	__u64 since_ns = bpf_ktime_get_ns();
	struct run run;

	if (!run_begin(&run, SAMPLE_SLOT_EVENT))
		return config.pass_on;
	run.gate->is_due = 0;
	run.scratch->key = (struct sample_key){ 0 };
	run.weight = run.loss = weigh(run.gate);
	pass_gate(&run);
	take(context, &run);
	wake_late(SAMPLE_SLOT_EVENT, since_ns);
	wake_late(SAMPLE_SLOT_PROCESS, since_ns);
	pass_gate(&run);
	run.totals->run_ns += bpf_ktime_get_ns() - since_ns;
	return config.pass_on;
}

/* The self-test: looks up an address of the process that runs it, which knows the correct
 * result. */
SEC("raw_tp")
int test_self(__u64 *context)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct sample_image *image;
	struct scratch *scratch;
	struct file *file;
	__u32 zero = 0;
	struct vma vma = { 0 };

	scratch = bpf_map_lookup_elem(&scratches, &zero);
	if (!scratch || vma_find(context[0], VMA_EXECUTABLE, &scratch->node, &vma) != VMA_FOUND ||
	    !vma.file)
		return 0;
	image = &scratch->image;
	file = vma.file;
	path_fill(&scratch->walk, file, task, image);
	control.test_region = (struct sample_region){ vma.start, vma.end };
	control.test_offset = vma.page_offset << SAMPLE_PAGE_SHIFT;
	control.test_seen = image->seen;
	file_identity(BPF_CORE_READ(file, f_inode), &control.test_file);
	control.found = 1;
	return 0;
}
