/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "identity/cookie.h"
#include "perf/kernel_events.h"
#include "perf/perf_record.h"

enum {
	BPF = PERF_RECORD_KSYMBOL_TYPE_BPF,
	OOL = PERF_RECORD_KSYMBOL_TYPE_OOL,
	GONE = PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER
};

static void code_is_reported_or_looked_up(void)
{
	static const struct {
		uint32_t type;
		uint16_t code_type, flags;
		const char *name;
		enum kernel_event news;
	} rows[] = {
		{ PERF_RECORD_KSYMBOL, BPF, 0, "bpf_prog_1", KERNEL_EVENT_CODE },
		{ PERF_RECORD_KSYMBOL, BPF, 0, "bpf_trampoline_6442502712", KERNEL_EVENT_CODE },
		{ PERF_RECORD_KSYMBOL, OOL, 0, "ftrace_trampoline", KERNEL_EVENT_CODE },
		{ PERF_RECORD_KSYMBOL, OOL, 0, "kprobe_optinsn_page", KERNEL_EVENT_CODE },
		/* Samples of what is gone may still come. */
		{ PERF_RECORD_KSYMBOL, BPF, GONE, "bpf_prog_1", KERNEL_EVENT_NONE },
		{ PERF_RECORD_KSYMBOL, OOL, GONE, "kprobe_optinsn_page", KERNEL_EVENT_NONE },
		{ PERF_RECORD_KSYMBOL, BPF, 0, "", KERNEL_EVENT_NONE },
		{ PERF_RECORD_KSYMBOL, 99, 0, "new_page", KERNEL_EVENT_LOOK },
		{ PERF_RECORD_LOST, 0, 0, NULL, KERNEL_EVENT_LOOK },
		{ PERF_RECORD_CGROUP, 0, 0, NULL, KERNEL_EVENT_NONE },
	};
	struct cookie_table *cookies = cookie_table_new();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct perf_record r = { .type = rows[i].type, .time_ns = 77 };
		struct kernel_code code = { 0 };
		const struct cookie_image *name;

		if (r.type == PERF_RECORD_KSYMBOL) {
			r.code.start = 0xffffffffc0300000;
			r.code.length = 4096;
			r.code.type = rows[i].code_type;
			r.code.flags = rows[i].flags;
			r.code.name = rows[i].name;
		}
		if (!CHECK(kernel_events_read(&r, cookies, &code) == rows[i].news))
			printf("# row %zu\n", i);
		if (rows[i].news != KERNEL_EVENT_CODE)
			continue;
		name = cookie_lookup(cookies, code.cookie);
		CHECK(code.start == 0xffffffffc0300000 && code.length == 4096);
		CHECK_EQ(code.at_ns, 77);
		CHECK_STR(name ? name->path : NULL, rows[i].name);
	}
	cookie_table_free(cookies);
}

static void code_comes_when_what_is_older_is_through(void)
{
	static const struct {
		uint64_t at_ns;
		uint32_t epoch;
	} rows[] = { { 0, 0 },	{ 9, 0 },  { 10, 1 }, { 19, 1 },
		     { 20, 3 }, { 29, 3 }, { 30, 4 }, { UINT64_MAX, 4 } };
	static const uint64_t times[] = { 20, 10, 30, 20 };
	struct kernel_events codes = { 0 };
	struct kernel_code code;
	size_t i;

	CHECK(!kernel_events_take(&codes, UINT64_MAX, &code));
	for (i = 0; i < ARRAY_SIZE(times); i++)
		kernel_events_add(&codes, &(struct kernel_code){ times[i], i, 1, 0 });
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_EQ(kernel_events_epoch(&codes, rows[i].at_ns), rows[i].epoch);
	CHECK(!kernel_events_take(&codes, 9, &code));
	CHECK(kernel_events_take(&codes, 29, &code) && code.start == 1);
	/* Of one time, as they came. */
	CHECK(kernel_events_take(&codes, 29, &code) && code.start == 0);
	kernel_events_add(&codes, &(struct kernel_code){ 25, 4, 1, 0 });
	CHECK(kernel_events_take(&codes, 29, &code) && code.start == 3);
	CHECK(kernel_events_take(&codes, 29, &code) && code.start == 4);
	CHECK(!kernel_events_take(&codes, 29, &code));
	CHECK_EQ(kernel_events_epoch(&codes, 29), 0);
	CHECK(kernel_events_take(&codes, 30, &code) && code.start == 2);
	CHECK(!kernel_events_take(&codes, UINT64_MAX, &code));
	kernel_events_done(&codes);
}

TESTS(T(code_is_reported_or_looked_up), T(code_comes_when_what_is_older_is_through))
