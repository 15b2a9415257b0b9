/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "base/log.h"
#include "control/settings.h"
#include "driver/driver.h"
#include "event/event_types.h"
#include "record/record.h"

#include <errno.h>

/* Whether all fields of two settings are equal; strings are compared as such. */
static bool same(const struct settings *a, const struct settings *b)
{
#define NUMBERS_DIFFER(name)	      || a->name != b->name
#define STRINGS_DIFFER(name)	      || strcmp(a->name ?: "", b->name ?: "") != 0
#define STRUCTS_DIFFER(name)	      || memcmp(&a->name, &b->name, sizeof(a->name)) != 0
#define DIFFER_NUMBER		      NUMBERS_DIFFER
#define DIFFER_NUMBER_OR_NONE	      NUMBERS_DIFFER
#define DIFFER_SIZE		      NUMBERS_DIFFER
#define DIFFER_SIZE_OR_NONE	      NUMBERS_DIFFER
#define DIFFER_SHARE		      NUMBERS_DIFFER
#define DIFFER_TIME_OR_NONE	      NUMBERS_DIFFER
#define DIFFER_LIMIT		      STRUCTS_DIFFER
#define DIFFER_RANGE		      STRUCTS_DIFFER
#define DIFFER_MODE		      NUMBERS_DIFFER
#define DIFFER_CHAIN_MODE	      NUMBERS_DIFFER
#define DIFFER_LOG_LEVEL	      NUMBERS_DIFFER
#define DIFFER_SEPARATION	      NUMBERS_DIFFER
#define DIFFER_FLAG		      NUMBERS_DIFFER
#define DIFFER_TEXT		      STRINGS_DIFFER
#define DIFFER_PATH		      STRINGS_DIFFER
#define DIFFER_IMAGES		      STRINGS_DIFFER
#define DIFFER(key, kind, field, ...) DIFFER_##kind(field)
	return !(false SETTINGS(DIFFER));
}

/* Prints a setting, and reads it into another that has only this one. */
static bool reads_back(const struct settings *s, enum setting_id id)
{
	_cleanup_(settings_done) struct settings back = settings_default();
	_cleanup_free_ char *text = settings_text(s, id), *again = NULL;

	if (settings_set_key(&back, setting_key(id), text ?: "", NULL) < 0)
		return false;
	again = settings_text(&back, id);
	return !strcmp(text ?: "", again ?: "") && same(s, &back);
}

/* Values that each kind takes and refuses. */
static const struct {
	const char *kind, *good, *bad;
} samples[] = {
	{ "NUMBER", "1024", "many" },
	{ "NUMBER_OR_NONE", "128", "1" },
	{ "SIZE", "2M", "100K" },
	{ "SIZE_OR_NONE", "96M", "1M" },
	{ "SHARE", "2%", "101%" },
	{ "TIME_OR_NONE", "12h", "12" },
	{ "LIMIT", "20%", "a lot" },
	{ "RANGE", "1000,2000", "2000,1000" },
	{ "MODE", "755", "777" },
	{ "CHAIN_MODE", "fp", "guess" },
	{ "LOG_LEVEL", "sfile,samples", "loud" },
	{ "SEPARATION", "library,cpu", "colour" },
	{ "FLAG", "1", "2" },
	{ "TEXT", "a b=c", "a\nb" },
	{ "PATH", "/a b", "/a\x7f" },
	{ "IMAGES", "/bin/a,/bin/b", "\t" },
};

