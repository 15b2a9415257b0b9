/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/table_store.h"

#include "base/mem.h"
#include "image/elffile.h"
#include "image/parser.h"
#include "image/unwind.h"
#include "image/vdso.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/* How long a full store must have served before all is thrown out to make room. */
static const uint64_t flush_every_ns = 10000000000;

struct table_store {
	struct sampler *sampler;
	struct parser *parser;
	int numbers, chunk_maps;
	struct sample_table *tables; /* shared with the program, as are the next two */
	struct sample_page *pages;
	struct unwind_rule *shared_rules;
	struct unwind_rules *rules;
	size_t rules_copied;
	struct sample_file *files; /* whose numbers are set */
	size_t file_count, file_room;
	uint32_t table_count, page_count, chunk_count, chunk_limit;
	int *chunk_fds;
	struct sample_chunk *chunk; /* the last one, or NULL */
	size_t chunk_used;	    /* rows in it */
	uint64_t flushed_at_ns;
	struct table_store_stats stats;
};

static const size_t tables_bytes = SAMPLE_TABLES_MAX * sizeof(struct sample_table);
static const size_t pages_bytes = SAMPLE_PAGES_MAX * sizeof(struct sample_page);
static const size_t rules_bytes = (UNWIND_RULES_MAX + 1) * sizeof(struct unwind_rule);

static uint64_t now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

int table_store_new(struct sampler *sampler, struct parser *parser, size_t budget,
		    struct table_store **ret, struct error *err)
{
	struct table_store *t = xcalloc(1, sizeof(*t));

	t->sampler = sampler;
	t->parser = parser;
	t->numbers = sampler_map(sampler, "table_numbers");
	t->chunk_maps = sampler_map(sampler, "chunks");
	t->tables = sampler_map_memory(sampler_map(sampler, "tables"), tables_bytes);
	t->pages = sampler_map_memory(sampler_map(sampler, "pages"), pages_bytes);
	t->shared_rules = sampler_map_memory(sampler_map(sampler, "rules"), rules_bytes);
	t->rules = unwind_rules_new();
	t->table_count = 1; /* 0 is none */
	t->chunk_limit =
		(uint32_t)MIN(budget / sizeof(struct sample_chunk), (size_t)SAMPLE_CHUNKS_MAX);
	t->chunk_fds = xcalloc(SAMPLE_CHUNKS_MAX, sizeof(*t->chunk_fds));
	t->flushed_at_ns = now_ns();
	if (!t->tables || !t->pages || !t->shared_rules) {
		int code = -errno;

		table_store_free(t);
		return error_errno(err, code, "cannot map the room for unwind tables");
	}
	*ret = t;
	return 0;
}

static void leave_chunk(struct table_store *t)
{
	/* The kernel keeps it; here it would only count as ours. */
	if (t->chunk)
		(void)munmap(t->chunk, sizeof(*t->chunk));
	t->chunk = NULL;
	t->chunk_used = 0;
}

static void drop_chunks(struct table_store *t)
{
	uint32_t i;

	leave_chunk(t);
	for (i = 0; i < t->chunk_count; i++) {
		(void)bpf_map_delete_elem(t->chunk_maps, &i);
		(void)close(t->chunk_fds[i]);
	}
	t->chunk_count = 0;
}

void table_store_free(struct table_store *t)
{
	if (!t)
		return;
	drop_chunks(t);
	if (t->tables)
		(void)munmap(t->tables, tables_bytes);
	if (t->pages)
		(void)munmap(t->pages, pages_bytes);
	if (t->shared_rules)
		(void)munmap(t->shared_rules, rules_bytes);
	unwind_rules_free(t->rules);
	free(t->chunk_fds);
	free(t->files);
	free(t);
}

/* Tells the program what became of its request. */
static void set_number(struct table_store *t, const struct sample_file *file, uint32_t number)
{
	if (bpf_map_update_elem(t->numbers, file, &number, BPF_ANY) < 0)
		return;
	array_grow(&t->files, t->file_count + 1, &t->file_room);
	t->files[t->file_count++] = *file;
}

/* Throws all out: what is still needed is asked for again at once. */
static void flush(struct table_store *t)
{
	size_t i;

	for (i = 0; i < t->file_count; i++)
		(void)bpf_map_delete_elem(t->numbers, &t->files[i]);
	sampler_settle(t->sampler);
	drop_chunks(t);
	t->stats.evicted += t->table_count - 1;
	t->file_count = 0;
	t->table_count = 1;
	t->page_count = 0;
	t->flushed_at_ns = now_ns();
	t->stats.rows_held = 0;
}

