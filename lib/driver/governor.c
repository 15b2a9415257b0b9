/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/governor.h"

#include "base/hash.h"
#include "base/mem.h"

#include <math.h>
#include <string.h>

/* Control parameters. Times are in seconds. */
static const double smooth_s = 1; /* averaging time of measurements */
static const double debt_s = 10;  /* maximum debt: the budget of this time */
static const double credit_s = 1; /* maximum credit, in the same unit */
static const double repay_s = 6;  /* time to repay a debt */
static const double change_s = 1; /* minimum time between changes, as each loses part of a period */
static const double relax = 0.6;  /* smallest factor by which a stretch shrinks at once */
static const double jitter = 0.08; /* width of the random deviation from the computed stretch */
static const double rate_min = 10; /* minimum interrupts per second per CPU */
static const double sure = 0.2;	   /* part of the budget reserved for samples */

#define LOOK_EVERY_NS 200000000ULL
#define MARK_EVERY_NS 10000000000ULL

/*
 * CPU time of the process that records samples: the cost per sample, and a fixed cost (new files
 * and processes, unwind tables) that a lower rate does not reduce. Samples are recorded in batches,
 * so each measurement covers a second. Both costs come from a line fitted to the costs at different
 * rates, with older measurements fading: its slope is the cost per sample, its intercept the fixed
 * cost.
 */
struct own_cost {
	/* Sums over the past seconds: count, samples, CPU time, and their products. */
	double n, x, y, xx, xy;
	double slope; /* seconds; 0: none yet */
	/* The current second. */
	double ns, own_ns, samples;
	/* The results: fixed cost as a share of a CPU, cost per sample in seconds. */
	double anyway, per_sample;
	double last; /* ->per_sample of the last second alone */
};

/* The cost between two moments, in nanoseconds. */
struct spent {
	double time, interrupts, program, own;
};

struct cpu {
	struct driver_cost last;
	double share;	/* of this CPU's time, spent on samples; smoothed */
	double rate;	/* interrupts per second */
	double debt;	/* CPU seconds spent beyond the budget */
	double start;	/* CPU seconds that may be spent before the budget applies */
	double stretch; /* in force for ->stretched_s */
	double stretched_s;
	double older, newer; /* cost on this CPU since the marks, ns */
	bool seen;
	bool least; /* samples are down to their reserved part of the budget */
};

struct governor {
	double budget, start_s, interrupt_ns;
	struct own_cost own;
	struct cpu *cpus; /* by number */
	size_t room;
	uint64_t now_ns, own_ns;    /* at the last look; 0: none */
	struct spent older, newer;  /* cost since the marks; summed over CPUs except ->time */
	double cost_ns, cost_of_ns; /* since the start */
	size_t count;
	uint64_t chance; /* state of a simple random generator */
};

static const double second_ns = 1e9;
static const double learn_s = 15; /* time constant with which old measurements fade */
static const double doubt = 0.15; /* relative spread of rates needed to trust the slope */
static const double least_slope = 0.01;

static void learn_own_cost(struct own_cost *o, double x, double y, double dt)
{
	double keep = exp(-dt / learn_s);

	o->n = o->n * keep + 1;
	o->x = o->x * keep + x;
	o->y = o->y * keep + y;
	o->xx = o->xx * keep + x * x;
	o->xy = o->xy * keep + x * y;
}

/* Returns the intercept of the line. While rates hardly differ, keeps the previous slope, which
 * initially attributes all cost to samples. */
static double line_start(struct own_cost *o)
{
	double x = o->x / o->n, y = o->y / o->n, all, few;

	if (x <= 0)
		return y;
	all = y / x;
	few = doubt * doubt * x * x;
	if (o->slope <= 0)
		o->slope = all;
	o->slope = (o->xy / o->n - x * y + o->slope * few) / (fmax(o->xx / o->n - x * x, 0) + few);
	o->slope = fmin(fmax(o->slope, least_slope * all), all);
	return y - o->slope * x;
}

/* Adds @samples and @own_ns of CPU time, accumulated over @ns. */
static void own_cost_add(struct own_cost *o, double ns, double own_ns, double samples)
{
	double x, y, per_sample;

	o->ns += ns;
	o->own_ns += own_ns;
	o->samples += samples;
	if (o->ns < second_ns)
		return;
	x = o->samples / o->ns * 1e9;
	y = o->own_ns / o->ns;
	learn_own_cost(o, x, y, o->ns / 1e9);
	o->anyway = fmin(line_start(o), y);
	per_sample = x > 0 ? (y - o->anyway) / x : 0;
	/* A cost seen in a single second is a burst, which does not count. */
	o->per_sample = o->n > 1 ? fmin(per_sample, o->last) : per_sample;
	o->last = per_sample;
	o->ns = o->own_ns = o->samples = 0;
}

