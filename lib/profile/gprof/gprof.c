/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/gprof/gprof.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "elf/elffile.h"
#include "symbol/symtab.h"
#include "profile/select/file_counts.h"
#include "profile/binary/binary.h"
#include "profile/select/classes.h"
#include "profile/select/gather.h"
#include "profile/select/programs.h"
#include "profile/gprof/gmon.h"
#include "profile/select/samples.h"
#include "sfile/sfile.h"

#include <errno.h>
#include <string.h>

enum { LISTED_MAX = 8 };

struct collect {
	const struct gather *gather;
	uint32_t image;
	struct binary binary;
	const struct symtab *symtab;
	const char *strings, *strings_end; /* the file's string table, ends with NUL */
	uint64_t *sums;			   /* samples by index of a symbol's first piece */
	uint64_t least;			   /* minimum for a symbol to be in the profile */
	struct gmon *out;
	struct gprof_stats *stats;
};

/* --- selecting --- */

/* The only image of the @wanted files, or GATHER_NONE; adds their names to @names. */
static uint32_t only_image(const struct gather *g, bool applications, struct strbuf *names)
{
	_cleanup_free_ bool *seen = xcalloc(g->image_count, sizeof(*seen));
	uint32_t found = GATHER_NONE;
	size_t count = 0, i;

	for (i = 0; i < g->file_count; i++) {
		const struct gather_file *f = &g->files[i];
		const uint32_t image = programs_same(g, f->image);

		if (f->callee != GATHER_NONE || seen[image] || (applications && f->app != f->image))
			continue;
		seen[image] = true;
		found = image;
		if (++count <= LISTED_MAX)
			strbuf_addf(names, "%s%s", count > 1 ? ", " : "", g->images[image].shown);
	}
	if (count > LISTED_MAX)
		strbuf_addf(names, " and %zu more", count - LISTED_MAX);
	return count == 1 ? found : GATHER_NONE;
}

static int check_events(const struct gather *g, struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf list = STRBUF_INIT;
	_cleanup_(classes_done) struct classes classes = { 0 };
	int r = classes_arrange(g, CLASSES_MERGE_ALL, &classes, err);
	size_t i;

	if (r < 0 || classes.count == 1)
		return r;
	for (i = 0; i < classes.count; i++)
		strbuf_addf(&list, "%s%s with count %lld", i ? ", " : "",
			    classes.classes[i].event_text, (long long)classes.classes[i].count);
	return error_set(err, -EINVAL,
			 "gprof takes one event, but the profile has several: %s; choose with "
			 "event:NAME or count:N",
			 strbuf_text(&list));
}

/* The image of the profile: the only one that has samples, or the only application. 0, or -EINVAL
 * with the list of images, or of events if there are several. */
static int select_image(const struct gather *g, uint32_t *ret, struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf all = STRBUF_INIT, applications = STRBUF_INIT;
	uint32_t image = only_image(g, false, &all);

	if (image == GATHER_NONE)
		image = only_image(g, true, &applications);
	if (image == GATHER_NONE)
		return error_set(
			err, -EINVAL,
			"gprof takes one program, but the profile has several: %s; name one",
			applications.length ? strbuf_text(&applications) : strbuf_text(&all));
	*ret = image;
	return check_events(g, err);
}

/* --- collecting --- */

/* Replaces the callees' offsets of the arcs from @first on by those of the code that entered the
 * kernel there. */
static void find_entries(const struct collect *c, struct samples *s, size_t first)
{
	for (; first < s->count; first++) {
		uint64_t *arc = &s->samples[first].offset;
		uint64_t at = symtab_code_at(c->symtab, *arc & UINT32_MAX, CODE_ENTERED);

		*arc = *arc >> 32 << 32 | (uint32_t)at;
	}
}

/* Reads the image's sample files, or its files of arcs inside it. @ret_header: of the first one. */
static void read_files(struct collect *c, bool arcs, struct samples *ret,
		       struct sfile_header *ret_header)
{
	size_t i;

	for (i = 0; i < c->gather->file_count; i++) {
		const struct gather_file *f = &c->gather->files[i];
		_cleanup_(file_counts_closep) struct file_counts *counts = NULL;
		struct error err = ERROR_INIT;
		size_t first = ret->count;

		if (f->image != c->image || f->callee != (arcs ? c->image : GATHER_NONE) || f->end)
			continue;
		if (file_counts_open(f, &counts, &err) < 0) {
			log_warn("%s; file skipped", err.text);
			continue;
		}
		file_counts_at_functions(counts);
		(void)file_counts_read(counts, 0, ret);
		if (arcs && file_counts_callees_enter(f))
			find_entries(c, ret, first);
		if (ret_header->version == 0)
			*ret_header = *file_counts_header(counts);
	}
	if (ret->count)
		samples_sort(ret);
}

/* Returns whether gprof accepts the function. */
static bool is_known(const struct collect *c, const struct symbol *sym)
{
	const char *next = NULL;

	if (sym->name >= c->strings && sym->name < c->strings_end) {
		next = sym->name + strlen(sym->name) + 1;
		if (next >= c->strings_end)
			next = NULL;
	}
	return gmon_name_is_known(sym->name, next);
}

/* The function at an offset, if gprof accepts it. */
static const struct symbol *known_symbol(const struct collect *c, uint64_t offset)
{
	const struct symbol *sym = symtab_find(c->symtab, offset);

	return sym && !(sym->rank & SYMBOL_SYNTHETIC) && is_known(c, sym) ? sym : NULL;
}