/* Begins another chunk; 0 or -errno. */
static int next_chunk(struct table_store *t)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	uint32_t i = t->chunk_count;
	int fd, r = 0;

	leave_chunk(t);
	if (i >= t->chunk_limit)
		return -ENOSPC;
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "unwind_rows", sizeof(uint32_t),
			    sizeof(struct sample_chunk), 1, &opts);
	if (fd < 0)
		return fd;
	t->chunk = sampler_map_memory(fd, sizeof(*t->chunk));
	if (!t->chunk || bpf_map_update_elem(t->chunk_maps, &i, &fd, BPF_ANY) < 0)
		r = -errno;
	if (r < 0) {
		leave_chunk(t);
		(void)close(fd);
		return r;
	}
	t->chunk_fds[t->chunk_count++] = fd;
	return 0;
}

/* Puts the rows of a page into a chunk; 0 or -errno. */
static int put_page(struct table_store *t, const struct unwind_row *rows, size_t count,
		    struct sample_page *ret)
{
	int r;

	*ret = (struct sample_page){ 0 };
	if (!count)
		return 0;
	if (!t->chunk || t->chunk_used + count > SAMPLE_CHUNK_ROWS) {
		r = next_chunk(t);
		if (r < 0)
			return r;
	}
	memcpy(&t->chunk->rows[t->chunk_used], rows, count * sizeof(*rows));
	*ret = (struct sample_page){ .chunk = (uint16_t)(t->chunk_count - 1),
				     .start = (uint16_t)t->chunk_used,
				     .rows = (uint32_t)count };
	t->chunk_used += count;
	return 0;
}

/* The rules that came since the last table. */
static void copy_rules(struct table_store *t)
{
	const struct unwind_rule *all;
	size_t count;

	all = unwind_rules_all(t->rules, &count);
	memcpy(t->shared_rules + t->rules_copied, all + t->rules_copied,
	       (count - t->rules_copied) * sizeof(*all));
	t->rules_copied = count;
}

/* Puts @table where the program finds it under the next number; 0 or -errno. */
static int put_table(struct table_store *t, const struct unwind_table *table)
{
	struct sample_table *put = &t->tables[t->table_count];
	size_t i;
	int r = 0;

	if (t->table_count >= SAMPLE_TABLES_MAX ||
	    t->page_count + table->page_count > SAMPLE_PAGES_MAX)
		return -ENOSPC;
	copy_rules(t);
	for (i = 0; i < table->page_count && r == 0; i++)
		r = put_page(t, table->rows + table->pages[i],
			     table->pages[i + 1] - table->pages[i], &t->pages[t->page_count + i]);
	if (r < 0)
		return r;
	*put = (struct sample_table){ .first_page = t->page_count,
				      .page_count = (uint32_t)table->page_count };
	memcpy(put->segments, table->segments, table->segment_count * sizeof(*put->segments));
	t->page_count += (uint32_t)table->page_count;
	t->stats.rows_held += table->row_count;
	return 0;
}

static int build(struct table_store *t, int fd, struct unwind_table **ret, struct error *err)
{
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	int r;

	if (fd >= 0)
		return parser_table(t->parser, fd, t->rules, ret, err);
	r = elffile_open_memory(vdso_image(), vdso_size(), "[vdso]", &ef, err);
	return r < 0 ? r : unwind_table_build(ef, t->rules, ret, err);
}

void table_store_load(struct table_store *t, const struct sample_file *file, int fd)
{
	_cleanup_(unwind_table_freep) struct unwind_table *table = NULL;
	uint64_t begin_ns = now_ns();
	int r = build(t, fd, &table, NULL);

	t->stats.build_ns += now_ns() - begin_ns;
	if (r < 0) {
		t->stats.none++;
		set_number(t, file, SAMPLE_TABLE_NONE);
		return;
	}
	r = put_table(t, table);
	if (r == -ENOSPC && now_ns() >= t->flushed_at_ns + flush_every_ns) {
		flush(t);
		r = put_table(t, table);
	}
	if (r < 0) {
		t->stats.refused++;
		set_number(t, file, SAMPLE_TABLE_BUDGET);
		return;
	}
	t->stats.built++;
	set_number(t, file, t->table_count++);
}

void table_store_give_up(struct table_store *t, const struct sample_file *file)
{
	t->stats.unopened++;
	set_number(t, file, SAMPLE_TABLE_NONE);
}

void table_store_stats(const struct table_store *t, struct table_store_stats *ret)
{
	*ret = t->stats;
}
