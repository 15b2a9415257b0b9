/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/opweb/web_source.h"

#include "base/mem.h"
#include "base/parse.h"
#include "profile/annotate/annotate_json.h"
#include "profile/binary/sources.h"
#include "profile/profile.h"
#include "profile/rows/chain_calls.h"
#include "tools/common/page_calls.h"
#include "tools/common/reporting.h"
#include "tools/opweb/web_window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What is asked for. */
struct question {
	uint64_t address;
	char *time; /* a word of the specification; NULL: all */
	char *image;
};

static void question_done(struct question *q)
{
	free(q->time);
	free(q->image);
}

static int parse_question(const char *text, struct question *ret, struct error *err)
{
	static const char prefix[] = "source/";
	const char *rest = strncmp(text, prefix, strlen(prefix)) ? "" : text + strlen(prefix);
	char *end = NULL, *time = NULL;
	uint64_t address = strtoull(rest, &end, 16);
	const char *at = *end == '/' ? end + 1 : "";

	if (end == rest || web_window_parse(&at, &time) < 0 || *at != '/') {
		free(time);
		return error_set(err, -EINVAL, "'%s' is not a function", text);
	}
	*ret = (struct question){ address, time, xstrdup(at + 1) };
	return 0;
}

/* Prints the function if the image has it. */
static bool print_from(struct annotate *a, size_t image, const struct question *q,
		       const struct profile *p)
{
	_cleanup_(sources_freep) struct sources *sources = profile_sources(p, NULL, NULL);
	const struct annotate_json_output to = { .out = stdout,
						 .sources = sources,
						 .code_max = ANNOTATE_PAGE_CODE_MAX };
	const struct annotate_symbol *symbol;
	struct annotate_view view;

	sources_be_quiet(sources); /* the page names missing files */
	annotate_open(a, image, p->binaries, &view);
	symbol = annotate_symbol_at(&view, q->address);
	if (symbol)
		annotate_json_print(a, &view, symbol, &to);
	annotate_close(&view);
	return symbol != NULL;
}

static int print_function(struct profile *p, const struct name_style *names,
			  const struct question *q, struct error *err)
{
	const struct page_function function = { q->image, q->address };
	_cleanup_(chain_calls_freep) struct chain_calls *calls =
		page_calls(p, p->binaries, &function, 1);
	const struct annotate_config config = { .names = *names, .calls = calls };
	_cleanup_(annotate_done) struct annotate a = { 0 };
	bool is_found = false;
	size_t i;

	annotate_collect(p->gather, &p->classes, &p->by_image, &config, &a);
	for (i = 0; i < a.image_count && !is_found; i++)
		if (!strcmp(gather_image_name(p->gather, a.images[i].image, true), q->image))
			is_found = print_from(&a, i, q, p);
	if (!is_found)
		return error_set(err, -ENOENT, "%s: no samples in the function at %#llx", q->image,
				 (unsigned long long)q->address);
	return 0;
}

int web_source_print(const struct profile_config *config, const struct name_style *names,
		     char *const *words, const char *question, struct error *err)
{
	_cleanup_(profile_closep) struct profile *p = NULL;
	_cleanup_(question_done) struct question q = { 0 };
	_cleanup_free_ char **all = NULL;
	struct profile_config code = *config;
	size_t count;
	int r = parse_question(question, &q, err);

	if (r < 0)
		return r;
	all = web_window_words(words, q.time, &count);
	code.merge = CLASSES_MERGE_ALL;
	code.binaries.code = code.binaries.keep = true;
	code.chains = PROFILE_CHAINS_IF_ANY;
	r = reporting_open(&code, count, all, &p, err);
	return r < 0 ? r : print_function(p, names, &q, err);
}
