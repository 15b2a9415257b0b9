/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/opreport/opreport_chains.h"

#include "profile/rows/chains.h"
#include "profile/select/classes.h"
#include "profile/select/gather.h"
#include "profile/print/losses.h"
#include "profile/print/report_header.h"
#include "profile/print/report.h"

/* All that the report is made of; freed together. */
struct parts {
	struct gather *gather;
	struct classes classes;
	struct binaries *binaries;
	struct chains chains;
	struct losses losses;
};

static void parts_done(struct parts *p)
{
	losses_done(&p->losses);
	chains_done(&p->chains);
	binaries_free(p->binaries);
	classes_done(&p->classes);
	gather_free(p->gather);
}

/* The header of the first sample file that can be read, for type and speed of the CPU. */
static struct sfile_header some_header(const struct gather *g)
{
	_cleanup_(sfile_closep) struct sfile *sf = NULL;
	size_t i;

	for (i = 0; i < g->file_count; i++)
		if (sfile_open(g->files[i].path, &sf, NULL) == 0)
			return *sfile_header(sf);
	return (struct sfile_header){ 0 };
}

static int collect(struct parts *p, const struct chains_request *q, struct error *err)
{
	/* Chains know tasks and CPUs, but are not reported by them. */
	unsigned int merge =
		CLASSES_MERGE_CPU | CLASSES_MERGE_TID | CLASSES_MERGE_TGID | CLASSES_MANY_AXES;
	int r = gather_files(q->spec, q->session_dir, false, &p->gather, err);

	if (r == 0)
		r = chains_open(&p->chains, p->gather, q->spec, err);
	if (r == 0)
		r = classes_arrange(p->gather, merge, &p->classes, err);
	if (r < 0)
		return r;
	p->binaries = binaries_new(p->gather, &q->where);
	p->chains.inlines = q->inlines;
	r = chains_collect(&p->chains, p->binaries, err);
	if (r < 0)
		return r;
	chains_name(&p->chains, q->names);
	losses_collect(p->gather, &p->losses);
	return 0;
}

int opreport_chains(const struct chains_request *q, FILE *out, struct error *err)
{
	_cleanup_(parts_done) struct parts p = { .chains = CHAINS_INIT };
	int r = collect(&p, q, err);
	struct report report = { .gather = p.gather,
				 .classes = &p.classes,
				 .container = &p.chains.rows,
				 .show_header = q->show_header,
				 .long_names = q->long_names,
				 .quality = q->quality,
				 .threshold = q->threshold };

	if (r < 0)
		return r;
	report.header = some_header(p.gather);
	report.skipped = p.gather->skipped;
	report.timer_hz = report_header_timer_hz(p.gather);
	if (q->json) {
		report_chains_json(&report, &p.losses, &p.chains, &q->view, out);
		return 0;
	}
	/* What reads folded stacks takes every line for one. */
	report.chains = &p.chains;
	if (q->show_header && q->view.form != CHAINS_FOLDED)
		report_header_text(&report, &p.losses, out);
	report_chains_text(&report, &p.chains, &q->view, out);
	return 0;
}
