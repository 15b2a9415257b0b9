/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/driver/perf/attribution.c and sideband.c: which process and which file a sample is in. */
#include "machine.h"

#include <sys/stat.h>

static void process_that_was_there_is_known(void)
{
	_cleanup_machine_ struct machine *m = machine_new();

	proc_process(m, 70, 1, "/usr/bin/old");
	sideband_read_all(&m->sideband, tick(m));
	sample(m, USER, 70, 0x400010);
	sample(m, USER, 70, 0x404fff);
	sample(m, USER, 70, 0x7fff7ffc0123);
	sample(m, KERNEL, 70, 0xffffffff81000010);
	expect(m, "/usr/bin/old /usr/bin/old+1010\n"
		  "/usr/bin/old /usr/bin/old+5fff\n"
		  "/usr/bin/old [vdso]+123\n"
		  "/usr/bin/old kernel+ffffffff81000010\n");
}

static void fork_shares_and_exec_replaces(void)
{
	_cleanup_machine_ struct machine *m = machine_new();

	proc_process(m, 70, 1, "/bin/sh");
	sideband_read_all(&m->sideband, tick(m));
	fork_to(m, 70, 71);
	sample(m, USER, 71, 0x400010);
	bytes_comm(&m->bytes, 71, 71, "true", true, tick(m));
	apply(m);
	sample(m, KERNEL, 71, 0xffffffff81000010); /* still the shell until something is mapped */
	map_file(m, 71, 0x400000, "/bin/true");
	map_file(m, 71, 0x7f000000, "/lib/ld.so");
	sample(m, USER, 71, 0x400010);
	sample(m, USER, 71, 0x7f000020);
	sample(m, USER, 70, 0x400010);
	expect(m, "/bin/sh /bin/sh+1010\n"
		  "/bin/sh kernel+ffffffff81000010\n"
		  "/bin/true /bin/true+1010\n"
		  "/bin/true /lib/ld.so+1020\n"
		  "/bin/sh /bin/sh+1010\n");
}

static void executable_stack_is_not_the_application(void)
{
	_cleanup_machine_ struct machine *m = machine_new();

	bytes_comm(&m->bytes, 71, 71, "true", true, tick(m));
	apply(m);
	bytes_map(&m->bytes, 71, 0x7fff0000, 0x1000, 0, "[stack]", tick(m));
	apply(m);
	map_file(m, 71, 0x400000, "/bin/true");
	sample(m, USER, 71, 0x7fff0010);
	expect(m, "/bin/true [stack]+10\n");
}

static void number_that_is_used_again_is_another_process(void)
{
	_cleanup_machine_ struct machine *m = machine_new();

	proc_process(m, 70, 1, "/bin/sh");
	sideband_read_all(&m->sideband, tick(m));
	fork_to(m, 70, 71);
	exec_to(m, 71, "/bin/true");
	leave(m, 71);
	sample(m, USER, 71, 0x400010); /* threads may go on */
	fork_to(m, 70, 71);
	sample(m, USER, 71, 0x400010);
	/* The first one's end must not be taken for the second's. */
	m->now_ns += 2000000000;
	proc_process(m, 71, 70, "/bin/sh");
	sideband_tidy(&m->sideband, m->now_ns);
	sample(m, USER, 71, 0x400010);
	expect(m, "/bin/true /bin/true+1010\n/bin/sh /bin/sh+1010\n/bin/sh /bin/sh+1010\n");
}

static void process_that_left_is_forgotten_when_proc_says_so(void)
{
	_cleanup_machine_ struct machine *m = machine_new();

	proc_process(m, 70, 1, "/bin/threads");
	sideband_read_all(&m->sideband, tick(m));
	leave(m, 70);
	m->now_ns += 2000000000;
	sideband_tidy(&m->sideband, m->now_ns);
	CHECK(process_get(&m->sideband.processes, 70));
	proc_file(m, 70, "stat", "70 (threads) Z 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 3 0 1");
	m->now_ns += 2000000000;
	sideband_tidy(&m->sideband, m->now_ns);
	CHECK(process_get(&m->sideband.processes, 70)); /* two threads go on */
	proc_file(m, 70, "stat", "70 (threads) Z 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 1");
	m->now_ns += 2000000000;
	sideband_tidy(&m->sideband, m->now_ns);
	CHECK(!process_get(&m->sideband.processes, 70));
}

