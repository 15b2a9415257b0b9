/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Driver "bpf": a BPF program takes the samples of perf events and attributes them by the mappings
 * of that moment. */
#include "driver/driver.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "driver/bpf/bpf_follow.h"
#include "driver/bpf/bpf_samples.h"
#include "driver/bpf/bpf_sizes.h"
#include "driver/bpf/bpf_sweep.h"
#include "driver/bpf/code_store.h"
#include "driver/bpf/executables.h"
#include "driver/offcpu_stats.h"
#include "identity/cgroups.h"
#include "identity/cookie.h"
#include "perf/kernel_events.h"
#include "driver/sampling.h"
#include "file/procfs.h"
#include "driver/bpf/sampler.h"
#include "driver/bpf/sampler_chains.h"
#include "driver/bpf/sampler_images.h"
#include "driver/bpf/table_loader.h"
#include "stats/turn.h"

#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <sys/epoll.h>

/* Intervals between drains while the maps have room. They are shorter while JIT code is sampled:
 * code that replaces other code is distinguished by time. */
enum { DRAIN_EVERY_NS = 900000000, DRAIN_MEMORY_EVERY_NS = 200000000 };
/* Interval of checks of files whose inode numbers may be reused, and number in one turn. */
enum { DOUBT_EVERY_S = 10, DOUBT_STEP = 1024 };

struct driver {
	struct sampling sampling; /* the rings carry only sideband records, no samples */
	struct sampler *sampler;
	struct bpf_samples samples;
	struct bpf_sweep sweep;
	struct executables executables;
	struct table_loader *tables; /* NULL: chains without unwind tables, as the next */
	struct code_store *codes;
	size_t keys; /* as set up, like the next three */
	unsigned int depth_asked;
	enum driver_chain_mode mode;
	size_t unwind_bytes;
	char *why;
	struct bpf_follow follow;
	struct evoffcpu offcpu; /* of time off the CPU; its counters follow those of the events */
	uint64_t offcpu_ended; /* intervals cut off by the stop of the driver, and their squares: */
	struct offcpu_squares ended[SAMPLE_OFFCPU_EVENTS];

	bool kernel_changed;
	uint64_t module_count;
	uint64_t doubted_ns;
	size_t doubt_next; /* file to be checked; 0: all were */
	uint64_t drained_ns;
	struct turn *turn; /* or NULL */
};

static bool has_offcpu(const struct driver *d)
{
	return evoffcpu_count(&d->offcpu) > 0;
}

#define BY_PERF "are sampled by driver perf, which --driver=auto chooses"
/* Checks whether the driver supports @config. */
static int check(const struct driver_config *config, struct error *err)
{
	size_t i;

	if (config->root && *config->root)
		return error_set(err, -ENOTSUP, "the kernel of another --root cannot be sampled");
	if (config->scope == DRIVER_TASK)
		return error_set(err, -ENOTSUP,
				 "profiling a process requires root, or CAP_BPF and CAP_PERFMON");
	if (config->derived.event_count)
		return error_set(err, -ENOTSUP, "instruction-based samples (IBS) " BY_PERF);
	for (i = 0; i < config->event_count; i++)
		if (config->events[i].perf_type == PERF_TYPE_TRACEPOINT ||
		    *config->events[i].probed)
			return error_set(err, -ENOTSUP, "tracepoints and probes " BY_PERF);
	if (config->scope == DRIVER_TREE && !procfs_first_pid_namespace())
		return error_set(
			err, -ENOTSUP,
			"it cannot follow a process in a PID namespace other than the first; "
			"use the driver perf, or profile the whole machine");
	return 0;
}

static void bpf_shutdown(struct driver *d)
{
	if (!d)
		return;
	sampling_done(&d->sampling);
	bpf_follow_done(&d->follow);
	table_loader_stop(d->tables);
	code_store_free(d->codes);
	bpf_samples_close_chains(&d->samples);
	sampler_free(d->sampler);
	sampler_images_free(d->samples.images);
	cgroups_free(d->samples.cgroups);
	free(d->why);
	evbuf_free(d->samples.out);
	kernel_events_done(&d->samples.codes);
	free(d);
}

