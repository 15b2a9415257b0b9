/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/internal/own_cost.h"

#include <math.h>

static const double second_ns = 1e9;
static const double learn_s = 15; /* seconds of longer ago count little */
static const double doubt = 0.15; /* rates that differ by less teach little */
static const double least_slope = 0.01;

static void learn(struct own_cost *o, double x, double y, double dt)
{
	double keep = exp(-dt / learn_s);

	o->n = o->n * keep + 1;
	o->x = o->x * keep + x;
	o->y = o->y * keep + y;
	o->xx = o->xx * keep + x * x;
	o->xy = o->xy * keep + x * y;
}

/* Where the line begins. As long as rates hardly differ its slope stays what it was, at first that
 * of all being taken for samples. */
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

void own_cost_add(struct own_cost *o, double ns, double own_ns, double samples)
{
	double x, y, per_sample;

	o->ns += ns;
	o->own_ns += own_ns;
	o->samples += samples;
	if (o->ns < second_ns)
		return;
	x = o->samples / o->ns * 1e9;
	y = o->own_ns / o->ns;
	learn(o, x, y, o->ns / 1e9);
	o->anyway = fmin(line_start(o), y);
	per_sample = x > 0 ? (y - o->anyway) / x : 0;
	/* What one second alone took was a burst. */
	o->per_sample = o->n > 1 ? fmin(per_sample, o->last) : per_sample;
	o->last = per_sample;
	o->ns = o->own_ns = o->samples = 0;
}