static void unknown_process_is_read_when_it_is_sampled(void)
{
	_cleanup_machine_ struct machine *m = machine_new();

	proc_process(m, 70, 1, "/usr/bin/late");
	sample(m, USER, 70, 0x400010);
	sample(m, USER, 99, 0x400010);
	CHECK_EQ(m->stats.sample_lost_no_mm, 1);
	sample(m, KERNEL, 99, 0xffffffff81000010);
	expect(m, "/usr/bin/late /usr/bin/late+1010\nunknown kernel+ffffffff81000010\n");
	/* It is asked for again, but not at once. */
	proc_process(m, 99, 1, "/usr/bin/later");
	sample(m, USER, 99, 0x400010);
	m->now_ns += 200000000;
	sample(m, USER, 99, 0x400010);
	CHECK_EQ(m->stats.sample_lost_no_mm, 1);
	expect(m, "/usr/bin/later /usr/bin/later+1010\n");
}

static void address_in_no_mapping_is_looked_up_once_more(void)
{
	_cleanup_machine_ struct machine *m = machine_new();

	proc_process(m, 70, 1, "/usr/bin/a");
	sideband_read_all(&m->sideband, tick(m));
	proc_file(m, 70, "maps",
		  "00400000-00405000 r-xp 00001000 08:01 70 /usr/bin/a\n"
		  "00900000-00905000 r-xp 00001000 08:01 71 /usr/lib/with\\012newline\n");
	sample(m, USER, 70, 0x900010);
	CHECK_EQ(m->stats.sample_lost_no_mapping, 1); /* it was read a moment ago */
	m->now_ns += 200000000;
	sample(m, USER, 70, 0x900010);
	sample(m, USER, 70, 0xa00010);
	CHECK_EQ(m->stats.sample_lost_no_mapping, 2);
	expect(m, "/usr/bin/a /usr/lib/with\nnewline+1010\n");
}

/* A daemon that stood still finds samples of programs that have given way to others since, the
 * records of which are still to come. */
static void what_is_mapped_now_says_nothing_of_long_ago(void)
{
	_cleanup_machine_ struct machine *m = machine_new();
	struct perf_record r;

	proc_process(m, 70, 1, "/bin/sh");
	sideband_read_all(&m->sideband, tick(m));
	m->now_ns += 200000000;
	bytes_sample(&m->bytes, USER, 70, 0x900010, tick(m));
	CHECK_EQ(perf_record_decode(span_of(m->bytes.text, m->bytes.length), &r), 0);
	proc_file(m, 70, "maps", "00900000-00905000 r-xp 00001000 08:01 71 /usr/bin/next\n");
	m->attribution.now_ns = m->now_ns + 30000000000;
	perf_samples_put(&m->attribution, 0, 0, &r);
	CHECK_EQ(m->stats.sample_lost_no_mapping, 1);
	sample(m, USER, 70, 0x400010);
	exec_to(m, 70, "/usr/bin/next");
	sample(m, USER, 70, 0x400010);
	expect(m, "/bin/sh /bin/sh+1010\n/usr/bin/next /usr/bin/next+1010\n");
}

static void lost_records_are_made_good_from_proc(void)
{
	_cleanup_machine_ struct machine *m = machine_new();

	proc_process(m, 70, 1, "/bin/sh");
	sideband_read_all(&m->sideband, tick(m));
	fork_to(m, 70, 71);
	proc_process(m, 70, 1, "/bin/exec-was-lost");
	proc_process(m, 72, 1, "/bin/fork-was-lost");
	bytes_lost(&m->bytes, 5, tick(m));
	m->now_ns += 100000000; /* handled a good while later */
	apply(m);
	CHECK_EQ(m->stats.sideband_lost, 5);
	CHECK_EQ(m->stats.resync, 1);
	/* Another one from before that reading changes nothing. */
	bytes_lost(&m->bytes, 5, m->now_ns - 1000);
	apply(m);
	CHECK_EQ(m->stats.resync, 1);
	m->sideband.spent_ns = 0;
	sample(m, USER, 70, 0x400010);
	sample(m, USER, 71, 0x400010); /* gone from /proc, but what was known was right */
	sample(m, USER, 72, 0x400010);
	expect(m, "/bin/exec-was-lost /bin/exec-was-lost+1010\n"
		  "/bin/sh /bin/sh+1010\n"
		  "/bin/fork-was-lost /bin/fork-was-lost+1010\n");
}

