/* SPDX-License-Identifier: GPL-2.0-or-later */
/* opcontrol: stores settings, starts the daemon, tells it what to do, shows what it does. */
#include "tools/common/tool.h"

#include "base/mem.h"
#include "base/parse.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "control/client.h"
#include "control/daemonrc.h"
#include "control/limits.h"
#include "control/verbosity.h"
#include "tools/opcontrol/control_actions.h"
#include "tools/opcontrol/daemon_process.h"
#include "driver/driver.h"
#include "event/event.h"
#include "record/feature.h"
#include "record/record.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum {
	ACTIONS_MAX = 32,
	RATE_MAX = 1000000, /* no kernel samples more often */
};

/* What the command line said. */
static struct {
	const struct control_action *action;
	const char *arg;
} queue[ACTIONS_MAX];
static size_t queued;
static const char *config_path, *session_dir, *separate, *callgraph, *callgraph_mode,
	*unwind_memory, *image, *vmlinux, *kernel_range, *buffer_size, *buffer_watershed,
	*cpu_buffer_size, *rate, *driver, *socket_group, *session_mode, *user, *verbose, *budget,
	*max_memory, *max_disk, *keep_free, *max_files;
static const char *events[DAEMONRC_EVENTS_MAX];
static size_t event_count;
static bool no_vmlinux, noted, json;

/* An action on the command line: they are done in the order in which they stand there. */
static int queue_action(const char *arg, void *target, struct error *err)
{
	if (queued == ACTIONS_MAX)
		return error_set(err, -EINVAL, "more than %d things to do", ACTIONS_MAX);
	queue[queued].action = target;
	queue[queued++].arg = arg;
	return 0;
}

static int add_event(const char *arg, void *target, struct error *err)
{
	(void)target;
	if (event_count == DAEMONRC_EVENTS_MAX)
		return error_set(err, -EINVAL, "more than %d events", DAEMONRC_EVENTS_MAX);
	events[event_count++] = arg;
	return 0;
}

/* An option of the original that means nothing any more. */
static int note_option(const char *arg, void *target, struct error *err)
{
	(void)arg;
	(void)err;
	tool_warn("%s has no effect any more", (const char *)target);
	noted = true;
	return 0;
}

static int set_verbose(const char *arg, void *target, struct error *err)
{
	enum log_level level;

	*(const char **)target = arg ?: "all";
	return verbosity_parse(arg, &level, err);
}

/* clang-format off */
#define DO(letter, name, id, arg, help)                                                            \
	{ letter, name, OPT_CALL, (void *)&control_actions[id], arg, help, queue_action }
