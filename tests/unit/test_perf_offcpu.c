/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/driver/perf/perf_offcpu.c: where tasks left their CPUs, from records to the event buffer. */
#include "driver/perf/perf_offcpu.h"

#include "machine.h"

enum { MS = 1000000 };

/* The scheduler's code, and what called it. */
static const char kallsyms[] = "ffffffff81000000 T _text\n"
			       "ffffffff81100000 T __sched_text_start\n"
			       "ffffffff81100100 t schedule\n"
			       "ffffffff81101000 T __sched_text_end\n";
static const uint64_t schedule = 0xffffffff81100110, waits = 0xffffffff81002000,
		      reads = 0xffffffff81003000;

struct bench {
	struct machine *m;
	struct perf_offcpu o;
	struct evbuf_frame frames[8];
};

static void bench_init(struct bench *b, size_t depth)
{
	_cleanup_free_ char *path = NULL;

	*b = (struct bench){ .m = machine_new() };
	path = path_join(b->m->root, "proc/kallsyms");
	CHECK_EQ(path_make_parents(path, 0755, NULL), 0);
	CHECK_EQ(path_write(path, kallsyms, 0644, NULL), 0);
	proc_process(b->m, 70, 1, "/bin/a");
	proc_kernel_thread(b->m, 9, "kworker/0:1");
	sideband_read_all(&b->m->sideband, tick(b->m));
	if (depth) {
		b->m->attribution.frames = b->frames;
		b->m->attribution.depth = depth;
	}
	perf_offcpu_init(&b->o, &b->m->attribution, 3, b->m->root);
}

static void bench_done(struct bench *b)
{
	perf_offcpu_done(&b->o);
	machine_free(b->m);
}
#define BENCH(b, depth)                                                                            \
	_cleanup_(bench_done) struct bench b;                                                      \
	bench_init(&b, depth)

