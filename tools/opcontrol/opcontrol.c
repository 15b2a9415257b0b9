/* SPDX-License-Identifier: GPL-2.0-or-later */
/* opcontrol: stores settings, starts and controls the daemon, shows its state. */
#include "tools/common/tool.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "file/path.h"
#include "control/client.h"
#include "control/daemonrc.h"
#include "tools/opcontrol/control_actions.h"
#include "tools/opcontrol/daemon_process.h"
#include "tools/opcontrol/refused_setup.h"
#include "driver/driver.h"
#include "event/evderived.h"
#include "event/event.h"
#include "event/evprobe.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { ACTIONS_MAX = 32 };

/* The options given on the command line. */
static struct {
	const struct control_action *action;
	const char *arg;
} queue[ACTIONS_MAX];
static size_t queued;
static struct setting_given given[] = SETTINGS_GIVEN;
static const char *config_path;
static const char *events[SETTINGS_EVENTS_MAX];
static size_t event_count;
static bool noted, json;
static char **parsing; /* the command line while it is being checked, else NULL */

/* Queues an action; actions run in the order given. */
static int queue_action(const char *arg, void *target, struct error *err)
{
	if (queued == ACTIONS_MAX)
		return error_set(err, -EINVAL, "more than %d actions", ACTIONS_MAX);
	queue[queued].action = target;
	queue[queued++].arg = arg;
	return 0;
}

static int add_event(const char *arg, void *target _unused_, struct error *err)
{
	if (event_count == SETTINGS_EVENTS_MAX)
		return error_set(err, -EINVAL, "more than %d events", SETTINGS_EVENTS_MAX);
	events[event_count++] = arg;
	return 0;
}

/* Notes an option of OProfile 1.x that no longer has any effect. */
static int note_option(const char *arg _unused_, void *target, struct error *err _unused_)
{
	tool_warn("%s no longer has any effect", (const char *)target);
	noted = true;
	return 0;
}

/* clang-format off */
#define DO(letter, name, id, arg, help)                                                            \
	{ letter, name, OPT_CALL, (void *)&control_actions[id], arg, help, queue_action }
#define DESTROY(name, id, arg, help)                                                               \
	{ 0, name, OPT_CALL, (void *)&control_actions[id], arg, help, queue_action, true }
static const struct opt opts[] = {
	{ 0, NULL, OPT_HEADING, NULL, NULL, "Actions, done in the order given", NULL },
	DO(0, "setup", ACTION_SETUP, NULL, "only store the given settings"),
	DO(0, "start-daemon", ACTION_START_DAEMON, NULL, "start the daemon without sampling"),
	DO('s', "start", ACTION_START, NULL, "start sampling, and the daemon if none runs"),
	DO('d', "dump", ACTION_DUMP, NULL, "write out all samples taken so far, for reports"),
	DO('t', "stop", ACTION_STOP, NULL, "stop sampling; the daemon keeps running"),
	DESTROY("reset", ACTION_RESET, NULL, "delete the samples of the current session"),
	DO(0, "save", ACTION_SAVE, "NAME", "save the current session as NAME, start an empty one"),
	DO(0, "list-sessions", ACTION_LIST_SESSIONS, NULL,
	  "list the sessions, with times, sizes, events and commands"),
	DESTROY("delete", ACTION_DELETE, "NAME", "delete the session NAME"),
	DO(0, "history", ACTION_HISTORY, NULL,
	  "list the time that the history of each session covers"),
	DO(0, "status", ACTION_STATUS, NULL, "show the daemon's state, and losses"),
	DESTROY("shutdown", ACTION_SHUTDOWN, NULL, "stop sampling and end the daemon"),
	DO('l', "list-events", ACTION_LIST_EVENTS, NULL, "list the available events"),
	DO(0, "check", ACTION_CHECK, NULL,
	  "show what can be profiled here, and how to enable the rest"),
	DO(0, "init", ACTION_INIT, NULL, "do nothing (no kernel module is needed)"),
	DESTROY("deinit", ACTION_DEINIT, NULL, "do --shutdown, then --umount"),
	DO(0, "mount", ACTION_MOUNT, "[DIR]",
	  "mount oprofilefs, the daemon's controls as files (/dev/oprofile)"),
	DO(0, "umount", ACTION_UMOUNT, "[DIR]", "unmount it"),
	{ 0, "json", OPT_FLAG, &json, NULL, "print --status, --check and lists of sessions as JSON",
	  NULL },
	{ 0, NULL, OPT_HEADING, NULL, NULL, "Settings, stored for later calls", NULL },
	{ 'e', "event", OPT_CALL, NULL, "EVENT",
	  "sample EVENT, which is NAME:count:unitmask:kernel:user, TIMER:HZ, or \"default\"; may "
	  "be given more than once, or as a comma-separated list",
	  add_event },
	SETTINGS(SETTING_OPTION)
	{ 0, "no-vmlinux", OPT_CALL, &given[SETTING_VMLINUX], NULL,
	  "count all of the kernel as one image", setting_give },
	{ 0, "config", OPT_PATH, &config_path, "FILE",
	  "store the settings in FILE (see daemonrc(5))", NULL },
	{ 0, NULL, OPT_HEADING, NULL, NULL, "Options of OProfile 1.x without effect", NULL },
	{ 0, "xen", OPT_CALL, (void *)"--xen", "FILE",
	  "Xen's hypervisor is not sampled", note_option },
	{ 0, "active-domains", OPT_CALL, (void *)"--active-domains", "LIST",
	  "Xen's other domains are not sampled", note_option },
	{ 0, "s390hwsampbufsize", OPT_CALL, (void *)"--s390hwsampbufsize", "N",
	  "the kernel chooses the size of this buffer", note_option },
	{ 0, "note-table-size", OPT_CALL, (void *)"--note-table-size", "N",
	  "no note table is needed", note_option },
	OPT_END
};
/* clang-format on */

