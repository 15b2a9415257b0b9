/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's addresses in the event buffer to its images. */
#include "record_bench.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "file/path.h"
#include "symbol/kallsyms.h"

#include <poll.h>
#include <sched.h>
#include <sys/stat.h>

static void every_kernel_address_finds_an_image(void)
{
	BENCH(b);

	bench_start(&b);
	run_as(&b, 7, cookie_file(b.cookies, &(struct file_identity){ 1, 1, 0 }, "/bin/p"));
	evbuf_kernel_sample(b.buffer, 0xffffffff81000fff, 0, 1);
	evbuf_kernel_sample(b.buffer, 0xffffffffc0100010, 0, 1);
	evbuf_kernel_sample(b.buffer, 0xffffffffc0300004, 0, 1);
	evbuf_kernel_sample(b.buffer, 0xffffffffdeadbeef, 0, 1);
	CHECK_LISTING(&b, "{root}/proc/kallsyms/{dep}/{root}/proc/kallsyms/" T0 "fff 1\n",
		      "{kern}/xfs/{dep}/{kern}/xfs/" T0 "10 1\n",
		      "{kern}/bpf/{dep}/{kern}/bpf/" T0 "1000004 1\n",
		      "{kern}/unknown/{dep}/{kern}/unknown/" T0 "ffffffffdeadbeef 1\n");
	CHECK_EQ(stats_of(&b).kernel_samples, 4);
}

static void a_module_that_is_loaded_is_found(void)
{
	BENCH(b);

	bench_start(&b);
	run_as(&b, 7, cookie_file(b.cookies, &(struct file_identity){ 1, 1, 0 }, "/bin/p"));
	evbuf_kernel_sample(b.buffer, 0xffffffffc0100010, 0, 1);
	CHECK_EQ(evbuf_flush(b.buffer), 0);
	put_file(b.root, "proc/modules", "nfs 4096 1 - Live 0xffffffffc0100000\n");
	evbuf_code(b.buffer, EVBUF_MODULE_LOADED);
	evbuf_kernel_sample(b.buffer, 0xffffffffc0100010, 0, 1);
	CHECK_LISTING(&b, "{kern}/xfs/{dep}/{kern}/xfs/" T0 "10 1\n",
		      "{kern}/nfs/{dep}/{kern}/nfs/" T0 "10 1\n");
}

/* A BPF program is reported with its address when it is loaded: the kernel's lists need not contain
 * it when its samples are looked at, nor show where the previous one ended. */
static void a_reported_bpf_program_is_found(void)
{
	BENCH(b);
	uint64_t first = cookie_code(b.cookies, "bpf_prog_2"), next;

	bench_start(&b);
	run_as(&b, 7, cookie_file(b.cookies, &(struct file_identity){ 1, 1, 0 }, "/bin/p"));
	evbuf_kernel_sample(b.buffer, 0xffffffffc0300104, 0,
			    1); /* of bpf_prog_1, for all we know */
	evbuf_kernel_code(b.buffer, 0xffffffffc0300100, 0x80, first);
	evbuf_kernel_sample(b.buffer, 0xffffffffc0300104, 0, 2);
	evbuf_kernel_sample(b.buffer, 0xffffffffc03000ff, 0, 1);
	CHECK_EQ(evbuf_flush(b.buffer), 0);
	/* Others take its place. */
	next = cookie_code(b.cookies, "bpf_prog_3");
	evbuf_kernel_code(b.buffer, 0xffffffffc0300140, 0x80, next);
	evbuf_kernel_sample(b.buffer, 0xffffffffc0300144, 0, 4);
	evbuf_kernel_sample(b.buffer, 0xffffffffc0300104, 0, 1);
	CHECK_EQ(evbuf_flush(b.buffer), 0);
	/* So does a module. */
	put_file(b.root, "proc/modules", "nfs 4096 1 - Live 0xffffffffc0300000\n");
	evbuf_code(b.buffer, EVBUF_MODULE_LOADED);
	evbuf_kernel_sample(b.buffer, 0xffffffffc0300145, 0, 1);
	evbuf_kernel_code(b.buffer, 0xffffffffc0300140, 0, next); /* makes no sense */
	evbuf_kernel_code(b.buffer, 0xffffffffc0300140, 8, 4711);
	CHECK_LISTING(&b, "{kern}/bpf/{dep}/{kern}/bpf/" T0 "10000ff 1\n",
		      "{kern}/bpf/{dep}/{kern}/bpf/" T0 "1000104 2\n",
		      "{kern}/nfs/{dep}/{kern}/nfs/" T0 "145 1\n",
		      "{kern}/bpf/{dep}/{kern}/bpf/" T0 "2000004 2\n",
		      "{kern}/bpf/{dep}/{kern}/bpf/" T0 "3000004 4\n");
	CHECK_EQ(stats_of(&b).incomplete_code, 1);
}

