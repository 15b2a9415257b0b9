/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/bpf/sampler_load.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/parse.h"
#include "file/path.h"
#include "bpf/sample.h"
#include "bpf/sample.skel.h"
#include "driver/bpf/offcpu_calls.h"
#include "symbol/kallsyms.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

enum { LEFT_MAX = 65536 }; /* tasks off their CPUs */
enum { RING_BYTES = 1 << 20, RING_BYTES_OF_CPU = 1 << 20, RING_BYTES_MAX = 64 << 20 };
enum { WANTS_BYTES = 1 << 18 };
enum { CODES_OF_TABLE = 2 }; /* entries for generated code, for each one in the map of tables */
enum { IMAGES_MAX = 16384 }; /* files that each slot remembers to have sent */

/* Silences libbpf, which prints many lines on a failure. */
static int print_quietly(enum libbpf_print_level level, const char *format, va_list ap)
{
	char text[512];
	int n;

	if (level == LIBBPF_DEBUG || !log_wants(LOG_LEVEL_DEBUG))
		return 0;
	n = vsnprintf(text, sizeof(text), format, ap);
	text[strcspn(text, "\n")] = '\0';
	log_debug("%s", text);
	return n;
}

static bool is_locked_down(void)
{
	_cleanup_free_ char *text = NULL;

	return path_read("", "/sys/kernel/security/lockdown", &text, NULL) > 0 &&
	       strstr(text, "[confidentiality]");
}

int sampler_load_explain(int code, struct error *err)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK) < 0)
		return error_set(err, code, "this kernel has no BTF (CONFIG_DEBUG_INFO_BTF)");
	if (is_locked_down())
		return error_set(err, code, "lockdown=confidentiality forbids BPF");
	if (code == -EPERM)
		return error_set(err, code, "BPF needs CAP_BPF and CAP_PERFMON");
	if (code == -EACCES)
		return error_set(err, code, "this kernel's verifier rejects the BPF program");
	return error_errno(err, code, "the BPF program cannot be loaded");
}

/* Bytes of the ring, which call chains go through. */
static uint32_t ring_bytes(const struct sampler_config *config)
{
	uint32_t bytes = RING_BYTES, wanted = RING_BYTES;

	if (config->depth)
		wanted += RING_BYTES_OF_CPU * (uint32_t)MAX(sysconf(_SC_NPROCESSORS_ONLN), 1);
	while (bytes < wanted && bytes < RING_BYTES_MAX)
		bytes *= 2;
	return bytes;
}

/* The number of key slots: a power of two, at least the number of keys. */
static size_t key_slots(const struct sampler_sizes *sizes)
{
	size_t slots = 1;

	while (slots < sizes->keys)
		slots *= 2;
	return slots;
}

/* Sets the sizes of the maps, which are fixed once the program is loaded. */
static int set_sizes(const struct sample *skeleton, const struct sampler_config *config,
		     const struct sampler_sizes *sizes)
{
	size_t slots = sizes->places / sizes->cpus; /* that count */
	bool offcpu = evoffcpu_count(&config->offcpu) > 0;
	bool chains = config->depth > 0, waits = offcpu && chains;
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const struct {
		struct bpf_map *map;
		size_t count;
	} entries[] = {
		{ skeleton->maps.counts, 2 * sizes->places * sizes->keys },
		{ skeleton->maps.key_slots, sizes->places * key_slots(sizes) },
		{ skeleton->maps.gates, sizes->gates },
		{ skeleton->maps.scratches, SAMPLE_SLOT_COUNT_ },
		{ skeleton->maps.unwindings, slots },
		{ skeleton->maps.counters, SAMPLE_SLOT_COUNT_ },
		{ skeleton->maps.left, offcpu ? LEFT_MAX : 1 },
		{ skeleton->maps.wakers, config->offcpu.wakers ? LEFT_MAX : 1 },
		{ skeleton->maps.event_images, IMAGES_MAX },
		{ skeleton->maps.switch_images, offcpu ? IMAGES_MAX : 1 },
		{ skeleton->maps.process_images, IMAGES_MAX },
		{ skeleton->maps.event_ring, ring_bytes(config) },
		{ skeleton->maps.switch_ring, offcpu ? ring_bytes(config) : page },
		{ skeleton->maps.process_ring, RING_BYTES },
		{ skeleton->maps.event_chains, chains ? SAMPLER_CHAINS_MAX : 1 },
		{ skeleton->maps.switch_chains, waits ? SAMPLER_CHAINS_MAX : 1 },
		{ skeleton->maps.script_walks, slots },
		{ skeleton->maps.script_functions, slots },
		{ skeleton->maps.event_functions, chains ? SAMPLE_FUNCTIONS_MAX : 1 },
		{ skeleton->maps.switch_functions, waits ? SAMPLE_FUNCTIONS_MAX : 1 },
		{ skeleton->maps.event_wants, chains ? WANTS_BYTES : page },
		{ skeleton->maps.switch_wants, waits ? WANTS_BYTES : page },
		{ skeleton->maps.wanted, chains ? slots * sizes->cpus : 1 },
		{ skeleton->maps.table_numbers, chains ? sizes->tables : 1 },
		{ skeleton->maps.tables, chains ? sizes->tables : 1 },
		{ skeleton->maps.pages, chains ? SAMPLE_PAGES_MAX : 1 },
		{ skeleton->maps.rules, chains ? UNWIND_RULES_MAX + 1 : 1 },
		{ skeleton->maps.codes, chains ? sizes->codes : 1 },
		{ skeleton->maps.copies, chains ? SAMPLE_COPIES_MAX : 1 },
		{ skeleton->maps.found, chains ? slots * sizes->cpus : 1 },
	};
	size_t i;
	int r = 0;

	for (i = 0; i < ARRAY_SIZE(entries) && r == 0; i++)
		r = bpf_map__set_max_entries(entries[i].map, (uint32_t)entries[i].count);
	return r;
}

