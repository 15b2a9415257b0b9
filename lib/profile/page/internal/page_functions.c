/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/page/internal/page_functions.h"

#include "base/json.h"
#include "base/mem.h"
#include "file/path.h"
#include "profile/print/report.h"
#include "profile/rows/chains.h"
#include "profile/rows/code_kind.h"
#include "profile/rows/unresolved.h"
#include "sfile/manifest.h"
#include "symbol/elfcode.h"

#include <stdlib.h>
#include <string.h>

/* Longer names are cut. */
enum { NAME_MAX_BYTES = 4096 };

/* A function that is no row. */
struct page_extra {
	uint32_t image; /* of an application; GATHER_NONE: a mark */
	uint32_t end;	/* of a mark */
};

/* The rows of one kind in one image that are left out, or in all images that are not listed. */
struct page_other {
	uint32_t image; /* GATHER_NONE: these */
	enum page_kind kind;
	size_t functions;
};

static const char *name_of(const struct row *row)
{
	return row->kind == ROW_SYMBOL ? row->symbol->name : "";
}

static int by_name_and_id(const void *a, const void *b, void *data)
{
	const struct row *rows = data;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = strcmp(name_of(&rows[x]), name_of(&rows[y]));

	return order ? order : (x > y) - (x < y);
}

void page_functions_init(struct page_functions *f, const struct report *r, bool by_name)
{
	size_t count = r->container->count;
	uint32_t i;

	*f = (struct page_functions){ .report = r,
				      .order = xcalloc(count + 1, sizeof(*f->order)),
				      .rows = xcalloc(count + 1, sizeof(*f->rows)),
				      .row_count = count,
				      .numbers = xcalloc(count + 1, sizeof(*f->numbers)),
				      .is_program = xcalloc(r->gather->image_count + 1,
							    sizeof(*f->is_program)) };
	for (i = 0; i < count; i++)
		f->order[i] = i;
	if (by_name)
		qsort_r(f->order, count, sizeof(*f->order), by_name_and_id, r->container->rows);
	for (i = 0; i < count; i++) {
		f->rows[i] = f->order[i];
		f->numbers[f->order[i]] = i;
	}
}

void page_functions_done(struct page_functions *f)
{
	free(f->order);
	free(f->rows);
	free(f->others);
	free(f->numbers);
	free(f->is_program);
	free(f->extras);
	map_done(&f->by_app);
	map_done(&f->by_end);
}

void page_functions_note(struct page_functions *f, uint32_t what)
{
	if (what & CHAINS_NODE_APP)
		f->is_program[what & ~CHAINS_NODE_APP] = true;
}

void page_functions_forget(struct page_functions *f)
{
	map_done(&f->by_app);
	map_done(&f->by_end);
	f->count = 0;
}

static uint32_t number_of(struct page_functions *f, struct map *known, uint32_t key,
			  struct page_extra extra)
{
	uintptr_t number = (uintptr_t)map_get(known, key);

	if (!number) {
		array_grow(&f->extras, f->count + 1, &f->room);
		f->extras[f->count++] = extra;
		number = f->count;
		(void)map_set(known, key, (void *)number);
	}
	return (uint32_t)(PAGE_ROWS + page_functions_listed(f) + number - 1);
}

uint32_t page_functions_number(struct page_functions *f, uint32_t what)
{
	uint32_t number = what & ~(CHAINS_NODE_APP | CHAINS_NODE_END);

	if (what & CHAINS_NODE_APP)
		return number_of(f, &f->by_app, number, (struct page_extra){ .image = number });
	if (what & CHAINS_NODE_END)
		return number_of(f, &f->by_end, number,
				 (struct page_extra){ .image = GATHER_NONE, .end = number });
	return PAGE_ROWS + f->numbers[number];
}

uint32_t page_functions_find(const struct page_functions *f, uint32_t what)
{
	uint32_t number = what & ~(CHAINS_NODE_APP | CHAINS_NODE_END);
	const struct map *known = what & CHAINS_NODE_APP ? &f->by_app : &f->by_end;

	if (number == what)
		return PAGE_ROWS + f->numbers[number];
	return (uint32_t)(PAGE_ROWS + page_functions_listed(f) + (uintptr_t)map_get(known, number) -
			  1);
}

const struct row *page_functions_row(const struct page_functions *f, size_t i)
{
	return &f->report->container->rows[f->rows[i]];
}

uint32_t page_functions_rest(const struct page_functions *f)
{
	return (uint32_t)(PAGE_ROWS + page_functions_listed(f) + f->count);
}

size_t page_functions_listed(const struct page_functions *f)
{
	return f->row_count + f->other_count;
}

/* --- kinds --- */

static bool has_symbol(const struct row *row)
{
	return row->kind == ROW_SYMBOL && !elfcode_is_name(row->symbol->name);
}

