/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "service.h"

#include "base/clock.h"
#include "base/mem.h"
#include "oprofilefs/nodes.h"
#include "control/control_thread.h"
#include "logfile.h"
#include "loop.h"
#include "meter.h"
#include "node_host.h"
#include "notify.h"
#include "reader.h"
#include "socket_again.h"
#include "daemon_options.h"
#include "peek.h"
#include "status.h"
#include "unsaved.h"
#include "urgent.h"
#include "view.h"
#include "watchdog.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>

#define MS		  1000000ULL /* nanoseconds */
#define STATISTICS_PERIOD (600000 * MS)

/* What the loop waits for. */
enum source {
	SOURCE_SIGNAL,
	SOURCE_CONTROL,
	SOURCE_DRIVER,	   /* a CPU buffer fills; only while sampling */
	SOURCE_TICK,	   /* only while sampling */
	SOURCE_STATISTICS, /* only while sampling */
	SOURCE_READER,	   /* the reader of the event buffer takes more or has disconnected */
	SOURCE_WATCHDOG,   /* if the service manager wants it */
	SOURCE_COUNT_
};

/* Between two parts of work that takes several turns. */
enum { PAUSE_MS = 5 };
/* How long the last answer waits for the log. */
enum { SETTLE_MS = 20 };
/* How often oprofilefs may have all samples recorded. */
static const uint64_t dump_every_ns = NS_PER_S;
/* How often the view is made at most while sampling. */
static const uint64_t view_every_ns = 450 * MS;

struct service {
	struct daemon_options *options;
	struct collector *collector;
	struct node_host host;
	struct nodes *nodes;  /* oprofilefs */
	struct reader reader; /* of the event buffer */
	struct view view;     /* what is shown, in this thread */
	struct view_board *board;
	struct peek *peek; /* used by the thread of ->control */
	struct control_thread *control;
	int epoll, signals, tick, statistics, alarm;
	struct watchdog watchdog;
	bool quit;
	struct meter meter;
	struct urgent urgent; /* this thread */
	uint64_t dumped_ns;   /* when all samples were last recorded on request */
	bool dump_due;	      /* they are to be recorded when dump_every_ns have passed */
	struct unsaved unsaved;
	struct socket_again socket;
	struct error trouble; /* the last error outside a command; code 0: none */
};

static uint64_t samples_received(const struct service *s)
{
	struct driver_stats driver;
	struct record_stats record;

	collector_stats(s->collector, &driver, &record);
	return driver.sample_received;
}

/* Makes the view and shows it to the thread of the control socket. */
static void show(struct service *s)
{
	const struct status status = { .settings = &s->options->settings,
				       .derived = &s->options->derived,
				       .collector = s->collector,
				       .meter = &s->meter,
				       .trouble = s->trouble.code ? s->trouble.text : NULL };

	view_make(&s->view, &status);
	s->view.settings = *nodes_settings(s->nodes);
	s->view.event_lost = reader_lost(&s->reader);
	view_show(s->board, &s->view);
}

static void print_statistics(void *data, FILE *out)
{
	struct service *s = data;

	show(s);
	collector_print_stats(s->collector, out);
	node_host_print_stats(&s->host, out);
}

static void tell_manager(const struct service *s)
{
	notify_manager("STATUS=%s (%s)", collector_running(s->collector) ? "sampling" : "stopped",
		       collector_why(s->collector));
}

/* Starts or stops the timers, which run only while sampling. */
static int set_sampling(struct service *s, bool on, struct error *err)
{
	int fd = collector_fd(s->collector);

	loop_set_period(s->tick, on ? COLLECTOR_SYNC_MS * MS : 0);
	loop_set_period(s->statistics, on ? STATISTICS_PERIOD : 0);
	tell_manager(s);
	if (on) {
		meter_reset(&s->meter, samples_received(s));
		return loop_watch(s->epoll, fd, SOURCE_DRIVER, err);
	}
	loop_unwatch(s->epoll, fd);
	return 0;
}

