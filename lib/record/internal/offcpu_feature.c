/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The time that tasks spend off the CPU as an extended feature. The driver measures it and sends
 * counts as samples of the counter after those of the events. */
#include "record/feature.h"

#include "base/mem.h"
#include "event/evderived.h"

#include <inttypes.h>

static void offcpu_free(struct feature *f)
{
	free(f);
}

static struct feature *offcpu_init(const struct evderived *derived, const char *root _unused_)
{
	struct feature *f;

	if (!evoffcpu_count(&derived->offcpu))
		return NULL;
	f = xcalloc(1, sizeof(*f));
	f->ops = &feature_offcpu;
	return f;
}

static size_t offcpu_words(const struct feature *f, uint64_t code)
{
	(void)f, (void)code;
	return 0;
}

static void offcpu_counted(struct feature *f, uint64_t value)
{
	f->stats.offcpu_us += value;
}

static void offcpu_print_stats(const struct feature_stats *stats, FILE *out)
{
	(void)fprintf(out, "\n-- OProfile Extended-Feature Statistics --\n");
	(void)fprintf(out, "Nr. off-CPU microseconds  : %" PRIu64 "\n", stats->offcpu_us);
}

const struct feature_ops feature_offcpu = {
	.init = offcpu_init,
	.done = offcpu_free,
	.words = offcpu_words,
	.counted = offcpu_counted,
	.print_stats = offcpu_print_stats,
};
