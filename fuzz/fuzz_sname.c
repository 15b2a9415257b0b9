/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of sample files: lib/sfile/sname.c. The input is the path. */
#include "fuzz.h"

#include "base/mem.h"
#include "sfile/sname.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *path = xstrndup((const char *)data, size), *text = NULL, *shown = NULL;
	struct sname name;
	size_t length;

	if (sname_parse(path, &name, NULL) < 0)
		return 0;
	/* What was read is written again, to the letter. */
	text = sname_mangle(&name);
	length = strlen(text);
	if (length > strlen(path) || strcmp(path + strlen(path) - length, text) != 0)
		abort();
	shown = sname_image_display(&name.image);
	if (!sname_image_equal(&name.app, &name.app) || !*shown)
		abort();
	sname_done(&name);
	return 0;
}
