/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/opcontrol/control_actions.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "file/owner.h"
#include "file/path.h"
#include "control/client.h"
#include "control/server.h"
#include "tools/opcontrol/daemon_process.h"
#include "perf/probe.h"
#include "event/event.h"
#include "tools/opcontrol/mount_point.h"
#include "tools/opcontrol/session_actions.h"
#include "sfile/session.h"
#include "sfile/session_lock.h"
#include "tools/common/status_view.h"

#include <errno.h>
#include <stdio.h>

/* Asks the daemon; if none runs, the error says how to start one. */
static int ask(const struct control_context *context, const char *request, struct strbuf *answer,
	       struct error *err)
{
	int r = control_call(context->session_dir, request, answer, err);

	if (r == -ENOENT)
		return error_set(err, r, "%s; 'opcontrol --start' starts one", err->text);
	if (r == -EACCES)
		return error_set(err, r, "%s; SOCKET_GROUP in daemonrc(5) grants a group access",
				 err->text);
	return r;
}

/* The same for a request whose answer is not shown. */
static int request(const struct control_context *context, const char *request, struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf answer = STRBUF_INIT;

	return ask(context, request, &answer, err);
}

static int do_setup(const struct control_context *context _unused_, const char *arg _unused_,
		    struct error *err _unused_)
{
	return 0;
}

static int do_init(const struct control_context *context _unused_, const char *arg _unused_,
		   struct error *err _unused_)
{
	return 0;
}

static int do_start_daemon(const struct control_context *context, const char *arg _unused_,
			   struct error *err)
{
	return daemon_start(context->session_dir,
			    access(context->rc_path, F_OK) == 0 ? context->rc_path : NULL, err);
}

static int do_start(const struct control_context *context, const char *arg, struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf answer = STRBUF_INIT;
	_cleanup_free_ char *why = NULL;
	int r = do_start_daemon(context, arg, err);

	if (r == 0)
		r = ask(context, "start", &answer, err);
	if (r < 0)
		return r;
	why = control_value(strbuf_text(&answer), "driver");
	printf("Profiler running: %s\n", why ?: "");
	return 0;
}

static int do_stop(const struct control_context *context, const char *arg _unused_,
		   struct error *err)
{
	int r = request(context, "stop", err);

	return r == -ENOENT ? daemon_absent(context->session_dir, err) : r;
}

static int do_dump(const struct control_context *context, const char *arg _unused_,
		   struct error *err)
{
	return request(context, "dump", err);
}

/* Saves or resets the session in this process, under its lock. */
static int change_session(const struct control_context *context, const char *save_as,
			  struct error *err)
{
	_cleanup_close_ int lock = session_lock(context->session_dir, err);

	if (lock < 0)
		return lock;
	if (!save_as)
		return session_remove(context->session_dir, "current", err);
	if (session_name_check(save_as, err) < 0)
		return -EINVAL;
	if (!session_exists(context->session_dir, "current"))
		return error_set(err, -ENOENT, "%s: no samples to save", context->session_dir);
	return session_rename(context->session_dir, "current", save_as, err);
}

/* The same as the owner of the session: for when no daemon runs. */
static int alone(const struct control_context *context, const char *save_as, struct error *err)
{
	int r = owner_become(context->session_dir, OWNER_EXCEPT_OUTPUT, NULL, err);

	if (r == 0)
		r = change_session(context, save_as, err);
	(void)owner_pause();
	return r;
}

static int do_reset(const struct control_context *context, const char *arg _unused_,
		    struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf answer = STRBUF_INIT;
	int r = control_call(context->session_dir, "reset", &answer, err);

	if (r == -ENOENT && access(context->session_dir, F_OK) < 0)
		return 0;
	return r == -ENOENT ? alone(context, NULL, err) : r;
}

static int do_save(const struct control_context *context, const char *arg, struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf answer = STRBUF_INIT;
	_cleanup_free_ char *request = xasprintf("save %s", arg);
	int r = session_name_check(arg, err);

	if (r < 0)
		return r;
	r = control_call(context->session_dir, request, &answer, err);

	return r == -ENOENT ? alone(context, arg, err) : r;
}

static int do_list_sessions(const struct control_context *context, const char *arg _unused_,
			    struct error *err)
{
	return session_action_list(context->session_dir, context->json, err);
}

static int do_delete(const struct control_context *context, const char *arg, struct error *err)
{
	return session_action_delete(context->session_dir, arg, err);
}

