/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/cpu_type.h"

#include "base/macro.h"

#include <string.h>

/* Numbers are part of the sample file format: never renumber. */
static const struct cpu_type types[] = {
	{ 0, "i386/ppro", "Pentium Pro" },
	{ 1, "i386/pii", "PII" },
	{ 2, "i386/piii", "PIII" },
	{ 3, "i386/athlon", "Athlon" },
	{ 4, "timer", "CPU with timer interrupt" },
	{ 5, "i386/p4", "P4 / Xeon" },
	{ 6, "x86-64/hammer", "AMD64 processors" },
	{ 7, "i386/p4-ht", "P4 / Xeon with 2 hyper-threads" },
	{ 8, "alpha/ev67", "Alpha EV67" },
	{ 9, "i386/p6_mobile", "Pentium M (P6 core)" },
	{ 10, "arm/xscale1", "ARM/XScale PMU1" },
	{ 11, "arm/xscale2", "ARM/XScale PMU2" },
	{ 12, "ppc64/power4", "ppc64 POWER4" },
	{ 13, "ppc64/power5", "ppc64 POWER5" },
	{ 14, "ppc64/power5+", "ppc64 POWER5+" },
	{ 15, "ppc64/970", "ppc64 970" },
	{ 16, "mips/20K", "MIPS 20K" },
	{ 17, "mips/24K", "MIPS 24K" },
	{ 18, "mips/25K", "MIPS 25K" },
	{ 19, "mips/34K", "MIPS 34K" },
	{ 20, "mips/5K", "MIPS 5K" },
	{ 21, "mips/r10000", "MIPS R10000" },
	{ 22, "mips/r12000", "MIPS R12000" },
	{ 23, "mips/rm7000", "QED RM7000" },
	{ 24, "mips/rm9000", "PMC-Sierra RM9000" },
	{ 25, "mips/sb1", "Sibyte SB1" },
	{ 26, "mips/vr5432", "NEC VR5432" },
	{ 27, "mips/vr5500", "NEC VR5500" },
	{ 28, "ppc/e500", "e500" },
	{ 29, "ppc/e500v2", "e500v2" },
	{ 30, "i386/core", "Core Solo / Duo" },
	{ 31, "ppc/7450", "PowerPC G4" },
	{ 32, "i386/core_2", "Core 2" },
	{ 33, "ppc64/power6", "ppc64 POWER6" },
	{ 34, "ppc64/970MP", "ppc64 970MP" },
	{ 35, "x86-64/family10", "AMD64 family10" },
	{ 36, "arm/mpcore", "ARM 11MPCore" },
	{ 37, "arm/armv6", "ARM V6 PMU" },
	{ 38, "ppc64/power5++", "ppc64 POWER5++" },
	{ 39, "ppc/e300", "e300" },
	{ 40, "arm/armv7", "ARM Cortex-A8" },
	{ 41, "i386/arch_perfmon", "Intel Architectural Perfmon" },
	{ 42, "x86-64/family11h", "AMD64 family11h" },
	{ 43, "ppc64/power7", "ppc64 POWER7" },
	{ 44, "i386/core_i7", "Intel Core/i7" },
	{ 45, "i386/atom", "Intel Atom" },
	{ 46, "mips/loongson2", "Loongson2" },
	{ 47, "i386/nehalem", "Intel Nehalem microarchitecture" },
	{ 48, "arm/armv7-ca9", "ARM Cortex-A9" },
	{ 49, "mips/74K", "MIPS 74K" },
	{ 50, "mips/1004K", "MIPS 1004K" },
	{ 51, "x86-64/family12h", "AMD64 family12h" },
	{ 52, "x86-64/family14h", "AMD64 family14h" },
	{ 53, "x86-64/family15h", "AMD64 family15h" },
	{ 54, "i386/westmere", "Intel Westmere microarchitecture" },
	{ 55, "arm/armv7-scorpion", "ARMv7 Scorpion" },
	{ 56, "arm/armv7-scorpionmp", "ARMv7 ScorpionMP" },
	{ 57, "i386/sandybridge", "Intel Sandy Bridge microarchitecture" },
	{ 58, "tile/tile64", "TILE64" },
	{ 59, "tile/tilepro", "TILEPro" },
	{ 60, "tile/tilegx", "TILE-GX" },
	{ 61, "s390/z10", "IBM System z10" },
	{ 62, "s390/z196", "IBM zEnterprise z196" },
	{ 63, "i386/ivybridge", "Intel Ivy Bridge microarchitecture" },
	{ 64, "arm/armv7-ca5", "ARM Cortex-A5" },
	{ 65, "arm/armv7-ca7", "ARM Cortex-A7" },
	{ 66, "arm/armv7-ca15", "ARM Cortex-A15" },
	{ 67, "i386/haswell", "Intel Haswell microarchitecture" },
	{ 68, "s390/zEC12", "IBM zEnterprise EC12" },
	{ 69, "x86-64/generic", "AMD64 generic" },
	{ 70, "ppc64/architected_events_v1", "IBM Power Architected Events V1" },
	{ 71, "ppc64/power8", "ppc64 POWER8" },
	{ 72, "ppc/e500mc", "e500mc" },
	{ 73, "ppc/e6500", "e6500" },
	{ 74, "i386/silvermont", "Intel Silvermont microarchitecture" },
	{ 75, "arm/armv7-krait", "ARMv7 Krait" },
	{ 76, "arm/armv8-xgene", "APM X-Gene" },
	{ 77, "i386/broadwell", "Intel Broadwell microarchitecture" },
	{ 78, "arm/armv8-ca57", "ARM Cortex-A57" },
	{ 79, "arm/armv8-ca53", "ARM Cortex-A53" },
	{ 80, "i386/skylake", "Intel Skylake microarchitecture" },
	{ 81, "i386/goldmont", "Intel Goldmont microarchitecture" },
	{ 82, "i386/goldmontplus", "Intel Goldmont Plus microarchitecture" },
	{ 83, "s390/z13", "IBM z13" },
	{ 84, "arm/armv7-ca17", "ARM Cortex-A17" },
	{ 85, "ppc64/power9", "ppc64 POWER9" },
	{ 86, "i386/knightslanding", "Intel Knights Landing" },
	{ 87, "arm/armv8-thunderx2", "Cavium ThunderX2" },

	/* Types newer than the numbering share the number of the type whose readers understand them
	 * best. */
	{ 41, "i386/icelake", "Intel Ice Lake microarchitecture" },
	{ 41, "i386/icelake-x", "Intel Ice Lake server microarchitecture" },
	{ 41, "i386/rocketlake", "Intel Rocket Lake microarchitecture" },
	{ 41, "i386/tigerlake", "Intel Tiger Lake microarchitecture" },
	{ 41, "i386/cometlake", "Intel Comet Lake microarchitecture" },
	{ 41, "i386/sapphirerapids", "Intel Sapphire Rapids microarchitecture" },
	{ 41, "i386/emeraldrapids", "Intel Emerald Rapids microarchitecture" },
	{ 41, "i386/graniterapids", "Intel Granite Rapids microarchitecture" },
	{ 41, "i386/alderlake", "Intel Alder Lake microarchitecture" },
	{ 41, "i386/raptorlake", "Intel Raptor Lake microarchitecture" },
	{ 41, "i386/meteorlake", "Intel Meteor Lake microarchitecture" },
	{ 41, "i386/tremont", "Intel Tremont microarchitecture" },
	{ 41, "i386/gracemont", "Intel Gracemont microarchitecture" },
	{ 41, "i386/sierraforest", "Intel Sierra Forest microarchitecture" },
	{ 69, "x86-64/family16h", "AMD64 family16h" },
	{ 69, "x86-64/zen1", "AMD64 Zen 1" },
	{ 69, "x86-64/zen2", "AMD64 Zen 2" },
	{ 69, "x86-64/zen3", "AMD64 Zen 3" },
	{ 69, "x86-64/zen4", "AMD64 Zen 4" },
	{ 69, "x86-64/zen5", "AMD64 Zen 5" },
	{ 78, "arm/armv8", "ARMv8 PMUv3" },
	{ 78, "arm/armv8-ca55", "ARM Cortex-A55" },
	{ 78, "arm/armv8-ca72", "ARM Cortex-A72" },
	{ 78, "arm/armv8-ca73", "ARM Cortex-A73" },
	{ 78, "arm/armv8-ca76", "ARM Cortex-A76" },
	{ 78, "arm/armv8-neoverse-n1", "ARM Neoverse N1" },
	{ 78, "arm/armv8-neoverse-n2", "ARM Neoverse N2" },
	{ 78, "arm/armv8-neoverse-v1", "ARM Neoverse V1" },
	{ 78, "arm/armv8-neoverse-v2", "ARM Neoverse V2" },
	{ 78, "arm/armv8-a64fx", "Fujitsu A64FX" },
	{ 78, "arm/armv8-kunpeng920", "HiSilicon Kunpeng 920" },
	{ 70, "ppc64/power10", "ppc64 POWER10" },
	{ 83, "s390/z14", "IBM z14" },
	{ 83, "s390/z15", "IBM z15" },
	{ 83, "s390/z16", "IBM z16" },

	/* Types that only OProfile 0.9 had: 0x900 and their number then (sfile/sample_header.h). */
	{ 0x905, "rtc", "CPU with RTC device" },
	{ 0x907, "ia64/ia64", "IA64" },
	{ 0x908, "ia64/itanium", "Itanium" },
	{ 0x909, "ia64/itanium2", "Itanium 2" },
	{ 0x90c, "alpha/ev4", "Alpha EV4" },
	{ 0x90d, "alpha/ev5", "Alpha EV5" },
	{ 0x90e, "alpha/pca56", "Alpha PCA56" },
	{ 0x90f, "alpha/ev6", "Alpha EV6" },
	{ 0x92b, "ppc64/cell-be", "ppc64 Cell Broadband Engine" },
	{ 0x92d, "ppc64/pa6t", "ppc64 PA6T" },
	{ 0x932, "avr32", "AVR32" },
	{ 0x937, "ppc64/ibm-compat-v1", "ppc64 compat version 1" },
};

const struct cpu_type *cpu_type_at(size_t i)
{
	return i < ARRAY_SIZE(types) ? &types[i] : NULL;
}

const struct cpu_type *cpu_type_by_id(uint32_t id)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(types); i++)
		if (types[i].id == id)
			return &types[i];
	return NULL;
}

const struct cpu_type *cpu_type_named(const char *key)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(types); i++)
		if (!strcmp(types[i].key, key))
			return &types[i];
	return NULL;
}
