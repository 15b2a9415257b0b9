/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events that can be counted. A catalogue holds those of one CPU type, read
 * from its description files (opevents(5)), from libpfm4 those that the files do not have, the
 * software events, which every CPU has, and the clock. Files of the user's for a CPU type stand
 * alone, without libpfm4. A catalogue is read when it is first asked for; from then on it is
 * constant and lives as long as the program.
 *
 *	const struct catalog *other = catalog_of(cpu_type_by_id(67));
 *	for (i = 0; i < catalog_size(other); i++)
 *		puts(catalog_event_at(other, i)->name);
 */
#pragma once

#include "base/error.h"
#include "event/catalog_types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cpu_type;
struct catalog;

/* The events of CPUs of @type. Where its files cannot be read, the clock alone: catalog_problem()
 * says why. */
const struct catalog *catalog_of(const struct cpu_type *type);
/* The events of this machine's CPU. */
const struct catalog *catalog_here(void);
/* The CPU type that stands for libpfm4's PMU called @name, of which catalog_of() gives the events
 * of that PMU; its key is "pfm/NAME". NULL if there is none. */
const struct cpu_type *catalog_pmu_type(const char *name);
/* The events of the machine below @root ("" here): those of its CPU, and the kernel's, called
 * "PMU/EVENT/", unless the user's files stand alone. */
const struct catalog *catalog_machine(const char *root);
/* The type of CPU the events are of. */
const struct cpu_type *catalog_type(const struct catalog *c);
/* What is wrong with the files, with path and line; NULL if nothing. */
const char *catalog_problem(const struct catalog *c);
/* The number of events. */
size_t catalog_size(const struct catalog *c);
/* The i-th of them, in the order of the files. */
const struct catalog_event *catalog_event_at(const struct catalog *c, size_t i);
/* The same, perhaps without its masks, which take libpfm4 most of its time. */
const struct catalog_event *catalog_event_peek(const struct catalog *c, size_t i);
/* The event called @name, or NULL. */
const struct catalog_event *catalog_event_find(const struct catalog *c, const char *name);
/* The event whose name is most like @name, NULL if none is like it. */
const struct catalog_event *catalog_event_nearest(const struct catalog *c, const char *name);

/* The number of events of catalog_here(). */
size_t catalog_count(void);
/* As catalog_event_at() for catalog_here(). */
const struct catalog_event *catalog_peek(size_t i);
/* The event of catalog_here() called @name, or NULL. */
const struct catalog_event *catalog_find(const char *name);

/* Whether this is the name of the clock's event, which is the same everywhere; reads no files. */
bool catalog_is_timer(const char *name);
/* The event that is sampled on CPUs of @type where nothing else is asked for: cycles; the clock
 * where there is none. */
const struct catalog_event *catalog_default(const struct cpu_type *type);
