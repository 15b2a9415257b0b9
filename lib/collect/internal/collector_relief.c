/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/collector.h"

#include "base/clock.h"
#include "collect/internal/collector_state.h"
#include "driver/driver.h"
#include "helper/relief.h"
#include "identity/cookie.h"
#include "stats/turn.h"

/* Whether the driver may be drained. Not if the caller is draining it, nor without room: what is
 * then lost, the kernel counts. */
static bool is_due(const struct collector *c)
{
	return c->running && c->driver && !c->is_draining &&
	       clock_now_ns() - c->drained_ns >= RELIEF_MS * (NS_PER_S / 1000) &&
	       backlog_has_room(&c->intake.backlog);
}

/* Drains instead of the caller, which waits for a disk: nothing is recorded. */
static void drain_meanwhile(void *data)
{
	struct collector *c = data;
	const struct intake before = c->intake;
	struct error err = ERROR_INIT;

	if (!is_due(c))
		return;
	turn_stage(c->turn, TURN_FILES);
	c->intake.is_between = true;
	cookie_hold(c->cookies, true);
	if (collector_drain(c, false, &err) < 0)
		c->drained = err;
	else if (c->relieved)
		c->relieved(c->relieved_data);
	cookie_hold(c->cookies, false);
	c->intake.is_between = before.is_between;
	c->intake.until_ns = before.until_ns;
	turn_split(c->turn);
}

void collector_open_relief(struct collector *c)
{
	c->relief = c->turn ? relief_new(drain_meanwhile, c) : NULL;
	c->intake.relief = c->relief;
	c->intake.defers = c->relief != NULL;
}

int collector_relieve(struct collector *c, void (*enter)(void), void (*drained)(void *data),
		      void *data, struct error *err)
{
	c->relieved = drained;
	c->relieved_data = data;
	return c->relief ? relief_start(c->relief, enter, err) : 0;
}
