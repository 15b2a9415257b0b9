/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/internal/totals.h"

#include "base/mem.h"
#include "driver/driver.h"
#include "record/record.h"

#include <inttypes.h>

void totals_done(struct totals *t)
{
	free(t->cpus);
}

/* All fields of the structs of statistics are 64-bit numbers. */
static void add(void *to, const void *from, size_t bytes)
{
	for (size_t i = 0; i < bytes / sizeof(uint64_t); i++)
		((uint64_t *)to)[i] += ((const uint64_t *)from)[i];
}

void totals_keep_record(struct totals *t, const struct record *rec)
{
	struct record_stats record;

	record_stats(rec, &record);
	add(&t->record, &record, sizeof(record));
}

void totals_keep_driver(struct totals *t, const struct driver_ops *ops, const struct driver *driver)
{
	unsigned int cpu, count = (unsigned int)MAX(sysconf(_SC_NPROCESSORS_CONF), 1);
	struct driver_cpu_stats of_cpu;
	struct driver_stats stats;

	ops->stats(driver, &stats);
	add(&t->driver, &stats, sizeof(stats));
	if (!t->cpus)
		t->cpus = xcalloc(count, sizeof(*t->cpus));
	t->cpu_count = count;
	for (cpu = 0; cpu < count && ops->cpu_stats; cpu++) {
		ops->cpu_stats(driver, cpu, &of_cpu);
		add(&t->cpus[cpu], &of_cpu, sizeof(of_cpu));
	}
}

void totals_add(const struct totals *t, struct driver_stats *driver, struct record_stats *record)
{
	add(driver, &t->driver, sizeof(*driver));
	add(record, &t->record, sizeof(*record));
}

void totals_add_cpu(const struct totals *t, unsigned int cpu, struct driver_cpu_stats *stats)
{
	if (cpu < t->cpu_count)
		add(stats, &t->cpus[cpu], sizeof(*stats));
}

void totals_note(struct totals *t, const struct driver_stats *now, struct record *rec)
{
	const struct counter *counter;

	for (size_t i = 0; (counter = counter_at(i)); i++)
		if (counter->source == COUNTER_OF_DRIVER)
			record_note(rec, counter->name, counter_value(counter, now, NULL),
				    counter_place(counter, &t->written));
}

void totals_print_driver(const struct driver_stats *driver, FILE *out)
{
	const struct counter *counter;

	for (size_t i = 0; (counter = counter_at(i)); i++)
		if (counter->source == COUNTER_OF_DRIVER)
			(void)fprintf(out, "Nr. %s: %" PRIu64 "\n", counter->log,
				      counter_value(counter, driver, NULL));
}
