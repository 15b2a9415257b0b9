/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/bpf/code_store.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/share.h"

#include <bpf/bpf.h>

enum {
	PART_BYTES = 1 << SAMPLE_CODE_SHIFT,
	/* While rows are merged: twice those of a part, and two where they meet. */
	DRAFT_ROWS = 2 * SAMPLE_CODE_ROWS + 2,
};

struct owner {
	size_t parts, processes;
	uint32_t uid;
};

struct process {
	struct owner *owner;
	struct map parts; /* by key in the program's map; the value has no meaning */
};

struct code_store {
	struct sampler *sampler;
	int codes; /* the program's map */
	size_t limit, count;
	struct map owners;    /* struct owner by uid */
	struct map processes; /* struct process by tgid */
	uint64_t refused, dense;
};

/* The rows of a part while they are put together. */
struct draft {
	size_t count;
	bool full;
	struct draft_row {
		uint32_t at;
		struct unwind_rule rule;
	} rows[DRAFT_ROWS];
};

struct code_store *code_store_new(struct sampler *sampler)
{
	struct code_store *s = xcalloc(1, sizeof(*s));

	s->sampler = sampler;
	s->codes = sampler_maps(sampler)->codes;
	s->limit = sampler_codes_max(sampler);
	return s;
}

static struct owner *find_owner(struct code_store *s, uint32_t uid)
{
	struct owner *owner = map_get(&s->owners, uid);

	if (owner)
		return owner;
	owner = xcalloc(1, sizeof(*owner));
	owner->uid = uid;
	(void)map_set(&s->owners, uid, owner);
	return owner;
}

static struct process *find_process(struct code_store *s, const struct unwind_code *code)
{
	struct process *process = map_get(&s->processes, code->tgid);

	if (process)
		return process;
	process = xcalloc(1, sizeof(*process));
	process->owner = find_owner(s, code->uid);
	process->owner->processes++;
	(void)map_set(&s->processes, code->tgid, process);
	return process;
}

/* Notes that the process has @change parts more, or fewer. */
static void count_parts(struct code_store *s, struct process *process, size_t change)
{
	process->owner->parts += change;
	s->count += change;
	sampler_set_codes(s->sampler, (uint32_t)s->count);
}

static void drop_process(struct code_store *s, uint32_t tgid)
{
	struct process *process = map_remove(&s->processes, tgid);

	if (!process)
		return;
	map_for_each (&process->parts, slot)
		(void)bpf_map_delete_elem(s->codes, &slot->key);
	count_parts(s, process, -process->parts.count);
	map_done(&process->parts);
	if (--process->owner->processes == 0) {
		(void)map_remove(&s->owners, process->owner->uid);
		free(process->owner);
	}
	free(process);
}

void code_store_free(struct code_store *s)
{
	if (!s)
		return;
	map_for_each (&s->processes, slot) {
		struct process *process = slot->value;

		map_done(&process->parts);
		free(process);
	}
	map_for_each (&s->owners, slot)
		free(slot->value);
	map_done(&s->processes);
	map_done(&s->owners);
	free(s);
}

uint64_t code_store_refused(const struct code_store *s)
{
	return s->refused;
}

uint64_t code_store_dense(const struct code_store *s)
{
	return s->dense;
}

/* --- a part --- */

static void draft_add(struct draft *d, uint32_t at, const struct unwind_rule *rule)
{
	struct draft_row *last = d->count ? &d->rows[d->count - 1] : NULL;

	if (last && last->at == at) {
		last->rule = *rule;
		return;
	}
	if (last && !memcmp(&last->rule, rule, sizeof(*rule)))
		return;
	d->full = d->full || d->count == DRAFT_ROWS;
	if (!d->full)
		d->rows[d->count++] = (struct draft_row){ at, *rule };
}

/* Adds those rows of a part that apply from @begin up to @end. */
static void draft_add_part(struct draft *d, const struct sample_code *part, uint32_t begin,
			   uint32_t end)
{
	uint32_t i;

	for (i = 0; i < part->row_count; i++) {
		bool is_over = i + 1 < part->row_count && part->rows[i + 1].pc <= begin;

		if (!is_over && part->rows[i].pc < end)
			draft_add(d, MAX((uint32_t)part->rows[i].pc, begin),
				  &part->rules[part->rows[i].rule]);
	}
}

/* The first row of the code that applies at @offset or after it: the rows are sorted. */
static size_t first_row(const struct unwind_code *code, uint64_t offset)
{
	size_t low = 0, n;

	for (n = code->row_count; n > 1; n -= n / 2)
		low += code->rows[low + n / 2].offset <= offset ? n / 2 : 0;
	return low;
}