static int do_history(const struct control_context *context, const char *arg _unused_,
		      struct error *err)
{
	return session_action_history(context->session_dir, context->json, err);
}

/* There may be no session yet, and one of others is not for everybody to see. */
static bool may_be_missing(int r)
{
	return r >= 0 || r == -ENOENT || r == -EACCES;
}

static int do_status(const struct control_context *context, const char *arg _unused_,
		     struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf lines = STRBUF_INIT;
	int r = control_call(context->session_dir, "status", &lines, err), listed;

	if (r < 0 && r != -ENOENT && r != -EACCES)
		return r;
	if (r < 0)
		r = status_view_silent(&context->settings, context->session_dir, r == -EACCES,
				       &lines);
	listed = status_view_session(context->session_dir, &lines);
	control_answer(&lines, "config", "%s", context->rc_path);
	(context->json ? status_view_json : status_view_text)(strbuf_text(&lines), stdout);
	if (!may_be_missing(r) || !may_be_missing(listed))
		return error_errno(err, may_be_missing(r) ? listed : r,
				   "%s: cannot read its sessions", context->session_dir);
	return 0;
}

/* Ends the daemon, and does what it had not done then: the removal of sessions. Where that is not
 * possible, the next daemon does it. */
static int do_shutdown(const struct control_context *context, const char *arg _unused_,
		       struct error *err)
{
	int r = daemon_end(context->session_dir, err);

	if (r == 0 && owner_become(context->session_dir, OWNER_EXCEPT_OUTPUT, NULL, NULL) == 0)
		(void)session_clear(context->session_dir, NULL);
	(void)owner_pause();
	return r;
}

static int do_mount(const struct control_context *context, const char *arg, struct error *err)
{
	_cleanup_free_ char *where = path_absolute(arg ?: MOUNT_POINT);

	return mount_point_mount(context->session_dir, where, err);
}

static int do_umount(const struct control_context *context _unused_, const char *arg,
		     struct error *err)
{
	_cleanup_free_ char *where = path_absolute(arg ?: MOUNT_POINT);
	int r = mount_point_umount(where, err);

	if (r > 0)
		return error_set(err, -EINVAL, "oprofilefs is not mounted on %s", where);
	return r;
}

static int do_deinit(const struct control_context *context, const char *arg, struct error *err)
{
	int r = do_shutdown(context, arg, err);

	return r < 0 ? r : MIN(mount_point_umount(MOUNT_POINT, err), 0);
}

static void print_event(const char *name, const char *description, void *data _unused_)
{
	printf("%-32s %s\n", name, description);
}

static int do_list_events(const struct control_context *context _unused_, const char *arg _unused_,
			  struct error *err _unused_)
{
	event_each(print_event, NULL);
	return 0;
}

static int do_check(const struct control_context *context, const char *arg _unused_,
		    struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	bool usable = context->json ? probe_report_json("", &text) : probe_report("", false, &text);

	(void)fputs(strbuf_text(&text), stdout);
	return usable ? 0 : error_set(err, -EPERM, "nothing can be profiled here");
}

const struct control_action control_actions[ACTION_COUNT_] = {
	[ACTION_SETUP] = { do_setup, true, false, false },
	[ACTION_INIT] = { do_init, false, false, false },
	[ACTION_START_DAEMON] = { do_start_daemon, true, false, true },
	[ACTION_START] = { do_start, true, false, true },
	[ACTION_STOP] = { do_stop, false, true, false },
	[ACTION_DUMP] = { do_dump, false, true, false },
	[ACTION_RESET] = { do_reset, false, false, true },
	[ACTION_SAVE] = { do_save, false, false, true },
	[ACTION_LIST_SESSIONS] = { do_list_sessions, false, false, false },
	[ACTION_DELETE] = { do_delete, false, false, true },
	[ACTION_HISTORY] = { do_history, false, false, false },
	[ACTION_STATUS] = { do_status, false, true, false },
	[ACTION_SHUTDOWN] = { do_shutdown, false, true, false },
	[ACTION_LIST_EVENTS] = { do_list_events, false, false, false },
	[ACTION_CHECK] = { do_check, false, false, false },
	[ACTION_MOUNT] = { do_mount, false, false, true },
	[ACTION_UMOUNT] = { do_umount, false, false, false },
	[ACTION_DEINIT] = { do_deinit, false, true, false },
};
