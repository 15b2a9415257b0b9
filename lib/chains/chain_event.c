/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "chains/chain_names.h"

#include "base/parse.h"

#include <string.h>

bool chain_event_split(char *text, struct sname *ret)
{
	char *mask = strrchr(text, '.'), *count;

	if (!mask)
		return false;
	*mask++ = '\0';
	count = strrchr(text, '.');
	if (!count)
		return false;
	*count++ = '\0';
	ret->event = text;
	return parse_i64(count, INT64_MIN, INT64_MAX, &ret->count) == 0 &&
	       parse_i64(mask, INT64_MIN, INT64_MAX, &ret->unit_mask) == 0;
}
