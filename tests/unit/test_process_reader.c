/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/driver/perf/process_reader.c, with sideband.c: processes whose reading takes long. */
#include "machine.h"

#include <errno.h>
#include <sys/eventfd.h>

/* Readings wait until it is opened. */
static int gate = -1;

static struct process_reading *read_behind_gate(const char *root, uint32_t tid)
{
	eventfd_t value;

	(void)eventfd_read(gate, &value);
	return process_reading_new(root, tid);
}

/* A machine whose processes take long to read from now on. */
static void close_gate(struct machine *m)
{
	gate = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
	process_reader_free(m->sideband.reader);
	m->sideband.reader = process_reader_new(m->root, read_behind_gate);
	m->sideband.patience_ns = 1000000;
	m->sideband.may_wait = true;
}

static void open_gate(struct machine *m)
{
	CHECK_EQ(eventfd_write(gate, 1000), 0);
	m->sideband.patience_ns = (uint64_t)60 * 1000000000;
	m->sideband.spent_ns = 0;
	m->sideband.waits = false;
}

/* A machine with a process that is being read. */
static struct machine *with_reading(void)
{
	struct machine *m = machine_new();

	proc_process(m, 70, 1, "/bin/sh");
	close_gate(m);
	sample(m, USER, 70, 0x400010);
	CHECK(m->sideband.waits);
	return m;
}

/* Process 70 takes long. */
static struct process_reading *read_one_behind_gate(const char *root, uint32_t tid)
{
	return tid == 70 ? read_behind_gate(root, tid) : process_reading_new(root, tid);
}

/* When sampling starts. */
static void a_reading_that_takes_long_does_not_hold_up_the_others(void)
{
	_cleanup_machine_ struct machine *m = machine_new();
	uint32_t pid;

	for (pid = 68; pid < 73; pid++)
		proc_process(m, pid, 1, "/bin/sh");
	close_gate(m);
	process_reader_free(m->sideband.reader);
	m->sideband.reader = process_reader_new(m->root, read_one_behind_gate);
	sideband_read_all(&m->sideband, m->now_ns);
	for (pid = 68; pid < 73; pid++)
		CHECK_EQ(process_get(&m->sideband.processes, pid)->maps != NULL, pid != 70);
	open_gate(m);
	sample(m, USER, 70, 0x400010);
	CHECK_EQ(m->stats.sideband_unread, 0);
	expect(m, "/bin/sh /bin/sh+1010\n");
}

static void samples_wait_until_their_process_was_read(void)
{
	_cleanup_machine_ struct machine *m = with_reading();

	CHECK_EQ(m->stats.sample_received, 0);
	open_gate(m);
	sample(m, USER, 70, 0x400010);
	CHECK_EQ(m->stats.sideband_unread, 0);
	expect(m, "/bin/sh /bin/sh+1010\n");
}

/* Its ring is nearly full. */
static void those_that_cannot_wait_are_counted(void)
{
	_cleanup_machine_ struct machine *m = with_reading();

	m->sideband.may_wait = m->sideband.waits = false;
	m->sideband.spent_ns = 0;
	sample(m, USER, 70, 0x400010);
	CHECK_EQ(m->stats.sideband_unread, 1);
	CHECK_EQ(m->stats.sample_lost_no_mm, 1);
	open_gate(m);
	sample(m, USER, 70, 0x400010);
	expect(m, "/bin/sh /bin/sh+1010\n");
}

/* Those after it in the ring do, too. */
static void samples_wait_a_second_at_most(void)
{
	_cleanup_machine_ struct machine *m = with_reading();
	uint64_t lost;

	m->sideband.waits = false;
	m->now_ns += 1000000000;
	sample(m, USER, 70, 0x400010);
	CHECK(!m->sideband.waits);
	CHECK_EQ(m->stats.sideband_unread, 1);
	CHECK_EQ(m->stats.sample_lost_no_mm, 1);
	open_gate(m);
	/* It comes some time. */
	do {
		lost = m->stats.sample_lost_no_mm;
		sample(m, USER, 70, 0x400010);
	} while (m->stats.sample_lost_no_mm > lost);
	expect(m, "/bin/sh /bin/sh+1010\n");
}

/* A user's file system does not answer whoever reads his processes. */
static void of_one_user_two_may_take_long(void)
{
	_cleanup_machine_ struct machine *m = with_reading();

	proc_process(m, 71, 1, "/bin/sh");
	proc_process(m, 72, 1, "/bin/sh");
	m->sideband.waits = false;
	m->sideband.spent_ns = 0;
	sample(m, USER, 71, 0x400010);
	CHECK(m->sideband.waits);
	m->sideband.waits = false;
	m->sideband.spent_ns = 0;
	m->now_ns += 2000000000;
	sample(m, USER, 72, 0x400010);
	CHECK(!m->sideband.waits);
	CHECK_EQ(m->stats.sideband_unread, 1);
	CHECK_EQ(m->stats.sample_lost_no_mm, 1);
	open_gate(m);
}

static void what_was_mapped_meanwhile_is_added(void)
{
	_cleanup_machine_ struct machine *m = with_reading();

	map_file(m, 70, 0x7f000000, "/lib/plugin.so");
	map_file(m, 70, 0x400000, "/lib/over.so");
	open_gate(m);
	sample(m, USER, 70, 0x7f000020);
	sample(m, USER, 70, 0x400010);
	expect(m, "/bin/sh /lib/plugin.so+1020\n/bin/sh /lib/over.so+1010\n");
}

