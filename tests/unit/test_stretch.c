/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples that stand for more than one, by each driver that works here. */
#include "test.h"

#include "driver/cookie.h"
#include "driver/driver.h"

#include <math.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

enum { HZ = 1000, SPIN_MS = 300 };

/* Samples as the event buffer has them. */
struct seen {
	uint64_t samples, weight;
};

static int take(const uint64_t *words, size_t count, void *data)
{
	static const uint8_t behind[64] = {
#define X(name, number, words) [number] = words,
		EVBUF_CODES(X)
#undef X
	};
	struct seen *seen = data;
	uint64_t weight = 1;
	size_t i = 0;

	while (i + 1 < count) {
		if (words[i] != EVBUF_ESCAPE) {
			seen->samples++;
			seen->weight += weight;
			weight = 1;
			i += 2;
			continue;
		}
		if (words[i + 1] == EVBUF_WEIGHT)
			weight = words[i + 2];
		i += 2 + behind[words[i + 1] % 64];
	}
	return 0;
}

static double cpu_s(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void spin(double seconds)
{
	double end = cpu_s() + seconds;

	while (cpu_s() < end)
		;
}

static void stretch_all(const struct driver_ops *ops, struct driver *d, double by)
{
	struct driver_cost costs[64];
	size_t i, n = ops->costs(d, costs, ARRAY_SIZE(costs));

	CHECK(n > 0);
	for (i = 0; i < n; i++)
		CHECK_EQ(ops->stretch(d, costs[i].cpu, (uint32_t)(by * DRIVER_STRETCH_ONE)), 0);
	CHECK_EQ(ops->costs(d, costs, ARRAY_SIZE(costs)), n);
	CHECK_EQ(costs[0].stretch, (uint32_t)(by * DRIVER_STRETCH_ONE));
}

/* Samples this process for a while, each sample standing for @by; false if that cannot be here. */
static bool sample(const char *name, double by, struct seen *ret, struct driver_stats *stats)
{
	struct cookie_table *cookies = cookie_table_new();
	struct event event = { 0 };
	const struct driver_config config = { .events = &event,
					      .event_count = 1,
					      .scope = DRIVER_TREE,
					      .pid = getpid(),
					      .timer_hz = HZ,
					      .cookies = cookies,
					      .sink = take,
					      .sink_data = ret };
	const struct driver_ops *ops;
	struct error err = ERROR_INIT;
	struct driver *d = NULL;
	bool opened;

	*ret = (struct seen){ 0 };
	event_timer(&event, HZ, true, true);
	opened = driver_open(name, &config, &ops, &d, &err) == 0;
	if (opened) {
		CHECK_EQ(ops->start(d, &err), 0);
		stretch_all(ops, d, by);
		spin(SPIN_MS / 1000.0);
		ops->stop(d);
		CHECK(ops->sync(d, true, &err) >= 0);
		ops->stats(d, stats);
		ops->shutdown(d);
	} else {
		printf("# %s\n", err.text);
	}
	cookie_table_free(cookies);
	return opened;
}

/* What is lost of a CPU's time where a period is begun anew, and chance, for @n samples. */
static double tolerance(double n)
{
	return 0.1 + 5 / sqrt(n);
}

static void check_stretched(const char *name)
{
	static const double rows[] = { 1, 2, 3.5, 7.25 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct driver_stats stats;
		double taken = SPIN_MS / 1000.0 * HZ / rows[i], mean;
		struct seen seen;

		if (!sample(name, rows[i], &seen, &stats))
			SKIP("no rights to sample, or no such driver");
		/* Of all processes: the program adds up what comes from one place. */
		mean = (double)stats.sample_received /
		       (double)(stats.sample_received - stats.sample_stretched);
		printf("# %s: %g: a sample stands for %.3f\n", name, rows[i], mean);
		CHECK(seen.samples > 0);
		/* Rounded by chance: the error of one is below a half. */
		CHECK(fabs(mean - rows[i]) <=
		      (rows[i] == floor(rows[i]) ? 1e-9 : 2.5 / sqrt(taken)));
		CHECK(fabs((double)seen.weight / (SPIN_MS / 1000.0 * HZ) - 1) < tolerance(taken));
		/* All that came in is in the stream, or was somebody else's. */
		CHECK_EQ(stats.sample_received - stats.sample_filtered,
			 seen.weight + stats.sample_lost_no_mapping + stats.sample_lost_no_mm +
				 stats.sample_lost_no_tree + stats.sample_lost_no_path);
	}
}

static void the_program_in_the_kernel_weighs_samples(void)
{
	check_stretched("bpf");
}

static void samples_from_the_rings_are_weighed(void)
{
	check_stretched("perf");
}

TESTS(T(the_program_in_the_kernel_weighs_samples), T(samples_from_the_rings_are_weighed))
