/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From register dumps, as the kernel hands them over, to the counts of events. */
#include "base/strbuf.h"
#include "event/evderived.h"
#include "stream/evbuf.h"
#include "perf/ibs_raw.h"
#include "record/feature.h"
#include "test.h"

#include <errno.h>

#define BIT(n) (1ULL << (n))

enum { EVENTS_MAX = 64 };

static const struct ibs_cpu zen1 = { 0x17, 1 }, zen3 = { 0x19, 1 }, zen4 = { 0x19, 0x11 };

/* Control registers of samples that are valid, and nothing else. */
static const uint64_t fetch_valid = BIT(48) | BIT(49), op_valid = BIT(17) | BIT(18);

/* A record's raw data: size, capabilities, registers; the length. */
static size_t dump(uint8_t *to, uint32_t caps, const uint64_t *regs, size_t count)
{
	uint32_t size = (uint32_t)(sizeof(caps) + count * sizeof(*regs));

	memcpy(to, &size, 4);
	memcpy(to + 4, &caps, 4);
	memcpy(to + 8, regs, count * sizeof(*regs));
	return 4 + size;
}

static int decode_fetch(const struct ibs_cpu *cpu, uint64_t control, struct ibs_sample *ret)
{
	const uint64_t regs[] = { control, 0x401000, 0x7000 };
	uint8_t raw[64];

	return ibs_raw_decode(cpu, IBS_FETCH, span_of(raw, dump(raw, 0xff, regs, 3)), ret);
}

static int decode_op(const struct ibs_cpu *cpu, uint32_t caps, const uint64_t data[3],
		     struct ibs_sample *ret)
{
	const uint64_t regs[] = { op_valid, 0x401000, data[0], data[1], data[2], 0x5000, 0x6000 };
	uint8_t raw[128];

	return ibs_raw_decode(cpu, IBS_OP, span_of(raw, dump(raw, caps, regs, 7)), ret);
}

/* All events of a kind. */
static struct evderived every_event(enum ibs_kind kind)
{
	struct evderived d = { 0 };
	const struct ibs_event *e;
	size_t i;

	for (i = 0; (e = ibs_event_at(i)); i++)
		if (e->kind == kind)
			d.events[d.event_count++] = e;
	d.ibs[kind] = (struct event_terms){ 250000, 0, 1, 1 };
	return d;
}

static void add_count(size_t index, uint64_t pc, uint64_t value, void *data)
{
	uint64_t *counts = data;

	CHECK_EQ(pc, 0x1000);
	counts[index] += value;
}

/* What a decoded sample counts, "KILLED 1 LATENCY 42", but for what every sample counts. */
static char *counted(enum ibs_kind kind, struct ibs_sample *s)
{
	const struct evderived all = every_event(kind);
	_cleanup_directory_ char *root = test_directory();
	_cleanup_(feature_freep) struct feature *f = feature_new(&all, root);
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	uint64_t counts[EVENTS_MAX] = { 0 };
	size_t i;

	s->words[0] = 0x1000;
	f->ops->sample(f, kind == IBS_FETCH ? EVBUF_IBS_FETCH : EVBUF_IBS_OP, s->words, add_count,
		       counts);
	for (i = 0; i < all.event_count; i++) {
		const char *name = all.events[i]->name + strlen(ibs_kinds[kind].prefix);

		if (counts[i] && strcmp(name, "ALL") != 0 && strcmp(name, "ATTEMPTED") != 0)
			strbuf_addf(&text, "%s%s %" PRIu64, text.length ? " " : "", name,
				    counts[i]);
	}
	return xstrdup(strbuf_text(&text));
}

static void each_bit_of_a_fetch_counts_its_events(void)
{
	static const struct {
		uint64_t bits;
		const char *events;
	} rows[] = {
		{ 0, "KILLED 1 ABORTED 1" },
		{ BIT(50), "COMPLETED 1 ICACHE_HITS 1" },
		{ BIT(51), "ABORTED 1 ICACHE_MISSES 1" },
		{ BIT(50) | BIT(51), "COMPLETED 1 ICACHE_MISSES 1" },
		{ BIT(52), "ABORTED 1 ITLB_HITS 1 4K_PAGE 1" },
		{ BIT(52) | BIT(53), "ABORTED 1 ITLB_HITS 1 2M_PAGE 1" },
		{ BIT(52) | BIT(54), "ABORTED 1 ITLB_HITS 1" }, /* 1G */
		{ BIT(55), "ABORTED 1 L1_ITLB_MISSES_L2_ITLB_HITS 1" },
		{ BIT(55) | BIT(56), "ABORTED 1 L1_ITLB_MISSES_L2_ITLB_MISSES 1" },
		{ 0x2aULL << 32, "KILLED 1 ABORTED 1 LATENCY 42" },
		{ 0xffffULL << 32 | BIT(50), "COMPLETED 1 ICACHE_HITS 1 LATENCY 65535" },
		{ 0xffffffff | BIT(57) | BIT(58) | BIT(59) | BIT(60) | BIT(61),
		  "KILLED 1 ABORTED 1" }, /* counters, and bits that are no event's */
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct ibs_sample s = { 0 };

		printf("# %#" PRIx64 "\n", rows[i].bits);
		CHECK_EQ(decode_fetch(&zen1, fetch_valid | rows[i].bits, &s), 0);
		CHECK_EQ(s.ip, 0x401000);
		_cleanup_free_ char *events = counted(IBS_FETCH, &s);
		CHECK_STR(events, rows[i].events);
	}
}

