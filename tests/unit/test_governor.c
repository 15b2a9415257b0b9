/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The governor on a machine that is made of numbers: what a sample costs there is known. */
#include "test.h"

#include "driver/governor.h"
#include "driver/interrupt_cost.h"

#include <math.h>

enum { CPUS = 2, LOOK_MS = 250 };

/* A load, for so long. */
struct phase {
	double seconds, busy; /* of each CPU's time */
	double program_ns;    /* of a sample */
	double own_ns;	      /* of the process, for a sample */
	double own_base;      /* share of one CPU that the process takes anyway */
};

struct machine {
	struct driver_cost costs[CPUS];
	double stretch[CPUS], hz, now_s, own_s;
	unsigned int changes;
	bool refuse;
	uint64_t chance;
};

static struct machine machine; /* for the driver's callback has no data */

static int stretch(struct driver *d _unused_, unsigned int cpu, uint32_t by)
{
	if (machine.refuse)
		return -5;
	CHECK(by >= STRETCH_ONE);
	machine.costs[cpu].stretch = by;
	machine.stretch[cpu] = (double)by / STRETCH_ONE;
	machine.changes++;
	return 0;
}

/* From 0.7 to 1.3. */
static double noise(struct machine *m)
{
	m->chance = m->chance * 6364136223846793005ULL + 1442695040888963407ULL;
	return 0.7 + (double)(m->chance >> 40) / (1 << 24) * 0.6;
}

static const double interrupt_ns = 15000;

/* Lets @ms pass; what that cost, in shares of a CPU's time. */
static double pass(struct machine *m, const struct phase *p, double ms)
{
	double cost = 0, s = ms / 1000;
	int i;

	for (i = 0; i < CPUS; i++) {
		double ticks = m->hz / m->stretch[i] * s, samples = ticks * p->busy;
		double program = samples * p->program_ns * noise(m);
		double own = samples * p->own_ns * noise(m) / 1e9 + p->own_base * s / CPUS;

		m->costs[i].cpu = (unsigned int)i;
		m->costs[i].interrupts += (uint64_t)ticks;
		m->costs[i].samples += (uint64_t)samples;
		m->costs[i].program_ns += (uint64_t)program;
		m->own_s += own;
		cost += ticks * interrupt_ns / 1e9 + program / 1e9 + own;
	}
	m->now_s += s;
	return cost / CPUS;
}

static struct governor_look look_at(const struct machine *m)
{
	return (struct governor_look){ .now_ns = (uint64_t)(m->now_s * 1e9),
				       .own_ns = (uint64_t)(m->own_s * 1e9),
				       .costs = m->costs,
				       .count = CPUS };
}

/* Runs a phase; the share that it cost on average. */
static double run(struct machine *m, struct governor *g, const struct phase *p)
{
	double spent = 0, t;

	for (t = 0; t < p->seconds; t += LOOK_MS / 1000.0) {
		struct governor_look look;

		spent += pass(m, p, LOOK_MS);
		look = look_at(m);
		governor_look(g, &look, stretch, NULL);
	}
	return spent / p->seconds;
}

static void machine_init(struct machine *m, double hz)
{
	*m = (struct machine){ .hz = hz,
			       .costs = { { .cpu = 0 }, { .cpu = 1 } },
			       .stretch = { 1, 1 },
			       .now_s = 1,
			       .chance = 7 };
}

static void the_cost_is_held_while_the_load_changes(void)
{
	static const struct phase phases[] = {
		{ 20, 0.02, 1500, 2000, 0.0004 },
		{ 20, 1, 6000, 15000, 0.0010 }, /* forks: each sample is another file */
		{ 20, 0.9, 1200, 1000, 0.0004 },
		{ 20, 1, 20000, 40000, 0.0004 }, /* with call chains */
		{ 20, 0.02, 1500, 2000, 0.0004 },
	};
	static const double budgets[] = { 0.002, 0.005, 0.02 };
	size_t b, i;

	for (b = 0; b < ARRAY_SIZE(budgets); b++) {
		_cleanup_(governor_freep) struct governor *g =
			governor_new(budgets[b], 0, interrupt_ns);
		struct machine *m = &machine;
		struct governor_look look;

		machine_init(m, 4000);
		look = look_at(m);
		governor_begin(g, &look);
		for (i = 0; i < ARRAY_SIZE(phases); i++) {
			double cost = run(m, g, &phases[i]) / budgets[b];

			if (cost < 0.8 || cost > 1.2) {
				printf("# phase %zu: %.2f of the budget of %g\n", i, cost,
				       budgets[b]);
				CHECK(false);
			}
		}
	}
}