static bool is_kernel(const struct report *r, uint32_t image)
{
	const struct gather_image *i = &r->gather->images[image];

	return i->id.kind == SNAME_KERN || !strcmp(i->display, "/proc/kallsyms") ||
	       (r->chains && r->chains->is_kernel && r->chains->is_kernel[image]);
}

static enum page_kind kind_of(const struct page_functions *f, const struct row *row)
{
	static const enum page_kind kinds[CODE_KIND_COUNT_] = {
		[CODE_NATIVE] = PAGE_PROGRAM, [CODE_KERNEL] = PAGE_KERNEL, [CODE_GO] = PAGE_MANAGED,
		[CODE_PYTHON] = PAGE_SCRIPT,  [CODE_JAVA] = PAGE_MANAGED,  [CODE_JS] = PAGE_JIT,
		[CODE_PHP] = PAGE_SCRIPT,     [CODE_RUBY] = PAGE_SCRIPT,   [CODE_JIT] = PAGE_JIT,
	};
	enum page_kind kind = kinds[code_kind_of(f->report->gather, row)];

	if (row->kind == ROW_RARE)
		return PAGE_RARE;
	if (!has_symbol(row))
		return PAGE_NO_SYMBOL;
	if (is_kernel(f->report, row->image))
		return PAGE_KERNEL;
	return kind == PAGE_PROGRAM && !f->is_program[row->image] ? PAGE_LIBRARY : kind;
}

/* --- what is left out --- */

/* Finds the images of the rows that are kept, and of the applications; caller frees. */
static bool *listed_images(const struct page_functions *f)
{
	bool *listed = xcalloc(f->report->gather->image_count + 1, sizeof(*listed));
	size_t i;

	for (i = 0; i < f->row_count; i++)
		listed[page_functions_row(f, i)->image] = true;
	for (i = 0; i < f->count; i++)
		if (f->extras[i].image != GATHER_NONE)
			listed[f->extras[i].image] = true;
	return listed;
}

/* Counts a row for the others of its kind in an image; returns their place. */
static uint32_t add_other(struct page_functions *f, struct map *known, const struct row *row,
			  uint32_t image)
{
	enum page_kind kind = kind_of(f, row);
	uint64_t key = (uint64_t)kind << 32 | image;
	uintptr_t number = (uintptr_t)map_get(known, key);

	if (!number) {
		array_grow(&f->others, f->other_count + 1, &f->other_room);
		f->others[f->other_count++] = (struct page_other){ image, kind, 0 };
		number = f->other_count;
		(void)map_set(known, key, (void *)number);
	}
	f->others[number - 1].functions++;
	return (uint32_t)number - 1;
}

void page_functions_leave_out(struct page_functions *f, const bool *kept)
{
	const struct row *rows = f->report->container->rows;
	_cleanup_free_ bool *listed = NULL;
	struct map known = { 0 };
	size_t count = f->report->container->count, i;

	f->row_count = f->other_count = 0;
	for (i = 0; i < count; i++) {
		if (!kept[f->order[i]])
			continue;
		f->numbers[f->order[i]] = (uint32_t)f->row_count;
		f->rows[f->row_count++] = f->order[i];
	}
	listed = listed_images(f);
	for (i = 0; i < count; i++) {
		const struct row *row = &rows[f->order[i]];

		if (!kept[f->order[i]])
			f->numbers[f->order[i]] =
				(uint32_t)f->row_count +
				add_other(f, &known, row,
					  listed[row->image] ? row->image : GATHER_NONE);
	}
	map_done(&known);
}

void page_functions_write_others(const struct page_functions *f, uint64_t below, struct json *j)
{
	if (!f->other_count)
		return;
	json_open(j, "others", '{');
	json_u64(j, "first", PAGE_ROWS + f->row_count);
	json_u64(j, "count", f->other_count);
	json_u64(j, "functions", f->report->container->count - f->row_count);
	json_u64(j, "below", below);
	json_close(j, '}');
}

/* --- writing --- */

static void write_cut(struct json *j, const char *text)
{
	_cleanup_free_ char *cut = xstrndup(text, NAME_MAX_BYTES);

	json_string(j, NULL, cut);
}

/* The short name of an image: "[kernel]", or the last part of its path. */
static const char *image_label(const struct gather *g, uint32_t image)
{
	const struct gather_image *i = &g->images[image];

	return i->kernel ?: path_base(gather_image_name(g, image, true));
}

/* Writes a name, and the linker's, if it is another one: both have much in common, so they are next
 * to each other to be compressed. */
static void write_name(struct json *j, const char *name, const char *link)
{
	write_cut(j, name);
	if (link && strcmp(link, name) != 0)
		write_cut(j, link);
	else
		json_string(j, NULL, NULL);
}

static void write_other_names(const struct page_functions *f, struct json *j)
{
	size_t i;

	for (i = 0; i < f->other_count; i++) {
		_cleanup_free_ char *name =
			xasprintf("%zu other functions", f->others[i].functions);

		write_name(j, name, NULL);
	}
}

