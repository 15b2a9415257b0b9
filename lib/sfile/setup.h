/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads and writes the file samples/NAME/setup of a session. It records the events sampled, the
 * driver used and the machine, one "key: value" per line (man opsample.5). It is written when
 * sampling starts and when it ends; each further run into the same session replaces it. A struct
 * setup owns its strings and events.
 *
 *	struct setup s = { .driver = "perf: timer mode", .cpu_mhz = 2600 };
 *	setup_add_event(&s, "TIMER", 0, 0, 997);
 *	setup_write(samples, &s, err);
 */
#pragma once

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* The driver of a session that opimport made of a perf.data. */
#define SETUP_IMPORT "import: a perf.data of perf record"

struct setup_event {
	char *name;
	uint64_t count; /* sampling period in events; 0 in timer mode */
	uint64_t unit_mask;
	uint64_t rate_hz; /* timer mode: samples per second per CPU; else 0 */
};

/* A string is NULL and a number 0 if unknown. */
struct setup {
	char *driver;	 /* driver used, and why */
	char *cpu_type;	 /* key: "timer", "x86-64/generic" */
	double cpu_mhz;	 /* 0: unknown */
	char *cpu_model; /* "AMD EPYC 7R13" */
	char *rights;	 /* what could not be sampled, "user space only"; NULL: nothing */
	uint64_t cpus;	 /* number of online CPUs */
	char *separate;	 /* how samples were separated: "library,kernel", "none" */
	char *kernel;	 /* release: "6.1.0-18-amd64" */
	char *boot_id;
	char *hostname;
	uint64_t wander;  /* by so many percent the sampling periods wander; 0: not */
	uint64_t started; /* seconds since the epoch; of the last run into the session */
	uint64_t began;	  /* the same of the first run */
	uint64_t ended;	  /* when the last run ended; 0: it did not, or was killed */
	char *command;	  /* what was profiled or who recorded it: the command line of operf */
	struct setup_event *events;
	size_t event_count;
};

/* Adds an event; copies @name. */
void setup_add_event(struct setup *s, const char *name, uint64_t count, uint64_t unit_mask,
		     uint64_t rate_hz);
/* Sets kernel, boot_id, hostname, cpus, cpu_model, cpu_mhz and started, reading the /proc below
 * @root. */
void setup_describe_machine(struct setup *s, const char *root);
/* Writes @samples/setup, replacing an existing one. Returns 0 or -errno. */
int setup_write(const char *samples, const struct setup *s, struct error *err);
/* Whether there is no setup in @samples, which is relative to the directory @at. */
bool setup_is_missing(int at, const char *samples);
/* Notes in @samples/setup that sampling ended now. Returns 0 or -errno; 0 if there is no setup. */
int setup_end(const char *samples, struct error *err);
/* Reads @samples/setup; fields that are missing or damaged are left unknown. Returns 0, or -errno:
 * -ENOENT if there is no such file, as in a session of the original OProfile. If @err is NULL,
 * errors other than -ENOENT are logged. On success the caller calls setup_done(). */
int setup_read(const char *samples, struct setup *ret, struct error *err);
/* Frees the strings and events of @s and clears it. */
void setup_done(struct setup *s);
