/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "settings.h"

#include "base/mem.h"
#include "base/path.h"
#include "control/verbosity.h"
#include "logfile.h"
#include "rights.h"
#include "tools/common/tool.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

/* What the command line said; NULL where nothing. */
static const char *config_path, *session_dir, *vmlinux, *kernel_range, *image, *separate, *events,
	*ext_feature, *driver, *rate, *buffer_size, *cpu_buffer_size, *socket_group, *tee, *replay,
	*callgraph, *callgraph_mode, *unwind_memory, *user, *session_mode, *budget, *max_memory,
	*max_disk, *keep_free, *max_files;
static const char *separate_lib, *separate_kernel, *separate_thread, *separate_cpu;
static const char *verbose;
static bool no_vmlinux, foreground, start, force, no_seccomp;

static int set_verbose(const char *arg, void *target, struct error *err)
{
	enum log_level level;

	*(const char **)target = arg ?: "all";
	return verbosity_parse(arg, &level, err);
}

/* clang-format off */
static const struct opt opts[] = {
	{ 0, NULL, OPT_HEADING, NULL, NULL, "What is sampled" },
	{ 'e', "events", OPT_STRING, &events, "EVENT,...",
	  "events, each NAME:count:unitmask:kernel:user, or TIMER:HZ" },
	{ 0, "rate", OPT_STRING, &rate, "HZ",
	  "samples a second and CPU where the clock replaces a counter (199)" },
	{ 0, "budget", OPT_STRING, &budget, "PERCENT",
	  "of each CPU's time that sampling may cost: beyond it samples come more rarely, and "
	  "count for more (0.5%); none: no limit" },
	{ 0, "force", OPT_FLAG, &force, NULL, "sample more often than every 100 us, too" },
	{ 0, "driver", OPT_STRING, &driver, "NAME", "what takes the samples: auto, bpf, perf" },
	{ 'c', "callgraph", OPT_STRING, &callgraph, "DEPTH",
	  "take the call chain of every sample, up to DEPTH frames; 0: none" },
	{ 0, "callgraph-mode", OPT_STRING, &callgraph_mode, "auto|fp|table",
	  "find callers by frame pointers or by the images' unwind tables" },
	{ 0, "unwind-memory", OPT_STRING, &unwind_memory, "SIZE",
	  "of unwind tables, beyond which call chains end for want of one (64M)" },
	{ 'x', "ext-feature", OPT_STRING, &ext_feature, "NAME:ARGS",
	  "an extended feature: ibs, offcpu" },
	{ 0, NULL, OPT_HEADING, NULL, NULL, "How it is kept" },
	{ 0, "session-dir", OPT_PATH, &session_dir, "DIR",
	  "where the sample files go (/var/lib/oprofile)" },
	{ 0, "separate", OPT_STRING, &separate, "WHAT,...",
	  "own sample files by: none, library, kernel, thread, cpu, cgroup, all" },
	{ 0, "separate-lib", OPT_STRING, &separate_lib, "0|1", NULL },
	{ 0, "separate-kernel", OPT_STRING, &separate_kernel, "0|1", NULL },
	{ 0, "separate-thread", OPT_STRING, &separate_thread, "0|1", NULL },
	{ 0, "separate-cpu", OPT_STRING, &separate_cpu, "0|1", NULL },
	{ 'i', "image", OPT_STRING, &image, "PATH,...", "keep only these programs' samples" },
	{ 'k', "vmlinux", OPT_PATH, &vmlinux, "FILE", "kernel image with symbols" },
	{ 0, "no-vmlinux", OPT_FLAG, &no_vmlinux, NULL, "count all of the kernel as one image" },
	{ 'r', "kernel-range", OPT_STRING, &kernel_range, "START,END",
	  "the kernel's text, hexadecimal" },
	{ 0, "buffer-size", OPT_STRING, &buffer_size, "WORDS", "size of the event buffer" },
	{ 0, "cpu-buffer-size", OPT_STRING, &cpu_buffer_size, "WORDS",
	  "size of each CPU's buffer" },
	{ 0, NULL, OPT_HEADING, NULL, NULL, "The daemon" },
	{ 0, "config", OPT_PATH, &config_path, "FILE", "settings (see daemonrc(5))" },
	{ 'F', "foreground", OPT_FLAG, &foreground, NULL, "stay; the log also goes to stderr" },
	{ 0, "start", OPT_FLAG, &start, NULL, "begin to sample at once" },
	{ 0, "max-memory", OPT_STRING, &max_memory, "SIZE",
	  "of the daemon, beyond which it does without things (256M); none: no limit" },
	{ 0, "max-disk", OPT_STRING, &max_disk, "SIZE|PERCENT",
	  "of the session directory, likewise (10% of its file system, up to 4G)" },
	{ 0, "keep-free", OPT_STRING, &keep_free, "SIZE|PERCENT",
	  "of the file system, to be left to others (5%, up to 1G)" },
	{ 0, "max-files", OPT_STRING, &max_files, "N", "open at a time (as the system allows)" },
	{ 0, "socket-group", OPT_STRING, &socket_group, "GROUP",
	  "members may control the daemon and read what it records" },
	{ 0, "session-mode", OPT_STRING, &session_mode, "MODE",
	  "who may read the session directory (0750)" },
	{ 0, "user", OPT_STRING, &user, "NAME",
	  "who root's daemon is once it runs (oprofile, where there is one)" },
	{ 0, "no-seccomp", OPT_FLAG, &no_seccomp, NULL, "refuse itself no system calls" },
	{ 'V', "verbose", OPT_CALL, &verbose, "[LEVEL]",
	  "what the log says: none, info (the default), debug; the original's all, sfile, arcs, "
	  "samples, module, misc, ext are taken as debug", set_verbose },
	{ 0, NULL, OPT_HEADING, NULL, NULL, "Recorded streams" },
	{ 0, "tee", OPT_PATH, &tee, "FILE", "also write the event buffer to FILE" },
	{ 0, "replay", OPT_PATH, &replay, "FILE",
	  "make sample files of a stream that --tee wrote, print the statistics, exit" },
	OPT_END
};
/* clang-format on */

