/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "driver/bpf/map_reader.h"

#include <bpf/bpf.h>
#include <string.h>
#include <unistd.h>

enum { ENTRIES = 3000, ROOM = 256 };

static int full_map(uint32_t entries)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_HASH, NULL, sizeof(uint32_t), sizeof(uint64_t),
				ENTRIES, NULL);
	uint64_t value;

	for (uint32_t key = 0; fd >= 0 && key < entries; key++) {
		value = key + 7;
		CHECK_EQ(bpf_map_update_elem(fd, &key, &value, BPF_ANY), 0);
	}
	return fd;
}

static void every_entry_is_read_once(void)
{
	_cleanup_close_ int fd = full_map(ENTRIES);
	struct map_reader reader = { .map = fd };
	uint8_t seen[ENTRIES] = { 0 };
	uint32_t keys[ROOM], count, all = 0, i;
	uint64_t values[ROOM];

	if (fd < 0)
		SKIP("a BPF map cannot be made here");
	while ((count = map_reader_next(&reader, keys, values, ROOM))) {
		CHECK(count <= ROOM);
		for (i = 0; i < count; i++) {
			CHECK_EQ(values[i], keys[i] + 7);
			seen[keys[i]]++;
		}
		all += count;
	}
	CHECK(reader.ended);
	CHECK_EQ(all, ENTRIES);
	for (i = 0; i < ENTRIES; i++)
		CHECK_EQ(seen[i], 1);
}

static void an_empty_map_ends_at_once(void)
{
	_cleanup_close_ int fd = full_map(0);
	struct map_reader reader = { .map = fd };
	uint32_t key;
	uint64_t value;

	if (fd < 0)
		SKIP("a BPF map cannot be made here");
	CHECK_EQ(map_reader_next(&reader, &key, &value, 1), 0);
	CHECK(reader.ended);
}

TESTS(T(every_entry_is_read_once), T(an_empty_map_ends_at_once))