static const struct opt opts[] = {
	{ 0, NULL, OPT_HEADING, NULL, NULL, "What to do, in the order given", NULL },
	DO(0, "setup", ACTION_SETUP, NULL, "store the settings given, do nothing else"),
	DO(0, "start-daemon", ACTION_START_DAEMON, NULL, "start the daemon, do not sample yet"),
	DO('s', "start", ACTION_START, NULL, "sample; starts the daemon where none runs"),
	DO('d', "dump", ACTION_DUMP, NULL, "write out what was sampled up to now, for reports"),
	DO('t', "stop", ACTION_STOP, NULL, "stop sampling; the daemon stays"),
	DO(0, "reset", ACTION_RESET, NULL, "throw the current session's samples away"),
	DO(0, "save", ACTION_SAVE, "NAME", "keep the current session as NAME, begin an empty one"),
	DO(0, "status", ACTION_STATUS, NULL, "show what the daemon does and what was lost"),
	DO('h', "shutdown", ACTION_SHUTDOWN, NULL, "stop sampling and end the daemon"),
	DO('l', "list-events", ACTION_LIST_EVENTS, NULL, "list the events there are"),
	DO(0, "check", ACTION_CHECK, NULL,
	  "show what can be profiled here, and what to do about the rest"),
	DO(0, "init", ACTION_INIT, NULL, "nothing: there is no module to load any more"),
	DO(0, "deinit", ACTION_DEINIT, NULL, "as --shutdown, then --umount"),
	DO(0, "mount", ACTION_MOUNT, "[DIR]",
	  "mount oprofilefs, the daemon's controls as files (/dev/oprofile)"),
	DO(0, "umount", ACTION_UMOUNT, "[DIR]", "unmount it"),
	{ 0, "json", OPT_FLAG, &json, NULL, "--status and --check as JSON", NULL },
	{ 0, NULL, OPT_HEADING, NULL, NULL, "Settings, kept for the next time", NULL },
	{ 'e', "event", OPT_CALL, NULL, "EVENT",
	  "sample EVENT, which is NAME:count:unitmask:kernel:user, TIMER:HZ, or \"default\"; may "
	  "be given more than once, or with commas between",
	  add_event },
	{ 'p', "separate", OPT_STRING, &separate, "WHAT,...",
	  "own sample files by: none, library, kernel, thread, cpu, cgroup, all", NULL },
	{ 'i', "image", OPT_STRING, &image, "PATH,...",
	  "keep only these programs' samples; \"all\" keeps all", NULL },
	{ 0, "session-dir", OPT_PATH, &session_dir, "DIR",
	  "where samples are kept (/var/lib/oprofile)", NULL },
	{ 'k', "vmlinux", OPT_PATH, &vmlinux, "FILE", "kernel image with symbols", NULL },
	{ 0, "no-vmlinux", OPT_FLAG, &no_vmlinux, NULL,
	  "count all of the kernel as one image", NULL },
	{ 0, "kernel-range", OPT_STRING, &kernel_range, "START,END",
	  "the kernel's text, hexadecimal", NULL },
	{ 0, "rate", OPT_STRING, &rate, "HZ",
	  "samples a second and CPU where the clock replaces a counter (199)", NULL },
	{ 0, "budget", OPT_STRING, &budget, "PERCENT",
	  "of each CPU's time that sampling may cost (0.5%); none: no limit", NULL },
	{ 0, "driver", OPT_STRING, &driver, "NAME",
	  "what takes the samples: auto, bpf, perf", NULL },
	{ 0, "buffer-size", OPT_STRING, &buffer_size, "WORDS",
	  "size of the event buffer (0: default)", NULL },
	{ 0, "cpu-buffer-size", OPT_STRING, &cpu_buffer_size, "WORDS",
	  "size of each CPU's buffer (0: default)", NULL },
	{ 0, "buffer-watershed", OPT_STRING, &buffer_watershed, "WORDS",
	  "words that wake a foreign reader of the event buffer", NULL },
	{ 'c', "callgraph", OPT_STRING, &callgraph, "DEPTH",
	  "take the call chain of every sample, up to DEPTH frames; 0: none", NULL },
	{ 0, "callgraph-mode", OPT_STRING, &callgraph_mode, "auto|fp|table",
	  "find callers by frame pointers or by the images' unwind tables", NULL },
	{ 0, "unwind-memory", OPT_STRING, &unwind_memory, "SIZE",
	  "of unwind tables, beyond which call chains end for want of one (64M)", NULL },
	{ 0, "max-memory", OPT_STRING, &max_memory, "SIZE",
	  "of the daemon, beyond which it does without things (256M); none: no limit", NULL },
	{ 0, "max-disk", OPT_STRING, &max_disk, "SIZE|PERCENT",
	  "of the session directory, likewise (10% of its file system, up to 4G)", NULL },
	{ 0, "keep-free", OPT_STRING, &keep_free, "SIZE|PERCENT",
	  "of the file system, to be left to others (5%, up to 1G)", NULL },
	{ 0, "max-files", OPT_STRING, &max_files, "N",
	  "open at a time (as the system allows)", NULL },
	{ 0, "socket-group", OPT_STRING, &socket_group, "GROUP",
	  "members may control the daemon and read what it records", NULL },
	{ 0, "session-mode", OPT_STRING, &session_mode, "MODE",
	  "who may read the session directory (0750)", NULL },
	{ 0, "user", OPT_STRING, &user, "NAME",
	  "who root's daemon is once it runs (oprofile, where there is one)", NULL },
	{ 'V', "verbose", OPT_CALL, &verbose, "[LEVEL]",
	  "what the log says: none, info, debug, or the original's kinds", set_verbose },
	{ 0, "config", OPT_PATH, &config_path, "FILE",
	  "keep the settings in FILE (see daemonrc(5))", NULL },
	{ 0, NULL, OPT_HEADING, NULL, NULL, "Of the original, accepted without effect", NULL },
	{ 0, "xen", OPT_CALL, (void *)"--xen", "FILE",
	  "Xen's hypervisor is not sampled", note_option },
	{ 0, "active-domains", OPT_CALL, (void *)"--active-domains", "LIST",
	  "nor are its other domains", note_option },
	{ 0, "s390hwsampbufsize", OPT_CALL, (void *)"--s390hwsampbufsize", "N",
	  "the kernel knows itself how large that buffer must be", note_option },
	{ 0, "note-table-size", OPT_CALL, (void *)"--note-table-size", "N",
	  "there is no table of notes", note_option },
	OPT_END
};
/* clang-format on */

