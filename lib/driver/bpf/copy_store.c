/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/bpf/copy_store.h"

#include "base/clock.h"
#include "base/mem.h"
#include "driver/bpf/map_reader.h"
#include "driver/bpf/sampler.h"
#include "file/account.h"
#include "identity/cookie_image.h"
#include "identity/copy_limit.h"
#include "identity/opener.h"

#include <bpf/bpf.h>
#include <errno.h>

enum {
	FORGOTTEN_ROUNDS = 64, /* after which memory that was not met is forgotten */
	STEP = 256,
};
/* In a second, of what the program asks for, and of what is known. */
static const struct copy_limit limit_new = { .all = 48, .of_user = 16 };
static const struct copy_limit limit_again = { .all = 16, .of_user = 4 };

static const uint64_t copy_again_ns = 2 * NS_PER_S;
/* What is no copy is mostly code that a process generates, which changes all the time. */
static const uint64_t other_again_ns = 10 * NS_PER_S;

struct copy_store {
	struct sampler *sampler;
	struct opener *opener;
	int copies; /* the program's map */
	uint64_t kept_ns;
	struct copy_limit limit, limit_again;
	struct sample_copy *due; /* to be compared again */
	size_t due_count, due_room;
	bool holds;
	uint64_t refused, late;
};

struct copy_store *copy_store_new(struct sampler *sampler, struct opener *opener)
{
	struct copy_store *s = xcalloc(1, sizeof(*s));

	s->sampler = sampler;
	s->opener = opener;
	s->copies = sampler_maps(sampler)->copies;
	s->limit = limit_new;
	s->limit_again = limit_again;
	return s;
}

void copy_store_free(struct copy_store *s)
{
	if (!s)
		return;
	free(s->due);
	free(s);
}

bool copy_store_holds(const struct copy_store *s)
{
	return s->holds;
}

uint64_t copy_store_refused(const struct copy_store *s)
{
	return s->refused;
}

uint64_t copy_store_late(const struct copy_store *s)
{
	return s->late;
}

/* Whether the memory of process @tgid may be compared now. */
static bool may_compare(struct copy_store *s, struct copy_limit *limit, uint32_t tgid)
{
	bool may = copy_limit_take(limit, account_of("", tgid), clock_now_ns());

	s->late += !may;
	return may;
}

/* Fills in what the memory @copy->key is; false if that cannot be found out. */
static bool compare(struct copy_store *s, struct sample_copy *copy)
{
	const struct cookie_mapped where = { .tgid = copy->key.tgid,
					     .start = copy->key.region.start,
					     .end = copy->key.region.end };
	uint64_t part = 0, offset = 0;
	int r = opener_copied(s->opener, &where, &part, &offset);

	copy->compared_ns = clock_now_ns();
	copy->part = part;
	copy->offset = offset;
	return r == 0 || r == -ENOENT;
}

/* Calls @each for all entries of the program's map. */
static void each_copy(struct copy_store *s,
		      void (*each)(struct copy_store *s, struct sample_copy *copy))
{
	struct map_reader reader = { .map = s->copies };
	_cleanup_free_ struct sample_memory *keys = xcalloc(STEP, sizeof(*keys));
	_cleanup_free_ struct sample_copy *copies = xcalloc(STEP, sizeof(*copies));
	uint32_t i, count;

	while ((count = map_reader_next(&reader, keys, copies, STEP)))
		for (i = 0; i < count; i++)
			each(s, &copies[i]);
}

static void forget_other(struct copy_store *s, struct sample_copy *copy)
{
	if (!copy->part)
		(void)bpf_map_delete_elem(s->copies, &copy->key);
}

void copy_store_answer(struct copy_store *s, const struct sample_doubt *doubt)
{
	struct sample_copy copy = { 0 };
	uint64_t now_ns = clock_now_ns();
	bool is_known = bpf_map_lookup_elem(s->copies, &doubt->memory, &copy) == 0;

	if (is_known && (copy.version == doubt->version ||
			 (!copy.part && now_ns - copy.compared_ns < other_again_ns)))
		return;
	copy = (struct sample_copy){ .key = doubt->memory,
				     .version = doubt->version,
				     .used = sampler_drains(s->sampler) };
	if (!may_compare(s, &s->limit, copy.key.tgid) || !compare(s, &copy))
		return;
	s->holds = true;
	if (bpf_map_update_elem(s->copies, &copy.key, &copy, BPF_ANY) == 0)
		return;
	/* What is no copy may be asked again. */
	each_copy(s, forget_other);
	s->refused += bpf_map_update_elem(s->copies, &copy.key, &copy, BPF_ANY) < 0;
}

static void keep(struct copy_store *s, struct sample_copy *copy)
{
	uint32_t unused = sampler_drains(s->sampler) - (uint32_t)copy->used;

	s->holds = true;
	if (unused > FORGOTTEN_ROUNDS) {
		(void)bpf_map_delete_elem(s->copies, &copy->key);
	} else if (copy->part && unused <= 1 &&
		   clock_now_ns() - copy->compared_ns >= copy_again_ns) {
		array_grow(&s->due, s->due_count + 1, &s->due_room);
		s->due[s->due_count++] = *copy;
	}
}

static int by_age(const void *a, const void *b)
{
	const struct sample_copy *x = a, *y = b;

	return (x->compared_ns > y->compared_ns) - (x->compared_ns < y->compared_ns);
}

/* Compares what is due, the oldest first: if there is too much of it, all has its turn. */
static void compare_due(struct copy_store *s)
{
	struct sample_copy *copy;

	if (!s->due_count)
		return;
	qsort(s->due, s->due_count, sizeof(*s->due), by_age);
	for (copy = s->due; copy < s->due + s->due_count; copy++)
		if (may_compare(s, &s->limit_again, copy->key.tgid) && compare(s, copy))
			(void)bpf_map_update_elem(s->copies, &copy->key, copy, BPF_EXIST);
	s->due_count = 0;
}

void copy_store_keep(struct copy_store *s)
{
	uint64_t now_ns = clock_now_ns();

	if (!s->holds || now_ns - s->kept_ns < NS_PER_S)
		return;
	s->kept_ns = now_ns;
	s->holds = false;
	each_copy(s, keep);
	compare_due(s);
}
