/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "urgent.h"

#include "base/clock.h"
#include "base/macro.h"
#include "helper/niceness.h"
#include "logfile.h"
#include "rights.h"

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PRIORITY = 1, RUNAWAY_US = 1000 * 1000 };
/* Of the time in turns: 1/SHARE of a CPU, at most so much at once, and less is not worth it. */
enum { SHARE = 5 };
static const uint64_t credit_max_ns = 50000000, credit_min_ns = 5000000;

/* Gives the calling thread niceness -10, or leaves it as it is. Returns what it has. */
static const char *prefer(void)
{
	return niceness_soon() < 0 ? "normal priority" : "niceness -10";
}

/* Makes the calling thread a real-time thread or an ordinary one; threads that it starts are always
 * ordinary ones. Returns whether it could. */
static bool set_real_time(bool on)
{
	const struct sched_param parameters = { .sched_priority = on ? PRIORITY : 0 };

	return sched_setscheduler(0, (on ? SCHED_RR : SCHED_OTHER) | SCHED_RESET_ON_FORK,
				  &parameters) == 0;
}

void urgent_answer(void *data _unused_)
{
	const struct rlimit runaway = { RUNAWAY_US, RUNAWAY_US };
	const char *priority;

	(void)setrlimit(RLIMIT_RTTIME, &runaway);
	priority = set_real_time(true) ? "real-time priority" : prefer();
	rights_renounce();
	/* The main thread waits meanwhile, so the log is free. */
	log_info("requests are answered at %s", priority);
}

void urgent_relieve(void)
{
	(void)set_real_time(true);
	rights_renounce_priority();
}

/* The thread has run for as long as it may. In a signal handler. */
static void end_turn(int number _unused_)
{
	int saved = errno;

	(void)set_real_time(false);
	errno = saved;
}

/* Creates the timer that ends the calling thread's turns. */
static bool create_timer(struct urgent *u)
{
	struct sigaction action = { .sa_handler = end_turn, .sa_flags = SA_RESTART };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGXCPU };

	event._sigev_un._tid = gettid();
	(void)sigemptyset(&action.sa_mask);
	return sigaction(SIGXCPU, &action, NULL) == 0 &&
	       timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &u->timer) == 0;
}

const char *urgent_begin(struct urgent *u, bool has_session)
{
	const char *text = prefer();

	if (has_session)
		niceness_set_session(NICENESS_SOON);
	*u = (struct urgent){ .at_ns = clock_now_ns(), .credit_ns = credit_max_ns };
	u->may = create_timer(u) && set_real_time(true);
	urgent_next(u);
	return u->may ? "real-time priority, for at most a fifth of a CPU" : text;
}

/* Takes the time that was spent from what the thread may run for, and adds what it has earned. */
static void settle(struct urgent *u)
{
	uint64_t now_ns = clock_now_ns(), ran_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	if (u->is_real_time)
		u->credit_ns -= MIN(ran_ns - u->ran_ns, u->credit_ns);
	u->credit_ns = MIN(u->credit_ns + (now_ns - u->at_ns) / SHARE, credit_max_ns);
	u->at_ns = now_ns;
	u->ran_ns = ran_ns;
}

void urgent_next(void *data)
{
	struct urgent *u = data;
	struct itimerspec end = { 0 };

	if (!u->may)
		return;
	settle(u);
	end.it_value.tv_nsec = (long)u->credit_ns;
	u->is_real_time = u->credit_ns >= credit_min_ns &&
			  timer_settime(u->timer, 0, &end, NULL) == 0 && set_real_time(true);
	if (!u->is_real_time)
		(void)set_real_time(false);
}

void urgent_end(struct urgent *u)
{
	if (!u->may)
		return;
	(void)set_real_time(false);
	(void)timer_delete(u->timer);
	u->may = false;
}
