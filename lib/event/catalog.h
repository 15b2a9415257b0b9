/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Catalogues of the events that a CPU can count. A catalogue holds the events of one CPU type:
 * those in its description files (opevents(5)), those that only libpfm4 knows, the software events
 * that every CPU has, and the clock. If the user has files for the CPU type, libpfm4's events are
 * left out. A catalogue is read on first use; from then on it is constant and lives as long as the
 * program.
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

/* Returns the events of CPUs of @type. If its files cannot be read, only the clock is in it and
 * catalog_problem() gives the reason. */
const struct catalog *catalog_of(const struct cpu_type *type);
/* Returns the events of this machine's CPU. */
const struct catalog *catalog_here(void);
/* Returns the CPU type that represents libpfm4's PMU @name, with the key "pfm/NAME"; catalog_of()
 * returns that PMU's events for it. NULL if there is no such PMU. */
const struct cpu_type *catalog_pmu_type(const char *name);
/* Returns the events of the machine recorded under @root ("" for this one): those of its CPU and
 * those of its kernel, named "PMU/EVENT/". The kernel's are left out if the user has files for the
 * CPU type. */
const struct catalog *catalog_machine(const char *root);
/* Returns the CPU type that the events belong to. */
const struct cpu_type *catalog_type(const struct catalog *c);
/* Returns what is wrong with the files, with path and line, or NULL. */
const char *catalog_problem(const struct catalog *c);
/* Returns a sentence about events of the type's own that are missing because neither its files nor
 * libpfm4's are there, or NULL. */
const char *catalog_gap(const struct catalog *c);
/* Returns the number of events. */
size_t catalog_size(const struct catalog *c);
/* Returns the @i-th event, in the order of the files. */
const struct catalog_event *catalog_event_at(const struct catalog *c, size_t i);
/* Returns the @i-th event, possibly without its masks, which are slow to get from libpfm4. */
const struct catalog_event *catalog_event_peek(const struct catalog *c, size_t i);
/* Returns the event called @name, or NULL. */
const struct catalog_event *catalog_event_find(const struct catalog *c, const char *name);
/* Returns the event whose name is most similar to @name, or NULL if none is similar. */
const struct catalog_event *catalog_event_nearest(const struct catalog *c, const char *name);

/* Returns the number of events in catalog_here(). */
size_t catalog_count(void);
/* Returns the @i-th event of catalog_here(), possibly without its masks. */
const struct catalog_event *catalog_peek(size_t i);
/* Returns the event of catalog_here() called @name, or NULL. */
const struct catalog_event *catalog_find(const char *name);

/* Returns whether @name is the clock's event, which has the same name on all CPUs; reads no
 * files. */
bool catalog_is_timer(const char *name);
/* Returns the event to sample on CPUs of @type by default: cycles, or the clock if cycles cannot be
 * counted. */
const struct catalog_event *catalog_default(const struct cpu_type *type);