/* A task leaves; the chain is that of the kernel's sample. */
static void leave_at(struct bench *b, uint32_t tid, uint64_t time_ns, const uint64_t *chain,
		     size_t count)
{
	struct perf_record r;

	bytes_chain_sample(&b->m->bytes, KERNEL, tid, schedule, chain, count);
	CHECK_EQ(perf_record_decode(span_of(b->m->bytes.text, b->m->bytes.length), &r), 0);
	r.time_ns = time_ns;
	perf_offcpu_leave(&b->o, &r, b->m->now_ns);
}
#define LEAVE(b, tid, time_ns, ...)                                                                \
	leave_at(&(b), (tid), (time_ns), (const uint64_t[]){ __VA_ARGS__ },                        \
		 sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static void come_back(struct bench *b, uint32_t tid, uint64_t time_ns)
{
	const struct perf_record r = {
		.type = PERF_RECORD_SWITCH_CPU_WIDE, .pid = tid, .tid = tid, .time_ns = time_ns
	};

	perf_offcpu_change(&b->o, 1, &r);
}

/* What came out; and how many intervals were counted, and lost. */
static void see(struct bench *b, const char *lines, uint64_t intervals, uint64_t lost)
{
	struct driver_stats stats = { 0 };

	CHECK_EQ(evbuf_flush(b->m->out), 0);
	CHECK_STR(strbuf_text(&b->m->seen), lines);
	strbuf_clear(&b->m->seen);
	perf_offcpu_stats(&b->o, &stats);
	CHECK_EQ(stats.offcpu_intervals, intervals);
	CHECK_EQ(stats.offcpu_lost, lost);
}

/* The sum of the squares of the intervals, in milliseconds. */
static uint64_t squares(const struct bench *b)
{
	struct driver_stats stats = { 0 };

	perf_offcpu_stats(&b->o, &stats);
	return stats.offcpu_squares;
}

#define KERNEL_PART (uint64_t) PERF_CONTEXT_KERNEL, schedule, waits, reads
#define USER_PART   (uint64_t) PERF_CONTEXT_USER, 0x400010, 0x400020

static void interval_counts_where_the_program_entered_the_kernel(void)
{
	BENCH(b, 0);

	LEAVE(b, 70, 5 * MS, KERNEL_PART, USER_PART);
	see(&b, "", 0, 0);
	come_back(&b, 70, 7 * MS);
	see(&b, "/bin/a /bin/a+1010 x2000\n", 1, 0);
	come_back(&b, 70, 9 * MS); /* once */
	see(&b, "", 1, 0);
	CHECK_EQ(squares(&b), 4);
	LEAVE(b, 70, 10 * MS, KERNEL_PART, USER_PART);
	come_back(&b, 70, 13 * MS);
	CHECK_EQ(squares(&b), 13);
}

static void chain_has_the_callers_in_the_program(void)
{
	BENCH(b, 8);

	LEAVE(b, 70, 5 * MS, KERNEL_PART, USER_PART);
	come_back(&b, 70, 6 * MS);
	see(&b, "/bin/a /bin/a+1010 x1000\n/bin/a /bin/a+1020\nfp_end\n", 1, 0);
}

/* All of them leave in the scheduler: the function that called it is the place. */
static void kernel_thread_counts_at_the_caller_of_the_scheduler(void)
{
	BENCH(b, 0);

	LEAVE(b, 9, 5 * MS, KERNEL_PART);
	come_back(&b, 9, 6 * MS);
	see(&b, "kworker kernel+ffffffff81002000 x1000\n", 1, 0);
}

static void kernel_thread_has_its_callers_too(void)
{
	BENCH(b, 8);

	LEAVE(b, 9, 5 * MS, KERNEL_PART);
	come_back(&b, 9, 6 * MS);
	see(&b,
	    "kworker kernel+ffffffff81002000 x1000\nkworker kernel+ffffffff81003000\ncomplete\n", 1,
	    0);
}

/* A program of which only the kernel's part is known: it has another part, which is not seen. */
static void program_without_its_own_part_says_so(void)
{
	BENCH(b, 8);

	LEAVE(b, 70, 5 * MS, KERNEL_PART);
	come_back(&b, 70, 6 * MS);
	see(&b, "/bin/a kernel+ffffffff81002000 x1000\n/bin/a kernel+ffffffff81003000\nno_user\n",
	    1, 0);
}

static void chain_is_cut_at_its_depth(void)
{
	BENCH(b, 1);

	LEAVE(b, 9, 5 * MS, KERNEL_PART);
	come_back(&b, 9, 6 * MS);
	see(&b, "kworker kernel+ffffffff81002000 x1000\ncomplete\n", 1, 0);
}

static void place_in_no_mapping_is_lost(void)
{
	BENCH(b, 0);

	LEAVE(b, 70, 5 * MS, KERNEL_PART, (uint64_t)PERF_CONTEXT_USER, 0xa00010);
	see(&b, "", 0, 1);
	LEAVE(b, 99, 5 * MS, KERNEL_PART, USER_PART); /* a process that nobody knows */
	see(&b, "", 0, 2);
	come_back(&b, 70, 6 * MS);
	see(&b, "", 0, 2);
}

static void idle_task_and_other_processes_do_not_count(void)
{
	BENCH(b, 0);

	proc_process(b.m, 5, 1, "/bin/stranger");
	b.m->sideband.follow = 70;
	sideband_read_all(&b.m->sideband, tick(b.m));
	LEAVE(b, 0, 5 * MS, KERNEL_PART);
	LEAVE(b, 5, 5 * MS, KERNEL_PART, USER_PART);
	LEAVE(b, 70, 5 * MS, KERNEL_PART, USER_PART);
	perf_offcpu_end(&b.o, 8 * MS);
	see(&b, "/bin/a /bin/a+1010 x3000\n", 1, 0);
}

static void lost_records_end_what_was_known(void)
{
	const struct perf_record lost = { .type = PERF_RECORD_LOST, .lost = 1 };
	BENCH(b, 0);

	LEAVE(b, 70, 5 * MS, KERNEL_PART, USER_PART);
	perf_offcpu_change(&b.o, 1, &lost);
	come_back(&b, 70, 6 * MS);
	see(&b, "", 0, 0);
}

TESTS(T(interval_counts_where_the_program_entered_the_kernel),
      T(chain_has_the_callers_in_the_program),
      T(kernel_thread_counts_at_the_caller_of_the_scheduler), T(kernel_thread_has_its_callers_too),
      T(program_without_its_own_part_says_so), T(chain_is_cut_at_its_depth),
      T(place_in_no_mapping_is_lost), T(idle_task_and_other_processes_do_not_count),
      T(lost_records_end_what_was_known))
