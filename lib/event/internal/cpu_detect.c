/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/cpu_type.h"

#include "base/macro.h"
#include "base/mem.h"
#include "base/parse.h"
#include "file/path.h"

#include <string.h>

/* A CPU identified by the number in a field of /proc/cpuinfo. */
struct numbered {
	uint64_t number;
	const char *key;
};

/* AMD by family; any other, and all of Hygon's, is x86-64/generic. */
static const struct numbered amd_families[] = {
	{ 0x06, "i386/athlon" },      { 0x0f, "x86-64/hammer" },    { 0x10, "x86-64/family10" },
	{ 0x11, "x86-64/family11h" }, { 0x12, "x86-64/family12h" }, { 0x14, "x86-64/family14h" },
	{ 0x15, "x86-64/family15h" }, { 0x16, "x86-64/family16h" }, { 0x1a, "x86-64/zen5" },
};

/* AMD families with several core designs, by model. */
static const struct {
	uint64_t family, first, last;
	const char *key;
} amd_models[] = {
	{ 0x17, 0x00, 0x2f, "x86-64/zen1" }, { 0x17, 0x30, 0xff, "x86-64/zen2" },
	{ 0x19, 0x00, 0x0f, "x86-64/zen3" }, { 0x19, 0x20, 0x5f, "x86-64/zen3" },
	{ 0x19, 0x10, 0x1f, "x86-64/zen4" }, { 0x19, 0x60, 0x7f, "x86-64/zen4" },
	{ 0x19, 0xa0, 0xaf, "x86-64/zen4" },
};

/* Intel family 6 by model; any other is i386/arch_perfmon. */
static const struct numbered intel_models[] = {
	{ 0x01, "i386/ppro" },
	{ 0x03, "i386/pii" },
	{ 0x05, "i386/pii" },
	{ 0x06, "i386/pii" },
	{ 0x07, "i386/piii" },
	{ 0x08, "i386/piii" },
	{ 0x0a, "i386/piii" },
	{ 0x0b, "i386/piii" },
	{ 0x09, "i386/p6_mobile" },
	{ 0x0d, "i386/p6_mobile" },
	{ 0x0e, "i386/core" },
	{ 0x0f, "i386/core_2" },
	{ 0x16, "i386/core_2" },
	{ 0x17, "i386/core_2" },
	{ 0x1d, "i386/core_2" },
	{ 0x1c, "i386/atom" },
	{ 0x26, "i386/atom" },
	{ 0x27, "i386/atom" },
	{ 0x35, "i386/atom" },
	{ 0x36, "i386/atom" },
	{ 0x1a, "i386/nehalem" },
	{ 0x1e, "i386/nehalem" },
	{ 0x1f, "i386/nehalem" },
	{ 0x2e, "i386/nehalem" },
	{ 0x25, "i386/westmere" },
	{ 0x2c, "i386/westmere" },
	{ 0x2f, "i386/westmere" },
	{ 0x2a, "i386/sandybridge" },
	{ 0x2d, "i386/sandybridge" },
	{ 0x3a, "i386/ivybridge" },
	{ 0x3e, "i386/ivybridge" },
	{ 0x3c, "i386/haswell" },
	{ 0x3f, "i386/haswell" },
	{ 0x45, "i386/haswell" },
	{ 0x46, "i386/haswell" },
	{ 0x37, "i386/silvermont" },
	{ 0x4a, "i386/silvermont" },
	{ 0x4c, "i386/silvermont" },
	{ 0x4d, "i386/silvermont" },
	{ 0x5a, "i386/silvermont" },
	{ 0x5d, "i386/silvermont" },
	{ 0x3d, "i386/broadwell" },
	{ 0x47, "i386/broadwell" },
	{ 0x4f, "i386/broadwell" },
	{ 0x56, "i386/broadwell" },
	{ 0x4e, "i386/skylake" },
	{ 0x55, "i386/skylake" },
	{ 0x5e, "i386/skylake" },
	{ 0x8e, "i386/skylake" },
	{ 0x9e, "i386/skylake" },
	{ 0x5c, "i386/goldmont" },
	{ 0x5f, "i386/goldmont" },
	{ 0x7a, "i386/goldmontplus" },
	{ 0x57, "i386/knightslanding" },
	{ 0x85, "i386/knightslanding" },
	{ 0xa5, "i386/cometlake" },
	{ 0xa6, "i386/cometlake" },
	{ 0x7d, "i386/icelake" },
	{ 0x7e, "i386/icelake" },
	{ 0x9d, "i386/icelake" },
	{ 0x6a, "i386/icelake-x" },
	{ 0x6c, "i386/icelake-x" },
	{ 0x8c, "i386/tigerlake" },
	{ 0x8d, "i386/tigerlake" },
	{ 0xa7, "i386/rocketlake" },
	{ 0x8f, "i386/sapphirerapids" },
	{ 0xcf, "i386/emeraldrapids" },
	{ 0xad, "i386/graniterapids" },
	{ 0xae, "i386/graniterapids" },
	{ 0x97, "i386/alderlake" },
	{ 0x9a, "i386/alderlake" },
	{ 0xb7, "i386/raptorlake" },
	{ 0xba, "i386/raptorlake" },
	{ 0xbf, "i386/raptorlake" },
	{ 0xaa, "i386/meteorlake" },
	{ 0xac, "i386/meteorlake" },
	{ 0x86, "i386/tremont" },
	{ 0x8a, "i386/tremont" },
	{ 0x96, "i386/tremont" },
	{ 0x9c, "i386/tremont" },
	{ 0xbe, "i386/gracemont" },
	{ 0xaf, "i386/sierraforest" },
};