static unsigned int warnings;

static void count_warning(enum log_level level, const char *text, void *data _unused_)
{
	warnings += level == LOG_LEVEL_WARNING && strstr(text, "counted as unknown");
}

/* Where a disk is full, that would cost much, and fill the log. */
static void code_that_cannot_be_entered_is_not_tried_for_each_sample(void)
{
	BENCH(b);
	uint64_t code = cookie_code(b.cookies, "bpf_prog_2");
	_cleanup_free_ char *path = NULL;

	bench_start(&b);
	path = path_join(b.session, "samples/current/kallsyms");
	CHECK_EQ(mkdir(path, 0700), 0);
	run_as(&b, 7, cookie_file(b.cookies, &(struct file_identity){ 1, 1, 0 }, "/bin/p"));
	evbuf_kernel_code(b.buffer, 0xffffffffc0300100, 0x80, code);
	warnings = 0;
	log_to(LOG_LEVEL_WARNING, count_warning, NULL);
	for (int i = 0; i < 50; i++) {
		evbuf_kernel_sample(b.buffer, 0xffffffffc0300104 + (uint64_t)i, 0, 1);
		CHECK_EQ(evbuf_flush(b.buffer), 0);
	}
	log_to(LOG_LEVEL_WARNING, NULL, NULL);
	CHECK(warnings > 0 && warnings < 25);
	CHECK_EQ(stats_of(&b).kernel_samples, 50);
}

/* So is what the kernel makes to trace itself, of which the lists know the start only, and only
 * while it is there. */
static void code_that_traces_the_kernel_is_found(void)
{
	static const char *const symbols[] = { "bpf_trampoline_6442502712", "ftrace_trampoline",
					       "kprobe_insn_page", "kprobe_optinsn_page" };
	const uint64_t at = 0xffffffffc0500000;
	BENCH(b);
	size_t i;

	bench_start(&b);
	run_as(&b, 7, cookie_file(b.cookies, &(struct file_identity){ 1, 1, 0 }, "/bin/p"));
	for (i = 0; i < ARRAY_SIZE(symbols); i++) {
		/* All at one place, one after the other. */
		evbuf_kernel_code(b.buffer, at, 0x1000, cookie_code(b.cookies, symbols[i]));
		evbuf_kernel_sample(b.buffer, at + 0xfff, 0, i + 1);
		evbuf_kernel_sample(b.buffer, at + 0x1000, 0, 1);
	}
	CHECK_LISTING(&b,
		      "{kern}/__builtin__ftrace/{dep}/{kern}/__builtin__ftrace/" T0 "1000fff 2\n",
		      "{kern}/__builtin__kprobes/{dep}/{kern}/__builtin__kprobes/" T0 "1000fff 3\n",
		      "{kern}/__builtin__kprobes/{dep}/{kern}/__builtin__kprobes/" T0 "2000fff 4\n",
		      "{kern}/bpf/{dep}/{kern}/bpf/" T0 "1000fff 1\n",
		      "{kern}/unknown/{dep}/{kern}/unknown/" T0 "ffffffffc0501000 4\n");
	CHECK_EQ(stats_of(&b).incomplete_code, 0);
}

