/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was sampled, how and where: the text file samples/NAME/setup, one "key: value" a line (man
 * opsample.5). It is written when sampling starts; a session that several runs have added to holds
 * the last one's.
 *
 *	struct setup s = { .driver = "perf: timer mode", .cpu_mhz = 2600 };
 *	setup_add_event(&s, "TIMER", 0, 0, 997);
 *	setup_write(samples, &s, err);
 */
#pragma once

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct setup_event {
	char *name;
	uint64_t count; /* events between two samples; 0 in timer mode */
	uint64_t unit_mask;
	uint64_t rate_hz; /* timer mode: samples per second per CPU; else 0 */
};

/* Strings may be NULL: unknown. */
struct setup {
	char *driver;	/* which driver and why */
	char *cpu_type; /* key: "timer", "x86-64/generic" */
	double cpu_mhz; /* 0: unknown */
	uint64_t cpus;	/* CPUs online */
	char *separate; /* what sample files are kept apart by: "library,kernel"; "none" */
	char *kernel;	/* release: "6.1.0-18-amd64" */
	char *boot_id;
	char *hostname;
	uint64_t started; /* seconds since the epoch */
	struct setup_event *events;
	size_t event_count;
};

/* Adds an event; the name is copied. */
void setup_add_event(struct setup *s, const char *name, uint64_t count, uint64_t unit_mask,
		     uint64_t rate_hz);
/* Fills in kernel, boot_id, hostname, cpus, cpu_mhz and started from the machine below @root. */
void setup_describe_machine(struct setup *s, const char *root);
/* Writes @samples/setup as a whole; 0 or -errno. */
int setup_write(const char *samples, const struct setup *s, struct error *err);
/* Reads @samples/setup; what it does not say, or says wrong, stays unknown. 0, or -errno (-ENOENT
 * if there is none: a session of the original); where @err is NULL, any other reason is logged. The
 * caller calls setup_done(). */
int setup_read(const char *samples, struct setup *ret, struct error *err);
/* Frees what it holds. */
void setup_done(struct setup *s);
