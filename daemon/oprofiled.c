/* SPDX-License-Identifier: GPL-2.0-or-later */
/* oprofiled: samples the whole machine for as long as it runs. This file starts and ends it;
 * service.c contains the main loop. */
#include "background.h"
#include "file/owner.h"
#include "file/path.h"
#include "event_box.h"
#include "seccomp_list.h"
#include "elf/vdso.h"
#include "history/keeper.h"
#include "identity/opener.h"
#include "jit/attacher.h"
#include "parser/parser.h"
#include "collect/session_upkeep.h"
#include "logfile.h"
#include "notify.h"
#include "session_dir.h"
#include "replay_run.h"
#include "rights.h"
#include "service.h"
#include "daemon_options.h"
#include "sfile/session_lock.h"
#include "sigbus.h"
#include "tools/common/confine.h"
#include "tools/common/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum {
	FILES_WANTED = 16384,
	LARGE = 256 << 10, /* allocations this large are returned to the system at once */
	/* The exit status for SERVICE_UNSAVED and REPLAY_UNSAVED; oprofile.service has it, too. */
	EXIT_UNSAVED = 3,
};

/* Makes room for all descriptors while this is the only thread. Later, who opens one for which
 * there is no room waits until no other thread uses the old table any more, for up to 40 ms. */
static void make_file_table(void)
{
	struct rlimit limit;
	int last;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	last = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC,
		     (int)MIN(limit.rlim_cur, (rlim_t)FILES_WANTED) - 1);
	if (last >= 0)
		(void)close(last);
}

/* Raises the limit of descriptors, to @most if it is not 0: open sample files make the daemon
 * fast. */
static void set_file_limit(uint64_t most)
{
	const struct rlimit hard = { most, most };
	struct rlimit limit;

	if (most) {
		(void)setrlimit(RLIMIT_NOFILE, &hard);
		return;
	}
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= FILES_WANTED)
		return;
	limit.rlim_cur = FILES_WANTED;
	if (limit.rlim_max < FILES_WANTED) {
		const struct rlimit both = { FILES_WANTED, FILES_WANTED };

		if (setrlimit(RLIMIT_NOFILE, &both) == 0)
			return;
		limit.rlim_cur = limit.rlim_max;
	}
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

/* Fails early, with a remedy, if the session is locked. */
static int refuse_second(const struct settings *settings, struct error *err)
{
	uint32_t pid = session_lock_holder(settings->session_dir);

	if (!pid)
		return 0;
	return error_set(err, -EBUSY,
			 "%s is already being written by pid %u; end it with 'opcontrol "
			 "--session-dir=%s --shutdown', or use another --session-dir",
			 settings->session_dir, pid, settings->session_dir);
}

/* Switches to the configured user. Must run before anything is opened. */
static int step_down(const struct settings *settings, struct error *err)
{
	struct rights who;
	int r = rights_choose(settings->user, settings->socket_group, &who, err);

	if (r == 0)
		r = rights_check(&who, settings->user, settings->as_root, err);
	/* Who may enter the session directory may read it (--session-mode, --socket-group). */
	(void)umask(022);
	if (r == 0)
		r = session_dir_prepare(settings->session_dir, (mode_t)settings->session_mode, &who,
					err);
	return r < 0 ? r : rights_enter(&who, err);
}

/* Drops the rights that the daemon does not need once it is set up. */
static int lock_down(const struct daemon_options *options, const struct service *service,
		     struct error *err)
{
	int r = rights_keep(service_driver(service), err);
	_cleanup_free_ char *text = rights_text();

	if (r < 0)
		return r;
	log_info("running as uid %u, with capabilities: %s", geteuid(), text);
	if (options->no_seccomp) {
		log_info("system calls are not restricted (--no-seccomp)");
		return 0;
	}
	r = seccomp_list_confine(err);
	if (r < 0)
		log_warn("%s; running without seccomp", err->text);
	return 0;
}

static void free_helpers(const struct service_helpers *helpers)
{
	event_box_free(helpers->events);
	keeper_free(helpers->keeper);
	opener_free(helpers->opener);
	parser_free(helpers->parser);
	attacher_free(helpers->attacher);
}

/* Does what has to be done before there are threads. */
static void prepare_process(void)
{
	vdso_hold_32(); /* it takes a child, and later none can be started */
	sigbus_catch();
	make_file_table();
}