static void write_names(const struct page_functions *f, struct json *j)
{
	const struct report *r = f->report;
	size_t i;

	json_open(j, "names", '[');
	write_name(j, "all", NULL);
	for (i = 0; i < f->row_count; i++) {
		const struct row *row = page_functions_row(f, i);

		write_name(j, row->text, row->kind == ROW_SYMBOL ? row->symbol->name : NULL);
	}
	write_other_names(f, j);
	for (i = 0; i < f->count; i++)
		write_name(j,
			   f->extras[i].image == GATHER_NONE
				   ? r->chains->ends[f->extras[i].end].mark
				   : image_label(r->gather, f->extras[i].image),
			   NULL);
	write_name(j, "(each too small to show)", NULL);
	json_close(j, ']');
}

static void write_kinds(const struct page_functions *f, struct json *j)
{
	size_t i;

	json_open(j, "kind", '[');
	json_u64(j, NULL, PAGE_APPLICATION);
	for (i = 0; i < f->row_count; i++)
		json_u64(j, NULL, kind_of(f, page_functions_row(f, i)));
	for (i = 0; i < f->other_count; i++)
		json_u64(j, NULL, f->others[i].kind);
	for (i = 0; i < f->count; i++)
		json_u64(j, NULL, f->extras[i].image == GATHER_NONE ? PAGE_CUT : PAGE_APPLICATION);
	json_u64(j, NULL, PAGE_REST);
	json_close(j, ']');
}

/* The marks of folded stacks. */
static void write_marks(const struct page_functions *f, struct json *j)
{
	const struct report *r = f->report;
	size_t i;

	json_open(j, "mark", '[');
	json_string(j, NULL, NULL);
	for (i = 0; i < f->row_count; i++) {
		const struct row *row = page_functions_row(f, i);
		bool in_kernel = r->chains && r->chains->is_kernel
					 ? r->chains->is_kernel[row->image]
					 : is_kernel(r, row->image);
		const char *mark = code_kind_mark(r->gather, row, in_kernel);

		json_string(j, NULL, *mark ? mark : NULL);
	}
	json_close(j, ']');
}

static uint32_t number_in(const uint32_t *numbers, uint32_t image)
{
	return image == GATHER_NONE ? 0 : numbers[image];
}

/* Writes a number of ->images, from 1; 0 for functions in none, or in several. */
static void write_image_numbers(const struct page_functions *f, const uint32_t *numbers,
				struct json *j)
{
	size_t i;

	json_open(j, "image", '[');
	json_u64(j, NULL, 0);
	for (i = 0; i < f->row_count; i++)
		json_u64(j, NULL, numbers[page_functions_row(f, i)->image]);
	for (i = 0; i < f->other_count; i++)
		json_u64(j, NULL, number_in(numbers, f->others[i].image));
	for (i = 0; i < f->count; i++)
		json_u64(j, NULL, number_in(numbers, f->extras[i].image));
	json_u64(j, NULL, 0);
	json_close(j, ']');
}

static void write_image(const struct report *r, uint32_t image, struct json *j)
{
	const struct gather_image *i = &r->gather->images[image];
	char id[BUILD_ID_TEXT] = "";

	if (i->manifest)
		(void)build_id_text(&i->manifest->version.build_id, id);
	json_open(j, NULL, '{');
	json_bytes(j, "path", gather_image_name(r->gather, image, true));
	if (i->kernel)
		json_string(j, "name", i->kernel);
	if (*id)
		json_string(j, "build_id", id);
	if (i->manifest && i->manifest->file.device)
		json_u64(j, "device", i->manifest->file.device);
	json_close(j, '}');
}

/* Numbers the images that functions are in, from 1, and writes them. Caller frees. */
static uint32_t *write_images(const struct page_functions *f, struct json *j)
{
	const struct report *r = f->report;
	_cleanup_free_ bool *listed = listed_images(f);
	uint32_t *numbers = xcalloc(r->gather->image_count + 1, sizeof(*numbers));
	uint32_t i, n = 0;

	json_open(j, "images", '[');
	json_string(j, NULL, NULL);
	for (i = 0; i < r->gather->image_count; i++) {
		if (!listed[i])
			continue;
		write_image(r, i, j);
		numbers[i] = ++n;
	}
	json_close(j, ']');
	return numbers;
}

void page_functions_write(const struct page_functions *f, struct json *j)
{
	_cleanup_free_ uint32_t *numbers = write_images(f, j);

	json_line(j);
	json_open(j, "functions", '{');
	write_names(f, j);
	json_line(j);
	write_kinds(f, j);
	json_line(j);
	write_image_numbers(f, numbers, j);
	json_line(j);
	write_marks(f, j);
	json_close(j, '}');
}
