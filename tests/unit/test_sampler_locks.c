/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which maps the programs of several slots share: none whose lock one of them could wait for, while
 * it interrupts the holder. Skips where such a program cannot be loaded. */
#include "test.h"

#include "bpf/sample.h"
#include "bpf/sample.skel.h"
#include "driver/bpf/sampler_load.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>

enum { MAPS_MAX = 64 };

/* Hash tables that programs of several slots use, but in interrupts and the scheduler only look up:
 * they may write to a value, which takes no lock. */
static const char *const only_read[] = { "table_numbers", "codes", "copies", "executables",
					 "followed" };

DEFINE_CLEANUP(struct sample *, sample__destroy);

static bool is_only_read(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(only_read); i++)
		if (!strncmp(name, only_read[i], BPF_OBJ_NAME_LEN - 1))
			return true;
	return false;
}

/* A map, and by which slots' programs it is used. */
struct use {
	uint32_t id, slots; /* a bit for each */
};

/* Notes which maps the program @fd uses, which runs in @slot. */
static void note_uses(struct use *uses, int fd, enum sample_slot slot)
{
	uint32_t ids[MAPS_MAX], bytes = sizeof(struct bpf_prog_info), i, k;
	struct bpf_prog_info info = { .nr_map_ids = MAPS_MAX, .map_ids = (uintptr_t)ids };

	CHECK_EQ(bpf_obj_get_info_by_fd(fd, &info, &bytes), 0);
	CHECK(info.nr_map_ids <= MAPS_MAX);
	for (i = 0; i < info.nr_map_ids && i < MAPS_MAX; i++) {
		for (k = 0; k < MAPS_MAX - 1 && uses[k].id && uses[k].id != ids[i]; k++)
			;
		uses[k].id = ids[i];
		uses[k].slots |= 1U << slot;
	}
}

/* Whether no program waits for another one in the map, directly: those of an array of maps are one
 * for each slot. */
static bool is_safe(const struct bpf_map_info *map, uint32_t slots)
{
	switch (map->type) {
	case BPF_MAP_TYPE_ARRAY:
	case BPF_MAP_TYPE_PERCPU_ARRAY:
	case BPF_MAP_TYPE_ARRAY_OF_MAPS:
		return true;
	case BPF_MAP_TYPE_HASH:
		return !(slots & (slots - 1)) || is_only_read(map->name);
	default:
		return !(slots & (slots - 1));
	}
}

static void slots_share_no_map_with_a_lock(void)
{
	const struct sampler_config config = {
		.keys = 16,
		.follow = true,
		.depth = 16,
		.offcpu = { .total = true, .wakers = true },
	};
	_cleanup_(sample__destroyp) struct sample *s = NULL;
	struct use uses[MAPS_MAX] = { 0 };
	struct error err = ERROR_INIT;
	struct sampler_sizes sizes;
	struct bpf_program *p;
	size_t i;

	if (sampler_load(&config, &sizes, &s, &err) < 0)
		SKIP("no BPF here");
	bpf_object__for_each_program(p, s->obj)
	{
		note_uses(uses, bpf_program__fd(p),
			  p == s->progs.take_sample	? SAMPLE_SLOT_EVENT
			  : p == s->progs.offcpu_switch ? SAMPLE_SLOT_SWITCH
			  : p == s->progs.offcpu_waking ? SAMPLE_SLOT_SWITCH
							: SAMPLE_SLOT_PROCESS);
	}
	CHECK(uses[0].id);
	for (i = 0; i < MAPS_MAX && uses[i].id; i++) {
		_cleanup_close_ int fd = bpf_map_get_fd_by_id(uses[i].id);
		uint32_t bytes = sizeof(struct bpf_map_info);
		struct bpf_map_info map = { 0 };

		CHECK_EQ(bpf_obj_get_info_by_fd(fd, &map, &bytes), 0);
		CHECK_STR(is_safe(&map, uses[i].slots) ? "" : map.name, "");
	}
}

TESTS(T(slots_share_no_map_with_a_lock))
