/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/common/page_sources.h"

#include "tools/common/page_calls.h"
#include "tools/common/page_report.h"
#include "tools/common/reporting.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "profile/annotate/annotate_json.h"
#include "profile/binary/sources.h"
#include "profile/rows/chain_calls.h"

#include <stdlib.h>
#include <string.h>

/* The most functions, of which those with the most samples are taken; and of those that call. */
enum { FUNCTIONS_MAX = 60, CALLERS_MAX = 30 };

/* A function of the page. */
struct hot {
	const struct row *row;
	uint64_t samples;
};

static int by_samples(const void *a, const void *b)
{
	const struct hot *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return (x->row->id > y->row->id) - (x->row->id < y->row->id);
}

/* Whether a function is among those before it: rows differ by application, too. */
static bool is_known(const struct hot *list, size_t count, const struct row *row)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (list[i].row->image == row->image && list[i].row->address == row->address)
			return true;
	return false;
}

/* Sorts the list from number @from on, and keeps the first @most that are not known. Returns how
 * many there are in all then. */
static size_t keep_hottest(struct hot *list, size_t from, size_t count, size_t most)
{
	size_t i, kept = from;

	qsort(list + from, count - from, sizeof(*list), by_samples);
	for (i = from; i < count && kept - from < most; i++)
		if (!is_known(list, kept, list[i].row))
			list[kept++] = list[i];
	return kept;
}

/* Adds functions with the most samples in what they call, whose lines say where that is. */
static size_t add_callers(const struct page_report *page, struct hot *list, size_t count)
{
	const struct chains *c = &page->profile->chains;
	_cleanup_free_ uint64_t *totals = chains_tree_totals(c, NULL);
	size_t i, n = count;

	for (i = 0; i < c->rows.count; i++)
		if (c->rows.rows[i].kind == ROW_SYMBOL)
			list[n++] = (struct hot){ &c->rows.rows[i], totals[i] };
	return keep_hottest(list, count, n, CALLERS_MAX);
}

/* Makes a list of the functions with the most samples of their own, and then of those that call;
 * returns their number. Caller frees. */
static size_t hottest(const struct page_report *page, struct hot **ret)
{
	bool has_chains = page->report.view->chains;
	const struct container *rows =
		has_chains ? &page->profile->chains.rows : &page->report.rows;
	struct hot *list = xcalloc(rows->count + FUNCTIONS_MAX + 1, sizeof(*list));
	size_t i, n = 0;

	for (i = 0; i < rows->count; i++) {
		const struct row *row = &rows->rows[i];
		uint64_t own = has_chains ? row->counts[CHAINS_SELF]
					  : container_sum(row->counts, rows->class_count);

		if (row->kind == ROW_SYMBOL && own)
			list[n++] = (struct hot){ row, own };
	}
	n = keep_hottest(list, 0, n, FUNCTIONS_MAX);
	*ret = list;
	return has_chains ? add_callers(page, list, n) : n;
}

/* What the code is read from, and where it goes. */
struct job {
	struct profile *profile;
	struct binaries *binaries;
	struct annotate annotate;
	struct sources *sources;
	const struct gather *names; /* of the images of ->hot */
	const struct hot *hot;
	size_t count;
	struct map by_image; /* functions by hash of the name of their image: index + 1 */
	char **json;	     /* of each function */
};

/* Prints the function at an address as JSON; NULL if the image has no samples there. */
static char *print_function(struct job *job, const struct annotate_view *view, uint64_t address)
{
	const struct annotate_symbol *symbol = annotate_symbol_at(view, address);
	struct annotate_json_output to = { .sources = job->sources,
					   .code_max = ANNOTATE_PAGE_CODE_MAX };
	char *text = NULL;
	size_t size = 0;

	if (!symbol)
		return NULL;
	to.out = open_memstream(&text, &size);
	if (!to.out)
		abort();
	annotate_json_print(&job->annotate, view, symbol, &to);
	(void)fclose(to.out);
	return text;
}

static void index_images(struct job *job)
{
	size_t i;

	for (i = 0; i < job->count; i++) {
		const char *name = gather_image_name(job->names, job->hot[i].row->image, true);

		map_add(&job->by_image, hash_text(name, strlen(name)), (void *)(uintptr_t)(i + 1));
	}
}

