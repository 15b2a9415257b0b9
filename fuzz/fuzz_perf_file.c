/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf.data files: lib/perfdata/perf_file.c. The input is a file. */
#include "fuzz.h"

#include "perfdata/perf_file.h"

#include <string.h>

/* Reads every byte of what was decoded. */
static size_t look(const struct perf_file *f, const struct perf_file_record *record)
{
	struct perf_file_sample sample;
	struct span payload = record->payload, trailer = record->trailer;
	size_t sum = 0;
	uint8_t byte;

	while (span_u8(&payload, &byte) == 0 || span_u8(&trailer, &byte) == 0)
		sum += byte;
	if (record->type == PERF_RECORD_SAMPLE && perf_file_sample(f, record, &sample) == 0)
		while (span_u8(&sample.chain, &byte) == 0)
			sum += byte;
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(perf_file_closep) struct perf_file *f = NULL;
	const struct perf_file_build_id *ids;
	struct perf_file_record record;
	size_t sum = 0;
	size_t i, count;

	if (!perf_file_is(span_of(data, size)) ||
	    perf_file_open(span_of(data, size), "fuzz", &f, NULL) < 0)
		return 0;
	ids = perf_file_build_ids(f, &count);
	for (i = 0; i < count; i++)
		sum += strlen(ids[i].path);
	for (i = 0; perf_file_record(f, i, &record); i++)
		sum += look(f, &record);
	return sum == SIZE_MAX; /* never */
}
