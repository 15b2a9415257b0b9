/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/mem.h"
#include "oprofilefs/nodes.h"
#include "control/server.h"

#include <errno.h>
#include <string.h>

/* An error's text with the name of its number before it, by which programs know it. */
static int name_error(int r, struct error *err)
{
	return r < 0 ? error_prefix(err, "%s", strerrorname_np(-r) ?: "EIO") : r;
}

static void answer_item(const char *name, mode_t mode, const char *help, void *data)
{
	control_answer(data, name, "%o %s", (unsigned int)mode, help);
}

int nodes_request_list(const struct nodes *n, const char *arg, struct strbuf *answer,
		       struct error *err)
{
	return name_error(nodes_list(n, arg ?: "", answer_item, answer, err), err);
}

int nodes_request_stat(const struct nodes *n, const char *arg, struct strbuf *answer,
		       struct error *err)
{
	mode_t mode;
	int r = nodes_stat(n, arg, &mode, err);

	if (r == 0)
		control_answer(answer, "mode", "%o", (unsigned int)mode);
	return name_error(r, err);
}

int nodes_request_read(const struct nodes *n, const char *arg, struct strbuf *answer,
		       struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	int r = nodes_read(n, arg, &text, err);
	bool ends = text.length && text.text[text.length - 1] == '\n';

	if (r < 0)
		return name_error(r, err);
	strbuf_cut(&text, text.length - ends);
	control_answer(answer, ends ? "value" : "text", "%s", strbuf_text(&text));
	return 0;
}

int nodes_request_write(struct nodes *n, const char *arg, struct error *err)
{
	size_t length = strcspn(arg, " ");
	_cleanup_free_ char *path = xstrndup(arg, length);

	return name_error(nodes_write(n, path, arg + length, err), err);
}
