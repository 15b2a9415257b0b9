/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/record.h"

#include "identity/cgroups.h"
#include "identity/cookie.h"
#include "jit/jit_code.h"
#include "record/code/jitting.h"
#include "record/store/sampled_image.h"
#include "record/feature.h"
#include "record/store/store.h"
#include "record/internal/chain_recorder.h"
#include "record/internal/sampled_names.h"
#include "record/internal/transient.h"

#include <string.h>

/* Number of words after each code. */
static const uint8_t code_words[RECORD_CODES] = {
#define X(name, number, words) [number] = words,
	EVBUF_CODES(X)
#undef X
};

/* Ends the current chain, if there is one. */
static void end_trace(struct record *rec)
{
	struct transient *t = &rec->trans;

	if (t->tracing == TRACE_ON)
		chain_recorder_end(rec->trace, t->chain_end, NULL);
	t->tracing = TRACE_OFF;
}

/* The same at a change of context, except for a chain without any frame yet: the old kernel driver
 * wrote the change between TRACE_BEGIN and the first one. */
static void end_trace_before(struct record *rec)
{
	if (rec->trans.tracing == TRACE_ON)
		end_trace(rec);
}

static void code_ctx_switch(struct record *rec, const uint64_t *words)
{
	struct transient *t = &rec->trans;

	end_trace_before(rec);
	t->tid = (uint32_t)words[0];
	t->tgid = t->tid; /* unless CTX_TGID follows */
	t->app_cookie = words[1];
	t->app_known = false;
}

static void code_ctx_tgid(struct record *rec, const uint64_t *words)
{
	rec->trans.tgid = (uint32_t)words[0];
}

static void code_ctx_cgroup(struct record *rec, const uint64_t *words)
{
	const struct cookie_image *cgroup = cookie_lookup(rec->cookies, words[0]);
	bool valid = cgroup && cgroup->kind == COOKIE_CGROUP;

	end_trace_before(rec);
	rec->trans.cgroup = sampled_names_get(rec->cgroups, valid ? cgroup->path : CGROUPS_UNKNOWN);
}

static void code_ctx_comm(struct record *rec, const uint64_t *words)
{
	const struct cookie_image *comm = cookie_lookup(rec->cookies, words[0]);
	bool valid = comm && comm->kind == COOKIE_THREAD;
	_cleanup_free_ char *name = sname_comm(valid ? comm->path : "(unknown)");
	bool has_room = sampled_names_count(rec->comms) < COMMS_MAX;

	end_trace_before(rec);
	rec->trans.comm = has_room || sampled_names_has(rec->comms, name)
				  ? sampled_names_get(rec->comms, name)
				  : sampled_names_get(rec->comms, "(other names)");
}

static void code_cpu_switch(struct record *rec, const uint64_t *words)
{
	end_trace_before(rec);
	rec->trans.cpu = (uint32_t)words[0];
}

static void code_cookie_switch(struct record *rec, const uint64_t *words)
{
	rec->trans.image_cookie = words[0];
}

/* The image cookie is kept: it is valid again after the next USER_ENTER. */
static void code_kernel_enter(struct record *rec, const uint64_t *words _unused_)
{
	rec->trans.mode = MODE_KERNEL;
}

static void code_user_enter(struct record *rec, const uint64_t *words _unused_)
{
	rec->trans.mode = MODE_USER;
}

static void code_xen_enter(struct record *rec, const uint64_t *words _unused_)
{
	rec->trans.mode = MODE_XEN;
}

static void code_module_loaded(struct record *rec, const uint64_t *words _unused_)
{
	kernel_images_changed(rec->kernel);
}

static void code_kernel_code(struct record *rec, const uint64_t *words)
{
	const struct cookie_image *code = cookie_lookup(rec->cookies, words[2]);

	if (code && code->kind == COOKIE_CODE)
		kernel_images_code(rec->kernel, words[0], words[1], code->path);
	else
		rec->stats.incomplete_code++;
}

static void code_name(struct record *rec, const uint64_t *words)
{
	const char *part = (const char *)words;

	if (rec->name.length < EVBUF_NAME_MAX)
		strbuf_add(&rec->name, part, strnlen(part, EVBUF_NAME_PART));
}

static void code_generated(struct record *rec, const uint64_t *words)
{
	const struct jit_code code = { .address = words[1],
				       .size = words[2],
				       .name = strbuf_text(&rec->name) };

	if (!rec->name.length || words[0] > UINT32_MAX)
		rec->stats.incomplete_code++;
	else if (rec->jitting && !(rec->shed & RECORD_SHED_JIT))
		jitting_name(rec->jitting, (uint32_t)words[0], &code);
	strbuf_cut(&rec->name, 0);
}

static void code_trace_begin(struct record *rec, const uint64_t *words _unused_)
{
	end_trace(rec);
	rec->trans.tracing = TRACE_START;
	rec->trans.chain_end = CHAIN_END_UNKNOWN;
}

static void code_trace_end(struct record *rec, const uint64_t *words _unused_)
{
	end_trace(rec);
}

static void code_chain_end(struct record *rec, const uint64_t *words)
{
	if (words[0] < CHAIN_END_COUNT_)
		rec->trans.chain_end = words[0];
}

static void code_callers(struct record *rec, const uint64_t *words)
{
	rec->stats.incomplete_code += !callers_begin(&rec->callers, words[0], words[1], words[2]);
}

static void code_caller(struct record *rec, const uint64_t *words)
{
	const struct evbuf_frame frame = { words[0], words[1] };

	rec->stats.incomplete_code += !callers_add(&rec->callers, &frame);
}

