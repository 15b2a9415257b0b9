/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unwind_differ SAMPLES COMMAND...: samples COMMAND with its registers and a copy of its stack,
 * repeating it until there are SAMPLES. Unwinds every copy by our tables and by libdw, and compares
 * libdw's chain with ours and with the chain that the driver bpf took from the stack itself in the
 * same interrupt; prints what the copies cost. Exits with 1 if a chain differs, or if more than 0.2
 * % end before libdw's. */
#include "base/mem.h"
#include "differ_kernel.h"
#include "differ_libdw.h"
#include "perf/ring.h"
#include "driver/perf/sideband.h"
#include "driver/perf/unwinder.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

enum { STACK_BYTES = 65528 - 1024, RING_BYTES = 16 << 20, DEPTH = 1024, ROUNDS = 4, WARM_MAX = 20 };

struct differ {
	struct cookie_table *cookies;
	struct sideband sideband;
	struct driver_stats stats;
	struct unwinder *unwinder;
	struct in_kernel *in_kernel; /* NULL where it cannot be had */
	pid_t pid;
	bool warming; /* what comes does not count */
	bool loaded;  /* in the last run no table was waited for */
	uint64_t samples;
	struct libdw *libdw;
	uint64_t mapped_at; /* ->changes of the process table when it last got the mappings */
	struct user_stack stack;
	uint64_t theirs[DEPTH], ours[DEPTH];
	size_t their_count, our_count;
	struct tally copied;
	uint64_t our_ns, their_ns, their_frames;
};

static uint64_t cpu_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* A chain of @pcs, compared with theirs. */
static void compare(struct differ *d, const struct process *p, const struct chain *theirs,
		    enum chain_end stop)
{
	_cleanup_free_ struct chain *ours = chain_new(p->maps, theirs->tid, d->ours, d->our_count);

	ours->end = stop;
	tally_add(&d->copied, d->cookies, ours, theirs);
}

/* Unwinds the copy again and again. */
static void time_both(struct differ *d, const struct process *p)
{
	uint64_t since_ns = cpu_ns();
	size_t i;

	for (i = 0; i < ROUNDS; i++)
		(void)unwinder_chain(d->unwinder, p, &d->stack, d->ours, DEPTH, &d->our_count);
	d->our_ns += (cpu_ns() - since_ns) / ROUNDS;
	since_ns = cpu_ns();
	for (i = 0; i < ROUNDS; i++)
		d->their_count = libdw_chain(d->libdw, &d->stack, d->theirs, DEPTH);
	d->their_ns += (cpu_ns() - since_ns) / ROUNDS;
	d->their_frames += d->their_count;
}

static void on_sample(struct differ *d, const struct perf_record *r)
{
	struct process *p = sideband_process(&d->sideband, r->pid, r->tid, 0);
	struct span more = r->more;
	enum chain_end stop;
	struct chain *theirs;

	/* What it starts itself is another matter; and while it executes it is nowhere. */
	if (!p || r->pid != (uint32_t)d->pid || user_stack_decode(&more, &d->stack) != 1 ||
	    !p->maps || !maps_find(p->maps, d->stack.regs[d->stack.reg_count - 1]))
		return;
	if (d->mapped_at != d->sideband.processes.changes)
		libdw_map(d->libdw, p->maps);
	d->mapped_at = d->sideband.processes.changes;
	stop = unwinder_chain(d->unwinder, p, &d->stack, d->ours, DEPTH, &d->our_count);
	d->their_count = libdw_chain(d->libdw, &d->stack, d->theirs, DEPTH);
	theirs = chain_new(p->maps, r->tid, d->theirs, d->their_count);
	d->samples++;
	if (!d->warming) {
		time_both(d, p);
		compare(d, p, theirs, stop);
	}
	if (d->in_kernel)
		in_kernel_theirs(d->in_kernel, theirs);
	else
		free(theirs);
}