DEFINE_CLEANUP(struct driver *, bpf_shutdown);

/* Opens the events of all CPUs with the program attached. */
static int open_events(struct driver *d, const struct driver_config *config, struct error *err)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct perf_plan *plan = &d->sampling.plan;
	struct driver_config flat = *config;
	int r;

	/* The BPF program takes the call chains, not perf. */
	flat.callgraph_depth = 0;
	flat.cgroups = false;
	flat.derived.offcpu = (struct evoffcpu){ 0 };
	r = sampling_plan(&d->sampling, "bpf", &flat, err);
	if (r < 0)
		return r;
	plan->attach = sampler_attach;
	plan->attach_data = d->sampler;
	plan->root = "";
	/* As small as possible: few records go through them. */
	plan->attrs.sample_bytes = plan->attrs.sideband_bytes = (size_t)sysconf(_SC_PAGESIZE);
	plan->attrs.kernel_only = true;
	plan->attrs.report_cgroups = config->cgroups;
	r = sampling_open(&d->sampling, err);
	if (r < 0)
		return r;
	event.data.fd = sampler_fd(d->sampler);
	return epoll_ctl(d->sampling.cpus.epoll, EPOLL_CTL_ADD, event.data.fd, &event) < 0
		       ? error_errno(err, -errno, "cannot watch the BPF program")
		       : 0;
}

static void say_why(struct driver *d)
{
	unsigned int depth = MIN(d->depth_asked, (unsigned int)SAMPLE_DEPTH_MAX);

	free(d->why);
	if (!depth)
		d->why = xstrdup(d->sampling.plan.why);
	else if (d->mode == DRIVER_CHAINS_FP)
		d->why = xasprintf("%s; call chains by frame pointers, up to %u deep",
				   d->sampling.plan.why, depth);
	else
		d->why = xasprintf(
			"%s; call chains by unwind tables of at most %zu MiB, up to %u deep",
			d->sampling.plan.why, d->unwind_bytes >> 20, depth);
}

/* Prepares for call chains, if requested. */
static int open_chains(struct driver *d, const struct driver_config *config, struct error *err)
{
	bool by_tables = config->callgraph_mode != DRIVER_CHAINS_FP;

	say_why(d);
	if (!d->depth_asked)
		return 0;
	bpf_samples_open_chains(&d->samples, d->sampler);
	if (!by_tables)
		return 0;
	d->codes = code_store_new(d->sampler);
	return table_loader_start(d->sampler, d->samples.cookies, d->unwind_bytes, &d->tables, err);
}

static int bpf_setup(const struct driver_config *config, struct driver **ret, struct error *err)
{
	_cleanup_(bpf_shutdownp) struct driver *d = xcalloc(1, sizeof(*d));
	const struct sampler_config sampler = {
		.keys = bpf_sizes_keys(config),
		.follow = config->scope == DRIVER_TREE,
		.depth = config->callgraph_depth,
		.interpreters = true,
		.by_frame_pointers = config->callgraph_mode == DRIVER_CHAINS_FP,
		.tables = bpf_sizes_tables(config),
		.cgroups = config->cgroups,
		.comms = config->comms,
		.offcpu = config->derived.offcpu,
	};
	int r = check(config, err);

	d->sampling = (struct sampling)SAMPLING_INIT;
	d->keys = sampler.keys;
	d->depth_asked = config->callgraph_depth;
	d->mode = config->callgraph_mode;
	d->unwind_bytes = config->unwind_bytes ?: DRIVER_UNWIND_DEFAULT;
	if (r == 0)
		r = sampler_new(&sampler, &d->sampler, err);
	if (r == 0)
		r = open_events(d, config, err);
	d->turn = config->turn;
	d->samples.cookies = config->cookies;
	d->samples.comms = config->comms;
	d->samples.cpus = &d->sampling.cpus;
	d->samples.images = sampler_images_new("", d->samples.cookies);
	if (config->cgroups)
		d->samples.cgroups = cgroups_new("", CGROUPS_UNIFIED, d->samples.cookies);
	d->samples.out = evbuf_new(config->buffer_words ?: DRIVER_BUFFER_WORDS, config->sink,
				   config->sink_data);
	if (r == 0)
		r = open_chains(d, config, err);
	if (r < 0)
		return r;
	if (config->scope == DRIVER_TREE)
		d->follow = (struct bpf_follow){ config->pid, config->others, config->other_count,
						 config->enable_on_exec };
	d->offcpu = config->derived.offcpu;
	d->samples.offcpu = has_offcpu(d) ? (unsigned int)d->sampling.plan.count : UINT_MAX;
	*ret = STEAL(d);
	return 0;
}