/* Runs the daemon from the first lock to the last sample. */
static int serve(struct daemon_options *options, int *ready, struct error *err)
{
	const struct settings *settings = &options->settings;
	/* Used by the service, so it must be freed after it. */
	_cleanup_(free_helpers) struct service_helpers helpers = { 0 };
	_cleanup_(service_freep) struct service *service = NULL;
	int r = refuse_second(settings, err);

	/* It needs rights that the daemon drops. */
	if (r == 0 && settings->attach_java)
		r = attacher_new(&helpers.attacher, err);
	if (r == 0)
		r = step_down(settings, err);
	if (r == 0)
		r = parser_new(&helpers.parser, err);
	if (r == 0)
		r = opener_new(helpers.parser, &helpers.opener, err);
	if (r == 0)
		r = event_box_new(&helpers.events, err);
	if (r == 0)
		r = keeper_new(session_upkeep, &helpers.keeper, err);
	if (r == 0)
		r = logfile_open(settings->session_dir, (enum log_level)settings->verbose,
				 options->foreground, err);
	if (r == -EACCES)
		return error_set(err, r, "%s; run as root, or use another --session-dir",
				 err->text);
	if (r < 0)
		return r;
	prepare_process();
	r = service_new(options, &helpers, &service, err);
	if (r < 0)
		return r;
	log_info("oprofiled " OPROFILE_VERSION ", pid %d: %s", (int)getpid(), service_why(service));
	/* After the threads have started that may take their time. */
	log_info("samples are drained at %s",
		 service_prefer(service, !options->foreground || getsid(0) == getpid()));
	r = lock_down(options, service, err);
	if (r < 0)
		return r;
	if (*ready >= 0) {
		logfile_detach();
		background_ready(ready);
	}
	notify_manager("READY=1\nMAINPID=%d", (int)getpid());
	r = logfile_begin_thread(err);
	if (r == 0)
		r = service_run(service, err);
	log_info("ended");
	return r;
}

/* Makes malloc() return the memory of a large program's unwind tables to the system when freed,
 * here and in the parser, which is forked from here. By default malloc() raises its threshold after
 * the first one and keeps that much in both processes. */
static void give_back_soon(void)
{
	(void)mallopt(M_MMAP_THRESHOLD, LARGE);
}

/* Replays a recording, which may be anybody's, with the rights of the session's owner, in a child
 * process that can write in the session only. Returns the exit status. */
static int replay(const struct daemon_options *options, struct error *err)
{
	const char *session = options->settings.session_dir;
	struct confine c = { .writable = { NULL, session } };
	int r = path_make_parents(session, 0755, err);
	struct stat st;

	confine_decide();
	if (r == 0) /* as session_lock() would */
		r = path_make_dirs(session, 0750, err);
	if (r == 0 && (stat(session, &st) < 0 || !S_ISDIR(st.st_mode)))
		r = error_set(err, -ENOTDIR, "%s: not a directory", session);
	if (r == 0)
		r = owner_become(session, OWNER_FOR_GOOD, RIGHTS_USER, err);
	if (r == 0)
		r = confine_enter(&c, err);
	if (r > 0) /* the child has */
		return c.status;
	if (r == 0)
		r = replay_run(options, err);
	return r < 0 ? tool_fail(err) : r == REPLAY_UNSAVED ? EXIT_UNSAVED : 0;
}

int main(int argc, char **argv)
{
	_cleanup_(daemon_options_done) struct daemon_options options = { 0 };
	_cleanup_close_ int ready = -1;
	struct error err = ERROR_INIT;
	int r;

	event_box_clean_environment();
	r = daemon_options_load(argc, argv, &options, &err);
	tool_tidy();
	give_back_soon();
	(void)signal(SIGPIPE, SIG_IGN);
	set_file_limit(options.settings.max_files);
	if (r == 0 && options.replay)
		return replay(&options, &err);
	if (r == 0 && !options.foreground)
		r = background_enter(&ready, &err);
	if (r == 0)
		r = serve(&options, &ready, &err);
	logfile_end_thread();
	return r < 0 ? tool_fail(&err) : r == SERVICE_UNSAVED ? EXIT_UNSAVED : 0;
}
