/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/driver/perf/perf_ibs.c: which instruction-based samples reach the event buffer, and where. */
#include "driver/perf/perf_ibs.h"

#include "machine.h"

#define BIT(n) (1ULL << (n))

/* Control registers of valid samples. */
static const uint64_t fetch_valid = BIT(48) | BIT(49), op_valid = BIT(17) | BIT(18);

/* A sample taken at @where, with the registers @regs. */
static void take_regs(struct machine *m, const struct perf_ibs *ibs, enum ibs_kind kind,
		      const struct perf_record *where, const uint64_t regs[8])
{
	uint8_t raw[128] = { 0 };
	uint32_t caps = 0xff, bytes = (kind == IBS_FETCH ? 3 : 8) * 8;
	uint32_t size = (uint32_t)sizeof(caps) + bytes;
	struct perf_record r = *where;

	memcpy(raw, &size, 4);
	memcpy(raw + 4, &caps, 4);
	memcpy(raw + 8, regs, bytes);
	r.more = span_of(raw, 4 + size);
	m->attribution.now_ns = m->now_ns;
	perf_ibs_put(ibs, &m->attribution, 0, kind, &r);
}

/* A sample with @control in the first register and 0x10, 0x20, ... in those after it. */
static void take_ibs(struct machine *m, const struct perf_ibs *ibs, enum ibs_kind kind,
		     const struct perf_record *where, uint64_t control)
{
	const uint64_t regs[8] = { control, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70 };

	take_regs(m, ibs, kind, where, regs);
}

static struct perf_record at(uint16_t mode, uint32_t pid, uint64_t ip)
{
	return (struct perf_record){
		.type = PERF_RECORD_SAMPLE, .misc = mode, .pid = pid, .tid = pid, .ip = ip
	};
}

static struct machine *machine_with_process(void)
{
	struct machine *m = machine_new();

	proc_process(m, 70, 1, "/bin/a");
	sideband_read_all(&m->sideband, tick(m));
	return m;
}

static void registers_come_out_at_their_place(void)
{
	_cleanup_machine_ struct machine *m = machine_with_process();
	const struct perf_ibs ibs = { .terms = { { 1, 0, 1, 1 }, { 1, 0, 1, 1 } } };
	const struct perf_record user = at(USER, 70, 0x400010),
				 kernel = at(KERNEL, 71, 0xffffffff81000010);

	fork_to(m, 70, 71);
	exec_to(m, 71, "/bin/b");
	take_ibs(m, &ibs, IBS_FETCH, &user, fetch_valid);
	take_ibs(m, &ibs, IBS_OP, &kernel, op_valid);
	CHECK_EQ(m->stats.ibs_lost, 0);
	expect(m, "/bin/a /bin/a+1010 1:10 4:30000 5:20\n"
		  "/bin/b kernel+ffffffff81000010 1:10 3:20 5:30 7:40 9:50 11:60\n");
}

static void target_of_a_branch_is_appended_if_asked_for(void)
{
	static const uint64_t branch = BIT(37);
	static const struct {
		uint64_t data1, target;
		const char *seen;
	} rows[] = {
		{ branch, 0x402000, "/bin/a /bin/a+1010 4:20 13:402000\n" },
		{ branch, UINT64_MAX, "/bin/a /bin/a+1010 4:20 13:fffffffffffffffe\n" },
		{ 0, 0x402000, "/bin/a /bin/a+1010\n" }, /* no branch: whatever the register has */
	};
	const struct perf_ibs ibs = { .terms[IBS_OP] = { 1, IBS_BRANCH_TARGET, 1, 1 } };
	const struct perf_record user = at(USER, 70, 0x400010);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_machine_ struct machine *m = machine_with_process();
		const uint64_t regs[8] = { op_valid, 0, rows[i].data1, 0, 0, 0, 0, rows[i].target };

		m->branch_target = true;
		take_regs(m, &ibs, IBS_OP, &user, regs);
		expect(m, rows[i].seen);
	}
}

static void each_sample_that_cannot_be_used_is_counted(void)
{
	const struct {
		const char *name;
		enum ibs_kind kind;
		uint64_t control;
		struct perf_record where;
	} rows[] = {
		{ "an invalid fetch", IBS_FETCH, BIT(48), at(USER, 70, 0x400010) },
		{ "an invalid op", IBS_OP, BIT(17), at(USER, 70, 0x400010) },
		{ "in no mapping", IBS_OP, op_valid, at(USER, 70, 0xa00010) },
		{ "of no process", IBS_FETCH, fetch_valid, at(USER, 99, 0x400010) },
	};
	const struct perf_ibs ibs = { .terms = { { 1, 0, 1, 1 }, { 1, 0, 1, 1 } } };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_machine_ struct machine *m = machine_with_process();

		take_ibs(m, &ibs, rows[i].kind, &rows[i].where, rows[i].control);
		CHECK_EQ(m->stats.ibs_lost, 1);
		if (m->stats.ibs_lost != 1)
			printf("# %s\n", rows[i].name);
		expect(m, "");
	}
}

static void what_is_not_wanted_is_not_lost(void)
{
	static const struct {
		struct perf_ibs ibs;
		const char *seen; /* of a fetch and an op in user space, and both in the kernel */
	} rows[] = {
		{ { .terms = { { 1, 0, 1, 0 }, { 1, 0, 0, 1 } } },
		  "/bin/a /bin/a+1010 1:10 3:20 5:30 7:40 9:50 11:60\n"
		  "/bin/a kernel+ffffffff81000010 1:10 4:30000 5:20\n" },
		{ { .terms = { { 1, 0, 0, 0 }, { 1, 0, 0, 0 } } }, "" },
	};
	const struct perf_record user = at(USER, 70, 0x400010),
				 kernel = at(KERNEL, 70, 0xffffffff81000010);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_machine_ struct machine *m = machine_with_process();

		take_ibs(m, &rows[i].ibs, IBS_FETCH, &user, fetch_valid);
		take_ibs(m, &rows[i].ibs, IBS_OP, &user, op_valid);
		take_ibs(m, &rows[i].ibs, IBS_FETCH, &kernel, fetch_valid);
		take_ibs(m, &rows[i].ibs, IBS_OP, &kernel, op_valid);
		CHECK_EQ(m->stats.ibs_lost, 0);
		expect(m, rows[i].seen);
	}
}

static void other_processes_are_left_out(void)
{
	_cleanup_machine_ struct machine *m = machine_new();
	const struct perf_ibs ibs = { .terms[IBS_FETCH] = { 1, 0, 1, 1 } };
	const struct perf_record mine = at(USER, 70, 0x400010), theirs = at(USER, 5, 0x400010);

	proc_process(m, 5, 1, "/bin/stranger");
	proc_process(m, 70, 1, "/bin/a");
	m->sideband.follow = 70;
	sideband_read_all(&m->sideband, tick(m));
	take_ibs(m, &ibs, IBS_FETCH, &theirs, fetch_valid);
	take_ibs(m, &ibs, IBS_FETCH, &mine, fetch_valid);
	CHECK_EQ(m->stats.ibs_lost, 0);
	expect(m, "/bin/a /bin/a+1010 1:10 4:30000 5:20\n");
}

TESTS(T(registers_come_out_at_their_place), T(target_of_a_branch_is_appended_if_asked_for),
      T(each_sample_that_cannot_be_used_is_counted), T(what_is_not_wanted_is_not_lost),
      T(other_processes_are_left_out))
