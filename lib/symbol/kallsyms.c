/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/kallsyms.h"

#include "base/mem.h"
#include "base/parse.h"
#include "file/path.h"
#include "symbol/internal/kallsyms_file.h"
#include "symbol/internal/kallsyms_lines.h"

#include <errno.h>
#include <string.h>

/* Symbols outside kernel and modules have no size: an address belongs to the symbol before it if it
 * is no further away than this. */
enum { LOOSE_REACH = 64 << 10 };
/* Modules start at a page. */
static const uint64_t page_mask = 4095;

/* Takes the next word, up to a blank or tab; "" at the end. */
static char *take_word(char **at)
{
	char *word = *at + strspn(*at, " \t");
	size_t length = strcspn(word, " \t\n");

	*at = word + length + (word[length] != '\0');
	word[length] = '\0';
	return word;
}

int kallsyms_line_parse(char *line, struct kallsyms_line *ret)
{
	struct kallsyms_line l = { 0 };
	const char *address = take_word(&line), *type = take_word(&line);
	char *module;
	size_t length;

	l.name = take_word(&line);
	module = take_word(&line);
	length = strlen(module);
	if (parse_hex(&address, &l.address) < 0 || *address || !*type || type[1] || !*l.name)
		return -EBADMSG;
	if (length && (module[0] != '[' || module[length - 1] != ']'))
		return -EBADMSG;
	if (length) {
		module[length - 1] = '\0';
		module++;
	}
	l.type = *type;
	l.module = module;
	*ret = l;
	return 0;
}

int modules_line_parse(char *line, struct modules_line *ret)
{
	struct modules_line l = { .name = take_word(&line) };
	const char *size = take_word(&line), *address;
	int skipped;

	for (skipped = 0; skipped < 3; skipped++) /* users, their names, state */
		(void)take_word(&line);
	address = take_word(&line);
	if (!*l.name || parse_u64(size, 0, UINT64_MAX, &l.size) < 0 ||
	    parse_u64(address, 0, UINT64_MAX, &l.address) < 0)
		return -EBADMSG;
	*ret = l;
	return 0;
}

static bool is_text(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

int kallsyms_each_text(const char *root, void (*each)(const struct kallsyms_line *line, void *data),
		       void *data, struct error *err)
{
	_cleanup_fclose_ FILE *f = kallsyms_file_open(root);
	_cleanup_free_ char *line = NULL;
	struct kallsyms_line l;
	size_t room = 0;

	if (!f)
		return error_errno(err, -errno, "%s/proc/kallsyms", root ? root : "");
	while (xgetline(&line, &room, f) > 0)
		if (kallsyms_line_parse(line, &l) == 0 && is_text(l.type))
			each(&l, data);
	return ferror(f) ? error_errno(err, -errno, "%s/proc/kallsyms", root ? root : "") : 0;
}

/* A range of the kernel's text, between two symbols. */
struct bounds {
	const char *first, *last; /* their names */
	uint64_t start, end;
};

static void note_bounds(const struct kallsyms_line *line, void *data)
{
	struct bounds *b = data;

	if (!strcmp(line->name, b->first))
		b->start = line->address;
	else if (!strcmp(line->name, b->last))
		b->end = line->address;
}

void kallsyms_between(const char *root, const char *first, const char *last, uint64_t *ret_start,
		      uint64_t *ret_end)
{
	struct bounds b = { first, last, 0, 0 };

	(void)kallsyms_each_text(root, note_bounds, &b, NULL);
	*ret_start = b.end ? b.start : 0;
	*ret_end = b.start ? b.end : 0;
}

/* State while the two files are read. */
struct survey {
	struct kallsyms_ranges r;
	size_t room;
	uint64_t text, stext, etext;	 /* of the kernel's own symbols; 0: not seen */
	uint64_t last_text;		 /* highest symbol of the kernel itself */
	size_t modules;			 /* ranges that came from /proc/modules, the first ones */
	struct kallsyms_range *unplaced; /* modules without an address there; @end is the size */
	size_t unplaced_count, unplaced_room, unplaced_last;
	struct kallsyms_range *loose; /* one per symbol outside both */
	size_t loose_count, loose_room;
	bool any; /* there was an address other than 0 */
};

static void add_range(struct survey *s, const char *name, uint64_t start, uint64_t end)
{
	if (start >= end)
		return;
	array_grow(&s->r.ranges, s->r.count + 1, &s->room);
	s->r.ranges[s->r.count++] =
		(struct kallsyms_range){ .name = xstrdup(name), .start = start, .end = end };
}

/* Takes note of a module whose address /proc/modules hides: that of its first symbol will do. */
static void add_unplaced(struct survey *s, const struct modules_line *line)
{
	array_grow(&s->unplaced, s->unplaced_count + 1, &s->unplaced_room);
	s->unplaced[s->unplaced_count++] = (struct kallsyms_range){ .name = xstrdup(line->name),
								    .start = UINT64_MAX,
								    .end = line->size };
}

/* 0 or -errno. */
static int read_modules(struct survey *s, const char *root)
{
	_cleanup_fclose_ FILE *f = path_fopen(root, "/proc/modules");
	_cleanup_free_ char *line = NULL;
	struct modules_line l;
	uint64_t end;
	size_t room = 0;

	if (!f)
		return -errno;
	while (xgetline(&line, &room, f) > 0) {
		if (modules_line_parse(line, &l) < 0)
			continue;
		if (!l.address)
			add_unplaced(s, &l);
		else if (!__builtin_add_overflow(l.address, l.size, &end))
			add_range(s, l.name, l.address, end);
	}
	s->modules = s->r.count;
	return ferror(f) ? -errno : 0;
}

static bool in_modules(const struct survey *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->modules; i++)
		if (!strcmp(s->r.ranges[i].name, name))
			return true;
	return false;
}

