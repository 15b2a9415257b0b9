/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/function_lines.h"

#include "base/clock.h"
#include "base/mem.h"
#include "dwarf/lines.h"
#include "symbol/symtab.h"

#include <stdlib.h>

/* Bytes of the code of a function: longer ones are left out. */
enum { FUNCTION_MAX = 256 << 10 };

/* What was added last: its line, and the number of its calls, which are fl->calls. */
struct last {
	struct lines_place at;
	size_t call_count;
};

static bool is_same(const struct kept_call *a, const struct lines_call *b)
{
	return a->function == b->function && a->file == b->at.file && a->line == b->at.line &&
	       a->start == b->start;
}

/* Sets fl->calls to the inlined calls of the code at @address, and the number of them. Returns
 * whether they have changed. */
static bool find_calls(struct function_lines *fl, uint64_t address, struct last *last)
{
	const struct lines_call *calls = NULL;
	size_t i, n = MIN(lines_inlines(fl->lines, address, &calls), (size_t)KEPT_LINES_DEPTH_MAX);
	bool is_other = n != last->call_count;

	array_grow(&fl->calls, n, &fl->call_room);
	for (i = 0; i < n; i++) {
		is_other = is_other || !is_same(&fl->calls[i], &calls[i]);
		fl->calls[i] = (struct kept_call){ .function = calls[i].function,
						   .file = calls[i].at.file,
						   .line = calls[i].at.line,
						   .start = calls[i].start };
	}
	last->call_count = n;
	return is_other;
}

/* Finds the line of the code at @address. Returns whether it has changed. */
static bool find_line(struct function_lines *fl, uint64_t address, struct last *last)
{
	struct lines_place at = { NULL, 0 };
	bool is_other;

	if (!lines_find(fl->lines, address, &at) || !at.line)
		at = (struct lines_place){ NULL, 0 };
	is_other = at.file != last->at.file || at.line != last->at.line;
	last->at = at;
	return is_other;
}

static void add_piece(struct function_lines *fl, const struct symbol *sym)
{
	uint64_t address = sym->address, end = address + (sym->end - sym->offset);
	struct last last = { .call_count = 0 };

	for (; address < end; address++) {
		bool is_other_line = find_line(fl, address, &last);
		struct kept_code code = { address, last.at.file, last.at.line };

		if (!find_calls(fl, address, &last) && !is_other_line && address != sym->address)
			continue;
		if (code.line && fl->text)
			code.text = fl->text(fl->data, code.file, code.line);
		code.calls = fl->calls;
		code.call_count = last.call_count;
		kept_lines_add(&fl->kept, &code);
	}
	kept_lines_add(&fl->kept, &(struct kept_code){ .address = end });
}

bool function_lines_add(struct function_lines *fl, const struct symtab *st, const bool *is_wanted)
{
	uint64_t end = 0;
	size_t i;

	for (i = 0; i < symtab_count(st); i++) {
		const struct symbol *sym = symtab_at(st, i);

		if (!is_wanted[sym->whole] || sym->end - sym->offset > FUNCTION_MAX ||
		    sym->address < end)
			continue;
		if (fl->kept.count >= KEPT_LINES_ROWS_MAX || clock_now_ns() > fl->end_ns)
			return false;
		add_piece(fl, sym);
		end = sym->address + (sym->end - sym->offset);
	}
	return true;
}

void function_lines_done(struct function_lines *fl)
{
	kept_lines_done(&fl->kept);
	free(fl->calls);
	fl->calls = NULL;
}