static void what_was_executed_meanwhile_counts(void)
{
	_cleanup_machine_ struct machine *m = with_reading();

	exec_to(m, 70, "/bin/true");
	open_gate(m);
	sample(m, USER, 70, 0x400010);
	sideband_tidy(&m->sideband, m->now_ns);
	sample(m, USER, 70, 0x400010);
	expect(m, "/bin/true /bin/true+1010\n/bin/true /bin/true+1010\n");
}

/* The new process is not read: what its parent has is known. */
static void a_reading_is_not_that_of_the_next_process(void)
{
	_cleanup_machine_ struct machine *m = machine_new();

	proc_process(m, 71, 1, "/bin/old");
	proc_process(m, 70, 1, "/bin/sh");
	sideband_read_all(&m->sideband, tick(m));
	close_gate(m);
	proc_process(m, 72, 1, "/bin/other");
	sample(m, USER, 72, 0x400010);
	CHECK(m->sideband.waits);
	fork_to(m, 70, 72);
	open_gate(m);
	sample(m, USER, 72, 0x400010);
	expect(m, "/bin/sh /bin/sh+1010\n");
}

static void a_reading_is_taken_although_nobody_asks_again(void)
{
	_cleanup_machine_ struct machine *m = with_reading();
	int i;

	open_gate(m);
	for (i = 0; i < 6000 && !process_get(&m->sideband.processes, 70)->maps; i++) {
		(void)process_reader_await(m->sideband.reader, 70, 10);
		sideband_tidy(&m->sideband, m->now_ns);
	}
	CHECK(process_get(&m->sideband.processes, 70)->maps);
	CHECK_EQ(process_get(&m->sideband.processes, 70)->sure_ns,
		 process_get(&m->sideband.processes, 70)->read_ns);
}

/* A process of each thread is enough: others are not read, and counted. */
static void few_of_one_user_are_read_at_once(void)
{
	_cleanup_machine_ struct machine *m = machine_new();
	uint32_t pid;

	for (pid = 70; pid < 75; pid++)
		proc_process(m, pid, 1, "/bin/sh");
	close_gate(m);
	for (pid = 70; pid < 74; pid++) {
		m->sideband.waits = false;
		m->sideband.spent_ns = 0;
		sample(m, USER, pid, 0x400010);
		CHECK(m->sideband.waits);
	}
	CHECK_EQ(m->stats.sideband_unread, 0);
	m->sideband.waits = false;
	m->sideband.spent_ns = 0;
	sample(m, USER, 74, 0x400010);
	CHECK(!m->sideband.waits);
	CHECK_EQ(m->stats.sideband_unread, 1);
	open_gate(m);
	for (pid = 70; pid < 74; pid++)
		sample(m, USER, pid, 0x400010);
	m->now_ns += 1000000000;
	sample(m, USER, 74, 0x400010);
	CHECK_EQ(m->stats.sample_lost_no_mm, 1);
	CHECK_EQ(m->stats.sample_received, 6);
}

/* Its thread frees what it has, when it is done. */
static void a_reading_that_does_not_end_is_left(void)
{
	machine_free(with_reading());
	CHECK_EQ(eventfd_write(gate, 1000), 0);
}

/* Writes the maps of process @pid: @count pages of a file. */
static void proc_maps(struct machine *m, uint32_t pid, size_t count)
{
	struct strbuf text = STRBUF_INIT;
	size_t i;

	for (i = 0; i < count; i++)
		strbuf_addf(&text, "%zx-%zx r-xp 00000000 08:01 7 /lib/x.so\n",
			    0x10000 + i * 0x2000, 0x11000 + i * 0x2000);
	proc_file(m, pid, "maps", strbuf_text(&text));
	strbuf_done(&text);
}

static void many_mappings_are_taken_in_portions(void)
{
	enum { MANY = 5000 };
	_cleanup_machine_ struct machine *m = machine_new();
	const struct process_target to = { &m->sideband.processes, m->cookies };
	struct process *p = process_make(to.table, 70);
	_cleanup_(process_reading_freep) struct process_reading *r = NULL;
	int code, portions = 0;

	proc_process(m, 70, 1, "/bin/sh");
	proc_maps(m, 70, MANY);
	r = process_reading_new(m->root, 70);
	while ((code = process_reading_take(r, p, &to, 0)) == -EAGAIN) {
		CHECK(!p->maps);
		portions++;
	}
	CHECK_EQ(code, 0);
	CHECK(portions > 5);
	CHECK_EQ(maps_count(p->maps), MANY);
	CHECK(!r->cut);
}

static void too_many_mappings_are_cut_and_counted(void)
{
	_cleanup_machine_ struct machine *m = machine_new();

	proc_process(m, 70, 1, "/bin/sh");
	proc_maps(m, 70, PROCESS_READING_MAPPINGS + 1);
	sideband_read_all(&m->sideband, tick(m));
	CHECK_EQ(m->stats.sideband_unread, 1);
	CHECK_EQ(maps_count(process_get(&m->sideband.processes, 70)->maps),
		 PROCESS_READING_MAPPINGS);
}

TESTS(T(samples_wait_until_their_process_was_read),
      T(a_reading_that_takes_long_does_not_hold_up_the_others),
      T(those_that_cannot_wait_are_counted), T(samples_wait_a_second_at_most),
      T(of_one_user_two_may_take_long), T(what_was_mapped_meanwhile_is_added),
      T(what_was_executed_meanwhile_counts), T(a_reading_is_not_that_of_the_next_process),
      T(a_reading_is_taken_although_nobody_asks_again), T(few_of_one_user_are_read_at_once),
      T(a_reading_that_does_not_end_is_left), T(many_mappings_are_taken_in_portions),
      T(too_many_mappings_are_cut_and_counted))
