/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "perf/probe.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/parse.h"
#include "file/path.h"
#include "perf/internal/probe_perf.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static void detail(struct probe_result *ret, const char *format, ...) _printf_(2, 3);
static void detail(struct probe_result *ret, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(ret->detail, sizeof(ret->detail), format, ap);
	va_end(ap);
}

/* Sets the verdict and the remedy. */
static void verdict(struct probe_result *ret, enum probe_verdict verdict, const char *remedy)
{
	ret->verdict = verdict;
	(void)snprintf(ret->remedy, sizeof(ret->remedy), "%s", remedy);
}

/* Effective capabilities of this process, as bits; 0 if they cannot be read. */
static uint64_t capabilities(const char *root)
{
	_cleanup_free_ char *status = NULL;
	const char *at;
	uint64_t bits = 0;

	if (path_read(root, "/proc/self/status", &status, NULL) < 0)
		return 0;
	at = strstr(status, "\nCapEff:\t");
	if (!at)
		return 0;
	at += strlen("\nCapEff:\t");
	return parse_hex(&at, &bits) < 0 ? 0 : bits;
}

static bool has(uint64_t bits, unsigned int capability)
{
	return bits >> capability & 1;
}

/* CAP_SYS_ADMIN includes the capabilities that were split off it. */
static bool has_perfmon(uint64_t bits)
{
	return has(bits, CAP_PERFMON) || has(bits, CAP_SYS_ADMIN);
}

/* Whether the running kernel has no levels above 2, as those of kernel.org. That cannot be tried on
 * other machines, whose files are below @root. */
static bool takes_like_2(const char *root)
{
	struct probe_result own = { 0 };

	if (!*root)
		probe_own_process(root, &own);
	return !*root && own.verdict == PROBE_OK;
}

static void probe_paranoid(const char *root, struct probe_result *ret)
{
	static const char path[] = "/proc/sys/kernel/perf_event_paranoid";
	static const char user_only[] = "your own processes may be sampled, in user space only";
	static const char more[] = "for more: sysctl kernel.perf_event_paranoid=0, or run as root";
	_cleanup_free_ char *text = NULL;
	int64_t level;

	if (path_read(root, path, &text, NULL) < 0) {
		detail(ret, "%s cannot be read", path);
		verdict(ret, PROBE_MISSING,
			"use a kernel with CONFIG_PERF_EVENTS, and mount /proc");
		return;
	}
	text[strcspn(text, "\n")] = '\0';
	if (parse_i64(text, INT32_MIN, INT32_MAX, &level) < 0) {
		detail(ret, "%s: '%.32s' is not a number", path, text);
		verdict(ret, PROBE_WARN, "");
		return;
	}
	/* Kernels of Debian and others have levels above 2, which require more. */
	if (level > 2 ? has(capabilities(root), CAP_SYS_ADMIN) : has_perfmon(capabilities(root))) {
		detail(ret, "%" PRId64 ", which %s overrides", level,
		       level > 2 ? "CAP_SYS_ADMIN" : "CAP_PERFMON");
		return;
	}
	if (level > 2 && takes_like_2(root)) {
		detail(ret, "%" PRId64 ", which this kernel takes like 2: %s", level, user_only);
		verdict(ret, PROBE_WARN, more);
		return;
	}
	detail(ret, "%" PRId64 ": %s", level,
	       level <= 0   ? "the whole system may be sampled"
	       : level == 1 ? "your own processes may be sampled, in the kernel too"
	       : level == 2 ? user_only
			    : "kernels of Debian, Ubuntu and others refuse everything");
	if (level > 0)
		verdict(ret, level > 2 ? PROBE_MISSING : PROBE_WARN,
			level > 2 ? "sysctl kernel.perf_event_paranoid=2, or run as root" : more);
}

