/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "perf/kernel_codes.h"

#include "base/mem.h"

#include <string.h>

/* Forgets what was taken. */
static void close_up(struct kernel_codes *c)
{
	c->count -= c->taken;
	memmove(c->codes, c->codes + c->taken, c->count * sizeof(*c->codes));
	c->taken = 0;
}

void kernel_codes_add(struct kernel_codes *c, const struct kernel_code *code)
{
	size_t i;

	if (c->taken)
		close_up(c);
	array_grow(&c->codes, c->count + 1, &c->room);
	for (i = c->count++; i && c->codes[i - 1].at_ns > code->at_ns; i--)
		c->codes[i] = c->codes[i - 1];
	c->codes[i] = *code;
}

uint32_t kernel_codes_epoch(const struct kernel_codes *c, uint64_t at_ns)
{
	return (uint32_t)(FIRST_NOT(i, c->taken, c->count, c->codes[i].at_ns <= at_ns) - c->taken);
}

bool kernel_codes_take(struct kernel_codes *c, uint64_t until_ns, struct kernel_code *ret)
{
	if (c->taken == c->count || c->codes[c->taken].at_ns > until_ns)
		return false;
	*ret = c->codes[c->taken++];
	return true;
}

void kernel_codes_done(struct kernel_codes *c)
{
	free(c->codes);
	*c = (struct kernel_codes){ 0 };
}