static void code_called_by(struct record *rec, const uint64_t *words)
{
	struct callers *list = callers_get(&rec->callers, words[0]);
	struct transient *t = &rec->trans;
	uint32_t i;

	if (!list)
		rec->stats.incomplete_code++;
	if (list && t->tracing == TRACE_ON &&
	    !chain_recorder_end_at(rec->trace, list->end, &list->mark)) {
		for (i = 0; i < list->count; i++)
			sample_add_caller(rec, &list->frames[i]);
		chain_recorder_end(rec->trace, list->end, &list->mark);
	}
	/* A chain that has a list of callers is complete. */
	end_trace(rec);
}

/* No driver makes a weight that a sample file cannot count. In a stream that somebody else made, a
 * larger one would let the sums begin again at 0. */
static void code_weight(struct record *rec, const uint64_t *words)
{
	rec->trans.weight = MIN(words[0], (uint64_t)UINT32_MAX);
}

static void code_feature(struct record *rec, uint64_t code, const uint64_t *words)
{
	if (rec->feature && rec->feature->ops->words(rec->feature, code))
		sample_add_feature(rec, code, words);
	else
		rec->stats.incomplete_code++;
}

static void code_ibs_fetch(struct record *rec, const uint64_t *words)
{
	code_feature(rec, EVBUF_IBS_FETCH, words);
}

static void code_ibs_op(struct record *rec, const uint64_t *words)
{
	code_feature(rec, EVBUF_IBS_OP, words);
}

/* By code; NULL: unknown code. */
static void (*const handlers[RECORD_CODES])(struct record *rec, const uint64_t *words) = {
	[EVBUF_CTX_SWITCH] = code_ctx_switch,
	[EVBUF_CPU_SWITCH] = code_cpu_switch,
	[EVBUF_COOKIE_SWITCH] = code_cookie_switch,
	[EVBUF_KERNEL_ENTER] = code_kernel_enter,
	[EVBUF_USER_ENTER] = code_user_enter,
	[EVBUF_MODULE_LOADED] = code_module_loaded,
	[EVBUF_CTX_TGID] = code_ctx_tgid,
	[EVBUF_TRACE_BEGIN] = code_trace_begin,
	[EVBUF_TRACE_END] = code_trace_end,
	[EVBUF_XEN_ENTER] = code_xen_enter,
	[EVBUF_IBS_FETCH] = code_ibs_fetch,
	[EVBUF_IBS_OP] = code_ibs_op,
	[EVBUF_WEIGHT] = code_weight,
	[EVBUF_CHAIN_END] = code_chain_end,
	[EVBUF_CTX_CGROUP] = code_ctx_cgroup,
	[EVBUF_CTX_COMM] = code_ctx_comm,
	[EVBUF_CALLERS] = code_callers,
	[EVBUF_CALLER] = code_caller,
	[EVBUF_CALLED_BY] = code_called_by,
	[EVBUF_KERNEL_CODE] = code_kernel_code,
	[EVBUF_NAME] = code_name,
	[EVBUF_GENERATED] = code_generated,
};

/* Number of words after @code. */
static size_t words_after(const struct record *rec, uint64_t code)
{
	size_t own = rec->feature ? rec->feature->ops->words(rec->feature, code) : 0;

	if (own)
		return own;
	return code < RECORD_CODES ? code_words[code] : 0;
}

static void take_code(struct record *rec, uint64_t code, const uint64_t *words)
{
	if (code != EVBUF_WEIGHT)
		rec->trans.size = 0;
	if (code < RECORD_CODES && handlers[code])
		handlers[code](rec, words);
	else
		rec->stats.incomplete_code++;
}

static inline void take_sample(struct record *rec, uint64_t pc, uint64_t counter)
{
	struct transient *t = &rec->trans;

	if (_unlikely_(pc - t->low >= t->size || counter != t->counter)) {
		sample_add(rec, pc, counter);
		return;
	}
	rec->stats.samples += t->weight;
	if (t->mode == MODE_KERNEL)
		rec->stats.kernel_samples += t->weight;
	store_add(rec->store, t->file, pc - t->base, t->weight);
	note_hot(rec, pc, t->weight);
	t->weight = 1;
}

/* Handles the record at the start of @words. Returns its length in words; 0 if it is incomplete. */
static inline size_t take_record(struct record *rec, const uint64_t *words, size_t count)
{
	size_t need;

	if (count < 2)
		return 0;
	if (_unlikely_(words[1] == EVBUF_ESCAPE)) {
		rec->stats.incomplete_code++; /* a PC without its counter, an escape without code */
		return 1;
	}
	if (_likely_(words[0] != EVBUF_ESCAPE)) {
		take_sample(rec, words[0], words[1]);
		return 2;
	}
	need = 2 + words_after(rec, words[1]);
	if (count < need)
		return 0;
	take_code(rec, words[1], words + 2);
	return need;
}

/* Completes the record that the last call left incomplete; returns the number of words used. */
static size_t finish_pending(struct record *rec, const uint64_t *words, size_t count)
{
	size_t taken = 0, used;

	while (rec->pending_count && taken < count) {
		rec->pending[rec->pending_count++] = words[taken++];
		used = take_record(rec, rec->pending, rec->pending_count);
		rec->pending_count -= used;
		memmove(rec->pending, rec->pending + used,
			rec->pending_count * sizeof(*rec->pending));
	}
	return taken;
}

int record_words(const uint64_t *words, size_t count, void *data)
{
	struct record *rec = data;
	size_t i, used;

	rec->stats.sample_dumps++;
	rec->is_dumped = false;
	i = finish_pending(rec, words, count);
	while ((used = take_record(rec, words + i, count - i)))
		i += used;
	memcpy(rec->pending + rec->pending_count, words + i, (count - i) * sizeof(*words));
	rec->pending_count += count - i;
	store_settle(rec->store);
	return 0;
}
