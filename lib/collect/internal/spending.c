/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/internal/spending.h"

#include "base/clock.h"
#include "base/mem.h"
#include "driver/interrupt_cost.h"
#include "parser/parser.h"

#include <unistd.h>

/* The budget of so many seconds may be spent at the start, when files are seen for the first time
 * and unwind tables are built: that of one minute was gone after seconds on a busy machine. */
enum { START_S = 300 };

struct spending {
	struct governor *governor;
	struct driver_cost *costs; /* room for all possible CPUs */
	size_t room;
	struct parser *parser;
};

struct spending *spending_new(double share, struct parser *parser)
{
	struct spending *s = xcalloc(1, sizeof(*s));

	s->parser = parser;
	s->room = (size_t)MAX(sysconf(_SC_NPROCESSORS_CONF), 1);
	s->costs = xcalloc(s->room, sizeof(*s->costs));
	s->governor = governor_new(share, START_S, interrupt_cost_ns());
	return s;
}

void spending_free(struct spending *s)
{
	if (!s)
		return;
	governor_free(s->governor);
	free(s->costs);
	free(s);
}

static struct governor_look look_now(struct spending *s, const struct driver_ops *ops,
				     struct driver *driver)
{
	return (struct governor_look){
		.now_ns = clock_now_ns(),
		.own_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + parser_cpu(s->parser),
		.costs = s->costs,
		.count = ops->costs ? ops->costs(driver, s->costs, s->room) : 0,
	};
}

void spending_begin(struct spending *s, const struct driver_ops *ops, struct driver *driver)
{
	struct governor_look look = look_now(s, ops, driver);

	governor_begin(s->governor, &look);
}

void spending_look(struct spending *s, const struct driver_ops *ops, struct driver *driver)
{
	struct governor_look look = look_now(s, ops, driver);

	governor_look(s->governor, &look, ops->stretch, driver);
}

void spending_read(const struct spending *s, struct governor_reading *ret)
{
	*ret = (struct governor_reading){ 0 };
	if (s)
		governor_read(s->governor, ret);
}