/* The kernel's note of its build-id, twenty times @byte. */
static void put_kernel_id(struct bench *b, char byte)
{
	_cleanup_free_ char *path = path_join(b->root, "sys/kernel/notes");
	char note[16 + 20] = { 4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U' };
	FILE *f;

	memset(note + 16, byte, 20);
	CHECK_EQ(path_make_parents(path, 0755, NULL), 0);
	f = fopen(path, "we");
	if (CHECK(f)) {
		CHECK_EQ(fwrite(note, sizeof(note), 1, f), 1);
		CHECK_EQ(fclose(f), 0);
	}
}

/* A session goes on after a reboot, of the same kernel or into another one: what moved is counted
 * where it was, what took its address is not, and another kernel has names of its own. */
static void boots_do_not_mix(void)
{
	static const struct {
		char id;
		const char *kallsyms, *modules;
		uint64_t text, xfs, program;
	} boots[] = {
		{ 1, kallsyms, modules, 0xffffffff81000010, 0xffffffffc0100010,
		  0xffffffffc0300004 },
		{ 1,
		  "ffffffff9a000000 T _text\nffffffff9a001000 T _etext\n"
		  "ffffffffc0300000 t bpf_prog_9\t[bpf]\nffffffffc0500000 t bpf_prog_1\t[bpf]\n",
		  "xfs 4096 1 - Live 0xffffffffc0900000\n", 0xffffffff9a000010, 0xffffffffc0900010,
		  0xffffffffc0500004 },
		{ 1,
		  "ffffffff9a000000 T _text\nffffffff9a001000 T _etext\n"
		  "ffffffffc0300000 t bpf_prog_9\t[bpf]\n",
		  "xfs 4096 1 - Live 0xffffffffc0900000\n", 0xffffffff9a000010, 0xffffffffc0900010,
		  0xffffffffc0300004 },
		{ 2, kallsyms, modules, 0xffffffff81000010, 0xffffffffc0100010,
		  0xffffffffc0300004 },
	};
	BENCH(b);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(boots); i++) {
		put_kernel_id(&b, boots[i].id);
		put_file(b.root, "proc/kallsyms", boots[i].kallsyms);
		put_file(b.root, "proc/modules", boots[i].modules);
		if (i) {
			evbuf_free(b.buffer);
			record_free(b.rec);
		}
		bench_start(&b);
		run_as(&b, 7, cookie_file(b.cookies, &(struct file_identity){ 1, 1, 0 }, "/bin/p"));
		evbuf_kernel_sample(b.buffer, boots[i].text, 0, 1);
		evbuf_kernel_sample(b.buffer, boots[i].xfs, 0, 1);
		evbuf_kernel_sample(b.buffer, boots[i].program, 0, 1);
		CHECK_EQ(evbuf_flush(b.buffer), 0);
		CHECK_EQ(record_flush(b.rec, true, NULL), 0);
	}
	CHECK_LISTING(&b, "{root}/proc/kallsyms/{dep}/{root}/proc/kallsyms/" T0 "10 3\n",
		      "{kern}/xfs/{dep}/{kern}/xfs/" T0 "10 3\n",
		      "{kern}/bpf/{dep}/{kern}/bpf/" T0 "1000004 2\n",
		      "{kern}/bpf/{dep}/{kern}/bpf/" T0 "2000004 1\n",
		      "{root}/proc/kallsyms#02020202/{dep}/{root}/proc/kallsyms#02020202/" T0
		      "10 1\n",
		      "{kern}/xfs#02020202/{dep}/{kern}/xfs#02020202/" T0 "10 1\n",
		      "{kern}/bpf#02020202/{dep}/{kern}/bpf#02020202/" T0 "1000004 1\n");
}

static void hidden_addresses_are_counted_as_they_are(void)
{
	BENCH(b);

	put_file(b.root, "proc/kallsyms", "0000000000000000 T _text\n");
	bench_start(&b);
	run_as(&b, 7, cookie_file(b.cookies, &(struct file_identity){ 1, 1, 0 }, "/bin/p"));
	evbuf_kernel_sample(b.buffer, 0xffffffff81000fff, 0, 1);
	CHECK_LISTING(&b, "{kern}/no-vmlinux/{dep}/{kern}/no-vmlinux/" T0 "ffffffff81000fff 1\n");
}

static void the_symbols_of_the_boot_are_kept(void)
{
	BENCH(b);
	_cleanup_free_ char *samples = session_samples(b.session, "current");
	_cleanup_free_ char *path = path_join(samples, "kallsyms");
	_cleanup_(kallsyms_freep) struct kallsyms *k = NULL;
	const struct kallsyms_image *xfs;

	bench_start(&b);
	run_as(&b, 7, cookie_file(b.cookies, &(struct file_identity){ 1, 1, 0 }, "/bin/p"));
	evbuf_kernel_sample(b.buffer, 0xffffffff81000000, 0, 1);
	(void)stats_of(&b);
	CHECK_EQ(kallsyms_load(path, &k, NULL), 0);
	xfs = k ? kallsyms_image(k, "xfs") : NULL;
	CHECK(xfs && xfs->start == 0xffffffffc0000000 && xfs->end == 0xffffffffc0001000);
}

