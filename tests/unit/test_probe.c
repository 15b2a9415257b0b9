/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "perf/probe.h"
#include "test.h"

static const char perfmon[] = "Name:\tx\nCapEff:\t0000004000000000\n",
		  nothing[] = "Name:\tx\nCapEff:\t0000000000000000\n",
		  all[] = "Name:\tx\nCapEff:\t000001ffffffffff\n";

/* A file of a recorded machine, what the probe makes of it, and what its lines say. */
static const struct {
	enum probe_id id;
	const char *path, *text, *status;
	enum probe_verdict verdict;
	const char *detail, *remedy;
} rows[] = {
	{ PROBE_PARANOID, "/proc/sys/kernel/perf_event_paranoid", "-1\n", nothing, PROBE_OK,
	  "-1: the whole system", "" },
	{ PROBE_PARANOID, "/proc/sys/kernel/perf_event_paranoid", "1\n", nothing, PROBE_WARN,
	  "in the kernel too", "paranoid=0" },
	{ PROBE_PARANOID, "/proc/sys/kernel/perf_event_paranoid", "2\n", nothing, PROBE_WARN,
	  "in user space only", "paranoid=0" },
	{ PROBE_PARANOID, "/proc/sys/kernel/perf_event_paranoid", "4\n", nothing, PROBE_MISSING,
	  "refuse everything", "paranoid=2" },
	{ PROBE_PARANOID, "/proc/sys/kernel/perf_event_paranoid", "2\n", perfmon, PROBE_OK,
	  "2, which CAP_PERFMON overrides", "" },
	{ PROBE_PARANOID, "/proc/sys/kernel/perf_event_paranoid", "3\n", perfmon, PROBE_MISSING,
	  "refuse everything", "paranoid=2" },
	{ PROBE_PARANOID, "/proc/sys/kernel/perf_event_paranoid", "3\n", all, PROBE_OK,
	  "3, which CAP_SYS_ADMIN overrides", "" },
	{ PROBE_PARANOID, "/proc/sys/kernel/perf_event_paranoid", "x\n", nothing, PROBE_WARN,
	  "perf_event_paranoid: 'x' is not a number", "" },
	{ PROBE_PARANOID, "/proc/other", "", nothing, PROBE_MISSING, "cannot be read",
	  "CONFIG_PERF_EVENTS" },
	{ PROBE_SAMPLE_RATE, "/proc/sys/kernel/perf_event_max_sample_rate", "100000\n", nothing,
	  PROBE_OK, "at most 100000", "" },
	{ PROBE_SAMPLE_RATE, "/proc/sys/kernel/perf_event_max_sample_rate", "250\n", nothing,
	  PROBE_WARN, "at most 250", "max_sample_rate=100000" },
	{ PROBE_KERNEL_SYMBOLS, "/proc/kallsyms", "ffffffff81000000 T _text\n", nothing, PROBE_OK,
	  "shows addresses", "" },
	{ PROBE_KERNEL_SYMBOLS, "/proc/kallsyms",
	  "0000000000000000 A fixed_percpu_data\nffffffff81000000 T _text\n", nothing, PROBE_OK,
	  "shows addresses", "" },
	{ PROBE_KERNEL_SYMBOLS, "/proc/kallsyms", "0000000000000000 T _text\n", nothing, PROBE_WARN,
	  "no addresses (kptr_restrict 0)", "CAP_SYSLOG" },
	{ PROBE_CAPABILITIES, "/proc/x", "", all, PROBE_OK, "CAP_SYSLOG", "" },
	{ PROBE_CAPABILITIES, "/proc/x", "", perfmon, PROBE_WARN,
	  "without CAP_BPF CAP_SYSLOG CAP_DAC_READ_SEARCH CAP_SYS_PTRACE, with CAP_PERFMON",
	  "run as root" },
	{ PROBE_CAPABILITIES, "/proc/x", "", "CapEff:\tzzz\n", PROBE_WARN, "without CAP_PERFMON",
	  "run as root" },
	{ PROBE_LOCKDOWN, "/sys/kernel/security/lockdown", "[none] integrity confidentiality\n",
	  nothing, PROBE_OK, "[none]", "" },
	{ PROBE_LOCKDOWN, "/sys/kernel/security/lockdown", "none integrity [confidentiality]\n",
	  nothing, PROBE_WARN, "[confidentiality]", "lockdown=integrity" },
	{ PROBE_LOCKDOWN, "/sys/other", "", nothing, PROBE_OK, "unknown", "" },
	{ PROBE_NMI_WATCHDOG, "/proc/sys/kernel/nmi_watchdog", "1\n", nothing, PROBE_WARN,
	  "on; uses a hardware counter", "nmi_watchdog=0" },
	{ PROBE_NMI_WATCHDOG, "/proc/sys/kernel/nmi_watchdog", "0\n", nothing, PROBE_OK, "off",
	  "" },
	{ PROBE_BTF, "/sys/kernel/btf/vmlinux", "btf", nothing, PROBE_OK, "/sys/kernel/btf", "" },
	{ PROBE_BTF, "/sys/other", "", nothing, PROBE_WARN, "No such file", "DEBUG_INFO_BTF" },
	{ PROBE_FUSE, "/dev/fuse", "", nothing, PROBE_OK, "can be opened", "" },
	{ PROBE_FUSE, "/dev/other", "", nothing, PROBE_WARN, "No such file", "modprobe fuse" },
};

