/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How those who wake tasks are called. */
#include "driver/bpf/waker_names.h"

#include "bpf/sample.h"
#include "identity/cookie.h"
#include "test.h"

#include <string.h>

static struct sample_key woken(enum sample_waker kind, const char *comm)
{
	struct sample_key key = { .place = SAMPLE_WAKER, .offset = kind };

	memcpy(key.image.waker, comm, strnlen(comm, sizeof(key.image.waker)));
	return key;
}

static void each_waker_is_a_function(void)
{
	static const struct {
		enum sample_waker kind;
		const char *comm, *name;
	} rows[] = {
		{ SAMPLE_WAKER_NONE, "", "[not woken yet]" },
		{ SAMPLE_WAKER_TASK, "cat", "[woken by cat]" },
		{ SAMPLE_WAKER_TASK, "0123456789abcdef", "[woken by 0123456789abcdef]" },
		{ SAMPLE_WAKER_TASK, "", "[woken by ]" },
		{ SAMPLE_WAKER_INTERRUPT, "", "[woken by interrupt]" },
		{ SAMPLE_WAKER_UNKNOWN, "", "[woken by unknown]" },
	};
	struct cookie_table *t = cookie_table_new();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sample_key key = woken(rows[i].kind, rows[i].comm);
		uint64_t cookie = waker_names_cookie(t, &key);
		const struct cookie_image *image = cookie_lookup(t, cookie);

		/* At another time, it is the same. */
		key.offset |= 0x1000;
		CHECK_EQ(waker_names_cookie(t, &key), cookie);
		if (!CHECK(image && image->kind == COOKIE_SOURCE))
			continue;
		CHECK_STR(image->path, COOKIE_WAKERS);
		CHECK_STR(image->function->name, rows[i].name);
	}
	CHECK_EQ(cookie_count(t), ARRAY_SIZE(rows));
	cookie_table_free(t);
}

static void the_time_of_a_waker_is_not_its_kind(void)
{
	struct sample_key key = woken(SAMPLE_WAKER_UNKNOWN, "");

	CHECK_EQ(sample_key_moment(&key), 0);
	key.offset |= 0x123456784;
	CHECK_EQ(sample_key_moment(&key), 0x123456784);
	key.place = SAMPLE_FILE;
	CHECK_EQ(sample_key_moment(&key), 0);
}

TESTS(T(each_waker_is_a_function), T(the_time_of_a_waker_is_not_its_kind))
