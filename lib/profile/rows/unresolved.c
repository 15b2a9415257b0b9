/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/unresolved.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "profile/rows/code_kind.h"
#include "symbol/elfcode.h"
#include "profile/select/gather.h"
#include "profile/select/no_vmlinux.h"
#include "sfile/manifest.h"
#include "sfile/source_image.h"

#include <string.h>

enum { SHOWN_MAX = 10 };

static const double worth_percent = 0.5, line_percent = 0.1, loop_percent = 5;

/* The problem and its remedy; NULL: no problem. */
static const char *const remedies[ROW_KIND_COUNT_] = {
	[ROW_UNNAMED] = "code without a symbol; install its debug package or try --debuginfod",
	[ROW_NO_SYMBOLS] = "stripped; install its debug package or try --debuginfod",
	[ROW_NO_FILE] = "not on this machine; find it with --root, --image-path or --debuginfod",
	[ROW_UNREADABLE] = "its file cannot be read; see the warning above",
	[ROW_CHANGED] = "changed since it was profiled; find the old file with --image-path or "
			"--debuginfod",
	[ROW_ANONYMOUS] = "JIT code without symbols; start the JIT compiler with its perf map or "
			  "agent, see opjit(5)",
};
static const char *const hidden_remedy = "only visible in the mount namespace of its container; "
					 "find a copy with --image-path or --debuginfod";
/* In the kernel, by the name of the image; the last row is for modules. */
static const struct {
	const char *image, *remedy;
} kernel_remedies[] = {
	{ "unknown", "code that left the kernel before its name could be looked up" },
	{ "/proc/kallsyms", "the session has no copy of the kernel's symbols, and the running "
			    "kernel is another; --root=DIR reads DIR/proc/kallsyms" },
	{ NULL, "the session has no symbols of it; find a module's file with --image-path" },
};

/* By falling count; then by name, because an archive lists its images in another order. */
static int heavier(const void *a, const void *b, void *data)
{
	const struct unresolved_image *x = a, *y = b;
	const struct gather *g = data;
	int order;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	order = strcmp(g->images[x->image].shown, g->images[y->image].shown);
	return order ? order : (x->why > y->why) - (x->why < y->why);
}

static uint64_t sum(const uint64_t *counts, size_t n)
{
	uint64_t all = 0;

	while (n--)
		all += counts[n];
	return all;
}

/* Counts the row if it is the loop of an interpreter. */
static void add_loop(const struct container *c, const struct gather *g, const struct row *row,
		     struct unresolved *u)
{
	enum code_kind kind;

	if (row->kind == ROW_SYMBOL && !row->is_unchosen && code_kind_is_runtime(g, row, &kind) &&
	    code_kind_loop(kind) && !strcmp(row->symbol->name, code_kind_loop(kind)))
		u->loops[kind] += sum(row->counts, c->class_count);
}

void unresolved_collect(const struct container *c, const struct gather *g, struct unresolved *ret)
{
	/* One per pair of image and reason. */
	size_t i, pairs = g->image_count * ROW_KIND_COUNT_;
	struct unresolved_image *all = xcalloc(pairs + 1, sizeof(*all));

	*ret = (struct unresolved){ .images = all };
	for (i = 0; i < c->count; i++) {
		const struct row *row = &c->rows[i];
		bool is_range = row->kind == ROW_SYMBOL && elfcode_is_name(row->symbol->name);
		enum row_kind why = is_range ? ROW_UNNAMED : row->kind;
		struct unresolved_image *u =
			&all[(size_t)row->image * ROW_KIND_COUNT_ + (size_t)why];

		add_loop(c, g, row, ret);
		if (!remedies[why] || row->is_unchosen)
			continue;
		u->image = row->image;
		u->why = why;
		u->samples += sum(row->counts, c->class_count);
		ret->samples += sum(row->counts, c->class_count);
		ret->ranges += is_range ? sum(row->counts, c->class_count) : 0;
	}
	ret->total = sum(c->totals, c->class_count);
	ret->unknown = c->beyond_images ? sum(c->beyond, c->class_count) : 0;
	for (i = 0; i < pairs; i++)
		if (all[i].samples)
			all[ret->count++] = all[i];
	qsort_r(all, ret->count, sizeof(*all), heavier, (void *)g);
}

