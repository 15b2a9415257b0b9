/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/bpf/copy_store.h"

#include "base/clock.h"
#include "base/mem.h"
#include "driver/bpf/map_reader.h"
#include "driver/bpf/sampler.h"
#include "identity/cookie_image.h"
#include "identity/opener.h"

#include <bpf/bpf.h>
#include <errno.h>

enum {
	COMPARED_MAX = 64,     /* in a second */
	COMPARED_AGAIN = 16,   /* of these */
	FORGOTTEN_ROUNDS = 64, /* after which memory that was not met is forgotten */
	STEP = 256,
};
static const uint64_t copy_again_ns = 2 * NS_PER_S;
/* What is no copy is mostly code that a process generates, which changes all the time. */
static const uint64_t other_again_ns = 10 * NS_PER_S;

struct copy_store {
	struct sampler *sampler;
	struct opener *opener;
	int copies; /* the program's map */
	uint64_t second_ns, kept_ns;
	unsigned int compared; /* since ->second_ns */
	bool holds;
	uint64_t refused;
};

struct copy_store *copy_store_new(struct sampler *sampler, struct opener *opener)
{
	struct copy_store *s = xcalloc(1, sizeof(*s));

	s->sampler = sampler;
	s->opener = opener;
	s->copies = sampler_maps(sampler)->copies;
	return s;
}

void copy_store_free(struct copy_store *s)
{
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

/* Whether one more comparison is within the limit of this second. */
static bool may_compare(struct copy_store *s, uint64_t now_ns, unsigned int limit)
{
	if (now_ns - s->second_ns >= NS_PER_S) {
		s->second_ns = now_ns;
		s->compared = 0;
	}
	return s->compared < limit;
}

/* Fills in what the memory @copy->key is; false if that cannot be found out. */
static bool compare(struct copy_store *s, struct sample_copy *copy)
{
	const struct cookie_mapped where = { .tgid = copy->key.tgid,
					     .start = copy->key.region.start,
					     .end = copy->key.region.end };
	uint64_t part = 0, offset = 0;
	int r = opener_copied(s->opener, &where, &part, &offset);

	s->compared++;
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
	if (!may_compare(s, now_ns, COMPARED_MAX) || !compare(s, &copy))
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
	uint64_t now_ns = clock_now_ns();

	s->holds = true;
	if (unused > FORGOTTEN_ROUNDS)
		(void)bpf_map_delete_elem(s->copies, &copy->key);
	else if (copy->part && unused <= 1 && now_ns - copy->compared_ns >= copy_again_ns &&
		 may_compare(s, now_ns, COMPARED_AGAIN) && compare(s, copy))
		(void)bpf_map_update_elem(s->copies, &copy->key, copy, BPF_EXIST);
}

void copy_store_keep(struct copy_store *s)
{
	uint64_t now_ns = clock_now_ns();

	if (!s->holds || now_ns - s->kept_ns < NS_PER_S)
		return;
	s->kept_ns = now_ns;
	s->holds = false;
	each_copy(s, keep);
}
