/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Raw data of instruction-based samples: a byte for kind and CPU, then the contents of a perf
 * record. */
#include "perf/ibs_raw.h"
#include "fuzz.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct ibs_cpu cpus[] = {
		{ 0x10, 2 }, { 0x17, 1 }, { 0x19, 1 }, { 0x19, 17 }
	};
	struct ibs_sample sample = { 0 };
	enum ibs_kind kind;
	size_t i;

	if (!size)
		return 0;
	kind = data[0] & 1 ? IBS_OP : IBS_FETCH;
	if (ibs_raw_decode(&cpus[data[0] >> 1 & 3], kind, span_of(data + 1, size - 1), &sample) < 0)
		return 0;
	if (sample.count != (kind == IBS_OP ? 13 : 7))
		abort();
	for (i = 0; i < sample.count; i++)
		if (sample.words[i] > UINT32_MAX)
			abort();
	return 0;
}