/* Sets the stretch of each CPU in the program again, because events may be new. */
static void tell_stretches(struct driver *d)
{
	size_t i;

	for (i = 0; i < d->sampling.cpus.count; i++)
		sampler_stretch(d->sampler, d->sampling.cpus.cpus[i].cpu,
				d->sampling.cpus.cpus[i].stretch);
}

static int bpf_change(struct driver *d, const struct driver_config *config, struct error *err)
{
	struct perf_plan plan = d->sampling.plan;
	struct perf_targets targets = d->sampling.targets;
	struct perf_cpuset cpus = d->sampling.cpus;
	int r;

	if (check(config, NULL) < 0 || bpf_sizes_keys(config) != d->keys || has_offcpu(d) ||
	    evoffcpu_count(&config->derived.offcpu) || config->callgraph_depth != d->depth_asked ||
	    config->callgraph_mode != d->mode ||
	    (config->unwind_bytes ?: DRIVER_UNWIND_DEFAULT) != d->unwind_bytes ||
	    config->scope != DRIVER_SYSTEM || d->follow.pid)
		return error_set(err, -ENOTSUP, "another BPF program has to be loaded");
	d->sampling.plan = (struct perf_plan){ 0 };
	d->sampling.targets = (struct perf_targets){ 0 };
	d->sampling.cpus = (struct perf_cpuset){ .epoll = -1 };
	r = open_events(d, config, err);
	if (r == 0) {
		perf_cpuset_succeed(&d->sampling.cpus, &cpus);
		tell_stretches(d);
	} else {
		perf_cpuset_close(&d->sampling.cpus);
		cpus.plan = &d->sampling.plan;
	}
	perf_plan_done(r == 0 ? &plan : &d->sampling.plan);
	perf_targets_done(r == 0 ? &targets : &d->sampling.targets);
	if (r < 0) {
		d->sampling.plan = plan;
		d->sampling.targets = targets;
		d->sampling.cpus = cpus;
		return r;
	}
	say_why(d);
	evbuf_free(d->samples.out);
	d->samples.out = evbuf_new(config->buffer_words ?: DRIVER_BUFFER_WORDS, config->sink,
				   config->sink_data);
	/* The new reader knows none of the names and chains. */
	sampler_renew_names(d->sampler);
	if (d->samples.chains)
		sampler_chains_restart(d->samples.chains, d->samples.out);
	return 0;
}

static int bpf_probe(const struct driver_config *config, struct error *err)
{
	struct driver *d = NULL;
	int r = bpf_setup(config, &d, err);

	bpf_shutdown(d);
	return r;
}

/* --- sideband records --- */

static void on_notice(size_t cpu, const struct perf_record *r, void *data)
{
	struct driver *d = data;

	perf_cpu_notice(&d->sampling.cpus.cpus[cpu], r, &d->sampling.stats);
}

