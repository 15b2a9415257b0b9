/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz.h"

#include "base/mem.h"
#include "file/path.h"
#include "event/evderived.h"
#include "identity/cookie.h"
#include "record/record.h"

#include <string.h>

/* The directory of the process's one session: inputs add to it, which is what a writer does. */
static char session[] = "/tmp/fuzz-evstream-XXXXXX";

static void remove_session(void)
{
	(void)path_remove_tree(session, NULL);
}

static const char *session_dir(void)
{
	static bool made;

	if (!made && (!mkdtemp(session) || atexit(remove_session)))
		abort();
	made = true;
	return session;
}

static struct cookie_table *make_cookies(void)
{
	struct cookie_table *t = cookie_table_new();
	char file[] = "/bin/p", label[] = "[heap]", thread[] = "kworker";
	char cgroup[] = "/a/b";
	const struct cookie_image images[] = {
		{ .cookie = 1, .kind = COOKIE_FILE, .path = file },
		{ .cookie = 2, .kind = COOKIE_ANON, .path = label, .start = 0x10, .end = 0x100 },
		{ .cookie = 3, .kind = COOKIE_THREAD, .path = thread },
		{ .cookie = 4, .kind = COOKIE_CGROUP, .path = cgroup },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(images); i++)
		cookie_define(t, &images[i]);
	return t;
}

/* A byte of settings, then the words of an event buffer, each given as one byte: 0xff is the
 * escape. The stream is cut in two; counts must balance all the same. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct event event = { .name = "TIMER", .kernel = true, .user = true, .is_timer = true };
	struct cookie_table *cookies = make_cookies();
	struct record_config config = { .session_dir = session_dir(),
					.session_name = "current",
					.events = &event,
					.event_count = 1,
					.separate = size ? data[0] >> 4 | (data[0] & 2) << 3 : 0,
					.no_vmlinux = true,
					.root = session_dir(),
					.mapped_bytes_max = 8192,
					.cookies = cookies };
	_cleanup_free_ uint64_t *words = size ? xcalloc(size, sizeof(*words)) : NULL;
	struct record *rec = NULL;
	struct record_stats stats;
	struct evderived derived;
	size_t i;

	if (size && data[0] & 1)
		config.derived = &derived;
	(void)evderived_parse("ibs:op:IBS_OP_ALL,IBS_OP_LOAD:250000:4|"
			      "fetch:IBS_FETCH_ALL,IBS_FETCH_LATENCY:250000:0",
			      &derived, NULL);
	for (i = 1; i < size; i++)
		words[i - 1] = data[i] == 0xff ? UINT64_MAX : data[i];
	if (size > 1 && record_new(&config, &rec, NULL) == 0) {
		(void)record_words(words, (size - 1) / 2, rec);
		(void)record_words(words + (size - 1) / 2, size - 1 - (size - 1) / 2, rec);
		record_stats(rec, &stats);
		if (stats.lost_samplefile > stats.samples || stats.kernel_samples > stats.samples)
			abort();
	}
	record_free(rec);
	cookie_table_free(cookies);
	return 0;
}
