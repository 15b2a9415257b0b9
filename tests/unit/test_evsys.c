/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events of kernels, on the machines of tests/fixtures/machines. */
#include "event/evsys.h"

#include "event/cpu_type.h"
#include "event/event.h"
#include "test.h"

#include <errno.h>

/* The root of a machine; caller frees. */
static char *machine(const char *name)
{
	return xasprintf("%s/tests/fixtures/machines/%s", getenv("OP_SOURCE_ROOT"), name);
}

static void machines_have_their_types(void)
{
	static const struct {
		const char *machine, *key;
		size_t core_types;
	} rows[] = {
		{ "intel-skylake", "i386/skylake", 0 },
		{ "intel-sapphirerapids", "i386/sapphirerapids", 0 },
		{ "intel-alderlake", "i386/alderlake", 2 },
		{ "amd-zen1", "x86-64/zen1", 0 },
		{ "amd-zen2", "x86-64/zen2", 0 },
		{ "amd-zen3", "x86-64/zen3", 0 },
		{ "amd-zen4", "x86-64/zen4", 0 },
		{ "arm-graviton2", "arm/armv8-neoverse-n1", 0 },
		{ "arm-graviton3", "arm/armv8-neoverse-v1", 0 },
		{ "power9", "ppc64/power9", 0 },
		{ "s390-z15", "s390/z15", 0 },
		{ "vm-without-pmu", "x86-64/zen4", 0 },
	};
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *root = machine(rows[i].machine);
		struct evsys_pmu *types = NULL;
		size_t count = evsys_core_types(root, &types);

		CHECK_STR(cpu_type_detect(root, false)->key, rows[i].key);
		CHECK_EQ(count, rows[i].core_types);
		for (k = 0; k < count; k++)
			evsys_pmu_done(&types[k]);
		free(types);
	}
}