static void on_change(size_t cpu, const struct perf_record *r, void *data)
{
	struct driver *d = data;
	struct kernel_code code;

	(void)cpu;
	if (r->type == PERF_RECORD_CGROUP && d->samples.cgroups)
		cgroups_add(d->samples.cgroups, r->new_cgroup.id, r->new_cgroup.path);
	switch (kernel_events_read(r, d->samples.cookies, &code)) {
	case KERNEL_EVENT_CODE:
		kernel_events_add(&d->samples.codes, &code);
		break;
	case KERNEL_EVENT_LOOK:
		d->kernel_changed = true;
		break;
	case KERNEL_EVENT_NONE:
		break;
	}
}

static void read_rings(struct driver *d)
{
	const struct ring_merge_handler handler = { on_notice, on_change, d };

	sampling_read(&d->sampling, &handler, UINT64_MAX);
	d->kernel_changed |= kernel_events_modules_changed("", &d->module_count);
	if (d->kernel_changed)
		evbuf_code(d->samples.out, EVBUF_MODULE_LOADED);
	d->kernel_changed = false;
}

/* --- driver operations --- */

static void bpf_stop(struct driver *d)
{
	(void)sampling_stop(&d->sampling, clock_now_ns());
}

static int bpf_start(struct driver *d, struct error *err)
{
	int r = 0;

	if (d->sampling.running)
		return 0;
	if (d->follow.pid)
		r = bpf_follow_start(&d->follow, d->sampler, err);
	if (r < 0)
		return r;
	d->sampling.running = true;
	r = perf_cpuset_enable_sideband(&d->sampling.cpus, true);
	if (r == 0)
		r = perf_cpuset_enable_samples(&d->sampling.cpus, true);
	if (r == 0 && has_offcpu(d))
		sampler_offcpu(d->sampler, (unsigned int)d->sampling.plan.count);
	if (r < 0) {
		bpf_stop(d);
		return perf_plan_explain(&d->sampling.plan, r, "cannot enable the events", err);
	}
	return 0;
}

static void forget(const struct sample_file *file, void *data)
{
	sampler_forget_image(data, file);
}

/* Makes the program report files again whose identity may belong to another file by now, some at a
 * time. */
static void doubt_images(struct driver *d)
{
	const struct sampler_images_walk walk = { forget, d->sampler, .unsure = true };

	if (!d->doubt_next && d->samples.now_ns < d->doubted_ns + DOUBT_EVERY_S * NS_PER_S)
		return;
	if (!d->doubt_next)
		d->doubted_ns = d->samples.now_ns;
	d->doubt_next = sampler_images_walk(d->samples.images, &walk, d->doubt_next, DOUBT_STEP);
}

static void read_offcpu_counters(struct driver *d)
{
	struct driver_stats *s = &d->sampling.stats;
	struct sample_counters c;
	size_t i;

	sampler_counters(d->sampler, SAMPLE_SLOT_SWITCH, &c);
	s->offcpu_intervals = c.received + d->offcpu_ended;
	for (i = 0; i < SAMPLE_OFFCPU_EVENTS; i++) {
		c.waits[i].of_short += d->ended[i].of_short;
		c.waits[i].of_long += d->ended[i].of_long;
	}
	offcpu_stats_squares(&d->offcpu, c.waits, s);
	s->offcpu_lost =
		d->samples.offcpu_no_path + c.map_full + c.no_mapping + c.no_tree + c.unwatched;
	s->path_ring_full += c.ring_full;
	s->path_truncated += c.path_truncated;
	s->wakes_held += c.wakes_held;
	s->unwound_full += c.chain_full;
	s->unwound_frames += c.frames;
}

/* Adds the counters of the programs that watch processes. */
static void read_process_counters(struct driver *d)
{
	struct driver_stats *s = &d->sampling.stats;
	struct sample_counters c;

	sampler_counters(d->sampler, SAMPLE_SLOT_PROCESS, &c);
	s->path_ring_full += c.ring_full;
	s->path_truncated += c.path_truncated;
	s->executables_full = c.exe_full;
}