static int start(struct service *s, struct error *err)
{
	int r;

	if (collector_running(s->collector))
		return 0;
	/* A reader must not get counters with other numbers. */
	reader_check(&s->reader);
	r = nodes_changed(s->nodes) ? node_host_take_over(&s->host, s->nodes, err) : 0;
	if (r == 0)
		r = collector_start(s->collector, err);
	if (r < 0)
		return r;
	s->trouble = ERROR_INIT;
	log_info("started: %s", collector_why(s->collector));
	return set_sampling(s, true, err);
}

static int stop(struct service *s, struct error *err)
{
	int r;

	if (!collector_running(s->collector))
		return 0;
	(void)set_sampling(s, false, err);
	r = unsaved_stop(&s->unsaved, s->collector, err);
	reader_feed(&s->reader, true);
	tell_manager(s);
	log_info("stopped");
	return r;
}

/* Stops sampling after an error. The daemon keeps running and reports why. */
static void give_up(struct service *s, const struct error *why)
{
	struct error err = ERROR_INIT;

	log_error("%s", why->text);
	s->trouble = *why;
	if (stop(s, &err) < 0)
		log_error("%s", err.text);
}

/* Records all samples so far. */
static int dump(struct service *s, struct error *err)
{
	int r = collector_dump(s->collector, err);

	s->dumped_ns = clock_now_ns();
	s->dump_due = false;
	reader_feed(&s->reader, true);
	if (r == 0)
		s->trouble = ERROR_INIT;
	return MIN(r, 0);
}

static bool may_dump(const struct service *s)
{
	return clock_now_ns() - s->dumped_ns >= dump_every_ns;
}

static void sync_now(struct service *s)
{
	struct error err = ERROR_INIT;
	bool all = s->dump_due && may_dump(s);
	int r = all ? dump(s, &err) : collector_sync(s->collector, false, &err);

	reader_feed(&s->reader, false);
	if (r > 0)
		r = error_set(&err, -ENODATA, "the driver has nothing more to sample");
	if (r < 0 && !collector_can_go_on(r)) {
		give_up(s, &err);
	} else if (r < 0 && r != s->trouble.code) {
		log_error("%s; sampling continues", err.text);
		s->trouble = err;
	}
}

/* Commands of the control socket; they share their functions with the signals. */

static int run_start(const char *arg _unused_, struct strbuf *answer, void *data, struct error *err)
{
	struct service *s = data;
	int r = start(s, err);

	if (r == 0)
		control_answer(answer, "driver", "%s", collector_why(s->collector));
	return r;
}

static int run_stop(const char *arg _unused_, struct strbuf *answer _unused_, void *data,
		    struct error *err)
{
	return stop(data, err);
}

static int run_dump(const char *arg _unused_, struct strbuf *answer, void *data, struct error *err)
{
	struct service *s = data;
	int r = dump(s, err);

	if (r == 0)
		control_answer(answer, "samples_received", "%llu",
			       (unsigned long long)samples_received(s));
	return r;
}

static int run_reset(const char *arg _unused_, struct strbuf *answer _unused_, void *data,
		     struct error *err)
{
	struct service *s = data;
	int r = collector_reset(s->collector, err);

	if (r == 0)
		log_info("the current session was emptied");
	return r;
}

static int run_save(const char *arg, struct strbuf *answer _unused_, void *data, struct error *err)
{
	struct service *s = data;
	int r = collector_save(s->collector, arg, err);

	if (r == 0)
		log_info("the current session was saved as %s", arg);
	return r;
}

static int run_shutdown(const char *arg _unused_, struct strbuf *answer, void *data,
			struct error *err)
{
	struct service *s = data;
	int r;

	s->quit = true;
	/* Stop before answering: after the answer all samples are in the files. */
	control_answer(answer, "pid", "%d", (int)getpid());
	r = stop(s, err);
	if (r < 0)
		log_error("%s", err->text); /* who asked may not keep it */
	return r;
}

static int run_verbose(const char *arg, struct strbuf *answer _unused_, void *data,
		       struct error *err)
{
	struct settings *settings = &((struct service *)data)->options->settings;
	int r = settings_set(settings, SETTING_VERBOSE, arg ?: "all", err);

	if (r == 0)
		logfile_level((enum log_level)settings->verbose);
	return r;
}

