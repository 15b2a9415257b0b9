/* SPDX-License-Identifier: GPL-2.0-or-later */
/* daemonrc: input that parses must print, and the printed text must parse and print the same
 * again. */
#include "fuzz.h"

#include "control/daemonrc.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(settings_done) struct settings rc = settings_default();
	_cleanup_(settings_done) struct settings back = settings_default();
	_cleanup_(strbuf_done) struct strbuf one = STRBUF_INIT, two = STRBUF_INIT;

	if (daemonrc_parse("fuzz", (const char *)data, size, &rc, NULL) < 0)
		return 0;
	daemonrc_print(&rc, &one);
	if (daemonrc_parse("printed", strbuf_text(&one), one.length, &back, NULL) < 0)
		abort();
	daemonrc_print(&back, &two);
	if (strcmp(strbuf_text(&one), strbuf_text(&two)) != 0)
		abort();
	return 0;
}