/* Adds the code's rows from @begin up to @end of the part that starts at @start. */
static void draft_add_code(struct draft *d, const struct unwind_code *code, uint64_t start,
			   uint32_t begin, uint32_t end)
{
	static const struct unwind_rule none = { .cfa = UNWIND_CFA_NONE };
	size_t i = first_row(code, start + begin - code->address);

	if (!code->row_count)
		draft_add(d, begin, &none);
	for (; i < code->row_count && !d->full; i++) {
		uint64_t at = code->address + code->rows[i].offset;

		if (at >= start + end)
			break;
		draft_add(d, at > start + begin ? (uint32_t)(at - start) : begin,
			  &code->rows[i].rule);
	}
}

/* The index of @rule in the part, which gets it if it is new; SAMPLE_CODE_RULES if it is full. */
static uint32_t part_rule(struct sample_code *part, const struct unwind_rule *rule)
{
	uint32_t i;

	for (i = 0; i < part->rule_count; i++)
		if (!memcmp(&part->rules[i], rule, sizeof(*rule)))
			return i;
	if (i < SAMPLE_CODE_RULES)
		part->rules[part->rule_count++] = *rule;
	return i;
}

/* Makes a part of the rows. Returns false if they do not fit: the part is then empty. */
static bool finish_draft(const struct draft *d, struct sample_code *part)
{
	size_t i;

	*part = (struct sample_code){ .key = part->key };
	for (i = 0; i < d->count && !d->full && d->count <= SAMPLE_CODE_ROWS; i++) {
		uint32_t rule = part_rule(part, &d->rows[i].rule);

		if (rule == SAMPLE_CODE_RULES)
			break;
		part->rows[i] = (struct unwind_row){ (uint16_t)d->rows[i].at, (uint16_t)rule };
	}
	part->row_count = i == d->count ? (uint32_t)i : 0;
	return part->row_count > 0;
}

/* Whether the part has no row, or only one that says that nothing is known. */
static bool is_empty(const struct sample_code *part)
{
	return !part->row_count || (part->row_count == 1 && unwind_is_hole(&part->rules[0]));
}

/* Whether the process may have one more part. */
static bool may_grow(const struct code_store *s, const struct process *process)
{
	uint64_t share = share_of_user(s->limit, s->count, process->owner->parts);

	return process->owner->parts < share_of_process(share, process->parts.count);
}

/* Puts the part where the program finds it, or removes it there if it is empty. */
static void store_part(struct code_store *s, struct process *process,
		       const struct sample_code *part)
{
	bool is_known = map_get(&process->parts, part->key) != NULL;

	if (is_empty(part)) {
		if (!is_known)
			return;
		(void)bpf_map_delete_elem(s->codes, &part->key);
		(void)map_remove(&process->parts, part->key);
		count_parts(s, process, (size_t)-1);
		return;
	}
	if ((!is_known && !may_grow(s, process)) ||
	    bpf_map_update_elem(s->codes, &part->key, part, BPF_ANY) < 0) {
		s->refused++;
		return;
	}
	if (is_known)
		return;
	(void)map_set(&process->parts, part->key, process);
	count_parts(s, process, 1);
}

/* Puts what the code has in the part that starts at @start, next to what other code has there. */
static void put_part(struct code_store *s, struct process *process, const struct unwind_code *code,
		     uint64_t start)
{
	static const struct unwind_rule none = { .cfa = UNWIND_CFA_NONE };
	uint64_t after = code->address + code->size - start;
	uint32_t begin = code->address > start ? (uint32_t)(code->address - start) : 0;
	uint32_t end = (uint32_t)MIN(after, (uint64_t)PART_BYTES);
	struct sample_code part = { .key = sample_code_key(code->tgid, start) };
	struct draft draft = { 0 };

	if (map_get(&process->parts, part.key))
		(void)bpf_map_lookup_elem(s->codes, &part.key, &part);
	if (begin)
		draft_add(&draft, 0, &none);
	draft_add_part(&draft, &part, 0, begin);
	draft_add_code(&draft, code, start, begin, end);
	if (end < PART_BYTES)
		draft_add(&draft, end, &none);
	draft_add_part(&draft, &part, end, PART_BYTES);
	if (!finish_draft(&draft, &part))
		s->dense++;
	store_part(s, process, &part);
}

void code_store_put(struct code_store *s, const struct unwind_code *code)
{
	struct process *process;
	uint64_t start, end;

	if (!code->size) {
		drop_process(s, code->tgid);
		return;
	}
	if (code->size > UNWIND_CODE_MAX ||
	    __builtin_add_overflow(code->address, code->size, &end) ||
	    end >> SAMPLE_CODE_ADDRESS_BITS)
		return;
	process = find_process(s, code);
	for (start = code->address & ~(uint64_t)(PART_BYTES - 1); start < end; start += PART_BYTES)
		put_part(s, process, code, start);
}