struct governor *governor_new(double share, double start_s, double interrupt_ns)
{
	struct governor *g = xcalloc(1, sizeof(*g));

	g->budget = share;
	g->start_s = start_s;
	g->interrupt_ns = interrupt_ns;
	return g;
}

void governor_free(struct governor *g)
{
	if (!g)
		return;
	free(g->cpus);
	free(g);
}

static struct cpu *cpu_of(struct governor *g, unsigned int number)
{
	size_t was = g->room;

	array_grow(&g->cpus, (size_t)number + 1, &g->room);
	if (g->room > was)
		memset(g->cpus + was, 0, (g->room - was) * sizeof(*g->cpus));
	return &g->cpus[number];
}

static double stretch_of(const struct driver_cost *cost)
{
	return fmax((double)cost->stretch / STRETCH_ONE, 1);
}

void governor_begin(struct governor *g, const struct governor_look *look)
{
	size_t i;

	g->now_ns = look->now_ns;
	g->own_ns = look->own_ns;
	g->older = g->newer = (struct spent){ 0 };
	g->own = (struct own_cost){ 0 };
	for (i = 0; i < look->count; i++) {
		struct cpu *c = cpu_of(g, look->costs[i].cpu);

		c->last = look->costs[i];
		c->stretch = stretch_of(&look->costs[i]);
		c->share = c->debt = c->older = c->newer = 0;
		c->start = g->budget * g->start_s;
		c->seen = true;
	}
}

static void add(struct spent *sum, const struct spent *s)
{
	sum->interrupts += s->interrupts;
	sum->program += s->program;
	sum->own += s->own;
}

/* The largest stretch allowed, whatever the cost: it keeps ->rate at rate_min. */
static double most_stretch(const struct cpu *c)
{
	return fmax(c->stretch * c->rate / rate_min, 1);
}

/* The stretch that a CPU needs, computed from the cost of samples at its current stretch; the share
 * @anyway does not depend on the stretch. */
static double wanted_stretch(const struct governor *g, struct cpu *c, double anyway)
{
	double aim = 1 - c->debt / (g->budget * repay_s), wanted;

	aim = g->budget * fmin(fmax(aim, 0.4), 1.15) - anyway;
	c->least = aim < g->budget * sure;
	wanted = c->stretch * c->share / fmax(aim, g->budget * sure);
	wanted = fmax(wanted, c->stretch * relax);
	return fmax(fmin(wanted, most_stretch(c)), 1);
}

/* Adds a random deviation: a constant period can lock in step with a periodic program and then sees
 * only one part of its work. */
static double jittered(struct governor *g, double stretch)
{
	g->chance = hash_u64(g->chance + 1);
	return fmax(stretch * (1 + jitter * ((double)(g->chance % 1024) / 1024 - 0.5)), 1);
}

static void steer(struct governor *g, struct cpu *c, double share, double anyway, double dt,
		  int (*stretch)(struct driver *d, unsigned int cpu, uint32_t stretch),
		  struct driver *d)
{
	bool jumps = share > 2 * g->budget;
	double gain = fmin(dt / smooth_s, 1), wanted;

	if (c->start > 0) {
		c->share = share;
		c->start -= fmax(share + anyway, g->budget) * dt;
		/* What an earlier run left. */
		if (c->stretch > 1 && stretch && stretch(d, c->last.cpu, STRETCH_ONE) == 0)
			c->stretch = 1;
		return;
	}
	/* Takes a jump at once, without averaging. */
	c->share = jumps ? fmax(share, c->share) : c->share + gain * (share - c->share);
	c->debt += (share + anyway - g->budget) * dt;
	c->debt = fmin(fmax(c->debt, -g->budget * credit_s), g->budget * debt_s);
	c->stretched_s += dt;
	wanted = wanted_stretch(g, c, anyway);
	if ((c->stretched_s < change_s && !(jumps && wanted > c->stretch)) ||
	    (c->stretch <= 1 && wanted <= 1))
		return;
	wanted = wanted > 1 ? jittered(g, wanted) : 1;
	if (!stretch || stretch(d, c->last.cpu, (uint32_t)(wanted * STRETCH_ONE)) < 0)
		return;
	/* Scales the measurements from the old rate to the new one. */
	c->share *= c->stretch / wanted;
	c->rate *= c->stretch / wanted;
	c->stretch = wanted;
	c->stretched_s = 0;
}