/* The first minute's budget is spent before samples become rarer, and not much more. */
static void a_start_is_sampled_as_asked_for(void)
{
	static const struct phase trial = { 5, 1, 6000, 15000, 0 },
				  later = { 20, 1, 6000, 15000, 0 };
	_cleanup_(governor_freep) struct governor *g = governor_new(0.005, 60, interrupt_ns);
	struct machine *m = &machine;
	struct governor_reading reading;
	struct governor_look look;
	double cost;

	machine_init(m, 1000);
	look = look_at(m);
	governor_begin(g, &look);
	cost = run(m, g, &trial);
	governor_read(g, &reading);
	CHECK(cost > 0.02 && reading.highest == 1 && reading.starting);
	CHECK(fabs((double)reading.cost_ns / (double)reading.cost_of_ns / cost - 1) < 0.2);
	(void)run(m, g, &later);
	governor_read(g, &reading);
	CHECK(!reading.starting && reading.highest > 2);
	cost = run(m, g, &later) / 0.005;
	CHECK(cost > 0.7 && cost < 1.3);
}

static void what_is_cheap_is_sampled_as_asked_for(void)
{
	static const struct phase light = { 10, 1, 1000, 500, 0.0001 };
	_cleanup_(governor_freep) struct governor *g = governor_new(0.005, 0, interrupt_ns);
	struct governor_reading reading;
	struct machine *m = &machine;
	struct governor_look look;

	machine_init(m, 100);
	look = look_at(m);
	governor_begin(g, &look);
	(void)run(m, g, &light);
	CHECK_EQ(m->changes, 0);
	governor_read(g, &reading);
	CHECK(reading.all > 0.0015 && reading.all < 0.0020);
	CHECK(reading.stretch == 1 && reading.highest == 1);
	CHECK(!reading.exceeded);
}

static void the_rate_comes_back_when_it_can(void)
{
	static const struct phase heavy = { 15, 1, 100000, 100000, 0 },
				  light = { 15, 1, 100, 100, 0 };
	_cleanup_(governor_freep) struct governor *g = governor_new(0.005, 0, interrupt_ns);
	struct governor_reading reading;
	struct machine *m = &machine;
	struct governor_look look;

	machine_init(m, 199);
	look = look_at(m);
	governor_begin(g, &look);
	(void)run(m, g, &heavy);
	CHECK(m->stretch[0] > 5);
	governor_read(g, &reading);
	CHECK(reading.highest > 5);
	(void)run(m, g, &light);
	CHECK(m->stretch[0] == 1 && m->stretch[1] == 1);
}

static void each_cpu_has_a_budget_of_its_own(void)
{
	_cleanup_(governor_freep) struct governor *g = governor_new(0.005, 0, interrupt_ns);
	struct machine *m = &machine;
	int i;

	machine_init(m, 199);
	for (i = 0; i < 60; i++) {
		struct governor_look look;

		m->now_s += 0.25;
		m->costs[0] = (struct driver_cost){ 0, m->costs[0].stretch, m->costs[0].samples,
						    m->costs[0].samples, 0 };
		m->costs[1].cpu = 1;
		m->costs[0].samples += (uint64_t)(1000 / m->stretch[0]);
		m->costs[0].interrupts = m->costs[0].samples;
		look = look_at(m);
		governor_look(g, &look, stretch, NULL);
	}
	CHECK(m->stretch[0] > 8);
	CHECK(m->stretch[1] == 1);
}

