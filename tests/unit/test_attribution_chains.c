/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/driver/perf/attribution.c and chain.c: the callers of a sample, and why there are no more. */
#include "machine.h"

#include "base/span.h"
#include "driver/perf/perf_chain.h"
#include "driver/perf/unwinder.h"

#include <fcntl.h>

#define IN_KERNEL ((uint64_t)PERF_CONTEXT_KERNEL)
#define IN_USER	  ((uint64_t)PERF_CONTEXT_USER)
#define IN_GUEST  ((uint64_t)PERF_CONTEXT_GUEST)

/* A sample with a chain of these words; the first that is no mark stands for its own address. */
static void chain_sample(struct machine *m, uint16_t mode, uint32_t pid, uint64_t ip,
			 const uint64_t *words, size_t count)
{
	struct perf_record r;

	bytes_chain_sample(&m->bytes, mode, pid, ip, words, count);
	CHECK_EQ(perf_record_decode(span_of(m->bytes.text, m->bytes.length), &r), 0);
	m->attribution.now_ns = tick(m);
	perf_samples_put(&m->attribution, 0, 0, &r);
}
#define CHAIN_SAMPLE(m, mode, pid, ip, ...)                                                        \
	chain_sample((m), (mode), (pid), (ip), (const uint64_t[]){ __VA_ARGS__ },                  \
		     sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static void callers_are_looked_up_like_samples(void)
{
	_cleanup_machine_ struct machine *m = machine_new();
	struct evbuf_frame frames[6];

	m->attribution.frames = frames;
	m->attribution.depth = ARRAY_SIZE(frames);
	proc_process(m, 70, 1, "/bin/a");
	sideband_read_all(&m->sideband, tick(m));
	map_file(m, 70, 0x7f000000, "/lib/l");
	CHAIN_SAMPLE(m, USER, 70, 0x7f000010, IN_USER, 0x7f000010, 0x7f000020, 0x400030);
	/* A return address after the last byte belongs to the call before it. */
	CHAIN_SAMPLE(m, USER, 70, 0x400010, IN_USER, 0x400010, 0x7f005000);
	/* The kernel's part first; where user space stood is no return address. */
	CHAIN_SAMPLE(m, KERNEL, 70, 0xffffffff81000010, IN_KERNEL, 0xffffffff81000010,
		     0xffffffff81000020, IN_USER, 0x7f000000, 0x400031);
	expect(m, "/bin/a /lib/l+1010\n/bin/a /lib/l+1020\n/bin/a /bin/a+1030\nfp_end\n"
		  "/bin/a /bin/a+1010\n/bin/a /lib/l+6000\nfp_end\n"
		  "/bin/a kernel+ffffffff81000010\n/bin/a kernel+ffffffff81000020\n"
		  "/bin/a /lib/l+1000\n/bin/a /bin/a+1031\nfp_end\n");
}

static void chains_say_why_they_end(void)
{
	_cleanup_machine_ struct machine *m = machine_new();
	struct evbuf_frame frames[4];

	m->attribution.frames = frames;
	m->attribution.depth = ARRAY_SIZE(frames);
	proc_process(m, 70, 1, "/bin/a");
	proc_kernel_thread(m, 9, "ksoftirqd/0");
	sideband_read_all(&m->sideband, tick(m));
	CHAIN_SAMPLE(m, USER, 70, 0x400010, IN_USER, 0x400010, 0x400020, 0x400030, 0x400040);
	CHAIN_SAMPLE(m, USER, 70, 0x400010, IN_USER, 0x400010, 0x1, 0x400030);
	CHAIN_SAMPLE(m, KERNEL, 70, 0xffffffff81000010, IN_KERNEL, 0xffffffff81000010);
	CHAIN_SAMPLE(m, KERNEL, 9, 0xffffffff81000010, IN_KERNEL, 0xffffffff81000010);
	CHAIN_SAMPLE(m, KERNEL, 9, 0xffffffff81000010, IN_GUEST, 0x10, IN_KERNEL,
		     0xffffffff81000010);
	expect(m, "/bin/a /bin/a+1010\n/bin/a /bin/a+1020\n/bin/a /bin/a+1030\n"
		  "/bin/a /bin/a+1040\ndepth\n"
		  "/bin/a /bin/a+1010\nno_mapping\n"
		  "/bin/a kernel+ffffffff81000010\nno_user\n"
		  "ksoftirqd kernel+ffffffff81000010\ncomplete\n"
		  "ksoftirqd kernel+ffffffff81000010\ncomplete\n");
	/* A record without the chain that the event was to take. */
	sample(m, USER, 70, 0x400010);
	CHECK_EQ(m->stats.bad_record, 1);
	expect(m, "/bin/a /bin/a+1010\nunknown\n");
	/* More than there is room for. */
	CHAIN_SAMPLE(m, USER, 70, 0x400010, IN_USER, 0x400010, 0x400020, 0x400030, 0x400040,
		     0x400050);
	expect(m, "/bin/a /bin/a+1010\n/bin/a /bin/a+1020\n/bin/a /bin/a+1030\n"
		  "/bin/a /bin/a+1040\ndepth\n");
}

static void words_on_a_stack_are_no_reason_to_read(void)
{
	_cleanup_machine_ struct machine *m = machine_new();
	struct evbuf_frame frames[4];

	m->attribution.frames = frames;
	m->attribution.depth = ARRAY_SIZE(frames);
	proc_process(m, 70, 1, "/bin/a");
	sideband_read_all(&m->sideband, tick(m));
	m->now_ns += 200000000;
	proc_file(m, 70, "maps", "");
	CHAIN_SAMPLE(m, USER, 70, 0x400010, IN_USER, 0x400010, 0x12345678);
	CHAIN_SAMPLE(m, USER, 70, 0x400010, IN_USER, 0x400010, 0x400020);
	expect(m, "/bin/a /bin/a+1010\nno_mapping\n"
		  "/bin/a /bin/a+1010\n/bin/a /bin/a+1020\nfp_end\n");
}

static void write_code(struct machine *m, uint32_t pid, uint64_t address, const char *code,
		       size_t size)
{
	_cleanup_free_ char *path = xasprintf("%s/proc/%u/mem", m->root, pid);
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	CHECK_EQ(pwrite(fd, code, size, (off_t)address), size);
}

/* The kernel follows the frame pointer, which is still that of the interrupted function. */
static void frame_pointers_skip_what_a_signal_interrupted(void)
{
	static const char code[] = "\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05";
	_cleanup_machine_ struct machine *m = machine_new();
	struct evbuf_frame frames[6];

	if (unwind_signal_code(UNWIND_X86_64) != get_le64(code) || !USER_STACK_REGS)
		SKIP("another machine");
	m->attribution.frames = frames;
	m->attribution.depth = ARRAY_SIZE(frames);
	m->attribution.trampolines = trampolines_new(m->root, m->cookies);
	proc_process(m, 70, 1, "/bin/a");
	sideband_read_all(&m->sideband, tick(m));
	/* The first reaches into the next page. */
	write_code(m, 70, 0x400ffc, code, sizeof(code) - 1);
	write_code(m, 70, 0x402000, code, sizeof(code) - 1);
	CHAIN_SAMPLE(m, USER, 70, 0x400010, IN_USER, 0x400010, 0x400020, 0x400ffc, 0x400030);
	CHAIN_SAMPLE(m, USER, 70, 0x400010, IN_USER, 0x400010, 0x400ffb, 0x400030);
	/* Interrupted there, and on the way out of it. */
	CHAIN_SAMPLE(m, USER, 70, 0x402000, IN_USER, 0x402000, 0x400030);
	CHAIN_SAMPLE(m, KERNEL, 70, 0xffffffff81000010, IN_KERNEL, 0xffffffff81000010, IN_USER,
		     0x402009, 0x400030);
	CHAIN_SAMPLE(m, USER, 70, 0x40200a, IN_USER, 0x40200a, 0x400030);
	/* What was read of a file stays known. */
	write_code(m, 70, 0x400ffc, "", 1);
	CHAIN_SAMPLE(m, USER, 70, 0x400010, IN_USER, 0x400010, 0x400ffc, 0x400030);
	expect(m, "/bin/a /bin/a+1010\n/bin/a /bin/a+1020\n/bin/a /bin/a+1ffd\nsignal\n"
		  "/bin/a /bin/a+1010\n/bin/a /bin/a+1ffb\n/bin/a /bin/a+1030\nfp_end\n"
		  "/bin/a /bin/a+3000\nsignal\n"
		  "/bin/a kernel+ffffffff81000010\n/bin/a /bin/a+3009\nsignal\n"
		  "/bin/a /bin/a+300a\n/bin/a /bin/a+1030\nfp_end\n"
		  "/bin/a /bin/a+1010\n/bin/a /bin/a+1ffd\nsignal\n");
	trampolines_free(m->attribution.trampolines);
}

/* Generated code of process 70 that keeps frame pointers, and no file: two callers up. */
static void stack_sample(struct machine *m, uint16_t mode, uint64_t ip, const uint64_t *user)
{
	static const uint64_t kernel[] = { IN_KERNEL, 0xffffffff81000010, 0xffffffff81000020 };
	const uint64_t stack[] = { 0, 0x7ffc0020, 0x10000111, 0, 0x7ffc0080, 0x10000222 };
	struct perf_record r;

	bytes_chain_sample(&m->bytes, mode, 70, ip, kernel, mode == KERNEL ? 3 : 0);
	bytes_user_stack(&m->bytes, user, stack, user[1] ? ARRAY_SIZE(stack) : 0);
	CHECK_EQ(perf_record_decode(span_of(m->bytes.text, m->bytes.length), &r), 0);
	m->attribution.now_ns = tick(m);
	perf_samples_put(&m->attribution, 0, 0, &r);
}

static void copied_stacks_are_unwound(void)
{
	static const uint64_t user[] = { 0x10000333, 0x7ffc0000, 0x7ffc0008 }, none[3] = { 0 };
	_cleanup_machine_ struct machine *m = machine_new();
	struct evbuf_frame frames[5];
	uint64_t pcs[5];

	if (!USER_STACK_REGS)
		SKIP("no unwind tables for this machine");
	proc_process(m, 70, 1, "/bin/jit");
	sideband_read_all(&m->sideband, tick(m));
	bytes_map(&m->bytes, 70, 0x10000000, 0x4000, 0, "//anon", tick(m));
	apply(m);
	m->attribution.frames = frames;
	m->attribution.pcs = pcs;
	m->attribution.depth = ARRAY_SIZE(frames);
	m->attribution.unwinder = unwinder_new(m->cookies, m->root, 0);
	stack_sample(m, USER, user[0], user);
	expect(m, "/bin/jit anon+333\n/bin/jit anon+111\n/bin/jit anon+222\nno_code\n");
	stack_sample(m, KERNEL, 0xffffffff81000010, user);
	expect(m, "/bin/jit kernel+ffffffff81000010\n/bin/jit kernel+ffffffff81000020\n"
		  "/bin/jit anon+333\n/bin/jit anon+111\n/bin/jit anon+222\nno_code\n");
	stack_sample(m, KERNEL, 0xffffffff81000010, none);
	expect(m, "/bin/jit kernel+ffffffff81000010\n/bin/jit kernel+ffffffff81000020\nno_user\n");
	/* What is beyond the copy was not copied. */
	CHECK_EQ(perf_chain_end_of(m->cookies, CHAIN_END_COPY_SHORT, 0), CHAIN_END_COPY_SHORT);
	unwinder_free(m->attribution.unwinder);
}

TESTS(T(callers_are_looked_up_like_samples), T(chains_say_why_they_end),
      T(words_on_a_stack_are_no_reason_to_read), T(frame_pointers_skip_what_a_signal_interrupted),
      T(copied_stacks_are_unwound))
