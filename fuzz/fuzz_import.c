/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ABI descriptions and foreign sample files: lib/sfile/abi.c and lib/import/import.c. The input is
 * a description, a NUL, and a file; without a NUL it is a file of a big-endian machine. */
#include "fuzz.h"

#include "base/span.h"
#include "sfile/abi.h"
#include "import/import.h"

#include <stdlib.h>
#include <string.h>

static void read_all(struct span in, const struct abi *abi)
{
	struct import import;
	uint64_t key;
	uint32_t count;
	size_t i;

	if (import_open(in, abi, "fuzz", &import, NULL) < 0)
		return;
	for (i = 0; i < import.node_count; i++)
		import_node(&import, i, &key, &count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = size ? memchr(data, 0, size) : NULL;
	struct span in = span_of(data, size), text = { 0 };
	struct abi abi = *abi_native();

	if (nul && size > 4 && memcmp(data, "DAE\n", 4) != 0) {
		(void)span_sub(&in, (size_t)(nul - data), &text);
		(void)span_take(&in, 1);
		if (abi_parse(text, "fuzz", &abi, NULL) < 0)
			return 0;
	} else {
		abi.of[ABI_LITTLE_ENDIAN] = 0;
	}
	read_all(in, &abi);
	return 0;
}
