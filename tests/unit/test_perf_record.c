/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "perf_bytes.h"

static struct span span_of_buf(const struct strbuf *b)
{
	return span_of(b->text, b->length);
}

static void sample_is_taken_apart(void)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	struct perf_record r;

	bytes_sample(&b, PERF_RECORD_MISC_USER, 70, 0x401000, 123456789);
	CHECK_EQ(b.length, 40);
	CHECK_EQ(perf_record_decode(span_of_buf(&b), &r), 0);
	CHECK_EQ(r.type, PERF_RECORD_SAMPLE);
	CHECK_EQ(r.misc & PERF_RECORD_MISC_CPUMODE_MASK, PERF_RECORD_MISC_USER);
	CHECK(r.id == 1 && r.ip == 0x401000 && r.pid == 70 && r.tid == 70);
	CHECK_EQ(r.time_ns, 123456789);
}

static void call_chain_follows_the_sample(void)
{
	static const uint64_t words[] = { (uint64_t)PERF_CONTEXT_USER, 0x401000, 0x402000 };
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	struct perf_record r;
	struct span chain;
	uint64_t word = 0;
	size_t i;

	bytes_chain_sample(&b, PERF_RECORD_MISC_USER, 70, 0x401000, words, ARRAY_SIZE(words));
	CHECK_EQ(perf_record_decode(span_of_buf(&b), &r), 0);
	CHECK_EQ(perf_record_callchain(&r.more, &chain), 0);
	CHECK_EQ(r.more.left, 0);
	for (i = 0; i < ARRAY_SIZE(words); i++) {
		CHECK_EQ(span_u64(&chain, &word), 0);
		CHECK_EQ(word, words[i]);
	}
	CHECK_EQ(chain.left, 0);
	/* More than there is room for, and none at all. */
	for (i = 1; i <= b.length - 40; i++) {
		CHECK_EQ(perf_record_decode(span_of(b.text, b.length - i), &r), 0);
		CHECK_EQ(perf_record_callchain(&r.more, &chain), -EBADMSG);
	}
	bytes_chain_sample(&b, PERF_RECORD_MISC_USER, 70, 0x401000, words, 0);
	memset(b.text + 40, 0xff, 8);
	CHECK_EQ(perf_record_decode(span_of_buf(&b), &r), 0);
	CHECK_EQ(perf_record_callchain(&r.more, &chain), -EBADMSG);
}

static void mapping_is_taken_apart(void)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	struct perf_record r;

	bytes_map(&b, 70, 0x401000, 0x3000, 5, "/usr/bin/xz", 99);
	CHECK_EQ(perf_record_decode(span_of_buf(&b), &r), 0);
	CHECK(r.pid == 70 && r.time_ns == 99 && r.id == 2);
	CHECK(r.map.start == 0x401000 && r.map.end == 0x404000 && r.map.offset == 0x1000);
	CHECK(r.map.file.device == (8ULL << 32 | 1) && r.map.file.inode == 5 &&
	      r.map.file.generation == 77);
	CHECK_STR(r.map.path, "/usr/bin/xz");
}

static void tasks_are_taken_apart(void)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	struct perf_record r;

	bytes_task(&b, PERF_RECORD_FORK, (const uint32_t[]){ 71, 70, 72, 69 }, 5);
	CHECK_EQ(perf_record_decode(span_of_buf(&b), &r), 0);
	CHECK(r.pid == 71 && r.tid == 72);
	CHECK(r.task.parent_pid == 70 && r.task.parent_tid == 69);
	bytes_comm(&b, 71, 72, "cc1plus", true, 6);
	CHECK_EQ(perf_record_decode(span_of_buf(&b), &r), 0);
	CHECK(r.pid == 71 && r.tid == 72 && r.comm.exec && r.time_ns == 6);
	CHECK_STR(r.comm.name, "cc1plus");
	bytes_cgroup(&b, 77, "/a/b", 6);
	CHECK_EQ(perf_record_decode(span_of_buf(&b), &r), 0);
	CHECK_EQ(r.new_cgroup.id, 77);
	CHECK_STR(r.new_cgroup.path, "/a/b");
	bytes_ksymbol(&b, 0xffffffffc0300000, 513, (const uint16_t[]){ 1, 1 }, "bpf_prog_1", 6);
	CHECK_EQ(perf_record_decode(span_of_buf(&b), &r), 0);
	CHECK(r.code.start == 0xffffffffc0300000 && r.code.length == 513);
	CHECK(r.code.type == PERF_RECORD_KSYMBOL_TYPE_BPF);
	CHECK(r.code.flags == PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER);
	CHECK_STR(r.code.name, "bpf_prog_1");
	bytes_lost(&b, 1000, 7);
	CHECK_EQ(perf_record_decode(span_of_buf(&b), &r), 0);
	CHECK(r.lost == 1000 && r.time_ns == 7);
}

