/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/perf_plan.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "file/path.h"
#include "perf/ibs_raw.h"
#include "perf/perf_pmus.h"
#include "perf/perf_refusal.h"
#include "perf/user_stack.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <string.h>
#include <unistd.h>

/* Default rate of the clock; not a multiple of the rates of timer-driven work. */
enum { TIMER_HZ = 997 };

/* Highest rate without "force": every 100 us. */
enum { RATE_FLOOR_HZ = 10000 };

/* Ring sizes per CPU. Those for an ordinary user stay below kernel.perf_event_mlock_kb (516). */
enum {
	SIDEBAND_BYTES = 256 << 10,
	SIDEBAND_BYTES_SWITCHES = 2 << 20, /* some ten thousand switches per second */
	SAMPLE_BYTES_USER = 256 << 10,
	SIDEBAND_BYTES_USER = 128 << 10,
	/* If samples carry stack copies. */
	STACK_BYTES = 32 << 10,
	STACK_SAMPLE_BYTES = 8 << 20, /* a quarter of a second at the default rate */
	STACK_SAMPLE_BYTES_MIN = 1 << 20,
	STACK_SAMPLE_BYTES_ALL = 128 << 20, /* all CPUs together, unless the minimum exceeds it */
	STACK_BYTES_USER = 8 << 10,
	RING_BYTES_MIN = 4 << 10,
	RING_BYTES_MAX = 256 << 20,
};

int perf_plan_explain(const struct perf_plan *plan, int code, const char *step, struct error *err)
{
	const struct perf_attempt attempt = { plan->root, plan->scope == DRIVER_TASK, step };

	return perf_refusal_explain(&attempt, code, err);
}

/* Tries to open @event. Returns 0 or -errno. */
static int try_event(struct perf_plan *plan, const struct event *event, unsigned int cpu)
{
	unsigned int where = perf_pmus_first_cpu(plan->root, event, cpu);
	_cleanup_close_ int fd = perf_event_open_sampling(&plan->attrs, event, plan->pid, where);

	return fd < 0 ? fd : 0;
}

/* Tries to open all events, without the kernel if necessary. Returns 0 or -errno with the first
 * event that does not open in *@ret_which. */
static int try_events(struct perf_plan *plan, unsigned int cpu, bool *ret_no_kernel,
		      const struct event **ret_which)
{
	bool no_kernel = false;
	size_t i;
	int r;

	for (i = 0; i < plan->count; i++) {
		struct event *e = &plan->events[i];

		r = try_event(plan, e, cpu);
		if (perf_refusal(r) && e->kernel && e->user) {
			e->kernel = false;
			no_kernel = true;
			r = try_event(plan, e, cpu);
		}
		*ret_which = e;
		if (r < 0)
			return r;
	}
	*ret_no_kernel = no_kernel;
	return 0;
}

/* Does the same for the events of instruction-based sampling. */
static int try_ibs(struct perf_plan *plan, unsigned int cpu, const struct event **ret_which)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < ARRAY_SIZE(plan->ibs); i++) {
		if (!plan->has_ibs[i])
			continue;
		*ret_which = &plan->ibs[i];
		r = try_event(plan, &plan->ibs[i], cpu);
	}
	return r;
}

/* The kernel's limit of samples per second per CPU, which it lowers by itself on machines where
 * sampling is slow. */
static uint64_t rate_limit(const struct driver_config *config)
{
	uint64_t most;

	if (path_read_u64(config->root, "/proc/sys/kernel/perf_event_max_sample_rate", &most) < 0)
		return UINT64_MAX;
	return most;
}

/* The clock's rate for an event without one, capped at the kernel's limit. A requested rate above
 * the limit is refused instead. */
static uint64_t clock_rate(const struct driver_config *config)
{
	uint64_t rate = config->timer_hz ? config->timer_hz : TIMER_HZ;

	return MIN(rate, rate_limit(config));
}

/* Replaces @failed and all events of CPU counters by the clock; keeps the kernel's software
 * events. */
static void use_timer(struct perf_plan *plan, const struct driver_config *config,
		      const struct event *failed)
{
	struct event clock;
	size_t i, count = 0;
	bool has_clock = false;

	event_timer(&clock, clock_rate(config), false, false);
	for (i = 0; i < plan->count; i++) {
		const struct event *e = &plan->events[i];

		if (e != failed && e->perf_type == PERF_TYPE_SOFTWARE) {
			has_clock |= e->is_timer;
			plan->events[count++] = *e;
			continue;
		}
		clock.kernel |= config->events[i].kernel;
		clock.user |= config->events[i].user;
	}
	if (!has_clock)
		plan->events[count++] = clock;
	plan->count = count;
}

