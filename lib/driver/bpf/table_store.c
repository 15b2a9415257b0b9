/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/bpf/table_store.h"

#include "base/clock.h"
#include "base/mem.h"
#include "driver/bpf/sampler_images.h"
#include "driver/bpf/interpreter_slots.h"
#include "driver/bpf/table_chunks.h"
#include "parser/parser.h"
#include "unwind/unwind.h"
#include "unwind/unwind_vdso.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* Number of drains, each about a second, between evictions from a full store. */
enum { EVICT_EVERY = 8 };
/* The time after which the program may ask again for a file that had no table. */
static const uint64_t ask_again_ns = 300 * NS_PER_S;

/* A file without a table, which the program does not request again. */
struct blank {
	struct sample_file file;
	uint32_t number; /* SAMPLE_TABLE_NONE or SAMPLE_TABLE_BUDGET */
	uint64_t since_ns;
};

/* The file of a table. */
struct held {
	struct sample_file file;
	bool partial; /* some of its rules had no room */
};

/* A table that may survive an eviction. */
struct kept {
	struct sample_table table;
	struct held held;
};

/* Where rows are moved from. */
struct moving {
	struct sample_page *pages;
	struct unwind_rules *rules;
	uint16_t *indices; /* see unwind_rules_move() */
	const struct interpreter_slots *interpreters;
};

struct table_store {
	struct sampler *sampler;
	struct parser *parser;
	int numbers;
	uint32_t limit;		     /* of entries in ->numbers; see tables_max(), blanks_max() */
	struct sample_table *tables; /* shared with the program, like the next two */
	struct sample_page *pages;
	struct unwind_rule *shared_rules;
	struct unwind_rules *rules;
	size_t rules_copied;
	struct held *held;    /* by number of the table */
	struct blank *blanks; /* the oldest first */
	size_t blank_count, blank_room;
	uint32_t table_count, page_count;
	struct table_chunks *chunks;
	struct interpreter_slots interpreters;
	uint32_t evicted_at, retried_at; /* drains */
	size_t refused;			 /* number of files that may be requested again */
	struct table_store_stats stats;
};

static const size_t pages_bytes = SAMPLE_PAGES_MAX * sizeof(struct sample_page);
static const size_t rules_bytes = (UNWIND_RULES_MAX + 1) * sizeof(struct unwind_rule);

/* The program's map of numbers is shared out to tables and to files without one. */
static uint32_t tables_max(const struct table_store *t)
{
	return t->limit / 4 * 3;
}

static uint32_t blanks_max(const struct table_store *t)
{
	return t->limit / 4;
}

static size_t tables_bytes(const struct table_store *t)
{
	return t->limit * sizeof(*t->tables);
}

int table_store_new(struct sampler *sampler, struct parser *parser, size_t budget,
		    struct table_store **ret, struct error *err)
{
	struct table_store *t = xcalloc(1, sizeof(*t));

	t->sampler = sampler;
	t->parser = parser;
	t->numbers = sampler_maps(sampler)->table_numbers;
	t->limit = sampler_tables(sampler);
	t->tables = sampler_map_memory(sampler_maps(sampler)->tables, tables_bytes(t));
	t->pages = sampler_map_memory(sampler_maps(sampler)->pages, pages_bytes);
	t->shared_rules = sampler_map_memory(sampler_maps(sampler)->rules, rules_bytes);
	t->rules = unwind_rules_new();
	t->held = xcalloc(tables_max(t), sizeof(*t->held));
	t->table_count = 1; /* 0 is none */
	t->interpreters.map = sampler_maps(sampler)->interpreters;
	t->chunks = table_chunks_new(sampler, (uint32_t)MIN(budget / sizeof(struct sample_chunk),
							    (size_t)UINT32_MAX));
	t->evicted_at = t->retried_at = sampler_drains(sampler);
	if (!t->tables || !t->pages || !t->shared_rules) {
		int code = -errno;

		table_store_free(t);
		return error_errno(err, code, "cannot map memory for unwind tables");
	}
	*ret = t;
	return 0;
}

void table_store_free(struct table_store *t)
{
	if (!t)
		return;
	table_chunks_free(t->chunks);
	if (t->tables)
		(void)munmap(t->tables, tables_bytes(t));
	if (t->pages)
		(void)munmap(t->pages, pages_bytes);
	if (t->shared_rules)
		(void)munmap(t->shared_rules, rules_bytes);
	unwind_rules_free(t->rules);
	free(t->held);
	free(t->blanks);
	free(t);
}

