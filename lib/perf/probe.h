/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probes what this machine, its kernel and this user's rights allow: one probe per facility, each
 * with a verdict, a line of detail and a remedy. Probes change nothing.
 *
 *	struct probe_result result;
 *	for (i = 0; i < PROBE_COUNT_; i++) {
 *		probe_run(i, "", &result);
 *		puts(result.detail);
 *	}
 */
#pragma once

#include "base/strbuf.h"
#include "perf/probe_result.h"

#include <stdbool.h>

enum probe_id {
	PROBE_OWN_PROCESS,
	PROBE_SYSTEM_WIDE,
	PROBE_HARDWARE_EVENT,
	PROBE_PARANOID,
	PROBE_SAMPLE_RATE,
	PROBE_MLOCK,
	PROBE_KERNEL_SYMBOLS,
	PROBE_CAPABILITIES,
	PROBE_PID_NAMESPACE,
	PROBE_LOCKDOWN,
	PROBE_NMI_WATCHDOG,
	PROBE_BPF,
	PROBE_BTF,
	PROBE_FUSE,
	PROBE_COUNT_
};

/* "ok", "warn" or "missing"; constant. */
const char *probe_verdict_text(enum probe_verdict verdict);

/* Runs a probe. @root is the prefix of /proc and /sys ("" for this machine); probes that make
 * system calls always report on this machine. */
void probe_run(enum probe_id id, const char *root, struct probe_result *ret);

/* Runs all probes and appends a readable table to @out, with @verbose also what each facility is
 * for. Returns whether profiling works at all, if only of the user's own processes. */
bool probe_report(const char *root, bool verbose, struct strbuf *out);
/* The same as one JSON object {"probes": [{"name", "verdict", ...}], "usable"}. */
bool probe_report_json(const char *root, struct strbuf *out);
