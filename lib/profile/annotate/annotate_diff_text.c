/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/annotate/annotate_diff.h"

#include "base/mem.h"
#include "base/sequence.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "dwarf/lines.h"
#include "elf/elffile.h"
#include "profile/annotate/annotate_text.h"
#include "profile/annotate/internal/annotate_changes.h"
#include "profile/annotate/internal/annotate_mix.h"
#include "profile/binary/sources.h"
#include "symbol/short_name.h"
#include "symbol/symtab.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { COUNT_WIDTH = 6, SHARE_WIDTH = 7, POINTS_WIDTH = 9, DIFFERENCE_WIDTH = 11 };
/* Of what follows the count. */
enum { NUMBERS_WIDTH = 2 * (1 + SHARE_WIDTH) + 1 + POINTS_WIDTH + 1 + DIFFERENCE_WIDTH };

struct printer {
	struct annotate_diff *d;
	int count_width;
	struct strbuf text;
	bool is_terminal;
	const struct annotate_view *view; /* whose source lines ->mix reads, or NULL */
	struct lines *lines;
	struct annotate_mix *mix;
	char *blank; /* the prefix of a line without samples */
};

static void put(struct printer *p)
{
	(void)fwrite(strbuf_text(&p->text), 1, p->text.length, p->d->config.out);
	strbuf_clear(&p->text);
}

static void write_count(const struct printer *p, size_t class, uint64_t count,
			char text[REPORT_COUNT_MAX])
{
	report_count(&p->d->report, class, count, text);
}

/* Adds samples, share, share before, points, and the difference with its mark. */
static void add_class(struct printer *p, struct annotate_change c, size_t class)
{
	const struct report *r = &p->d->report;
	uint64_t count = container_counts(c.container, c.row)[class];
	_cleanup_(strbuf_done) struct strbuf points = STRBUF_INIT, difference = STRBUF_INIT;
	char share[16], before[16] = "?", samples[REPORT_COUNT_MAX];

	write_count(p, class, count, samples);
	report_percent(p->d->view.decimals, container_percent(c.container, count, class), share);
	if (!c.is_loose)
		report_percent(p->d->view.decimals, report_share_before(c.container, c.row, class),
			       before);
	strbuf_addf(&p->text, "%*s %s %*s", p->count_width, samples, share, SHARE_WIDTH, before);
	if (c.is_left)
		return;
	if (c.is_loose) {
		strbuf_adds(&points, "?");
		strbuf_adds(&difference, "?");
	} else {
		report_add_points(&points, r, report_points(c.container, c.row, class));
		report_add_difference(&difference, r, c.container, c.row, class);
	}
	strbuf_addf(&p->text, " %*s %-*s", POINTS_WIDTH, strbuf_text(&points), DIFFERENCE_WIDTH,
		    strbuf_text(&difference));
}

static void add_numbers(struct printer *p, struct annotate_change c)
{
	size_t i;

	for (i = 0; i < c.container->class_count; i++) {
		strbuf_adds(&p->text, i ? "  " : "");
		add_class(p, c, i);
	}
}

/* The colour of a line, by its greatest share. */
static const char *colour_of(struct annotate_change c)
{
	const uint64_t *counts = container_counts(c.container, c.row);
	double most = 0;
	size_t i;

	for (i = 0; i < c.container->class_count; i++)
		most = MAX(most, container_percent(c.container, counts[i], i));
	return report_colour(most);
}

/* Adds the columns before a line; @sign says which profile's version of it this is. */
static void add_prefix(struct printer *p, struct annotate_change c, char sign)
{
	const size_t n = p->d->pair.rows.sides[1].class_count;
	const int width = p->count_width + NUMBERS_WIDTH;
	const char *colour = c.row && p->d->sides[1].annotate->config->colour ? colour_of(c) : NULL;

	strbuf_adds(&p->text, colour ?: "");
	if (c.row)
		add_numbers(p, c);
	else
		strbuf_addf(&p->text, "%*s", (int)n * width + 2 * (int)(n - 1), "");
	strbuf_adds(&p->text, colour ? report_colour_end : "");
	strbuf_addf(&p->text, "%c:", sign);
}

/* Adds a function's name and its numbers as a comment. */
static void add_total(struct printer *p, const char *name, struct annotate_change c)
{
	enum { LEAST = 24, USED = 32 };
	const unsigned int width = p->d->sides[1].annotate->config->width;
	const size_t numbers = c.container->class_count * (size_t)(p->count_width + NUMBERS_WIDTH);
	const unsigned int used = USED + (unsigned int)numbers;
	size_t from;

	strbuf_adds(&p->text, " /* ");
	from = p->text.length;
	text_visible(&p->text, name);
	if (width)
		short_name(&p->text, from, MAX(width, used + LEAST) - used);
	strbuf_adds(&p->text, " total: ");
	add_numbers(p, c);
	strbuf_trim(&p->text);
	strbuf_adds(&p->text, " */");
}

