/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/perf/perf_chain.h"

#include "base/macro.h"
#include "identity/cookie.h"

/* The kind of the addresses that follow a context marker of the kernel. */
enum context { CONTEXT_NONE, CONTEXT_KERNEL, CONTEXT_USER, CONTEXT_OTHER };

struct walk {
	struct attribution *a;
	const struct perf_record *record;
	enum context context;
	size_t count;	/* of a->frames */
	bool leaf_seen; /* the address of the sample itself */
	bool user_seen; /* an address in user space */
	bool lost;	/* an address was in no mapping */
	bool signal;	/* the frame is the code that a signal handler returns to */
};

static bool is_mark(uint64_t word)
{
	return word >= (uint64_t)PERF_CONTEXT_MAX;
}

static enum context context_of(uint64_t mark)
{
	switch (mark) {
	case (uint64_t)PERF_CONTEXT_KERNEL:
		return CONTEXT_KERNEL;
	case (uint64_t)PERF_CONTEXT_USER:
		return CONTEXT_USER;
	default: /* of a guest or the hypervisor */
		return CONTEXT_OTHER;
	}
}

/* Whether the kernel skips the caller of user space's frame at @address, which is the last one: the
 * function that a signal interrupted. */
static bool ends_in_signal(struct walk *w, uint64_t address)
{
	struct attribution *a = w->a;

	w->signal = a->trampolines && trampolines_has(a->trampolines, w->record->pid,
						      &a->frames[w->count - 1], address);
	return w->signal;
}

/* Adds the frame at @address; false if the chain ends. */
static bool add_frame(struct walk *w, uint64_t address)
{
	struct evbuf_frame *frame = &w->a->frames[w->count];
	bool is_caller = w->user_seen;

	if (w->context == CONTEXT_KERNEL) {
		*frame = (struct evbuf_frame){ EVBUF_KERNEL, address };
		w->count++;
		return true;
	}
	/* The user PC at the kernel entry is not a return address. */
	w->user_seen = true;
	w->lost = !attribution_user_frame(w->a, w->record, address, is_caller, frame);
	w->count += !w->lost;
	if (w->lost || !ends_in_signal(w, address))
		return !w->lost;
	frame->offset += is_caller;
	return false;
}

/* Handles the next word of the chain; false if the chain ends. */
static bool take(struct walk *w, uint64_t word)
{
	if (is_mark(word)) {
		w->context = context_of(word);
		return true;
	}
	if (w->context != CONTEXT_KERNEL && w->context != CONTEXT_USER)
		return true;
	/* A task that left its CPU is counted where it entered the kernel, not inside the
	 * kernel. */
	if (w->context == CONTEXT_KERNEL && w->user_seen)
		return true;
	/* The first address is that of the sample, which is already there, possibly more
	 * precise. */
	if (!w->leaf_seen) {
		w->leaf_seen = true;
		w->user_seen = w->context == CONTEXT_USER;
		return !w->user_seen || !ends_in_signal(w, word);
	}
	return w->count < w->a->depth && add_frame(w, word);
}

/* Why the chain of @addresses addresses ends. */
static enum chain_end end_of(const struct walk *w, size_t addresses)
{
	if (w->lost)
		return CHAIN_END_NO_MAPPING;
	if (w->signal)
		return CHAIN_END_SIGNAL;
	/* The kernel stops at the requested depth. */
	if (addresses >= w->a->depth)
		return CHAIN_END_DEPTH;
	if (w->user_seen)
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
	i = w->user_seen;
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
	struct span more = r->more, words;
	size_t addresses = 0;
	uint64_t word;

	w.user_seen = a->frames[0].cookie != EVBUF_KERNEL;
	if (perf_record_callchain(&more, &words) < 0) {
		a->stats->bad_record++;
		*ret = CHAIN_END_UNKNOWN;
		return 1;
	}
	while (span_u64(&words, &word) == 0) {
		addresses += !is_mark(word);
		if (!take(&w, word))
			break;
	}
	if (a->unwinder && w.count < a->depth)
		*ret = unwind_user(&w, more);
	else
		*ret = end_of(&w, addresses);
	return w.count;
}
