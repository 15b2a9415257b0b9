/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code in the memory of running processes, by which the unwinder recognises code without unwind
 * information. A page is read once in a round, because most callers are callers again in the next
 * sample; or a few times, if its code is still being made.
 *
 *	struct code_memory *code = code_memory_new(root, cookies);
 *
 *	if (code_memory_read(code, tgid, address, &bytes) == 0)
 *		printf("%#" PRIx64 "\n", bytes);
 *	code_memory_round(code);	at each sync
 *	code_memory_free(code);
 */
#pragma once

#include <stdint.h>

struct code_memory;
struct cookie_table;

/* Makes one for the processes whose /proc is below @root (NULL: "/"). The parser of @cookies reads
 * the memory. Both are borrowed; caller frees. */
struct code_memory *code_memory_new(const char *root, const struct cookie_table *cookies);
/* Asks for the page of memory at @page of process @tgid. -EINPROGRESS if code_memory_answer() will
 * be called, or another -errno. */
typedef int code_memory_ask(void *data, uint32_t tgid, uint64_t page);
/* Has @ask read the memory, instead of this module itself. */
void code_memory_asker(struct code_memory *c, code_memory_ask *ask, void *data);
/* Takes the answer: the page's bytes or, if @r is -errno, why there are none. */
void code_memory_answer(struct code_memory *c, uint32_t tgid, uint64_t page, int r,
			const uint8_t *bytes);
/* Frees it; accepts NULL. */
void code_memory_free(struct code_memory *c);

/* Reads the eight bytes at @address of the process @tgid, in the machine's order. Returns 0; or
 * -errno if the process may not be read, has no memory or nothing but zeros there, or ended before
 * anything there was read; -EINPROGRESS if that is not known yet; -EBUSY if too many pages were
 * read in this round. */
int code_memory_read(struct code_memory *c, uint32_t tgid, uint64_t address, uint64_t *ret);
/* Reads @count pages from @address on to @ret; what cannot be read is zero. Returns 0; or -errno if
 * even the first page cannot be read. */
int code_memory_pages(const struct code_memory *c, uint32_t tgid, uint64_t address, uint32_t count,
		      void *ret);
/* Ends a round: code may be replaced, so it is read again. */
void code_memory_round(struct code_memory *c);
