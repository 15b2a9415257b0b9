/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unwind_differ SAMPLES COMMAND...: samples COMMAND with its registers and a copy of its stack
 * until there are SAMPLES, unwinds every copy by our tables and by libdw, compares the chains and
 * says what each costs. Exits 1 if one differs, or if more than 0.2 % end before libdw's do. */
#include "base/mem.h"
#include "driver/ring.h"
#include "driver/sideband.h"
#include "driver/unwinder.h"
#include "driver/user_stack.h"
#include "image/elffile.h"
#include "image/unwind_chain.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

enum { STACK_BYTES = 65528 - 1024, RING_BYTES = 16 << 20, DEPTH = 256, SHOWN = 2, ROUNDS = 4 };

struct totals {
	uint64_t samples, same, different, shorter, longer, skipped;
	uint64_t our_frames, their_frames, our_ns, their_ns;
	uint64_t stops[UNWIND_STOP_COUNT_];
};

struct differ {
	struct cookie_table *cookies;
	struct sideband sideband;
	struct driver_stats stats;
	struct unwinder *unwinder;
	struct totals totals;
	pid_t pid;
	Dwfl *dwfl;
	uint64_t dwfl_changes; /* of the process table when it was told the mappings */
	struct user_stack stack;
	uint64_t theirs[DEPTH], ours[DEPTH];
	size_t their_count, our_count;
};

static uint64_t cpu_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static pid_t next_thread(Dwfl *dwfl, void *data, void **state)
{
	struct differ *d = data;

	(void)dwfl;
	if (*state)
		return 0;
	*state = data;
	return d->pid;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *ret, void *data)
{
	struct differ *d = data;
	__u64 value;

	(void)dwfl;
	if (user_stack_read(&d->stack, address, &value) != UNWIND_GOING)
		return false;
	*ret = value;
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *data)
{
	struct differ *d = data;
	Dwarf_Word words[USER_STACK_REGS_MAX];
	size_t i;

	for (i = 0; i < d->stack.reg_count; i++)
		words[i] = d->stack.regs[i];
	return dwfl_thread_state_registers(thread, 0, (unsigned int)d->stack.reg_count, words);
}

static int no_elf(Dwfl_Module *m, void **user, const char *name, Dwarf_Addr base, char **file,
		  Elf **elf)
{
	(void)m, (void)user, (void)name, (void)base, (void)file, (void)elf;
	return -1;
}

static int no_debug(Dwfl_Module *m, void **user, const char *name, Dwarf_Addr base,
		    const char *file, const char *link, GElf_Word crc, char **ret)
{
	(void)m, (void)user, (void)name, (void)base, (void)file, (void)link, (void)crc, (void)ret;
	return -1;
}

