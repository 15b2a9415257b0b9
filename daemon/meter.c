/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "meter.h"

#include "base/clock.h"
#include "parser/parser.h"

#define MARK_EVERY_NS (10 * NS_PER_S)

static struct meter_mark mark_now(const struct meter *meter, uint64_t samples)
{
	return (struct meter_mark){ .at_ns = clock_now_ns(),
				    .cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) +
					      parser_cpu(meter->parser),
				    .samples = samples };
}

void meter_reset(struct meter *meter, uint64_t samples)
{
	meter->older = meter->newer = mark_now(meter, samples);
}

void meter_tick(struct meter *meter, uint64_t samples)
{
	if (clock_now_ns() - meter->newer.at_ns < MARK_EVERY_NS)
		return;
	meter->older = meter->newer;
	meter->newer = mark_now(meter, samples);
}

void meter_read(const struct meter *meter, uint64_t samples, struct meter_reading *ret)
{
	struct meter_mark now = mark_now(meter, samples);
	double ns = (double)(now.at_ns - meter->older.at_ns);

	*ret = (struct meter_reading){ 0 };
	if (ns <= 0)
		return;
	ret->samples_per_s = (double)(now.samples - meter->older.samples) * 1e9 / ns;
	ret->cpu_percent = (double)(now.cpu_ns - meter->older.cpu_ns) * 100 / ns;
}
