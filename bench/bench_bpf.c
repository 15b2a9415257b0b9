/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures the cost of a sample: in the BPF program, by the kernel's own account (bpf_stats), and
 * in the thread that drains it; without call chains, with chains by frame pointers and by tables.
 *
 *	bench_bpf SECONDS COMMAND [ARGUMENT]...
 *
 * Meanwhile, the command is started again and again on every CPU.
 */
#include "base/macro.h"
#include "identity/cookie.h"
#include "driver/driver.h"

#include <bpf/bpf.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

enum { SYNC_MS = 250, WARM_UP_SYNCS = 8 };

/* One way of sampling. */
struct way {
	const char *name;
	uint64_t rate;
	unsigned int depth;
	enum driver_chain_mode mode;
};

struct totals {
	uint64_t runs, run_ns; /* of the program */
	uint64_t sync_ns;      /* of the thread */
	struct driver_stats stats;
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	(void)clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int swallow(const uint64_t *words, size_t count, void *data)
{
	(void)words, (void)count, (void)data;
	return 0;
}

/* Starts the command over and over, in a process group of its own. */
static pid_t start_work(char **command)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	(void)setpgid(0, 0);
	if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
		_exit(1);
	for (;;) {
		pid_t child = fork();

		if (child == 0) {
			(void)execvp(command[0], command);
			_exit(127);
		}
		(void)waitpid(child, NULL, 0);
	}
}

static void stop_work(pid_t pid)
{
	(void)kill(-pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
}

/* The program that was loaded last under the sampler's name. */
static int open_program(void)
{
	uint32_t id = 0;
	int fd, last = -1;

	while (bpf_prog_get_next_id(id, &id) == 0) {
		struct bpf_prog_info info = { 0 };
		uint32_t size = sizeof(info);

		fd = bpf_prog_get_fd_by_id(id);
		if (fd < 0)
			continue;
		if (bpf_obj_get_info_by_fd(fd, &info, &size) == 0 &&
		    !strcmp(info.name, "take_sample")) {
			cleanup_closep(&last);
			last = fd;
		} else {
			(void)close(fd);
		}
	}
	return last;
}

static void read_totals(const struct driver_ops *ops, struct driver *d, int program,
			struct totals *ret)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);

	(void)bpf_obj_get_info_by_fd(program, &info, &size);
	ret->runs = info.run_cnt;
	ret->run_ns = info.run_time_ns;
	ops->stats(d, &ret->stats);
}

static void print(const struct way *way, const struct totals *a, const struct totals *b,
		  double seconds)
{
	double samples = (double)(b->stats.sample_received - a->stats.sample_received);
	double runs = (double)(b->runs - a->runs), ns = (double)(b->run_ns - a->run_ns);
	double frames = (double)(b->stats.unwound_frames - a->stats.unwound_frames);

	printf("%-22s %8.0f %8.0f %8.1f %8.0f %9.0f %8.3f %6" PRIu64 "\n", way->name, samples,
	       runs > 0 ? ns / runs : 0, samples > 0 ? frames / samples : 0,
	       frames > 0 ? ns / frames : 0, samples > 0 ? (double)b->sync_ns / samples : 0,
	       (double)b->sync_ns / seconds / 1e7, b->stats.sample_lost_overflow);
}

static int measure(const struct way *way, double seconds, char **command, struct error *err)
{
	const struct driver_ops *ops;
	struct driver *d;
	struct cookie_table *cookies = cookie_table_new();
	struct event event;
	struct driver_config config = { .events = &event,
					.event_count = 1,
					.callgraph_depth = way->depth,
					.callgraph_mode = way->mode,
					.cookies = cookies,
					.sink = swallow };
	struct totals begin = { 0 }, end = { 0 };
	long i, workers = sysconf(_SC_NPROCESSORS_ONLN);
	pid_t pids[64] = { 0 };
	uint64_t started = 0, at;
	int program, r, syncs;

	event_timer(&event, way->rate, true, true);
	r = driver_open("bpf", &config, &ops, &d, err);
	if (r < 0)
		return r;
	program = open_program();
	for (i = 0; i < workers && i < (long)ARRAY_SIZE(pids); i++)
		pids[i] = start_work(command);
	r = ops->start(d, err);
	for (syncs = 0; r == 0; syncs++) {
		struct pollfd ready = { ops->fd(d), POLLIN, 0 };

		(void)poll(&ready, 1, SYNC_MS);
		at = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		r = ops->sync(d, false, err);
		end.sync_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - at;
		if (syncs == WARM_UP_SYNCS) {
			read_totals(ops, d, program, &begin);
			end.sync_ns = 0;
			started = clock_ns(CLOCK_MONOTONIC);
		}
		if (started && clock_ns(CLOCK_MONOTONIC) - started > (uint64_t)(seconds * 1e9))
			break;
	}
	seconds = (double)(clock_ns(CLOCK_MONOTONIC) - started) * 1e-9;
	read_totals(ops, d, program, &end);
	print(way, &begin, &end, seconds);
	for (i = 0; i < workers && i < (long)ARRAY_SIZE(pids); i++)
		stop_work(pids[i]);
	ops->stop(d);
	ops->shutdown(d);
	cleanup_closep(&program);
	cookie_table_free(cookies);
	return r;
}

int main(int argc, char **argv)
{
	static const struct way ways[] = {
		{ "999 Hz", 999, 0, DRIVER_CHAINS_AUTO },
		{ "999 Hz, fp", 999, 127, DRIVER_CHAINS_FP },
		{ "999 Hz, tables", 999, 127, DRIVER_CHAINS_TABLE },
		{ "3989 Hz", 3989, 0, DRIVER_CHAINS_AUTO },
		{ "3989 Hz, fp", 3989, 127, DRIVER_CHAINS_FP },
		{ "3989 Hz, tables", 3989, 127, DRIVER_CHAINS_TABLE },
	};
	struct error err = ERROR_INIT;
	int stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	const char *only = argc > 1 && strncmp(argv[1], "--only=", 7) == 0 ? argv[1] + 7 : NULL;
	size_t i;

	argv += only != NULL;
	argc -= only != NULL;
	if (argc < 3 || stats < 0) {
		(void)fprintf(stderr, "usage (as root): bench_bpf [--only=WAY] SECONDS COMMAND "
				      "[ARGUMENT]...\n");
		return 2;
	}
	printf("%-22s %8s %8s %8s %8s %9s %8s %6s\n", "", "samples", "ns each", "frames",
	       "ns/frame", "drain ns", "drain %", "lost");
	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		if (only && strcmp(only, ways[i].name) != 0)
			continue;
		(void)fflush(stdout); /* or the workers print it, too */
		if (measure(&ways[i], strtod(argv[1], NULL), argv + 2, &err) < 0) {
			(void)fprintf(stderr, "bench_bpf: %s\n", err.text);
			return 1;
		}
	}
	(void)close(stats);
	return 0;
}
