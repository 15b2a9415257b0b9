/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/perf/code_memory.h"

#include "base/mem.h"
#include "file/open_regular.h"
#include "identity/cookie.h"
#include "parser/parser.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum {
	KNOWN_SHIFT = 9, /* pages that are kept */
	WAYS = 8,	 /* of them, for those with the same hash */
	READS_MAX = 8,	 /* of one page in one round */
};

/* What was read last of one page, or why it could not be read. */
struct known {
	uint64_t page;
	uint32_t tgid; /* 0: unused */
	int status;
	bool is_asked;	    /* code_memory_answer() will be called */
	uint64_t round;	    /* of the last attempt */
	unsigned int reads; /* in that round */
	uint8_t bytes[PARSER_PAGE_BYTES];
};

struct code_memory {
	const char *root;
	const struct cookie_table *cookies;
	code_memory_ask *ask; /* or NULL */
	void *ask_data;
	uint64_t round;
	struct known known[1 << KNOWN_SHIFT]; /* by a hash of process and page */
};

struct code_memory *code_memory_new(const char *root, const struct cookie_table *cookies)
{
	struct code_memory *c = xcalloc(1, sizeof(*c));

	c->root = root ?: "";
	c->cookies = cookies;
	c->round = 1;
	return c;
}

void code_memory_asker(struct code_memory *c, code_memory_ask *ask, void *data)
{
	c->ask = ask;
	c->ask_data = data;
}

void code_memory_free(struct code_memory *c)
{
	free(c);
}

/* Reads in the sandbox, because the process can make a read of its memory take for ever
 * (userfaultfd). */
int code_memory_pages(const struct code_memory *c, uint32_t tgid, uint64_t address, uint32_t count,
		      void *ret)
{
	_cleanup_free_ char *path = xasprintf("%s/proc/%u/mem", c->root, tgid);
	_cleanup_close_ int fd = open_regular(path, O_RDONLY);
	const struct parser_pages pages = { address, PARSER_PAGE_BYTES, count };

	return fd < 0 ? fd : parser_pages(cookie_parser(c->cookies), fd, &pages, ret);
}

/* The place of a page; if it has none, that of the page that was not read for longest. */
static struct known *place_of(struct code_memory *c, uint32_t tgid, uint64_t page)
{
	uint64_t hash = (page ^ (uint64_t)tgid << 32) * 0x9e3779b97f4a7c15ULL;
	struct known *set = &c->known[hash >> (64 - KNOWN_SHIFT) & ~(uint64_t)(WAYS - 1)];
	struct known *oldest = set, *k;

	for (k = set; k < set + WAYS; k++) {
		if (k->tgid == tgid && k->page == page)
			return k;
		if (k->round < oldest->round)
			oldest = k;
	}
	return oldest;
}

/* When the process has ended, what was read before is all that is known. */
static void note(struct known *k, int r, const uint8_t *bytes)
{
	if (r == 0)
		memcpy(k->bytes, bytes, sizeof(k->bytes));
	if (r == 0 || k->status < 0)
		k->status = r;
}

void code_memory_answer(struct code_memory *c, uint32_t tgid, uint64_t page, int r,
			const uint8_t *bytes)
{
	struct known *k = place_of(c, tgid, page);

	if (k->tgid != tgid || k->page != page)
		return;
	k->is_asked = false;
	note(k, r, bytes);
}

static void read_again(struct code_memory *c, struct known *k)
{
	uint8_t bytes[PARSER_PAGE_BYTES];
	int r;

	k->reads = k->round == c->round ? k->reads + 1 : 1;
	k->round = c->round;
	r = c->ask ? c->ask(c->ask_data, k->tgid, k->page)
		   : code_memory_pages(c, k->tgid, k->page, 1, bytes);
	k->is_asked = r == -EINPROGRESS;
	note(k, r, bytes);
}

/* Whether there is nothing but zeros: code that is not made yet. */
static bool is_empty(const uint8_t *bytes, size_t count)
{
	while (count && !bytes[count - 1])
		count--;
	return !count;
}

/* Reads @count bytes of one page. */
static int read_part(struct code_memory *c, uint32_t tgid, uint64_t address, uint8_t *ret,
		     size_t count)
{
	size_t at = address % PARSER_PAGE_BYTES;
	struct known *k = place_of(c, tgid, address - at);
	bool is_made;

	if (k->tgid != tgid || k->page != address - at) {
		/* Else two pages of one chain would drive each other out, and it would wait. */
		if (k->tgid && k->round == c->round)
			return -EBUSY;
		*k = (struct known){ .page = address - at, .tgid = tgid, .status = -ESRCH };
		k->round = c->round - 1;
	}
	is_made = k->status == 0 && !is_empty(k->bytes + at, count);
	if (!k->is_asked &&
	    (k->round != c->round || (!is_made && k->status == 0 && k->reads < READS_MAX)))
		read_again(c, k);
	if (k->status < 0)
		return k->status;
	memcpy(ret, k->bytes + at, count);
	return k->is_asked && is_empty(ret, count) ? -EINPROGRESS : 0;
}

int code_memory_read(struct code_memory *c, uint32_t tgid, uint64_t address, uint64_t *ret)
{
	uint8_t bytes[sizeof(*ret)];
	size_t first = MIN(sizeof(bytes), PARSER_PAGE_BYTES - address % PARSER_PAGE_BYTES);
	int r = read_part(c, tgid, address, bytes, first);

	if (r == 0 && first < sizeof(bytes))
		r = read_part(c, tgid, address + first, bytes + first, sizeof(bytes) - first);
	if (r < 0)
		return r;
	memcpy(ret, bytes, sizeof(*ret));
	return *ret ? 0 : -EIO;
}

void code_memory_round(struct code_memory *c)
{
	c->round++;
}
