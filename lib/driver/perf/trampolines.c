/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/perf/trampolines.h"

#include "base/clock.h"
#include "base/mem.h"
#include "driver/perf/code_memory.h"
#include "identity/cookie.h"
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
};
/* How long nothing is read after a process whose memory took too long to read. */
#define QUIET_NS (60 * NS_PER_S)

/* The first trampoline in a page of a file, as an offset in the page; or NONE. */
struct page {
	uint64_t cookie; /* 0: unused */
	uint64_t number; /* in the file */
	uint32_t at;
};

struct trampolines {
	const struct cookie_table *cookies;
	struct code_memory *code;
	uint32_t gone; /* a process whose memory could not be read */
	uint64_t quiet_until_ns;
	struct page known[1 << KNOWN_SHIFT];
};

struct trampolines *trampolines_new(const char *root, const struct cookie_table *cookies)
{
	struct trampolines *t = xcalloc(1, sizeof(*t));

	t->cookies = cookies;
	t->code = code_memory_new(root, cookies);
	return t;
}

void trampolines_free(struct trampolines *t)
{
	if (!t)
		return;
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

/* What is known about the page of @frame, which is read if necessary; NULL if that fails. */
static const struct page *look_up(struct trampolines *t, uint32_t tgid,
				  const struct evbuf_frame *frame, uint64_t address)
{
	const struct page wanted = { .cookie = frame->cookie,
				     .number = frame->offset >> PAGE_SHIFT };
	uint64_t hash = (wanted.number ^ wanted.cookie << 40) * 0x9e3779b97f4a7c15ULL;
	struct page *page = &t->known[hash >> (64 - KNOWN_SHIFT)];
	uint8_t bytes[2 * PARSER_PAGE_BYTES];
	int r;

	if (page->cookie == wanted.cookie && page->number == wanted.number)
		return page;
	if (tgid == t->gone || !is_constant(t, frame->cookie) || clock_now_ns() < t->quiet_until_ns)
		return NULL;
	r = read_pages(t, tgid, address & ~(NONE - 1ULL), bytes);
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
