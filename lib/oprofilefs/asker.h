/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asking the daemon without ever waiting for it: requests go out over one connection, in order, and
 * each one's answer is handed to a function. There is a connection only while an answer is awaited.
 *
 *	struct asker *asker = asker_new("/var/lib/oprofile");
 *	asker_ask(asker, "read enable", take_answer, data);
 *	struct pollfd p = { asker_fd(asker), asker_events(asker) };
 *	if (poll(&p, 1, -1) > 0)
 *		asker_run(asker);
 *	asker_free(asker);
 */
#pragma once

#include "base/macro.h"
#include "base/strbuf.h"

/* Takes an answer: @r is 0 and @answer the lines without the last, both borrowed; or -errno, and
 * @answer what the daemon says (of a node, its own number), NULL where it said nothing:
 * -ECONNREFUSED if no daemon listens, -ECONNRESET if it went away. */
typedef void asker_take(int r, const char *answer, void *data);

struct asker;

/* Caller frees. */
struct asker *asker_new(const char *session_dir);
/* Waiting requests end with -ECONNRESET; NULL is fine. */
void asker_free(struct asker *a);
DEFINE_CLEANUP(struct asker *, asker_free);

/* Sends a line; @take is called once, perhaps at once. */
void asker_ask(struct asker *a, const char *request, asker_take *take, void *data);
/* For a take function whose request turns the connection into something else: hands it over, to be
 * closed by the caller, with what came after the answer in @rest. No other request may wait. */
int asker_hand_over(struct asker *a, struct strbuf *rest);

/* What to poll: -1 and 0 while nothing is awaited. */
int asker_fd(const struct asker *a);
/* The events to poll asker_fd() for. */
short asker_events(const struct asker *a);
/* Goes on as far as it can without waiting. */
void asker_run(struct asker *a);
