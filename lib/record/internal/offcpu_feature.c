/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The time that tasks spend off the CPU as an extended feature. The driver measures it and sends
 * counts as samples of the counter after those of the events. */
#include "record/feature.h"

#include "base/mem.h"
#include "event/evderived.h"

#include <inttypes.h>

struct offcpu_feature {
	struct feature feature;
	uint64_t us;
};

static void offcpu_free(struct feature *f)
{
	free(f);
}

static struct feature *offcpu_init(const struct evderived *derived, const char *root _unused_)
{
	struct offcpu_feature *x;

	if (!derived->offcpu)
		return NULL;
	x = xcalloc(1, sizeof(*x));
	x->feature.ops = &feature_offcpu;
	return &x->feature;
}

static size_t offcpu_words(const struct feature *f, uint64_t code)
{
	(void)f, (void)code;
	return 0;
}

static void offcpu_counted(struct feature *f, uint64_t value)
{
	struct offcpu_feature *x = (struct offcpu_feature *)f;

	x->us += value;
}

static void offcpu_print_stats(const struct feature *f, FILE *out)
{
	const struct offcpu_feature *x = (const struct offcpu_feature *)f;

	(void)fprintf(out, "\n-- OProfile Extended-Feature Statistics --\n");
	(void)fprintf(out, "Nr. off-CPU microseconds  : %" PRIu64 "\n", x->us);
}

const struct feature_ops feature_offcpu = {
	.init = offcpu_init,
	.done = offcpu_free,
	.words = offcpu_words,
	.counted = offcpu_counted,
	.print_stats = offcpu_print_stats,
};
