/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/collector.h"

#include "base/clock.h"
#include "parser/parser.h"
#include "collect/internal/collector_state.h"
#include "helper/errands.h"
#include "stats/turn.h"

#include <poll.h>

/* Between two parts of the work. */
enum { PAUSE_MS = 1 };
/* How long is waited for what samples in the driver depend on, and for the images of the others. */
enum { WAIT_DRIVER_NS = 50000000, WAIT_IMAGES_NS = 10000000 };
/* How often what was drained while a session is caught up with is recorded, too, at most: each time
 * it is less. */
enum { ROUNDS = 4 };

/* Ends a turn of the caller's loop: lets others have the CPU. Returns whether the driver has a
 * buffer that fills. */
static bool pause_turn(struct collector *c)
{
	struct pollfd full = { .fd = collector_fd(c), .events = POLLIN };
	bool is_full;

	if (c->turn)
		turn_end(c->turn);
	is_full = poll(&full, 1, PAUSE_MS) > 0;
	if (c->turn)
		turn_begin(c->turn);
	return is_full;
}

/* Ends a turn, and drains if it is time. What is drained is held back, so that the files and their
 * counters agree when all is written. */
static int drain_between(struct collector *c, uint64_t *drained_ns, struct error *err)
{
	int r;

	if (!pause_turn(c) && clock_now_ns() - *drained_ns < COLLECTOR_SYNC_MS * (NS_PER_S / 1000))
		return 0;
	r = collector_drain(c, false, err);
	*drained_ns = clock_now_ns();
	return MIN(r, 0);
}

/* Drains in turns what may wait in the driver, so that the last drain has little to do and waits
 * for nothing. 0; 1 if the source has ended; or -errno. */
static int drain_waiting(struct collector *c, struct error *err)
{
	const uint64_t until_ns = clock_now_ns() + WAIT_DRIVER_NS;
	int r;

	if (!c->turn || !c->ops->has_more)
		return 0;
	r = collector_drain(c, false, err);
	while (r == 0 && c->ops->has_more(c->driver) && clock_now_ns() < until_ns) {
		(void)pause_turn(c);
		r = collector_drain(c, false, err);
	}
	turn_next(c->turn);
	return r;
}

/* Drains all, and holds it back. 0; 1 if the source has ended; or -errno. */
static int drain_held(struct collector *c, struct error *err)
{
	int r;

	c->intake.holds = true;
	r = drain_waiting(c, err);
	return r == 0 ? collector_drain(c, true, err) : r;
}

/* Records what is held back, in turns, in which what is drained later waits; *@ret_turns is how
 * many were between the first and the last. First, images are waited for a little. 0 or -errno. */
static int record_held(struct collector *c, uint64_t *drained_ns, unsigned int *ret_turns,
		       struct error *err)
{
	const uint64_t until_ns = clock_now_ns() + WAIT_IMAGES_NS;
	unsigned int turns = 0;
	int r = 0;

	intake_mark(&c->intake);
	while (r == 0 && !intake_is_identified(&c->intake) && clock_now_ns() < until_ns)
		r = drain_between(c, drained_ns, err);
	intake_let_go(&c->intake);
	for (; r == 0 && intake_catch_up(&c->intake); turns++)
		r = drain_between(c, drained_ns, err);
	*ret_turns = turns;
	return r;
}

/* Drains all, and records it in turns, in which what is drained later waits; *@ret_turns is how
 * many were between the first and the last. 0; 1 if the source has ended; or -errno. */
static int drain_all(struct collector *c, uint64_t *drained_ns, unsigned int *ret_turns,
		     struct error *err)
{
	int r = drain_held(c, err);

	*ret_turns = 0;
	if (r == 0)
		r = record_held(c, drained_ns, ret_turns, err);
	c->intake.holds = false;
	return r;
}

int collector_catch_up(struct collector *c, struct error *err)
{
	uint64_t drained_ns = clock_now_ns();
	unsigned int turns = 1, i;
	int r = 0;

	c->intake.holds = true;
	record_yield_files(c->record);
	while (r == 0 && record_tend(c->record))
		r = drain_between(c, &drained_ns, err);
	c->intake.holds = false;
	for (i = 0; r == 0 && turns && i < ROUNDS; i++)
		r = drain_all(c, &drained_ns, &turns, err);
	return r;
}

/* Has all that was recorded written, in turns. 0, or -errno of a drain. */
static int write_in_turns(struct collector *c, uint64_t *drained_ns, struct error *err)
{
	int r = 0;

	record_begin_dump(c->record);
	while (r == 0 && record_dump(c->record))
		r = drain_between(c, drained_ns, err);
	/* All counters but those that grow meanwhile. */
	(void)record_flush(c->record, false, NULL);
	while (r == 0 && record_is_writing(c->record))
		r = drain_between(c, drained_ns, err);
	return r;
}

int collector_drain_last(struct collector *c, struct error *err)
{
	uint64_t drained_ns = clock_now_ns();
	unsigned int turns;
	int r, taken;

	turn_next(c->turn);
	r = drain_held(c, err);
	collector_note_driver(c);
	turn_next(c->turn);
	if (r == 0)
		r = record_held(c, &drained_ns, &turns, err);
	/* What came later is of the next session, unless this was the end of the source. */
	c->intake.holds = r == 0;
	taken = intake_settle(&c->intake, INTAKE_ALL);
	if (r >= 0 && taken < 0)
		r = error_errno(err, taken, "cannot record the samples");
	if (r != 0)
		return r;
	record_yield_files(c->record);
	return write_in_turns(c, &drained_ns, err);
}

int collector_take_held(struct collector *c, struct error *err)
{
	uint64_t drained_ns = clock_now_ns();
	unsigned int turns;

	c->intake.holds = c->intake.is_between = false;
	return c->running ? record_held(c, &drained_ns, &turns, err) : 0;
}

void collector_drain_beside(struct collector *c, struct errands *errands, uint64_t number)
{
	uint64_t drained_ns = clock_now_ns();
	int r = 0;

	c->intake.is_between = true;
	turn_next(c->turn);
	/* What there is no room for stays in the kernel, which counts what it loses. */
	while (!errands_wait(errands, number, PAUSE_MS))
		if (r == 0 && backlog_has_room(&c->intake.backlog))
			r = drain_between(c, &drained_ns, &c->drained);
	turn_next(c->turn);
}

int collector_dump(struct collector *c, struct error *err)
{
	uint64_t drained_ns = clock_now_ns();
	unsigned int turns;
	int r = c->running ? drain_all(c, &drained_ns, &turns, err) : 1, written;

	if (r > 0) /* there is nothing to drain in between */
		return collector_sync(c, true, err);
	if (r == 0)
		r = collector_write(c, false, err);
	if (r < 0)
		return r;
	c->intake.holds = true;
	r = write_in_turns(c, &drained_ns, err);
	written = record_flush(c->record, true, err);
	c->intake.holds = false;
	turn_next(c->turn); /* each of these may take long */
	if (r == 0)
		r = collector_drain(c, false, err);
	if (r >= 0)
		r = collector_failure(c, err);
	turn_next(c->turn);
	collector_end_slice(c, SLICE_ON_REQUEST);
	parser_tell(c->parser);
	return MIN(r, written);
}