/* Reads the program's other counters; samples that are not drained yet do not count yet. */
static void read_counters(struct driver *d)
{
	struct driver_stats *s = &d->sampling.stats;
	struct table_store_stats tables;
	struct sample_counters c;

	sampler_counters(d->sampler, SAMPLE_SLOT_EVENT, &c);
	s->sample_stretched = c.stood_for;
	s->sample_received = d->samples.drained + c.no_mapping + c.no_tree + c.filtered;
	s->sample_lost_overflow = c.map_full + perf_cpuset_lost(&d->sampling.cpus);
	s->sample_lost_skipped = c.skipped;
	s->waited_ns = perf_cpuset_waited_ns(&d->sampling.cpus);
	s->sample_lost_no_path = d->samples.lost_no_path;
	s->sample_lost_no_mapping = c.no_mapping;
	s->sample_lost_no_tree = c.no_tree;
	s->sample_filtered = c.filtered;
	s->path_ring_full = c.ring_full;
	s->path_truncated = c.path_truncated;
	s->wakes_held = c.wakes_held;
	s->follow_full = c.follow_full;
	s->unwound_full = c.chain_full;
	s->unwound_frames = c.frames;
	bpf_samples_count_scripts(d->sampler, s);
	read_process_counters(d);
	if (has_offcpu(d))
		read_offcpu_counters(d);
	if (!d->tables)
		return;
	s->unwind_code_refused = code_store_refused(d->codes);
	s->unwind_code_dense = code_store_dense(d->codes);
	table_loader_stats(d->tables, &tables);
#define X(name, ...) s->name = tables.counters.name;
	COUNTERS_OF_TABLES(X)
#undef X
}

/* Returns whether a drain is due. Its cost depends on the size of the maps, not on their
 * content. */
static bool is_due(const struct driver *d)
{
	uint64_t every_ns = sampler_met_memory(d->sampler) ? DRAIN_MEMORY_EVERY_NS : DRAIN_EVERY_NS;

	return d->samples.now_ns >= d->drained_ns + every_ns || sampler_is_filling(d->sampler);
}

/* Drains the counts of the round that has ended. */
static void drain(struct driver *d)
{
	const struct sampler_handler handler = bpf_samples_handler(&d->samples);

	d->drained_ns = d->samples.now_ns;
	sampler_drain(d->sampler, &handler);
	bpf_samples_let_come(&d->samples, d->drained_ns);
	if (d->samples.chains)
		sampler_chains_prune(d->samples.chains);
}

/* Handles new images and chains while they can still be identified. */
static void listen(struct driver *d)
{
	const struct sampler_handler handler = bpf_samples_handler(&d->samples);

	sampler_listen(d->sampler, &handler);
}

static int bpf_sync(struct driver *d, bool all, struct error *err)
{
	bool over = d->follow.pid && !sampler_any_followed(d->sampler), is_drained;
	int r;

	perf_cpuset_clear_wakeups(&d->sampling.cpus);
	d->samples.now_ns = clock_now_ns();
	is_drained = all || over || is_due(d);
	/* The rings are read between the end of a round and its drain, so they have reported all
	 * code that was sampled in it. Code reported later may still get older samples. */
	if (is_drained)
		sampler_end_round(d->sampler);
	read_rings(d);
	if (is_drained)
		drain(d);
	else
		listen(d);
	if (all && !d->sampling.running) {
		const struct sampler_handler ended = bpf_samples_handler(&d->samples);

		listen(d);
		d->offcpu_ended += sampler_offcpu_end(d->sampler, &ended, d->ended);
	}
	r = evbuf_flush(d->samples.out);
	evbuf_restart(d->samples.out);
	turn_stage(d->turn, TURN_DRAIN);
	read_counters(d);
	executables_look(&d->executables, d->sampler, d->sampling.stats.executables_full);
	doubt_images(d);
	if (sampling_look_at_cpus(&d->sampling, d->samples.now_ns))
		tell_stretches(d);
	turn_stage(d->turn, TURN_CHECK);
	if (is_drained)
		d->sampling.stats.images_swept += bpf_sweep(&d->sweep, d->sampler, &d->samples);
	turn_stage(d->turn, TURN_SWEEP);
	if (r < 0)
		return error_errno(err, r, "cannot record the samples");
	return over;
}