/* Whether a symbol is one of a module whose address is hidden. The symbols of a module follow each
 * other. */
static bool note_unplaced(struct survey *s, const struct kallsyms_line *line)
{
	size_t i, at;

	for (i = 0; i < s->unplaced_count; i++) {
		at = (s->unplaced_last + i) % s->unplaced_count;
		if (strcmp(s->unplaced[at].name, line->module) != 0)
			continue;
		s->unplaced_last = at;
		s->unplaced[at].start = MIN(s->unplaced[at].start, line->address);
		return true;
	}
	return false;
}

static void add_loose(struct survey *s, const struct kallsyms_line *line)
{
	struct kallsyms_range *last = s->loose_count ? &s->loose[s->loose_count - 1] : NULL;
	bool same = last && !strcmp(last->name, line->module);

	if (!same && in_modules(s, line->module))
		return;
	array_grow(&s->loose, s->loose_count + 1, &s->loose_room);
	s->loose[s->loose_count++] = (struct kallsyms_range){ .name = xstrdup(line->module),
							      .symbol = xstrdup(line->name),
							      .start = line->address,
							      .end = line->address + LOOSE_REACH };
}

static void survey_symbol(const struct kallsyms_line *line, void *data)
{
	struct survey *s = data;

	if (!line->address)
		return;
	s->any = true;
	if (*line->module && !note_unplaced(s, line))
		add_loose(s, line);
	else if (*line->module)
		return;
	else if (!strcmp(line->name, "_text"))
		s->text = line->address;
	else if (!strcmp(line->name, "_stext"))
		s->stext = line->address;
	else if (!strcmp(line->name, "_etext"))
		s->etext = line->address;
	if (!*line->module)
		s->last_text = MAX(s->last_text, line->address);
}

static int by_start(const void *a, const void *b)
{
	const struct kallsyms_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Whether one of the first @count ranges (kernel and modules, unsorted) contains @address. */
static bool taken(const struct survey *s, size_t count, uint64_t address)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (address - s->r.ranges[i].start < s->r.ranges[i].end - s->r.ranges[i].start)
			return true;
	return false;
}

static void free_range(struct kallsyms_range *range)
{
	free(range->name);
	free(range->symbol);
}

/* Ends the search for the addresses of modules. */
static void place(struct survey *s)
{
	size_t i;
	uint64_t end;

	for (i = 0; i < s->unplaced_count; i++) {
		const struct kallsyms_range *module = &s->unplaced[i];
		uint64_t start = module->start & ~page_mask;

		if (module->start != UINT64_MAX &&
		    !__builtin_add_overflow(start, module->end, &end))
			add_range(s, module->name, start, end);
		free_range(&s->unplaced[i]);
	}
	free(s->unplaced);
	s->unplaced = NULL;
	s->unplaced_count = 0;
}