static const struct opt_cmdline cmdline = {
	.tool = "opcontrol",
	.usage = "[OPTION]...",
	.summary =
		"Control the profiling daemon: store its settings, start and stop it, keep or drop "
		"what it sampled.",
	.epilog = "To profile the whole machine for a while:\n"
		  "  opcontrol --start\n"
		  "  opcontrol --dump && opreport\n"
		  "  opcontrol --shutdown\n",
	.opts = opts,
};

/* Options that stand for a key of daemonrc. */
static const struct {
	const char *key;
	const char **value;
} keys[] = {
	{ "CALLGRAPH", &callgraph },
	{ "CALLGRAPH_MODE", &callgraph_mode },
	{ "UNWIND_MEMORY", &unwind_memory },
	{ "IMAGE_FILTER", &image },
	{ "VMLINUX", &vmlinux },
	{ "KERNEL_RANGE", &kernel_range },
	{ "RATE", &rate },
	{ "BUDGET", &budget },
	{ "MAX_MEMORY", &max_memory },
	{ "MAX_DISK", &max_disk },
	{ "KEEP_FREE", &keep_free },
	{ "MAX_FILES", &max_files },
	{ "DRIVER", &driver },
	{ "BUF_SIZE", &buffer_size },
	{ "BUF_WATERSHED", &buffer_watershed },
	{ "CPU_BUF_SIZE", &cpu_buffer_size },
	{ "SOCKET_GROUP", &socket_group },
	{ "SESSION_MODE", &session_mode },
	{ "USER", &user },
	{ "VERBOSE", &verbose },
};

/* Whether any setting but the session directory was given. */
static bool settings_given(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		if (*keys[i].value)
			return true;
	return event_count || separate || no_vmlinux;
}

/* Whether an action was given that stores settings. */
static bool storing_action(void)
{
	size_t i;

	for (i = 0; i < queued; i++)
		if (queue[i].action->stores)
			return true;
	return false;
}

static int add_stored_event(const char *spec, void *data)
{
	return daemonrc_add_event(data, spec, NULL);
}

/* The events given replace those stored; "default" stores none. */
static int lay_events_over(struct daemonrc *rc, struct error *err)
{
	_cleanup_(feature_freep) struct feature *derived = NULL;
	_cleanup_free_ char *all = NULL, *feature = NULL;
	struct event checked[EVENT_MAX];
	size_t i;
	int r;

	if (event_count)
		daemonrc_clear_events(rc);
	for (i = 0; i < event_count; i++)
		if (strcmp(events[i], "default") != 0 &&
		    event_each_spec(events[i], add_stored_event, rc) < 0)
			return error_set(err, -EINVAL, "'%s' cannot be stored as an event",
					 events[i]);
	all = daemonrc_events(rc);
	r = all ? event_parse_all(all, checked, &feature, err) : 0;
	return r < 0 || !feature ? MIN(r, 0) : feature_new(feature, "", &derived, err);
}

