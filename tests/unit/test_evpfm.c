/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/catalog.h"
#include "event/event.h"
#include "event/evpfm.h"

#include "event/cpu_type.h"
#include "event/catalog.h"
#include "event/event.h"
#include "test.h"

#include <errno.h>
#include <linux/perf_event.h>

/* With the library, and that of this architecture: it knows the PMUs of its own only. */
static bool knows(const char *name)
{
	struct evpfm_pmu pmu;

	return evpfm_pmu_named(name, &pmu);
}

static void specifications_become_registers(void)
{
	static const struct {
		const char *type, *spec, *text;
		uint64_t config, config1;
		uint8_t precise;
	} rows[] = {
		{ "pfm/skx", "INST_RETIRED", "INST_RETIRED:100000:ANY_P:1:1", 0xc0, 0, 0 },
		{ "pfm/skx", "BR_INST_RETIRED:9000:CONDITIONAL", NULL, 0x1c4, 0, 0 },
		{ "pfm/skx", "BR_INST_RETIRED:9000:1:0:1:pp",
		  "BR_INST_RETIRED:9000:CONDITIONAL:0:1:pp", 0x1c4, 0, 2 },
		{ "pfm/skx", "BR_INST_RETIRED:9000:pp", NULL, 0xc4, 0, 2 },
		{ "pfm/skx", "CYCLE_ACTIVITY:9000:CYCLES_L2_MISS", NULL, 0x10001a3, 0, 0 },
		{ "pfm/skx", "CPU_CLK_UNHALTED:9000:0:1:1:p", NULL, 0x3c, 0, 1 },
		{ "pfm/skx", "FRONTEND_RETIRED:9000:DSB_MISS", NULL, 0x1c6, 0x11, 0 },
		{ "pfm/skx", "OFFCORE_RESPONSE_0:9000:DMND_DATA_RD+L3_HIT",
		  "OFFCORE_RESPONSE_0:9000:DMND_DATA_RD+L3_HIT:1:1", 0x1b7, 0x3f803c0001, 0 },
		{ "pfm/amd64_fam10h_barcelona", "DISPATCHED_FPU:9000:OPS_ADD+OPS_MULTIPLY", NULL,
		  0x300, 0, 0 },
		{ "pfm/amd64_fam10h_barcelona", "DISPATCHED_FPU:9000:3", NULL, 0x300, 0, 0 },
		{ "pfm/amd64_fam19h_zen4", "RETIRED_INSTRUCTIONS", NULL, 0xc0, 0, 0 },
		{ "i386/sapphirerapids", "MEM_LOAD_RETIRED:9000:L3_MISS", NULL, 0x20d1, 0, 0 },
		{ "i386/skylake", "BR_INST_RETIRED:9000:CONDITIONAL", NULL, 0x1c4, 0, 0 },
	};
	size_t i;

	if (!knows("skx"))
		SKIP("libpfm4 for x86 is not there");
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct cpu_type *type =
			cpu_type_named(rows[i].type) ?: catalog_pmu_type(rows[i].type);
		struct error err = ERROR_INIT;
		struct event e = { 0 }, again = { 0 };

		if (!CHECK(event_parse_on(type, rows[i].spec, &e, &err) == 0)) {
			printf("# %s: %s\n", rows[i].spec, err.text);
			continue;
		}
		printf("# %s\n", rows[i].spec);
		CHECK_EQ(e.perf_type, PERF_TYPE_RAW);
		CHECK_EQ(e.perf_config, rows[i].config);
		CHECK_EQ(e.perf_config1, rows[i].config1);
		CHECK_EQ(e.precise, rows[i].precise);
		_cleanup_free_ char *text = event_text_on(type, &e);
		if (rows[i].text)
			CHECK_STR(text, rows[i].text);
		CHECK_EQ(event_parse_on(type, text, &again, &err), 0);
		CHECK(!memcmp(&e, &again, sizeof(e)));
	}
}

/* As OProfile 1.x spelled them: name, unit mask by name or value. The register is that of its
 * description files: code and unit mask. */