static void write_below(const char *root, const char *path, const char *text)
{
	_cleanup_free_ char *full = path_under(root, path);
	struct error err = ERROR_INIT;

	CHECK_EQ(path_make_parents(full, 0755, &err), 0);
	CHECK_EQ(path_write(full, text, 0644, &err), 0);
}

static void recorded_machines_are_judged(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_directory_ char *root = test_directory();
		struct probe_result result;
		int before = test_failures;

		write_below(root, rows[i].path, rows[i].text);
		write_below(root, "/proc/self/status", rows[i].status);
		probe_run(rows[i].id, root, &result);
		CHECK_STR(probe_verdict_text(result.verdict), probe_verdict_text(rows[i].verdict));
		CHECK(strstr(result.detail, rows[i].detail));
		CHECK(*rows[i].remedy ? strstr(result.remedy, rows[i].remedy) != NULL
				      : !*result.remedy);
		if (test_failures > before)
			printf("# row %zu: %s; %s\n", i, result.detail, result.remedy);
	}
}

static void container_is_recognised_by_its_namespace(void)
{
	static const struct {
		const char *link;
		enum probe_verdict verdict;
	} links[] = {
		{ "pid:[4026531836]", PROBE_OK },
		{ "pid:[4026532448]", PROBE_WARN },
		{ "pid:[x]", PROBE_WARN },
		{ "nonsense", PROBE_WARN },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(links); i++) {
		_cleanup_directory_ char *root = test_directory();
		_cleanup_free_ char *path = path_under(root, "/proc/self/ns/pid");
		struct probe_result result;
		struct error err = ERROR_INIT;

		CHECK_EQ(path_make_parents(path, 0755, &err), 0);
		CHECK_EQ(symlink(links[i].link, path), 0);
		probe_run(PROBE_PID_NAMESPACE, root, &result);
		CHECK_STR(probe_verdict_text(result.verdict), probe_verdict_text(links[i].verdict));
	}
}

static void every_probe_has_a_line(void)
{
	static const char *const names[] = {
		"own-process",	 "system-wide", "hardware-event", "paranoid",
		"sample-rate",	 "ring-memory", "kernel-symbols", "capabilities",
		"pid-namespace", "lockdown",	"nmi-watchdog",	  "bpf",
		"btf",		 "fuse",
	};
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT, json = STRBUF_INIT;
	_cleanup_directory_ char *root = test_directory();
	size_t i;

	static_assert(ARRAY_SIZE(names) == PROBE_COUNT_, "a name for each probe");
	CHECK(probe_report(root, true, &text) == probe_report_json(root, &json));
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		CHECK(strstr(strbuf_text(&text), names[i]));
		CHECK(strstr(strbuf_text(&json), names[i]));
	}
}

TESTS(T(recorded_machines_are_judged), T(container_is_recognised_by_its_namespace),
      T(every_probe_has_a_line))
