/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oprofilefs/evexport.h"

#include "base/map.h"
#include "base/mem.h"
#include "stream/evbuf.h"

#include <string.h>

enum {
	CONTEXT_WORDS = 10, /* CPU_SWITCH, CTX_SWITCH with CTX_TGID */
	FRAME_WORDS = 7,    /* KERNEL_ENTER or USER_ENTER, COOKIE_SWITCH, the sample */
	CODE_WORDS_MAX = 16,
};

struct context {
	bool known;
	uint64_t cpu, tid, app, tgid;
};

struct frame {
	bool kernel;
	uint64_t cookie, at, counter;
};

/* What is to be written, whole: a sample or a call chain, or a code with its words. */
struct unit {
	struct frame *frames;
	size_t count, room;
	bool chain;
	uint64_t weight; /* times still to be written; 0: there is no chain */
	uint64_t code, words[CODE_WORDS_MAX];
	size_t word_count;
};

/* Callers that chains name by number. */
struct list {
	struct frame *frames;
	size_t count, room;
};

struct evexport {
	struct evexport_config config;
	struct map lists;
	struct list *list; /* the one that grows, or NULL */
	uint64_t *in;	   /* put and not yet looked at, from ->at on */
	size_t at, count, room;

	/* Where the input is. */
	struct context now;
	bool kernel;
	uint64_t cookie, weight;
	struct unit unit;
	bool in_chain; /* ->unit grows */

	/* What the reader knows. */
	struct context sent;
	int sent_kernel; /* -1: not known */
	uint64_t sent_cookie;
	bool sent_any_cookie, traced;
};

struct evexport *evexport_new(const struct evexport_config *config)
{
	struct evexport *e = xcalloc(1, sizeof(*e));

	e->config = *config;
	e->config.ibs_op_words = config->ibs_op_words ?: 13;
	e->weight = 1;
	evexport_restart(e);
	return e;
}

void evexport_free(struct evexport *e)
{
	if (!e)
		return;
	map_for_each (&e->lists, slot) {
		free(((struct list *)slot->value)->frames);
		free(slot->value);
	}
	map_done(&e->lists);
	free(e->in);
	free(e->unit.frames);
	free(e);
}

void evexport_put(struct evexport *e, const uint64_t *words, size_t count)
{
	if (!count)
		return;
	if (e->at)
		memmove(e->in, e->in + e->at, (e->count - e->at) * sizeof(*e->in));
	e->count -= e->at;
	e->at = 0;
	array_grow(&e->in, e->count + count, &e->room);
	memcpy(e->in + e->count, words, count * sizeof(*words));
	e->count += count;
}

void evexport_restart(struct evexport *e)
{
	e->sent = (struct context){ .known = false };
	e->sent_kernel = -1;
	e->sent_any_cookie = e->traced = false;
}

/* --- reading --- */

static int words_after(const struct evexport *e, uint64_t code)
{
	return code == EVBUF_IBS_OP ? (int)e->config.ibs_op_words : evbuf_words_after(code);
}

/* The chain that grew is whole. */
static void end_chain(struct evexport *e)
{
	if (e->in_chain && !e->unit.count)
		e->unit.weight = 0;
	e->in_chain = false;
}

static void add_frame(struct evexport *e, uint64_t at, uint64_t counter)
{
	struct unit *u = &e->unit;

	if (counter >= e->config.counter_count) {
		e->weight = 1;
		return;
	}
	if (u->count == 0)
		u->weight = e->weight;
	e->weight = 1;
	if (u->count >= EVBUF_FRAMES_MAX)
		return;
	array_grow(&u->frames, u->count + 1, &u->room);
	u->frames[u->count++] =
		(struct frame){ e->kernel, e->cookie, at, e->config.counters[counter] };
}

static void begin_list(struct evexport *e, uint64_t number)
{
	e->list = number < EVBUF_LISTS_MAX ? map_get(&e->lists, number) : NULL;
	if (!e->list && number < EVBUF_LISTS_MAX) {
		e->list = xcalloc(1, sizeof(*e->list));
		(void)map_set(&e->lists, number, e->list);
	}
	if (e->list)
		e->list->count = 0;
}