static const struct {
	const char *kind, *preset, *option;
	uint64_t most;
} rows[] = {
#define ROW(key, kind, field, least, most, preset, bare, letter, option, ...)                      \
	[SETTING_##key] = { #kind, preset, option, most },
	SETTINGS(ROW)
};

static size_t sample_of(enum setting_id id)
{
	size_t i = 0;

	while (strcmp(samples[i].kind, rows[id].kind) != 0)
		i++;
	return i;
}

/* A value that is not the default. */
static const char *good_value(enum setting_id id)
{
	if (!strcmp(rows[id].kind, "FLAG") && rows[id].preset)
		return "0";
	return rows[id].most == 1 ? "1" : samples[sample_of(id)].good;
}

static void defaults_are_values_that_can_be_given(void)
{
	for (enum setting_id id = 0; id < SETTING_COUNT_; id++) {
		_cleanup_(settings_done) struct settings s = settings_default();
		const struct settings preset = settings_default();

		if (!rows[id].preset)
			continue;
		if (!CHECK(settings_set(&s, id, rows[id].preset, NULL) == 0 && same(&s, &preset)))
			printf("# --%s=%s\n", rows[id].option, rows[id].preset);
		if (setting_key(id))
			CHECK(reads_back(&s, id));
	}
}

static void every_setting_reads_back_as_it_was_printed(void)
{
	for (enum setting_id id = 0; id < SETTING_COUNT_; id++) {
		_cleanup_(settings_done) struct settings s = settings_default();
		const struct settings preset = settings_default();
		const char *good = good_value(id);

		CHECK_EQ(settings_set(&s, id, good, NULL), 0);
		if (!CHECK(!same(&s, &preset) && (!setting_key(id) || reads_back(&s, id))))
			printf("# --%s=%s\n", rows[id].option, good);
		CHECK_EQ(settings_set(&s, id, "", NULL), 0);
		CHECK(same(&s, &preset));
	}
}

static void bad_values_are_refused_by_option_and_value(void)
{
	for (enum setting_id id = 0; id < SETTING_COUNT_; id++) {
		const char *bad = samples[sample_of(id)].bad;
		_cleanup_(settings_done) struct settings s = settings_default();
		_cleanup_free_ char *option = xasprintf("--%s: ", rows[id].option);
		struct setting_given given = { id, NULL };
		const struct settings preset = settings_default();
		struct error err = ERROR_INIT;

		CHECK_EQ(setting_give(bad, &given, &err), -EINVAL);
		CHECK(!given.value);
		if (!CHECK(!strncmp(err.text, option, strlen(option)) &&
			   (strstr(err.text, bad) || strstr(err.text, "control characters"))))
			printf("# %s\n", err.text);
		CHECK_EQ(settings_set(&s, id, bad, NULL), -EINVAL);
		CHECK(same(&s, &preset));
	}
}

static void the_clock_has_one_limit(void)
{
	_cleanup_free_ char *most = xasprintf("%d", EVENT_TIMER_MAX_HZ);
	_cleanup_free_ char *more = xasprintf("%d", EVENT_TIMER_MAX_HZ + 1);
	_cleanup_(settings_done) struct settings s = settings_default();

	CHECK_EQ(settings_set(&s, SETTING_RATE, most, NULL), 0);
	CHECK_EQ(s.rate, EVENT_TIMER_MAX_HZ);
	CHECK_EQ(settings_set(&s, SETTING_RATE, more, NULL), -EINVAL);
}

static void messages_say_what_is_taken(void)
{
	static const struct {
		const char *key, *value, *message;
	} cases[] = {
		{ "RATE", "fast", "RATE: 'fast' is not a number from 1 to 100000" },
		{ "CALLGRAPH", "1025", "CALLGRAPH: '1025' is not a number from 0 to 1024" },
		{ "UNWIND_MEMORY", "1G", "UNWIND_MEMORY: '1G' is not a size from 1M to 128M" },
		{ "MAX_MEMORY", "1M", "MAX_MEMORY: '1M' is not a size from 8M to 1T, or none" },
		{ "SEPARATE_CPU", "2", "SEPARATE_CPU: '2' is not 0 or 1" },
		{ "CALLGRAPH_MODE", "x", "CALLGRAPH_MODE: 'x' is not one of auto, fp, table" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(settings_done) struct settings s = settings_default();
		struct error err = ERROR_INIT;

		CHECK_EQ(settings_set_key(&s, cases[i].key, cases[i].value, &err), -EINVAL);
		CHECK_STR(err.text, cases[i].message);
	}
}

/* The share of CPU time for a text, -1 if it is refused. */
static double budget(const char *text)
{
	_cleanup_(settings_done) struct settings s = settings_default();

	return settings_set(&s, SETTING_BUDGET, text, NULL) == 0 ? s.budget : -1;
}

static void budgets_are_percentages(void)
{
	static const struct {
		const char *text;
		double share;
	} cases[] = {
		{ "", 0.005 },	 { "0.5%", 0.005 }, { "0.5", 0.005 }, { "2%", 0.02 },
		{ "100%", 1 },	 { "none", 0 },	    { "0", 0 },	      { "101%", -1 },
		{ "-1%", -1 },	 { "nan", -1 },	    { "inf%", -1 },   { "%", -1 },
		{ "0.5%%", -1 }, { "1e-3x", -1 },   { "half", -1 },   { "0.%", -1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (!CHECK(budget(cases[i].text) == cases[i].share))
			printf("# %s: %g\n", cases[i].text, budget(cases[i].text));
}

static void limits_are_sizes_or_bounded_shares(void)
{
	static const struct {
		const char *text;
		uint64_t all, bytes;
	} cases[] = {
		{ "64M", 1, 64 << 20 },
		{ "20%", 5000, 1000 },
		{ "none", 5000, 0 },
		/* The default of --max-disk: a tenth, from 64M to 4G. */
		{ "", (uint64_t)10 << 30, (uint64_t)1 << 30 },
		{ "", 1 << 20, 64 << 20 },
		{ "", (uint64_t)1 << 50, (uint64_t)4 << 30 },
	};
	static const char *const bad[] = { "10%%", "10%,1M", "10%,1M,", "%", "-1", "101%", "10%x" };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(settings_done) struct settings s = settings_default();

		CHECK_EQ(settings_set(&s, SETTING_MAX_DISK, cases[i].text, NULL), 0);
		CHECK_EQ(setting_limit_bytes(&s.max_disk, cases[i].all), cases[i].bytes);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_(settings_done) struct settings s = settings_default();

		if (!CHECK(settings_set(&s, SETTING_MAX_DISK, bad[i], NULL) == -EINVAL))
			printf("# %s\n", bad[i]);
	}
}

static void kernel_range_is_two_hexadecimal_numbers(void)
{
	static const struct {
		const char *text;
		int r;
		struct setting_range range;
	} cases[] = {
		{ "", 0, { 0, 0 } },
		{ "ffffffff81000000,ffffffff82000000",
		  0,
		  { 0xffffffff81000000, 0xffffffff82000000 } },
		{ "0xC0000000,0xc0300000", 0, { 0xc0000000, 0xc0300000 } },
		{ "0xc0000000", -EINVAL, { 0, 0 } },
		{ "2,1", -EINVAL, { 0, 0 } },
		{ "1,2,3", -EINVAL, { 0, 0 } },
		{ "kernel,text", -EINVAL, { 0, 0 } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(settings_done) struct settings s = settings_default();

		CHECK_EQ(settings_set(&s, SETTING_KERNEL_RANGE, cases[i].text, NULL), cases[i].r);
		CHECK(s.kernel_range.start == cases[i].range.start &&
		      s.kernel_range.end == cases[i].range.end);
	}
}

static void only_its_owner_writes_in_a_session(void)
{
	static const struct {
		const char *text;
		int r;
		uint64_t mode;
	} cases[] = {
		{ "", 0, 0750 },	  { "755", 0, 0755 },	     { "2750", 0, 02750 },
		{ "770", -EINVAL, 0750 }, { "757", -EINVAL, 0750 },  { "550", -EINVAL, 0750 },
		{ "9", -EINVAL, 0750 },	  { "750x", -EINVAL, 0750 }, { "rwx", -EINVAL, 0750 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(settings_done) struct settings s = settings_default();

		CHECK_EQ(settings_set(&s, SETTING_SESSION_MODE, cases[i].text, NULL), cases[i].r);
		CHECK_EQ(s.session_mode, cases[i].mode);
	}
}

static void log_levels_are_ours_and_the_originals(void)
{
	static const struct {
		const char *text;
		enum log_level level;
	} cases[] = {
		{ "", LOG_LEVEL_INFO },		 { "all", LOG_LEVEL_DEBUG },
		{ "none", LOG_LEVEL_WARNING },	 { "info", LOG_LEVEL_INFO },
		{ "info,none", LOG_LEVEL_INFO }, { "sfile,arcs", LOG_LEVEL_DEBUG },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(settings_done) struct settings s = settings_default();

		CHECK_EQ(settings_set(&s, SETTING_VERBOSE, cases[i].text, NULL), 0);
		CHECK_EQ(s.verbose, (uint64_t)cases[i].level);
	}
}

static void separation_is_one_set_whoever_sets_it(void)
{
	_cleanup_(settings_done) struct settings s = settings_default();

	CHECK_EQ(settings_set_key(&s, "SEPARATE_THREAD", "1", NULL), 0);
	CHECK_EQ(settings_set(&s, SETTING_SEPARATE_CPU, "1", NULL), 0);
	CHECK_EQ(s.separate, RECORD_SEPARATE_LIB | RECORD_SEPARATE_KERNEL | RECORD_SEPARATE_THREAD |
				     RECORD_SEPARATE_CPU);
	CHECK_EQ(settings_set(&s, SETTING_SEPARATE, "kernel", NULL), 0);
	CHECK_EQ(s.separate, RECORD_SEPARATE_LIB | RECORD_SEPARATE_KERNEL);
	CHECK_EQ(settings_set_key(&s, "SEPARATE", "cpu", NULL), -ENOENT);
}

static void options_without_an_argument_have_a_meaning(void)
{
	struct setting_given given[] = SETTINGS_GIVEN;
	_cleanup_(settings_done) struct settings s = settings_default();

	CHECK_EQ(setting_give(NULL, &given[SETTING_VERBOSE], NULL), 0);
	CHECK_EQ(setting_give(NULL, &given[SETTING_VMLINUX], NULL), 0);
	CHECK_EQ(setting_give(NULL, &given[SETTING_CALLGRAPH], NULL), 0);
	CHECK_EQ(settings_take(&s, given, NULL), 0);
	CHECK_EQ(s.verbose, (uint64_t)LOG_LEVEL_DEBUG);
	CHECK_STR(s.vmlinux, "none");
	CHECK_EQ(s.callgraph, DRIVER_DEPTH_DEFAULT);
}

/* The daemon runs in another directory; only "none" in the place of a kernel is no path. */
static void paths_are_absolute(void)
{
	_cleanup_(settings_done) struct settings s = settings_default();
	_cleanup_free_ char *here = path_absolute("none");

	CHECK(*here == '/');
	CHECK_EQ(settings_set(&s, SETTING_SESSION_DIR, "none", NULL), 0);
	CHECK_STR(s.session_dir, here);
	CHECK_EQ(settings_set(&s, SETTING_VMLINUX, "none", NULL), 0);
	CHECK_STR(s.vmlinux, "none");
	CHECK_EQ(settings_set(&s, SETTING_VMLINUX, "./none", NULL), 0);
	CHECK(*s.vmlinux == '/');
}

static void a_copy_has_strings_of_its_own(void)
{
	_cleanup_(settings_done) struct settings s = settings_default(), copy = settings_default();

	CHECK_EQ(settings_set(&s, SETTING_USER, "nobody", NULL), 0);
	CHECK_EQ(settings_add_event(&s, "TIMER:7", NULL), 0);
	settings_copy(&s, &copy);
	CHECK(same(&s, &copy) && s.user != copy.user);
	CHECK_EQ(settings_set(&s, SETTING_USER, "", NULL), 0);
	settings_clear_events(&s);
	CHECK_STR(copy.user, "nobody");
	CHECK_STR(copy.events.items[0], "TIMER:7");
}

static void paths_are_made_absolute(void)
{
	_cleanup_(settings_done) struct settings s = settings_default();

	CHECK_EQ(settings_set(&s, SETTING_VMLINUX, "vmlinux", NULL), 0);
	CHECK(path_is_absolute(s.vmlinux) && strstr(s.vmlinux, "/vmlinux"));
	CHECK_EQ(settings_set(&s, SETTING_IMAGE_FILTER, "all", NULL), 0);
	CHECK(!s.image_filter);
}

TESTS(T(defaults_are_values_that_can_be_given), T(every_setting_reads_back_as_it_was_printed),
      T(bad_values_are_refused_by_option_and_value), T(the_clock_has_one_limit),
      T(messages_say_what_is_taken), T(budgets_are_percentages),
      T(limits_are_sizes_or_bounded_shares), T(kernel_range_is_two_hexadecimal_numbers),
      T(only_its_owner_writes_in_a_session), T(log_levels_are_ours_and_the_originals),
      T(separation_is_one_set_whoever_sets_it), T(options_without_an_argument_have_a_meaning),
      T(paths_are_absolute), T(a_copy_has_strings_of_its_own), T(paths_are_made_absolute))
