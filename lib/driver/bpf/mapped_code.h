/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Watches which files followed processes map as code. A sample in a file whose unwind table is not
 * loaded requests it, but its own chain is cut short, and short programs and modules that an
 * interpreter loads have few more. The caller owns the structure.
 *
 *	struct mapped_code *m = mapped_code_open(sampler);
 *	... when one of mapped_code_fd(m, i), for i < mapped_code_count(m), is readable:
 *	mapped_code_read(m, load, data);
 *	mapped_code_close(m);
 */
#pragma once

#include "bpf/sample.h"

#include <stdbool.h>
#include <stddef.h>

struct mapped_code;
struct sampler;

/* Begins to watch, if @sampler follows processes and the kernel allows it: else nothing is
 * reported. Caller closes. */
struct mapped_code *mapped_code_open(const struct sampler *sampler);
/* NULL is fine. */
void mapped_code_close(struct mapped_code *m);

/* Number of descriptors that become readable. */
size_t mapped_code_count(const struct mapped_code *m);
/* The @i-th of them. */
int mapped_code_fd(const struct mapped_code *m, size_t i);
/* Calls @each with the files that were mapped since the last call, until it returns true: then
 * there may be more, which is returned. */
bool mapped_code_read(struct mapped_code *m,
		      bool (*each)(const struct sample_image *image, void *data), void *data);
