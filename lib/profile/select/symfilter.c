/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/select/symfilter.h"

#include "base/mem.h"
#include "file/path.h"
#include "sfile/sname.h"
#include "symbol/demangle.h"
#include "profile/select/patterns.h"

#include <string.h>

/* A symbol being matched with the lists; demangled when first needed. */
struct candidate {
	const char *name; /* as linked, or NULL */
	char *text;	  /* demangled */
	bool is_tried;	  /* to demangle it */
	const char *path; /* of its image */
};

static struct symbol_entry split_entry(const char *text)
{
	struct symbol_entry e = { .whole = xstrdup(text) };
	const char *open = strrchr(text, '[');
	size_t length = strlen(text);

	if (open && open > text && text[length - 1] == ']' && open + 2 < text + length) {
		e.name = xasprintf("%.*s", (int)(open - text), text);
		e.image = xasprintf("%.*s", (int)(text + length - open - 2), open + 1);
		e.bracketed = xstrdup(open);
		e.is_kernel = !strcmp(open, SNAME_KERNEL_WORD);
	}
	return e;
}

void symbol_list_add(struct symbol_list *l, const char *text)
{
	_cleanup_(patterns_done) struct patterns parts = { 0 };
	size_t i;

	patterns_add(&parts, text);
	for (i = 0; i < parts.count; i++) {
		array_grow(&l->entries, l->count + 1, &l->room);
		l->entries[l->count++] = split_entry(parts.list[i]);
	}
}

static const char *text_of(struct candidate *c)
{
	if (!c->is_tried)
		c->text = demangle(c->name);
	c->is_tried = true;
	return c->text;
}

static bool name_matches(struct candidate *c, const char *pattern)
{
	return pattern_match(pattern, c->name) ||
	       (text_of(c) && pattern_match(pattern, text_of(c)));
}

static bool entry_matches(struct candidate *c, const struct symbol_entry *e)
{
	bool in_image =
		(e->image &&
		 (pattern_match_path(e->image, c->path) || !strcmp(e->bracketed, c->path))) ||
		(e->is_kernel && sname_image_is_kernel(&(struct sname_image){ .kind = SNAME_ROOT,
									      .name = c->path }));

	if (!c->name)
		return in_image && !strcmp(e->name, "*");
	if (!e->image)
		return name_matches(c, e->whole);
	/* The whole is not tried as a pattern, which would take the brackets for a set of
	 * characters. */
	return !strcmp(c->name, e->whole) || (text_of(c) && !strcmp(text_of(c), e->whole)) ||
	       (in_image && name_matches(c, e->name));
}

static bool list_matches(struct candidate *c, const struct symbol_list *l)
{
	size_t i;

	for (i = 0; i < l->count; i++)
		if (entry_matches(c, &l->entries[i]))
			return true;
	return false;
}

bool symbol_list_has(const struct symbol_list *l, const char *name, const char *path)
{
	struct candidate c = { .name = name, .path = path };
	bool has = list_matches(&c, l);

	free(c.text);
	return has;
}

bool symbol_filter_is_set(const struct symbol_filter *f)
{
	return f->include.count || f->exclude.count;
}

bool symbol_filter_wants(const struct symbol_filter *f, const char *name, const char *path)
{
	struct candidate c = { .name = name, .path = path };
	bool wanted = (!f->include.count || list_matches(&c, &f->include)) &&
		      !list_matches(&c, &f->exclude);

	free(c.text);
	return wanted;
}

void symbol_list_done(struct symbol_list *l)
{
	size_t i;

	for (i = 0; i < l->count; i++) {
		free(l->entries[i].whole);
		free(l->entries[i].name);
		free(l->entries[i].image);
		free(l->entries[i].bracketed);
	}
	free(l->entries);
	*l = (struct symbol_list){ 0 };
}

void symbol_filter_done(struct symbol_filter *f)
{
	symbol_list_done(&f->include);
	symbol_list_done(&f->exclude);
}