static const Dwfl_Thread_Callbacks thread_calls = {
	.next_thread = next_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

static const Dwfl_Callbacks dwfl_calls = {
	.find_elf = no_elf,
	.find_debuginfo = no_debug,
	.section_address = dwfl_offline_section_address,
};

/* Where the file mapped as @m is loaded: what is added to its linked addresses. */
static bool load_bias(const char *path, const struct mapping *m, uint64_t *ret)
{
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	size_t i, count = 0;
	GElf_Phdr ph;

	if (elffile_open(path, &ef, NULL) < 0 || elf_getphdrnum(elffile_elf(ef), &count) < 0)
		return false;
	for (i = 0; i < count; i++) {
		if (!gelf_getphdr(elffile_elf(ef), (int)i, &ph) || ph.p_type != PT_LOAD ||
		    !(ph.p_flags & PF_X) || (ph.p_offset & -page) > m->offset ||
		    ph.p_offset + ph.p_filesz <= m->offset)
			continue;
		*ret = m->start - m->offset + ph.p_offset - ph.p_vaddr;
		return true;
	}
	return false;
}

/* The vdso as a file, which libdw wants; its descriptor. */
static int vdso_file(void)
{
	const char *bytes = (const char *)getauxval(AT_SYSINFO_EHDR);
	int fd = memfd_create("vdso", MFD_CLOEXEC);

	/* Two pages, the kernel's padding included. */
	if (fd < 0 || !bytes || write(fd, bytes, 8192) != 8192)
		return -1;
	return fd;
}

/* Tells libdw what is mapped now. */
static void report_modules(struct differ *d, const struct process *p)
{
	size_t i;

	if (d->dwfl)
		dwfl_end(d->dwfl);
	d->dwfl = dwfl_begin(&dwfl_calls);
	for (i = 0; p->maps && i < maps_count(p->maps); i++) {
		const struct mapping *m = maps_at(p->maps, i);
		const struct cookie_image *image = cookie_lookup(d->cookies, m->cookie);
		uint64_t bias;

		if (image && image->kind == COOKIE_FILE && load_bias(image->path, m, &bias))
			dwfl_report_elf(d->dwfl, image->path, image->path, -1, bias, false);
		else if (image && image->kind == COOKIE_VDSO)
			dwfl_report_elf(d->dwfl, "[vdso]", "[vdso]", vdso_file(), m->start, false);
	}
	(void)dwfl_report_end(d->dwfl, NULL, NULL);
	if (!dwfl_attach_state(d->dwfl, NULL, d->pid, &thread_calls, d))
		(void)fprintf(stderr, "libdw: %s\n", dwfl_errmsg(-1));
	d->dwfl_changes = d->sideband.processes.changes;
}

static int take_frame(Dwfl_Frame *frame, void *data)
{
	struct differ *d = data;
	Dwarf_Addr pc;
	bool exact;

	if (!dwfl_frame_pc(frame, &pc, &exact) || d->their_count == DEPTH)
		return DWARF_CB_ABORT;
	d->theirs[d->their_count++] = pc;
	return DWARF_CB_OK;
}

static void show(const struct differ *d, enum unwind_stop stop)
{
	size_t i, most = MAX(d->our_count, d->their_count);

	printf("# ours %zu (%s), libdw's %zu\n", d->our_count, unwind_stop_text(stop),
	       d->their_count);
	for (i = 0; i < most; i++) {
		uint64_t pc = i < d->our_count ? d->ours[i] : d->theirs[i];
		const struct process *p = process_get(&d->sideband.processes, (uint32_t)d->pid);
		const struct mapping *m = p && p->maps ? maps_find(p->maps, pc) : NULL;
		const struct cookie_image *image = m ? cookie_lookup(d->cookies, m->cookie) : NULL;

		printf("#   %#18" PRIx64 " %#18" PRIx64 " %s+%#" PRIx64 "\n",
		       i < d->our_count ? d->ours[i] : 0, i < d->their_count ? d->theirs[i] : 0,
		       image ? image->path : "?", m ? pc - m->start + m->offset : 0);
	}
}

/* Libdw writes the zero that ends a chain as one more frame, and goes on from unwritten words. */
static void trim(struct differ *d)
{
	while (d->their_count > 1 && !d->theirs[d->their_count - 1])
		d->their_count--;
}

/* Whether a call instruction ends at @pc of the sampled process. */
static bool follows_call(const struct differ *d, uint64_t pc)
{
	const struct process *p = process_get(&d->sideband.processes, (uint32_t)d->pid);
	const struct mapping *m = p && p->maps ? maps_find(p->maps, pc) : NULL;
	const struct cookie_image *image = m ? cookie_lookup(d->cookies, m->cookie) : NULL;
	_cleanup_close_ int fd = image ? open(image->path, O_RDONLY | O_CLOEXEC) : -1;
	uint8_t code[7];
	size_t n;

	if (fd < 0 || pread(fd, code, sizeof(code), (off_t)(pc - m->start + m->offset - 7)) != 7)
		return false;
	if (code[2] == 0xe8)
		return true;
	for (n = 0; n < 6; n++) /* ff /2 with whatever addressing */
		if (code[n] == 0xff && (code[n + 1] >> 3 & 7) == 2)
			return true;
	return false;
}

/* Whether libdw's chain is ours but for the frame at @i, which is true. */
static bool is_skipped(const struct differ *d, size_t i)
{
	return d->our_count > d->their_count && i < d->their_count &&
	       memcmp(d->ours + i + 1, d->theirs + i, (d->their_count - i) * sizeof(*d->ours)) ==
		       0 &&
	       follows_call(d, d->ours[i]);
}

static void compare(struct differ *d, enum unwind_stop stop)
{
	struct totals *t = &d->totals;
	size_t i = 0;

	while (i < d->our_count && i < d->their_count && d->ours[i] == d->theirs[i])
		i++;
	if (i == d->our_count && i == d->their_count) {
		t->same++;
	} else if (i == d->our_count) {
		if (t->shorter++ < SHOWN)
			show(d, stop);
	} else if (i == d->their_count) {
		t->longer++;
	} else if (is_skipped(d, i)) {
		t->skipped++;
	} else if (t->different++ < SHOWN) {
		show(d, stop);
	}
}

static void on_sample(struct differ *d, const struct perf_record *r)
{
	struct process *p = sideband_process(&d->sideband, r->pid, r->tid, 0);
	struct totals *t = &d->totals;
	struct span more = r->more;
	enum unwind_stop stop;
	uint64_t since_ns;
	size_t i;

	/* What it starts itself is another matter. */
	if (!p || r->pid != (uint32_t)d->pid || user_stack_decode(&more, &d->stack) != 1)
		return;
	if (!d->dwfl || d->dwfl_changes != d->sideband.processes.changes)
		report_modules(d, p);
	stop = unwinder_chain(d->unwinder, p, &d->stack, d->ours, DEPTH, &d->our_count);
	since_ns = cpu_ns();
	for (i = 0; i < ROUNDS; i++)
		(void)unwinder_chain(d->unwinder, p, &d->stack, d->ours, DEPTH, &d->our_count);
	t->our_ns += (cpu_ns() - since_ns) / ROUNDS;
	d->their_count = 0;
	(void)dwfl_getthread_frames(d->dwfl, d->pid, take_frame, d);
	since_ns = cpu_ns();
	for (i = 0; i < ROUNDS; i++) {
		d->their_count = 0;
		(void)dwfl_getthread_frames(d->dwfl, d->pid, take_frame, d);
	}
	t->their_ns += (cpu_ns() - since_ns) / ROUNDS;
	trim(d);
	t->samples++;
	t->our_frames += d->our_count;
	t->their_frames += d->their_count;
	t->stops[stop]++;
	compare(d, stop);
}

static int open_event(pid_t pid)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = 1009000,
		.sample_type = PERF_RECORD_FIELDS | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.sample_regs_user = USER_STACK_REGS,
		.sample_stack_user = STACK_BYTES & ~7,
		.sample_id_all = 1,
		.exclude_kernel = 1,
		.disabled = 1,
		.enable_on_exec = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.inherit = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.watermark = 1,
		.wakeup_watermark = RING_BYTES / 4,
	};

	return (int)syscall(SYS_perf_event_open, &attr, pid, 0, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Starts the command, which waits for a byte before it executes. */
static pid_t start(char **argv, int *ret_go)
{
	int pipe_fds[2], null;
	cpu_set_t cpus;
	pid_t pid;
	char byte;

	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return -1;
	pid = fork();
	if (pid) {
		(void)close(pipe_fds[0]);
		*ret_go = pipe_fds[1];
		return pid;
	}
	/* One ring is enough for all its threads on one CPU. */
	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	(void)sched_setaffinity(0, sizeof(cpus), &cpus);
	null = open("/dev/null", O_RDWR);
	(void)dup2(null, STDOUT_FILENO);
	(void)dup2(null, STDERR_FILENO);
	(void)close(pipe_fds[1]);
	if (read(pipe_fds[0], &byte, 1) == 1)
		(void)execvp(argv[0], argv);
	_exit(127);
}

static void drain(struct differ *d, struct ring *ring, uint64_t max)
{
	struct perf_record r;
	struct span bytes;

	ring_refresh(ring);
	while (d->totals.samples < max && ring_peek(ring, &bytes) > 0) {
		if (perf_record_decode(bytes, &r) == 0) {
			if (r.type == PERF_RECORD_SAMPLE)
				on_sample(d, &r);
			else
				sideband_apply(&d->sideband, &r, 0);
		}
		ring_take(ring);
		ring_release(ring);
	}
}

static int report(const struct differ *d, const char *command)
{
	const struct totals *t = &d->totals;
	size_t i;

	printf("%s: %" PRIu64 " chains, %.1f frames; same %" PRIu64 ", different %" PRIu64
	       ", shorter %" PRIu64 ", longer %" PRIu64 ", skipped by libdw %" PRIu64 "\n",
	       command, t->samples, t->samples ? (double)t->our_frames / (double)t->samples : 0,
	       t->same, t->different, t->shorter, t->longer, t->skipped);
	printf("  ns a frame: ours %.0f, libdw %.0f\n",
	       t->our_frames ? (double)t->our_ns / (double)t->our_frames : 0,
	       t->their_frames ? (double)t->their_ns / (double)t->their_frames : 0);
	for (i = 0; i < UNWIND_STOP_COUNT_; i++)
		if (t->stops[i])
			printf("  %s %" PRIu64, unwind_stop_name((enum unwind_stop)i), t->stops[i]);
	printf("\n");
	return t->different || t->shorter * 500 > t->samples;
}

int main(int argc, char **argv)
{
	struct differ d = { .dwfl = NULL };
	struct ring ring = { .page = NULL };
	int fd, go = -1, r = 0;
	uint64_t max;

	if (argc < 3)
		return 2;
	max = strtoull(argv[1], NULL, 10);
	d.pid = start(argv + 2, &go);
	fd = d.pid < 0 ? -1 : open_event(d.pid);
	if (fd < 0 || ring_map(&ring, fd, RING_BYTES) < 0 || write(go, "x", 1) != 1) {
		(void)fprintf(stderr, "unwind_differ: cannot sample: %s\n", strerror(errno));
		if (d.pid > 0)
			(void)kill(d.pid, SIGKILL);
		return 3;
	}
	d.cookies = cookie_table_new();
	d.unwinder = unwinder_new(d.cookies, NULL, 0);
	sideband_init(&d.sideband, &(struct process_source){ NULL, d.cookies }, &d.stats);
	while (d.totals.samples < max && r == 0) {
		(void)poll(&(struct pollfd){ fd, POLLIN, 0 }, 1, 100);
		r = waitpid(d.pid, NULL, WNOHANG);
		drain(&d, &ring, max);
	}
	if (r == 0) {
		(void)kill(d.pid, SIGKILL);
		(void)waitpid(d.pid, NULL, 0);
	}
	r = report(&d, argv[2]);
	if (d.dwfl)
		dwfl_end(d.dwfl);
	sideband_done(&d.sideband);
	unwinder_free(d.unwinder);
	cookie_table_free(d.cookies);
	ring_done(&ring);
	return r;
}