static void terms_become_registers(void)
{
	static const struct {
		const char *machine, *spec, *text;
		uint32_t type;
		uint64_t config, config1;
		uint8_t precise;
	} rows[] = {
		{ "intel-skylake", "cpu/cache-misses/", "cpu~cache-misses:100000:0:1:1", 4, 0x412e,
		  0, 0 },
		{ "intel-skylake", "cpu/event=0x3c/:9000:0:0:1", "cpu~event=0x3c:9000:0:0:1", 4,
		  0x3c, 0, 0 },
		{ "intel-skylake", "cpu/event=0xa3,umask=0x1,cmask=1,edge,inv/:9000",
		  "cpu~event=0xa3+umask=0x1+cmask=1+edge+inv:9000:0:1:1", 4, 0x18401a3, 0, 0 },
		{ "intel-skylake", "cpu/mem-loads/:9000:pp", "cpu~mem-loads:9000:0:1:1:pp", 4,
		  0x1cd, 3, 2 },
		{ "intel-skylake", "cpu/mem-loads/ppp:9000", "cpu~mem-loads:9000:0:1:1:ppp", 4,
		  0x1cd, 3, 3 },
		/* Terms next to an event change it, before or after it. */
		{ "intel-skylake", "cpu/ldlat=30,mem-loads/", NULL, 4, 0x1cd, 30, 0 },
		{ "intel-skylake", "cpu/mem-loads,ldlat=30/", NULL, 4, 0x1cd, 30, 0 },
		{ "intel-skylake", "cpu/config=0x1b7,offcore_rsp=0x3f803c0001/", NULL, 4, 0x1b7,
		  0x3f803c0001, 0 },
		{ "intel-skylake", "power/energy-pkg/", NULL, 9, 2, 0, 0 },
		{ "intel-sapphirerapids", "uncore_cha_0/event=0x35,umask=0xc001fe/", NULL, 60,
		  0xc00100000000 | 0xfe35, 0, 0 },
		{ "intel-sapphirerapids", "uncore_imc_0/cas_count_read/", NULL, 48, 0xcf05, 0, 0 },
		{ "intel-alderlake", "cpu_atom/mem-loads/", NULL, 10, 0x5d0, 3, 0 },
		{ "intel-alderlake", "cpu_core/instructions/", NULL, 4, 0xc0, 0, 0 },
		/* An event of all CPUs on one type of core. */
		{ "intel-alderlake", "cpu_atom/INST_RETIRED/:60000",
		  "cpu_atom~INST_RETIRED:60000:0:1:1", 0, 0xa00000001, 0, 0 },
		{ "amd-zen1", "cpu/event=0x1cf/", NULL, 4, 0x1000000cf, 0, 0 },
		{ "amd-zen4", "ibs_op/cnt_ctl/:250000", "ibs_op~cnt_ctl:250000:0:1:1", 11, 1 << 19,
		  0, 0 },
		{ "amd-zen3", "amd_df/event=0x3fff/", NULL, 13, 0x18000000000000ff | 0xf00000000, 0,
		  0 },
		{ "arm-graviton2", "armv8_pmuv3_0/l1d_cache_refill/", NULL, 8, 3, 0, 0 },
		{ "arm-graviton3", "armv8_pmuv3_0/stall_slot,long/", NULL, 8, 0x3f, 1, 0 },
		{ "power9", "cpu/cpu-cycles/", NULL, 4, 0x1e, 0, 0 },
		{ "power9", "hv_24x7/PM_PB_CYC,chip=2/", NULL, 9, 0xa800020001, 0, 0 },
		{ "s390-z15", "cpum_sf/SF_CYCLES_BASIC/", NULL, 4, 0xb0000, 0, 0 },
		{ "vm-without-pmu", "msr/tsc/", NULL, 9, 0, 0, 0 },
		{ "vm-without-pmu", "r1c2:1000", "r1c2:1000:0:1:1", 4, 0x1c2, 0, 0 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *root = machine(rows[i].machine);
		struct event e = { 0 }, again = { 0 };
		struct error err = ERROR_INIT;

		printf("# %s %s\n", rows[i].machine, rows[i].spec);
		if (!CHECK(event_parse_at(root, rows[i].spec, &e, &err) == 0)) {
			printf("# %s\n", err.text);
			continue;
		}
		CHECK_EQ(e.perf_type, rows[i].type);
		CHECK_EQ(e.perf_config, rows[i].config);
		CHECK_EQ(e.perf_config1, rows[i].config1);
		CHECK_EQ(e.precise, rows[i].precise);
		_cleanup_free_ char *text = event_text_on(cpu_type_detect(root, false), &e);
		if (rows[i].text)
			CHECK_STR(text, rows[i].text);
		CHECK_EQ(event_parse_at(root, text, &again, &err), 0);
		CHECK(!memcmp(&e, &again, sizeof(e)));
	}
}

static void mistakes_name_the_nearest(void)
{
	static const struct {
		const char *machine, *spec, *message;
	} rows[] = {
		{ "intel-skylake", "cpu/cache-mises/",
		  "PMU cpu has no 'cache-mises'; did you mean cache-misses?" },
		{ "intel-skylake", "cpu/evnt=0x3c/", "PMU cpu has no 'evnt'; did you mean event?" },
		{ "intel-skylake", "cpu/event=0x13c/",
		  "event=0x13c of PMU cpu does not fit into "
		  "config:0-7" },
		{ "intel-skylake", "cpu_core/cpu-cycles/",
		  "no PMU 'cpu_core' in /sys/bus/event_source/devices" },
		{ "intel-skylake", "cpu/cpu-cycles,instructions/",
		  "instructions names a second event of PMU cpu" },
		{ "intel-skylake", "cpu/event=/",
		  "'event=' is not a list of terms of PMU cpu: NAME=NUMBER,NAME,..." },
		{ "intel-skylake", "cpu/../../version/", "PMU cpu has no '../../version'" },
		{ "intel-skylake", "cpu//",
		  "event 'cpu//': not of the form PMU/TERM=NUMBER,TERM,.../ without dots and "
		  "blanks" },
		{ "intel-skylake", "cpu/cpu-cycles/:100",
		  "Count 100 for event cpu/cpu-cycles/:100 is below the minimum 500" },
		{ "power9", "hv_24x7/PM_PB_CYC/", "PMU hv_24x7: chip=NUMBER is required as well" },
		{ "amd-zen4", "cpu/cpu-cycles/:9000:pp",
		  "event 'cpu/cpu-cycles/:9000:pp': PMU cpu supports precision up to 0" },
		{ "vm-without-pmu", "cpu/cpu-cycles/",
		  "no PMU 'cpu' in /sys/bus/event_source/devices" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *root = machine(rows[i].machine);
		struct error err = ERROR_INIT;
		struct event e;

		CHECK_EQ(event_parse_at(root, rows[i].spec, &e, &err), -EINVAL);
		CHECK_STR(err.text, rows[i].message);
	}
}

static void each_type_of_core_has_its_own(void)
{
	_cleanup_free_ char *root = machine("intel-alderlake");
	struct event events[EVENT_MAX];
	struct error err = ERROR_INIT;

	CHECK_EQ(event_parse_list_at(root, "default,PAGE_FAULTS,cpu_atom/cache-misses/", events,
				     &err),
		 4);
	CHECK_STR(events[0].name, "cpu_atom~CPU_CLK_UNHALTED");
	CHECK_STR(events[0].pmu, "cpu_atom");
	CHECK_EQ(events[0].perf_type, 0);
	CHECK_EQ(events[0].perf_config, 10ULL << 32);
	CHECK_STR(events[1].name, "cpu_core~CPU_CLK_UNHALTED");
	CHECK_EQ(events[1].perf_config, 4ULL << 32);
	CHECK_STR(events[2].name, "PAGE_FAULTS");
	CHECK_STR(events[3].name, "cpu_atom~cache-misses");
	CHECK_EQ(events[3].perf_type, 10);
	CHECK_EQ(event_parse_list_at(root, "r1c2:1000", events, &err), 2);
	CHECK_EQ(events[0].perf_type, 10);
	CHECK_EQ(events[1].perf_type, 4);
	CHECK_EQ(events[1].perf_config, 0x1c2);
}

TESTS(T(machines_have_their_types), T(terms_become_registers), T(mistakes_name_the_nearest),
      T(each_type_of_core_has_its_own))