static const struct opt_cmdline cmdline = {
	.tool = "opcontrol",
	.usage = "[OPTION]...",
	.summary = "Control the profiling daemon: store its settings, start and stop it, save or "
		   "delete "
		   "its samples.",
	.epilog = "To profile the whole machine for a while:\n"
		  "  opcontrol --start\n"
		  "  opcontrol --dump && opreport\n"
		  "  opcontrol --shutdown\n",
	.opts = opts,
	.acts = true,
};

/* Whether any setting but the session directory was given. */
static bool settings_given(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(given); i++)
		if (i != SETTING_SESSION_DIR && given[i].value)
			return true;
	return event_count;
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

/* Whether only actions were given that work in spite of bad settings. --reset and --save are not
 * among them: they could change the default session instead of the one meant. */
static bool tolerates(void)
{
	size_t i;

	for (i = 0; i < queued; i++)
		if (!queue[i].action->tolerates)
			return false;
	return queued && !settings_given();
}

static int add_stored_event(const char *spec, void *data)
{
	_cleanup_free_ char *whole =
		evprobe_absolute(spec); /* the daemon is in another directory */

	return settings_add_event(data, whole, NULL);
}

/* Replaces the stored events by the given ones; "default" stores none. */
static int take_events(struct settings *s, struct error *err)
{
	_cleanup_free_ char *all = NULL;
	struct evderived derived;
	struct event checked[EVENT_MAX];
	size_t i;
	int r;

	if (event_count)
		settings_clear_events(s);
	for (i = 0; i < event_count; i++)
		if (strcmp(events[i], "default") != 0 &&
		    event_each_spec(events[i], add_stored_event, s) < 0)
			return error_set(err, -EINVAL, "--event: '%s' cannot be stored", events[i]);
	all = settings_events(s);
	r = all ? event_parse_all(all, checked, &derived, err) : 0;
	return MIN(r, 0);
}

/* The value of a setting that was given and is not empty, else NULL. */
static const char *value_of(enum setting_id id)
{
	return given[id].value && *given[id].value ? given[id].value : NULL;
}

/* Checks that what the settings name exists: a person sees the message, while the daemon would only
 * fail at its next start. */
static int check_names(const struct settings *s, struct error *err)
{
	const char *driver = value_of(SETTING_DRIVER), *group = value_of(SETTING_SOCKET_GROUP),
		   *user = value_of(SETTING_USER), *kernel = value_of(SETTING_VMLINUX);

	if (driver && (!driver_find(driver) || !strcmp(driver, "replay")))
		return error_set(err, -EINVAL, "--driver: no driver '%s'; available: %s", driver,
				 driver_names());
	if (group && !getgrnam(group))
		return error_set(err, -EINVAL, "--socket-group: no group '%s'", group);
	if (user && !getpwnam(user))
		return error_set(err, -EINVAL, "--user: no user '%s'", user);
	if (kernel && strcmp(kernel, "none") != 0 && access(s->vmlinux, R_OK) < 0)
		return error_errno(err, -errno, "--vmlinux: %s", s->vmlinux);
	return 0;
}

/* Stores the settings if they differ from @before, the file's text. A running daemon only adopts
 * --verbose. */
static int store(const struct control_context *context, const char *before, struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf answer = STRBUF_INIT, now = STRBUF_INIT;
	const char *verbose = given[SETTING_VERBOSE].value;
	_cleanup_free_ char *request = xasprintf("verbose %s", verbose ?: "");
	bool changed;
	int r;

	daemonrc_print(&context->settings, &now);
	changed = strcmp(before, strbuf_text(&now)) != 0;
	r = changed ? daemonrc_write(context->rc_path, &context->settings, err) : 0;
	if (r < 0)
		return r;
	if (!settings_given() || !daemon_runs(context->session_dir))
		return 0;
	if (verbose)
		return control_call(context->session_dir, request, &answer, err);
	if (changed)
		tool_warn("the running daemon keeps its old settings; to apply the new ones run "
			  "'opcontrol --shutdown' and 'opcontrol --start'");
	return 0;
}