/* Answers the program's request for @file. Returns false if there is no room for the answer. */
static bool set_number(const struct table_store *t, const struct sample_file *file, uint32_t number)
{
	return bpf_map_update_elem(t->numbers, file, &number, BPF_ANY) == 0;
}

/* Lets the program request the @count files again that have been without a table for longest. */
static void forget_blanks(struct table_store *t, size_t count)
{
	size_t i;

	if (!count) /* perhaps there never were any */
		return;
	for (i = 0; i < count; i++) {
		(void)bpf_map_delete_elem(t->numbers, &t->blanks[i].file);
		t->refused -= t->blanks[i].number == SAMPLE_TABLE_BUDGET;
	}
	t->blank_count -= count;
	memmove(t->blanks, t->blanks + count, t->blank_count * sizeof(*t->blanks));
}

/* Answers that @file has no table, for the reason @number. */
static void add_blank(struct table_store *t, const struct sample_file *file, uint32_t number)
{
	if (t->blank_count >= blanks_max(t))
		forget_blanks(t, t->blank_count / 2);
	if (!set_number(t, file, number))
		return;
	array_grow(&t->blanks, t->blank_count + 1, &t->blank_room);
	t->blanks[t->blank_count++] = (struct blank){ *file, number, clock_now_ns() };
	t->refused += number == SAMPLE_TABLE_BUDGET;
}

/* Copies the rules added since the last table. */
static void copy_rules(struct table_store *t)
{
	const struct unwind_rule *all;
	size_t count;

	all = unwind_rules_all(t->rules, &count);
	memcpy(t->shared_rules + t->rules_copied, all + t->rules_copied,
	       (count - t->rules_copied) * sizeof(*all));
	t->rules_copied = count;
}

/* Returns whether all of @table fits; a part would only take room from others. */
static bool has_room(const struct table_store *t, const struct unwind_table *table)
{
	return t->table_count < tables_max(t) &&
	       interpreter_slots_fit(&t->interpreters, &table->interpreter) &&
	       t->page_count + table->page_count <= SAMPLE_PAGES_MAX &&
	       table_chunks_fit(t->chunks, table->pages, table->page_count);
}

/* Completes the table whose pages follow those in use; it gets the next number. 0 or -errno. */
static int finish_table(struct table_store *t, struct sample_table table, const struct held *held)
{
	uint32_t i;

	table.first_page = t->page_count;
	t->tables[t->table_count] = table;
	copy_rules(t);
	if (!set_number(t, &held->file, t->table_count))
		return -ENOSPC;
	t->held[t->table_count++] = *held;
	for (i = 0; i < table.page_count; i++)
		t->stats.rows_held += t->pages[t->page_count + i].rows;
	t->page_count += table.page_count;
	return 0;
}

/* Counts an interpreter that the program cannot walk. */
static void count_unknown(struct table_store *t, uint32_t kind)
{
	t->stats.counters.python_unknown += kind == INTERPRETER_PYTHON;
	t->stats.counters.php_unknown += kind == INTERPRETER_PHP;
	t->stats.counters.ruby_unknown += kind == INTERPRETER_RUBY;
	t->stats.counters.java_unknown += kind == INTERPRETER_JAVA;
}

/* Stores @table as that of @file where the program finds it; 0 or -errno. */
static int put_table(struct table_store *t, const struct unwind_table *table,
		     const struct sample_file *file)
{
	struct sample_table put = { .page_count = (uint32_t)table->page_count,
				    .used = sampler_drains(t->sampler) };
	size_t missing = unwind_rules_missing(t->rules, table->rows, table->row_count), i;
	int r = has_room(t, table) ? 0 : -ENOSPC;

	for (i = 0; i < table->page_count && r == 0; i++)
		r = table_chunks_put(t->chunks, table->rows + table->pages[i],
				     table->pages[i + 1] - table->pages[i],
				     &t->pages[t->page_count + i]);
	if (r < 0)
		return r;
	memcpy(put.segments, table->segments, table->segment_count * sizeof(*put.segments));
	if (!table->interpreter.is_known)
		count_unknown(t, table->interpreter.kind);
	put.interpreter = interpreter_slots_number(&t->interpreters, &table->interpreter);
	t->stats.counters.unwind_partial += missing > 0;
	return finish_table(t, put, &(struct held){ *file, missing > 0 });
}

/* --- making room --- */