/* Puts a list of the kernel's symbols into @file, so long that reading it takes a while, with a BPF
 * program unless it is @gone. */
static void put_long_list(const struct bench *b, const char *file, bool gone)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	size_t i;

	strbuf_adds(&text, "ffffffff81000000 T _text\n");
	for (i = 1; i < 200000; i++)
		strbuf_addf(&text, "ffffffff81%06zx t function_%zu\n", i, i);
	strbuf_adds(&text, "ffffffff81100000 T _etext\n");
	if (!gone)
		strbuf_adds(&text, "ffffffffc0300000 t bpf_prog_1\t[bpf]\n");
	put_file(b->root, file, text.text);
}

/* Replaces the list. */
static void put_next_list(const struct bench *b)
{
	_cleanup_free_ char *next = path_join(b->root, "next"),
			    *list = path_join(b->root, "proc/kallsyms");

	CHECK_EQ(rename(next, list), 0);
}

static bool is_open_here(const char *path)
{
	char link[64], at[4096];
	ssize_t n;
	int fd;

	for (fd = 0; fd < 64; fd++) {
		(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		n = readlink(link, at, sizeof(at));
		if (n > 0 && (size_t)n == strlen(path) && !memcmp(at, path, (size_t)n))
			return true;
	}
	return false;
}

/* Waits until a thread reads the lists. It may have done so before that is seen. */
static void await_reading(const struct bench *b)
{
	_cleanup_free_ char *path = path_join(b->root, "proc/kallsyms");
	_cleanup_free_ char *absolute = path_absolute(path);
	uint64_t until_ns = clock_now_ns() + NS_PER_S;

	while (!is_open_here(absolute) && clock_now_ns() < until_ns)
		(void)sched_yield();
}

static void change_modules(struct bench *b, const char *modules_now, uint64_t pc)
{
	put_file(b->root, "proc/modules", modules_now);
	evbuf_code(b->buffer, EVBUF_MODULE_LOADED);
	evbuf_kernel_sample(b->buffer, pc, 0, 1);
	CHECK_EQ(evbuf_flush(b->buffer), 0);
}

/* The lists that are being read when code goes still have it, so they are read again. */
static void code_that_goes_while_the_lists_are_read_is_forgotten(void)
{
	const uint64_t start = 0xffffffffc0300000, pc = start + 4;
	uint64_t until_ns = clock_now_ns() + 20 * NS_PER_S;
	bool is_forgotten = false;
	BENCH(b);

	put_long_list(&b, "proc/kallsyms", false);
	put_long_list(&b, "next", true);
	bench_start(&b);
	record_prepare(b.rec);
	run_as(&b, 7, cookie_file(b.cookies, &(struct file_identity){ 1, 1, 0 }, "/bin/p"));
	evbuf_kernel_code(b.buffer, start, 0x80, cookie_code(b.cookies, "bpf_prog_1"));
	/* It gets its place in the session before a thread writes there. */
	evbuf_kernel_sample(b.buffer, pc, 0, 1);
	CHECK_EQ(evbuf_flush(b.buffer), 0);
	change_modules(&b, "nfs 4096 1 - Live 0xffffffffc0900000\n", pc);
	await_reading(&b);
	put_next_list(&b);
	change_modules(&b, "nfs 4096 1 - Live 0xffffffffc0900000\n", pc);
	while (!is_forgotten && clock_now_ns() < until_ns) {
		_cleanup_free_ char *lines = NULL;

		(void)poll(NULL, 0, 20);
		evbuf_kernel_sample(b.buffer, pc, 0, 1);
		lines = listing(&b, "current");
		is_forgotten = strstr(lines, "{kern}/unknown/") != NULL;
	}
	CHECK(is_forgotten);
}

TESTS(T(every_kernel_address_finds_an_image), T(a_module_that_is_loaded_is_found),
      T(code_that_cannot_be_entered_is_not_tried_for_each_sample),
      T(a_reported_bpf_program_is_found), T(code_that_traces_the_kernel_is_found),
      T(boots_do_not_mix), T(hidden_addresses_are_counted_as_they_are),
      T(the_symbols_of_the_boot_are_kept), T(code_that_goes_while_the_lists_are_read_is_forgotten))
