/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The privileged half of a parser: parses answers, which a compromised worker may have forged. */
#include "base/mem.h"
#include "jit/jit.h"
#include "parser/internal/parser_wire.h"
#include "interpreter/interpreter_image.h"
#include "unwind/unwind.h"
#include "unwind/unwind_code.h"

int parser_take_build_id(struct span in, struct build_id *ret)
{
	struct build_id id;

	if (span_copy(&in, &id, sizeof(id)) < 0 || in.left || id.size > BUILD_ID_MAX)
		return -EBADMSG;
	*ret = id;
	return 0;
}

/* --- unwind tables --- */

struct counts {
	uint64_t machine, base, fdes, bad_fdes, bytes, segments, rules, pages, rows;
};

static bool rule_makes_sense(const struct unwind_rule *rule)
{
	if (rule->cfa == UNWIND_CFA_NONE)
		return rule->base < UNWIND_WHY_COUNT_;
	return rule->cfa < UNWIND_CFA_GUESS && rule->base <= UNWIND_BASE_OTHER;
}

/* Our numbers of the rules in the answer. */
static int take_rules(struct span *in, size_t count, struct unwind_rules *rules, uint16_t *numbers)
{
	struct unwind_rule rule;
	size_t i;

	unwind_rules_begin(rules);
	for (i = 0; i < count; i++) {
		if (span_copy(in, &rule, sizeof(rule)) < 0 || !rule_makes_sense(&rule))
			return -EBADMSG;
		numbers[i] = unwind_rules_add(rules, &rule);
	}
	return 0;
}

static int take_segments(struct span *in, struct unwind_table *t)
{
	size_t i;

	for (i = 0; i < t->segment_count; i++) {
		struct unwind_segment *s = &t->segments[i];

		if (span_copy(in, s, sizeof(*s)) < 0 || s->size > UINT32_MAX ||
		    s->pc > UINT32_MAX || s->offset > INT64_MAX)
			return -EBADMSG;
	}
	return 0;
}

/* Reads where each page's rows start; each page has at least one row, and at most one per PC. */
static int take_pages(struct span *in, struct unwind_table *t)
{
	size_t i;

	t->pages = xcalloc(t->page_count + 1, sizeof(*t->pages));
	for (i = 0; i <= t->page_count; i++) {
		if (span_u32(in, &t->pages[i]) < 0 || (i == 0 && t->pages[0] != 0))
			return -EBADMSG;
		if (i > 0 && (t->pages[i] <= t->pages[i - 1] ||
			      t->pages[i] - t->pages[i - 1] > 1u << UNWIND_PAGE_SHIFT))
			return -EBADMSG;
	}
	return t->pages[t->page_count] == t->row_count ? 0 : -EBADMSG;
}

/* Copies the rows, most of an answer, in one pass: each is read once, as the worker may still
 * write. */
static int take_rows(struct span *in, struct unwind_table *t, const uint16_t *numbers,
		     size_t rule_count)
{
	const volatile uint32_t *from = span_take(in, t->row_count * sizeof(*from));
	size_t i, bad = 0;

	if (!from)
		return -EBADMSG;
	t->rows = xmalloc(t->row_count * sizeof(*t->rows));
	for (i = 0; i < t->row_count; i++) {
		uint32_t bits = from[i];
		struct unwind_row row;

		memcpy(&row, &bits, sizeof(row));
		/* Rule 0 always exists. */
		bad += row.rule >= rule_count;
		t->rows[i] = (struct unwind_row){ row.pc,
						  numbers[row.rule < rule_count ? row.rule : 0] };
	}
	return bad ? -EBADMSG : 0;
}

static int take_arrays(struct span *in, struct unwind_table *t, size_t rule_count,
		       struct unwind_rules *rules)
{
	_cleanup_free_ uint16_t *numbers = xcalloc(rule_count, sizeof(*numbers));
	int r = span_copy(in, &t->interpreter, sizeof(t->interpreter));

	if (r == 0 && !interpreter_image_makes_sense(&t->interpreter))
		r = -EBADMSG;
	if (r == 0)
		r = take_segments(in, t);
	if (r == 0)
		r = take_rules(in, rule_count, rules, numbers);
	if (r == 0)
		r = take_pages(in, t);
	if (r == 0)
		r = take_rows(in, t, numbers, rule_count);
	return r == 0 && in->left ? -EBADMSG : r;
}

int parser_take_table(struct span in, struct unwind_rules *rules, struct unwind_table **ret)
{
	_cleanup_(unwind_table_freep) struct unwind_table *t = NULL;
	struct counts c;
	int r;

	/* Check that the arrays fit into the answer. */
	if (span_copy(&in, &c, sizeof(c)) < 0 || c.machine >= UNWIND_MACHINE_COUNT_ ||
	    c.segments > UNWIND_SEGMENTS_MAX || !c.rules || c.rules > UNWIND_RULES_MAX ||
	    c.pages > in.left || c.rows > in.left || !c.pages || !c.rows)
		return -EBADMSG;
	t = xcalloc(1, sizeof(*t));
	*t = (struct unwind_table){ .machine = (enum unwind_machine)c.machine,
				    .base = c.base,
				    .page_count = c.pages,
				    .row_count = c.rows,
				    .segment_count = c.segments,
				    .fde_count = c.fdes,
				    .bad_fde_count = c.bad_fdes,
				    .cfi_bytes = c.bytes };
	r = take_arrays(&in, t, c.rules, rules);
	if (r < 0)
		return r;
	*ret = STEAL(t);
	return 0;
}

