/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "driver/wander.h"

#include <math.h>

/* A program that works @work_hz times a second, in the first 30 % of each cycle, sampled @rate
 * times a second for so long. */
struct run {
	double work_hz, rate, seconds;
};

struct counted {
	double samples, working;
};

static struct counted sample(const struct run *run, uint64_t chance, bool wanders)
{
	struct counted c = { 0 };
	double now = 0, changed = 0, since = 0, period = 1 / run->rate;
	double phase = (double)(chance % 10) / 10;
	struct wander w;

	wander_init(&w, chance);
	period *= wanders ? w.factor : 1;
	while (now < run->seconds) {
		/* Somebody looks four times a second, and not at the end of a period. */
		double look = changed + 0.2571;

		if (look < now + period) {
			changed = look;
			if (wanders &&
			    wander_is_due(&w, (uint64_t)(look * 1e9), c.samples - since)) {
				wander_change(&w, (uint64_t)(look * 1e9), c.samples - since);
				period = w.factor / run->rate;
				since = c.samples;
				now = look;
			}
			continue;
		}
		now += period;
		c.samples++;
		c.working += fmod(now * run->work_hz + phase, 1) < 0.3;
	}
	return c;
}

/* Whatever the program's rate is to that of samples: its share is right. */
static void work_in_step_is_counted_right(void)
{
	static const struct run rows[] = {
		{ 1000, 1000, 100 }, { 1000, 997, 100 }, { 500, 1000, 100 }, { 100, 100, 400 },
		{ 2000, 1000, 100 }, { 99, 99, 400 },	 { 1, 1000, 100 },
	};
	size_t i, chance;
	double off = 0;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		for (chance = 0; chance < 40; chance++) {
			struct counted c = sample(&rows[i], chance, true);
			struct counted fixed = sample(&rows[i], chance, false);

			if (!CHECK(fabs(c.working / c.samples - 0.3) < 0.03))
				printf("# row %zu, %zu: %.3f\n", i, chance, c.working / c.samples);
			off = fmax(off, fabs(fixed.working / fixed.samples - 0.3));
		}
	}
	CHECK(off > 0.6); /* of periods that do not wander */
}

/* The number of samples is that of the rate, although each change loses part of a period. */
static void samples_are_as_many_as_requested(void)
{
	static const struct run rows[] = { { 1, 1000, 400 }, { 1, 100, 4000 }, { 1, 7919, 100 } };
	size_t i, chance;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		double all = 0;

		for (chance = 0; chance < 30; chance++)
			all += sample(&rows[i], chance * 7919, true).samples;
		all /= 30 * rows[i].rate * rows[i].seconds;
		if (!CHECK(fabs(all - 1) < 0.001))
			printf("# row %zu: %.5f\n", i, all);
	}
}

static void rare_samples_do_not_wander(void)
{
	struct wander w;

	wander_init(&w, 1);
	CHECK(!wander_is_due(&w, UINT64_C(100000000000), 10));
	CHECK(wander_is_due(&w, UINT64_C(100000000000), 1000));
	wander_change(&w, UINT64_C(100000000000), 1000);
	CHECK(!wander_is_due(&w, UINT64_C(100100000000), 1000));
}

TESTS(T(work_in_step_is_counted_right), T(samples_are_as_many_as_requested),
      T(rare_samples_do_not_wander))