/* Reads the settings' file, and its text into @before. */
static int read_settings(struct control_context *context, struct strbuf *before, struct error *err)
{
	struct error why = ERROR_INIT;
	int r = tolerates() ? daemonrc_read_usable(context->rc_path, &context->settings, &why)
			    : daemonrc_read(context->rc_path, &context->settings, &why);

	if (r < 0 && r != -ENOENT)
		return error_set(err, r, "%s", why.text);
	if (r == 0)
		daemonrc_print(&context->settings, before);
	return 0;
}

/* Ignores stored events that are not valid, with a warning; 0. */
static int drop_bad_events(struct control_context *context)
{
	struct error why = ERROR_INIT;

	if (take_events(&context->settings, &why) < 0) {
		tool_warn("%s: %s; the stored events are ignored", context->rc_path, why.text);
		settings_clear_events(&context->settings);
	}
	return 0;
}

/* Whether a session directory was given. */
static bool session_given(void)
{
	return given[SETTING_SESSION_DIR].value;
}

/* Whether an action was given that must not be done for another session than the one meant. */
static bool commits(void)
{
	for (size_t i = 0; i < queued; i++)
		if (queue[i].action->commits)
			return true;
	return false;
}

/* Whether --setup was given. */
static bool sets_up(void)
{
	for (size_t i = 0; i < queued; i++)
		if (queue[i].action == &control_actions[ACTION_SETUP])
			return true;
	return false;
}

/* Remembers a session directory whose setup fails because the command line is wrong. */
static void on_exit_with(int status, void *data _unused_)
{
	_cleanup_free_ char *path = NULL;
	static const char option[] = "--session-dir=";

	if (status != TOOL_USAGE || !parsing)
		return;
	path = daemonrc_path(config_path, true);
	for (char **arg = parsing; *arg; arg++)
		if (!strncmp(*arg, option, strlen(option)) && (*arg)[strlen(option)])
			refused_setup_note(path, *arg + strlen(option),
					   "the command line was wrong");
}

static int load(struct control_context *context, struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf before = STRBUF_INIT;
	struct settings *s = &context->settings;
	bool stores = storing_action() || settings_given();
	int r;

	context->rc_path = daemonrc_path(config_path, stores);
	r = read_settings(context, &before, err);
	if (r == 0 && commits() && !sets_up() && !session_given())
		r = refused_setup_check(context->rc_path, err);
	if (r == 0)
		r = settings_take(s, given, err);
	if (r < 0)
		return r;
	context->session_dir = path_absolute(s->session_dir);
	r = check_names(s, err);
	if (r == 0)
		r = tolerates() ? drop_bad_events(context) : take_events(s, err);
	if (r == 0 && stores && (settings_given() || session_given()))
		r = store(context, strbuf_text(&before), err);
	return r;
}

/* The same; remembers which session directory could not be set up. */
static int load_or_remember(struct control_context *context, struct error *err)
{
	struct error why = ERROR_INIT;
	bool stores = storing_action() || settings_given();
	int r = load(context, &why);

	if (r < 0 && stores && session_given())
		refused_setup_note(context->rc_path, given[SETTING_SESSION_DIR].value, why.text);
	else if (r == 0 && stores && (settings_given() || session_given() || sets_up()))
		refused_setup_forget(context->rc_path);
	return r < 0 ? error_set(err, r, "%s", why.text) : 0;
}

static void context_done(struct control_context *context)
{
	settings_done(&context->settings);
	free(context->rc_path);
	free(context->session_dir);
}

int main(int argc, char **argv)
{
	_cleanup_(context_done) struct control_context context = { .settings = settings_default() };
	struct error err = ERROR_INIT;
	int operands, r;
	size_t i;

	parsing = argv;
	(void)on_exit(on_exit_with, NULL);
	operands = tool_options(&cmdline, argc, argv);
	if (operands < argc)
		return tool_usage("unexpected '%s'", argv[operands]);
	if (!queued && !settings_given() && !session_given() && !noted)
		return tool_usage("nothing to do");
	parsing = NULL;
	/* The settings must be readable for all, whatever the caller's umask. */
	umask(022);
	context.json = json;
	r = load_or_remember(&context, &err);
	for (i = 0; r == 0 && i < queued; i++)
		r = queue[i].action->run(&context, queue[i].arg, &err);
	if ((r == -EACCES || r == -EPERM) && geteuid() != 0)
		(void)error_set(&err, r, "%s; try 'sudo opcontrol ...'", err.text);
	return r < 0 ? tool_fail(&err) : tool_finish(0);
}