static void all_of_proc_is_read_for_a_share_of_the_time(void)
{
	_cleanup_machine_ struct machine *m = machine_new();

	proc_process(m, 70, 1, "/bin/sh");
	sideband_read_all(&m->sideband, tick(m));
	bytes_lost(&m->bytes, 5, tick(m));
	apply(m);
	CHECK_EQ(m->stats.resync, 1);
	CHECK(m->sideband.read_next_ns > m->now_ns);
	m->sideband.read_next_ns = m->now_ns + 1000000000;
	bytes_lost(&m->bytes, 5, tick(m));
	apply(m);
	sideband_tidy(&m->sideband, m->now_ns);
	CHECK_EQ(m->stats.sideband_lost, 10);
	CHECK_EQ(m->stats.resync, 1);
	m->now_ns += 1000000000;
	sideband_tidy(&m->sideband, m->now_ns);
	CHECK_EQ(m->stats.resync, 2);
	m->now_ns += 1000000000;
	sideband_tidy(&m->sideband, m->now_ns);
	CHECK_EQ(m->stats.resync, 2);
}

/* Processes with very many mappings take long to read. */
static void reading_takes_part_of_a_turn(void)
{
	_cleanup_machine_ struct machine *m = machine_new();

	proc_process(m, 70, 1, "/bin/sh");
	sideband_read_all(&m->sideband, tick(m));
	proc_process(m, 70, 1, "/bin/exec-was-lost");
	bytes_lost(&m->bytes, 5, tick(m));
	m->now_ns += 100000000;
	apply(m);
	m->sideband.spent_ns = UINT64_MAX / 2;
	m->sideband.may_wait = true;
	sample(m, USER, 70, 0x400010);
	CHECK(m->sideband.waits);
	sample(m, KERNEL, 71, 0xffffffff81000010);
	CHECK_EQ(m->stats.sample_received, 0);
	CHECK_EQ(m->stats.sample_lost_no_mm, 0);
	/* Its ring is nearly full. */
	m->sideband.may_wait = m->sideband.waits = false;
	sample(m, USER, 70, 0x400010);
	CHECK_EQ(m->stats.sample_received, 1);
	sideband_tidy(&m->sideband, m->now_ns);
	sample(m, USER, 70, 0x400010);
	expect(m, "/bin/sh /bin/sh+1010\n/bin/exec-was-lost /bin/exec-was-lost+1010\n");
}

/* The last samples cannot wait for another turn. */
static void the_last_turn_is_longer(void)
{
	_cleanup_machine_ struct machine *m = machine_new();

	proc_process(m, 70, 1, "/bin/sh");
	proc_process(m, 71, 1, "/bin/sh");
	sideband_read_all(&m->sideband, tick(m));
	proc_process(m, 70, 1, "/bin/exec-was-lost");
	bytes_lost(&m->bytes, 5, tick(m));
	m->now_ns += 100000000;
	apply(m);
	m->sideband.turn_ns = m->sideband.spent_ns = 20000000;
	sample(m, USER, 71, 0x400010);
	CHECK_EQ(m->stats.sideband_unread, 1);
	sideband_finish(&m->sideband);
	m->sideband.spent_ns = 20000000;
	sample(m, USER, 70, 0x400010);
	sample(m, USER, 71, 0x400010);
	CHECK_EQ(m->stats.sideband_unread, 1);
	expect(m, "/bin/sh /bin/sh+1010\n/bin/exec-was-lost /bin/exec-was-lost+1010\n"
		  "/bin/sh /bin/sh+1010\n");
}

