/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of the executables of all processes, which the BPF program keeps (bpf/place_app.bpf.h).
 * When it was full, processes that no longer exist are removed from it, some at a time: before
 * Linux 6.7 the program may fail to do so. The caller owns the structure.
 *
 *	struct executables executables = { 0 };
 *	executables_look(&executables, sampler, full);	a few times a second
 */
#pragma once

#include "driver/bpf/map_reader.h"
#include "driver/bpf/sampler.h"

struct executables {
	uint64_t full; /* processes that found it full, as of the last sweep */
	struct map_reader reader;
	bool sweeping, told; /* a sweep goes on; the log has said that it was full */
};

/* Looks whether there were more than before of the processes, @full, that found no room. */
void executables_look(struct executables *e, const struct sampler *sampler, uint64_t full);
