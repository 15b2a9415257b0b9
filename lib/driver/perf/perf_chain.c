/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/perf/perf_chain.h"

#include "base/macro.h"
#include "identity/cookie.h"
#include "perf/callchain.h"

struct walk {
	struct attribution *a;
	const struct perf_record *record;
	struct callchain chain;
	size_t count; /* of a->frames */
	bool lost;    /* an address was in no mapping */
	bool signal;  /* the frame is the code that a signal handler returns to */
};

/* Whether the kernel skips the caller of user space's frame at @address, which is the last one: the
 * function that a signal interrupted. */
static bool ends_in_signal(struct walk *w, uint64_t address)
{
	struct attribution *a = w->a;

	w->signal = a->trampolines && trampolines_has(a->trampolines, w->record->pid,
						      &a->frames[w->count - 1], address);
	return w->signal;
}

/* Adds the frame; false if the chain ends. */
static bool add_frame(struct walk *w, const struct callchain_frame *f)
{
	struct evbuf_frame *frame = &w->a->frames[w->count];
	bool is_caller = f->kind == CALLCHAIN_CALLER;

	if (f->kind == CALLCHAIN_KERNEL) {
		*frame = (struct evbuf_frame){ EVBUF_KERNEL, f->address };
		w->count++;
		return true;
	}
	w->lost = !attribution_user_frame(w->a, w->record, f->address, is_caller, frame);
	w->count += !w->lost;
	if (w->lost || !ends_in_signal(w, f->address))
		return !w->lost;
	frame->offset += is_caller;
	return false;
}

/* Handles the next frame of the chain; false if the chain ends. */
static bool take(struct walk *w, const struct callchain_frame *f)
{
	if (f->kind == CALLCHAIN_LEAF_KERNEL)
		return true;
	if (f->kind == CALLCHAIN_LEAF_USER)
		return !ends_in_signal(w, f->address);
	return w->count < w->a->depth && add_frame(w, f);
}

/* Why the chain ends. */
static enum chain_end end_of(const struct walk *w)
{
	if (w->lost)
		return CHAIN_END_NO_MAPPING;
	if (w->signal)
		return CHAIN_END_SIGNAL;
	/* The kernel stops at the requested depth. */
	if (w->chain.addresses >= w->a->depth)
		return CHAIN_END_DEPTH;
	if (w->chain.user_seen)
		return CHAIN_END_FP_END;
	return w->a->memo.kernel || !w->record->pid ? CHAIN_END_COMPLETE : CHAIN_END_NO_USER;
}

enum chain_end perf_chain_end_of(const struct cookie_table *cookies, enum chain_end stop,
				 uint64_t cookie)
{
	const struct cookie_image *image = cookie_lookup(cookies, cookie);

	if (stop == CHAIN_END_NO_RULE && image && image->kind == COOKIE_ANON &&
	    !cookie_is_vdso_32(image))
		return CHAIN_END_NO_CODE;
	return stop;
}

/* Continues in user space with the stack copy. */
static enum chain_end unwind_user(struct walk *w, struct span more)
{
	struct attribution *a = w->a;
	const struct process *p;
	struct user_stack stack;
	enum chain_end stop;
	size_t i, count;
	int r = user_stack_decode(&more, &stack);

	if (r < 0)
		a->stats->bad_record++;
	if (r == 0 && stack.is_32_bit)
		return CHAIN_END_BITS_32;
	if (r <= 0)
		return a->memo.kernel || !w->record->pid ? CHAIN_END_COMPLETE : CHAIN_END_NO_USER;
	/* A sample in user space is itself the first frame. */
	i = w->chain.user_seen;
	stack.in_user = i > 0;
	p = process_get(&a->sideband->processes, w->record->pid);
	if (!p)
		return CHAIN_END_NO_MAPPING;
	stop = unwinder_chain(a->unwinder, p, &stack, a->pcs, a->depth - w->count + i, &count);
	for (; i < count; i++) {
		if (!attribution_user_frame(a, w->record, a->pcs[i], i > 0, &a->frames[w->count]))
			return CHAIN_END_NO_MAPPING;
		w->count++;
	}
	return perf_chain_end_of(a->sideband->from.cookies, stop, a->frames[w->count - 1].cookie);
}

size_t perf_chain_callers(struct attribution *a, const struct perf_record *r, enum chain_end *ret)
{
	struct walk w = { .a = a, .record = r, .count = 1 };
	struct span more = r->more;
	struct callchain_frame f;

	if (a->trampolines)
		trampolines_begin_chain(a->trampolines);
	w.chain.user_seen = a->frames[0].cookie != EVBUF_KERNEL;
	if (perf_record_callchain(&more, &w.chain.words) < 0) {
		a->stats->bad_record++;
		*ret = CHAIN_END_UNKNOWN;
		return 1;
	}
	while (callchain_next(&w.chain, &f) && take(&w, &f))
		continue;
	if (a->unwinder && w.count < a->depth)
		*ret = unwind_user(&w, more);
	else
		*ret = end_of(&w);
	return w.count;
}
