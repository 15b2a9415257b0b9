/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A higher priority for threads that must get a CPU soon on a busy machine. The caller embeds the
 * struct of a thread that works in turns; until urgent_begin() all-zero.
 *
 *	urgent_answer(NULL);		in a thread that answers requests
 *
 *	log_info("samples are drained at %s", urgent_begin(&urgent, true));	in another one
 *	...
 *	urgent_next(&urgent);		after each turn
 *	urgent_end(&urgent);
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct urgent {
	bool may;		/* be a real-time thread */
	bool is_real_time;	/* in this turn, at first */
	timer_t timer;		/* fires when it has used up its time */
	uint64_t at_ns, ran_ns; /* at the last urgent_next(); how long it has run */
	uint64_t credit_ns;	/* how long it may run as a real-time thread */
};

/* Gives the calling thread, which answers requests, real-time priority 1, or else niceness -10, or
 * else leaves it as it is, and drops its capabilities. Logs what it has. From then on a real-time
 * thread that runs for a second without waiting ends this process. */
void urgent_answer(void *data);

/* Gives the calling thread, which drains samples while another one waits for a disk, real-time
 * priority 1, if it may, and drops the right to do that. It works for a fifth of a CPU at most
 * (helper/relief.h). */
void urgent_relieve(void);

/* Gives the calling thread niceness -10 and short slices of time, or leaves it as it is, and, if it
 * may, real-time priority 1 for at most a fifth of a CPU's time. If nobody else's processes are in
 * its session, prefers that session, too. Threads that it starts later are ordinary ones. Returns
 * what the thread has, for the log. */
const char *urgent_begin(struct urgent *u, bool has_session);
/* Ends a turn of the calling thread: the next one is at real-time priority until the thread has
 * used up its time. @data is a struct urgent. */
void urgent_next(void *data);
/* Makes the calling thread an ordinary one; urgent_begin() may not have been called. */
void urgent_end(struct urgent *u);
