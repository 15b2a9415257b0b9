/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/bpf/bpf_sizes.h"

#include "base/macro.h"
#include "bpf/sample.h"
#include "driver/driver.h"

#include <unistd.h>

/* Number of keys per CPU between two drains; with fewer keys drains are more frequent. */
enum { KEYS_OF_ALL = 8192, KEYS_OF_CPU = 1024, KEYS_MIN = 16, KEYS_MAX = 1 << 18 };

enum { TABLES_MIN = 256 };

size_t bpf_sizes_keys(const struct driver_config *config)
{
	size_t keys = KEYS_OF_CPU + KEYS_OF_ALL / (size_t)MAX(sysconf(_SC_NPROCESSORS_ONLN), 1);

	if (config->cpu_buffer_bytes)
		keys = config->cpu_buffer_bytes / sizeof(struct sample_count);
	keys = MAX(keys, (size_t)KEYS_MIN);
	return MIN(keys, (size_t)KEYS_MAX);
}

/* One file for each 4 KiB of memory for unwind tables, which is about their average size. */
uint32_t bpf_sizes_tables(const struct driver_config *config)
{
	size_t bytes = config->unwind_bytes ?: DRIVER_UNWIND_DEFAULT;
	size_t tables = MAX(bytes >> 12, (size_t)TABLES_MIN);

	return (uint32_t)MIN(tables, (size_t)SAMPLE_TABLES_MAX);
}