static int run_list(const char *arg, struct strbuf *answer, void *data, struct error *err)
{
	return nodes_request_list(((struct service *)data)->nodes, arg, answer, err);
}

static int run_stat(const char *arg, struct strbuf *answer, void *data, struct error *err)
{
	return nodes_request_stat(((struct service *)data)->nodes, arg, answer, err);
}

static int run_read(const char *arg, struct strbuf *answer, void *data, struct error *err)
{
	return nodes_request_read(((struct service *)data)->nodes, arg, answer, err);
}

static int run_write(const char *arg, struct strbuf *answer _unused_, void *data, struct error *err)
{
	return nodes_request_write(((struct service *)data)->nodes, arg, err);
}

/* Turns the connection into that of the event buffer's reader. */
static int run_buffer(const char *arg _unused_, struct strbuf *answer, void *data,
		      struct error *err)
{
	struct service *s = data;
	int r = reader_ask(&s->reader, answer, err);

	return r < 0 ? r : CONTROL_ADOPT;
}

static void ran(void *data)
{
	show(data);
}

/* Who asked may look into the log afterwards. */
static bool is_logged(void *data _unused_)
{
	return logfile_settle(0);
}

static void adopt(int fd, void *data)
{
	reader_adopt(fd, &((struct service *)data)->reader);
}

static const struct control_command commands[] = {
	{ "status", NULL, NULL, "show state, rates and losses", peek_status },
	{ "start", NULL, run_start, "start sampling" },
	{ "stop", NULL, run_stop, "stop sampling, record all samples taken so far" },
	{ "dump", NULL, run_dump, "record all samples taken so far" },
	{ "reset", NULL, run_reset, "empty the current session" },
	{ "save", "NAME", run_save, "rename the current session to NAME, start an empty one",
	  NULL },
	{ "shutdown", NULL, run_shutdown, "stop sampling and exit" },
	{ "verbose", "[LEVEL]", run_verbose, "set the log level; without LEVEL: all" },
	{ "list", "[PATH]", run_list, "list a directory of oprofilefs", peek_list },
	{ "stat", "PATH", run_stat, "show the type and mode of a node", peek_stat },
	{ "read", "PATH", run_read, "show the text of a node", peek_read },
	{ "write", "PATH VALUE", run_write, "write to a node" },
	{ "buffer", NULL, run_buffer, "read the event buffer: its words follow the answer" },
	{ NULL, NULL, NULL, NULL },
};

/* Actions of nodes. */

static int enable_node(bool on, void *data, struct error *err)
{
	int r = on ? start(data, err) : stop(data, err);

	/* A program that writes to a file sees only an error number: log the text. */
	if (r < 0)
		log_error("enable: %s", err->text);
	return r;
}

/* Anybody may write to that node, and a dump is work. */
static int dump_node(void *data, struct error *err)
{
	struct service *s = data;

	s->dump_due = !may_dump(s);
	return s->dump_due ? 0 : dump(s, err);
}

static const struct node_actions node_actions = { enable_node, dump_node };

/* Signals. */

static int on_term(struct service *s, struct error *err)
{
	s->quit = true;
	return stop(s, err);
}

static int on_hup(struct service *s, struct error *err)
{
	logfile_reopen();
	log_info("log and sample files reopened");
	return collector_reopen(s->collector, err);
}

static int on_alarm(struct service *s, struct error *err _unused_)
{
	logfile_section(print_statistics, s);
	return 0;
}

static const struct {
	int number;
	int (*handle)(struct service *s, struct error *err);
} handled_signals[] = {
	{ SIGTERM, on_term }, { SIGINT, on_term }, { SIGHUP, on_hup },
	{ SIGUSR1, start },   { SIGUSR2, stop },   { SIGALRM, on_alarm },
};

static void take_signal(struct service *s)
{
	struct signalfd_siginfo info;
	struct error err = ERROR_INIT;
	size_t i;

	if (read(s->signals, &info, sizeof(info)) != sizeof(info))
		return;
	log_info("SIG%s from pid %u", sigabbrev_np((int)info.ssi_signo), info.ssi_pid);
	for (i = 0; i < ARRAY_SIZE(handled_signals); i++)
		if (handled_signals[i].number == (int)info.ssi_signo &&
		    handled_signals[i].handle(s, &err) < 0)
			log_error("%s", err.text);
}