/* Not so after an exec whose record was there. */
static void only_what_was_known_before_is_doubted(void)
{
	_cleanup_machine_ struct machine *m = machine_new();

	proc_process(m, 70, 1, "/bin/sh");
	sideband_read_all(&m->sideband, tick(m));
	bytes_lost(&m->bytes, 5, tick(m));
	apply(m);
	exec_to(m, 70, "/bin/true");
	proc_process(m, 70, 1, "/bin/later");
	sample(m, USER, 70, 0x400010);
	expect(m, "/bin/true /bin/true+1010\n");
}

static void records_older_than_the_reading_are_old_news(void)
{
	_cleanup_machine_ struct machine *m = machine_new();
	uint64_t before = m->now_ns;

	proc_process(m, 70, 1, "/bin/sh");
	proc_process(m, 71, 70, "/bin/true");
	m->now_ns += 1000000;
	sideband_read_all(&m->sideband, m->now_ns);
	m->now_ns = before;
	fork_to(m, 70, 71);
	sample(m, USER, 71, 0x400010);
	expect(m, "/bin/true /bin/true+1010\n");
}

static void kernel_threads_are_their_own_application(void)
{
	_cleanup_machine_ struct machine *m = machine_new();

	proc_kernel_thread(m, 2, "kthreadd");
	proc_kernel_thread(m, 9, "ksoftirqd/0");
	sideband_read_all(&m->sideband, tick(m));
	sample(m, KERNEL, 0, 0xffffffff81000010);
	sample(m, KERNEL, 9, 0xffffffff81000020);
	sample(m, KERNEL, 2, 0xffffffff81000030);
	fork_to(m, 2, 80);
	bytes_comm(&m->bytes, 80, 80, "kworker/3:1", false, tick(m));
	apply(m);
	sample(m, KERNEL, 80, 0xffffffff81000040);
	/* A helper that the kernel starts becomes a process. */
	fork_to(m, 80, 81);
	exec_to(m, 81, "/sbin/modprobe");
	sample(m, USER, 81, 0x400010);
	expect(m, "swapper kernel+ffffffff81000010\n"
		  "ksoftirqd kernel+ffffffff81000020\n"
		  "kthreadd kernel+ffffffff81000030\n"
		  "kworker kernel+ffffffff81000040\n"
		  "/sbin/modprobe /sbin/modprobe+1010\n");
}

static void threads_belong_to_their_process(void)
{
	_cleanup_machine_ struct machine *m = machine_new();

	proc_process(m, 70, 1, "/bin/a");
	sideband_read_all(&m->sideband, tick(m));
	/* A thread starts and gives itself a name: no new process, no new application. */
	bytes_task(&m->bytes, PERF_RECORD_FORK, (const uint32_t[]){ 70, 70, 75, 70 }, tick(m));
	apply(m);
	bytes_comm(&m->bytes, 70, 75, "worker", false, tick(m));
	apply(m);
	CHECK_STR(process_get(&m->sideband.processes, 70)->name, "a");
	/* It ends; then another executes something: the main thread's end is reported first. */
	bytes_task(&m->bytes, PERF_RECORD_EXIT, (const uint32_t[]){ 70, 1, 75, 70 }, tick(m));
	apply(m);
	leave(m, 70);
	exec_to(m, 70, "/bin/b");
	m->now_ns += 2000000000;
	proc_process(m, 70, 1, "/bin/b");
	sideband_tidy(&m->sideband, m->now_ns);
	sample(m, USER, 70, 0x400010);
	expect(m, "/bin/b /bin/b+1010\n");
}

