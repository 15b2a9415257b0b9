/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Extended features on the whole road after the driver: event buffer, record, sample files. */
#include "sample_lines.h"

#include "event/evderived.h"
#include "identity/cookie.h"
#include "stream/evbuf.h"
#include "perf/ibs_raw.h"
#include "record/record.h"

#include <errno.h>

#define BIT(n) (1ULL << (n))

struct bench {
	char *dir, *session;
	struct cookie_table *cookies;
	struct event clock;
	struct record *rec;
	struct evbuf *buffer;
	uint64_t program, library;
	bool branch_target;
};

static void bench_init(struct bench *b, const char *feature)
{
	struct error err = ERROR_INIT;
	struct evderived derived;

	CHECK_EQ(evderived_parse(feature, &derived, NULL), 0);
	*b = (struct bench){ .dir = test_directory() };
	b->branch_target = strstr(feature, ":7");
	b->session = path_join(b->dir, "session");
	b->cookies = cookie_table_new();
	event_timer(&b->clock, 100, true, true);
	if (record_new(&(struct record_config){ .session_dir = b->session,
						.session_name = "current",
						.events = &b->clock,
						.event_count = 1,
						.separate = RECORD_SEPARATE_LIB,
						.root = b->dir,
						.cookies = b->cookies,
						.derived = &derived },
		       &b->rec, &err) < 0) {
		printf("# %s\n", err.text);
		abort();
	}
	b->buffer = evbuf_new(256, record_words, b->rec);
	b->program = cookie_file(b->cookies, &(struct file_identity){ 1, 1, 0 }, "/bin/p");
	b->library = cookie_file(b->cookies, &(struct file_identity){ 1, 2, 0 }, "/lib/l");
	evbuf_context(b->buffer,
		      &(struct evbuf_context){ .cpu = 1, .tgid = 7, .tid = 7, .app = b->program });
}

static void bench_done(struct bench *b)
{
	evbuf_free(b->buffer);
	record_free(b->rec);
	cookie_table_free(b->cookies);
	free(b->session);
	test_directory_donep(&b->dir);
}

/* The sample files hold each of @lines, "NAME KEY COUNT", and nothing else. */
static void check_files(struct bench *b, const char *const *lines, size_t count)
{
	CHECK_EQ(evbuf_flush(b->buffer), 0);
	CHECK_EQ(record_flush(b->rec, true, NULL), 0);
	check_sample_lines(b->session, lines, count);
}

#define P "{root}/bin/p/{dep}/{root}/bin/p/"
#define L "{root}/bin/p/{dep}/{root}/lib/l/"

/* A sample as the kernel's PMU hands it over, put where it is. */
static void put_op(struct bench *b, uint64_t cookie, uint64_t offset, const uint64_t data[3])
{
	static const struct ibs_cpu cpu = { 0x17, 1 };
	const uint64_t regs[] = { BIT(17) | BIT(18), 0x401000, data[0], data[1],
				  data[2],	     0x5000,   0x6000,	0x402000 };
	uint8_t raw[72] = { 68, 0, 0, 0, 0xff, 0, 0, 0 };
	struct ibs_sample s;

	memcpy(raw + 8, regs, sizeof(regs));
	CHECK_EQ(ibs_raw_decode(&cpu, IBS_OP, span_of(raw, sizeof(raw)), &s), 0);
	if (b->branch_target)
		s.words[s.count++] = s.target;
	evbuf_words_at(b->buffer, EVBUF_IBS_OP, &(struct evbuf_frame){ cookie, offset }, s.words,
		       s.count);
}

static void one_hardware_sample_becomes_many_files(void)
{
	static const uint64_t branch[] = { BIT(37) | BIT(36), 0, 0 },
			      load[] = { 0, 3, BIT(0) | BIT(7) | 200ULL << 32 };
	static const char *const files[] = {
		P "IBS_OP_ALL.250000.1.all.all.all 100 2\n",
		P "IBS_OP_MISPREDICTED_BRANCH.250000.1.all.all.all 100 2\n",
		L "IBS_OP_ALL.250000.1.all.all.all 20 1\n",
		L "IBS_OP_LOAD.250000.1.all.all.all 20 1\n",
		L "IBS_OP_DC_LOAD_LAT.250000.1.all.all.all 20 200\n",
		L "IBS_OP_NB_LOCAL_DRAM.250000.1.all.all.all 20 1\n",
		P "TIMER.0.0.all.all.all 104 1\n",
	};
	_cleanup_(bench_done) struct bench b;
	struct record_stats stats;

	bench_init(&b, "ibs:op:IBS_OP_ALL,IBS_OP_MISPREDICTED_BRANCH,IBS_OP_LOAD,"
		       "IBS_OP_DC_LOAD_LAT,IBS_OP_NB_LOCAL_DRAM:250000:1");
	put_op(&b, b.program, 0x100, branch);
	evbuf_sample(b.buffer, b.program, 0x104, 0, 1);
	put_op(&b, b.library, 0x20, load);
	put_op(&b, b.program, 0x100, branch);
	check_files(&b, files, ARRAY_SIZE(files));
	record_stats(b.rec, &stats);
	CHECK_EQ(stats.samples, 1);
	CHECK_EQ(stats.extended_lost, 0);
}

