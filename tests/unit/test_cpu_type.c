/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/cpu_type.h"

#include "sfile/sample_header.h"
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

/* Every number of version 0x12 with the key it had then. */
static void numbers_of_0_9_are_understood(void)
{
	char keys[] = "i386/ppro i386/pii i386/piii i386/athlon timer rtc i386/p4 ia64/ia64 "
		      "ia64/itanium ia64/itanium2 x86-64/hammer i386/p4-ht alpha/ev4 alpha/ev5 "
		      "alpha/pca56 alpha/ev6 alpha/ev67 i386/p6_mobile arm/xscale1 arm/xscale2 "
		      "ppc64/power4 ppc64/power5 ppc64/power5+ ppc64/970 mips/20K mips/24K "
		      "mips/25K mips/34K mips/5K mips/r10000 mips/r12000 mips/rm7000 "
		      "mips/rm9000 mips/sb1 mips/vr5432 mips/vr5500 ppc/e500 ppc/e500v2 "
		      "i386/core ppc/7450 i386/core_2 ppc64/power6 ppc64/970MP ppc64/cell-be "
		      "x86-64/family10 ppc64/pa6t arm/mpcore arm/armv6 ppc64/power5++ ppc/e300 "
		      "avr32 arm/armv7 i386/arch_perfmon x86-64/family11h ppc64/power7 "
		      "ppc64/ibm-compat-v1 i386/core_i7 i386/atom mips/loongson2 i386/nehalem "
		      "arm/armv7-ca9 mips/74K mips/1004K x86-64/family12h x86-64/family14h "
		      "x86-64/family15h i386/westmere arm/armv7-scorpion arm/armv7-scorpionmp "
		      "i386/sandybridge tile/tile64 tile/tilepro tile/tilegx s390/z10 s390/z196 "
		      "i386/ivybridge arm/armv7-ca5 arm/armv7-ca7 arm/armv7-ca15 i386/haswell "
		      "s390/zEC12 x86-64/generic ppc64/architected_events_v1 ppc64/power8";
	char *key, *next = keys;
	uint32_t id;

	for (id = 0; (key = strsep(&next, " ")); id++) {
		const struct cpu_type *type = cpu_type_by_id(sample_header_cpu_type(0x12, id));

		CHECK_STR(type ? type->key : "none", key);
		CHECK_EQ(sample_header_cpu_type(0x13, id), id);
	}
	CHECK_EQ(id, 84);
	CHECK(!cpu_type_by_id(sample_header_cpu_type(0x12, 84)));
	CHECK(!cpu_type_by_id(sample_header_cpu_type(0x12, UINT32_MAX)));
}

TESTS(T(machines_are_recognised), T(numbers_of_0_9_are_understood), T(no_cpuinfo_is_timer),
      T(numbers_are_the_sample_files))