static const struct opt_cmdline cmdline = {
	.tool = "oprofiled",
	.usage = "[OPTION]...",
	.summary = "Sample the whole machine into sample files. Mostly started by opcontrol or the "
		   "service manager; settings not given are taken from daemonrc.",
	.opts = opts,
};

/* Options that stand for a key of daemonrc. */
static const struct {
	const char *key;
	const char **value;
} keys[] = {
	{ "SESSION_DIR", &session_dir },
	{ "CALLGRAPH", &callgraph },
	{ "CALLGRAPH_MODE", &callgraph_mode },
	{ "UNWIND_MEMORY", &unwind_memory },
	{ "VMLINUX", &vmlinux },
	{ "KERNEL_RANGE", &kernel_range },
	{ "IMAGE_FILTER", &image },
	{ "SEPARATE_LIB", &separate_lib },
	{ "SEPARATE_KERNEL", &separate_kernel },
	{ "SEPARATE_THREAD", &separate_thread },
	{ "SEPARATE_CPU", &separate_cpu },
	{ "EXT_FEATURE", &ext_feature },
	{ "DRIVER", &driver },
	{ "RATE", &rate },
	{ "BUDGET", &budget },
	{ "MAX_MEMORY", &max_memory },
	{ "MAX_DISK", &max_disk },
	{ "KEEP_FREE", &keep_free },
	{ "MAX_FILES", &max_files },
	{ "BUF_SIZE", &buffer_size },
	{ "CPU_BUF_SIZE", &cpu_buffer_size },
	{ "SOCKET_GROUP", &socket_group },
	{ "SESSION_MODE", &session_mode },
	{ "USER", &user },
	{ "VERBOSE", &verbose },
};