#define LOAD	  "ALL_LOAD_STORE 1 LOAD 1"
#define LOAD_HIT  LOAD " DATA_HITS 1"
#define LOAD_MISS LOAD " DATA_CACHE_MISS 1"

static void each_bit_of_an_op_counts_its_events(void)
{
	static const struct {
		uint64_t data[3];
		const char *events;
	} rows[] = {
		{ { 0 }, "" },
		{ { 0x90005 }, "TAG_TO_RETIRE 9 COMP_TO_RET 5" },
		{ { BIT(32) }, "RESYNC 1" },
		{ { BIT(37) }, "BRANCH_RETIRED 1" },
		{ { BIT(36) }, "" }, /* no branch */
		{ { BIT(37) | BIT(36) }, "BRANCH_RETIRED 1 MISPREDICTED_BRANCH 1" },
		{ { BIT(37) | BIT(35) }, "BRANCH_RETIRED 1 TAKEN_BRANCH 1" },
		{ { BIT(37) | BIT(36) | BIT(35) },
		  "BRANCH_RETIRED 1 MISPREDICTED_BRANCH 1 TAKEN_BRANCH 1 "
		  "MISPREDICTED_BRANCH_TAKEN 1" },
		{ { BIT(37) | BIT(34) }, "BRANCH_RETIRED 1 RETURNS 1" },
		{ { BIT(37) | BIT(34) | BIT(36) },
		  "BRANCH_RETIRED 1 MISPREDICTED_BRANCH 1 RETURNS 1 MISPREDICTED_RETURNS 1" },
		{ { 0, 0, BIT(0) }, LOAD_HIT },
		{ { 0, 0, BIT(1) }, "ALL_LOAD_STORE 1 STORE 1 DATA_HITS 1" },
		{ { 0, 0, BIT(7) }, "" }, /* neither load nor store */
		{ { 0, 0, BIT(0) | BIT(17) }, LOAD " L1_DTLB_HITS 1 DATA_HITS 1 L1_DTLB_4K 1" },
		{ { 0, 0, BIT(0) | BIT(17) | BIT(4) },
		  LOAD " L1_DTLB_HITS 1 DATA_HITS 1 L1_DTLB_2M 1" },
		{ { 0, 0, BIT(0) | BIT(17) | BIT(4) | BIT(5) }, /* as OProfile 0.9.9 has it */
		  LOAD " L1_DTLB_HITS 1 DATA_HITS 1 L1_DTLB_2M 1" },
		{ { 0, 0, BIT(0) | BIT(17) | BIT(5) },
		  LOAD " L1_DTLB_HITS 1 DATA_HITS 1 L1_DTLB_1G 1" },
		{ { 0, 0, BIT(0) | BIT(17) | BIT(2) },
		  LOAD " L1_DTLB_MISS_L2_DTLB_HIT 1 DATA_HITS 1 L2_DTLB_4K 1" },
		{ { 0, 0, BIT(0) | BIT(17) | BIT(2) | BIT(6) },
		  LOAD " L1_DTLB_MISS_L2_DTLB_HIT 1 DATA_HITS 1 L2_DTLB_2M 1" },
		{ { 0, 0, BIT(0) | BIT(17) | BIT(2) | BIT(19) },
		  LOAD " L1_DTLB_MISS_L2_DTLB_HIT 1 DATA_HITS 1 L2_DTLB_1G 1" },
		{ { 0, 0, BIT(0) | BIT(17) | BIT(2) | BIT(3) },
		  LOAD " L1_L2_DTLB_MISS 1 DATA_HITS 1" },
		{ { 0, 0, BIT(0) | BIT(8) }, LOAD_HIT " MISALIGNED_DATA_ACC 1" },
		{ { 0, 0, BIT(0) | BIT(9) }, LOAD_HIT " BANK_CONF_LOAD 1" },
		{ { 0, 0, BIT(0) | BIT(10) }, LOAD_HIT " BANK_CONF_STORE 1" },
		{ { 0, 0, BIT(0) | BIT(11) }, LOAD_HIT " FORWARD 1" },
		{ { 0, 0, BIT(1) | BIT(11) }, "ALL_LOAD_STORE 1 STORE 1 DATA_HITS 1" },
		{ { 0, 0, BIT(0) | BIT(12) }, LOAD_HIT " CANCELLED 1" },
		{ { 0, 0, BIT(0) | BIT(13) }, LOAD_HIT " DCWC_MEM_ACC 1" },
		{ { 0, 0, BIT(0) | BIT(14) }, LOAD_HIT " DCUC_MEM_ACC 1" },
		{ { 0, 0, BIT(0) | BIT(15) }, LOAD_HIT " LOCKED 1" },
		{ { 0, 0, BIT(0) | BIT(16) }, LOAD_HIT " MAB_HIT 1" },
		{ { 0, 0, BIT(0) | BIT(7) | 0x37ULL << 32 }, LOAD_MISS " DC_LOAD_LAT 55" },
		{ { 0, 1, BIT(0) | BIT(7) }, LOAD_MISS " NB_LOCAL_ONLY 1 NB_LOCAL_L3 1" },
		{ { 0, 2, BIT(0) | BIT(7) },
		  LOAD_MISS " NB_LOCAL_ONLY 1 NB_LOCAL_CACHE 1 NB_CACHE_MODIFIED 1" },
		{ { 0, 3, BIT(0) | BIT(7) | 7ULL << 32 },
		  LOAD_MISS " DC_LOAD_LAT 7 NB_LOCAL_ONLY 1 NB_LOCAL_DRAM 1 NB_LOCAL_CACHE_LAT 7" },
		{ { 0, 7, BIT(0) | BIT(7) }, LOAD_MISS " NB_LOCAL_ONLY 1 NB_LOCAL_OTHER 1" },
		{ { 0, 2 | BIT(4), BIT(0) | BIT(7) },
		  LOAD_MISS " NB_REMOTE_ONLY 1 NB_REMOTE_CACHE 1 NB_CACHE_MODIFIED 1" },
		{ { 0, 2 | BIT(5), BIT(0) | BIT(7) },
		  LOAD_MISS " NB_LOCAL_ONLY 1 NB_LOCAL_CACHE 1 NB_CACHE_OWNED 1" },
		{ { 0, 3 | BIT(4), BIT(0) | BIT(7) | 9ULL << 32 },
		  LOAD_MISS
		  " DC_LOAD_LAT 9 NB_REMOTE_ONLY 1 NB_REMOTE_DRAM 1 NB_REMOTE_CACHE_LAT 9" },
		{ { 0, 7 | BIT(4), BIT(0) | BIT(7) },
		  LOAD_MISS " NB_REMOTE_ONLY 1 NB_REMOTE_OTHER 1" },
		{ { 0, 3, BIT(1) | BIT(7) }, "ALL_LOAD_STORE 1 STORE 1 DATA_CACHE_MISS 1" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct ibs_sample s = { 0 };

		printf("# %#" PRIx64 " %#" PRIx64 " %#" PRIx64 "\n", rows[i].data[0],
		       rows[i].data[1], rows[i].data[2]);
		CHECK_EQ(decode_op(&zen1, 0xff, rows[i].data, &s), 0);
		CHECK_EQ(s.ip, 0x401000);
		_cleanup_free_ char *events = counted(IBS_OP, &s);
		CHECK_STR(events, rows[i].events);
	}
}

static void errata_are_evened_out(void)
{
	static const struct {
		const struct ibs_cpu *cpu;
		uint64_t control;
		const char *events;
	} fetches[] = {
		/* 1238: no statement about the instruction cache */
		{ &zen3, BIT(51), "KILLED 1 ABORTED 1" },
		{ &zen4, BIT(51), "ABORTED 1 ICACHE_MISSES 1" },
		/* 1347: 4K, 16K, 2M, 1G */
		{ &zen3, BIT(52), "ABORTED 1 ITLB_HITS 1 4K_PAGE 1" },
		{ &zen3, BIT(52) | BIT(53), "ABORTED 1 ITLB_HITS 1" },
		{ &zen3, BIT(52) | BIT(54), "ABORTED 1 ITLB_HITS 1 2M_PAGE 1" },
		{ &zen3, BIT(52) | BIT(53) | BIT(54), "ABORTED 1 ITLB_HITS 1" },
		{ &zen4, BIT(52) | BIT(53), "ABORTED 1 ITLB_HITS 1 2M_PAGE 1" },
	};
	static const uint64_t no_mab[] = { 0, 3, BIT(0) | BIT(7) | BIT(16) | BIT(20) | BIT(26) },
			      prefetch[] = { 0, 3, BIT(0) | BIT(7) | BIT(21) },
			      plain[] = { 0, 3, BIT(0) | BIT(7) };
	struct ibs_sample s;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fetches); i++) {
		printf("# %#" PRIx64 "\n", fetches[i].control);
		CHECK_EQ(decode_fetch(fetches[i].cpu, fetch_valid | fetches[i].control, &s), 0);
		_cleanup_free_ char *events = counted(IBS_FETCH, &s);
		CHECK_STR(events, fetches[i].events);
	}
	/* 1293: no source of the data where there was no miss address buffer; words 5 to 8 are data
	 * 2 and 3. */
	CHECK_EQ(decode_op(&zen3, 0xff, no_mab, &s), 0);
	CHECK_EQ(s.words[5], 0);
	CHECK_EQ(s.words[7], BIT(0) | BIT(7) | BIT(16));
	CHECK_EQ(decode_op(&zen3, 0xff, prefetch, &s), 0);
	CHECK_EQ(s.words[5], 0);
	CHECK_EQ(decode_op(&zen3, 0xff, plain, &s), 0);
	CHECK_EQ(s.words[5], 3);
	CHECK_EQ(decode_op(&zen4, 0xff, no_mab, &s), 0);
	CHECK_EQ(s.words[5], 3);
	CHECK_EQ(s.words[7], no_mab[2]);
}