static void only_the_family_is_kept(void)
{
	_cleanup_machine_ struct machine *m = machine_new();

	proc_process(m, 5, 1, "/bin/stranger");
	proc_process(m, 60, 71, "/bin/grandchild");
	proc_process(m, 70, 1, "/bin/sh");
	proc_process(m, 71, 70, "/bin/child");
	m->sideband.follow = 70;
	m->sideband.follow_children = true;
	sideband_read_all(&m->sideband, tick(m));
	fork_to(m, 60, 72);
	fork_to(m, 5, 73);
	sample(m, USER, 5, 0x400010);
	sample(m, USER, 73, 0x400010);
	sample(m, KERNEL, 0, 0xffffffff81000010);
	CHECK_EQ(m->stats.sample_filtered, 3);
	sample(m, USER, 60, 0x400010);
	sample(m, USER, 72, 0x400010);
	expect(m, "/bin/grandchild /bin/grandchild+1010\n/bin/grandchild /bin/grandchild+1010\n");
	CHECK(process_any_followed(&m->sideband.processes));
	/* An orphan is still of the family. */
	proc_remove(m, 70);
	proc_remove(m, 71);
	proc_remove(m, 72);
	leave(m, 70);
	leave(m, 71);
	leave(m, 72);
	m->now_ns += 100000000;
	sideband_tidy(&m->sideband, m->now_ns);
	CHECK(process_any_followed(&m->sideband.processes));
	proc_remove(m, 60);
	leave(m, 60);
	m->now_ns += 100000000;
	sideband_tidy(&m->sideband, m->now_ns);
	CHECK(!process_any_followed(&m->sideband.processes));
}

/* Sampling paused meanwhile. */
static void a_number_that_was_asked_for_is_not_followed_as_another_process(void)
{
	_cleanup_machine_ struct machine *m = machine_new();
	static const pid_t others[] = { 80 };

	proc_process(m, 70, 1, "/bin/sh");
	proc_process(m, 80, 1, "/bin/other");
	m->sideband.follow = 70;
	m->sideband.others = others;
	m->sideband.other_count = 1;
	sideband_read_all(&m->sideband, tick(m));
	sample(m, USER, 80, 0x400010);
	expect(m, "/bin/other /bin/other+1010\n");
	process_table_clear(&m->sideband.processes);
	proc_process(m, 80, 1, "/bin/stranger");
	proc_file(m, 80, "stat", "80 (stranger) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 2");
	sideband_read_all(&m->sideband, tick(m));
	sample(m, USER, 80, 0x400010);
	CHECK_EQ(m->stats.sample_filtered, 1);
	sample(m, USER, 70, 0x400010);
	expect(m, "/bin/sh /bin/sh+1010\n");
}

static void command_is_sampled_from_its_exec_on(void)
{
	_cleanup_machine_ struct machine *m = machine_new();

	proc_process(m, 70, 1, "/bin/operf");
	proc_process(m, 71, 70, "/bin/child-from-before");
	m->sideband.follow = 70;
	m->sideband.await_exec = true;
	sideband_read_all(&m->sideband, tick(m));
	sample(m, USER, 70, 0x400010);
	sample(m, USER, 71, 0x400010);
	CHECK_EQ(m->stats.sample_filtered, 2);
	CHECK(process_any_followed(&m->sideband.processes));
	bytes_comm(&m->bytes, 70, 70, "command", true, tick(m));
	apply(m);
	sample(m, KERNEL, 70, 0xffffffff81000010); /* nothing says yet what it executes */
	CHECK_EQ(m->stats.sample_filtered, 3);
	map_file(m, 70, 0x400000, "/bin/command");
	sample(m, USER, 70, 0x400010);
	expect(m, "/bin/command /bin/command+1010\n");
}

static void anonymous_code_counts_from_its_start(void)
{
	_cleanup_machine_ struct machine *m = machine_new();
	const struct cookie_image *image;

	proc_process(m, 70, 1, "/bin/jit");
	sideband_read_all(&m->sideband, tick(m));
	bytes_map(&m->bytes, 70, 0x10000000, 0x4000, 0, "//anon", tick(m));
	apply(m);
	sample(m, USER, 70, 0x10001234);
	/* A library is mapped into its middle: the rest after it is still the same region. */
	bytes_map(&m->bytes, 70, 0x10001000, 0x1000, 9, "/lib/x", tick(m));
	apply(m);
	sample(m, USER, 70, 0x10001234);
	sample(m, USER, 70, 0x10003000);
	expect(m, "/bin/jit anon+1234\n/bin/jit /lib/x+1234\n/bin/jit anon+3000\n");
	image = cookie_lookup(m->cookies, m->cookie);
	CHECK_EQ(image->start, 0x10000000);
	CHECK_EQ(image->tgid, 70);
}