static void probe_sample_rate(const char *root, struct probe_result *ret)
{
	enum { COMFORTABLE_HZ = 2000 };
	uint64_t rate;

	if (path_read_u64(root, "/proc/sys/kernel/perf_event_max_sample_rate", &rate) < 0) {
		detail(ret, "perf_event_max_sample_rate cannot be read");
		verdict(ret, PROBE_WARN, "");
		return;
	}
	detail(ret, "at most %" PRIu64 " samples per second", rate);
	if (rate < COMFORTABLE_HZ)
		verdict(ret, PROBE_WARN,
			"sysctl kernel.perf_event_max_sample_rate=100000 (the kernel lowers it "
			"when sampling takes too long)");
}

/* Whether kallsyms shows real addresses: one of its first lines is not 0. */
static bool kallsyms_visible(const char *root)
{
	_cleanup_fclose_ FILE *f = path_fopen(root, "/proc/kallsyms");
	_cleanup_free_ char *line = NULL;
	uint64_t address = 0;
	size_t room = 0;
	int i;

	for (i = 0; f && i < 100 && !address && xgetline(&line, &room, f) > 0; i++) {
		const char *at = line;

		(void)parse_hex(&at, &address);
	}
	return address;
}

static void probe_kernel_symbols(const char *root, struct probe_result *ret)
{
	uint64_t restricted = 0;

	if (kallsyms_visible(root)) {
		detail(ret, "/proc/kallsyms shows addresses");
		return;
	}
	(void)path_read_u64(root, "/proc/sys/kernel/kptr_restrict", &restricted);
	detail(ret, "/proc/kallsyms shows no addresses (kptr_restrict %" PRIu64 ")", restricted);
	verdict(ret, PROBE_WARN,
		restricted > 1 ? "sysctl kernel.kptr_restrict=1; until then kernel samples have no "
				 "symbols"
			       : "run with CAP_SYSLOG (root has it); until then kernel samples "
				 "have no symbols");
}

static void probe_capabilities(const char *root, struct probe_result *ret)
{
	static const struct {
		unsigned int number;
		const char *name;
	} wanted[] = {
		{ CAP_PERFMON, "CAP_PERFMON" },
		{ CAP_BPF, "CAP_BPF" },
		{ CAP_SYSLOG, "CAP_SYSLOG" },
		{ CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH" },
		{ CAP_SYS_PTRACE, "CAP_SYS_PTRACE" },
	};
	_cleanup_(strbuf_done) struct strbuf there = STRBUF_INIT, lacking = STRBUF_INIT;
	uint64_t bits = capabilities(root);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wanted); i++)
		strbuf_addf(has(bits, wanted[i].number) ? &there : &lacking, " %s", wanted[i].name);
	if (!lacking.length) {
		detail(ret, "all useful ones:%s", strbuf_text(&there));
		return;
	}
	detail(ret, "without%s%s%s", strbuf_text(&lacking), there.length ? ", with" : "",
	       strbuf_text(&there));
	verdict(ret, PROBE_WARN,
		"run as root, or give the daemon these (systemd: AmbientCapabilities=)");
}

static void probe_pid_namespace(const char *root, struct probe_result *ret)
{
	enum { PROC_PID_INIT_INO = 0xeffffffc }; /* of the first namespace, since Linux 3.8 */
	_cleanup_free_ char *path = path_under(root, "/proc/self/ns/pid");
	char link[64] = "";
	uint64_t number = 0;
	const char *at;

	if (readlink(path, link, sizeof(link) - 1) < 0) {
		detail(ret, "%s: %s", path, strerror(errno));
		verdict(ret, PROBE_WARN, "mount /proc");
		return;
	}
	at = strchr(link, '[');
	if (!at || (at++, parse_dec(&at, &number) < 0) || number != PROC_PID_INIT_INO) {
		detail(ret, "in its own PID namespace (%s)", link);
		verdict(ret, PROBE_WARN,
			"run outside the container, or start it with --pid=host: processes outside "
			"cannot be identified");
		return;
	}
	detail(ret, "the machine's initial namespace");
}

