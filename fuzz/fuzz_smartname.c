/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Demangling rules and, after a line with a single dot, the name that they are applied to. */
#include "base/mem.h"
#include "base/strbuf.h"
#include "fuzz.h"
#include "symbol/smartname.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = xstrndup((const char *)data, size);
	_cleanup_(smart_rules_freep) struct smart_rules *rules = NULL;
	_cleanup_(strbuf_done) struct strbuf name = STRBUF_INIT;
	struct error err = ERROR_INIT;
	char *dot = strstr(text, "\n.\n");

	if (dot) {
		*dot = '\0';
		strbuf_adds(&name, dot + 3);
	}
	if (smart_rules_parse(text, "rules", &rules, &err) == 0 && name.length)
		smart_rules_apply(rules, &name, 0);
	return 0;
}