static void library_that_replaces_another_takes_its_addresses(void)
{
	_cleanup_machine_ struct machine *m = machine_new();

	proc_process(m, 70, 1, "/bin/a");
	sideband_read_all(&m->sideband, tick(m));
	map_file(m, 70, 0x7f000000, "/lib/plugin-one.so");
	sample(m, USER, 70, 0x7f000010);
	sample(m, USER, 70, 0x7f000010);
	map_file(m, 70, 0x7f000000, "/lib/plugin-the-second.so");
	sample(m, USER, 70, 0x7f000010);
	expect(m, "/bin/a /lib/plugin-one.so+1010\n"
		  "/bin/a /lib/plugin-one.so+1010\n"
		  "/bin/a /lib/plugin-the-second.so+1010\n");
}

/* mremap(2) of memory over text: only /proc says so. @maps is the memory's line there, and @offset
 * that of the text in it. */
static void check_moved(const char *line, const char *offset)
{
	_cleanup_free_ char *maps =
		xasprintf("00400000-00405000 r-xp 00001000 08:01 70 /bin/a\n%s\n", line);
	_cleanup_free_ char *expected = xasprintf("/bin/a /bin/a+1010\n/bin/a anon+%s\n", offset);
	_cleanup_machine_ struct machine *m = machine_new();
	unsigned int i;

	proc_process(m, 70, 1, "/bin/a");
	sideband_read_all(&m->sideband, tick(m));
	map_file(m, 70, 0x7f000000, "/lib/one.so");
	sample(m, USER, 70, 0x7f000010);
	expect(m, "/bin/a /lib/one.so+1010\n");
	proc_file(m, 70, "maps", maps);
	for (i = 0; i < 20 && !m->stats.maps_unrecorded; i++) {
		m->now_ns += 250000000;
		sideband_tidy(&m->sideband, m->now_ns);
		(void)process_reader_await(m->sideband.reader, 70, 10000);
	}
	CHECK_EQ(m->stats.maps_unrecorded, 1);
	sample(m, USER, 70, 0x400010);
	sample(m, USER, 70, 0x7f000010);
	expect(m, expected);
	/* What it maps while it is read is newer. */
	map_file(m, 70, 0x7f000000, "/lib/second.so");
	sample(m, USER, 70, 0x7f000010);
	expect(m, "/bin/a /lib/second.so+1010\n");
}

static void memory_that_was_moved_over_a_file_is_noticed(void)
{
	check_moved("7f000000-7f005000 r-xp 00000000 00:00 0", "10");
	/* The kernel has merged it with other memory. */
	check_moved("7effe000-7f008000 r-xp 00000000 00:00 0", "2010");
}

/* Unmapping is never reported: a plugin host would gather mappings for ever. */
static void mappings_that_pile_up_are_read_again(void)
{
	_cleanup_machine_ struct machine *m = machine_new();
	uint64_t i;

	proc_process(m, 70, 1, "/bin/a");
	sideband_read_all(&m->sideband, tick(m));
	for (i = 0; i < 3000; i++)
		map_file(m, 70, 0x7f0000000000 + i * 0x10000, "/lib/plugin.so");
	CHECK_EQ(maps_count(process_get(&m->sideband.processes, 70)->maps), 3002);
	m->now_ns += 10000000000;
	sideband_tidy(&m->sideband, m->now_ns);
	CHECK_EQ(maps_count(process_get(&m->sideband.processes, 70)->maps), 2);
}

/* A process runs 200 files that are never sampled, and those that are not needed are forgotten. */
static void run_many_files(struct machine *m, uint64_t inode)
{
	uint64_t i;

	m->sideband.cookie_limit = 100;
	for (i = 0; i < 200; i++) {
		bytes_comm(&m->bytes, 70, 70, "conftest", true, tick(m));
		apply(m);
		bytes_map(&m->bytes, 70, 0x400000, 0x5000, inode + i, "/tmp/conftest", tick(m));
		apply(m);
	}
	sideband_tidy(&m->sideband, tick(m));
}