uint64_t perf_plan_clock_hz(const struct event *e)
{
	if (e->perf_type != PERF_TYPE_SOFTWARE || (e->perf_config != PERF_COUNT_SW_CPU_CLOCK &&
						   e->perf_config != PERF_COUNT_SW_TASK_CLOCK))
		return 0;
	/* The clocks count nanoseconds. */
	return e->rate_hz ? e->rate_hz : e->count ? 1000000000 / e->count : 0;
}

/* The samples per second per CPU that @e requests, if it depends on time. */
static uint64_t rate_of(const struct event *e)
{
	return e->rate_hz ? e->rate_hz : perf_plan_clock_hz(e);
}

/* Checks requested rates. The kernel refuses rates above its limit with a bare EINVAL, but lets the
 * clock tick so often that the machine does little else. */
static int check_rates(const struct perf_plan *plan, const struct driver_config *config,
		       struct error *err)
{
	uint64_t most = rate_limit(config);
	size_t i;

	for (i = 0; i < plan->count; i++) {
		const struct event *e = &plan->events[i];

		if (e->rate_hz > most)
			return error_set(err, -EINVAL,
					 "%s: %" PRIu64 " samples per second is above the kernel's "
					 "limit of %" PRIu64 "; lower the rate, or run sysctl "
					 "kernel.perf_event_max_sample_rate=%" PRIu64,
					 e->name, e->rate_hz, most, e->rate_hz);
		if (rate_of(e) > RATE_FLOOR_HZ && !config->force)
			return error_set(err, -EINVAL,
					 "%s: %" PRIu64
					 " samples per second per CPU leave little CPU time for "
					 "anything else; use %d at most, or --force",
					 e->name, rate_of(e), RATE_FLOOR_HZ);
	}
	return 0;
}

static void describe_events(const struct perf_plan *plan, struct strbuf *why)
{
	const char *between = "";
	size_t i;

	for (i = 0; i < plan->count; i++) {
		const struct event *e = &plan->events[i];

		strbuf_adds(why, between);
		between = "; ";
		if (e->is_timer)
			strbuf_addf(why, "the clock, %" PRIu64 " samples per second per CPU",
				    e->rate_hz);
		else if (e->rate_hz)
			strbuf_addf(why, "%s, %" PRIu64 " samples per second per CPU", e->name,
				    e->rate_hz);
		else
			strbuf_addf(why, "%s, a sample every %" PRIu64, e->name, e->count);
	}
	for (i = 0; i < ARRAY_SIZE(plan->ibs); i++)
		if (plan->has_ibs[i]) {
			strbuf_addf(why, "%sPMU %s, a sample every %" PRIu64, between,
				    plan->ibs[i].pmu, plan->ibs[i].count);
			between = "; ";
		}
}

static void describe_chains(const struct perf_plan *plan, const struct driver_config *config,
			    struct strbuf *why)
{
	if (!config->callgraph_depth)
		return;
	if (plan->by_table)
		strbuf_addf(why,
			    "; call chains by unwind tables of at most %zu MiB over copies of %u "
			    "KiB of the stack, up to %zu deep",
			    (config->unwind_bytes ?: DRIVER_UNWIND_DEFAULT) >> 20,
			    plan->attrs.stack_bytes >> 10, plan->depth);
	else
		strbuf_addf(why, "; call chains by frame pointers, up to %zu deep", plan->depth);
	if (plan->depth < config->callgraph_depth)
		strbuf_addf(why, " (sysctl kernel.perf_event_max_stack; %u requested)",
			    config->callgraph_depth);
}

/* The result of trying to open the events. */
struct outcome {
	const char *driver, *instead; /* which driver samples, and why not a preferred one */
	struct event failed;	      /* replaced by the clock */
	int code;		      /* error of ->failed; 0: all opened */
	bool no_kernel;		      /* the kernel is not sampled */
};

/* Writes plan->why. */
static void explain_choice(struct perf_plan *plan, const struct driver_config *config,
			   const struct outcome *o)
{
	static const char *const scopes[] = {
		[DRIVER_SYSTEM] = "the whole system",
		[DRIVER_TREE] = "a process and its descendants",
		[DRIVER_TASK] = "a process and its children",
	};
	_cleanup_(strbuf_done) struct strbuf why = STRBUF_INIT;

	strbuf_addf(&why, "%s: %s by ", o->driver, scopes[plan->scope]);
	describe_events(plan, &why);
	if (o->code)
		strbuf_addf(&why, " (timer mode: event %s cannot be opened: %s)", o->failed.name,
			    strerror(-o->code));
	if (o->no_kernel)
		strbuf_adds(&why, "; without the kernel (kernel.perf_event_paranoid is above 1 and "
				  "the program lacks cap_perfmon)");
	describe_chains(plan, config, &why);
	if (o->instead)
		strbuf_addf(&why, "; %s", o->instead);
	plan->why = strbuf_take(&why);
}