static void probe_lockdown(const char *root, struct probe_result *ret)
{
	_cleanup_free_ char *text = NULL;

	if (path_read(root, "/sys/kernel/security/lockdown", &text, NULL) < 0) {
		detail(ret, "unknown: securityfs is not mounted, or the kernel has no lockdown");
		return;
	}
	text[strcspn(text, "\n")] = '\0';
	detail(ret, "%.100s", text);
	if (strstr(text, "[confidentiality]"))
		verdict(ret, PROBE_WARN,
			"boot with lockdown=integrity to use BPF; sampling works without BPF");
}

static void probe_nmi_watchdog(const char *root, struct probe_result *ret)
{
	uint64_t on = 0;

	(void)path_read_u64(root, "/proc/sys/kernel/nmi_watchdog", &on);
	detail(ret, on ? "on; uses a hardware counter of each CPU" : "off");
	if (on)
		verdict(ret, PROBE_WARN,
			"sysctl kernel.nmi_watchdog=0 to count many events at once");
}

static void probe_bpf(const char *root _unused_, struct probe_result *ret)
{
	/* r0 = 0; exit */
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_PERF_EVENT,
		.insns = (uintptr_t)insns,
		.insn_cnt = ARRAY_SIZE(insns),
		.license = (uintptr_t) "GPL",
	};
	_cleanup_close_ int fd = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	int error = errno;

	if (fd >= 0) {
		detail(ret, "a BPF program for perf events loads");
		return;
	}
	detail(ret, "bpf: %s (%s)", strerror(error), strerrorname_np(error));
	verdict(ret, PROBE_WARN,
		error != EPERM ? "use a kernel with CONFIG_BPF_SYSCALL and CONFIG_BPF_EVENTS; the "
				 "perf rings work without it"
		/* Root lacks the rights in a container only. */
		: geteuid() == 0 ? "start the container with --cap-add=BPF --cap-add=PERFMON; the "
				   "perf rings work without BPF"
				 : "run as root, or with CAP_BPF and CAP_PERFMON; the perf rings "
				   "work without it");
}

static void probe_btf(const char *root, struct probe_result *ret)
{
	_cleanup_free_ char *path = path_under(root, "/sys/kernel/btf/vmlinux");
	struct stat st;

	if (stat(path, &st) == 0 && access(path, R_OK) == 0) {
		detail(ret, "%s, %jd KiB", path, (intmax_t)st.st_size >> 10);
		return;
	}
	detail(ret, "%s: %s", path, strerror(errno));
	verdict(ret, PROBE_WARN,
		"use a kernel with CONFIG_DEBUG_INFO_BTF; the perf rings work without it");
}

static void probe_fuse(const char *root, struct probe_result *ret)
{
	_cleanup_free_ char *path = path_under(root, "/dev/fuse");
	_cleanup_close_ int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd >= 0) {
		detail(ret, "%s can be opened", path);
		return;
	}
	detail(ret, "%s: %s", path, strerror(errno));
	verdict(ret, PROBE_WARN,
		errno == EACCES ? "run as root; only /dev/oprofile needs it"
				: "modprobe fuse; only /dev/oprofile needs it");
}