static void newer_sources_of_data_are_the_older_ones(void)
{
	static const struct {
		uint64_t data2, want;
	} rows[] = {
		{ 1, 1 }, /* this complex */
		{ 2, 2 }, /* a near one */
		{ 3, 3 }, /* DRAM, near and far */
		{ 3 | BIT(4), 3 | BIT(4) },
		{ 5, 2 | BIT(4) }, /* a far complex */
		{ 6, 7 },	   /* persistent memory */
		{ 7, 7 },
		{ BIT(6), 7 },		    /* 8: extension memory */
		{ BIT(6) | 4, 7 },	    /* 12: a peer's */
		{ BIT(6) | 1, 0 },	    /* 9: reserved */
		{ BIT(7) | 3, 0 },	    /* 19: reserved */
		{ 2 | BIT(5), 2 | BIT(5) }, /* the cache line's state stays */
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const uint64_t data[] = { 0, rows[i].data2, BIT(0) | BIT(7) };
		struct ibs_sample s;

		CHECK_EQ(decode_op(&zen4, 1 << 11, data, &s), 0);
		CHECK_EQ(s.words[5], rows[i].want);
		CHECK_EQ(decode_op(&zen4, 0, data, &s), 0);
		CHECK_EQ(s.words[5], rows[i].data2);
	}
}

