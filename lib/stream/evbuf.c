/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stream/evbuf.h"

#include "base/macro.h"
#include "base/mem.h"

#include <string.h>

/* The longest record is a feature's code with its whole context. What is handed over at once must
 * not take long to record. */
enum { RECORD_WORDS_MAX = 40, BUFFER_WORDS_MIN = 64, BUFFER_WORDS_MAX = 4096 };

enum mode { MODE_UNKNOWN, MODE_KERNEL, MODE_USER };

struct evbuf {
	evbuf_sink *sink;
	void *data;
	uint64_t *words;
	size_t count, room;
	uint64_t cut_chains;
	int failure; /* of the sink, the last one since the flush that returned one */

	/* The context that the words so far have set. */
	struct evbuf_context written;
	bool have_context;
	enum mode mode;
	uint64_t cookie;
	bool have_cookie;

	struct evbuf_context context; /* of the next sample */
	bool context_changed;	      /* it differs from ->written */
};

int evbuf_words_after(uint64_t code)
{
	switch (code) {
#define X(name, number, words)                                                                     \
	case number:                                                                               \
		return words;
		EVBUF_CODES(X)
#undef X
	}
	return -1;
}

struct evbuf *evbuf_new(size_t words, evbuf_sink *sink, void *data)
{
	struct evbuf *b = xcalloc(1, sizeof(*b));

	b->sink = sink;
	b->data = data;
	b->room = MAX(words, (size_t)BUFFER_WORDS_MIN);
	b->room = MIN(b->room, (size_t)BUFFER_WORDS_MAX);
	b->words = xcalloc(b->room, sizeof(*b->words));
	return b;
}

void evbuf_free(struct evbuf *b)
{
	if (!b)
		return;
	free(b->words);
	free(b);
}

static void hand_over(struct evbuf *b)
{
	int r = b->count ? b->sink(b->words, b->count, b->data) : 0;

	if (r < 0)
		b->failure = r;
	b->count = 0;
}

int evbuf_flush(struct evbuf *b)
{
	int r;

	hand_over(b);
	r = b->failure;
	b->failure = 0;
	return r;
}

void evbuf_restart(struct evbuf *b)
{
	b->have_context = b->have_cookie = false;
	b->mode = MODE_UNKNOWN;
}

uint64_t evbuf_cut_chains(const struct evbuf *b)
{
	return b->cut_chains;
}

/* Makes room for one record, so that the sink gets whole ones. */
static void make_room(struct evbuf *b)
{
	if (_unlikely_(b->room - b->count < RECORD_WORDS_MAX))
		hand_over(b);
}

static void put(struct evbuf *b, uint64_t word)
{
	b->words[b->count++] = word;
}

static void put_code(struct evbuf *b, enum evbuf_code code)
{
	put(b, EVBUF_ESCAPE);
	put(b, code);
}

void evbuf_context(struct evbuf *b, const struct evbuf_context *c)
{
	b->context = *c;
	b->context_changed = !b->have_context || c->cpu != b->written.cpu ||
			     c->tgid != b->written.tgid || c->tid != b->written.tid ||
			     c->app != b->written.app || c->cgroup != b->written.cgroup ||
			     c->comm != b->written.comm;
}

static void put_context(struct evbuf *b)
{
	const struct evbuf_context *c = &b->context, *old = &b->written;

	if (!b->have_context || c->cpu != old->cpu) {
		put_code(b, EVBUF_CPU_SWITCH);
		put(b, c->cpu);
	}
	if (!b->have_context || c->tid != old->tid || c->tgid != old->tgid || c->app != old->app) {
		put_code(b, EVBUF_CTX_SWITCH);
		put(b, c->tid);
		put(b, c->app);
		put_code(b, EVBUF_CTX_TGID);
		put(b, c->tgid);
	}
	if (c->cgroup != old->cgroup) {
		put_code(b, EVBUF_CTX_CGROUP);
		put(b, c->cgroup);
	}
	if (c->comm != old->comm) {
		put_code(b, EVBUF_CTX_COMM);
		put(b, c->comm);
	}
	b->written = *c;
	b->have_context = true;
	b->context_changed = false;
}

/* Writes the context of a sample where it differs from that of the one before. */
static void put_prefix(struct evbuf *b, enum mode mode)
{
	make_room(b);
	if (_unlikely_(b->context_changed))
		put_context(b);
	if (_likely_(b->mode == mode))
		return;
	put_code(b, mode == MODE_KERNEL ? EVBUF_KERNEL_ENTER : EVBUF_USER_ENTER);
	b->mode = mode;
}

static void put_sample(struct evbuf *b, uint64_t at, unsigned int counter, uint64_t weight)
{
	if (weight != 1) {
		put_code(b, EVBUF_WEIGHT);
		put(b, weight);
	}
	/* The highest address would read as an escape; there is no code at it. */
	put(b, at == EVBUF_ESCAPE ? at - 1 : at);
	put(b, counter);
}

