/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of the kernel's rings: lib/perf/ring.c, perf_record.c, ring_merge.c. The input is the
 * content of a ring, stored from the middle on so that it wraps. */
#include "fuzz.h"

#include "base/mem.h"
#include "perf/ring_merge.h"
#include "perf/user_stack.h"

#include <string.h>

enum { RING_SIZE = 4096 };

/* Reads every byte of what was decoded. */
static void look(size_t cpu, const struct perf_record *r, void *data)
{
	size_t *strings = data;

	(void)cpu;
	if (r->type == PERF_RECORD_MMAP2)
		*strings += strlen(r->map.path);
	if (r->type == PERF_RECORD_CGROUP)
		*strings += strlen(r->new_cgroup.path);
	if (r->type == PERF_RECORD_COMM)
		*strings += strlen(r->comm.name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ uint8_t *memory = xcalloc(1, RING_SIZE);
	struct perf_event_mmap_page page = { .data_tail = RING_SIZE / 2 };
	struct perf_record record;
	size_t i, strings = 0;
	struct ring ring;
	struct ring_merge_cpu cpu = { .sideband = &ring };
	const struct ring_merge_handler handler = { look, look, &strings };

	struct user_stack stack;
	struct span words;
	__u64 word;

	if (perf_record_decode(span_of(data, size), &record) == 0 &&
	    record.type == PERF_RECORD_SAMPLE && perf_record_callchain(&record.more, &words) == 0 &&
	    user_stack_decode(&record.more, &stack) == 1)
		for (i = 0; i < size; i++)
			(void)user_stack_read(&stack, stack.sp + i, &word);
	ring_init(&ring, &page, memory, RING_SIZE);
	for (i = 0; i < size && i < RING_SIZE; i++)
		memory[(page.data_tail + i) % RING_SIZE] = data[i];
	page.data_head = page.data_tail + i;
	ring_merge_run(&cpu, 1, UINT64_MAX, &handler);
	if (page.data_tail != page.data_head)
		abort();
	ring_done(&ring);
	return 0;
}