/* The linked address of an offset; pieces of a symbol share the address of the first. */
static uint64_t address_at(const struct collect *c, const struct symbol *sym, uint64_t offset)
{
	return sym->address + (offset - symtab_at(c->symtab, sym->whole)->offset);
}

/* Sums the samples of each function, and those that gprof cannot show. */
static void sum_symbols(struct collect *c, const struct samples *s)
{
	size_t i;

	c->sums = xcalloc(symtab_count(c->symtab), sizeof(*c->sums));
	for (i = 0; i < s->count; i++) {
		const struct sample *at = &s->samples[i];
		const struct symbol *sym = symtab_find(c->symtab, at->offset);

		c->stats->samples += at->count;
		if (!sym || sym->rank & SYMBOL_SYNTHETIC) {
			c->stats->outside += at->count;
		} else if (!is_known(c, sym)) {
			c->stats->unknown += at->count;
			(void)snprintf(c->stats->example, sizeof(c->stats->example), "%s",
				       sym->name);
		} else {
			c->sums[sym->whole] += at->count;
		}
	}
}

static void add_samples(struct collect *c, const struct samples *s)
{
	size_t i;

	for (i = 0; i < s->count; i++) {
		const struct sample *at = &s->samples[i];
		const struct symbol *sym = known_symbol(c, at->offset);

		if (!sym)
			continue;
		if (c->sums[sym->whole] < c->least)
			c->stats->below += at->count;
		else
			gmon_add_samples(c->out, address_at(c, sym, at->offset),
					 address_at(c, sym, sym->offset),
					 address_at(c, sym, sym->end), at->count);
	}
}

/* The key of an arc is the caller's offset, which is a return address, and the callee's. */
static void add_arcs(struct collect *c, const struct samples *s)
{
	size_t i;

	for (i = 0; i < s->count; i++) {
		const struct sample *at = &s->samples[i];
		uint64_t from = at->offset >> 32, to = at->offset & UINT32_MAX;
		const struct symbol *caller = from ? known_symbol(c, from - 1) : NULL;
		const struct symbol *callee = known_symbol(c, to);

		c->stats->arcs += at->count;
		if (caller && callee)
			gmon_add_arc(c->out, address_at(c, caller, from - 1), callee->address,
				     at->count);
		else
			c->stats->lost += at->count;
	}
}

/* Finds the string table of .symtab, which the pointers of the symbol table point into. */
static void find_strings(struct collect *c)
{
	struct elf_section section;
	const Elf_Data *data;

	if (!elffile_find_section(c->binary.file, ".strtab", &section))
		return;
	data = elffile_data(&section);
	if (!data || !data->d_size || ((const char *)data->d_buf)[data->d_size - 1])
		return;
	c->strings = data->d_buf;
	c->strings_end = c->strings + data->d_size;
}

/* Opens the program and adopts its word size and byte order. */
static int open_program(struct collect *c, struct binaries *bs, const struct sfile_header *header,
			struct error *err)
{
	const struct gather_image *image = &c->gather->images[c->image];
	const unsigned char *ident;

	binary_open(bs, c->image, header, &c->binary);
	if (c->binary.why == BINARY_CHANGED && !c->binary.file)
		return error_set(err, -ENODATA,
				 "%s is not the file that was profiled; --image-path=DIR finds the "
				 "old one",
				 image->display);
	if (image->id.kind != SNAME_ROOT || !c->binary.file)
		return error_set(err, -ENODATA, "%s: no file with symbols that gprof can read",
				 image->display);
	c->symtab = c->binary.symtab;
	find_strings(c);
	ident = elffile_header(c->binary.file)->e_ident;
	c->out->is_64 = ident[EI_CLASS] == ELFCLASS64;
	c->out->big_endian = ident[EI_DATA] == ELFDATA2MSB;
	return 0;
}

/* Adds the samples and arcs of the program in one archive, with the symbols that it has there. */
static int collect_image(struct collect *c, struct binaries *bs, double threshold,
			 struct error *err)
{
	_cleanup_(samples_done) struct samples flat = SAMPLES_INIT, arcs = SAMPLES_INIT;
	const uint64_t had = c->stats->samples;
	struct sfile_header header = { 0 };
	int r;

	read_files(c, false, &flat, &header);
	if (flat.count == 0)
		return 0;
	r = open_program(c, bs, &header, err);
	if (r == 0) {
		sum_symbols(c, &flat);
		c->least = (uint64_t)((double)(c->stats->samples - had) * threshold / 100);
		add_samples(c, &flat);
		read_files(c, true, &arcs, &header);
		add_arcs(c, &arcs);
	}
	binary_close(&c->binary);
	free(c->sums);
	c->sums = NULL;
	return r;
}

int gprof_collect(const struct gather *g, struct binaries *bs, double threshold, struct gmon *ret,
		  struct gprof_stats *stats, struct error *err)
{
	struct gmon gmon = { 0 };
	struct collect c = { .gather = g, .out = &gmon, .stats = stats };
	uint32_t image = GATHER_NONE;
	int r = select_image(g, &image, err);

	*stats = (struct gprof_stats){ 0 };
	for (c.image = 0; c.image < g->image_count && r == 0; c.image++)
		if (programs_same(g, c.image) == image)
			r = collect_image(&c, bs, threshold, err);
	if (r == 0 && !stats->samples)
		r = error_set(err, -ENODATA, "%s: no samples in it", g->images[image].display);
	if (r < 0)
		gmon_done(&gmon);
	else
		*ret = gmon;
	return r;
}
