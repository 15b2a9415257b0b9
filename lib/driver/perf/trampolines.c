/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/perf/trampolines.h"

#include "base/clock.h"
#include "base/mem.h"
#include "driver/perf/code_memory.h"
#include "driver/perf/unwind_errand.h"
#include "identity/cookie.h"
#include "identity/cookie_identify.h"
#include "parser/parser_pages.h"
#include "perf/user_stack.h"

#include <errno.h>
#include <string.h>

enum {
	KNOWN_SHIFT = 14,
	PAGE_SHIFT = 12,
	NONE = 1 << PAGE_SHIFT, /* no offset in a page */
	/* From the code's first byte to where it goes on after the system call. */
	SIGNAL_CODE_BYTES = 9,
	ASKED_MAX = 32, /* pages */
};
/* How long nothing is read after a process whose memory took too long to read. */
#define QUIET_NS (60 * NS_PER_S)
/* How long chains do not wait after a page could not be read, and how long for an answer. */
static const uint64_t impatient_ns = NS_PER_S, patience_ns = NS_PER_S / 2;

/* The first trampoline in a page of a file, as an offset in the page; or NONE. */
struct page {
	uint64_t cookie; /* 0: unused */
	uint64_t number; /* in the file */
	uint32_t at;
};

/* A page that a thread reads. */
struct question {
	struct page wanted;
	uint32_t tgid;
	uint64_t address;
	uint8_t *first; /* the page before this one; NULL: this is the wanted one */
};

struct trampolines {
	const struct cookie_table *cookies;
	struct opener *opener;	 /* NULL: pages are read here */
	struct errands *errands; /* NULL: nothing was asked yet */
	struct question asked[ASKED_MAX];
	size_t asked_count;
	uint64_t taken;	    /* answers */
	uint64_t moved_ns;  /* when something was asked of an idle thread, or answered */
	uint64_t failed_ns; /* when a page could not be read */
	bool may_wait, waits;
	struct code_memory *code;
	uint32_t gone; /* a process whose memory could not be read */
	uint64_t quiet_until_ns;
	struct page known[1 << KNOWN_SHIFT];
};

struct trampolines *trampolines_new(const char *root, const struct cookie_table *cookies)
{
	struct trampolines *t = xcalloc(1, sizeof(*t));

	t->cookies = cookies;
	t->opener = cookie_opener(cookies);
	t->code = code_memory_new(root, cookies);
	return t;
}

void trampolines_free(struct trampolines *t)
{
	if (!t)
		return;
	errands_free(t->errands);
	while (t->asked_count)
		free(t->asked[--t->asked_count].first);
	code_memory_free(t->code);
	free(t);
}

/* The bytes of the code, as a number. */
static uint64_t code_of_trampoline(void)
{
#if defined(__aarch64__)
	return unwind_signal_code(UNWIND_AARCH64);
#else
	return unwind_signal_code(UNWIND_X86_64);
#endif
}

/* The offset of the first trampoline that begins in the first of two pages; NONE if none does. */
static uint32_t find(const uint8_t *pages)
{
	const uint64_t code = code_of_trampoline();
	const uint8_t *at =
		memmem(pages, (1 << PAGE_SHIFT) + sizeof(code) - 1, &code, sizeof(code));

	return at ? (uint32_t)(at - pages) : NONE;
}

/* Whether a trampoline may begin in a page and end in the next one. */
static bool may_straddle(const uint8_t *page)
{
	const uint64_t code = code_of_trampoline();
	size_t size;

	for (size = 1; size < sizeof(code); size++)
		if (!memcmp(page + NONE - size, &code, size))
			return true;
	return false;
}

/* Reads the page at @address and, if necessary, the one after it; what is not read is zero. */
static int read_pages(const struct trampolines *t, uint32_t tgid, uint64_t address, uint8_t *ret)
{
	int r = code_memory_pages(t->code, tgid, address, 1, ret);

	memset(ret + NONE, 0, NONE);
	return r == 0 && may_straddle(ret) ? code_memory_pages(t->code, tgid, address, 2, ret) : r;
}

/* Whether the bytes of the image are those of a file, or as constant. */
static bool is_constant(const struct trampolines *t, uint64_t cookie)
{
	const struct cookie_image *image = cookie_lookup(t->cookies, cookie);

	return image && (image->kind == COOKIE_FILE || image->kind == COOKIE_VDSO);
}

static struct page *place_of(struct trampolines *t, const struct page *wanted)
{
	uint64_t hash = (wanted->number ^ wanted->cookie << 40) * 0x9e3779b97f4a7c15ULL;

	return &t->known[hash >> (64 - KNOWN_SHIFT)];
}