static int open_event(pid_t pid)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = 1009000,
		.sample_type = PERF_RECORD_FIELDS | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.sample_regs_user = USER_STACK_REGS,
		.sample_stack_user = STACK_BYTES & ~7,
		.sample_id_all = 1,
		.disabled = 1,
		.enable_on_exec = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.inherit = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.watermark = 1,
		.wakeup_watermark = RING_BYTES / 4,
	};

	return (int)syscall(SYS_perf_event_open, &attr, pid, 0, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Starts the command, which waits for a byte before it executes. */
static pid_t start(char **argv, int *ret_go)
{
	int pipe_fds[2], null;
	cpu_set_t cpus;
	pid_t pid;
	char byte;

	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return -1;
	pid = fork();
	if (pid) {
		(void)close(pipe_fds[0]);
		*ret_go = pipe_fds[1];
		return pid;
	}
	/* One ring is enough for all its threads on one CPU. */
	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	(void)sched_setaffinity(0, sizeof(cpus), &cpus);
	null = open("/dev/null", O_RDWR);
	(void)dup2(null, STDOUT_FILENO);
	(void)dup2(null, STDERR_FILENO);
	(void)close(pipe_fds[1]);
	if (read(pipe_fds[0], &byte, 1) == 1)
		(void)execvp(argv[0], argv);
	_exit(127);
}

static void drain(struct differ *d, struct ring *ring)
{
	struct perf_record r;
	struct span bytes;

	ring_refresh(ring);
	while (ring_peek(ring, &bytes) > 0) {
		if (perf_record_decode(bytes, &r) == 0) {
			if (r.type == PERF_RECORD_SAMPLE)
				on_sample(d, &r);
			else
				sideband_apply(&d->sideband, &r, 0);
		}
		ring_take(ring);
		ring_release(ring);
	}
	if (d->in_kernel)
		in_kernel_drain(d->in_kernel);
}

/* Samples the command until it ends, or @max samples more are there; 0 or -errno. */
static int run(struct differ *d, char **command, uint64_t max)
{
	struct ring ring = { .page = NULL };
	_cleanup_close_ int fd = -1, link = -1, go = -1;
	uint64_t until = d->samples + max;
	int ended = 0;

	d->pid = start(command, &go);
	fd = d->pid < 0 ? -1 : open_event(d->pid);
	if (fd >= 0 && d->in_kernel)
		link = in_kernel_attach(d->in_kernel, fd);
	if (fd < 0 || ring_map(&ring, fd, RING_BYTES) < 0 || write(go, "x", 1) != 1) {
		int r = -errno;

		if (d->pid > 0)
			(void)kill(d->pid, SIGKILL);
		return r;
	}
	if (d->in_kernel)
		in_kernel_begin(d->in_kernel, (uint32_t)d->pid);
	d->libdw = libdw_new(d->cookies, d->pid);
	d->mapped_at = 0;
	while (d->samples < until && ended == 0) {
		(void)poll(&(struct pollfd){ fd, POLLIN, 0 }, 1, 100);
		ended = waitpid(d->pid, NULL, WNOHANG);
		drain(d, &ring);
	}
	if (ended == 0) {
		(void)kill(d->pid, SIGKILL);
		(void)waitpid(d->pid, NULL, 0);
		drain(d, &ring);
	}
	if (d->in_kernel)
		d->loaded = in_kernel_end(d->in_kernel, !d->warming);
	libdw_free(d->libdw);
	ring_done(&ring);
	return 0;
}

static int report(const struct differ *d, const char *command)
{
	const struct tally *t = &d->copied;
	bool good = tally_is_good(t);

	printf("%s:\n", command);
	tally_tell(t, "copied stacks");
	if (d->in_kernel)
		good &= in_kernel_tell(d->in_kernel);
	printf("  ns a frame of a copy: ours %.0f, libdw %.0f\n",
	       t->frames ? (double)d->our_ns / (double)t->frames : 0,
	       d->their_frames ? (double)d->their_ns / (double)d->their_frames : 0);
	return good ? 0 : 1;
}

int main(int argc, char **argv)
{
	struct differ d = { .warming = true };
	struct error err = ERROR_INIT;
	uint64_t max, before;
	int i, r = 0;

	if (argc < 3)
		return 2;
	max = strtoull(argv[1], NULL, 10);
	d.cookies = cookie_table_new();
	d.unwinder = unwinder_new(d.cookies, NULL, 0);
	sideband_init(&d.sideband, &(struct process_source){ NULL, d.cookies }, &d.stats);
	if (in_kernel_new(d.cookies, DEPTH, &d.in_kernel, &err) < 0)
		printf("# not in the kernel: %s\n", err.text);
	/* Tables are loaded in the first runs, for all that the command does. */
	for (i = 0; i < WARM_MAX && d.in_kernel && r == 0 && !d.loaded; i++) {
		d.samples = 0;
		r = run(&d, argv + 2, max);
	}
	d.warming = false;
	d.samples = 0;
	do {
		before = d.samples;
		if (r == 0)
			r = run(&d, argv + 2, max - d.samples);
	} while (r == 0 && d.samples < max && d.samples > before);
	if (r < 0)
		(void)fprintf(stderr, "unwind_differ: cannot sample: %s\n", strerror(-r));
	r = r < 0 ? 3 : report(&d, argv[2]);
	sideband_done(&d.sideband);
	unwinder_free(d.unwinder);
	in_kernel_free(d.in_kernel);
	cookie_table_free(d.cookies);
	return r;
}