static void add_caller(struct evexport *e, uint64_t cookie, uint64_t at)
{
	struct list *l = e->list;

	if (!l || l->count >= EVBUF_FRAMES_MAX)
		return;
	array_grow(&l->frames, l->count + 1, &l->room);
	l->frames[l->count++] = (struct frame){ cookie == EVBUF_KERNEL, cookie, at, 0 };
}

/* Continues the chain with a list of callers, if the list came since the reader connected, and ends
 * it. */
static void add_list(struct evexport *e, uint64_t number)
{
	const struct list *l = map_get(&e->lists, number);
	struct unit *u = &e->unit;
	size_t i;

	for (i = 0; l && u->count && i < l->count && u->count < EVBUF_FRAMES_MAX; i++) {
		array_grow(&u->frames, u->count + 1, &u->room);
		u->frames[u->count] = l->frames[i];
		u->frames[u->count++].counter = u->frames[0].counter;
	}
	end_chain(e);
}

/* Handles one code; leaves what must be written in ->unit. */
static void take_code(struct evexport *e, uint64_t code, const uint64_t *words, size_t count)
{
	switch (code) {
	case EVBUF_CTX_SWITCH:
		e->now.tid = words[0];
		e->now.app = words[1];
		e->now.known = true;
		break;
	case EVBUF_CTX_TGID:
		e->now.tgid = words[0];
		break;
	case EVBUF_CPU_SWITCH:
		e->now.cpu = words[0];
		break;
	case EVBUF_COOKIE_SWITCH:
		e->cookie = words[0];
		break;
	case EVBUF_KERNEL_ENTER:
	case EVBUF_USER_ENTER:
		e->kernel = code == EVBUF_KERNEL_ENTER;
		break;
	case EVBUF_WEIGHT:
		e->weight = words[0];
		break;
	case EVBUF_TRACE_BEGIN:
		e->in_chain = true;
		e->unit.chain = true;
		break;
	case EVBUF_MODULE_LOADED:
	case EVBUF_IBS_FETCH:
	case EVBUF_IBS_OP:
		e->unit.code = code;
		e->unit.word_count = MIN(count, (size_t)CODE_WORDS_MAX);
		memcpy(e->unit.words, words, e->unit.word_count * sizeof(*words));
		e->unit.weight = 1;
		break;
	case EVBUF_CALLERS:
		begin_list(e, words[0]);
		break;
	case EVBUF_CALLER:
		add_caller(e, words[0], words[1]);
		break;
	case EVBUF_CALLED_BY:
		if (e->in_chain)
			add_list(e, words[0]);
		break;
	default: /* ours, or nobody's */
		break;
	}
}

/* Whether a code ends the call chain before it. */
static bool ends_chain(uint64_t code)
{
	return code == EVBUF_TRACE_END || code == EVBUF_TRACE_BEGIN || code == EVBUF_CTX_SWITCH ||
	       code == EVBUF_CPU_SWITCH || code == EVBUF_MODULE_LOADED || code == EVBUF_IBS_FETCH ||
	       code == EVBUF_IBS_OP;
}

/* Handles the next record; false if it is not complete yet. A chain that it ends is left to
 * be written before it is looked at. */
static bool take_record(struct evexport *e)
{
	size_t left = e->count - e->at;
	const uint64_t *in;
	int after;

	if (left < 2)
		return false;
	in = e->in + e->at;
	if (in[0] != EVBUF_ESCAPE) {
		e->at += 2;
		add_frame(e, in[0], in[1]);
		return true;
	}
	if (e->in_chain && ends_chain(in[1])) {
		end_chain(e);
		return true;
	}
	after = words_after(e, in[1]);
	if (after > 0 && left < 2 + (size_t)after)
		return false;
	e->at += 2 + (size_t)MAX(after, 0);
	take_code(e, in[1], in + 2, (size_t)MAX(after, 0));
	return true;
}

