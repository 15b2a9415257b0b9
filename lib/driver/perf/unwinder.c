/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/perf/unwinder.h"

#include "base/mem.h"
#include "base/clock.h"
#include "driver/perf/code_memory.h"
#include "driver/perf/unwind_errand.h"
#include "identity/cookie_identify.h"
#include "driver/driver.h"
#include "parser/parser.h"
#include "unwind/unwind_chain.h"
#include "unwind/unwind_vdso.h"

#include <errno.h>

struct unwinder {
	const struct cookie_table *cookies;
	const char *root;
	struct unwind_cache *cache;
	struct code_memory *code;
	struct opener *opener;	 /* has files opened, or NULL */
	struct errands *errands; /* asks it; NULL: nothing was asked yet */
	uint64_t asked, taken;	 /* questions and answers */
	uint64_t moved_ns;	 /* when the last answer came, or the first question was asked */
	bool may_wait, waits;
};

/* How long the last answer may be ago for a chain to wait for the next one. A file system that
 * hangs takes longer (identity/opener.h), the tables of large programs do not. */
static const uint64_t patience_ns = NS_PER_S / 2;

/* One unwinding. */
struct walk {
	struct unwinder *u;
	const struct process *process;
	struct user_stack *stack;
	/* The mapping of the last frame, which often contains this one, too. */
	const struct mapping *mapping;
	const struct unwind_table *table;
};

/* Where to look for the requested image. */
struct opening {
	struct unwinder *u;
	const struct cookie_mapped *where;
};

/* --- questions --- */

/* Hands over a question: -EINPROGRESS, or -EDQUOT if it is to be asked again later. */
static int ask(struct unwinder *u, struct errand *e)
{
	if (!u->errands && errands_new(ERRANDS_OUTSIDE, &u->errands, NULL) < 0) {
		e->drop(e);
		return -EDQUOT;
	}
	if (!errands_add(u->errands, e))
		return -EDQUOT;
	if (u->taken == u->asked++)
		u->moved_ns = clock_now_ns();
	return -EINPROGRESS;
}

/* A code_memory_ask. */
static int ask_for_code(void *data, uint32_t tgid, uint64_t page)
{
	struct unwinder *u = data;

	return ask(u, unwind_errand_code(u->opener, tgid, page));
}

/* An unwind_cache_build of an answer. */
static int take_table(void *data, uint64_t cookie _unused_, struct unwind_rules *rules,
		      struct unwind_table **ret)
{
	const struct unwind_errand *e = data;
	int r = e->code ?: parser_table_parse(e->bytes, e->size, rules, ret);

	/* A process that hung is asked again later. */
	return r == -EHOSTDOWN || r == -ETIME ? -EDQUOT : r;
}

static void take_answers(struct unwinder *u)
{
	struct errand *next;

	while (u->errands && (next = errands_take(u->errands))) {
		_cleanup_(unwind_errand_freep) struct unwind_errand *e =
			(struct unwind_errand *)next;

		u->taken++;
		u->moved_ns = clock_now_ns();
		if (e->cookie)
			unwind_cache_answer(u->cache, e->cookie, take_table, e);
		else
			code_memory_answer(u->code, e->where.tgid, e->where.start, e->code,
					   e->bytes);
	}
}

/* Notes that a chain depends on an answer that has not come. */
static void note_wait(struct unwinder *u)
{
	u->waits = u->waits || (u->may_wait && clock_now_ns() < u->moved_ns + patience_ns);
}

void unwinder_may_wait(struct unwinder *u, bool may_wait)
{
	u->may_wait = may_wait;
	u->waits = false;
}

bool unwinder_waits(const struct unwinder *u)
{
	return u->waits;
}

bool unwinder_await(struct unwinder *u, int ms)
{
	bool has_come =
		u->errands && u->taken < u->asked && errands_wait(u->errands, u->taken + 1, ms);

	take_answers(u);
	return has_come;
}

struct unwinder *unwinder_new(const struct cookie_table *cookies, const char *root, size_t budget)
{
	struct unwinder *u = xcalloc(1, sizeof(*u));

	u->cookies = cookies;
	u->root = root;
	u->cache = unwind_cache_new(budget ?: DRIVER_UNWIND_DEFAULT);
	u->code = code_memory_new(root, cookies);
	u->opener = cookie_opener(cookies);
	if (u->opener)
		code_memory_asker(u->code, ask_for_code, u);
	return u;
}