static int lay_separate_over(struct daemonrc *rc, struct error *err)
{
	int bits = separate ? record_separate_parse(separate, err) : 0;

	if (bits < 0 || !separate)
		return bits;
	rc->separate_lib = bits & RECORD_SEPARATE_LIB;
	rc->separate_kernel = bits & RECORD_SEPARATE_KERNEL;
	rc->separate_thread = bits & RECORD_SEPARATE_THREAD;
	rc->separate_cpu = bits & RECORD_SEPARATE_CPU;
	rc->separate_cgroup = bits & RECORD_SEPARATE_CGROUP;
	return 0;
}

static int check_vmlinux(struct daemonrc *rc, struct error *err)
{
	_cleanup_free_ char *path = NULL;

	if (no_vmlinux)
		return daemonrc_set(rc, "VMLINUX", "none", err);
	if (!vmlinux || !*vmlinux || !strcmp(vmlinux, "none"))
		return 0;
	path = path_absolute(vmlinux);
	if (access(path, R_OK) < 0)
		return error_errno(err, -errno, "--vmlinux: %s", path);
	return daemonrc_set(rc, "VMLINUX", path, err);
}

static const char *option_of(const char *const *value)
{
	const struct opt *o = opts;

	while (o->target != value)
		o++;
	return o->name;
}

static int lay_key_over(struct daemonrc *rc, const char *key, const char *const *value,
			struct error *err)
{
	int r = daemonrc_set(rc, key, *value, err);

	return r < 0 ? error_prefix(err, "--%s", option_of(value)) : 0;
}

static int check_driver(struct error *err)
{
	if (!driver || !*driver || (driver_find(driver) && strcmp(driver, "replay") != 0))
		return 0;
	return error_set(err, -EINVAL, "--driver: there is no '%s', but %s", driver,
			 driver_names());
}

static bool given(const char *value)
{
	return value && *value;
}

/* Whether a user or a group that was given is there: @found by its name, errno by that. */
static int check_name(const char *option, const char *kind, const char *name, const void *found,
		      struct error *err)
{
	if (found)
		return 0;
	return error_set(err, -EINVAL, "--%s: there is no %s '%s'%s%s", option, kind, name,
			 errno ? ": " : "", errno ? strerror(errno) : "");
}

/* What the daemon would refuse at its next start is refused while a person looks on. */
static int check_values(struct error *err)
{
	enum driver_chain_mode mode;
	unsigned int depth;
	size_t bytes;
	uint64_t hz;
	int r = 0;

	if (given(rate) && parse_u64(rate, 1, RATE_MAX, &hz) < 0)
		return error_set(err, -EINVAL, "--rate: '%s' is not from 1 to %d samples a second",
				 rate, RATE_MAX);
	errno = 0;
	if (given(socket_group))
		r = check_name("socket-group", "group", socket_group, getgrnam(socket_group), err);
	errno = 0;
	if (r == 0 && given(user))
		r = check_name("user", "user", user, getpwnam(user), err);
	if (r == 0 && given(callgraph) && driver_parse_depth(callgraph, &depth, err) < 0)
		r = error_prefix(err, "--callgraph");
	if (r == 0 && given(callgraph_mode) &&
	    driver_parse_chain_mode(callgraph_mode, &mode, err) < 0)
		r = error_prefix(err, "--callgraph-mode");
	if (r == 0 && given(unwind_memory) &&
	    driver_parse_unwind_bytes(unwind_memory, &bytes, err) < 0)
		r = error_prefix(err, "--unwind-memory");
	return r;
}