static int read_file(struct daemonrc *rc, struct error *err)
{
	_cleanup_free_ char *path = daemonrc_path(config_path, false);
	struct error why = ERROR_INIT;
	int r = daemonrc_read(path, rc, &why);

	/* A file that was not asked for need not be there. */
	if (r < 0 && (r != -ENOENT || config_path))
		return error_set(err, r, "%s", why.text);
	return 0;
}

static int lay_options_over(struct daemonrc *rc, struct error *err)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < ARRAY_SIZE(keys); i++)
		if (*keys[i].value)
			r = daemonrc_set(rc, keys[i].key, *keys[i].value, err);
	if (r == 0 && no_vmlinux)
		r = daemonrc_set(rc, "VMLINUX", "none", err);
	return r;
}

/* A path as it is seen from elsewhere, for the daemon leaves the current directory. */
static void make_absolute(char **path)
{
	char *absolute = path_absolute(*path);

	free(*path);
	*path = absolute;
}

static int take_events(struct settings *s, struct error *err)
{
	_cleanup_free_ char *stored = daemonrc_events(&s->rc), *feature = NULL;
	int n = event_parse_all(events ?: stored ?: "default", s->events, &feature, err);

	s->event_count = (size_t)MAX(n, 0);
	if (n >= 0 && feature && s->rc.ext_feature)
		return error_set(err, -EINVAL,
				 "extended feature %s, and events of %s beside it: one is enabled "
				 "at a time",
				 s->rc.ext_feature, feature);
	if (n >= 0 && feature)
		s->rc.ext_feature = STEAL(feature);
	return MIN(n, 0);
}

static int take_separate(struct settings *s, struct error *err)
{
	int bits;

	if (separate) {
		bits = record_separate_parse(separate, err);
		s->separate = (unsigned int)MAX(bits, 0);
		return MIN(bits, 0);
	}
	s->separate = (s->rc.separate_lib ? RECORD_SEPARATE_LIB : 0u) |
		      (s->rc.separate_kernel ? RECORD_SEPARATE_LIB | RECORD_SEPARATE_KERNEL : 0u) |
		      (s->rc.separate_thread ? RECORD_SEPARATE_THREAD : 0u) |
		      (s->rc.separate_cpu ? RECORD_SEPARATE_CPU : 0u) |
		      (s->rc.separate_cgroup ? RECORD_SEPARATE_CGROUP : 0u);
	return 0;
}

static int take_callgraph(struct settings *s, struct error *err)
{
	int r = 0;

	if (s->rc.callgraph > DRIVER_DEPTH_MAX)
		return error_set(err, -EINVAL, "CALLGRAPH: call chains are 0 to %d deep",
				 DRIVER_DEPTH_MAX);
	s->chain_mode = DRIVER_CHAINS_AUTO;
	if (s->rc.callgraph_mode)
		r = driver_parse_chain_mode(s->rc.callgraph_mode, &s->chain_mode, err);
	if (r == 0 && s->rc.unwind_memory)
		r = driver_parse_unwind_bytes(s->rc.unwind_memory, &s->unwind_bytes, err);
	return r;
}

/* What follows from the keys. */
static int complete(struct settings *s, struct error *err)
{
	int r;

	if (!s->rc.session_dir)
		s->rc.session_dir = xstrdup(DAEMONRC_SESSION_DIR);
	if (!s->rc.socket_group && rights_group(s->rc.user))
		s->rc.socket_group = xstrdup(rights_group(s->rc.user));
	make_absolute(&s->rc.session_dir);
	if (s->rc.vmlinux && strcmp(s->rc.vmlinux, "none") != 0)
		make_absolute(&s->rc.vmlinux);
	s->tee = tee ? path_absolute(tee) : NULL;
	s->replay = replay ? path_absolute(replay) : NULL;
	s->foreground = foreground;
	s->start = start;
	s->force = force;
	s->no_seccomp = no_seccomp;
	s->verbose = LOG_LEVEL_INFO;
	r = s->rc.verbose ? verbosity_parse(s->rc.verbose, &s->verbose, err) : 0;
	if (r == 0)
		r = take_events(s, err);
	if (r == 0)
		r = daemonrc_mode(&s->rc, &s->session_mode, err);
	if (r == 0)
		r = take_separate(s, err);
	if (r == 0)
		r = take_callgraph(s, err);
	if (r == 0)
		r = limits_read(&s->rc, &s->limits, err);
	if (r == 0)
		r = daemonrc_kernel_range(&s->rc, &s->kernel_start, &s->kernel_end, err);
	return r;
}

