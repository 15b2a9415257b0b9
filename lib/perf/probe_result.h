/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of one probe of this machine (probe.h). */
#pragma once

enum probe_verdict {
	PROBE_OK,
	PROBE_WARN,    /* works, but less than it could */
	PROBE_MISSING, /* does not work here */
	PROBE_VERDICT_COUNT_
};

struct probe_result {
	enum probe_verdict verdict;
	char detail[192]; /* what was seen, one line */
	char remedy[256]; /* what to do about it, "" if nothing */
};