void unwinder_free(struct unwinder *u)
{
	if (!u)
		return;
	errands_free(u->errands);
	unwind_cache_free(u->cache);
	code_memory_free(u->code);
	free(u);
}

/* An unwind_cache_build. */
static int build_table(void *data, uint64_t cookie, struct unwind_rules *rules,
		       struct unwind_table **ret)
{
	const struct opening *o = data;
	const struct cookie_image *image = cookie_lookup(o->u->cookies, cookie);
	_cleanup_close_ int fd = -1;
	int r;

	if (!image)
		return -ENOENT;
	if (image->kind == COOKIE_VDSO || cookie_is_vdso_32(image))
		return unwind_vdso_table(image->kind != COOKIE_VDSO, rules, ret);
	if (image->kind != COOKIE_FILE)
		return -ENOENT;
	if (o->u->opener)
		return ask(o->u, unwind_errand_table(o->u->opener, image, o->where));
	fd = cookie_open_file(image, o->where);
	if (fd < 0)
		return fd;
	r = parser_table(cookie_parser(o->u->cookies), fd, rules, ret, NULL);
	return r == -ENOENT ? -ENODATA : r;
}

/* Finds the table of the image @cookie, building it if necessary from the file mapped at @where.
 * Returns CHAIN_GOES_ON, or why there is no table. *@ret is borrowed until the next call. */
static enum chain_end find_table(struct unwinder *u, uint64_t cookie,
				 const struct cookie_mapped *where, const struct unwind_table **ret)
{
	struct opening opening = { u, where };

	enum chain_end stop = unwind_cache_find(u->cache, cookie, build_table, &opening, ret);

	if (stop == CHAIN_END_NOT_LOADED)
		note_wait(u);
	return stop;
}

static enum chain_end find(void *data, uint64_t address, const struct unwind_table **ret,
			   uint64_t *ret_pc)
{
	struct walk *w = data;
	const struct mapping *m = w->mapping;
	enum chain_end stop;

	if (!m || address < m->start || address >= m->end) {
		m = w->process->maps ? maps_find(w->process->maps, address) : NULL;
		if (!m)
			return CHAIN_END_NO_MAPPING;
		/* Generated code. */
		if (!m->cookie)
			return CHAIN_END_NO_RULE;
		stop = find_table(w->u, m->cookie,
				  &(struct cookie_mapped){ w->u->root, w->process->tgid, m->start,
							   m->end },
				  &w->table);
		if (stop != CHAIN_GOES_ON)
			return stop;
		w->mapping = m;
	}
	*ret = w->table;
	return unwind_table_pc(w->table, address - m->start + m->offset, ret_pc)
		       ? CHAIN_GOES_ON
		       : CHAIN_END_NO_RULE;
}

static int read_stack(void *data, __u64 address, __u64 *ret)
{
	return user_stack_read(((struct walk *)data)->stack, address, ret);
}

static int read_code(void *data, __u64 address, __u64 *ret)
{
	const struct walk *w = data;
	uint64_t bytes;
	int r = code_memory_read(w->u->code, w->process->tgid, address, &bytes);

	if (r == -EINPROGRESS)
		note_wait(w->u);
	if (r < 0)
		return CHAIN_END_UNREADABLE;
	*ret = bytes;
	return CHAIN_GOES_ON;
}

static int tell_register(void *data, __u32 reg, __u64 *ret)
{
	return user_stack_reg(((struct walk *)data)->stack, reg, ret);
}

enum chain_end unwinder_chain(struct unwinder *u, const struct process *process,
			      struct user_stack *stack, uint64_t *pcs, size_t max,
			      size_t *ret_count)
{
	struct walk walk = { .u = u, .process = process, .stack = stack };
	const struct unwind_from from = {
		.machine = stack->machine,
		.rules = unwind_cache_rules(u->cache),
		.find = find,
		.read = read_stack,
		.code = read_code,
		.reg = tell_register,
		.data = &walk,
	};
	struct unwind_frame frame;

	u->waits = false;
	user_stack_frame(stack, &frame);
	return unwind_chain(&frame, &from, pcs, max, ret_count);
}

void unwinder_round(struct unwinder *u)
{
	take_answers(u);
	unwind_cache_round(u->cache);
	code_memory_round(u->code);
}

const struct unwind_cache_stats *unwinder_stats(const struct unwinder *u)
{
	return unwind_cache_stats(u->cache);
}
