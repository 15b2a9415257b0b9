/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How events are opened on machines that are not here: those of tests/fixtures/machines, with
 * something in the place of perf_event_open(2) that notes down what it is asked for. */
#include "perf/perf_pmus.h"

#include "perf/counting.h"
#include "driver/perf_plan.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>

enum { OPENED_MAX = 32 };

struct fake {
	struct {
		struct perf_event_attr attr;
		int cpu;
	} opened[OPENED_MAX];
	size_t count;
	uint32_t most_precise; /* more is refused */
	int refuse;	       /* all hardware events, with this -errno */
};

static int fake_open(const struct perf_event_attr *attr, pid_t pid _unused_, int cpu, void *data)
{
	struct fake *f = data;

	if (attr->type != PERF_TYPE_SOFTWARE && f->refuse)
		return f->refuse;
	if (attr->precise_ip > f->most_precise)
		return -EOPNOTSUPP;
	if (f->count < OPENED_MAX) {
		f->opened[f->count].attr = *attr;
		f->opened[f->count++].cpu = cpu;
	}
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static char *machine(const char *name)
{
	return xasprintf("%s/tests/fixtures/machines/%s", getenv("OP_SOURCE_ROOT"), name);
}

/* Plans sampling @specs on a machine. */
static int plan(const char *name, const char *specs, struct fake *f, struct perf_plan *ret,
		struct error *err)
{
	_cleanup_free_ char *root = machine(name);
	struct event events[EVENT_MAX];
	int count = event_parse_list_at(root, specs, events, err), r;
	struct driver_config config = { .events = events,
					.event_count = (size_t)MAX(count, 0),
					.root = root,
					.open_event = fake_open,
					.open_data = f };

	r = count < 0 ? count : perf_plan_make(ret, "perf", &config, 0, err);
	ret->root = NULL;
	return r;
}

static void registers_and_exclusions_reach_the_kernel(void)
{
	static const struct {
		const char *machine, *spec;
		struct perf_event_attr want;
	} rows[] = {
		{ "intel-skylake",
		  "cpu/mem-loads,ldlat=30/:9000:0:1:1:pp",
		  { .type = 4, .config = 0x1cd, .config1 = 30, .precise_ip = 2 } },
		{ "intel-skylake",
		  "cpu/cpu-cycles/:9000:0:0:1",
		  { .type = 4, .config = 0x3c, .exclude_kernel = 1, .exclude_hv = 1 } },
		{ "intel-skylake",
		  "cpu/cpu-cycles/:9000:0:1:0:ppp",
		  { .type = 4, .config = 0x3c, .exclude_user = 1, .precise_ip = 3 } },
		{ "amd-zen4", "ibs_op/cnt_ctl/:250000", { .type = 11, .config = 1 << 19 } },
		{ "power9", "cpu/cpu-cycles/:9000", { .type = 4, .config = 0x1e } },
		{ "power9",
		  "cpu/cpu-cycles/:9000:0:1:1:0",
		  { .type = 4, .config = 0x1e, .exclude_hv = 1 } },
		{ "intel-skylake",
		  "cpu/cpu-cycles/:9000:0:1:1:0:p",
		  { .type = 4, .config = 0x3c, .exclude_hv = 1, .precise_ip = 1 } },
		{ "s390-z15", "cpum_sf/SF_CYCLES_BASIC/:9000", { .type = 4, .config = 0xb0000 } },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct fake f = { .most_precise = 3 };
		struct error err = ERROR_INIT;
		struct perf_plan p = { 0 };
		const struct perf_event_attr *got = &f.opened[0].attr, *want = &rows[i].want;

		printf("# %s %s\n", rows[i].machine, rows[i].spec);
		CHECK_EQ(plan(rows[i].machine, rows[i].spec, &f, &p, &err), 0);
		CHECK_EQ(f.count, 1);
		CHECK_EQ(got->type, want->type);
		CHECK_EQ(got->config, want->config);
		CHECK_EQ(got->config1, want->config1);
		CHECK_EQ(got->precise_ip, want->precise_ip);
		CHECK_EQ(got->exclude_kernel, want->exclude_kernel);
		CHECK_EQ(got->exclude_hv, want->exclude_hv);
		CHECK_EQ(got->exclude_user, want->exclude_user);
		perf_plan_done(&p);
	}
}

static void types_of_cores_are_opened_on_their_own_cpus(void)
{
	_cleanup_free_ char *root = machine("intel-alderlake");
	struct fake f = { 0 };
	struct error err = ERROR_INIT;
	struct perf_plan p = { 0 };
	unsigned int cpu;

	CHECK_EQ(plan("intel-alderlake", "default", &f, &p, &err), 0);
	CHECK_EQ(p.count, 2);
	CHECK_EQ(f.count, 2);
	CHECK_EQ(f.opened[0].cpu, 16);
	CHECK_EQ(f.opened[0].attr.config, 10ULL << 32);
	CHECK_EQ(f.opened[1].cpu, 0);
	CHECK_EQ(f.opened[1].attr.config, 4ULL << 32);
	for (cpu = 0; cpu < 24; cpu++) {
		CHECK_EQ(perf_pmus_counts(root, &p.events[0], cpu), cpu >= 16);
		CHECK_EQ(perf_pmus_counts(root, &p.events[1], cpu), cpu < 16);
	}
	perf_plan_done(&p);
}

static void what_cannot_be_sampled_says_why(void)
{
	static const struct {
		const char *machine, *spec;
		int refuse, r;
		const char *says;
	} rows[] = {
		{ "intel-sapphirerapids", "uncore_imc_0/cas_count_read/", 0, -EINVAL,
		  "event uncore_imc_0~cas_count_read counts for a whole socket (on CPUs 0,56)" },
		{ "intel-skylake", "cpu/cpu-cycles/:9000:pp", -EOPNOTSUPP, -EOPNOTSUPP,
		  "cannot open event cpu~cpu-cycles, sampled as precisely as :pp: " },
		{ "intel-skylake", "cpu/cpu-cycles/:9000:p", -EBUSY, -EBUSY,
		  "the NMI watchdog uses the counter: sysctl kernel.nmi_watchdog=0" },
		{ "intel-sapphirerapids", "cpu/cpu-cycles/:9000:p", -EBUSY, -EBUSY,
		  "the counter is in use" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct fake f = { .refuse = rows[i].refuse, .most_precise = 3 };
		struct error err = ERROR_INIT;
		struct perf_plan p = { 0 };

		CHECK_EQ(plan(rows[i].machine, rows[i].spec, &f, &p, &err), rows[i].r);
		if (!strstr(err.text, rows[i].says)) {
			printf("# %s\n", err.text);
			CHECK_STR(err.text, rows[i].says);
		}
		perf_plan_done(&p);
	}
}

static void without_counters_the_clock_samples(void)
{
	struct fake f = { .refuse = -ENOENT };
	struct error err = ERROR_INIT;
	struct perf_plan p = { 0 };

	CHECK_EQ(plan("intel-alderlake", "default", &f, &p, &err), 0);
	CHECK_EQ(p.count, 1);
	CHECK(p.events[0].is_timer && strstr(p.why, "timer mode"));
	perf_plan_done(&p);
}

static void instruction_based_samples_have_their_pmus(void)
{
	static const char *const rows[] = { "fetch:IBS_FETCH_ALL:250000", "op:IBS_OP_ALL:100005:1",
					    "fetch:IBS_FETCH_ALL:250000|op:IBS_OP_ALL:250000:0" };
	_cleanup_free_ char *zen4 = machine("amd-zen4"), *vm = machine("vm-without-pmu");
	struct event clock;
	struct driver_config config = { .events = &clock, .event_count = 1, .root = zen4 };
	struct error err = ERROR_INIT;
	struct perf_plan p = { 0 };
	size_t i;

	event_timer(&clock, 99, true, true);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *text = xasprintf("ibs:%s", rows[i]);
		const struct event_terms *terms = config.derived.ibs;

		CHECK_EQ(evderived_parse(text, &config.derived, NULL), 0);
		config.open_event = fake_open;
		config.open_data = &(struct fake){ 0 };
		CHECK_EQ(perf_plan_make(&p, "perf", &config, 0, &err), 0);
		CHECK_EQ(p.has_ibs[0], terms[0].count != 0);
		CHECK_EQ(p.has_ibs[1], terms[1].count != 0);
		if (p.has_ibs[0]) {
			CHECK_EQ(p.ibs[0].perf_type, 10);
			CHECK_EQ(p.ibs[0].perf_config, 1ULL << 57);
			CHECK_EQ(p.ibs[0].count, 250000 / 16 * 16);
		}
		if (p.has_ibs[1]) {
			CHECK_EQ(p.ibs[1].perf_type, 11);
			CHECK_EQ(p.ibs[1].perf_config, terms[1].unit_mask ? 1 << 19 : 0);
			CHECK_EQ(p.ibs[1].count, terms[1].count / 16 * 16);
			CHECK(p.ibs[1].raw);
		}
		perf_plan_done(&p);
	}
	/* Nothing else need be sampled. */
	config.event_count = 0;
	CHECK_EQ(perf_plan_make(&p, "perf", &config, 0, &err), 0);
	CHECK_EQ(p.count, 0);
	CHECK_STR(p.why, "perf: the whole system by PMU ibs_fetch, a sample every 250000; PMU "
			 "ibs_op, a sample every 250000");
	perf_plan_done(&p);
	config.open_data = &(struct fake){ .refuse = -EBUSY };
	CHECK_EQ(perf_plan_make(&p, "perf", &config, 0, &err), -EBUSY);
	CHECK(strstr(err.text, "cannot open event ibs_fetch~rand_en: "));
	config.root = vm;
	CHECK_EQ(perf_plan_make(&p, "perf", &config, 0, &err), -EINVAL);
	CHECK(strstr(err.text, "no PMU 'ibs_fetch'"));
}

/* Counts @spec on a machine in a place; what is wrong in @err. */
static int count_on(const char *name, const char *spec, const struct counting_place *places,
		    size_t place_count, struct fake *f, struct error *err)
{
	_cleanup_(counting_freep) struct counting *c = NULL;
	_cleanup_free_ char *root = machine(name);
	struct event events[EVENT_MAX];
	int count = event_parse_list_at(root, spec, events, err);

	if (count < 0)
		return count;
	return counting_open(&(struct counting_config){ .events = events,
							.event_count = (size_t)count,
							.places = places,
							.place_count = place_count,
							.root = root,
							.open_event = fake_open,
							.open_data = f },
			     &c, err);
}

static void sockets_are_counted_where_they_say(void)
{
	static const struct counting_place cpus[] = { { -1, 0 }, { -1, 1 }, { -1, 56 } },
					   task[] = { { 1, -1 } }, other[] = { { -1, 3 } };
	static const char spec[] = "uncore_imc_0/cas_count_read/";
	struct error err = ERROR_INIT;
	struct fake f = { 0 };

	CHECK_EQ(count_on("intel-sapphirerapids", spec, cpus, ARRAY_SIZE(cpus), &f, &err), 0);
	CHECK_EQ(f.count, 2);
	CHECK_EQ(f.opened[0].cpu, 0);
	CHECK_EQ(f.opened[1].cpu, 56);
	CHECK_EQ(f.opened[1].attr.type, 48);
	CHECK_EQ(count_on("intel-sapphirerapids", spec, task, 1, &f, &err), -EINVAL);
	CHECK(strstr(err.text, "counts for a whole socket, not for a task"));
	CHECK_EQ(count_on("intel-sapphirerapids", spec, other, 1, &f, &err), -EINVAL);
	CHECK(strstr(err.text, "PMU uncore_imc_0 does not count on these CPUs"));
}

static void each_type_of_core_is_counted(void)
{
	static const struct counting_place cpus[] = { { -1, 15 }, { -1, 16 } },
					   task[] = { { 1, -1 } };
	struct error err = ERROR_INIT;
	struct fake f = { 0 };

	CHECK_EQ(count_on("intel-alderlake", "INST_RETIRED:60000", cpus, 2, &f, &err), 0);
	CHECK_EQ(f.count, 2);
	CHECK_EQ(f.opened[0].cpu, 16);
	CHECK_EQ(f.opened[1].cpu, 15);
	f.count = 0;
	CHECK_EQ(count_on("intel-alderlake", "INST_RETIRED:60000", task, 1, &f, &err), 0);
	CHECK_EQ(f.count, 2); /* a task may run on both */
}

TESTS(T(registers_and_exclusions_reach_the_kernel), T(types_of_cores_are_opened_on_their_own_cpus),
      T(what_cannot_be_sampled_says_why), T(without_counters_the_clock_samples),
      T(instruction_based_samples_have_their_pmus), T(sockets_are_counted_where_they_say),
      T(each_type_of_core_is_counted))