int settings_load(int argc, char **argv, struct settings *ret, struct error *err)
{
	int operands = tool_options(&cmdline, argc, argv), r;

	if (operands < argc)
		exit(tool_usage("unexpected '%s'", argv[operands]));
	r = read_file(&ret->rc, err);
	if (r == 0)
		r = lay_options_over(&ret->rc, err);
	if (r == 0)
		r = complete(ret, err);
	return r;
}

void settings_done(struct settings *settings)
{
	daemonrc_done(&settings->rc);
	free(settings->tee);
	free(settings->replay);
	*settings = SETTINGS_INIT;
}

/* Descriptors that this process may have; 0: any number. */
static uint64_t file_limit(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY
		       ? limit.rlim_cur
		       : 0;
}

/* The size of the file system that @path is on, or will be. */
static uint64_t file_system_bytes(const char *path)
{
	_cleanup_free_ char *at = xstrdup(path);
	struct statvfs fs;
	char *slash;

	while (statvfs(at, &fs) < 0) {
		slash = strrchr(at, '/');
		if (!slash || slash == at)
			return statvfs("/", &fs) < 0 ? 0 : (uint64_t)fs.f_blocks * fs.f_frsize;
		*slash = '\0';
	}
	return (uint64_t)fs.f_blocks * fs.f_frsize;
}

void settings_collector(const struct settings *s, struct collector_config *ret)
{
	bool none = s->rc.vmlinux && !strcmp(s->rc.vmlinux, "none");
	uint64_t disk = file_system_bytes(s->rc.session_dir);

	*ret = (struct collector_config){
		.driver = s->replay ? "replay" : s->rc.driver,
		.drive = {
			.events = s->events,
			.event_count = s->event_count,
			.scope = DRIVER_SYSTEM,
			.timer_hz = s->rc.rate ?: SETTINGS_TIMER_HZ,
			.force = s->force,
			.cpu_buffer_bytes = s->rc.cpu_buffer_size * sizeof(uint64_t),
			.buffer_words = s->rc.buffer_size,
			.callgraph_depth = (unsigned int)s->rc.callgraph,
			.callgraph_mode = s->chain_mode,
			.unwind_bytes = s->unwind_bytes,
			.replay_path = s->replay,
		},
		.record = {
			.session_dir = s->rc.session_dir,
			.session_name = "current",
			.separate = s->separate,
			.images = s->rc.image_filter,
			.vmlinux = none ? NULL : s->rc.vmlinux,
			.kernel_start = s->kernel_start,
			.kernel_end = s->kernel_end,
			.no_vmlinux = none,
			.ext_feature = s->rc.ext_feature,
		},
		.tee_path = s->tee,
		.measures_cost = true,
		.cpu_budget = s->limits.cpu,
		.quota = {
			.memory = s->limits.memory,
			.disk = limits_bytes(&s->limits.disk, disk),
			.keep_free = limits_bytes(&s->limits.keep_free, disk),
			.files = s->limits.files ?: file_limit(),
		},
	};
}

char *settings_separate(const struct settings *settings)
{
	struct daemonrc rc = {
		.separate_lib = settings->separate & RECORD_SEPARATE_LIB,
		.separate_kernel = settings->separate & RECORD_SEPARATE_KERNEL,
		.separate_thread = settings->separate & RECORD_SEPARATE_THREAD,
		.separate_cpu = settings->separate & RECORD_SEPARATE_CPU,
		.separate_cgroup = settings->separate & RECORD_SEPARATE_CGROUP,
	};

	return daemonrc_separate(&rc);
}