/* Writes the context of a record at an offset in the image @cookie. */
static void put_place(struct evbuf *b, uint64_t cookie)
{
	put_prefix(b, MODE_USER);
	if (_likely_(b->have_cookie && b->cookie == cookie))
		return;
	put_code(b, EVBUF_COOKIE_SWITCH);
	put(b, cookie);
	b->cookie = cookie;
	b->have_cookie = true;
}

void evbuf_words_at(struct evbuf *b, enum evbuf_code code, const struct evbuf_frame *at,
		    uint64_t *words, size_t count)
{
	size_t i;

	assert(count && count <= 16);
	if (at->cookie == EVBUF_KERNEL)
		put_prefix(b, MODE_KERNEL);
	else
		put_place(b, at->cookie);
	words[0] = at->offset;
	put_code(b, code);
	for (i = 0; i < count; i++)
		put(b, words[i]);
}

void evbuf_sample(struct evbuf *b, uint64_t cookie, uint64_t offset, unsigned int counter,
		  uint64_t weight)
{
	put_place(b, cookie);
	put_sample(b, offset, counter, weight);
}

void evbuf_kernel_sample(struct evbuf *b, uint64_t pc, unsigned int counter, uint64_t weight)
{
	put_prefix(b, MODE_KERNEL);
	put_sample(b, pc, counter, weight);
}

static void put_frame(struct evbuf *b, const struct evbuf_frame *f, unsigned int counter,
		      uint64_t weight)
{
	if (f->cookie == EVBUF_KERNEL)
		evbuf_kernel_sample(b, f->offset, counter, weight);
	else
		evbuf_sample(b, f->cookie, f->offset, counter, weight);
}

static void begin_chain(struct evbuf *b, const struct evbuf_frame *leaf,
			const struct evbuf_trace *trace)
{
	if (trace->end != CHAIN_END_COMPLETE && trace->end != CHAIN_END_DEPTH)
		b->cut_chains += trace->weight;
	/* A change of task or CPU ends a chain, so it has to come before. */
	make_room(b);
	if (b->context_changed)
		put_context(b);
	put_code(b, EVBUF_TRACE_BEGIN);
	put_frame(b, leaf, trace->counter, trace->weight);
}

void evbuf_chain(struct evbuf *b, const struct evbuf_frame *frames, size_t count,
		 const struct evbuf_trace *trace)
{
	size_t i, n = MIN(count, (size_t)EVBUF_FRAMES_MAX);
	struct evbuf_trace written = *trace;

	if (!n)
		return;
	if (n < count)
		written.end = CHAIN_END_DEPTH;
	begin_chain(b, &frames[0], &written);
	for (i = 1; i < n; i++)
		put_frame(b, &frames[i], trace->counter, 1);
	make_room(b);
	put_code(b, EVBUF_CHAIN_END);
	put(b, written.end);
	put_code(b, EVBUF_TRACE_END);
}

void evbuf_callers(struct evbuf *b, uint32_t number, const struct evbuf_frame *frames, size_t count,
		   enum chain_end end)
{
	size_t i;

	make_room(b);
	put_code(b, EVBUF_CALLERS);
	put(b, number);
	put(b, end);
	put(b, count);
	for (i = 0; i < count; i++) {
		make_room(b);
		put_code(b, EVBUF_CALLER);
		put(b, frames[i].cookie);
		put(b, frames[i].offset);
	}
}

void evbuf_called(struct evbuf *b, const struct evbuf_frame *leaf, uint32_t number,
		  const struct evbuf_trace *trace)
{
	begin_chain(b, leaf, trace);
	make_room(b);
	put_code(b, EVBUF_CALLED_BY);
	put(b, number);
}

void evbuf_kernel_code(struct evbuf *b, uint64_t start, uint64_t length, uint64_t cookie)
{
	make_room(b);
	put_code(b, EVBUF_KERNEL_CODE);
	put(b, start);
	put(b, length);
	put(b, cookie);
}

void evbuf_generated(struct evbuf *b, uint32_t tgid, const struct evbuf_generated *code)
{
	size_t length = MIN(strlen(code->name), (size_t)EVBUF_NAME_MAX), at, i;
	uint64_t words[EVBUF_NAME_PART / 8];

	for (at = 0; at < length; at += EVBUF_NAME_PART) {
		memset(words, 0, sizeof(words));
		memcpy(words, code->name + at, MIN(length - at, sizeof(words)));
		make_room(b);
		put_code(b, EVBUF_NAME);
		for (i = 0; i < ARRAY_SIZE(words); i++)
			put(b, words[i]);
	}
	make_room(b);
	put_code(b, EVBUF_GENERATED);
	put(b, tgid);
	put(b, code->start);
	put(b, code->length);
}

void evbuf_code(struct evbuf *b, enum evbuf_code code)
{
	make_room(b);
	put_code(b, code);
}
