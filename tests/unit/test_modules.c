/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "driver/cookie.h"
#include "driver/evbuf.h"
#include "driver/modules.h"
#include "driver/perf_record.h"

/* What was handed over. */
struct taken {
	uint64_t words[16];
	size_t count;
};

static int take(const uint64_t *words, size_t count, void *data)
{
	struct taken *t = data;

	CHECK(t->count + count <= ARRAY_SIZE(t->words));
	memcpy(t->words + t->count, words, count * sizeof(*words));
	t->count += count;
	return 0;
}

enum {
	BPF = PERF_RECORD_KSYMBOL_TYPE_BPF,
	OOL = PERF_RECORD_KSYMBOL_TYPE_OOL,
	GONE = PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER
};

static void code_is_told_or_looked_up(void)
{
	static const struct {
		uint32_t type;
		uint16_t code_type, flags;
		const char *name;
		bool told, look;
	} rows[] = {
		{ PERF_RECORD_KSYMBOL, BPF, 0, "bpf_prog_1", true, false },
		{ PERF_RECORD_KSYMBOL, BPF, 0, "bpf_trampoline_6442502712", true, false },
		{ PERF_RECORD_KSYMBOL, OOL, 0, "ftrace_trampoline", true, false },
		{ PERF_RECORD_KSYMBOL, OOL, 0, "kprobe_optinsn_page", true, false },
		/* Samples of what is gone may still come. */
		{ PERF_RECORD_KSYMBOL, BPF, GONE, "bpf_prog_1", false, false },
		{ PERF_RECORD_KSYMBOL, OOL, GONE, "kprobe_optinsn_page", false, false },
		{ PERF_RECORD_KSYMBOL, BPF, 0, "", false, false },
		{ PERF_RECORD_KSYMBOL, 99, 0, "new_page", false, true },
		{ PERF_RECORD_LOST, 0, 0, NULL, false, true },
		{ PERF_RECORD_CGROUP, 0, 0, NULL, false, false },
	};
	struct cookie_table *cookies = cookie_table_new();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct taken taken = { .count = 0 };
		struct evbuf *out = evbuf_new(64, take, &taken);
		struct perf_record r = { .type = rows[i].type };
		const struct cookie_image *code;

		if (r.type == PERF_RECORD_KSYMBOL) {
			r.code.start = 0xffffffffc0300000;
			r.code.length = 4096;
			r.code.type = rows[i].code_type;
			r.code.flags = rows[i].flags;
			r.code.name = rows[i].name;
		}
		if (!CHECK(modules_record(&r, cookies, out) == rows[i].look))
			printf("# row %zu\n", i);
		CHECK_EQ(evbuf_flush(out), 0);
		if (!CHECK(taken.count == (rows[i].told ? 5 : 0)))
			printf("# row %zu\n", i);
		code = rows[i].told ? cookie_lookup(cookies, taken.words[4]) : NULL;
		if (code) {
			CHECK(taken.words[0] == EVBUF_ESCAPE);
			CHECK_EQ(taken.words[1], EVBUF_KERNEL_CODE);
			CHECK(taken.words[2] == 0xffffffffc0300000 && taken.words[3] == 4096);
			CHECK_STR(code->path, rows[i].name);
		}
		evbuf_free(out);
	}
	cookie_table_free(cookies);
}

TESTS(T(code_is_told_or_looked_up))