static void names_of_oprofile_1_x_are_understood(void)
{
	static const struct {
		const char *type, *spec, *name;
		uint64_t config;
	} rows[] = {
		{ "i386/haswell", "br_inst_exec:200003:0xff", "BR_INST_EXEC", 0xff88 },
		{ "i386/haswell", "ld_blocks_partial_address_alias:100003:0x1", "LD_BLOCKS_PARTIAL",
		  0x107 },
		{ "i386/haswell", "baclears_any:100003:0x1f:0:1", "BACLEARS", 0x1fe6 },
		{ "i386/haswell", "l2_rqsts:200003:references", "L2_RQSTS", 0xff24 },
		{ "i386/haswell", "int_misc_recovery_cycles:2000003:3", "INT_MISC", 0x100030d },
		{ "i386/skylake", "ept_walk_pending", "EPT", 0x104f },
		{ "i386/skylake", "longest_lat_cache:100003:miss", "LONGEST_LAT_CACHE", 0x412e },
		{ "i386/core_2", "BUS_TRAN_ANY:500:0xc0", "BUS_TRANS_ANY", 0xc070 },
		{ "i386/core_2", "FLOPS:3000:0", "FP_COMP_OPS_EXE", 0x10 },
		{ "i386/core_2", "INST_RETIRED.ANY_P:6000:0", "INST_RETIRED", 0xc0 },
		{ "i386/core_2", "THERMAL_TRIP:500:0xc0", "THERMAL_TRIP", 0xc03b },
		{ "i386/nehalem", "MEMORY_DISAMBIGURATION:6000:1", "MEMORY_DISAMBIGUATION", 0x109 },
		{ "i386/nehalem", "PARTIAL_ADDRESS_ALIAS:6000:1", "PARTIAL_ADDRESS_ALIAS", 0x107 },
		{ "x86-64/hammer", "DATA_CACHE_MISSES:100000:0:1:1", "DATA_CACHE_MISSES", 0x141 },
		{ "x86-64/hammer", "DISPATCHED_FPU_OPS:500:0x3f", "DISPATCHED_FPU", 0x3f00 },
		{ "x86-64/hammer", "DRAM_ACCESSES:500:7", "DRAM_ACCESSES_PAGE", 0x7e0 },
		{ "x86-64/family10", "DISPATCHED_FPU_OPS:500:0x3f", "DISPATCHED_FPU", 0x3f00 },
		{ "x86-64/family10", "CPU_DRAM_REQUEST_TO_NODE:500:0xff",
		  "CPU_TO_DRAM_REQUESTS_TO_TARGET_NODE", 0x10000ffe0 },
		{ "x86-64/family15h", "L2_PREFETCHER_TRIGGER:500:3", "L2_PREFETCHER_TRIGGER_EVENTS",
		  0x10000036c },
	};
	size_t i;

	if (!knows("skx"))
		SKIP("libpfm4 for x86 is not there");
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct cpu_type *type = cpu_type_named(rows[i].type);
		struct error err = ERROR_INIT;
		struct event e = { 0 }, again = { 0 };

		printf("# %s %s\n", rows[i].type, rows[i].spec);
		if (!CHECK(event_parse_on(type, rows[i].spec, &e, &err) == 0)) {
			printf("# %s\n", err.text);
			continue;
		}
		_cleanup_free_ char *text = event_text_on(type, &e);
		CHECK_STR(e.name, rows[i].name);
		CHECK_EQ(e.perf_config, rows[i].config);
		CHECK_EQ(event_parse_on(type, text, &again, &err), 0);
		CHECK_EQ(again.perf_config, e.perf_config);
	}
}

/* The library has numbers of bits for the Pentium 4, OProfile 1.x and sample files their values. */
static void masks_of_the_pentium_4_are_values(void)
{
	const struct cpu_type *type = cpu_type_named("i386/p4");
	struct event by_value, by_name, both;
	struct error err = ERROR_INIT;

	if (!knows("netburst"))
		SKIP("libpfm4 for x86 is not there");
	CHECK_EQ(event_parse_on(type, "GLOBAL_POWER_EVENTS:100000:1:1:1", &by_value, &err), 0);
	CHECK_EQ(event_parse_on(type, "default", &by_name, &err), 0);
	CHECK_STR(by_value.name, "global_power_events");
	CHECK(by_value.unit_mask == 1 && by_name.unit_mask == 1);
	CHECK(by_value.perf_config && by_value.perf_config == by_name.perf_config);
	CHECK_EQ(event_parse_on(type, "BRANCH_RETIRED:6000:0xc", &both, &err), 0);
	CHECK_EQ(event_parse_on(type, "branch_retired:6000:MMTP+MMTM", &by_name, &err), 0);
	CHECK(both.unit_mask == 0xc && by_name.unit_mask == 0xc);
	CHECK_EQ(both.perf_config, by_name.perf_config);
}

