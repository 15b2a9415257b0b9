/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sends a request to the daemon of a session and prints the answer (for "read" only the content of
 * the node): control_ask SESSION "read 0/count". */
#include "base/strbuf.h"
#include "control/client.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	_cleanup_(strbuf_done) struct strbuf answer = STRBUF_INIT;
	struct error err = ERROR_INIT;
	const char *text;

	if (argc != 3)
		return 2;
	if (control_call(argv[1], argv[2], &answer, &err) < 0) {
		(void)fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	text = strbuf_text(&answer);
	if (!strncmp(argv[2], "read ", 5) && strchr(text, ' '))
		text = strchr(text, ' ') + 1;
	(void)fputs(text, stdout);
	return 0;
}