/* --- code made at run time --- */

static int take_lines(struct span *in, uint32_t count, struct jit_line **ret)
{
	const char *file = NULL, *name;
	uint32_t i;

	/* A row has at least 13 bytes. */
	if (count > in->left / 13)
		return -EBADMSG;
	*ret = xcalloc(count + 1, sizeof(**ret));
	for (i = 0; i < count; i++) {
		struct jit_line *line = *ret + i;

		if (span_u64(in, &line->address) < 0 || span_u32(in, &line->line) < 0 ||
		    !(name = span_string(in)))
			return -EBADMSG;
		file = *name || !file ? name : file;
		line->file = file;
	}
	return 0;
}

/* Reads how to unwind the code: rows sorted by offset, the first one at 0. */
static int take_code_rows(struct span *in, struct jit_code *code, struct unwind_code_row **ret)
{
	uint32_t count, i;

	if (span_u32(in, &count) < 0 || count > UNWIND_CODE_ROWS_MAX ||
	    count * sizeof(**ret) > in->left)
		return -EBADMSG;
	*ret = xcalloc(count + 1, sizeof(**ret));
	(void)span_copy(in, *ret, count * sizeof(**ret));
	for (i = 0; i < count; i++) {
		const struct unwind_code_row *row = *ret + i;

		if (row->offset >= code->size || !rule_makes_sense(&row->rule) ||
		    (i ? row->offset <= row[-1].offset : row->offset))
			return -EBADMSG;
	}
	code->rows = *ret;
	code->row_count = count;
	return 0;
}

static int take_load(struct span *in, const struct jit_sink *sink)
{
	_cleanup_free_ struct unwind_code_row *rows = NULL;
	_cleanup_free_ struct jit_line *lines = NULL;
	struct jit_code code = { 0 };
	uint32_t flags, count;

	if (span_u32(in, &flags) < 0 || span_u64(in, &code.address) < 0 ||
	    span_u64(in, &code.size) < 0 || span_u64(in, &code.from) < 0 ||
	    !(code.name = span_string(in)))
		return -EBADMSG;
	code.late = flags & PARSER_JIT_LATE;
	if (flags & PARSER_JIT_BYTES && !(code.bytes = span_take(in, code.size)))
		return -EBADMSG;
	if (span_u32(in, &count) < 0 || take_lines(in, count, &lines) < 0)
		return -EBADMSG;
	code.lines = lines;
	code.line_count = count;
	if (take_code_rows(in, &code, &rows) < 0 || span_u32(in, &count) < 0)
		return -EBADMSG;
	/* Who needs them parses these bytes: as in the dump, they may be anything. */
	code.inlined_bytes = count;
	code.inlined = span_take(in, count);
	if (!code.inlined)
		return -EBADMSG;
	sink->load(sink->data, &code);
	return 0;
}

static int take_move(struct span *in, const struct jit_sink *sink)
{
	uint64_t address, to, time;

	if (span_u64(in, &address) < 0 || span_u64(in, &to) < 0 || span_u64(in, &time) < 0)
		return -EBADMSG;
	sink->move(sink->data, address, to, time);
	return 0;
}

static int take_unload(struct span *in, const struct jit_sink *sink)
{
	uint64_t address, time;

	if (span_u64(in, &address) < 0 || span_u64(in, &time) < 0)
		return -EBADMSG;
	sink->unload(sink->data, address, time);
	return 0;
}

static int take_end(struct span *in, struct jit_source_state *ret_state, int64_t *ret_read,
		    struct error *err)
{
	struct jit_source_state state = { 0 };
	const uint8_t *bytes = span_take(in, sizeof(state));
	const char *text;
	uint64_t n;

	if (!bytes || span_u64(in, &n) < 0 || !(text = span_string(in)) || in->left)
		return -EBADMSG;
	/* The booleans are bytes: values other than 0 and 1 would be undefined behaviour. */
	if (bytes[offsetof(struct jit_source_state, cycles)] > 1 ||
	    bytes[offsetof(struct jit_source_state, failed)] > 1)
		return -EBADMSG;
	memcpy(&state, bytes, sizeof(state));
	*ret_state = state;
	*ret_read = (int64_t)n;
	if (*ret_read < 0)
		*ret_read = error_set(err, -EBADMSG, "%s", text);
	return 0;
}

int parser_take_jit(struct span in, const struct jit_sink *sink, struct jit_source_state *ret_state,
		    int64_t *ret_read, struct error *err)
{
	uint32_t what;
	int r = 0;

	while (r == 0 && span_u32(&in, &what) == 0) {
		switch (what) {
		case PARSER_JIT_LOAD:
			r = take_load(&in, sink);
			break;
		case PARSER_JIT_MOVE:
			r = take_move(&in, sink);
			break;
		case PARSER_JIT_UNLOAD:
			r = take_unload(&in, sink);
			break;
		case PARSER_JIT_END:
			return take_end(&in, ret_state, ret_read, err);
		default:
			r = -EBADMSG;
		}
	}
	return -EBADMSG;
}
