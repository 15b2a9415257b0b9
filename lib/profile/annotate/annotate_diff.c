/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/annotate/annotate_diff.h"

#include "base/mem.h"
#include "profile/annotate/annotate_text.h"
#include "profile/annotate/internal/annotate_changes.h"

/* Sets what the header and its numbers are printed from. */
static void make_report(struct annotate_diff *d)
{
	const struct annotate *a = d->sides[1].annotate;

	d->view = (struct report_view){ .compare_by = DIFF_SHARE, .decimals = a->config->decimals };
	d->before = (struct report_before){ .words = { d->sides[0].words, d->sides[1].words },
					    .gather = d->sides[0].gather,
					    .losses = d->sides[0].losses,
					    .skipped = d->sides[0].annotate->bad +
						       d->sides[0].gather->skipped,
					    .is_annotated = true };
	d->report = a->report;
	d->report.view = &d->view;
	d->report.before = &d->before;
	d->report.losses = d->sides[1].losses;
	d->report.container = &d->pair.rows.sides[1];
	d->report.skipped = a->bad + d->sides[1].gather->skipped;
	binaries_count(d->sides[1].binaries, &d->report.files, &d->report.gone);
}

int annotate_diff_new(const struct annotate_diff_side sides[2],
		      const struct annotate_diff_config *config, struct annotate_diff **ret,
		      struct error *err)
{
	_cleanup_(annotate_diff_freep) struct annotate_diff *d = xcalloc(1, sizeof(*d));
	unsigned int i;
	int r;

	d->sides[0] = sides[0];
	d->sides[1] = sides[1];
	d->config = *config;
	annotate_places_init(&d->places, d->sides);
	annotate_listings_init(&d->listings, d->sides);
	for (i = 0; i < ANNOTATE_LEFT_COUNT_; i++)
		annotate_rows_init(&d->left[i].rows, d->sides);
	r = annotate_pair_open(&d->pair, d->sides, err);
	if (r < 0)
		return r;
	if (config->top)
		annotate_pair_choose(&d->pair, config->top);
	make_report(d);
	*ret = STEAL(d);
	return 0;
}

void annotate_diff_free(struct annotate_diff *d)
{
	unsigned int i;

	if (!d)
		return;
	annotate_places_done(&d->places);
	annotate_listings_done(&d->listings);
	for (i = 0; i < ANNOTATE_LEFT_COUNT_; i++) {
		annotate_rows_done(&d->left[i].rows);
		free(d->left[i].list);
	}
	annotate_pair_close(&d->pair);
	free(d);
}

void annotate_diff_heading(const struct annotate_diff *d, const char *command_line,
			   const char *meaning, struct strbuf *out)
{
	annotate_report_heading(&d->report, command_line, meaning, out);
}