/* ARM by implementer << 12 | part. */
static const struct numbered arm_parts[] = {
	{ 0x41b02, "arm/mpcore" },
	{ 0x41b36, "arm/armv6" },
	{ 0x41b56, "arm/armv6" },
	{ 0x41b76, "arm/armv6" },
	{ 0x41c05, "arm/armv7-ca5" },
	{ 0x41c07, "arm/armv7-ca7" },
	{ 0x41c08, "arm/armv7" },
	{ 0x41c09, "arm/armv7-ca9" },
	{ 0x41c0e, "arm/armv7-ca17" },
	{ 0x41c0f, "arm/armv7-ca15" },
	{ 0x41d03, "arm/armv8-ca53" },
	{ 0x41d05, "arm/armv8-ca55" },
	{ 0x41d07, "arm/armv8-ca57" },
	{ 0x41d08, "arm/armv8-ca72" },
	{ 0x41d09, "arm/armv8-ca73" },
	{ 0x41d0b, "arm/armv8-ca76" },
	{ 0x41d0c, "arm/armv8-neoverse-n1" },
	{ 0x41d40, "arm/armv8-neoverse-v1" },
	{ 0x41d49, "arm/armv8-neoverse-n2" },
	{ 0x41d4f, "arm/armv8-neoverse-v2" },
	{ 0x46001, "arm/armv8-a64fx" },
	{ 0x48d01, "arm/armv8-kunpeng920" },
	{ 0x42516, "arm/armv8-thunderx2" },
	{ 0x430af, "arm/armv8-thunderx2" },
	{ 0x50000, "arm/armv8-xgene" },
	{ 0x5100f, "arm/armv7-scorpion" },
	{ 0x5102d, "arm/armv7-scorpionmp" },
	{ 0x5104d, "arm/armv7-krait" },
	{ 0x5106f, "arm/armv7-krait" },
};

/* IBM Z by machine number. */
static const struct numbered s390_machines[] = {
	{ 2097, "s390/z10" },  { 2098, "s390/z10" },   { 2817, "s390/z196" },
	{ 2818, "s390/z196" }, { 2827, "s390/zEC12" }, { 2828, "s390/zEC12" },
	{ 2964, "s390/z13" },  { 2965, "s390/z13" },   { 3906, "s390/z14" },
	{ 3907, "s390/z14" },  { 8561, "s390/z15" },   { 8562, "s390/z15" },
	{ 3931, "s390/z16" },  { 3932, "s390/z16" },
};

/* Other CPUs by the prefix of a field's value; the first matching row is used. */
static const struct {
	const char *field, *start, *key;
} others[] = {
	{ "cpu", "POWER4", "ppc64/power4" },
	{ "cpu", "POWER5+", "ppc64/power5+" },
	{ "cpu", "POWER5", "ppc64/power5" },
	{ "cpu", "POWER6", "ppc64/power6" },
	{ "cpu", "POWER7", "ppc64/power7" },
	{ "cpu", "POWER8", "ppc64/power8" },
	{ "cpu", "POWER9", "ppc64/power9" },
	{ "cpu", "POWER10", "ppc64/power10" },
	{ "cpu", "POWER", "ppc64/architected_events_v1" },
	{ "cpu", "PPC970MP", "ppc64/970MP" },
	{ "cpu", "PPC970", "ppc64/970" },
	{ "cpu", "e500mc", "ppc/e500mc" },
	{ "cpu", "e500v2", "ppc/e500v2" },
	{ "cpu", "e500", "ppc/e500" },
	{ "cpu", "e6500", "ppc/e6500" },
	{ "cpu", "e300", "ppc/e300" },
	{ "cpu", "7450", "ppc/7450" },
	{ "cpu model", "EV67", "alpha/ev67" },
	{ "cpu model", "MIPS 20K", "mips/20K" },
	{ "cpu model", "MIPS 24K", "mips/24K" },
	{ "cpu model", "MIPS 25K", "mips/25K" },
	{ "cpu model", "MIPS 34K", "mips/34K" },
	{ "cpu model", "MIPS 5K", "mips/5K" },
	{ "cpu model", "MIPS 74K", "mips/74K" },
	{ "cpu model", "MIPS 1004K", "mips/1004K" },
	{ "cpu model", "R10000", "mips/r10000" },
	{ "cpu model", "R12000", "mips/r12000" },
	{ "cpu model", "RM7000", "mips/rm7000" },
	{ "cpu model", "RM9000", "mips/rm9000" },
	{ "cpu model", "SiByte SB1", "mips/sb1" },
	{ "cpu model", "Loongson-2", "mips/loongson2" },
	{ "cpu model", "ICT Loongson-2", "mips/loongson2" },
};