/* The cost on a CPU since the last look, with its part @own_ns of this process's time. */
static struct spent spent_on(const struct governor *g, const struct driver_cost *cost,
			     const struct cpu *c, double own_ns)
{
	return (struct spent){
		.interrupts = (double)(cost->interrupts - c->last.interrupts) * g->interrupt_ns,
		.program = (double)(cost->program_ns - c->last.program_ns),
		.own = own_ns,
	};
}

/* Whether @cost continues that of the last look. If not, because the CPU is new or its events were
 * reopened, starts over with it. */
static bool goes_on(struct cpu *c, const struct driver_cost *cost)
{
	if (c->seen && cost->interrupts >= c->last.interrupts && cost->samples >= c->last.samples &&
	    cost->program_ns >= c->last.program_ns)
		return true;
	*c = (struct cpu){ .last = *cost, .stretch = stretch_of(cost), .seen = true };
	return false;
}

/* Number of samples on all CPUs since the last look. */
static double samples_since(struct governor *g, const struct governor_look *look)
{
	double samples = 0;
	size_t i;

	for (i = 0; i < look->count; i++) {
		struct cpu *c = cpu_of(g, look->costs[i].cpu);

		if (goes_on(c, &look->costs[i]))
			samples += (double)(look->costs[i].samples - c->last.samples);
	}
	return samples;
}

static void mark(struct governor *g)
{
	size_t i;

	if (g->newer.time < (double)MARK_EVERY_NS)
		return;
	g->older = g->newer;
	g->newer = (struct spent){ 0 };
	for (i = 0; i < g->room; i++) {
		g->cpus[i].older = g->cpus[i].newer;
		g->cpus[i].newer = 0;
	}
}

void governor_look(struct governor *g, const struct governor_look *look,
		   int (*stretch)(struct driver *d, unsigned int cpu, uint32_t stretch),
		   struct driver *d)
{
	double ns = (double)(look->now_ns - g->now_ns), own = (double)(look->own_ns - g->own_ns);
	double samples;
	size_t i;

	if (!g->now_ns)
		governor_begin(g, look);
	if (look->now_ns < g->now_ns + LOOK_EVERY_NS || !look->count)
		return;
	samples = samples_since(g, look);
	own_cost_add(&g->own, ns, own, samples);
	for (i = 0; i < look->count; i++) {
		const struct driver_cost *cost = &look->costs[i];
		struct cpu *c = cpu_of(g, cost->cpu);
		double part = samples > 0 ? (double)(cost->samples - c->last.samples) / samples
					  : 1 / (double)look->count;
		struct spent s = spent_on(g, cost, c, own * part);
		double own_ns = g->own.per_sample * 1e9 * samples * part;

		c->rate = (double)(cost->interrupts - c->last.interrupts) * 1e9 / ns;
		add(&g->newer, &s);
		c->newer += s.interrupts + s.program + s.own;
		g->cost_ns += s.interrupts + s.program + s.own;
		c->last = *cost;
		c->stretch = stretch_of(cost);
		if (g->budget > 0)
			steer(g, c, (s.interrupts + s.program + own_ns) / ns, g->own.anyway * part,
			      ns / 1e9, stretch, d);
	}
	g->newer.time += ns;
	g->cost_of_ns += ns * (double)look->count;
	g->now_ns = look->now_ns;
	g->own_ns = look->own_ns;
	g->count = look->count;
	mark(g);
}

void governor_read(const struct governor *g, struct governor_reading *ret)
{
	double time = g->older.time + g->newer.time, ns = time * (double)MAX(g->count, (size_t)1);
	double sum = 0;
	size_t i, n = 0;

	*ret = (struct governor_reading){ .stretch = 1,
					  .highest = 1,
					  .interrupt_ns = g->interrupt_ns,
					  .cost_ns = (uint64_t)g->cost_ns,
					  .cost_of_ns = (uint64_t)g->cost_of_ns };
	if (time <= 0)
		return;
	ret->interrupts = (g->older.interrupts + g->newer.interrupts) / ns;
	ret->program = (g->older.program + g->newer.program) / ns;
	ret->own = (g->older.own + g->newer.own) / ns;
	ret->all = ret->interrupts + ret->program + ret->own;
	for (i = 0; i < g->room; i++) {
		const struct cpu *c = &g->cpus[i];

		if (!c->seen)
			continue;
		n++;
		sum += c->stretch;
		ret->highest = fmax(ret->highest, c->stretch);
		ret->starting |= c->start > 0;
		ret->worst = fmax(ret->worst, (c->older + c->newer) / time);
		ret->exceeded |=
			g->budget > 0 && c->least && (c->older + c->newer) / time > g->budget * 1.2;
	}
	ret->stretch = n ? sum / (double)n : 1;
}
