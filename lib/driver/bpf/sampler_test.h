/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests whether the BPF sampling program reads the kernel's structures correctly, as they are not a
 * stable interface: it looks up an address of this process and compares the result with /proc.
 * Nothing is allocated; the caller owns program and control block. */
#pragma once

#include "base/error.h"
#include "bpf/sample.h"

#include <stdint.h>

/* Makes the program with descriptor @program find the mapping at @address of this process. Returns
 * 0 with the answer in @control, -ENOENT if it found none, or another -errno. */
int sampler_test_address(int program, struct sample_control *control, uint64_t address);

/* Runs the test on the program with descriptor @program, which answers in @control. Returns 0, or
 * -errno with the mismatch in @err. */
int sampler_test_self(int program, struct sample_control *control, struct error *err);
