/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the program in the kernel cannot deliver, which it counts; skips where such a program cannot
 * be loaded. A page fault is sampled where it happens, so calling a function in a file that was
 * just mapped yields exactly one sample in that file. */
#include "test.h"

#include "base/clock.h"
#include "file/procfs.h"
#include "driver/bpf/bpf_sweep.h"
#include "driver/bpf/executables.h"
#include "driver/bpf/sampler.h"
#include "driver/bpf/sampler_images.h"
#include "perf/perf_event.h"

#include <bpf/bpf.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

/* A function that returns at once. */
#if defined(__x86_64__)
static const uint8_t code[] = { 0xc3 };
#elif defined(__aarch64__)
static const uint8_t code[] = { 0xc0, 0x03, 0x5f, 0xd6 };
#else
static const uint8_t code[] = { 0 };
#endif

/* A sampler of this process's page faults in user space. */
struct faults {
	struct sampler *s;
	int fd, link;
};

static void faults_done(struct faults *f)
{
	cleanup_closep(&f->link);
	cleanup_closep(&f->fd);
	sampler_free(f->s);
}

/* Returns NULL, or why page faults cannot be sampled here. */
static const char *faults_init(struct faults *f, const struct sampler_config *config)
{
	struct perf_attrs attrs = { .sample_bytes = 4096 };
	struct event event = { .name = "PAGE_FAULTS",
			       .count = 1,
			       .user = true,
			       .perf_type = PERF_TYPE_SOFTWARE,
			       .perf_config = PERF_COUNT_SW_PAGE_FAULTS };
	struct error err = ERROR_INIT;

	*f = (struct faults){ .fd = -1, .link = -1 };
	if (sizeof(code) == 1 && !code[0])
		return "no code for this machine";
	if (sampler_new(config, &f->s, &err) < 0)
		return "no BPF here";
	f->fd = perf_event_open_sampling(&attrs, &event, 0, (unsigned int)-1);
	if (f->fd < 0)
		return "no event opens";
	f->link = sampler_attach(f->fd, 0, f->s);
	return f->link < 0 ? "the program cannot be attached" : NULL;
}

static struct sample_counters totals(const struct faults *f)
{
	struct sample_counters ret;

	sampler_counters(f->s, SAMPLE_SLOT_EVENT, &ret);
	return ret;
}

