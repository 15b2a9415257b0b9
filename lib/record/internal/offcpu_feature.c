/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The time that tasks spend off the CPU as an extended feature: "offcpu" or "offcpu:blocked". The
 * driver measures it and sends counts as samples of the counter after those of the events. */
#include "record/feature.h"

#include "base/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct offcpu_feature {
	struct feature feature;
	struct event event;
	uint64_t us;
};

static void offcpu_free(struct feature *f)
{
	free(f);
}

static int offcpu_init(const char *args, const char *root _unused_, struct feature **ret,
		       struct error *err)
{
	struct offcpu_feature *x;

	if (*args && strcmp(args, "blocked") != 0)
		return error_set(err, -EINVAL, "offcpu: '%s' is not 'blocked'", args);
	x = xcalloc(1, sizeof(*x));
	x->feature.ops = &feature_offcpu;
	x->event = (struct event){
		.name = "OFFCPU", .count = 1, .code = 0xe010, .kernel = true, .user = true
	};
	*ret = &x->feature;
	return 0;
}

static const struct event *offcpu_events(const struct feature *f, size_t *ret_count)
{
	*ret_count = 1;
	return &((const struct offcpu_feature *)f)->event;
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
	.name = "offcpu",
	.init = offcpu_init,
	.done = offcpu_free,
	.events = offcpu_events,
	.words = offcpu_words,
	.counted = offcpu_counted,
	.print_stats = offcpu_print_stats,
};