/* Prints the functions that are in an image. */
static void print_image(struct job *job, size_t image)
{
	const struct gather *g = job->profile->gather;
	const char *name = gather_image_name(g, job->annotate.images[image].image, true);
	struct annotate_view view;
	bool is_open = false;
	uintptr_t i;

	map_for_each_of(&job->by_image, hash_text(name, strlen(name)), i)
	{
		const struct row *row = job->hot[i - 1].row;

		if (strcmp(gather_image_name(job->names, row->image, true), name) != 0)
			continue;
		if (!is_open)
			annotate_open(&job->annotate, image, job->binaries, &view);
		is_open = true;
		if (!job->json[i - 1])
			job->json[i - 1] = print_function(job, &view, row->address);
	}
	if (is_open)
		annotate_close(&view);
}

/* Takes the functions whose code was found, in their order. */
static void take(struct job *job, struct page_sources *ret)
{
	size_t i;

	ret->list = xcalloc(job->count + 1, sizeof(*ret->list));
	for (i = 0; i < job->count; i++) {
		const struct row *row = job->hot[i].row;

		if (job->json[i])
			ret->list[ret->count++] = (struct report_source){
				xasprintf("%#llx/%s", (unsigned long long)row->address,
					  gather_image_name(job->names, row->image, true)),
				job->json[i]
			};
	}
}

/* Reads who calls what in the functions; caller frees. */
static struct chain_calls *calls_of(const struct job *job)
{
	_cleanup_free_ struct page_function *functions =
		xcalloc(job->count + 1, sizeof(*functions));
	size_t i;

	for (i = 0; i < job->count; i++)
		functions[i] =
			(struct page_function){ gather_image_name(job->names,
								  job->hot[i].row->image, true),
						job->hot[i].row->address };
	return page_calls(job->profile, job->binaries, functions, job->count);
}

/* Opens the profile that the code is of: the page's own with call chains, all in one class, gets
 * other binaries; else it is another one, as that may divide its samples by time. The caller closes
 * what is in *@opened and *@binaries. 0 or -errno. */
static int open_profile(struct job *job, const struct profile_config *config,
			const struct page_words *words, const struct page_report *page,
			struct profile **opened, struct binaries **binaries, struct error *err)
{
	int r = 0;

	if (page->report.view->chains && page->profile->classes.count == 1) {
		job->profile = page->profile;
		job->binaries = *binaries = reporting_binaries(page->profile, config);
	} else if ((r = reporting_open(config, words->count, words->list, opened, err)) == 0) {
		job->profile = *opened;
		job->binaries = job->profile->binaries;
	}
	return r;
}

int page_sources_collect(const struct profile_config *config, const struct page_words *words,
			 struct page_report *page, struct page_sources *ret, struct error *err)
{
	struct annotate_config how = { .names = page->report.view->names };
	_cleanup_(chain_calls_freep) struct chain_calls *calls = NULL;
	_cleanup_(profile_closep) struct profile *opened = NULL;
	_cleanup_(binaries_freep) struct binaries *binaries = NULL;
	_cleanup_(sources_freep) struct sources *sources = NULL;
	_cleanup_free_ struct hot *hot = NULL;
	_cleanup_free_ char **json = NULL;
	struct profile_config code = *config;
	struct job job = { .names = page->profile->gather };
	size_t i;
	int r;

	code.merge = CLASSES_MERGE_ALL;
	code.binaries.code = code.binaries.keep = true;
	code.chains = page->no_chains ? PROFILE_NO_CHAINS : PROFILE_CHAINS_IF_ANY;
	code.binaries.symbols_only = false;
	code.blocks = false; /* their counts are of the same samples */
	r = open_profile(&job, &code, words, page, &opened, &binaries, err);
	if (r < 0)
		return r;
	job.count = hottest(page, &hot);
	job.hot = hot;
	index_images(&job);
	job.sources = sources = profile_sources(job.profile, NULL, NULL);
	sources_be_quiet(sources); /* the page names missing files */
	job.json = json = xcalloc(job.count + 1, sizeof(*json));
	how.calls = calls = calls_of(&job);
	annotate_collect(job.profile->gather, &job.profile->classes, &job.profile->by_image, &how,
			 &job.annotate);
	for (i = 0; i < job.annotate.image_count; i++)
		print_image(&job, i);
	annotate_done(&job.annotate);
	map_done(&job.by_image);
	take(&job, ret);
	page->report.sources = ret->list;
	page->report.source_count = ret->count;
	return 0;
}

void page_sources_done(struct page_sources *s)
{
	size_t i;

	for (i = 0; i < s->count; i++) {
		free(s->list[i].key);
		free(s->list[i].json);
	}
	free(s->list);
	*s = (struct page_sources){ 0 };
}
