/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "peek.h"

#include "base/clock.h"
#include "base/mem.h"
#include "control/server.h"
#include "node_host.h"
#include "status.h"
#include "view.h"

struct peek {
	struct view_board *board;
	uint64_t born_ns;
	struct view view;
	struct node_host host;
	struct nodes *nodes;
};

struct peek *peek_new(struct view_board *board, uint64_t born_ns)
{
	struct peek *p = xcalloc(1, sizeof(*p));

	*p = (struct peek){ .board = board, .born_ns = born_ns };
	view_init(&p->view);
	p->host = (struct node_host){ .view = &p->view };
	p->nodes = node_host_nodes(&p->host, &p->view.settings);
	return p;
}

void peek_free(struct peek *p)
{
	if (!p)
		return;
	nodes_free(p->nodes);
	view_done(&p->view);
	free(p);
}

int peek_status(const char *arg _unused_, struct strbuf *answer, void *peek,
		struct error *err _unused_)
{
	struct peek *p = peek;

	view_look(p->board, &p->view);
	strbuf_add(answer, strbuf_text(&p->view.status), p->view.status.length);
	status_answer_now(&(struct status_now){ .now_ns = clock_now_ns(),
						.born_ns = p->born_ns,
						.at_ns = p->view.at_ns,
						.running = p->view.running,
						.other_bytes = p->view.other_bytes },
			  answer);
	return 0;
}

/* Calls a function for a request about a node, if the view has it. */
static int ask_nodes(int (*ask)(const struct nodes *n, const char *arg, struct strbuf *answer,
				struct error *err),
		     const char *arg, struct strbuf *answer, struct peek *p, struct error *err)
{
	if (arg && nodes_is_cookie(arg))
		return CONTROL_PASSED;
	view_look(p->board, &p->view);
	nodes_show(p->nodes, &p->view.settings);
	return ask(p->nodes, arg, answer, err);
}

int peek_list(const char *arg, struct strbuf *answer, void *peek, struct error *err)
{
	return ask_nodes(nodes_request_list, arg, answer, peek, err);
}

int peek_stat(const char *arg, struct strbuf *answer, void *peek, struct error *err)
{
	return ask_nodes(nodes_request_stat, arg, answer, peek, err);
}

int peek_read(const char *arg, struct strbuf *answer, void *peek, struct error *err)
{
	return ask_nodes(nodes_request_read, arg, answer, peek, err);
}