static int lay_options_over(struct control_context *context, struct error *err)
{
	struct daemonrc *rc = &context->rc;
	struct limits limits;
	uint64_t start, end;
	mode_t mode;
	size_t i;
	int r = check_values(err);

	if (image && !strcmp(image, "all"))
		image = "";
	for (i = 0; r == 0 && i < ARRAY_SIZE(keys); i++)
		if (*keys[i].value)
			r = lay_key_over(rc, keys[i].key, keys[i].value, err);
	if (r == 0)
		r = check_driver(err);
	if (r == 0 && session_dir)
		r = daemonrc_set(rc, "SESSION_DIR", context->session_dir, err);
	if (r == 0)
		r = check_vmlinux(rc, err);
	if (r == 0)
		r = daemonrc_kernel_range(rc, &start, &end, err);
	if (r == 0)
		r = daemonrc_mode(rc, &mode, err);
	if (r == 0)
		r = limits_read(rc, &limits, err);
	if (r == 0)
		r = lay_separate_over(rc, err);
	if (r == 0)
		r = lay_events_over(rc, err);
	return r;
}

/* Stores the settings where they differ from @before, the file's text; a daemon that runs is told
 * what it can take over at once. */
static int store(const struct control_context *context, const char *before, struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf answer = STRBUF_INIT, now = STRBUF_INIT;
	_cleanup_free_ char *request = xasprintf("verbose %s", verbose ?: "");
	bool changed;
	int r;

	daemonrc_print(&context->rc, &now);
	changed = strcmp(before, strbuf_text(&now)) != 0;
	r = changed ? daemonrc_write(context->rc_path, &context->rc, err) : 0;
	if (r < 0)
		return r;
	if (!settings_given() || !daemon_runs(context->session_dir))
		return 0;
	if (verbose)
		return control_call(context->session_dir, request, &answer, err);
	if (changed)
		tool_warn("the running daemon keeps its settings; the new ones hold after "
			  "'opcontrol --shutdown' and '--start'");
	return 0;
}

/* Reads the settings' file; its text into @before. */
static int read_settings(struct control_context *context, struct strbuf *before, struct error *err)
{
	struct error why = ERROR_INIT;
	int r = daemonrc_read(context->rc_path, &context->rc, &why);

	if (r < 0 && r != -ENOENT)
		return error_set(err, r, "%s", why.text);
	if (r == 0)
		daemonrc_print(&context->rc, before);
	return 0;
}

static int load(struct control_context *context, struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf before = STRBUF_INIT;
	bool stores = storing_action() || settings_given();
	int r;

	context->rc_path = daemonrc_path(config_path, stores);
	r = read_settings(context, &before, err);
	if (r < 0)
		return r;
	context->session_dir =
		path_absolute(session_dir ?: context->rc.session_dir ?: DAEMONRC_SESSION_DIR);
	r = lay_options_over(context, err);
	if (r == 0 && stores && (settings_given() || session_dir))
		r = store(context, strbuf_text(&before), err);
	return r;
}

static void context_done(struct control_context *context)
{
	daemonrc_done(&context->rc);
	free(context->rc_path);
	free(context->session_dir);
}

int main(int argc, char **argv)
{
	_cleanup_(context_done) struct control_context context = { .rc = DAEMONRC_INIT };
	int operands = tool_options(&cmdline, argc, argv), r;
	struct error err = ERROR_INIT;
	size_t i;

	if (operands < argc)
		return tool_usage("unexpected '%s'", argv[operands]);
	if (!queued && !settings_given() && !session_dir && !noted)
		return tool_usage("nothing to do");
	/* What is kept for all to read must be readable whatever the caller's mask. */
	umask(022);
	context.json = json;
	r = load(&context, &err);
	for (i = 0; r == 0 && i < queued; i++)
		r = queue[i].action->run(&context, queue[i].arg, &err);
	if ((r == -EACCES || r == -EPERM) && geteuid() != 0)
		(void)error_set(&err, r, "%s; try 'sudo opcontrol ...'", err.text);
	return r < 0 ? tool_fail(&err) : 0;
}