/* Files, processes, tables: sampling more rarely would save nothing of it. */
static void what_is_taken_anyway_does_not_cost_samples(void)
{
	static const struct {
		double budget, base, lowest, highest; /* stretch in the end */
	} rows[] = {
		{ 0.012, 0.004, 1, 1 },
		{ 0.005, 0.004, 2.2, 4 },
		{ 0.005, 0.006, 3, 10 },
		{ 0.005, 0.020, 6, 20 }, /* the fifth that samples always have */
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct phase tables = { 3, 1, 15000, 15000, 0.05 },
				   on = { 40, 1, 15000, 15000, rows[i].base };
		_cleanup_(governor_freep) struct governor *g =
			governor_new(rows[i].budget, 0, interrupt_ns);
		struct machine *m = &machine;
		struct governor_look look;

		machine_init(m, 199);
		look = look_at(m);
		governor_begin(g, &look);
		(void)run(m, g, &tables);
		CHECK(m->stretch[0] > 1);
		(void)run(m, g, &on);
		printf("# %g: each stands for %.2f\n", rows[i].base, m->stretch[0]);
		CHECK(m->stretch[0] >= rows[i].lowest && m->stretch[0] <= rows[i].highest);
	}
}

static void what_cannot_be_held_is_said(void)
{
	static const struct phase base = { 30, 1, 1000, 1000, 0.05 };
	_cleanup_(governor_freep) struct governor *g = governor_new(0.005, 0, interrupt_ns);
	struct governor_reading reading;
	struct machine *m = &machine;
	struct governor_look look;

	machine_init(m, 1000);
	look = look_at(m);
	governor_begin(g, &look);
	(void)run(m, g, &base);
	governor_read(g, &reading);
	CHECK(reading.exceeded);
	CHECK(reading.highest > 12 && reading.highest < 30);
}

static void a_rate_that_cannot_be_changed_is_not_thought_changed(void)
{
	static const struct phase heavy = { 5, 1, 100000, 100000, 0 };
	_cleanup_(governor_freep) struct governor *g = governor_new(0.005, 0, interrupt_ns);
	struct governor_reading reading;
	struct machine *m = &machine;

	machine_init(m, 1000);
	m->refuse = true;
	(void)run(m, g, &heavy);
	governor_read(g, &reading);
	CHECK(reading.stretch == 1);
}

static void without_a_budget_the_cost_is_only_measured(void)
{
	static const struct phase heavy = { 10, 1, 100000, 100000, 0 };
	_cleanup_(governor_freep) struct governor *g = governor_new(0, 0, interrupt_ns);
	struct governor_reading reading;
	struct machine *m = &machine;
	double cost;

	machine_init(m, 1000);
	cost = run(m, g, &heavy);
	CHECK_EQ(m->changes, 0);
	governor_read(g, &reading);
	CHECK(fabs(reading.all / cost - 1) < 0.1);
	CHECK(!reading.exceeded);
}

static void a_cpu_that_comes_back_starts_over(void)
{
	static const struct phase heavy = { 5, 1, 100000, 100000, 0 };
	_cleanup_(governor_freep) struct governor *g = governor_new(0.005, 0, interrupt_ns);
	struct governor_reading reading;
	struct governor_look look;
	struct machine *m = &machine;

	machine_init(m, 1000);
	(void)run(m, g, &heavy);
	CHECK(m->stretch[1] > 1);
	m->costs[1] = (struct driver_cost){ .cpu = 1 };
	m->stretch[1] = 1;
	m->now_s += 0.25;
	look = look_at(m);
	governor_look(g, &look, NULL, NULL);
	governor_read(g, &reading);
	CHECK(reading.stretch < reading.highest);
	(void)run(m, g, &heavy);
	CHECK(m->stretch[1] > 1);
}

static void an_interrupt_costs_something(void)
{
	double ns = interrupt_cost_ns();

	CHECK(ns >= 100);
	CHECK(ns < 50e6);
}

TESTS(T(the_cost_is_held_while_the_load_changes), T(a_start_is_sampled_as_asked_for),
      T(what_is_cheap_is_sampled_as_asked_for), T(the_rate_comes_back_when_it_can),
      T(each_cpu_has_a_budget_of_its_own), T(what_is_taken_anyway_does_not_cost_samples),
      T(what_cannot_be_held_is_said), T(a_rate_that_cannot_be_changed_is_not_thought_changed),
      T(without_a_budget_the_cost_is_only_measured), T(a_cpu_that_comes_back_starts_over),
      T(an_interrupt_costs_something))