static void files_that_were_never_sampled_are_forgotten(void)
{
	_cleanup_machine_ struct machine *m = machine_new();
	uint64_t sampled, unused;

	proc_process(m, 70, 1, "/bin/a");
	sideband_read_all(&m->sideband, tick(m));
	sample(m, USER, 70, 0x400010);
	exec_to(m, 70, "/bin/sampled-once");
	sample(m, USER, 70, 0x400010);
	sampled = process_get(&m->sideband.processes, 70)->app;
	exec_to(m, 70, "/bin/never-sampled");
	unused = process_get(&m->sideband.processes, 70)->app;
	run_many_files(m, 1000);
	CHECK(cookie_count(m->cookies) < 10);
	CHECK(cookie_lookup(m->cookies, sampled));
	CHECK(!cookie_lookup(m->cookies, unused));
	/* What runs now is still known, and what comes back is created again. */
	sample(m, USER, 70, 0x400010);
	exec_to(m, 70, "/bin/never-sampled");
	sample(m, USER, 70, 0x400010);
	CHECK(process_get(&m->sideband.processes, 70)->app > unused);
	/* One that was sampled is forgotten when it was not for long. */
	run_many_files(m, 2000);
	run_many_files(m, 3000);
	CHECK(!cookie_lookup(m->cookies, sampled));
	exec_to(m, 70, "/bin/sampled-once");
	sample(m, USER, 70, 0x400010);
	CHECK_EQ(m->stats.sample_lost_no_mapping + m->stats.sample_lost_no_mm, 0);
	CHECK(m->stats.images_swept > 600);
}

static void guests_and_hypervisors_have_no_mapping(void)
{
	_cleanup_machine_ struct machine *m = machine_new();

	sample(m, PERF_RECORD_MISC_GUEST_KERNEL, 70, 0xffffffff81000010);
	sample(m, PERF_RECORD_MISC_HYPERVISOR, 70, 0x10);
	CHECK_EQ(m->stats.sample_lost_no_mapping, 2);
	expect(m, "");
}

static void changed_kernel_code_is_noticed(void)
{
	_cleanup_machine_ struct machine *m = machine_new();
	_cleanup_free_ char *one = xasprintf("%s/sys/module/ext4/x", m->root);
	_cleanup_free_ char *two = xasprintf("%s/sys/module/loop/x", m->root);
	_cleanup_free_ char *modules = xasprintf("%s/sys/module", m->root);
	struct stat st;

	CHECK_EQ(path_make_parents(one, 0755, NULL), 0);
	sideband_tidy(&m->sideband, m->now_ns);
	CHECK(!m->sideband.kernel_changed);
	CHECK_EQ(path_make_parents(two, 0755, NULL), 0);
	if (stat(modules, &st) == 0 && st.st_nlink != 4)
		SKIP("the file system here does not count directories as sysfs does");
	sideband_tidy(&m->sideband, m->now_ns);
	CHECK(m->sideband.kernel_changed);
}

TESTS(T(process_that_was_there_is_known), T(fork_shares_and_exec_replaces),
      T(executable_stack_is_not_the_application), T(number_that_is_used_again_is_another_process),
      T(process_that_left_is_forgotten_when_proc_says_so),
      T(unknown_process_is_read_when_it_is_sampled),
      T(address_in_no_mapping_is_looked_up_once_more),
      T(what_is_mapped_now_says_nothing_of_long_ago), T(lost_records_are_made_good_from_proc),
      T(all_of_proc_is_read_for_a_share_of_the_time), T(reading_takes_part_of_a_turn),
      T(the_last_turn_is_longer), T(only_what_was_known_before_is_doubted),
      T(records_older_than_the_reading_are_old_news), T(kernel_threads_are_their_own_application),
      T(threads_belong_to_their_process), T(only_the_family_is_kept),
      T(a_number_that_was_asked_for_is_not_followed_as_another_process),
      T(command_is_sampled_from_its_exec_on), T(anonymous_code_counts_from_its_start),
      T(library_that_replaces_another_takes_its_addresses), T(mappings_that_pile_up_are_read_again),
      T(memory_that_was_moved_over_a_file_is_noticed),
      T(files_that_were_never_sampled_are_forgotten), T(guests_and_hypervisors_have_no_mapping),
      T(changed_kernel_code_is_noticed))
