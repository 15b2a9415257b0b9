/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the program reads the kernel's structures rightly, which are no interface: it looks up an
 * address of this process, where /proc says what must come out. */
#pragma once

#include "base/error.h"
#include "bpf/sample.h"

#include <stdint.h>

/* Has the program with descriptor @program find what is mapped at @address of this process; 0 with
 * the answer in @control, -ENOENT if it found nothing, or -errno. */
int sampler_test_address(int program, struct sample_control *control, uint64_t address);

/* Runs the program with descriptor @program, which answers in @control; 0 or -errno with what was
 * wrong. */
int sampler_test_self(int program, struct sample_control *control, struct error *err);