/* --- sources --- */

/* A pair of files being printed. */
struct printing {
	uint32_t files[2];
	const struct annotate_file *first, *second; /* ->first may be NULL */
	const struct sourcetext *text;		    /* of the second, else of the first */
	size_t lines;				    /* of it */
	size_t next_gone; /* of the first's text: what precedes it was printed or is the same */
	const uint32_t *inverse;
};

static void add_text(struct printer *p, const struct sourcetext *text, size_t line)
{
	const char *at;
	size_t size;

	if (!text || !sourcetext_line(text, line, &at, &size))
		return;
	if (p->is_terminal)
		text_visible_line(&p->text, at, size);
	else
		strbuf_add(&p->text, at, size);
}

static void add_heads(struct printer *p, const struct printing *f, unsigned int line)
{
	const struct annotate_places *s = &p->d->places;
	size_t i;

	for (i = 0; i < s->head_count; i++) {
		const struct annotate_head *head = &s->heads[i];
		const struct row *row;

		if (head->file != f->files[1] || head->line != line)
			continue;
		row = annotate_rows_at(&p->d->pair.rows, 1, head->function);
		if (row)
			add_total(p,
				  annotate_pair_symbol(&p->d->pair, 1,
						       &p->d->pair.functions[1][head->function])
					  ->text,
				  annotate_change_of_function(p->d, head->function, row));
	}
}

/* Prints the lines of the first's text up to @end that the second does not have. */
static void print_gone(struct printer *p, struct printing *f, size_t end)
{
	for (; f->next_gone < end; f->next_gone++) {
		const struct annotate_line *line = annotate_files_at(
			&p->d->places, 0, f->files[0], (unsigned int)f->next_gone + 1);

		if (f->first->matches[f->next_gone] != SEQUENCE_NONE)
			continue;
		add_prefix(p, annotate_change_of_line(p->d, 0, line), '-');
		add_text(p, f->first->text, f->next_gone + 1);
		strbuf_adds(&p->text, "\n");
		put(p);
	}
}

static void print_line(struct printer *p, struct printing *f, unsigned int number)
{
	const struct annotate_line *line = annotate_files_at(&p->d->places, 1, f->files[1], number);
	bool is_new = f->inverse && number <= f->lines && f->inverse[number - 1] == ANNOTATE_NONE;

	if (f->inverse && number <= f->lines)
		print_gone(p, f,
			   annotate_changes_before(f->inverse, number - 1, f->lines,
						   f->first->line_count));
	add_prefix(p, annotate_change_of_line(p->d, 1, line), is_new ? '+' : ' ');
	if (number <= f->lines)
		add_text(p, f->text, number);
	else
		strbuf_addf(&p->text, "(line %u%s)", number,
			    f->text ? ": beyond the end of the file" : "");
	add_heads(p, f, number);
	strbuf_adds(&p->text, "\n");
	put(p);
}

static int compare_numbers(const void *pa, const void *pb)
{
	unsigned int a = *(const unsigned int *)pa, b = *(const unsigned int *)pb;

	return (a > b) - (a < b);
}

/* Prints the lines with samples that are after the text, or, without one, all. */
static void print_unread(struct printer *p, struct printing *f)
{
	const struct annotate_places *s = &p->d->places;
	_cleanup_free_ unsigned int *numbers = xcalloc(s->line_count[1] + 1, sizeof(*numbers));
	size_t i, n = 0;

	for (i = 0; i < s->line_count[1]; i++) {
		const struct annotate_line *line = &s->lines[1][i];

		if (line->file == f->files[1] && line->line > f->lines &&
		    annotate_change_of_line(p->d, 1, line).row)
			numbers[n++] = line->line;
	}
	if (n)
		qsort(numbers, n, sizeof(*numbers), compare_numbers);
	for (i = 0; i < n; i++)
		print_line(p, f, numbers[i]);
}

/* How the lines of two builds are matched, for the heading of a file. */
static const char *note_of(const struct annotate_diff *d, const struct annotate_file *second)
{
	const char *how = annotate_changes_how(d, second);

	if (!strcmp(how, "text"))
		return "Two builds and two versions of the source: lines are matched by their "
		       "text.\n-: only the first has this line; +: only the second\n\n";
	if (!strcmp(how, "code"))
		return "Two builds, but only one version of the source is here: lines are matched "
		       "by\ntheir code, and have the text and the numbers of that version.\n\n";
	if (!strcmp(how, "kept"))
		return "A build is gone: lines are matched by what was kept of their texts.\n\n";
	return "";
}