void unresolved_forget_loops(struct unresolved *u)
{
	memset(u->loops, 0, sizeof(u->loops));
}

void unresolved_done(struct unresolved *u)
{
	free(u->images);
}

static double percent_of(const struct unresolved *u, uint64_t samples)
{
	return u->total ? 100.0 * (double)samples / (double)u->total : 0;
}

static const char *kernel_remedy(const char *name)
{
	size_t i = 0;

	while (kernel_remedies[i].image && strcmp(kernel_remedies[i].image, name) != 0)
		i++;
	return kernel_remedies[i].remedy;
}

const char *unresolved_remedy(const struct unresolved_image *u, const struct gather *g)
{
	const struct gather_image *image = &g->images[u->image];
	bool hidden = image->manifest && image->manifest->host && !*image->manifest->host;
	bool kernel = image->id.kind == SNAME_KERN || image->kernel;

	if (source_image_is(image->manifest))
		return "functions of a program whose names were not read";
	if (kernel && u->why != ROW_UNNAMED && !strcmp(image->display, "no-vmlinux"))
		return no_vmlinux_remedy(g->sessions[image->session].samples);
	if (kernel && u->why != ROW_UNNAMED)
		return kernel_remedy(image->display);
	if (u->why == ROW_ANONYMOUS && code_kind_remedy(image->shown))
		return code_kind_remedy(image->shown);
	return hidden && (u->why == ROW_NO_FILE || u->why == ROW_CHANGED) ? hidden_remedy
									  : remedies[u->why];
}

static void print_image(const struct unresolved *u, const struct unresolved_image *i,
			const struct gather *g, FILE *out)
{
	const struct gather_image *image = &g->images[i->image];
	_cleanup_(strbuf_done) struct strbuf name = STRBUF_INIT, host = STRBUF_INIT;
	char id[BUILD_ID_TEXT];

	text_visible(&name, image->shown);
	(void)fprintf(out, "  %5.1f %%  %s: %s", percent_of(u, i->samples), strbuf_text(&name),
		      unresolved_remedy(i, g));
	if (i->why != ROW_NO_SYMBOLS && i->why != ROW_UNNAMED && image->manifest &&
	    image->manifest->host && *image->manifest->host) {
		text_visible(&host, image->manifest->host);
		(void)fprintf(out, " (it was %s on this machine)", strbuf_text(&host));
	}
	if (image->manifest && image->manifest->version.build_id.size &&
	    !source_image_is(image->manifest))
		(void)fprintf(out, " (build-id %s)",
			      build_id_text(&image->manifest->version.build_id, id));
	(void)fputs("\n", out);
}

/* Prints how much of which language has no names. */
static void print_loops(const struct unresolved *u, FILE *out)
{
	size_t kind;

	for (kind = 0; kind < CODE_KIND_COUNT_; kind++) {
		double percent = percent_of(u, u->loops[kind]);

		if (percent >= loop_percent)
			(void)fprintf(out,
				      "\nInterpreted: %.1f %% of the samples are in %s functions; "
				      "their names need a profile by root, with\ncall chains, of a "
				      "known version (oprofile(7))\n",
				      percent, code_kind_name((enum code_kind)kind));
	}
}

void unresolved_text(const struct unresolved *u, const struct gather *g, FILE *out)
{
	size_t i;

	print_loops(u, out);
	if (percent_of(u, u->samples) < worth_percent)
		return;
	(void)fprintf(out, "\nWithout a symbol: %s%.1f %% of the samples",
		      u->unknown ? "at least " : "", percent_of(u, u->samples));
	if (u->ranges)
		(void)fprintf(out, "; %.1f %% are shown as [file+offset]",
			      percent_of(u, u->ranges));
	(void)fputs("\n", out);
	for (i = 0; i < u->count && i < SHOWN_MAX; i++)
		if (percent_of(u, u->images[i].samples) >= line_percent)
			print_image(u, &u->images[i], g, out);
}