/* Rounds @wanted bytes to a ring size, a power of two. */
static size_t ring_bytes(size_t wanted)
{
	size_t bytes = RING_BYTES_MIN;

	while (bytes < wanted && bytes < RING_BYTES_MAX)
		bytes *= 2;
	return MAX(bytes, (size_t)sysconf(_SC_PAGESIZE));
}

/* The depth to request from the kernel, which limits it by sysctl. */
static uint16_t chain_depth(const struct driver_config *config)
{
	uint64_t most;

	if (path_read_u64(config->root, "/proc/sys/kernel/perf_event_max_stack", &most) < 0)
		most = PERF_MAX_STACK_DEPTH;
	most = MIN(most, (uint64_t)UINT16_MAX);
	return (uint16_t)MIN((uint64_t)config->callgraph_depth, most);
}

/* The size of a ring whose samples carry stack copies. */
static size_t stack_ring_bytes(void)
{
	size_t cpus = (size_t)MAX(sysconf(_SC_NPROCESSORS_ONLN), 1);
	size_t bytes = STACK_SAMPLE_BYTES;

	while (bytes > STACK_SAMPLE_BYTES_MIN && bytes * cpus > STACK_SAMPLE_BYTES_ALL)
		bytes /= 2;
	return bytes;
}

static void plan_init(struct perf_plan *plan, const struct driver_config *config)
{
	bool task = config->scope == DRIVER_TASK;
	/* Stay within what an ordinary user may lock in memory. */
	bool is_small = task && (geteuid() != 0 || !config->callgraph_depth);
	size_t i;

	*plan = (struct perf_plan){
		.count = MIN(config->event_count, (size_t)EVENT_MAX),
		.attrs = { .inherit = task,
			   .enable_on_exec = task && config->enable_on_exec,
			   .chain_depth = chain_depth(config),
			   .sample_cgroup = config->cgroups,
			   .report_cgroups = config->cgroups,
			   .open = config->open_event,
			   .open_data = config->open_data },
		.switches = evoffcpu_count(&config->derived.offcpu) > 0,
		.scope = config->scope,
		.root = config->root,
		.pid = task ? config->pid : -1,
	};
	if (plan->attrs.chain_depth && config->callgraph_mode != DRIVER_CHAINS_FP)
		plan->attrs.stack_bytes = is_small ? STACK_BYTES_USER : STACK_BYTES;
	plan->attrs.no_user_stack = !USER_STACK_REGS;
	if (config->cpu_buffer_bytes)
		plan->attrs.sample_bytes = ring_bytes(config->cpu_buffer_bytes);
	else if (is_small)
		plan->attrs.sample_bytes = SAMPLE_BYTES_USER;
	else
		plan->attrs.sample_bytes =
			plan->attrs.stack_bytes ? stack_ring_bytes() : DRIVER_CPU_BUFFER_BYTES;
	plan->attrs.sideband_bytes = ring_bytes(plan->switches ? SIDEBAND_BYTES_SWITCHES
						: task	       ? SIDEBAND_BYTES_USER
							       : SIDEBAND_BYTES);
	memcpy(plan->events, config->events, plan->count * sizeof(*plan->events));
	for (i = 0; i < plan->count; i++)
		if (plan->events[i].is_timer && !plan->events[i].rate_hz)
			plan->events[i].rate_hz = clock_rate(config);
}

/* Sets the depth and method of chains, once the kernel's limits are known. */
static int settle_chains(struct perf_plan *plan, const struct driver_config *config,
			 struct error *err)
{
	plan->by_table = plan->attrs.stack_bytes && !plan->attrs.no_user_stack;
	if (!plan->by_table) {
		plan->attrs.stack_bytes = 0;
		plan->depth = plan->attrs.chain_depth;
		if (config->callgraph_depth && config->callgraph_mode == DRIVER_CHAINS_TABLE)
			return error_set(err, -EOPNOTSUPP,
					 "this kernel cannot copy stacks into samples; driver perf "
					 "then finds callers by frame pointers only");
		return 0;
	}
	/* The kernel's limit applies only to kernel frames; we unwind the rest. */
	plan->depth = config->callgraph_depth;
	return 0;
}

/* Plans the sampling of each kind of IBS that has events. */
static int plan_ibs(struct perf_plan *plan, const struct evderived *derived, struct error *err)
{
	const char *const settings[] = {
		[IBS_FETCH] = "rand_en",
		[IBS_OP] = derived->ibs[IBS_OP].unit_mask & IBS_OPS ? "cnt_ctl" : "config=0",
	};
	enum ibs_kind kind;

	for (kind = IBS_FETCH; kind < IBS_KIND_COUNT_; kind++) {
		/* The periods of these PMUs have their four lowest bits clear. */
		uint64_t count = derived->ibs[kind].count & ~(uint64_t)15;

		plan->has_ibs[kind] = derived->ibs[kind].count;
		if (plan->has_ibs[kind] &&
		    event_of_pmu(plan->root ?: "", ibs_kinds[kind].pmu, settings[kind], count,
				 &plan->ibs[kind], err) < 0)
			return -EINVAL;
		plan->ibs[kind].raw = true;
	}
	return 0;
}

