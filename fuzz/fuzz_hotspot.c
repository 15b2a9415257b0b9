/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a Java virtual machine answers, what the kernel says of one, and lines of its map. */
#include "fuzz.h"

#include "base/mem.h"
#include "jit/internal/hotspot.h"
#include "jit/internal/map_line.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = xstrndup((const char *)data, size);
	struct jit_code code = { 0 };
	struct hotspot who = { 0 };

	(void)hotspot_answer((const char *)data, size);
	(void)hotspot_status(text, &who);
	if (map_line_parse(text, &code) && (code.name < text || !*code.name))
		abort();
	return 0;
}
