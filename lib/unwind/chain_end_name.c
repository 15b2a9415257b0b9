/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/chain_end_name.h"

static const char *const names[] = {
#define X(name, number, text, meaning) [number] = text,
	CHAIN_ENDS(X)
#undef X
};

const char *chain_end_name(uint64_t end)
{
	return names[end < CHAIN_END_COUNT_ ? end : CHAIN_END_UNKNOWN];
}
