/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/annotate/internal/older_source.h"

#include "base/mem.h"
#include "dwarf/kept_lines.h"
#include "profile/binary/sources.h"
#include "symbol/symtab.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --- what was kept --- */

static struct old_line *known_line(const struct older_source *o, unsigned int line)
{
	uintptr_t number = (uintptr_t)map_get(&o->by_line, line);

	return number ? &o->known[number - 1] : NULL;
}

static struct old_line *add_known(struct older_source *o, unsigned int line)
{
	array_grow(&o->known, o->known_count + 1, &o->known_room);
	o->known[o->known_count++] = (struct old_line){ .line = line };
	(void)map_set(&o->by_line, line, (void *)o->known_count);
	return &o->known[o->known_count - 1];
}

/* The function whose source has the code of a row; NULL if it has no samples. */
static const char *function_of(const struct annotate_view *v, const struct kept_lines *kept,
			       const struct kept_line *row)
{
	const struct annotate_symbol *sym;

	if (row->call)
		return kept->calls[row->call - 1].function;
	sym = annotate_symbol_at(v, row->address);
	return sym ? sym->symbol->name : NULL;
}

struct older_source *older_source_new(const struct annotate_view *v, const struct kept_lines *kept,
				      const char *path)
{
	struct older_source *o = xcalloc(1, sizeof(*o));
	size_t i;

	o->built = v->image->header.mtime;
	for (i = 0; i < kept->count; i++) {
		const struct kept_line *row = &kept->list[i];
		const char *function;
		struct old_line *known;

		if (!row->line || strcmp(kept->files[row->file], path) != 0)
			continue;
		known = known_line(o, row->line) ?: add_known(o, row->line);
		known->text = known->text ?: row->text;
		function = known->function ? NULL : function_of(v, kept, row);
		if (function)
			known->function = intern(&o->names, function);
	}
	return o;
}

void older_source_free(struct older_source *o)
{
	if (!o)
		return;
	line_samples_done(&o->samples);
	moved_lines_free(o->by_text);
	map_done(&o->by_line);
	intern_done(&o->names);
	free(o->known);
	free(o);
}

const char *older_source_function(const struct older_source *o, unsigned int line)
{
	const struct old_line *known = known_line(o, line);

	return known ? known->function : NULL;
}

bool older_source_has_text(const struct older_source *o, unsigned int line)
{
	const struct old_line *known = known_line(o, line);

	return known && known->text;
}

/* --- the source that is there --- */

unsigned int older_source_place(const struct older_source *o, unsigned int line)
{
	unsigned int now = o->by_text ? moved_lines_find(o->by_text, line) : line;

	return !now && o->is_same && !older_source_has_text(o, line) ? line : now;
}

static bool has_texts(const struct older_source *o)
{
	size_t i;

	for (i = 0; i < o->known_count; i++)
		if (o->known[i].text)
			return true;
	return false;
}

static bool is_newer(const struct older_source *o, FILE *in)
{
	struct stat st;

	return fstat(fileno(in), &st) == 0 && st.st_mtime > 0 && (uint64_t)st.st_mtime > o->built;
}

static void add_counts(struct map *lines, unsigned int line, uint64_t *counts, size_t class_count)
{
	uint64_t *sums = map_get(lines, line);
	size_t i;

	if (!sums)
		(void)map_set(lines, line, counts);
	for (i = 0; sums && i < class_count; i++)
		sums[i] += counts[i];
}

static void move_lines(struct older_source *o, struct line_samples *to, size_t class_count)
{
	struct map left = MAP_INIT;

	map_for_each (&o->samples.lines, slot) {
		unsigned int line = (unsigned int)slot->key, now = older_source_place(o, line);

		add_counts(now ? &to->lines : &left, now ?: line, slot->value, class_count);
		o->is_unknown |= !now && !older_source_has_text(o, line);
	}
	map_done(&o->samples.lines);
	o->samples.lines = left;
}

/* Moves what is on lines. A call is left only with the samples of its line. */
static void move_heads(struct older_source *o, struct line_samples *to)
{
	struct line_samples *from = &o->samples;
	size_t i, n = 0;

	for (i = 0; i < from->head_count; i++) {
		struct head head = from->heads[i];
		unsigned int now = older_source_place(o, head.line);

		if (now) {
			head.line = now;
			line_samples_add_head(to, &head);
		} else if (!head.is_inlined || map_get(&from->lines, head.line)) {
			from->heads[n++] = head;
		}
	}
	from->head_count = n;
}

void older_source_compare(struct older_source *o, const struct source_text *now)
{
	_cleanup_free_ struct old_line *known = xmemdup(o->known, o->known_count * sizeof(*known));
	_cleanup_(sourcetext_freep) struct sourcetext *text =
		now->in ? sourcetext_open(now->path, now->owner) : NULL;

	if (!text)
		return;
	o->by_text = moved_lines_new(known, o->known_count, text);
	o->is_same = !is_newer(o, now->in) && (moved_lines_stayed(o->by_text) || !has_texts(o));
}

void older_source_settle(struct older_source *o, const struct source_text *now,
			 struct line_samples *to, size_t class_count)
{
	older_source_compare(o, now);
	move_lines(o, to, class_count);
	move_heads(o, to);
}