/* Calls the function in the file @name of the directory @dir, which is made if it is not there. */
static void sample_in(const struct faults *f, int dir, const char *name)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	_cleanup_close_ int fd = openat(dir, name, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	void *at;

	CHECK(fd >= 0 && write(fd, code, sizeof(code)) == sizeof(code));
	at = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	CHECK(at != MAP_FAILED);
	CHECK_EQ(ioctl(f->fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	((void (*)(void))at)();
	CHECK_EQ(ioctl(f->fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	CHECK_EQ(munmap(at, page), 0);
}

/* Goes to a new directory @name in the directory @from, which is closed. */
static int enter(int from, const char *name)
{
	int dir;

	CHECK_EQ(mkdirat(from, name, 0700), 0);
	dir = openat(from, name, O_DIRECTORY | O_CLOEXEC);
	CHECK(dir >= 0);
	(void)close(from);
	return dir;
}

static int open_directory(const char *path)
{
	int dir = open(path, O_DIRECTORY | O_CLOEXEC);

	CHECK(dir >= 0);
	return dir;
}

struct seen {
	size_t images, samples;
	struct sample_image last;
};

/* Files that others execute meanwhile do not count. */
static void see_image(const struct sample_image *image, void *data)
{
	struct seen *seen = data;

	if (image->tgid != (uint32_t)getpid())
		return;
	seen->images++;
	memcpy(&seen->last, image, offsetof(struct sample_image, path) + image->length);
}

static void see_chain(const struct sample_chain *chain _unused_, void *data _unused_)
{
}

static void see_sample(const struct sample_key *key, uint32_t callers, uint64_t count, void *data)
{
	(void)key, (void)callers;
	((struct seen *)data)->samples += count;
}

static void drain(const struct faults *f, struct seen *ret)
{
	const struct sampler_handler handler = {
		.image = see_image, .chain = see_chain, .sample = see_sample, .data = ret
	};

	*ret = (struct seen){ 0 };
	sampler_drain(f->s, &handler);
}

/* Limits: names in a path, and bytes of all of them. */
static void a_path_that_is_cut_short_is_counted(void)
{
	static const struct {
		size_t depth;  /* directories below the test's own */
		size_t length; /* of each name */
		bool cut;
	} rows[] = {
		{ 1, 4, false },
		{ 12, 250, false },
		{ 16, 250, true }, /* too long */
		{ SAMPLE_PATH_NAMES - 20, 1, false },
		{ SAMPLE_PATH_NAMES, 1, true }, /* too many */
	};
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_directory_ char *top = test_directory();
		_cleanup_close_ int dir = open_directory(top);
		_cleanup_(faults_done) struct faults f;
		const char *why = faults_init(&f, &(struct sampler_config){ .keys = 4096 });
		struct sample_counters before;
		struct seen seen;
		char name[256];

		if (why)
			SKIP(why);
		memset(name, 'd', rows[i].length);
		name[rows[i].length] = '\0';
		for (k = 0; k < rows[i].depth; k++)
			dir = enter(dir, name);
		sample_in(&f, dir, "warm"); /* and this process's own code */
		drain(&f, &seen);
		before = totals(&f);
		sample_in(&f, dir, "file");
		drain(&f, &seen);
		CHECK_EQ(seen.samples, 1);
		CHECK_EQ(seen.images, 1);
		CHECK_EQ(seen.last.truncated, rows[i].cut);
		CHECK_STR(seen.last.path, "file");
		CHECK_EQ(totals(&f).path_truncated - before.path_truncated, rows[i].cut);
		CHECK_EQ(totals(&f).ring_full, 0);
	}
}

/* Samples new files, until the reader is not woken for one. Returns how many there were. */
static unsigned int sample_until_held(struct faults *f, int dir)
{
	struct seen seen;
	unsigned int i;

	for (i = 0; i < 500 && !totals(f).wakes_held; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "file%u", i);
		sample_in(f, dir, name);
		drain(f, &seen);
	}
	CHECK(totals(f).wakes_held > 0);
	return i;
}

/* Many new files one after the other: the reader is not woken for each. */
static void files_wake_the_reader_now_and_then(void)
{
	_cleanup_directory_ char *top = test_directory();
	_cleanup_close_ int dir = open_directory(top);
	_cleanup_(faults_done) struct faults f;
	const char *why = faults_init(&f, &(struct sampler_config){ .keys = 4096 });
	unsigned int files;

	if (why)
		SKIP(why);
	files = sample_until_held(&f, dir);
	CHECK(totals(&f).wakes_held < files + 8); /* the files, and this process's own */
}

/* It is too early to wake the reader for a file that is new; the next sample on that CPU does. */
static void the_reader_is_woken_late_for_files(void)
{
	_cleanup_directory_ char *top = test_directory();
	_cleanup_close_ int dir = open_directory(top);
	_cleanup_(faults_done) struct faults f;
	const char *why = faults_init(&f, &(struct sampler_config){ .keys = 4096 });
	struct pollfd due;
	cpu_set_t one, all;

	if (why)
		SKIP(why);
	CHECK_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	CHECK_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
	due = (struct pollfd){ .fd = sampler_fd(f.s), .events = POLLIN };
	(void)sample_until_held(&f, dir);
	CHECK_EQ(usleep(25000), 0); /* WAKE_EVERY_NS */
	sample_in(&f, dir, "file0");
	CHECK_EQ(poll(&due, 1, 0), 1);
	CHECK_EQ(sched_setaffinity(0, sizeof(all), &all), 0);
}

/* Nobody takes the paths out of the ring, until one has no room. Its sample is still counted, and
 * its path is sent with the next one. */
static void a_path_without_room_in_the_ring_is_counted_and_sent_later(void)
{
	_cleanup_directory_ char *top = test_directory();
	_cleanup_close_ int dir = open_directory(top);
	_cleanup_(faults_done) struct faults f;
	const char *why = faults_init(&f, &(struct sampler_config){ .keys = 4096 });
	uint64_t sent = 0;
	struct seen seen;
	char name[251];
	size_t i;

	if (why)
		SKIP(why);
	memset(name, 'd', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (i = 0; i < 14; i++)
		dir = enter(dir, name);
	while (!totals(&f).ring_full && sent < 10000) {
		_cleanup_free_ char *file = xasprintf("%" PRIu64, sent++);

		sample_in(&f, dir, file);
	}
	CHECK_EQ(totals(&f).ring_full, 1); /* path_ring_full of the driver */
	CHECK_EQ(totals(&f).received, sent);
	drain(&f, &seen);
	/* Without the last file; with this program, as it was running and as it was sampled. */
	CHECK_EQ(seen.images, sent + 1);
	CHECK_EQ(seen.samples, sent);
	(void)snprintf(name, sizeof(name), "%" PRIu64, sent - 1);
	sample_in(&f, dir, name);
	drain(&f, &seen);
	CHECK_EQ(seen.images, 1);
	CHECK_STR(seen.last.path, name);
	CHECK_EQ(totals(&f).ring_full, 1);
}

/* What a driver knows of the files that were sampled. */
struct known {
	struct bpf_samples samples;
	const char *top; /* the directory of the test's files */
	size_t images, unknown;
};

static void know_image(const struct sample_image *image, void *data)
{
	struct known *k = data;
	const char *top = path_base(k->top);

	/* Files that others execute are not known: so many of them might be due for a sweep. */
	if (image->tgid != (uint32_t)getpid())
		return;
	/* The program itself and its libraries may be read again while there is little memory. */
	k->images += !!memmem(image->path, image->length, top, strlen(top));
	sampler_images_add(k->samples.images, image);
}

static void know_sample(const struct sample_key *key, uint32_t callers _unused_,
			uint64_t count _unused_, void *data)
{
	struct known *k = data;

	k->unknown += key->place == SAMPLE_FILE &&
		      sampler_images_cookie(k->samples.images, &key->image.file, key->tgid,
					    k->samples.now_ns) == EVBUF_NO_COOKIE;
}

/* Samples in the files @first to @end of the directory, and drains; how many were reported. */
static size_t sample_files(const struct faults *f, int dir, struct known *k, unsigned int first,
			   unsigned int end)
{
	const struct sampler_handler handler = {
		.image = know_image, .chain = see_chain, .sample = know_sample, .data = k
	};

	for (; first < end; first++) {
		_cleanup_free_ char *file = xasprintf("%u", first);

		sample_in(f, dir, file);
	}
	k->images = 0;
	sampler_drain(f->s, &handler);
	return k->images;
}

/* Returns the number of images forgotten until the stage is reached. */
static size_t sweep_until(struct bpf_sweep *sweep, unsigned int stage, struct sampler *s,
			  struct bpf_samples *samples)
{
	size_t swept = 0;

	do
		swept += bpf_sweep(sweep, s, samples);
	while (sweep->stage != stage);
	return swept;
}

static void files_not_sampled_for_long_are_forgotten_and_come_back(void)
{
	_cleanup_directory_ char *top = test_directory();
	_cleanup_close_ int dir = open_directory(top);
	_cleanup_(faults_done) struct faults f;
	const char *why = faults_init(&f, &(struct sampler_config){ .keys = 4096 });
	struct known k = { .samples.cookies = cookie_table_new(),
			   .samples.now_ns = NS_PER_S,
			   .top = top };
	struct bpf_sweep sweep = { .limit = 50 };
	size_t reported;

	if (why)
		SKIP(why);
	k.samples.images = sampler_images_new("", k.samples.cookies);
	CHECK_EQ(sample_files(&f, dir, &k, 0, 20), 20);
	CHECK_EQ(bpf_sweep(&sweep, f.s, &k.samples), 0);
	CHECK_EQ(sample_files(&f, dir, &k, 0, 20), 0); /* below the limit all stay known */
	CHECK_EQ(sample_files(&f, dir, &k, 20, 100), 80);
	sweep_until(&sweep, BPF_SWEEP_WAIT, f.s, &k.samples);
	/* What is sampled from now on stays. */
	CHECK_EQ(sample_files(&f, dir, &k, 0, 10), 10);
	k.samples.now_ns += 100 * NS_PER_S;
	CHECK_EQ(sweep_until(&sweep, BPF_SWEEP_OFF, f.s, &k.samples), 90);
	CHECK_EQ(sample_files(&f, dir, &k, 0, 10), 0);
	reported = sample_files(&f, dir, &k, 10, 100);
	CHECK_EQ(reported, 90);
	CHECK_EQ(k.unknown, 0);
	sampler_images_free(k.samples.images);
	cookie_table_free(k.samples.cookies);
}

/* More processes than the table of those that are followed has room for. Their numbers are larger
 * than those of the machine's processes. */
static void a_child_without_room_in_the_table_is_counted(void)
{
	enum { ROOM = 65536, FIRST = 1 << 23 };
	struct error err = ERROR_INIT;
	_cleanup_(sampler_freep) struct sampler *s = NULL;
	struct sample_counters before, after;
	uint32_t i;
	pid_t child;

	if (!procfs_first_pid_namespace())
		SKIP("a PID namespace of its own");
	if (sampler_new(&(struct sampler_config){ .keys = 64, .follow = true }, &s, &err) < 0)
		SKIP("no BPF here");
	CHECK_EQ(sampler_follow(s, (uint32_t)getpid(), SAMPLE_FOLLOW_ON), 0);
	for (i = FIRST; sampler_follow(s, i, SAMPLE_FOLLOW_ON) == 0; i++)
		;
	CHECK(i - FIRST >= ROOM / 2 && i - FIRST < 2 * ROOM);
	sampler_counters(s, SAMPLE_SLOT_EVENT, &before);
	child = fork();
	if (child == 0)
		_exit(0);
	CHECK_EQ(waitpid(child, NULL, 0), child);
	sampler_counters(s, SAMPLE_SLOT_EVENT, &after);
	CHECK_EQ(before.follow_full, 0);
	CHECK_EQ(after.follow_full, 1);
}

static size_t entries(int map)
{
	static struct executable values[4096];
	static uint32_t keys[4096];
	struct map_reader reader = { .map = map };
	size_t all = 0, count;

	while ((count = map_reader_next(&reader, keys, values, 4096)))
		all += count;
	return all;
}

static void run_a_child(void)
{
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	CHECK_EQ(waitpid(child, NULL, 0), child);
}

/* Adds processes, @from the first one on, until there is no room. Returns the next one. */
static uint32_t fill(int map, uint32_t from, const struct executable *exe)
{
	while (bpf_map_update_elem(map, &from, exe, BPF_ANY) == 0)
		from++;
	return from;
}

/* Those that fill the table do not exist, and make way. */
static void a_process_without_room_for_its_executable_is_counted(void)
{
	enum { ROOM = 65536, FIRST = 1 << 23 };
	_cleanup_(sampler_freep) struct sampler *s = NULL;
	const struct executable exe = { .started_ns = 1 };
	struct executables executables = { 0 };
	struct sample_counters c;
	struct error err = ERROR_INIT;
	uint32_t i, before;
	int map, tries;

	if (!procfs_first_pid_namespace())
		SKIP("a PID namespace of its own");
	if (sampler_new(&(struct sampler_config){ .keys = 64 }, &s, &err) < 0)
		SKIP("no BPF here");
	map = sampler_maps(s)->executables;
	before = (uint32_t)entries(map);
	i = fill(map, FIRST, &exe);
	CHECK(i - FIRST >= ROOM / 2 && i - FIRST <= ROOM);
	/* A process of others that ends makes room. */
	for (tries = 0, c.exe_full = 0; tries < 100 && !c.exe_full; tries++) {
		i = fill(map, i, &exe);
		run_a_child();
		sampler_counters(s, SAMPLE_SLOT_PROCESS, &c);
	}
	CHECK(c.exe_full > 0); /* executables_full of the driver */
	do
		executables_look(&executables, s, c.exe_full);
	while (executables.sweeping);
	CHECK(entries(map) < before + 1000);
	/* This process runs, and stays. */
	i = (uint32_t)getpid();
	CHECK_EQ(bpf_map_lookup_elem(map, &i, &(struct executable){ 0 }), 0);
}

/* Waits until @child has stopped @times times, each time because of what it runs into when it goes
 * on at an address without a mapping. */
static void run_into_nothing(pid_t child, int times)
{
	struct user_regs_struct registers;
	struct iovec iov = { &registers, sizeof(registers) };
	int status;

	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK(WIFSTOPPED(status));
	CHECK_EQ(ptrace(PTRACE_GETREGSET, child, NT_PRSTATUS, &iov), 0);
#if defined(__x86_64__)
	registers.rip = 0x1000;
#elif defined(__aarch64__)
	registers.pc = 0x1000;
#endif
	CHECK_EQ(ptrace(PTRACE_SETREGSET, child, NT_PRSTATUS, &iov), 0);
	while (times--) {
		CHECK_EQ(ptrace(PTRACE_CONT, child, NULL, NULL), 0);
		CHECK_EQ(waitpid(child, &status, 0), child);
		CHECK(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSEGV);
	}
}

/* Each time counts as one, however long it is. The machine may make the child leave more often, and
 * other samplers may hide some times. */
static void times_off_the_cpu_without_a_place_are_counted(void)
{
	enum { TIMES = 20 };
	const struct sampler_config config = { .keys = 64, .follow = true, .offcpu.total = true };
	struct error err = ERROR_INIT;
	_cleanup_(sampler_freep) struct sampler *s = NULL;
	struct sample_counters seen;
	pid_t child;

	if (!procfs_first_pid_namespace())
		SKIP("a PID namespace of its own");
	if (sampler_new(&config, &s, &err) < 0)
		SKIP("no BPF here");
	child = fork();
	if (child == 0) {
		(void)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		(void)raise(SIGSTOP);
		_exit(0);
	}
	CHECK_EQ(sampler_follow(s, (uint32_t)child, SAMPLE_FOLLOW_ON), 0);
	sampler_offcpu(s, 0);
	run_into_nothing(child, TIMES);
	CHECK_EQ(kill(child, SIGKILL), 0);
	CHECK_EQ(waitpid(child, NULL, 0), child);
	sampler_counters(s, SAMPLE_SLOT_SWITCH, &seen);
	/* offcpu_lost of the driver */
	CHECK(seen.no_mapping + seen.no_tree + seen.unwatched >= TIMES);
	CHECK(seen.no_mapping >= TIMES / 2);
	CHECK(seen.no_mapping <= 10 * TIMES);
}

TESTS(T(a_path_that_is_cut_short_is_counted), T(files_wake_the_reader_now_and_then),
      T(the_reader_is_woken_late_for_files),
      T(a_path_without_room_in_the_ring_is_counted_and_sent_later),
      T(files_not_sampled_for_long_are_forgotten_and_come_back),
      T(a_child_without_room_in_the_table_is_counted),
      T(a_process_without_room_for_its_executable_is_counted),
      T(times_off_the_cpu_without_a_place_are_counted))
