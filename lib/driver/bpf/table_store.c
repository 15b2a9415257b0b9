/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/bpf/table_store.h"

#include "base/clock.h"
#include "base/mem.h"
#include "driver/bpf/table_chunks.h"
#include "elf/elffile.h"
#include "parser/parser.h"
#include "unwind/unwind.h"
#include "elf/vdso.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* Number of drains, each about a second, between evictions from a full store. */
enum { EVICT_EVERY = 8 };

/* The program's answer for a file. */
struct answer {
	struct sample_file file;
	uint32_t number; /* of its table, or a special number without one */
};

/* A table that may survive an eviction. */
struct kept {
	struct sample_table table;
	struct sample_file file;
};

struct table_store {
	struct sampler *sampler;
	struct parser *parser;
	int numbers;
	struct sample_table *tables; /* shared with the program, like the next two */
	struct sample_page *pages;
	struct unwind_rule *shared_rules;
	struct unwind_rules *rules;
	size_t rules_copied;
	struct answer *answers;
	size_t answer_count, answer_room;
	uint32_t table_count, page_count;
	struct table_chunks *chunks;
	uint32_t evicted_at, retried_at; /* drains */
	size_t refused;			 /* number of files that may be requested again */
	struct table_store_stats stats;
};

static const size_t tables_bytes = SAMPLE_TABLES_MAX * sizeof(struct sample_table);
static const size_t pages_bytes = SAMPLE_PAGES_MAX * sizeof(struct sample_page);
static const size_t rules_bytes = (UNWIND_RULES_MAX + 1) * sizeof(struct unwind_rule);

int table_store_new(struct sampler *sampler, struct parser *parser, size_t budget,
		    struct table_store **ret, struct error *err)
{
	struct table_store *t = xcalloc(1, sizeof(*t));

	t->sampler = sampler;
	t->parser = parser;
	t->numbers = sampler_maps(sampler)->table_numbers;
	t->tables = sampler_map_memory(sampler_maps(sampler)->tables, tables_bytes);
	t->pages = sampler_map_memory(sampler_maps(sampler)->pages, pages_bytes);
	t->shared_rules = sampler_map_memory(sampler_maps(sampler)->rules, rules_bytes);
	t->rules = unwind_rules_new();
	t->table_count = 1; /* 0 is none */
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
		(void)munmap(t->tables, tables_bytes);
	if (t->pages)
		(void)munmap(t->pages, pages_bytes);
	if (t->shared_rules)
		(void)munmap(t->shared_rules, rules_bytes);
	unwind_rules_free(t->rules);
	free(t->answers);
	free(t);
}

/* Answers the program's request for @file. */
static void set_number(struct table_store *t, const struct sample_file *file, uint32_t number)
{
	if (bpf_map_update_elem(t->numbers, file, &number, BPF_ANY) < 0)
		return;
	array_grow(&t->answers, t->answer_count + 1, &t->answer_room);
	t->answers[t->answer_count++] = (struct answer){ *file, number };
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
	return t->table_count < SAMPLE_TABLES_MAX &&
	       t->page_count + table->page_count <= SAMPLE_PAGES_MAX &&
	       table_chunks_fit(t->chunks, table->pages, table->page_count);
}

/* Completes the table whose pages follow those in use; it gets the next number. */
static void finish_table(struct table_store *t, struct sample_table table,
			 const struct sample_file *file)
{
	uint32_t i;

	table.first_page = t->page_count;
	t->tables[t->table_count] = table;
	for (i = 0; i < table.page_count; i++)
		t->stats.rows_held += t->pages[t->page_count + i].rows;
	t->page_count += table.page_count;
	set_number(t, file, t->table_count++);
}

/* Stores @table as that of @file where the program finds it; 0 or -errno. */
static int put_table(struct table_store *t, const struct unwind_table *table,
		     const struct sample_file *file)
{
	struct sample_table put = { .page_count = (uint32_t)table->page_count,
				    .used = sampler_drains(t->sampler) };
	size_t i;
	int r = 0;

	if (!has_room(t, table))
		return -ENOSPC;
	copy_rules(t);
	for (i = 0; i < table->page_count && r == 0; i++)
		r = table_chunks_put(t->chunks, table->rows + table->pages[i],
				     table->pages[i + 1] - table->pages[i],
				     &t->pages[t->page_count + i]);
	if (r < 0)
		return r;
	memcpy(put.segments, table->segments, table->segment_count * sizeof(*put.segments));
	finish_table(t, put, file);
	return 0;
}

/* --- making room --- */

/* Stores a table again whose old pages are @pages; 0 or -errno. */
static int put_again(struct table_store *t, const struct kept *k, const struct sample_page *pages)
{
	const struct unwind_row *rows;
	uint32_t i;
	int r = 0;

	for (i = 0; i < k->table.page_count && r == 0; i++) {
		const struct sample_page *page = &pages[k->table.first_page + i];

		rows = page->rows ? table_chunks_old(t->chunks, page) : NULL;
		if (page->rows && !rows)
			return -ENOMEM;
		r = table_chunks_put(t->chunks, rows, page->rows, &t->pages[t->page_count + i]);
	}
	if (r == 0)
		finish_table(t, k->table, &k->file);
	return r;
}