/* Whether there are lines whose samples of the first profile are not known. */
static bool has_loose(const struct annotate_diff *d, const struct annotate_file *second)
{
	const struct annotate_places *s = &d->places;
	size_t i;

	for (i = 0; i < s->line_count[1]; i++)
		if (s->lines[1][i].is_loose && &s->files[1][s->lines[1][i].file] == second)
			return true;
	return second->is_loose;
}

static void print_file_heading(struct printer *p, const struct annotate_file *second)
{
	struct strbuf all = p->text, text;

	p->text = STRBUF_INIT;
	strbuf_addf(&p->text, "Total %s for file : \"%s\"\n\n%s",
		    annotate_unit(p->d->sides[1].annotate), second->path, note_of(p->d, second));
	if (has_loose(p->d, second))
		strbuf_adds(&p->text, "In place of a number, ?: not known of the first build\n\n");
	add_numbers(p, annotate_change_of_file(p->d, second));
	while (p->text.length && p->text.text[p->text.length - 1] == ' ')
		p->text.text[--p->text.length] = '\0';
	text = p->text;
	p->text = all;
	annotate_comment(strbuf_text(&text), &p->text);
	strbuf_done(&text);
	strbuf_adds(&p->text, "\n\n");
	put(p);
}

static void print_file(struct printer *p, uint32_t file)
{
	const struct annotate_places *s = &p->d->places;
	const struct annotate_file *second = &s->files[1][file];
	struct printing f = { .files = { second->partner, file }, .second = second };
	_cleanup_free_ uint32_t *inverse = NULL;
	unsigned int i;

	f.first = second->partner == ANNOTATE_NONE ? NULL : &s->files[0][second->partner];
	f.text = second->text ?: f.first ? f.first->text : NULL;
	f.lines = second->text ? second->line_count : f.text ? f.first->line_count : 0;
	if (f.first && f.first->matches)
		f.inverse = inverse =
			annotate_changes_invert(f.first->matches, f.first->line_count, f.lines);
	print_file_heading(p, second);
	for (i = 1; i <= f.lines; i++)
		print_line(p, &f, i);
	if (f.inverse)
		print_gone(p, &f, f.first->line_count);
	print_unread(p, &f);
}

/* --- assembly --- */

static const struct annotate_view *view_of(const struct printer *p,
					   const struct annotate_listing *f, unsigned int side)
{
	const struct annotate_pair *pair = &p->d->pair;

	return &pair->views[side][pair->functions[side][f->functions[side]].view];
}

static void stop_mixing(struct printer *p)
{
	annotate_mix_free(p->mix);
	lines_free(p->lines);
	p->mix = NULL;
	p->lines = NULL;
	p->view = NULL;
}

/* Begins a function's source lines, if they are to be printed above its code. */
static void start_mixing(struct printer *p, const struct annotate_view *v, unsigned int side)
{
	if (!p->d->config.source)
		return;
	if (v != p->view) {
		stop_mixing(p);
		p->view = v;
		p->lines = lines_new(v->binary.file, v->binary.debug);
		p->mix = annotate_mix_new(&(struct annotate_mix_config){
			.lines = p->lines,
			.sources = p->d->sides[side].sources,
			.names = &p->d->sides[side].annotate->config->names,
			.owner = elffile_owner(v->binary.file),
			.built = side ? binary_built(&v->binary, &v->image->header) : 0,
			.is_terminal = p->is_terminal });
	}
	annotate_mix_start(p->mix);
}

static void print_instruction(struct printer *p, const struct annotate_listing *f,
			      unsigned int side, size_t i, const uint32_t *inverse, char sign)
{
	const struct annotate_instruction *insn = &f->codes[side].list[i];
	unsigned int k;

	if (p->mix && p->view == view_of(p, f, side))
		annotate_mix_at(p->mix, insn->address, p->blank, &p->text);
	add_prefix(p, annotate_change_of_code(p->d, f, side, i, inverse), sign);
	strbuf_addf(&p->text, "%8" PRIx64 ":\t", insn->address);
	for (k = 0; p->d->config.show_bytes && k < insn->size; k++)
		strbuf_addf(&p->text, "%02x ", insn->bytes[k]);
	strbuf_addf(&p->text, "%s%s\n", p->d->config.show_bytes ? "\t" : "", insn->text);
	put(p);
}

/* Prints the code of a function: that of the second build, and where they were, what only the first
 * has. */
