/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a process that reads the profile says to optop: tools/optop/optop_answer.c. */
#include "fuzz.h"

#include "base/mem.h"
#include "tools/optop/optop_answer.h"

#include <stdlib.h>
#include <string.h>

/* No text has anything that a terminal would obey. */
static void check_text(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' && *text != '\n' && *text != '\t' && *text != '\r')
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(answer_done) struct answer a = ANSWER_INIT, none = ANSWER_INIT;
	_cleanup_free_ char *copy = xstrndup((const char *)data, size);
	char *line, *rest = copy;
	size_t i;

	while ((line = strsep(&rest, "\n"))) {
		answer_add_text(&a, line, strlen(line));
		answer_add_line(&a, line);
	}
	answer_arrange(&a, &none, ANSWER_TOTAL, false);
	answer_arrange(&a, &a, ANSWER_SELF, true);
	for (i = 0; i < a.count; i++) {
		check_text(a.rows[i].name);
		check_text(a.rows[i].image);
	}
	check_text(strbuf_text(&a.text));
	check_text(strbuf_text(&a.complaint));
	return 0;
}
