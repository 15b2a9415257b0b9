/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/perf/perf_ibs.h"

#include "base/macro.h"
#include "driver/perf/perf_samples.h"

/* Whether samples from where @r was taken are excluded. The PMUs cannot leave them out themselves.
 */
static bool is_unwanted(const struct event_terms *terms, const struct perf_record *r)
{
	bool kernel = (r->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;

	return !(kernel ? terms->kernel : terms->user);
}

void perf_ibs_put(const struct perf_ibs *ibs, struct attribution *a, unsigned int cpu,
		  enum ibs_kind kind, const struct perf_record *r)
{
	static const enum evbuf_code codes[] = {
		[IBS_FETCH] = EVBUF_IBS_FETCH, [IBS_OP] = EVBUF_IBS_OP
	};
	struct ibs_sample sample;

	if (perf_samples_are_filtered(a, r) || is_unwanted(&ibs->terms[kind], r))
		return;
	if (ibs_raw_decode(&ibs->cpu, kind, r->more, &sample) < 0) {
		a->stats->ibs_lost++;
		return;
	}
	/* The last address would read as an escape; it contains no code. */
	if (kind == IBS_OP && ibs->terms[kind].unit_mask & IBS_BRANCH_TARGET)
		sample.words[sample.count++] = MIN(sample.target, UINT64_MAX - 1);
	if (!perf_samples_put_words(a, cpu, r, codes[kind], sample.words, sample.count))
		a->stats->ibs_lost++;
}
