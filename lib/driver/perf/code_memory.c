/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/perf/code_memory.h"

#include "base/mem.h"
#include "file/open_regular.h"
#include "identity/cookie.h"
#include "parser/parser.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum { KNOWN_SHIFT = 10 };

/* What was read last at one address, or why it could not be read. */
struct known {
	uint64_t address, bytes;
	uint32_t tgid; /* 0: unused */
	int status;
	bool is_asked;	/* code_memory_answer() will be called */
	uint64_t round; /* of the last attempt */
};

struct code_memory {
	const char *root;
	const struct cookie_table *cookies;
	code_memory_ask *ask; /* or NULL */
	void *ask_data;
	uint64_t round;
	struct known known[1 << KNOWN_SHIFT]; /* by a hash of process and address */
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

/* What is not there is read as zeros, which are no code that is looked for. */
static int read_bytes(const struct code_memory *c, uint32_t tgid, uint64_t address, uint64_t *ret)
{
	uint8_t bytes[PARSER_PAGE_BYTES];
	int r = code_memory_pages(c, tgid, address, 1, bytes);

	if (r < 0)
		return r;
	memcpy(ret, bytes, sizeof(*ret));
	return *ret ? 0 : -EIO;
}

static struct known *place_of(struct code_memory *c, uint32_t tgid, uint64_t address)
{
	return &c->known[(address ^ (uint64_t)tgid << 32) * 0x9e3779b97f4a7c15ULL >>
			 (64 - KNOWN_SHIFT)];
}

/* When the process has ended, what was read before is all that is known. */
static void note(struct known *k, int r, uint64_t bytes)
{
	if (r == 0)
		k->bytes = bytes;
	if (r == 0 || k->status < 0)
		k->status = r;
}

void code_memory_answer(struct code_memory *c, uint32_t tgid, uint64_t address, int r,
			uint64_t bytes)
{
	struct known *k = place_of(c, tgid, address);

	if (k->tgid != tgid || k->address != address)
		return;
	k->is_asked = false;
	note(k, r, bytes);
}

int code_memory_read(struct code_memory *c, uint32_t tgid, uint64_t address, uint64_t *ret)
{
	struct known *k = place_of(c, tgid, address);
	uint64_t bytes = 0;
	int r;

	if (k->tgid != tgid || k->address != address)
		*k = (struct known){ .address = address, .tgid = tgid, .status = -ESRCH };
	if (k->round != c->round && !k->is_asked) {
		r = c->ask ? c->ask(c->ask_data, tgid, address)
			   : read_bytes(c, tgid, address, &bytes);
		k->round = c->round;
		k->is_asked = r == -EINPROGRESS;
		note(k, r, bytes);
	}
	if (k->status == 0)
		*ret = k->bytes;
	return k->status;
}

void code_memory_round(struct code_memory *c)
{
	c->round++;
}