static void samples_that_are_none_are_refused(void)
{
	const uint64_t op[] = { op_valid, 0x401000, BIT(38), 0, 0, 0, 0, 0 }, none[8] = { 0 };
	struct ibs_sample s = { 0 };
	uint8_t raw[128];
	size_t size, cut;

	CHECK_EQ(decode_fetch(&zen1, BIT(48), &s), -ENODATA);
	CHECK_EQ(decode_fetch(&zen1, BIT(49), &s), -ENODATA);
	size = dump(raw, 0, none, 7);
	CHECK_EQ(ibs_raw_decode(&zen1, IBS_OP, span_of(raw, size), &s), -ENODATA);
	size = dump(raw, 0, op, 8); /* with the target of a branch */
	CHECK_EQ(ibs_raw_decode(&zen1, IBS_OP, span_of(raw, size), &s), 0);
	CHECK_EQ(s.ip, 0); /* RIP invalid */
	for (cut = 0; cut < 4 + 4 + 7 * 8; cut++)
		CHECK_EQ(ibs_raw_decode(&zen1, IBS_OP, span_of(raw, cut), &s), -EBADMSG);
}

static void processors_are_recognised(void)
{
	_cleanup_free_ char *root =
		xasprintf("%s/tests/fixtures/machines/amd-zen3", getenv("OP_SOURCE_ROOT"));
	struct ibs_cpu cpu = ibs_cpu_read(root);

	CHECK_EQ(cpu.family, 0x19);
	CHECK_EQ(cpu.model, 1);
	CHECK_EQ(ibs_cpu_read("/nonexistent").family, 0);
}

/* The 60 of the original's files; its documentation counts 46 of ops, which leaves one out. */
static void there_are_so_many_events(void)
{
	const struct ibs_event *e;
	size_t i, count[IBS_KIND_COUNT_] = { 0 };

	for (i = 0; (e = ibs_event_at(i)); i++)
		count[e->kind]++;
	CHECK_EQ(count[IBS_FETCH], 13);
	CHECK_EQ(count[IBS_OP], 47);
}

TESTS(T(each_bit_of_a_fetch_counts_its_events), T(each_bit_of_an_op_counts_its_events),
      T(errata_are_evened_out), T(newer_sources_of_data_are_the_older_ones),
      T(samples_that_are_none_are_refused), T(processors_are_recognised),
      T(there_are_so_many_events))