/* Moves over the ranges outside kernel and modules. */
static void take_loose(struct survey *s)
{
	size_t i, solid = s->r.count;

	for (i = 0; i < s->loose_count; i++) {
		if (taken(s, solid, s->loose[i].start)) {
			free_range(&s->loose[i]);
			continue;
		}
		array_grow(&s->r.ranges, s->r.count + 1, &s->room);
		s->r.ranges[s->r.count++] = s->loose[i];
	}
	free(s->loose);
}

/* Sorts the ranges, and ends each at the start of the next. */
static void settle(struct kallsyms_ranges *r)
{
	size_t i;

	if (r->count)
		qsort(r->ranges, r->count, sizeof(*r->ranges), by_start);
	for (i = 0; i + 1 < r->count; i++)
		r->ranges[i].end = MIN(r->ranges[i].end, r->ranges[i + 1].start);
}

int kallsyms_ranges_read(const char *root, struct kallsyms_ranges *ret, struct error *err)
{
	struct survey s = { 0 };
	uint64_t start;
	int r;

	(void)read_modules(&s, root);
	r = kallsyms_each_text(root, survey_symbol, &s, err);
	start = s.text ? s.text : s.stext;
	if (start)
		add_range(&s, "", start, s.etext > start ? s.etext : s.last_text + 1);
	place(&s);
	take_loose(&s);
	settle(&s.r);
	s.r.hidden = !s.any;
	if (r < 0) {
		kallsyms_ranges_done(&s.r);
		return r;
	}
	*ret = s.r;
	return 0;
}

/* Whether both have the same images at the same addresses. */
static bool same_ranges(const struct kallsyms_ranges *a, const struct kallsyms_ranges *b)
{
	size_t i;

	for (i = 0; i < a->count && i < b->count; i++)
		if (a->ranges[i].start != b->ranges[i].start ||
		    strcmp(a->ranges[i].name, b->ranges[i].name) != 0)
			return false;
	return a->count == b->count;
}

bool kallsyms_modules_renew(const char *root, struct kallsyms_ranges *r)
{
	struct survey s = { 0 };
	bool changed, is_hidden;
	size_t i;
	int status = read_modules(&s, root);

	is_hidden = s.unplaced_count;
	place(&s);
	if (status < 0 || is_hidden) {
		kallsyms_ranges_done(&s.r);
		return false;
	}
	for (i = 0; i < r->count; i++) {
		const struct kallsyms_range *old = &r->ranges[i];

		if ((*old->name && !old->symbol) || taken(&s, s.modules, old->start))
			continue;
		array_grow(&s.r.ranges, s.r.count + 1, &s.room);
		s.r.ranges[s.r.count++] =
			(struct kallsyms_range){ .name = xstrdup(old->name),
						 .symbol =
							 old->symbol ? xstrdup(old->symbol) : NULL,
						 .start = old->start,
						 .end = old->end };
	}
	settle(&s.r);
	s.r.hidden = r->hidden;
	changed = !same_ranges(r, &s.r);
	kallsyms_ranges_done(changed ? r : &s.r);
	if (changed)
		*r = s.r;
	return changed;
}

void kallsyms_ranges_done(struct kallsyms_ranges *r)
{
	size_t i;

	for (i = 0; i < r->count; i++)
		free_range(&r->ranges[i]);
	free(r->ranges);
	*r = (struct kallsyms_ranges){ 0 };
}

struct kallsyms_range *kallsyms_ranges_find(const struct kallsyms_ranges *r, uint64_t address)
{
	size_t after = FIRST_NOT(i, 0, r->count, r->ranges[i].start <= address);

	return after && address < r->ranges[after - 1].end ? &r->ranges[after - 1] : NULL;
}

bool kallsyms_start(const char *root, const char *name, uint64_t *ret)
{
	struct kallsyms_ranges r = { 0 };
	bool is_found = false;
	size_t i;

	if (kallsyms_ranges_read(root, &r, NULL) < 0)
		return false;
	for (i = 0; i < r.count && !is_found; i++) {
		is_found = !r.ranges[i].symbol && !strcmp(r.ranges[i].name, name);
		*ret = is_found ? r.ranges[i].start : *ret;
	}
	kallsyms_ranges_done(&r);
	return is_found;
}