/* The kernel pads the name in a record of this kind by the ids that follow it. */
static void kernel_symbol_has_its_time_after_the_name(void)
{
	static const char *const names[] = { "bpf_prog_1", "bpf_prog", "bpf_pro", "" };
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	struct perf_record r;
	size_t i, others;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		bytes_ksymbol(&b, 0xffffffffc0300000, 64, (const uint16_t[]){ 1, 0 }, names[i], 6);
		for (others = 0; others < 3; others++) {
			CHECK_EQ(perf_record_decode(span_of_buf(&b), &r), 0);
			CHECK_EQ(r.time_ns, 6);
			CHECK_EQ(r.id, 2);
			CHECK_STR(r.code.name, names[i]);
			strbuf_add(&b, "left of an older record", 24);
			bytes_end(&b);
		}
	}
}

/* A kernel to come may write types and tails that we do not know. */
static void unknown_types_have_a_time_all_the_same(void)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	struct perf_record r;

	bytes_begin(&b, 4711, 0);
	bytes_u64(&b, 1);
	bytes_trailer(&b, 70, 44, 2);
	CHECK_EQ(perf_record_decode(span_of_buf(&b), &r), 0);
	CHECK(r.type == 4711 && r.time_ns == 44 && r.pid == 70);
}

/* Every record cut at every length: an error or, where only padding is gone, the same record. */
static void cut_records_are_errors(void)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	struct perf_record r;
	size_t i, row;

	for (row = 0; row < 3; row++) {
		if (row == 0)
			bytes_sample(&b, 1, 70, 1, 1);
		else if (row == 1)
			bytes_map(&b, 70, 0x401000, 0x3000, 5, "/a", 99);
		else
			bytes_task(&b, PERF_RECORD_EXIT, (const uint32_t[]){ 1, 1, 1, 1 }, 5);
		for (i = 0; i < b.length - 8; i++) {
			_cleanup_free_ void *copy = xmemdup(b.text, i + 1);

			if (perf_record_decode(span_of(copy, i), &r) == 0) {
				printf("# row %zu, %zu bytes\n", row, i);
				CHECK(false);
			}
		}
	}
}

static void mapping_that_wraps_round_is_an_error(void)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	struct perf_record r;

	bytes_map(&b, 70, UINT64_MAX - 4095, 8192, 5, "/a", 99);
	CHECK_EQ(perf_record_decode(span_of_buf(&b), &r), -EBADMSG);
}

static void path_without_an_end_is_an_error(void)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	struct perf_record r;

	bytes_begin(&b, PERF_RECORD_COMM, 0);
	bytes_u64(&b, 70);
	strbuf_add(&b, "unending", 8);
	bytes_trailer(&b, 0x6e6e6e6e, 0x6e6e6e6e6e6e6e6e, 2);
	CHECK_EQ(perf_record_decode(span_of_buf(&b), &r), -EBADMSG);
}

TESTS(T(sample_is_taken_apart), T(call_chain_follows_the_sample), T(mapping_is_taken_apart),
      T(tasks_are_taken_apart), T(kernel_symbol_has_its_time_after_the_name),
      T(unknown_types_have_a_time_all_the_same), T(cut_records_are_errors),
      T(mapping_that_wraps_round_is_an_error), T(path_without_an_end_is_an_error))
