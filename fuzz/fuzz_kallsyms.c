/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz.h"

#include "image/kallsyms.h"

#include <stdio.h>

/* The loader of saved and plain symbol files; what it made must answer for any key. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(kallsyms_freep) struct kallsyms *k = NULL;
	FILE *f = size ? fmemopen((void *)data, size, "r") : NULL;
	size_t i;

	if (!f)
		return 0;
	if (kallsyms_load_stream(f, "input", &k, NULL) == 0)
		for (i = 0; i < kallsyms_image_count(k); i++) {
			const struct kallsyms_image *image = kallsyms_image_at(k, i);

			(void)kallsyms_find(image, 0);
			(void)kallsyms_find(image, UINT64_MAX - image->start);
		}
	(void)fclose(f);
	return 0;
}