static void bpf_spell_out(struct driver *d, bool on)
{
	if (!d->samples.chains)
		return;
	(void)bpf_sync(d, true, NULL);
	sampler_chains_spell_out(d->samples.chains, on);
}

static uint64_t bpf_taken_until_ns(const struct driver *d)
{
	return d->drained_ns;
}

static int bpf_fd(const struct driver *d)
{
	return d->sampling.cpus.epoll;
}

static const struct event *bpf_events(const struct driver *d, size_t *ret_count)
{
	*ret_count = d->sampling.plan.count;
	return d->sampling.plan.events;
}

static const char *bpf_why(const struct driver *d)
{
	return d->why;
}

static void bpf_stats(const struct driver *d, struct driver_stats *ret)
{
	*ret = d->sampling.stats;
}

static void bpf_cpu_stats(const struct driver *d, unsigned int cpu, struct driver_cpu_stats *ret)
{
	struct sample_counters c;

	sampler_cpu_counters(d->sampler, cpu, &c);
	perf_cpuset_cpu_stats(&d->sampling.cpus, cpu, ret);
	ret->sample_received = c.received + c.stood_for - c.map_full;
	ret->sample_lost_overflow += c.map_full;
	ret->sample_invalid_eip = c.no_mapping + c.no_tree;
}

static size_t bpf_costs(struct driver *d, struct driver_cost *ret, size_t room)
{
	size_t i, n = perf_cpuset_costs(&d->sampling.cpus, clock_now_ns(), ret, room);

	for (i = 0; i < n; i++) {
		struct sample_counters c;

		sampler_cpu_counters(d->sampler, ret[i].cpu, &c);
		ret[i].samples = c.received;
		ret[i].interrupts = MAX(ret[i].interrupts, c.received);
		ret[i].program_ns = c.run_ns;
	}
	return n;
}

static uint64_t bpf_kernel_bytes(const struct driver *d)
{
	struct table_store_stats tables = { 0 };

	if (d->tables)
		table_loader_stats(d->tables, &tables);
	return sampler_kernel_bytes(d->sampler) + tables.bytes;
}

static void bpf_kernel_text(struct driver *d, uint64_t start, uint64_t end)
{
	sampler_set_text(d->sampler, start, end);
}

static void bpf_expect(struct driver *d, int fd)
{
	if (d->tables)
		table_loader_expect(d->tables, fd);
}

static void bpf_code(struct driver *d, const struct unwind_code *code)
{
	if (d->codes)
		code_store_put(d->codes, code);
}

static void bpf_renew_names(struct driver *d)
{
	sampler_renew_names(d->sampler);
}

static int bpf_stretch(struct driver *d, unsigned int cpu, uint32_t stretch)
{
	int r = sampling_stretch(&d->sampling, cpu, stretch);

	/* A sample in between counts with the old stretch. */
	if (r == 0)
		sampler_stretch(d->sampler, cpu, stretch);
	return r;
}

const struct driver_ops driver_bpf = {
	.name = "bpf",
	.probe = bpf_probe,
	.setup = bpf_setup,
	.change = bpf_change,
	.start = bpf_start,
	.sync = bpf_sync,
	.taken_until_ns = bpf_taken_until_ns,
	.stop = bpf_stop,
	.shutdown = bpf_shutdown,
	.spell_out = bpf_spell_out,
	.fd = bpf_fd,
	.events = bpf_events,
	.why = bpf_why,
	.stats = bpf_stats,
	.cpu_stats = bpf_cpu_stats,
	.costs = bpf_costs,
	.kernel_bytes = bpf_kernel_bytes,
	.stretch = bpf_stretch,
	.expect = bpf_expect,
	.code = bpf_code,
	.renew_names = bpf_renew_names,
	.kernel_text = bpf_kernel_text,
};
