/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dwarf/lines.h"

#include "base/hash.h"
#include "base/mem.h"
#include "dwarf/internal/dwarf_lines.h"
#include "dwarf/internal/dwarf_units.h"
#include "dwarf/internal/inlines.h"
#include "dwarf/kept_lines.h"
#include "file/path.h"
#include "gosym/gosym.h"

/* Limit for the memory of all cached line tables. */
enum { TABLE_BYTES_MAX = 48 << 20 };

/* Recent paths: neighbouring addresses are mostly in the same few files. */
enum { RECENT = 16 };

/* A file of a unit, and its path. */
struct known_path {
	const struct dwarf_unit *unit;
	uint64_t file;
	const char *path;
};

struct lines {
	struct dwarf_units *dwarf; /* NULL: no debug information */
	struct gosym *go;	   /* describes Go's code; NULL if there is none */
	struct kept_lines kept;	   /* instead of both */
	struct inlines *inlines;   /* made on the first look-up */
	struct map tables;	   /* by unit; those without one are not in it */
	struct dwarf_unit *last_unit;
	struct dwarf_lines *last; /* its table, or NULL */
	size_t table_bytes;
	struct known_path recent[RECENT];
	struct map files; /* paths by unit and number */
	struct intern paths;
	struct lines_call *found;
	size_t found_room;
};

struct lines *lines_new(const struct elffile *ef, const struct elffile *debug)
{
	struct lines *l = xcalloc(1, sizeof(*l));

	l->go = gosym_new(ef);
	l->dwarf = dwarf_units_new(ef, debug);
	return l;
}

struct lines *lines_new_kept(struct kept_lines *kept)
{
	struct lines *l = xcalloc(1, sizeof(*l));

	l->kept = *kept;
	*kept = (struct kept_lines){ 0 };
	return l;
}

static void forget_tables(struct lines *l)
{
	map_for_each (&l->tables, slot)
		dwarf_lines_free(slot->value);
	map_done(&l->tables);
	l->last = NULL;
	l->last_unit = NULL;
	l->table_bytes = 0;
}

void lines_free(struct lines *l)
{
	if (!l)
		return;
	forget_tables(l);
	gosym_free(l->go);
	inlines_free(l->inlines);
	dwarf_units_free(l->dwarf);
	kept_lines_done(&l->kept);
	map_done(&l->files);
	intern_done(&l->paths);
	free(l->found);
	free(l);
}

bool lines_exist(const struct lines *l)
{
	return l->dwarf || l->go || l->kept.count;
}

/* The line table of the unit, or NULL. */
static struct dwarf_lines *table_of(struct lines *l, struct dwarf_unit *u)
{
	struct dwarf_lines *table;

	if (l->last_unit == u)
		return l->last;
	table = map_get(&l->tables, (uintptr_t)u);
	if (!table) {
		if (l->table_bytes > TABLE_BYTES_MAX)
			forget_tables(l);
		table = dwarf_lines_read(u);
		if (table) {
			l->table_bytes += dwarf_lines_bytes(table);
			(void)map_set(&l->tables, (uintptr_t)u, table);
			dwarf_units_read(l->dwarf, dwarf_lines_bytes(table) / 4);
		}
	}
	l->last_unit = u;
	l->last = table;
	return table;
}

/* Looks up the path, or composes it. */
static const char *find_path(struct lines *l, struct dwarf_unit *u, uint64_t file)
{
	uint64_t key = hash_add(hash_u64((uintptr_t)u), file);
	const char *known = map_get(&l->files, key);
	struct dwarf_lines *table;
	_cleanup_free_ char *path = NULL;

	if (known)
		return known;
	table = table_of(l, u);
	path = table ? dwarf_lines_path(table, file) : NULL;
	if (!path)
		return NULL;
	/* The same header, by the paths of several sources: a/../h.h, b/../h.h. */
	path_simplify(path);
	known = intern(&l->paths, path);
	(void)map_set(&l->files, key, (void *)known);
	return known;
}

/* The path of file number @file of the unit, or NULL. */
static const char *path_of(struct lines *l, struct dwarf_unit *u, uint64_t file)
{
	struct known_path *known = &l->recent[file % RECENT];

	if (known->unit != u || known->file != file)
		*known = (struct known_path){ u, file, find_path(l, u, file) };
	return known->path;
}

