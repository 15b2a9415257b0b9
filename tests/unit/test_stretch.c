/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples that stand for more than one, by each driver that works here. */
#include "test.h"

#include "identity/cookie.h"
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
		CHECK_EQ(ops->stretch(d, costs[i].cpu, (uint32_t)(by * STRETCH_ONE)), 0);
	CHECK_EQ(ops->costs(d, costs, ARRAY_SIZE(costs)), n);
	CHECK_EQ(costs[0].stretch, (uint32_t)(by * STRETCH_ONE));
}

/*
 * Samples this process for a while, each sample standing for @by; false if that cannot be here.
 * What came in before all CPUs were stretched is in @before.
 */
static bool sample(const char *name, double by, struct seen *ret, struct driver_stats *before,
		   struct driver_stats *stats)
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
		/* While it samples, counts and what they stand for are of different moments. */
		ops->stop(d);
		CHECK(ops->sync(d, true, &err) >= 0);
		ops->stats(d, before);
		CHECK_EQ(ops->start(d, &err), 0);
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

/* Of a run's samples, each by @by: what they stand for, and that none of them went astray. */
static void check_weights(double by, const struct driver_stats *before,
			  const struct driver_stats *end, const struct seen *seen)
{
	/* Of all processes: the program adds up what comes from one place. */
	double weight = (double)(end->sample_received - before->sample_received);
	double n = weight - (double)(end->sample_stretched - before->sample_stretched);

	printf("# %g: %g samples stand for %.3f each\n", by, n, weight / n);
	CHECK(n > 0);
	/* Rounded by chance: the error of one is below a half. */
	CHECK(fabs(weight / n - by) <= (by == floor(by) ? 1e-9 : 2.5 / sqrt(n)));
	/* All that came in is in the stream, or was somebody else's. */
	CHECK_EQ(end->sample_received - end->sample_filtered,
		 seen->weight + end->sample_lost_no_mapping + end->sample_lost_no_mm +
			 end->sample_lost_no_tree + end->sample_lost_no_path);
}

/* Whether the weights add up to the time spun, but for what a new period loses of it, and chance.
 */
static bool adds_up(double by, const struct seen *seen)
{
	const double periods = SPIN_MS / 1000.0 * HZ;

	return fabs((double)seen->weight / periods - 1) < 0.1 + 5 / sqrt(periods / by);
}

static void check_stretched(const char *name)
{
	static const double rows[] = { 1, 2, 3.5, 7.25 };
	/* A virtual CPU that its host holds back takes no samples, but its time goes on. */
	enum { TRIES = 10 };
	size_t i, tries;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct driver_stats before, end;
		struct seen seen;

		for (tries = 0; tries < TRIES; tries++) {
			if (!sample(name, rows[i], &seen, &before, &end))
				SKIP("no rights to sample, or no such driver");
			check_weights(rows[i], &before, &end, &seen);
			if (adds_up(rows[i], &seen))
				break;
		}
		CHECK(tries < TRIES);
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
