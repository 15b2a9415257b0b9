/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures the cost of reading the CPU buffers: CPU time of sync per sample, and losses, at several
 * rates with every CPU busy; then while processes come and go as fast as possible.
 *
 *	bench_drain [SECONDS [RATE...]]
 *
 * Needs root, because it samples the whole system by the clock. The event buffer is discarded.
 */
#include "base/mem.h"
#include "base/parse.h"
#include "identity/cookie.h"
#include "driver/driver.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

enum { SYNC_MS = 250, STORM_RATE = 4000, WORKERS_MAX = 256 };

/* What is measured of one run. */
struct result {
	struct driver_stats stats;
	uint64_t cpu_ns, words;
	double seconds;
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	(void)clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int count_words(const uint64_t *words _unused_, size_t count, void *data)
{
	*(uint64_t *)data += count;
	return 0;
}

static void spin(void)
{
	volatile uint64_t x = 0;

	for (;;)
		x++;
}

/* Starts children that do nothing, one after the other. */
static void storm(void)
{
	char path[] = "/bin/true", *argv[] = { path, NULL }, *envp[] = { NULL };
	pid_t pid;

	for (;;) {
		if (posix_spawn(&pid, path, NULL, NULL, argv, envp) != 0)
			_exit(1);
		(void)waitpid(pid, NULL, 0);
	}
}

/* Starts @n processes that run @work until killed, or until we are. */
static void start_workers(pid_t *pids, size_t n, void (*work)(void))
{
	size_t i;

	for (i = 0; i < n; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
			work();
		}
	}
}

static void stop_workers(const pid_t *pids, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (pids[i] <= 0)
			continue;
		(void)kill(pids[i], SIGKILL);
		(void)waitpid(pids[i], NULL, 0);
	}
}

/* Syncs for so many seconds as a daemon does. */
static int sample_for(const struct driver_ops *ops, struct driver *d, double seconds,
		      struct result *ret, struct error *err)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC), end = start + (uint64_t)(seconds * 1e9), cpu;
	struct pollfd ready = { ops->fd(d), POLLIN, 0 };
	int r = ops->start(d, err);
	bool last = false;

	while (r == 0 && !last) {
		(void)poll(&ready, 1, SYNC_MS);
		last = clock_ns(CLOCK_MONOTONIC) >= end;
		if (last)
			ops->stop(d);
		cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		r = ops->sync(d, last, err);
		ret->cpu_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	}
	ret->seconds = (double)(clock_ns(CLOCK_MONOTONIC) - start) * 1e-9;
	ops->stats(d, &ret->stats);
	return r;
}

static int measure(uint64_t rate, double seconds, void (*work)(void), struct result *ret,
		   struct error *err)
{
	const struct driver_ops *ops = driver_find("perf");
	struct cookie_table *cookies = cookie_table_new();
	size_t workers = MIN((size_t)sysconf(_SC_NPROCESSORS_ONLN), (size_t)WORKERS_MAX);
	struct driver *driver = NULL;
	pid_t pids[WORKERS_MAX];
	struct event event;
	int r;

	event_timer(&event, rate, true, true);
	*ret = (struct result){ 0 };
	r = ops->setup(&(struct driver_config){ .events = &event,
						.force = true,
						.event_count = 1,
						.cookies = cookies,
						.sink = count_words,
						.sink_data = &ret->words },
		       &driver, err);
	if (r == 0) {
		start_workers(pids, workers, work);
		r = sample_for(ops, driver, seconds, ret, err);
		stop_workers(pids, workers);
	}
	ops->shutdown(driver);
	cookie_table_free(cookies);
	return r;
}

static void print(const char *what, uint64_t rate, const struct result *r)
{
	const struct driver_stats *s = &r->stats;
	double samples = (double)s->sample_received, n = samples > 0 ? samples : 1;

	printf("%-6s %6" PRIu64 " %9.0f %9" PRIu64 " %6" PRIu64 " %6" PRIu64 " %8.4f%% %8.0f "
	       "%7.2f\n",
	       what, rate, samples / r->seconds / (double)sysconf(_SC_NPROCESSORS_ONLN),
	       s->sample_lost_overflow, s->sideband_lost, s->throttled,
	       100 * (double)(s->sample_lost_no_mapping + s->sample_lost_no_mm) / n,
	       (double)r->cpu_ns / n, (double)r->words / n);
}

/* Measures and prints a line; whether it worked. */
static bool line(const char *what, uint64_t rate, double seconds, void (*work)(void))
{
	struct error err = ERROR_INIT;
	struct result result;

	if (measure(rate, seconds, work, &result, &err) < 0) {
		(void)fprintf(stderr, "bench_drain: %s\n", err.text);
		return false;
	}
	print(what, rate, &result);
	return true;
}

int main(int argc, char **argv)
{
	static const uint64_t usual[] = { 997, 4000, 10000, 25000 };
	size_t n = argc > 2 ? (size_t)argc - 2 : ARRAY_SIZE(usual), i;
	uint64_t seconds = 3, rate;

	if (argc > 1 && parse_u64(argv[1], 1, 3600, &seconds) < 0) {
		(void)fprintf(stderr, "usage: bench_drain [SECONDS [RATE...]]\n");
		return 2;
	}
	printf("load   Hz/CPU samples/s      lost sideb. throt-  unattri-   ns CPU   words\n"
	       "                and CPU             lost   tled     buted  /sample /sample\n");
	for (i = 0; i < n; i++) {
		rate = i < ARRAY_SIZE(usual) ? usual[i] : 0;
		if (argc > 2 && parse_u64(argv[i + 2], 1, 1000000, &rate) < 0) {
			(void)fprintf(stderr, "bench_drain: no rate: %s\n", argv[i + 2]);
			return 2;
		}
		if (!line("spin", rate, (double)seconds, spin))
			return 1;
	}
	return line("storm", STORM_RATE, (double)seconds, storm) ? 0 : 1;
}