static const struct {
	const char *name, *what;
	void (*run)(const char *root, struct probe_result *ret);
} probes[] = {
	[PROBE_OWN_PROCESS] = { "own-process", "profile your own processes, in user space",
				probe_own_process },
	[PROBE_SYSTEM_WIDE] = { "system-wide", "profile the whole machine", probe_system_wide },
	[PROBE_HARDWARE_EVENT] = { "hardware-event", "sample with the CPU's counters",
				   probe_hardware_event },
	[PROBE_PARANOID] = { "paranoid", "who may sample what", probe_paranoid },
	[PROBE_SAMPLE_RATE] = { "sample-rate", "the kernel's limit of samples per second",
				probe_sample_rate },
	[PROBE_MLOCK] = { "ring-memory", "memory for the CPU buffers", probe_mlock },
	[PROBE_KERNEL_SYMBOLS] = { "kernel-symbols", "names for samples in the kernel",
				   probe_kernel_symbols },
	[PROBE_CAPABILITIES] = { "capabilities", "what this user may do", probe_capabilities },
	[PROBE_PID_NAMESPACE] = { "pid-namespace", "identify all processes", probe_pid_namespace },
	[PROBE_LOCKDOWN] = { "lockdown", "what the kernel hides from root", probe_lockdown },
	[PROBE_NMI_WATCHDOG] = { "nmi-watchdog", "another user of the hardware counters",
				 probe_nmi_watchdog },
	[PROBE_BPF] = { "bpf", "sampling inside the kernel", probe_bpf },
	[PROBE_BTF] = { "btf", "the kernel's types, for BPF programs", probe_btf },
	[PROBE_FUSE] = { "fuse", "the file system /dev/oprofile", probe_fuse },
};
static_assert(ARRAY_SIZE(probes) == PROBE_COUNT_, "a row for each probe");

const char *probe_verdict_text(enum probe_verdict verdict)
{
	static const char *const text[] = {
		[PROBE_OK] = "ok",
		[PROBE_WARN] = "warn",
		[PROBE_MISSING] = "missing",
	};
	static_assert(ARRAY_SIZE(text) == PROBE_VERDICT_COUNT_, "a word for each verdict");

	return text[verdict];
}

void probe_run(enum probe_id id, const char *root, struct probe_result *ret)
{
	*ret = (struct probe_result){ .verdict = PROBE_OK };
	probes[id].run(root, ret);
}

bool probe_report(const char *root, bool verbose, struct strbuf *out)
{
	struct probe_result result;
	bool usable = false;
	int i;

	for (i = 0; i < PROBE_COUNT_; i++) {
		probe_run(i, root, &result);
		if (i == PROBE_OWN_PROCESS)
			usable = result.verdict != PROBE_MISSING;
		strbuf_addf(out, "%-8s %-15s %s\n", probe_verdict_text(result.verdict),
			    probes[i].name, result.detail);
		if (verbose)
			strbuf_addf(out, "%24s for: %s\n", "", probes[i].what);
		if (*result.remedy)
			strbuf_addf(out, "%24s remedy: %s\n", "", result.remedy);
	}
	return usable;
}

/* Writes the probes as a list of objects; returns whether profiling is possible at all. */
static bool json_probes(const char *root, struct json *j)
{
	struct probe_result result;
	bool usable = false;
	int i;

	json_open(j, "probes", '[');
	for (i = 0; i < PROBE_COUNT_; i++) {
		probe_run(i, root, &result);
		if (i == PROBE_OWN_PROCESS)
			usable = result.verdict != PROBE_MISSING;
		json_line(j);
		json_open(j, NULL, '{');
		json_string(j, "name", probes[i].name);
		json_string(j, "verdict", probe_verdict_text(result.verdict));
		json_string(j, "what", probes[i].what);
		json_bytes(j, "detail", result.detail);
		json_bytes(j, "remedy", result.remedy);
		json_close(j, '}');
	}
	json_line(j);
	json_close(j, ']');
	return usable;
}

bool probe_report_json(const char *root, struct strbuf *out)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	struct json j = JSON_SPACED(f);
	bool usable;

	if (!f)
		return false; /* no memory */
	json_open(&j, NULL, '{');
	json_line(&j);
	usable = json_probes(root, &j);
	json_line(&j);
	json_bool(&j, "usable", usable);
	json_line(&j);
	json_close(&j, '}');
	(void)fclose(f);
	strbuf_addf(out, "%s\n", text);
	return usable;
}