/* Has a page read, if there is room; takes ->first of @q then. */
static bool ask(struct trampolines *t, const struct question *q)
{
	if (t->asked_count == ASKED_MAX ||
	    (!t->errands && errands_new(ERRANDS_OUTSIDE, &t->errands, NULL) < 0) ||
	    !errands_add(t->errands, unwind_errand_code(t->opener, q->tgid, q->address)))
		return false;
	if (!t->asked_count)
		t->moved_ns = clock_now_ns();
	t->asked[t->asked_count++] = *q;
	return true;
}

static bool is_asked(const struct trampolines *t, const struct page *wanted)
{
	size_t i;

	for (i = 0; i < t->asked_count; i++)
		if (t->asked[i].wanted.cookie == wanted->cookie &&
		    t->asked[i].wanted.number == wanted->number)
			return true;
	return false;
}

/* Notes an answer. If a trampoline may straddle the next page, asks for that first. */
static void note_answer(struct trampolines *t, const struct question *q, struct unwind_errand *e)
{
	uint8_t bytes[2 * PARSER_PAGE_BYTES] = { 0 };
	struct question next = { q->wanted, q->tgid, q->address + NONE, NULL };
	struct page *page;

	if (e->code < 0 && !q->first) {
		t->gone = q->tgid;
		t->failed_ns = clock_now_ns();
		return;
	}
	memcpy(bytes, q->first ?: e->bytes, NONE);
	if (q->first && e->code == 0)
		memcpy(bytes + NONE, e->bytes, NONE);
	if (!q->first && may_straddle(bytes)) {
		next.first = e->bytes;
		if (ask(t, &next)) {
			e->bytes = NULL;
			return;
		}
	}
	t->gone = 0;
	page = place_of(t, &q->wanted);
	*page = q->wanted;
	page->at = find(bytes);
}

static void take_answers(struct trampolines *t)
{
	struct errand *next;

	while (t->asked_count && (next = errands_take(t->errands))) {
		_cleanup_(unwind_errand_freep) struct unwind_errand *e =
			(struct unwind_errand *)next;
		const struct question q = t->asked[0];

		t->taken++;
		t->moved_ns = clock_now_ns();
		memmove(t->asked, t->asked + 1, --t->asked_count * sizeof(*t->asked));
		note_answer(t, &q, e);
		free(q.first);
	}
}

/* Has the page read, unless that was asked for; notes that a chain depends on the answer. */
static void ask_soon(struct trampolines *t, const struct question *q)
{
	uint64_t now_ns = clock_now_ns();

	if (is_asked(t, &q->wanted) || ask(t, q))
		t->waits = t->waits || (t->may_wait && now_ns < t->moved_ns + patience_ns &&
					now_ns - t->failed_ns > impatient_ns);
}

/* What is known about the page of @frame, which is read if necessary; NULL if that fails, or it is
 * not read yet. */
static const struct page *look_up(struct trampolines *t, uint32_t tgid,
				  const struct evbuf_frame *frame, uint64_t address)
{
	const struct page wanted = { .cookie = frame->cookie,
				     .number = frame->offset >> PAGE_SHIFT };
	const uint64_t start = address & ~(NONE - 1ULL);
	struct page *page = place_of(t, &wanted);
	uint8_t bytes[2 * PARSER_PAGE_BYTES];
	int r;

	take_answers(t);
	if (page->cookie == wanted.cookie && page->number == wanted.number)
		return page;
	if (tgid == t->gone || !is_constant(t, frame->cookie) || clock_now_ns() < t->quiet_until_ns)
		return NULL;
	if (t->opener) {
		ask_soon(t, &(struct question){ wanted, tgid, start, NULL });
		return NULL;
	}
	r = read_pages(t, tgid, start, bytes);
	if (r < 0) {
		if (r == -ETIME)
			t->quiet_until_ns = clock_now_ns() + QUIET_NS;
		t->gone = tgid;
		return NULL;
	}
	t->gone = 0;
	*page = wanted;
	page->at = find(bytes);
	return page;
}

bool trampolines_has(struct trampolines *t, uint32_t tgid, const struct evbuf_frame *frame,
		     uint64_t address)
{
	const struct page *page = look_up(t, tgid, frame, address);
	uint32_t at = address & (NONE - 1);

	return page && page->at != NONE && at >= page->at && at - page->at <= SIGNAL_CODE_BYTES;
}

void trampolines_may_wait(struct trampolines *t, bool may_wait)
{
	t->may_wait = may_wait;
	t->waits = false;
}

void trampolines_begin_chain(struct trampolines *t)
{
	t->waits = false;
}

bool trampolines_waits(const struct trampolines *t)
{
	return t->waits;
}

bool trampolines_await(struct trampolines *t, int ms)
{
	return t->asked_count && errands_wait(t->errands, t->taken + 1, ms);
}
