/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/bpf/waker_names.h"

#include "base/macro.h"
#include "base/mem.h"
#include "bpf/sample.h"
#include "identity/cookie.h"

static const char *const names[] = {
	[SAMPLE_WAKER_NONE] = "[not woken yet]",
	[SAMPLE_WAKER_TASK] = "[woken by ",
	[SAMPLE_WAKER_INTERRUPT] = "[woken by interrupt]",
	[SAMPLE_WAKER_UNKNOWN] = "[woken by unknown]",
};
static_assert(ARRAY_SIZE(names) == SAMPLE_WAKER_MASK + 1, "one name each");

uint64_t waker_names_cookie(struct cookie_table *cookies, const struct sample_key *key)
{
	const uint32_t kind = key->offset & SAMPLE_WAKER_MASK;
	_cleanup_free_ char *name = NULL;
	struct cookie_function function = { .bytes = 1, .digest = COOKIE_DIGEST_SET };

	name = kind == SAMPLE_WAKER_TASK
		       ? xasprintf("%s%.*s]", names[kind], SAMPLE_COMM_BYTES, key->image.waker)
		       : xstrdup(names[kind]);
	function.name = name;
	return cookie_source(cookies, COOKIE_WAKERS, &function);
}