/* Rejects what can be rejected without opening anything. */
static int check_config(struct perf_plan *plan, const struct driver_config *config,
			struct error *err)
{
	int r;

	if (!plan->count && !config->derived.event_count)
		return error_set(err, -EINVAL, "no event to sample");
	if (plan->switches && plan->scope == DRIVER_TASK) {
		_cleanup_free_ char *right = perf_refusal_right(0);

		return error_set(err, -EPERM, "off-CPU time is measured on the whole machine; %s",
				 right);
	}
	if (config->derived.offcpu.wakers)
		return error_set(err, -EOPNOTSUPP,
				 "only driver bpf knows wakers; it shows them in call chains "
				 "(--callgraph)");
	if (config->derived.offcpu.reasons)
		return error_set(
			err, -EOPNOTSUPP,
			"why a task is off the CPU is not known to it: of these events, it "
			"has only OFFCPU");
	r = plan_ibs(plan, &config->derived, err);
	if (r == 0)
		r = perf_pmus_check(plan->root, plan->events, plan->count, err);
	return r < 0 ? r : check_rates(plan, config, err);
}

/* Writes to @err that @which did not open. */
static int explain_event(const struct perf_plan *plan, const struct driver_config *config,
			 const struct event *which, int code, struct error *err)
{
	_cleanup_free_ char *step = NULL;
	struct perf_attempt attempt;

	if (code == -EINVAL && config->cgroups)
		return error_set(err, code,
				 "this kernel does not report the cgroup of samples; use Linux 5.7 "
				 "or later with CONFIG_CGROUP_PERF");
	if (*which->probed && !perf_refusal(code))
		return error_set(err, code,
				 *which->probed == '/'
					 ? "event %s: the kernel cannot probe %s there"
					 : "event %s: the kernel has no function %s that it can "
					   "probe there",
				 which->name, which->probed);
	step = xasprintf("cannot open event %s%s%.*s", which->name,
			 which->precise_by ? ", sampled as precisely as :" : "", which->precise_by,
			 "ppp");
	attempt = (struct perf_attempt){ plan->root, plan->scope == DRIVER_TASK, step,
					 *which->probed != '\0' };
	return perf_refusal_explain(&attempt, code, err);
}

/* Tries to open the events, replacing those that do not open by the clock. */
static int try_all(struct perf_plan *plan, const struct driver_config *config, unsigned int cpu,
		   struct outcome *outcome, struct error *err)
{
	const struct event *which = NULL;
	int r = try_events(plan, cpu, &outcome->no_kernel, &which);

	/* The clock cannot replace precise samples, nor a place in the kernel. */
	if (r < 0 && !which->is_timer && !which->precise_by && !*which->probed &&
	    !config->no_timer_fallback) {
		outcome->failed = *which;
		outcome->code = r;
		use_timer(plan, config, which);
		r = check_rates(plan, config, err);
		if (r < 0)
			return r;
		r = try_events(plan, cpu, &outcome->no_kernel, &which);
	}
	if (r == 0)
		r = try_ibs(plan, cpu, &which);
	return r < 0 ? explain_event(plan, config, which, r, err) : 0;
}

int perf_plan_make(struct perf_plan *ret, const char *driver, const struct driver_config *wanted,
		   unsigned int cpu, struct error *err)
{
	struct outcome outcome = { .driver = driver, .instead = wanted->instead };
	struct driver_config config = *wanted;
	struct perf_plan plan;
	int r;

	if (config.callgraph_unasked)
		config.callgraph_depth = 0;
	plan_init(&plan, &config);
	r = check_config(&plan, &config, err);
	if (r == 0)
		r = try_all(&plan, &config, cpu, &outcome, err);
	if (r == 0)
		r = settle_chains(&plan, &config, err);
	if (r < 0)
		return r;
	explain_choice(&plan, &config, &outcome);
	*ret = plan;
	return 0;
}

bool perf_plan_shrink(struct perf_plan *plan)
{
	size_t least = ring_bytes(0);

	if (plan->attrs.sample_bytes == least && plan->attrs.sideband_bytes == least)
		return false;
	plan->attrs.sample_bytes = MAX(plan->attrs.sample_bytes / 2, least);
	plan->attrs.sideband_bytes = MAX(plan->attrs.sideband_bytes / 2, least);
	return true;
}

void perf_plan_done(struct perf_plan *plan)
{
	free(plan->why);
	plan->why = NULL;
}