/* Stores a table again, with the rules of its rows; 0 or -errno. */
static int put_again(struct table_store *t, const struct kept *k, const struct moving *from)
{
	struct sample_table table = k->table;
	struct unwind_row *rows;
	uint32_t i;
	int r = 0;

	for (i = 0; i < k->table.page_count && r == 0; i++) {
		const struct sample_page *page = &from->pages[k->table.first_page + i];

		rows = page->rows ? table_chunks_old(t->chunks, page) : NULL;
		if (page->rows && !rows)
			return -ENOMEM;
		unwind_rules_move(t->rules, from->rules, from->indices, rows, page->rows);
		r = table_chunks_put(t->chunks, rows, page->rows, &t->pages[t->page_count + i]);
	}
	if (table.interpreter)
		table.interpreter = interpreter_slots_number(
			&t->interpreters, &from->interpreters->all[table.interpreter]);
	return r < 0 ? r : finish_table(t, table, &k->held);
}

/* Lets the program request all refused files again. */
static void forget_refused(struct table_store *t)
{
	size_t i, stay = 0;

	for (i = 0; i < t->blank_count; i++) {
		if (t->blanks[i].number == SAMPLE_TABLE_BUDGET)
			(void)bpf_map_delete_elem(t->numbers, &t->blanks[i].file);
		else
			t->blanks[stay++] = t->blanks[i];
	}
	t->blank_count = stay;
	t->refused = 0;
}

/* Orders the last used first. */
static int by_use(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;

	return (x->table.used < y->table.used) - (x->table.used > y->table.used);
}

/* Hides all tables from the program and lets it request refused ones again. Lists the tables in
 * @kept, but not partial ones, which may find room for their rules now; returns their number. */
static size_t forget_tables(struct table_store *t, struct kept *kept)
{
	size_t count = 0, i;

	for (i = 1; i < t->table_count; i++) {
		(void)bpf_map_delete_elem(t->numbers, &t->held[i].file);
		if (!t->held[i].partial)
			kept[count++] = (struct kept){ t->tables[i], t->held[i] };
	}
	forget_refused(t);
	sampler_forget_tables(t->sampler);
	qsort(kept, count, sizeof(*kept), by_use);
	return count;
}

static size_t rule_count(const struct table_store *t)
{
	size_t count;

	(void)unwind_rules_all(t->rules, &count);
	return count;
}

/* Returns whether half of the room is in use. */
static bool is_half_full(const struct table_store *t)
{
	uint64_t rows = (uint64_t)table_chunks_limit(t->chunks) * SAMPLE_CHUNK_ROWS;

	return t->stats.rows_held > rows / 2 || t->table_count > tables_max(t) / 2 ||
	       t->page_count > SAMPLE_PAGES_MAX / 2 ||
	       t->interpreters.count > SAMPLE_INTERPRETERS_MAX / 2 ||
	       rule_count(t) > UNWIND_RULES_MAX / 2;
}

/* Evicts tables, least recently used first, until half of the room is free. For some milliseconds
 * the program finds no table. */
static void evict(struct table_store *t)
{
	_cleanup_free_ struct kept *kept = xcalloc(t->table_count, sizeof(*kept));
	_cleanup_free_ struct sample_page *pages = xcalloc(t->page_count + 1, sizeof(*pages));
	_cleanup_free_ uint16_t *indices = xcalloc(UNWIND_RULES_MAX, sizeof(*indices));
	_cleanup_(unwind_rules_freep) struct unwind_rules *rules = t->rules;
	const struct interpreter_slots interpreters = t->interpreters;
	const struct moving from = { pages, rules, indices, &interpreters };
	size_t tables = t->table_count - 1, i, count;

	memcpy(pages, t->pages, t->page_count * sizeof(*pages));
	table_chunks_renew(t->chunks);
	count = forget_tables(t, kept);
	t->rules = unwind_rules_new();
	t->rules_copied = 0;
	t->table_count = 1;
	t->page_count = t->interpreters.count = 0;
	t->stats.rows_held = 0;
	for (i = 0; i < count && !is_half_full(t); i++)
		if (put_again(t, &kept[i], &from) < 0)
			break;
	t->stats.counters.unwind_evicted += tables - i;
	table_chunks_leave_old(t->chunks);
	t->evicted_at = sampler_drains(t->sampler);
}

static bool may_evict(const struct table_store *t)
{
	return sampler_drains(t->sampler) - t->evicted_at >= EVICT_EVERY;
}

/* What a table is built from. */
struct origin {
	int fd;				  /* an open file; -1: a vdso, or */
	bool is_32_bit;			  /* the vdso of 32-bit processes */
	const struct sample_image *image; /* what ->opener opens, if not NULL */
	struct opener *opener;
};