static void take_control(struct service *s)
{
	control_thread_run(s->control);
}

static void take_reader(struct service *s)
{
	reader_take(&s->reader);
}

static void take_tick(struct service *s)
{
	loop_swallow(s->tick);
	sync_now(s);
	meter_tick(&s->meter, samples_received(s));
	unsaved_say(&s->unsaved, s->collector);
}

static void take_statistics(struct service *s)
{
	loop_swallow(s->statistics);
	logfile_section(print_statistics, s);
}

static void take_watchdog(struct service *s)
{
	loop_swallow(s->alarm);
	watchdog_feed(&s->watchdog);
}

/* After a turn of the loop, and between parts of a request, which are turns, too. */
static void end_turn(void *data)
{
	struct service *s = data;

	urgent_next(&s->urgent);
	watchdog_drained(&s->watchdog);
}

static void (*const sources[])(struct service *s) = {
	[SOURCE_SIGNAL] = take_signal,
	[SOURCE_CONTROL] = take_control,
	[SOURCE_DRIVER] = sync_now,
	[SOURCE_TICK] = take_tick,
	[SOURCE_STATISTICS] = take_statistics,
	[SOURCE_READER] = take_reader,
	[SOURCE_WATCHDOG] = take_watchdog,
};
static_assert(ARRAY_SIZE(sources) == SOURCE_COUNT_, "a handler for each source");

static int open_signals(struct error *err)
{
	sigset_t set;
	size_t i;
	int fd;

	(void)sigemptyset(&set);
	for (i = 0; i < ARRAY_SIZE(handled_signals); i++)
		(void)sigaddset(&set, handled_signals[i].number);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return fd < 0 ? error_errno(err, -errno, "cannot set up signal handling") : fd;
}

/* Opens the descriptors of the loop. */
static int open_loop(struct service *s, struct error *err)
{
	int r = 0;

	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll < 0)
		return error_errno(err, -errno, "cannot create an epoll descriptor");
	if ((r = s->signals = open_signals(err)) < 0 || (r = s->tick = loop_timer(err)) < 0 ||
	    (r = s->statistics = loop_timer(err)) < 0 || (r = s->alarm = loop_timer(err)) < 0)
		return r;
	if ((r = loop_watch(s->epoll, s->signals, SOURCE_SIGNAL, err)) < 0 ||
	    (r = loop_watch(s->epoll, s->tick, SOURCE_TICK, err)) < 0 ||
	    (r = loop_watch(s->epoll, s->statistics, SOURCE_STATISTICS, err)) < 0 ||
	    (r = loop_watch(s->epoll, s->alarm, SOURCE_WATCHDOG, err)) < 0)
		return r;
	/* Twice as often as required, as sd_watchdog_enabled(3) advises. */
	watchdog_init(&s->watchdog);
	loop_set_period(s->alarm, s->watchdog.period_ns / 2);
	return 0;
}

/* Starts to answer requests; those that change something wait for the loop. */
static int open_control(struct service *s, struct error *err)
{
	struct control_thread_config config = { .session_dir = s->options->settings.session_dir,
						.group = s->options->settings.socket_group,
						.commands = commands,
						.ran = ran,
						.is_settled = is_logged,
						.adopt = adopt,
						.enter = urgent_answer,
						.data = s };
	int r;

	s->board = view_board_new();
	s->peek = config.peek_data = peek_new(s->board, clock_now_ns());
	show(s);
	r = control_thread_new(&config, &s->control, err);
	return r < 0 ? r : loop_watch(s->epoll, control_thread_fd(s->control), SOURCE_CONTROL, err);
}