/* Disables programs that are not needed, so that only needed ones can make loading fail. */
static void choose_programs(const struct sample *skeleton, const struct sampler_config *config)
{
	(void)bpf_program__set_autoload(skeleton->progs.follow_fork, config->follow);
	(void)bpf_program__set_autoload(skeleton->progs.follow_exec, config->follow);
	(void)bpf_program__set_autoload(skeleton->progs.follow_exit, config->follow);
	(void)bpf_program__set_autoload(skeleton->progs.follow_free, config->follow);
	(void)bpf_program__set_autoload(skeleton->progs.offcpu_switch,
					evoffcpu_count(&config->offcpu) > 0);
	(void)bpf_program__set_autoload(skeleton->progs.offcpu_waking, config->offcpu.wakers);
}

/* Sets how time off the CPU is measured. */
static void configure_offcpu(struct sample_config *c, const struct evoffcpu *offcpu)
{
	uint64_t start = 0, end = 0;
	enum offcpu_reason reason;

	kallsyms_scheduler("", &start, &end);
	c->sched_start = start;
	c->sched_end = end;
	c->wakers = offcpu->wakers && c->depth;
	if (c->wakers)
		kallsyms_interrupts("", &start, &end);
	c->entry_start = c->wakers ? start : 0;
	c->entry_end = c->wakers ? end : 0;
	c->offcpu_min_us = MAX(offcpu->min_us, (uint64_t)1);
	for (reason = 0; reason < OFFCPU_REASON_COUNT_; reason++)
		c->offcpu_events[reason] = (uint8_t)(evoffcpu_index(offcpu, reason) + 1);
	offcpu_calls_fill(c);
}

/* Sets the constants of the program, which are fixed once it is loaded. */
static int configure(struct sample *skeleton, const struct sampler_config *config,
		     const struct sampler_sizes *sizes)
{
	skeleton->rodata_config->config = (struct sample_config){
		.follow = config->follow,
		.keys = (uint32_t)sizes->keys,
		.key_slots = (uint32_t)key_slots(sizes),
		.places = (uint32_t)sizes->places,
		.wake_at = (uint32_t)(sizes->keys / 2),
		.depth = MIN(config->depth, (unsigned int)SAMPLE_DEPTH_MAX),
		.by_frame_pointers = config->by_frame_pointers,
		.pass_on = config->pass_on,
		.cgroups = config->cgroups,
		.comms = config->comms,
		.interpreters = config->interpreters,
		.cpus = (uint32_t)sizes->cpus,
	};
	if (evoffcpu_count(&config->offcpu))
		configure_offcpu(&skeleton->rodata_config->config, &config->offcpu);
	choose_programs(skeleton, config);
	return set_sizes(skeleton, config, sizes);
}

int sampler_load(const struct sampler_config *config, struct sampler_sizes *ret_sizes,
		 struct sample **ret, struct error *err)
{
	int r, cpus = libbpf_num_possible_cpus();
	struct sampler_sizes sizes;
	struct sample *skeleton;

	(void)libbpf_set_print(print_quietly);
	if (config->offcpu.wakers && !config->depth)
		return error_set(err, -EINVAL,
				 "wakers are shown in call chains; record these with "
				 "--callgraph");
	if (cpus < 0)
		return error_errno(err, cpus, "cannot read the number of possible CPUs");
	sizes = (struct sampler_sizes){
		.cpus = (size_t)cpus,
		.gates = (size_t)cpus * SAMPLE_SLOT_COUNT_,
		.places = (size_t)cpus *
			  (evoffcpu_count(&config->offcpu) ? SAMPLE_SLOT_SWITCH + 1 : 1),
		.keys = config->keys,
		.tables = config->tables ?: SAMPLE_TABLES_MAX,
	};
	sizes.codes = sizes.tables * CODES_OF_TABLE;
	skeleton = sample__open();
	if (!skeleton)
		return sampler_load_explain(-errno, err);
	r = configure(skeleton, config, &sizes);
	if (r == 0)
		r = sample__load(skeleton);
	if (r < 0) {
		sample__destroy(skeleton);
		return sampler_load_explain(r, err);
	}
	*ret_sizes = sizes;
	*ret = skeleton;
	return 0;
}

uint64_t sampler_load_bytes(const struct sample *skeleton)
{
	const struct bpf_map *map;
	uint64_t bytes = 0;

	bpf_object__for_each_map(map, skeleton->obj)
	{
		_cleanup_free_ char *path = xasprintf("/proc/self/fdinfo/%d", bpf_map__fd(map));
		_cleanup_free_ char *text = NULL;
		const char *line;
		uint64_t memory;

		if (bpf_map__map_flags(map) & BPF_F_MMAPABLE ||
		    path_read(NULL, path, &text, NULL) < 0)
			continue;
		line = strstr(text, "\nmemlock:\t");
		if (line && (line += strlen("\nmemlock:\t"), parse_dec(&line, &memory) == 0))
			bytes += memory;
	}
	return bytes;
}
