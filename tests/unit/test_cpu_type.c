/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/cpu_type.h"
#include "test.h"

static const struct {
	const char *cpuinfo, *key;
} machines[] = {
	{ "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n"
	  "model name\t: AMD EPYC\n",
	  "x86-64/zen4" },
	{ "vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 33\n", "x86-64/zen3" },
	{ "vendor_id\t: AuthenticAMD\ncpu family\t: 23\nmodel\t\t: 1\n", "x86-64/zen1" },
	{ "vendor_id\t: AuthenticAMD\ncpu family\t: 23\nmodel\t\t: 49\n", "x86-64/zen2" },
	{ "vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 255\n", "x86-64/generic" },
	{ "vendor_id\t: AuthenticAMD\ncpu family\t: 16\nmodel\t\t: 2\n", "x86-64/family10" },
	{ "vendor_id\t: AuthenticAMD\ncpu family\t: 21\n", "x86-64/family15h" },
	{ "vendor_id\t: AuthenticAMD\ncpu family\t: 6\n", "i386/athlon" },
	{ "vendor_id\t: HygonGenuine\ncpu family\t: 24\n", "x86-64/generic" },
	{ "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 94\nmodel name\t: Intel\n",
	  "i386/skylake" },
	{ "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 60\n", "i386/haswell" },
	{ "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 207\n", "i386/emeraldrapids" },
	{ "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 255\n", "i386/arch_perfmon" },
	{ "vendor_id\t: GenuineIntel\ncpu family\t: 15\nsiblings\t: 2\ncpu cores\t: 1\n",
	  "i386/p4-ht" },
	{ "vendor_id\t: GenuineIntel\ncpu family\t: 15\nsiblings\t: 1\ncpu cores\t: 1\n",
	  "i386/p4" },
	{ "vendor_id\t: GenuineIntel\ncpu family\t: 19\n", "i386/arch_perfmon" },
	{ "vendor_id\t: CentaurHauls\ncpu family\t: 7\n", "timer" },
	{ "processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x0\n"
	  "CPU part\t: 0xd03\n",
	  "arm/armv8-ca53" },
	{ "CPU implementer\t: 0x43\nCPU part\t: 0x0af\n", "arm/armv8-thunderx2" },
	{ "CPU implementer\t: 0x41\nCPU part\t: 0xd40\n", "arm/armv8-neoverse-v1" },
	{ "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xfff\n", "arm/armv8" },
	{ "CPU implementer\t: 0x41\nCPU part\t: 0xfff\n", "timer" },
	{ "processor\t: 0\ncpu\t\t: POWER9 (architected), altivec supported\n", "ppc64/power9" },
	{ "processor\t: 0\ncpu\t\t: POWER10 (raw), altivec supported\n", "ppc64/power10" },
	{ "processor\t: 0\ncpu\t\t: POWER11 (raw), altivec supported\n",
	  "ppc64/architected_events_v1" },
	{ "cpu\t\t: POWER5+ (gs)\n", "ppc64/power5+" },
	{ "vendor_id       : IBM/S390\n# processors    : 2\n"
	  "processor 0: version = FF,  identification = 0133E8,  machine = 2964\n",
	  "s390/z13" },
	{ "system type\t\t: MIPS Malta\ncpu model\t\t: MIPS 24Kc V0.0  FPU V0.0\n", "mips/24K" },
	{ "", "timer" },
	{ "vendor_id", "timer" },
	{ "vendor_id\t: GenuineIntel", "i386/arch_perfmon" },
	{ "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 99999999999999999999\n",
	  "x86-64/generic" },
};

static void machines_are_recognised(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(machines); i++) {
		_cleanup_directory_ char *root = test_directory();
		_cleanup_free_ char *path = path_under(root, "/proc/cpuinfo");
		struct error err = ERROR_INIT;
		const char *key;

		CHECK_EQ(path_make_parents(path, 0755, &err), 0);
		CHECK_EQ(path_write(path, machines[i].cpuinfo, 0644, &err), 0);
		key = cpu_type_detect(root, false)->key;
		if (strcmp(key, machines[i].key))
			printf("# machine %zu: %s\n", i, machines[i].cpuinfo);
		CHECK_STR(key, machines[i].key);
		CHECK_STR(cpu_type_detect(root, true)->key, "timer");
	}
}

static void no_cpuinfo_is_timer(void)
{
	CHECK_STR(cpu_type_detect("/nonexistent", false)->key, "timer");
}

static void numbers_are_the_sample_files(void)
{
	uint32_t id;

	for (id = 0; id < 88; id++)
		if (CHECK(cpu_type_by_id(id)))
			CHECK_EQ(cpu_type_by_id(id)->id, id);
	CHECK(!cpu_type_by_id(88));
	CHECK_STR(cpu_type_by_id(4)->pretty, "CPU with timer interrupt");
	CHECK_STR(cpu_type_by_id(69)->pretty, "AMD64 generic");
}

TESTS(T(machines_are_recognised), T(no_cpuinfo_is_timer), T(numbers_are_the_sample_files))