static void mistakes_are_named(void)
{
	static const struct {
		const char *spec, *message;
	} rows[] = {
		{ "INST_RETIRD:9000", "Invalid event INST_RETIRD; did you mean INST_RETIRED?" },
		{ "BR_INST_RETIRED:9000:CONDITIONAL+NEAR_CALL",
		  "event BR_INST_RETIRED: libpfm4: invalid combination of model specific "
		  "features" },
		{ "BR_INST_RETIRED:9000:NO_SUCH",
		  "Invalid unit mask NO_SUCH for event BR_INST_RETIRED; available: CONDITIONAL, "
		  "COND, NEAR_CALL, ALL_BRANCHES, NEAR_RETURN, NOT_TAKEN, NEAR_TAKEN, "
		  "FAR_BRANCH" },
		{ "BR_INST_RETIRED:9000:0:1:1:x",
		  "event 'BR_INST_RETIRED:9000:0:1:1:x': hypervisor 'x' is not a number from 0 to "
		  "1" },
		{ "INST_RETIRED:1", "Count 1 for event INST_RETIRED is below the minimum 500" },
		{ "TIMER:100:p", "event TIMER is not counted by a hardware counter, so it cannot "
				 "be sampled precisely" },
	};
	size_t i;

	if (!knows("skx"))
		SKIP("libpfm4 for x86 is not there");
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error err = ERROR_INIT;
		struct event e;

		CHECK_EQ(event_parse_on(catalog_pmu_type("skx"), rows[i].spec, &e, &err), -EINVAL);
		CHECK_STR(err.text, rows[i].message);
	}
}

/* Whether an event can be programmed as it is listed, by its default mask or by some mask. */
static bool can_be_programmed(const struct cpu_type *type, const struct catalog_event *e)
{
	struct error err = ERROR_INIT;
	struct event event;
	size_t i;

	if (event_parse_on(type, e->name, &event, &err) == 0)
		return true;
	for (i = 0; i < e->mask_count; i++) {
		_cleanup_free_ char *spec = xasprintf("%s::%s", e->name, e->masks[i].name);

		if (event_parse_on(type, spec, &event, &err) == 0)
			return true;
	}
	printf("# %s %s: %s\n", type->key, e->name, err.text);
	return false;
}

static void whatever_is_listed_can_be_programmed(void)
{
	struct evpfm_pmu pmu;
	size_t i, k, pmus, events = 0, wrong = 0;

	for (pmus = 0; evpfm_pmu_at(pmus, &pmu); pmus++) {
		const struct cpu_type *type = catalog_pmu_type(pmu.name);
		const struct catalog *c = catalog_of(type);

		CHECK(catalog_size(c) <= pmu.events + 1);
		/* Of the many alike boxes of an uncore one will do. */
		for (i = 0; i + 1 < catalog_size(c) && pmu.core; i++, events++)
			wrong += !can_be_programmed(type, catalog_event_at(c, i));
		for (k = 0; k + 1 < catalog_size(c); k++)
			wrong += !catalog_event_at(c, k)->pfm;
	}
	printf("# %zu PMUs, %zu events tried\n", pmus, events);
	/* libpfm4 4.13 lists an event of Sandy Bridge whose only mask it refuses. */
	CHECK(wrong <= 1);
}

static void types_have_the_pmus_that_are_there(void)
{
	const struct cpu_type *type;
	struct evpfm_pmu pmu;
	size_t i, found = 0;

	for (i = 0; (type = cpu_type_at(i)); i++) {
		const char *name = evpfm_pmu_of(type, false);

		if (name && CHECK(evpfm_pmu_named(name, &pmu)))
			found += CHECK(pmu.core);
	}
	CHECK(!knows("perf") || found > 5);
	CHECK(!evpfm_pmu_named("no_such_pmu", &pmu) && !catalog_pmu_type("no_such_pmu"));
}

TESTS(T(specifications_become_registers), T(names_of_oprofile_1_x_are_understood),
      T(masks_of_the_pentium_4_are_values), T(mistakes_are_named),
      T(whatever_is_listed_can_be_programmed), T(types_have_the_pmus_that_are_there))