static void counts_of_the_driver_follow_the_events(void)
{
	static const char *const files[] = {
		P "TIMER.0.0.all.all.all 100 1\n",
		P "OFFCPU.1.0.all.all.all 100 4500\n",
		L "OFFCPU.1.0.all.all.all 20 70000\n",
	};
	_cleanup_(bench_done) struct bench b;
	struct record_stats stats;

	bench_init(&b, "offcpu");
	evbuf_sample(b.buffer, b.program, 0x100, 1, 4000);
	evbuf_sample(b.buffer, b.program, 0x100, 0, 1);
	evbuf_sample(b.buffer, b.library, 0x20, 1, 70000);
	evbuf_sample(b.buffer, b.program, 0x100, 1, 500);
	evbuf_sample(b.buffer, b.program, 0x100, 2, 1); /* nobody's */
	evbuf_sample(b.buffer, 99, 0x100, 1, 5);	/* of no image */
	check_files(&b, files, ARRAY_SIZE(files));
	record_stats(b.rec, &stats);
	CHECK_EQ(stats.samples, 1);
	CHECK_EQ(stats.lost_counter, 1);
	CHECK_EQ(stats.extended_lost, 1);
}

static void single_samples_are_logged_if_asked_for(void)
{
	static const uint64_t load[] = { 0, 0, BIT(0) | BIT(7) | 200ULL << 32 },
			      store[] = { 0, 0, BIT(1) }, branch[] = { BIT(37), 0, 0 };
	_cleanup_free_ char *memory = NULL, *targets = NULL, *path = NULL, *other = NULL;
	_cleanup_free_ char *expected = NULL;
	struct bench b;

	bench_init(&b, "ibs:op:IBS_OP_ALL:250000:7");
	put_op(&b, b.program, 0x100, load);
	put_op(&b, b.library, 0x20, store);
	put_op(&b, b.program, 0x104, branch);
	CHECK_EQ(evbuf_flush(b.buffer), 0);
	path = path_join(b.session, "samples/ibs_memaccess.log");
	other = path_join(b.session, "samples/ibs_bta.log");
	record_free(b.rec);
	b.rec = NULL;
	expected = xasprintf("app,image,cpu,tgid,tid,offset,physical,linear,kind,latency\n"
			     "0x%" PRIx64 ",0x%" PRIx64 ",1,7,7,0x100,0x6000,0x5000,LD,200\n"
			     "0x%" PRIx64 ",0x%" PRIx64 ",1,7,7,0x20,0x6000,0x5000,ST,0\n",
			     b.program, b.program, b.program, b.library);
	CHECK(path_read(NULL, path, &memory, NULL) > 0);
	CHECK_STR(memory, expected);
	free(expected);
	expected = xasprintf("app,image,cpu,tgid,tid,offset,target\n"
			     "0x%" PRIx64 ",0x%" PRIx64 ",1,7,7,0x104,0x402000\n",
			     b.program, b.program);
	CHECK(path_read(NULL, other, &targets, NULL) > 0);
	CHECK_STR(targets, expected);
	bench_done(&b);
}

/* The sink takes whole records; a buffer that is nearly full is handed over before. */
static void words_are_never_torn(void)
{
	static const uint64_t none[3] = { 0 };
	_cleanup_(bench_done) struct bench b;
	struct record_stats stats;
	size_t i;

	bench_init(&b, "ibs:op:IBS_OP_ALL:250000:1");
	for (i = 0; i < 500; i++) {
		evbuf_context(b.buffer, &(struct evbuf_context){ .cpu = (uint32_t)i % 3,
								 .tgid = 7,
								 .tid = 7 + (uint32_t)i % 5,
								 .app = b.program });
		put_op(&b, i % 2 ? b.program : b.library, 0x100, none);
		if (i % 7 == 0)
			evbuf_sample(b.buffer, b.program, 0x104, 0, 1);
	}
	CHECK_EQ(evbuf_flush(b.buffer), 0);
	record_stats(b.rec, &stats);
	CHECK_EQ(stats.incomplete_code, 0);
	CHECK_EQ(stats.samples, 72);
	CHECK_EQ(stats.extended_lost, 0);
}

TESTS(T(one_hardware_sample_becomes_many_files), T(counts_of_the_driver_follow_the_events),
      T(single_samples_are_logged_if_asked_for), T(words_are_never_torn))
