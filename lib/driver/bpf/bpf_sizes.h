/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How large the maps of the sampling program are made.
 *
 *	size_t keys = bpf_sizes_keys(config);
 *	uint32_t tables = bpf_sizes_tables(config);
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct driver_config;

/* The number of different samples that a CPU can count between two drains. */
size_t bpf_sizes_keys(const struct driver_config *config);
/* The number of files that can have an unwind table. */
uint32_t bpf_sizes_tables(const struct driver_config *config);