/* Whether the address is in Go's code. DWARF has longer names for the same functions. */
static bool is_go(const struct lines *l, uint64_t address)
{
	return l->go && gosym_find(l->go, address) < gosym_count(l->go);
}

static bool find_go(const struct lines *l, uint64_t address, struct lines_place *ret)
{
	struct gosym_place at;

	if (!gosym_line(l->go, address, &at))
		return false;
	*ret = (struct lines_place){ at.file, at.line };
	return true;
}

static size_t inlines_of_go(struct lines *l, uint64_t address)
{
	struct gosym_call calls[GOSYM_DEPTH_MAX];
	size_t i, n = gosym_inlines(l->go, address, calls);

	array_grow(&l->found, n, &l->found_room);
	for (i = 0; i < n; i++)
		l->found[i] = (struct lines_call){
			.function = calls[i].function,
			.at = { calls[i].at.file, calls[i].at.line },
			.start = calls[i].start,
		};
	return n;
}

static bool find_dwarf(struct lines *l, uint64_t address, struct lines_place *ret)
{
	struct dwarf_unit *u = l->dwarf ? dwarf_units_unit(l->dwarf, &address) : NULL;
	struct dwarf_lines *table = u ? table_of(l, u) : NULL;
	const struct dwarf_line_row *row = table ? dwarf_lines_find(table, address) : NULL;
	const char *file = row && row->line ? path_of(l, u, row->file) : NULL;

	if (!file)
		return false;
	*ret = (struct lines_place){ file, row->line };
	return true;
}

static bool find_kept(const struct kept_lines *kept, uint64_t address, struct lines_place *ret)
{
	const struct kept_line *row = kept_lines_find(kept, address);

	if (!row || !row->line)
		return false;
	*ret = (struct lines_place){ kept->files[row->file], row->line };
	return true;
}

uint32_t lines_kept_text(const struct lines *l, uint64_t address)
{
	const struct kept_line *row = kept_lines_find(&l->kept, address);

	return row ? row->text : 0;
}

const struct kept_lines *lines_kept(const struct lines *l)
{
	return &l->kept;
}

static size_t inlines_of_kept(struct lines *l, uint64_t address)
{
	const struct kept_line *row = kept_lines_find(&l->kept, address);
	uint32_t call;
	size_t n = 0;

	for (call = row ? row->call : 0; call; n++) {
		const struct kept_call *c = &l->kept.calls[call - 1];

		array_grow(&l->found, n + 1, &l->found_room);
		l->found[n] = (struct lines_call){ c->function, { c->file, c->line }, c->start };
		call = c->caller;
	}
	return n;
}

bool lines_find(struct lines *l, uint64_t address, struct lines_place *ret)
{
	if (l->kept.count)
		return find_kept(&l->kept, address, ret);
	return is_go(l, address) ? find_go(l, address, ret) : find_dwarf(l, address, ret);
}

static size_t inlines_of_dwarf(struct lines *l, uint64_t address)
{
	struct dwarf_unit *u = l->dwarf ? dwarf_units_unit(l->dwarf, &address) : NULL;
	struct dwarf_unit *entries = u ? dwarf_units_entries(l->dwarf, u) : NULL;
	const struct inlines_call *calls = NULL;
	size_t i, n;

	if (!entries)
		return 0;
	if (!l->inlines)
		l->inlines = inlines_new();
	n = inlines_find(l->inlines, entries, address, &calls);
	dwarf_units_read(l->dwarf, inlines_read(l->inlines));
	array_grow(&l->found, n, &l->found_room);
	for (i = 0; i < n; i++)
		l->found[i] = (struct lines_call){
			.function = calls[i].function,
			.at = { path_of(l, u, calls[i].file), (unsigned int)calls[i].line },
			.start = calls[i].start,
		};
	return n;
}

size_t lines_inlines(struct lines *l, uint64_t address, const struct lines_call **ret)
{
	size_t n = l->kept.count       ? inlines_of_kept(l, address)
		   : is_go(l, address) ? inlines_of_go(l, address)
				       : inlines_of_dwarf(l, address);

	*ret = l->found;
	return n;
}

bool lines_start(struct lines *l, uint64_t address, struct lines_place *ret)
{
	const struct lines_call *calls = NULL;
	size_t n = lines_inlines(l, address, &calls);
	bool is_called = n > 0 && calls[n - 1].at.file && calls[n - 1].at.line;

	if (is_called)
		*ret = calls[n - 1].at;
	return is_called || lines_find(l, address, ret);
}