static int set_up(struct service *s, const struct service_helpers *helpers, struct error *err)
{
	struct node_settings settings;
	struct collector_config collector;
	int r = open_loop(s, err);

	if (r < 0)
		return r;
	daemon_options_collector(s->options, &collector);
	collector.opener = helpers->opener;
	collector.keeper = helpers->keeper;
	collector.attacher = helpers->attacher;
	collector.turn = &s->meter.turn;
	collector.parser = s->meter.parser = helpers->parser;
	r = collector_new(&collector, &s->collector, err);
	if (r < 0)
		return r;
	s->host = (struct node_host){ .view = &s->view,
				      .events = helpers->events,
				      .collector = s->collector,
				      .options = s->options,
				      .actions = &node_actions,
				      .data = s };
	node_host_settings(&s->host, &settings);
	s->nodes = node_host_nodes(&s->host, &settings);
	s->reader = (struct reader){ .epoll = s->epoll,
				     .mark = SOURCE_READER,
				     .collector = s->collector,
				     .nodes = s->nodes };
	r = open_control(s, err);
	if (r == 0 && s->options->start)
		r = start(s, err);
	show(s);
	return r;
}

int service_new(struct daemon_options *options, const struct service_helpers *helpers,
		struct service **ret, struct error *err)
{
	_cleanup_(service_freep) struct service *s = xcalloc(1, sizeof(*s));
	int r;

	*s = (struct service){ .options = options,
			       .epoll = -1,
			       .signals = -1,
			       .tick = -1,
			       .statistics = -1,
			       .alarm = -1 };
	view_init(&s->view);
	r = set_up(s, helpers, err);
	if (r < 0)
		return r;
	*ret = STEAL(s);
	return 0;
}

const char *service_prefer(struct service *s, bool has_session)
{
	s->meter.turn.between = end_turn;
	s->meter.turn.data = s;
	return urgent_begin(&s->urgent, has_session);
}

/* Whether a view must be made after a turn for @source: not so often that it costs much, and always
 * if sampling may have started or stopped. */
static bool view_is_due(const struct service *s, enum source source)
{
	switch (source) {
	case SOURCE_DRIVER:
	case SOURCE_TICK:
		return clock_now_ns() - s->view.at_ns >= view_every_ns ||
		       collector_running(s->collector) != s->view.running;
	case SOURCE_CONTROL:
	case SOURCE_SIGNAL:
		return true;
	case SOURCE_STATISTICS:
	case SOURCE_READER:
	case SOURCE_WATCHDOG:
	case SOURCE_COUNT_:
		break;
	}
	return false;
}

int service_run(struct service *s, struct error *err)
{
	struct epoll_event event;
	bool is_left = false; /* collector_tend() has more to do */
	bool is_held = false; /* an answer */
	int r = collector_relieve(s->collector, urgent_relieve, watchdog_drained, &s->watchdog,
				  err);

	if (r < 0)
		return r;
	tell_manager(s);
	turn_next(&s->meter.turn); /* sampling may have started before */
	while (!s->quit) {
		int count = epoll_wait(s->epoll, &event, 1, is_left || is_held ? PAUSE_MS : -1);

		if (count < 0 && errno != EINTR)
			return error_errno(err, -errno, "cannot wait");
		watchdog_awake(&s->watchdog);
		turn_begin(&s->meter.turn);
		if (count > 0)
			sources[event.data.u32](s);
		if (count > 0 || is_left)
			is_left = collector_tend(s->collector);
		socket_again(&s->socket, s->collector, s->control,
			     s->options->settings.session_dir);
		if (count > 0 && view_is_due(s, event.data.u32))
			show(s);
		is_held = control_thread_answer(s->control);
		turn_end(&s->meter.turn);
	}
	(void)logfile_settle(SETTLE_MS);
	notify_manager("STOPPING=1");
	logfile_section(print_statistics, s);
	return unsaved_end(&s->unsaved, s->collector) ? 0 : SERVICE_UNSAVED;
}

void service_free(struct service *s)
{
	if (!s)
		return;
	urgent_end(&s->urgent);
	control_thread_free(s->control);
	peek_free(s->peek);
	view_board_free(s->board);
	reader_end(&s->reader);
	nodes_free(s->nodes);
	collector_free(s->collector);
	view_done(&s->view);
	cleanup_closep(&s->alarm);
	cleanup_closep(&s->statistics);
	cleanup_closep(&s->tick);
	cleanup_closep(&s->signals);
	cleanup_closep(&s->epoll);
	free(s);
}

const char *service_driver(const struct service *s)
{
	return collector_driver(s->collector);
}

const char *service_why(const struct service *s)
{
	return collector_why(s->collector);
}