/* Makes sure that there is something whole to write; false where that has not come yet. */
static bool next_unit(struct evexport *e)
{
	while (e->in_chain || !e->unit.weight) {
		if (!e->in_chain) {
			e->unit.count = e->unit.word_count = 0;
			e->unit.code = 0;
			e->unit.chain = false;
		}
		if (!take_record(e))
			return false;
	}
	return true;
}

/* --- writing --- */

struct output {
	uint64_t *words;
	size_t count, room;
};

static void add(struct output *o, uint64_t word)
{
	o->words[o->count++] = word;
}

static void add_code(struct output *o, uint64_t code)
{
	add(o, EVBUF_ESCAPE);
	add(o, code);
}

static void add_cpu(struct evexport *e, struct output *o)
{
	if (e->sent.known && e->sent.cpu == e->now.cpu)
		return;
	add_code(o, EVBUF_CPU_SWITCH);
	add(o, e->now.cpu);
	e->sent_any_cookie = false;
}

static void add_task(struct evexport *e, struct output *o)
{
	const struct context *now = &e->now, *sent = &e->sent;

	if (!sent->known || sent->tid != now->tid || sent->tgid != now->tgid ||
	    sent->app != now->app) {
		add_code(o, EVBUF_CTX_SWITCH);
		add(o, now->tid);
		add(o, now->app);
		add_code(o, EVBUF_CTX_TGID);
		add(o, now->tgid);
		e->sent_any_cookie = false;
	}
	e->sent = *now;
	e->sent.known = true;
}

static void add_mode(struct evexport *e, struct output *o, bool kernel)
{
	if (e->sent_kernel != kernel)
		add_code(o, kernel ? EVBUF_KERNEL_ENTER : EVBUF_USER_ENTER);
	e->sent_kernel = kernel;
}

static void add_place(struct evexport *e, struct output *o, bool kernel, uint64_t cookie)
{
	add_mode(e, o, kernel);
	if (kernel || (e->sent_any_cookie && e->sent_cookie == cookie))
		return;
	add_code(o, EVBUF_COOKIE_SWITCH);
	add(o, cookie);
	e->sent_cookie = cookie;
	e->sent_any_cookie = true;
}

/* Writes the unit once; of a chain as many frames as there is room for. */
static void add_unit(struct evexport *e, struct output *o)
{
	const struct unit *u = &e->unit;
	size_t i;

	if (u->code) {
		if (u->word_count) {
			add_cpu(e, o);
			add_mode(e, o, e->kernel);
			add_task(e, o);
			add_place(e, o, e->kernel, e->cookie);
		}
		add_code(o, u->code);
		for (i = 0; i < u->word_count; i++)
			add(o, u->words[i]);
		return;
	}
	add_cpu(e, o);
	/* A chain ends with the next one: a sample without one among them is a chain of one. The
	 * kernel driver wrote a change of task after the begin of its first chain. */
	if (u->chain || e->traced)
		add_code(o, EVBUF_TRACE_BEGIN);
	e->traced |= u->chain;
	add_mode(e, o, u->frames[0].kernel);
	add_task(e, o);
	for (i = 0; i < u->count && o->room - o->count >= FRAME_WORDS; i++) {
		add_place(e, o, u->frames[i].kernel, u->frames[i].cookie);
		add(o, u->frames[i].at);
		add(o, u->frames[i].counter);
	}
}

size_t evexport_take(struct evexport *e, uint64_t *out, size_t room)
{
	struct output o = { out, 0, room };
	size_t need;

	while (next_unit(e)) {
		need = CONTEXT_WORDS + 2 + e->unit.count * FRAME_WORDS + FRAME_WORDS +
		       e->unit.word_count;
		if (room - o.count < need && (o.count || room < EVEXPORT_READ_MIN))
			break;
		add_unit(e, &o);
		e->unit.weight--;
	}
	return o.count;
}

bool evexport_ready(const struct evexport *e)
{
	return (e->unit.weight && !e->in_chain) || e->count - e->at >= 2;
}