/* Orders the last used first. */
static int by_use(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;

	return (x->table.used < y->table.used) - (x->table.used > y->table.used);
}

/* Hides all tables from the program and lets it request refused ones again. Lists the tables in
 * @kept; returns their number. */
static size_t forget_tables(struct table_store *t, struct kept *kept)
{
	size_t i, stay = 0, count = 0;

	for (i = 0; i < t->answer_count; i++) {
		const struct answer *answer = &t->answers[i];

		if (answer->number == SAMPLE_TABLE_NONE) {
			t->answers[stay++] = *answer;
			continue;
		}
		(void)bpf_map_delete_elem(t->numbers, &answer->file);
		if (answer->number != SAMPLE_TABLE_BUDGET)
			kept[count++] = (struct kept){ t->tables[answer->number], answer->file };
	}
	t->answer_count = stay;
	t->refused = 0;
	sampler_forget_tables(t->sampler);
	qsort(kept, count, sizeof(*kept), by_use);
	return count;
}

/* Evicts tables, least recently used first, until half of the room is free. For some milliseconds
 * the program finds no table. */
static void evict(struct table_store *t)
{
	_cleanup_free_ struct kept *kept = xcalloc(t->table_count, sizeof(*kept));
	_cleanup_free_ struct sample_page *pages = xcalloc(t->page_count + 1, sizeof(*pages));
	uint64_t most = (uint64_t)table_chunks_limit(t->chunks) * SAMPLE_CHUNK_ROWS / 2;
	size_t i, count;

	memcpy(pages, t->pages, t->page_count * sizeof(*pages));
	table_chunks_renew(t->chunks);
	count = forget_tables(t, kept);
	t->table_count = 1;
	t->page_count = 0;
	t->stats.rows_held = 0;
	for (i = 0; i < count; i++) {
		uint64_t before = t->stats.rows_held;

		if (put_again(t, &kept[i], pages) < 0 || t->stats.rows_held > most) {
			i += t->stats.rows_held > before;
			break;
		}
	}
	t->stats.counters.unwind_evicted += count - i;
	table_chunks_leave_old(t->chunks);
	t->evicted_at = sampler_drains(t->sampler);
}

static bool may_evict(const struct table_store *t)
{
	return sampler_drains(t->sampler) - t->evicted_at >= EVICT_EVERY;
}

static int build_vdso(struct table_store *t, struct unwind_table **ret)
{
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	int r = elffile_open_memory(vdso_image(), vdso_size(), "[vdso]", &ef, NULL);

	return r < 0 ? r : unwind_table_build(ef, t->rules, ret, NULL);
}

static int build(struct table_store *t, int fd, struct unwind_table **ret)
{
	uint64_t begin_ns = clock_now_ns();
	int r = fd >= 0 ? parser_table(t->parser, fd, t->rules, ret, NULL) : build_vdso(t, ret);

	t->stats.counters.unwind_build_ns += clock_now_ns() - begin_ns;
	return r;
}

/* Returns whether the program's request for the file was already answered. */
static bool is_answered(const struct table_store *t, const struct sample_file *file)
{
	size_t i;

	for (i = 0; i < t->answer_count; i++)
		if (!memcmp(&t->answers[i].file, file, sizeof(*file)))
			return true;
	return false;
}

void table_store_load(struct table_store *t, const struct sample_file *file, int fd)
{
	_cleanup_(unwind_table_freep) struct unwind_table *table = NULL;
	int r;

	/* It may ask while the remaining tables are moved. */
	if (is_answered(t, file))
		return;
	r = build(t, fd, &table);
	if (r < 0) {
		t->stats.counters.unwind_none++;
		set_number(t, file, SAMPLE_TABLE_NONE);
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
		t->refused++;
		set_number(t, file, SAMPLE_TABLE_BUDGET);
		return;
	}
	t->stats.counters.unwind_built++;
}

void table_store_expect(struct table_store *t, const struct sample_file *file, int fd)
{
	_cleanup_(unwind_table_freep) struct unwind_table *table = NULL;

	if (!is_answered(t, file) && build(t, fd, &table) == 0 && put_table(t, table, file) == 0)
		t->stats.counters.unwind_built++;
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
	size_t i, stay = 0;

	/* Not at each call: a table that does not fit at all is built again each time. */
	if (!t->refused || !may_evict(t) ||
	    sampler_drains(t->sampler) - t->retried_at < EVICT_EVERY)
		return;
	t->retried_at = sampler_drains(t->sampler);
	for (i = 0; i < t->answer_count; i++) {
		if (t->answers[i].number == SAMPLE_TABLE_BUDGET)
			(void)bpf_map_delete_elem(t->numbers, &t->answers[i].file);
		else
			t->answers[stay++] = t->answers[i];
	}
	t->answer_count = stay;
	t->refused = 0;
}

void table_store_give_up(struct table_store *t, const struct sample_file *file)
{
	t->stats.counters.unwind_unopened++;
	set_number(t, file, SAMPLE_TABLE_NONE);
}

void table_store_stats(const struct table_store *t, struct table_store_stats *ret)
{
	*ret = t->stats;
	ret->bytes = table_chunks_bytes(t->chunks);
}