static int build(struct table_store *t, const struct origin *from, struct unwind_table **ret)
{
	uint64_t begin_ns = clock_now_ns();
	int r;

	if (from->image)
		r = sampler_image_table(from->opener, from->image, t->rules, ret);
	else if (from->fd >= 0)
		r = parser_table(t->parser, from->fd, t->rules, ret, NULL);
	else
		r = unwind_vdso_table(from->is_32_bit, t->rules, ret);

	t->stats.counters.unwind_build_ns += clock_now_ns() - begin_ns;
	return r;
}

/* Returns whether the program's request for the file was already answered. */
static bool is_answered(const struct table_store *t, const struct sample_file *file)
{
	uint32_t number;

	return bpf_map_lookup_elem(t->numbers, file, &number) == 0;
}

static void load(struct table_store *t, const struct sample_file *file, const struct origin *from)
{
	_cleanup_(unwind_table_freep) struct unwind_table *table = NULL;
	bool is_out_of_reach;
	int r;

	/* It may ask while the remaining tables are moved. */
	if (is_answered(t, file))
		return;
	if (unwind_rules_nearly_full(t->rules) && may_evict(t))
		evict(t);
	r = build(t, from, &table);
	/* The file could not be opened, or has kept the opener waiting. */
	is_out_of_reach = r == -ENOENT || r == -ETIME || r == -EHOSTDOWN;
	if (from->image && is_out_of_reach) {
		table_store_give_up(t, file);
		return;
	}
	if (r < 0) {
		if (r == -EDQUOT)
			t->stats.counters.unwind_put_off++;
		else
			t->stats.counters.unwind_none++;
		add_blank(t, file, SAMPLE_TABLE_NONE);
		return;
	}
	r = put_table(t, table, file);
	if (r == -ENOSPC && may_evict(t) &&
	    table_chunks_fit_half(t->chunks, table->pages, table->page_count)) {
		evict(t);
		r = put_table(t, table, file);
	}
	if (r < 0) {
		t->stats.counters.unwind_refused++;
		add_blank(t, file, SAMPLE_TABLE_BUDGET);
		return;
	}
	t->stats.counters.unwind_built++;
}

void table_store_load(struct table_store *t, const struct sample_file *file, int fd)
{
	load(t, file, &(struct origin){ .fd = fd, .is_32_bit = fd < 0 && file->device });
}

void table_store_load_image(struct table_store *t, struct opener *opener,
			    const struct sample_image *image)
{
	load(t, &image->file, &(struct origin){ .image = image, .opener = opener });
}

/* Returns whether the file was not known. */
static bool expect(struct table_store *t, const struct sample_file *file, const struct origin *from)
{
	_cleanup_(unwind_table_freep) struct unwind_table *table = NULL;
	bool is_new = !is_answered(t, file);

	if (is_new && build(t, from, &table) == 0 && put_table(t, table, file) == 0)
		t->stats.counters.unwind_built++;
	return is_new;
}

void table_store_expect(struct table_store *t, const struct sample_file *file, int fd)
{
	(void)expect(t, file, &(struct origin){ .fd = fd });
}

bool table_store_expect_image(struct table_store *t, struct opener *opener,
			      const struct sample_image *image)
{
	return expect(t, &image->file, &(struct origin){ .image = image, .opener = opener });
}

bool table_store_prepare(struct table_store *t)
{
	return table_chunks_prepare(t->chunks);
}

bool table_store_refuses(const struct table_store *t)
{
	return t->refused > 0;
}

void table_store_retry(struct table_store *t)
{
	uint64_t now_ns = clock_now_ns();
	size_t old = 0;

	while (old < t->blank_count && now_ns - t->blanks[old].since_ns > ask_again_ns)
		old++;
	forget_blanks(t, old);
	/* Not at each call: a table that does not fit at all is built again each time. */
	if (!t->refused || !may_evict(t) ||
	    sampler_drains(t->sampler) - t->retried_at < EVICT_EVERY)
		return;
	t->retried_at = sampler_drains(t->sampler);
	forget_refused(t);
}

void table_store_give_up(struct table_store *t, const struct sample_file *file)
{
	/* Its process may be gone since the request that was answered. */
	if (is_answered(t, file))
		return;
	t->stats.counters.unwind_unopened++;
	add_blank(t, file, SAMPLE_TABLE_NONE);
}

void table_store_stats(const struct table_store *t, struct table_store_stats *ret)
{
	*ret = t->stats;
	ret->bytes = table_chunks_bytes(t->chunks);
}
