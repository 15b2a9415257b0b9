/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/operf/helpers.h"

#include "history/keeper.h"
#include "identity/opener.h"
#include "jit/attacher.h"
#include "parser/parser.h"
#include "collect/session_upkeep.h"

int helpers_start(struct helpers *h, bool attach_java, struct error *err)
{
	int r = attach_java ? attacher_new(&h->attacher, err) : 0;

	if (r == 0)
		r = parser_new(&h->parser, err);
	if (r == 0)
		r = opener_new(h->parser, &h->opener, err);
	return r < 0 ? r : keeper_new(session_upkeep, &h->keeper, err);
}

void helpers_done(const struct helpers *h)
{
	keeper_free(h->keeper);
	opener_free(h->opener);
	parser_free(h->parser);
	attacher_free(h->attacher);
}
