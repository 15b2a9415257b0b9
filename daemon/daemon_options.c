/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon_options.h"

#include "base/mem.h"
#include "file/path.h"
#include "control/daemonrc.h"
#include "event_box.h"
#include "rights.h"
#include "tools/common/tool.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

/* The options given on the command line; NULL: not given. */
static struct setting_given given[] = SETTINGS_GIVEN;
static const char *config_path, *events, *tee, *replay;
static bool foreground, start, force, no_seccomp;

/* clang-format off */
static const struct opt opts[] = {
	{ 0, NULL, OPT_HEADING, NULL, NULL, "What is sampled" },
	{ 'e', "events", OPT_STRING, &events, "EVENT,...",
	  "events, each NAME:count:unitmask:kernel:user, or TIMER:HZ" },
	{ 0, "force", OPT_FLAG, &force, NULL, "allow samples less than 100 us apart" },
	SETTINGS_OF_SAMPLING(SETTING_OPTION)
	{ 0, NULL, OPT_HEADING, NULL, NULL, "Where samples are kept" },
	SETTINGS_OF_FILES(SETTING_OPTION)
	{ 0, "no-vmlinux", OPT_CALL, &given[SETTING_VMLINUX], NULL,
	  "count all of the kernel as one image", setting_give },
	{ 0, NULL, OPT_HEADING, NULL, NULL, "The daemon" },
	{ 0, "config", OPT_PATH, &config_path, "FILE", "read settings from FILE (daemonrc(5))" },
	{ 'F', "foreground", OPT_FLAG, &foreground, NULL,
	  "do not go into the background; log to stderr as well" },
	{ 0, "start", OPT_FLAG, &start, NULL, "start sampling at once" },
	{ 0, "no-seccomp", OPT_FLAG, &no_seccomp, NULL, "do not restrict system calls" },
	SETTINGS_OF_DAEMON(SETTING_OPTION)
	{ 0, NULL, OPT_HEADING, NULL, NULL, "Recorded streams" },
	{ 0, "tee", OPT_PATH, &tee, "FILE", "also write the event buffer to FILE" },
	{ 0, "replay", OPT_PATH, &replay, "FILE",
	  "convert a stream recorded by --tee to sample files, print statistics and exit" },
	OPT_END
};
/* clang-format on */

static const struct opt_cmdline cmdline = {
	.tool = "oprofiled",
	.usage = "[OPTION]...",
	.summary = "Sample the whole machine into sample files. Usually started by opcontrol or "
		   "the service manager; other settings are taken from daemonrc.",
	.opts = opts,
	.acts = true,
};

static int read_file(struct settings *s, struct error *err)
{
	_cleanup_free_ char *path = daemonrc_path(config_path, false);
	struct error why = ERROR_INIT;
	int r = daemonrc_read(path, s, &why);

	/* Only a file given by --config must exist. */
	if (r < 0 && (r != -ENOENT || config_path))
		return error_set(err, r, "%s", why.text);
	return 0;
}

/* Parses the events; events of an extended feature enable it. */
static int take_events(struct daemon_options *o, struct error *err)
{
	_cleanup_free_ char *stored = settings_events(&o->settings);
	const char *feature = o->settings.ext_feature;
	const char *specs = events ?: stored ?: "default";
	int n = event_box_try(specs, err);

	if (n == 0)
		n = event_parse_all(specs, o->events, &o->derived, err);
	o->event_count = (size_t)MAX(n, 0);
	if (n < 0 || !feature)
		return MIN(n, 0);
	if (evderived_name(&o->derived))
		return error_set(err, -EINVAL,
				 "--ext-feature=%s cannot be combined with events of %s: only one "
				 "extended feature can be enabled",
				 feature, evderived_name(&o->derived));
	return evderived_parse(feature, &o->derived, err);
}

/* Sets the group that may control the daemon, unless it is configured. */
static int take_group(struct settings *s, struct error *err)
{
	const char *group = s->socket_group ? NULL : rights_group(s->user);

	return group ? settings_set(s, SETTING_SOCKET_GROUP, group, err) : 0;
}

int daemon_options_load(int argc, char **argv, struct daemon_options *ret, struct error *err)
{
	int operands = tool_options(&cmdline, argc, argv), r;

	if (operands < argc)
		exit(tool_usage("unexpected '%s'", argv[operands]));
	ret->settings = settings_default();
	ret->tee = tee ? path_absolute(tee) : NULL;
	ret->replay = replay ? path_absolute(replay) : NULL;
	ret->foreground = foreground;
	ret->start = start;
	ret->force = force;
	ret->no_seccomp = no_seccomp;
	r = read_file(&ret->settings, err);
	if (r == 0)
		r = settings_take(&ret->settings, given, err);
	if (r == 0)
		r = take_group(&ret->settings, err);
	if (r == 0)
		r = take_events(ret, err);
	return r;
}

void daemon_options_done(struct daemon_options *options)
{
	settings_done(&options->settings);
	free(options->tee);
	free(options->replay);
	*options = (struct daemon_options){ 0 };
}

/* Descriptors that this process may have; 0: any number. */
static uint64_t file_limit(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY
		       ? limit.rlim_cur
		       : 0;
}

/* The size of the file system of @path, which may not exist yet. */
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

/* What call chains that nobody asked for need; with less, all of it is for samples. */
enum { CHAINS_MEMORY = 160 << 20, CHAINS_FILES = 512 };

/* The depth of call chains. */
static unsigned int chain_depth(const struct settings *s)
{
	uint64_t files = s->max_files ?: file_limit();

	if (!s->text[SETTING_CALLGRAPH] &&
	    ((s->max_memory && s->max_memory < CHAINS_MEMORY) || (files && files < CHAINS_FILES)))
		return 0;
	return (unsigned int)s->callgraph;
}

void daemon_options_collector(const struct daemon_options *o, struct collector_config *ret)
{
	const struct settings *s = &o->settings;
	bool none = s->vmlinux && !strcmp(s->vmlinux, "none");
	uint64_t disk = file_system_bytes(s->session_dir);

	*ret = (struct collector_config){
		.driver = o->replay ? "replay" : s->driver,
		.drive = {
			.events = o->events,
			.event_count = o->event_count,
			.derived = o->derived,
			.scope = DRIVER_SYSTEM,
			.timer_hz = s->rate,
			.force = o->force,
			.cpu_buffer_bytes = s->cpu_buffer_size * sizeof(uint64_t),
			.buffer_words = s->buffer_size,
			.callgraph_depth = chain_depth(s),
			.callgraph_unasked = !s->text[SETTING_CALLGRAPH],
			.callgraph_mode = (enum driver_chain_mode)s->callgraph_mode,
			.unwind_bytes = s->unwind_memory,
			.replay_path = o->replay,
		},
		.record = {
			.session_dir = s->session_dir,
			.session_name = "current",
			.command = "oprofiled",
			.separate = (unsigned int)s->separate,
			.images = s->image_filter,
			.vmlinux = none ? NULL : s->vmlinux,
			.kernel_start = s->kernel_range.start,
			.kernel_end = s->kernel_range.end,
			.no_vmlinux = none,
			.keep_ms = s->keep,
			.history_max = s->max_history,
		},
		.functions_max = s->max_symbols,
		.tee_path = o->tee,
		.measures_cost = !o->replay,
		.cpu_budget = s->budget,
		.quota = {
			.memory = s->max_memory,
			.disk = setting_limit_bytes(&s->max_disk, disk),
			.keep_free = setting_limit_bytes(&s->keep_free, disk),
			.files = s->max_files ?: file_limit(),
		},
	};
}