static void print_code(struct printer *p, const struct annotate_listing *f)
{
	const struct annotate_code *first = &f->codes[0], *second = &f->codes[1];
	bool is_other = f->partners && first->count;
	_cleanup_free_ uint32_t *inverse =
		annotate_changes_invert(f->partners, first->count ?: second->count, second->count);
	size_t i, gone = 0;

	for (i = 0; i < second->count; i++) {
		bool is_new = is_other && inverse[i] == ANNOTATE_NONE;

		size_t before =
			is_other ? annotate_changes_before(inverse, i, second->count, first->count)
				 : 0;

		for (; gone < before; gone++)
			print_instruction(p, f, 0, gone, NULL, '-');
		gone += is_other && !is_new;
		print_instruction(p, f, 1, i, inverse, is_new ? '+' : ' ');
	}
	for (; gone < first->count; gone++)
		print_instruction(p, f, 0, gone, NULL, second->count ? '-' : ' ');
}

static void print_listing(struct printer *p, const struct annotate_listing *f, uint32_t *last)
{
	const struct annotate_pair *pair = &p->d->pair;
	unsigned int side = f->functions[1] != ANNOTATE_NONE;
	const struct annotate_function *function = &pair->functions[side][f->functions[side]];
	const struct annotate_symbol *sym = annotate_pair_symbol(pair, side, function);
	const struct annotate_view *v = view_of(p, f, side);

	if (f->row->image != *last) {
		strbuf_addf(&p->text, "%s\n%s", p->blank, p->blank);
		text_visible(&p->text, annotate_code_file(p->d->sides[side].annotate, v));
		strbuf_addf(&p->text, ":     file format elf%u\n",
			    elffile_header(v->binary.file)->e_ident[EI_CLASS] == ELFCLASS64 ? 64
											    : 32);
	}
	*last = f->row->image;
	strbuf_addf(&p->text, "%s\n%s%016" PRIx64 " <", p->blank, p->blank, sym->symbol->address);
	text_visible(&p->text, sym->symbol->name);
	strbuf_adds(&p->text, ">:");
	add_total(p, sym->text, annotate_change_of_function(p->d, f->functions[1], f->row));
	if (f->is_loose)
		strbuf_adds(&p->text, " /* no code of the first build: not comparable */");
	strbuf_adds(&p->text, "\n");
	put(p);
	start_mixing(p, v, side);
	print_code(p, f);
}

/* --- all --- */

static void print_rest(struct printer *p)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	struct annotate_left *left = &p->d->left[ANNOTATE_LEFT_FUNCTIONS];
	const struct container *c = &left->rows.sides[1];
	size_t i;

	annotate_changes_take_rest(p->d, ANNOTATE_LEFT_FUNCTIONS);
	if (c->count == 0)
		return;
	strbuf_adds(&p->text, "Samples that are not shown above:\n\n");
	for (i = 0; i < c->count; i++) {
		add_numbers(p, annotate_change_of_left(left, i));
		if (left->list[i].image != ANNOTATE_NONE)
			strbuf_addf(&p->text, " %s:",
				    gather_image_name(p->d->sides[1].gather, left->list[i].image,
						      true));
		strbuf_addf(&p->text, " %s\n", left->list[i].why);
	}
	annotate_comment(strbuf_text(&p->text), &text);
	strbuf_clear(&p->text);
	strbuf_adds(&p->text, strbuf_text(&text));
	put(p);
}

static int count_width(const struct annotate_diff *d)
{
	const struct container *c = &d->pair.rows.sides[1];
	char text[REPORT_COUNT_MAX];
	int width = COUNT_WIDTH;
	size_t i;

	for (i = 0; i < c->class_count; i++) {
		report_count(&d->report, i, c->totals[i], text);
		width = MAX(width, (int)strlen(text));
	}
	return width;
}

static void print_sources(struct printer *p)
{
	_cleanup_free_ struct annotate_shown *files = NULL;
	size_t i, n;

	annotate_places_find(&p->d->places, &p->d->pair);
	files = annotate_changes_files(p->d, &n);
	for (i = 0; i < n; i++)
		print_file(p, files[i].file);
}

static void print_assembly(struct printer *p)
{
	uint32_t last = ANNOTATE_NONE;
	size_t i;

	annotate_listings_find(&p->d->listings, &p->d->pair, p->d->config.options);
	add_prefix(p, (struct annotate_change){ 0 }, ' ');
	p->blank = strbuf_take(&p->text);
	for (i = 0; i < p->d->listings.count; i++)
		if (!p->d->listings.list[i].why)
			print_listing(p, &p->d->listings.list[i], &last);
	stop_mixing(p);
	free(p->blank);
}

void annotate_diff_text(struct annotate_diff *d)
{
	struct printer p = { .d = d,
			     .count_width = count_width(d),
			     .is_terminal = isatty(fileno(d->config.out)) };

	if (d->config.assembly)
		print_assembly(&p);
	else
		print_sources(&p);
	print_rest(&p);
	strbuf_done(&p.text);
}
