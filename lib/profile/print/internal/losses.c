/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/print/report_header.h"

#include "base/log.h"
#include "base/mem.h"
#include "profile/select/gather.h"
#include "sfile/session.h"

#include <errno.h>
#include <string.h>

enum meaning_kind {
	LOST_SAMPLES, /* so many samples are missing */
	TROUBLE,      /* something else that makes a profile worse than it looks */
	RECORDED,     /* samples that are there */
	NO_LOSS	      /* says nothing of losses */
};

/* The counters of our drivers and record, of the original's operf, and of its kernel driver. */
static const struct {
	const char *name;
	enum meaning_kind kind;
	const char *meaning;
} meanings[] = {
	{ "samples", RECORDED, NULL },
	{ "kernel_samples", NO_LOSS, NULL },
	{ "sample_dumps", NO_LOSS, NULL },
	{ "sample_received", NO_LOSS, NULL },
	{ "sample_filtered", NO_LOSS, NULL },
	{ "shed_chains", TROUBLE, "call chains were not kept, as memory or disk ran short" },
	{ "shed_jit", TROUBLE,
	  "samples in code made at run time have no names, as memory or disk ran short" },
	{ "shed_threads", TROUBLE,
	  "samples are not told apart by thread or CPU, as memory or disk ran short" },
	{ "shed_pauses", TROUBLE, "times sampling paused, as memory or disk ran short" },
	{ "sample_stretched", TROUBLE,
	  "samples were not taken, to keep to the CPU budget: others count for them" },
	{ "parser_lost", TROUBLE, "files were given up, as reading them went wrong" },
	{ "filtered", NO_LOSS, NULL },
	{ "resync", NO_LOSS, NULL },
	{ "cpu_hotplug", NO_LOSS, NULL },
	{ "throttled_ns", NO_LOSS, NULL },
	{ "waited_ns", NO_LOSS, NULL },
	{ "offcpu_intervals", NO_LOSS, NULL },
	{ "offcpu_lost", NO_LOSS, NULL },
	{ "ibs_lost", NO_LOSS, NULL },
	{ "total_samples", NO_LOSS, NULL },
	{ "multiplex_counter", NO_LOSS, NULL },
	{ "sample_lost_overflow", LOST_SAMPLES,
	  "the CPU buffers were full (sample less often, or raise --cpu-buffer-size)" },
	{ "sample_lost_no_mapping", LOST_SAMPLES, "their address was in no mapping" },
	{ "sample_lost_no_mm", LOST_SAMPLES, "their process was not known" },
	{ "sample_lost_no_tree", LOST_SAMPLES, "the mappings of their process could not be read" },
	{ "sample_lost_no_path", LOST_SAMPLES, "the path of their file was not told" },
	{ "event_lost_overflow", LOST_SAMPLES, "the event buffer was full" },
	{ "lost_no_context", LOST_SAMPLES, "neither of kernel nor of user" },
	{ "lost_kernel", LOST_SAMPLES, "their address was in no part of the kernel" },
	{ "lost_samplefile", LOST_SAMPLES, "their sample file could not be written" },
	{ "lost_no_mapping", LOST_SAMPLES, "no permanent mapping for their address" },
	{ "lost_counter", LOST_SAMPLES, "of a counter that nobody asked for" },
	{ "lost_no_app", LOST_SAMPLES, "in the kernel, for an unknown application" },
	{ "lost_no_app_for_kernel_sample", LOST_SAMPLES, "in the kernel, application unknown" },
	{ "lost_no_app_for_user_sample", LOST_SAMPLES, "application unknown" },
	{ "lost_invalid_domain", LOST_SAMPLES, "address not in the range of its domain" },
	{ "lost_invalid_hypervisor_addr", LOST_SAMPLES, "address of the hypervisor out of range" },
	{ "lost_records_by_kernel", LOST_SAMPLES, "the kernel's buffers were full" },
	{ "sample_invalid_eip", LOST_SAMPLES, "their address made no sense" },
	{ "lost_bt_no_mapping", TROUBLE, "call chains without mapping" },
	{ "bt_lost_no_mapping", TROUBLE, "call chains without mapping" },
	{ "arcs_no_mapping", TROUBLE, "call chains without mapping" },
	{ "extended_lost", TROUBLE, "IBS samples or counts that could not be recorded" },
	{ "backtrace_aborted", TROUBLE, "call chains that broke off" },
	{ "sideband_lost", TROUBLE, "mapping records lost; mappings were read anew" },
	{ "path_ring_full", NO_LOSS, NULL },
	{ "unwound_frames", NO_LOSS, NULL },
	{ "unwound_full", TROUBLE, "samples without their callers: too many call chains" },
	{ "path_truncated", TROUBLE, "paths that were too long" },
	{ "follow_full", TROUBLE, "processes that could not be followed" },
	{ "throttled", TROUBLE, "times the kernel throttled sampling (lower the rate)" },
	{ "unwind_built", NO_LOSS, NULL },
	{ "unwind_build_ns", NO_LOSS, NULL },
	{ "unwind_none", NO_LOSS, NULL },
	{ "unwind_evicted", NO_LOSS, NULL },
	{ "unwind_unopened", NO_LOSS, NULL }, /* what it costs is told by the ends of chains */
	{ "unwind_refused", TROUBLE,
	  "times an unwind table had no room, where call chains then end (raise --unwind-memory)" },
	{ "chains_lost", TROUBLE, "call chains that could not be stored" },
	{ "chain_", NO_LOSS, NULL }, /* and why the chain ends: of no concern to the flat profile */
	{ "incomplete_code", TROUBLE, "incomplete records in the event buffer" },
	{ "bad_record", TROUBLE, "records of the kernel that made no sense" },
	{ "parser_lost", TROUBLE, "files that could not be read safely and were given up" },
};