static const struct cpu_type *by_number(const struct numbered *table, size_t count, uint64_t number)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (table[i].number == number)
			return cpu_type_named(table[i].key);
	return NULL;
}

/* Returns the value of the first line "name : value" with that name, or NULL. The value ends at the
 * newline. */
static const char *field(const char *cpuinfo, const char *name)
{
	const char *line, *at;

	for (line = cpuinfo; line; line = (at = strchr(line, '\n')) ? at + 1 : NULL) {
		if (strncmp(line, name, strlen(name)))
			continue;
		at = line + strlen(name);
		at += strspn(at, " \t");
		if (*at == ':')
			return at + 1 + strspn(at + 1, " \t");
	}
	return NULL;
}

/* Gets the number at the start of the field called @name, decimal or 0x hexadecimal. */
static bool field_number(const char *cpuinfo, const char *name, uint64_t *ret)
{
	const char *value = field(cpuinfo, name);

	if (!value)
		return false;
	if (!strncmp(value, "0x", 2)) {
		value += 2;
		return parse_hex(&value, ret) == 0;
	}
	return parse_dec(&value, ret) == 0;
}

static bool starts(const char *value, const char *start)
{
	return value && !strncmp(value, start, strlen(start));
}

static const struct cpu_type *detect_intel(const char *cpuinfo, uint64_t family)
{
	const struct cpu_type *found = NULL;
	uint64_t model = 0, siblings = 1, cores = 1;

	(void)field_number(cpuinfo, "model", &model);
	(void)field_number(cpuinfo, "siblings", &siblings);
	(void)field_number(cpuinfo, "cpu cores", &cores);
	if (family == 15)
		found = cpu_type_named(siblings > cores ? "i386/p4-ht" : "i386/p4");
	else if (family == 6)
		found = by_number(intel_models, ARRAY_SIZE(intel_models), model);
	return found ?: cpu_type_named("i386/arch_perfmon");
}

static const struct cpu_type *detect_amd(const char *cpuinfo, uint64_t family)
{
	uint64_t model;
	size_t i;

	if (field_number(cpuinfo, "model", &model))
		for (i = 0; i < ARRAY_SIZE(amd_models); i++)
			if (amd_models[i].family == family && amd_models[i].first <= model &&
			    model <= amd_models[i].last)
				return cpu_type_named(amd_models[i].key);
	return by_number(amd_families, ARRAY_SIZE(amd_families), family)
		       ?: cpu_type_named("x86-64/generic");
}

static const struct cpu_type *detect_x86(const char *cpuinfo)
{
	const char *vendor = field(cpuinfo, "vendor_id");
	uint64_t family = 0;

	(void)field_number(cpuinfo, "cpu family", &family);
	if (starts(vendor, "GenuineIntel"))
		return detect_intel(cpuinfo, family);
	if (starts(vendor, "AuthenticAMD"))
		return detect_amd(cpuinfo, family);
	if (starts(vendor, "HygonGenuine"))
		return cpu_type_named("x86-64/generic");
	return NULL;
}

static const struct cpu_type *detect_arm(const char *cpuinfo)
{
	const struct cpu_type *found;
	uint64_t implementer, part, architecture = 0;

	if (!field_number(cpuinfo, "CPU implementer", &implementer) ||
	    !field_number(cpuinfo, "CPU part", &part))
		return NULL;
	(void)field_number(cpuinfo, "CPU architecture", &architecture);
	found = by_number(arm_parts, ARRAY_SIZE(arm_parts), implementer << 12 | part);
	return found || architecture < 8 ? found : cpu_type_named("arm/armv8");
}

static const struct cpu_type *detect_s390(const char *cpuinfo)
{
	static const char machine[] = "machine = ";
	const char *at =
		starts(field(cpuinfo, "vendor_id"), "IBM/S390") ? strstr(cpuinfo, machine) : NULL;
	uint64_t number;

	if (!at)
		return NULL;
	at += strlen(machine);
	return parse_dec(&at, &number) < 0
		       ? NULL
		       : by_number(s390_machines, ARRAY_SIZE(s390_machines), number);
}

static const struct cpu_type *detect_other(const char *cpuinfo)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(others); i++)
		if (starts(field(cpuinfo, others[i].field), others[i].start))
			return cpu_type_named(others[i].key);
	return NULL;
}

const struct cpu_type *cpu_type_detect(const char *root, bool timer)
{
	static const struct cpu_type *(*const detect[])(
		const char *) = { detect_x86, detect_arm, detect_s390, detect_other };
	_cleanup_free_ char *cpuinfo = NULL;
	const struct cpu_type *found = NULL;
	size_t i;

	if (timer || path_read(root, "/proc/cpuinfo", &cpuinfo, NULL) < 0)
		return cpu_type_named("timer");
	for (i = 0; i < ARRAY_SIZE(detect) && !found; i++)
		found = detect[i](cpuinfo);
	return found ?: cpu_type_named("timer");
}