/* Reading one session: counters of single CPUs count only where there is none for all. */
struct reading {
	struct losses *losses;
	const char *samples;
};

static size_t find_meaning(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(meanings); i++)
		if (!strcmp(meanings[i].name, name))
			return i;
	/* The original marks throttled events by files throttled/EVENT. */
	if (!strncmp(name, "throttled/", strlen("throttled/")))
		return find_meaning("throttled");
	if (!strncmp(name, "chain_", strlen("chain_")) && name[strlen("chain_")])
		return find_meaning("chain_");
	return SIZE_MAX;
}

bool losses_knows(const char *name)
{
	return find_meaning(name) != SIZE_MAX;
}

/* The counter's name without the CPU it is of. */
static const char *without_cpu(const char *name)
{
	size_t digits;

	if (strncmp(name, "cpu", 3))
		return name;
	digits = strspn(name + 3, "0123456789");
	return digits && name[3 + digits] == '/' ? name + 3 + digits + 1 : name;
}

static void add_loss(struct losses *l, const char *name, uint64_t value, size_t meaning)
{
	bool known = meaning != SIZE_MAX;
	size_t i;

	for (i = 0; i < l->count; i++)
		if (!strcmp(l->list[i].name, name))
			break;
	if (i == l->count) {
		array_grow(&l->list, l->count + 1, &l->room);
		l->list[l->count++] = (struct loss){
			.name = xstrdup(name),
			.meaning = known ? meanings[meaning].meaning : "",
			.is_samples = known && meanings[meaning].kind == LOST_SAMPLES,
		};
	}
	l->list[i].value += value;
	if (l->list[i].is_samples)
		l->samples += value;
}

static void read_counter(const char *path, uint64_t value, void *data)
{
	struct reading *reading = data;
	const char *name = without_cpu(path);
	size_t meaning = find_meaning(name);

	if (name != path && session_stat_get(reading->samples, name))
		return;
	if (value == 0 && !strncmp(name, "throttled/", strlen("throttled/")))
		value = 1;
	if (value == 0)
		return;
	if (meaning == SIZE_MAX) {
		if (strstr(name, "lost"))
			add_loss(reading->losses, name, value, meaning);
	} else if (meanings[meaning].kind == RECORDED) {
		reading->losses->recorded += value;
	} else if (meanings[meaning].kind != NO_LOSS) {
		add_loss(reading->losses, name, value, meaning);
	}
}

void losses_collect(const struct gather *g, struct losses *ret)
{
	size_t i;

	*ret = (struct losses){ 0 };
	for (i = 0; i < g->session_count; i++) {
		struct reading reading = { ret, g->sessions[i].samples };

		int r = session_stat_each(reading.samples, read_counter, &reading);

		ret->received += session_stat_get(reading.samples, "sample_received");
		ret->stretched += session_stat_get(reading.samples, "sample_stretched");
		if (r < 0 && r != -ENOENT)
			log_warn("%s/stats: %s; what was lost is not known", reading.samples,
				 strerror(-r));
	}
}

double losses_weight(const struct losses *l)
{
	return l->stretched < l->received
		       ? (double)l->received / (double)(l->received - l->stretched)
		       : 1;
}

void losses_done(struct losses *l)
{
	size_t i;

	for (i = 0; i < l->count; i++)
		free(l->list[i].name);
	free(l->list);
	*l = (struct losses){ 0 };
}
