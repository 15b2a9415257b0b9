/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "base/strbuf.h"
#include "driver/cookie.h"
#include "driver/evbuf.h"
#include "record/record.h"
#include "sfile/chain_read.h"
#include "sfile/manifest.h"
#include "sfile/odb.h"
#include "sfile/session.h"
#include "sfile/sfile.h"
#include "sfile/sname.h"

#include <errno.h>
#include <inttypes.h>

#define ESC EVBUF_ESCAPE

static const char kallsyms[] = "ffffffff81000000 T _text\nffffffff81001000 T _etext\n"
			       "ffffffffc0100010 t xfs_read\t[xfs]\n"
			       "ffffffffc0300000 t bpf_prog_1\t[bpf]\n";
static const char modules[] = "xfs 4096 1 - Live 0xffffffffc0100000\n";

/* A session in a directory of its own, with a machine whose /proc is made up. */
struct bench {
	char *dir, *root, *session;
	struct cookie_table *cookies;
	struct event events[2];
	struct record_config config;
	struct record *rec;
	struct evbuf *buffer;
};

static void put_file(const char *dir, const char *name, const char *text)
{
	_cleanup_free_ char *path = path_join(dir, name);

	CHECK_EQ(path_make_parents(path, 0755, NULL), 0);
	CHECK_EQ(path_write(path, text, 0644, NULL), 0);
}

static void bench_init(struct bench *b)
{
	*b = (struct bench){ .dir = test_directory() };
	b->root = path_join(b->dir, "root");
	b->session = path_join(b->dir, "session");
	b->cookies = cookie_table_new();
	put_file(b->root, "proc/kallsyms", kallsyms);
	put_file(b->root, "proc/modules", modules);
	event_timer(&b->events[0], 100, true, true);
	event_timer(&b->events[1], 100, true, true);
	(void)snprintf(b->events[1].name, sizeof(b->events[1].name), "OTHER");
	b->config = (struct record_config){ .session_dir = b->session,
					    .session_name = "current",
					    .events = b->events,
					    .event_count = 2,
					    .root = b->root,
					    .cookies = b->cookies };
}

static void bench_start(struct bench *b)
{
	struct error err = ERROR_INIT;

	if (record_new(&b->config, &b->rec, &err) < 0) {
		printf("# %s\n", err.text);
		abort();
	}
	b->buffer = evbuf_new(256, record_words, b->rec);
}

static void bench_done(struct bench *b)
{
	evbuf_free(b->buffer);
	record_free(b->rec);
	cookie_table_free(b->cookies);
	free(b->root);
	free(b->session);
	test_directory_donep(&b->dir);
}

#define BENCH(b)                                                                                   \
	_cleanup_(bench_done) struct bench b;                                                      \
	bench_init(&b)

/* A process whose program is @app. */
static void run_as(struct bench *b, uint32_t pid, uint64_t app)
{
	evbuf_context(b->buffer,
		      &(struct evbuf_context){ .cpu = 1, .tgid = pid, .tid = pid + 1, .app = app });
}

static struct record_stats stats_of(struct bench *b)
{
	struct record_stats s;

	CHECK_EQ(evbuf_flush(b->buffer), 0);
	record_stats(b->rec, &s);
	return s;
}

static int list_file(const char *path, const struct sname *name, void *data)
{
	_cleanup_(sfile_closep) struct sfile *sf = NULL;
	_cleanup_free_ char *mangled = sname_mangle(name);
	const struct odb_node *nodes = NULL;
	size_t i, count = 0;

	CHECK_EQ(sfile_open(path, &sf, NULL), 0);
	if (sf)
		nodes = odb_nodes(sfile_odb(sf), &count);
	for (i = 0; i < count; i++)
		strbuf_addf(data, "%s %" PRIx64 " %u\n", mangled, nodes[i].key, nodes[i].value);
	return 0;
}

/* All sample files, "NAME KEY COUNT" a line, in no order; caller frees. */
static char *listing(struct bench *b, const char *session)
{
	_cleanup_free_ char *samples = session_samples(b->session, session);
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;

	CHECK_EQ(evbuf_flush(b->buffer), 0);
	CHECK_EQ(record_flush(b->rec, NULL), 0);
	CHECK_EQ(session_walk(samples, list_file, NULL, &text, NULL), 0);
	return strbuf_take(&text);
}

/* The current session's listing holds each of @lines, and as many lines. */
static void check_listing(struct bench *b, const char *const *lines, size_t count)
{
	_cleanup_free_ char *text = listing(b, "current");
	size_t i, have = 0;

	for (i = 0; text[i]; i++)
		have += text[i] == '\n';
	for (i = 0; i < count; i++)
		if (!strstr(text, lines[i])) {
			test_failures++;
			printf("# missing: %s\n", lines[i]);
		}
	if (have != count) {
		test_failures++;
		printf("# %zu lines, not %zu:\n# %s", have, count, text);
	}
}
#define CHECK_LISTING(b, ...)                                                                      \
	do {                                                                                       \
		const char *const lines_[] = { __VA_ARGS__ };                                      \
		check_listing(b, lines_, ARRAY_SIZE(lines_));                                      \
	} while (0)

#define T0 "TIMER.0.0.all.all.all "
#define P  "{root}/bin/p/{dep}/"

static void separations_are_parsed(void)
{
	static const struct {
		const char *text;
		int bits;
	} rows[] = {
		{ "none", 0 },	      { "lib", 1 },	   { "library", 1 }, { "kernel", 3 },
		{ "thread", 4 },      { "lib,cpu", 9 },	   { "all", 15 },    { "", -EINVAL },
		{ "lib,x", -EINVAL }, { "libs", -EINVAL }, { "cgroup", 16 }, { "all,cgroup", 31 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (!CHECK(record_separate_parse(rows[i].text, NULL) == rows[i].bits))
			printf("# row \"%s\"\n", rows[i].text);
}

static void samples_are_kept_apart_as_asked(void)
{
	static const struct {
		unsigned int separate;
		const char *library, *kernel;
	} rows[] = {
		{ RECORD_SEPARATE_NONE, "{root}/lib/l/{dep}/{root}/lib/l/" T0 "20 1\n",
		  "{root}/proc/kallsyms/{dep}/{root}/proc/kallsyms/" T0 "10 1\n" },
		{ RECORD_SEPARATE_LIB, P "{root}/lib/l/" T0 "20 1\n",
		  "{root}/proc/kallsyms/{dep}/{root}/proc/kallsyms/" T0 "10 1\n" },
		{ RECORD_SEPARATE_KERNEL, P "{root}/lib/l/" T0 "20 1\n",
		  P "{root}/proc/kallsyms/" T0 "10 1\n" },
		{ RECORD_SEPARATE_LIB | RECORD_SEPARATE_THREAD,
		  P "{root}/lib/l/TIMER.0.0.7.8.all 20 1\n",
		  "{root}/proc/kallsyms/{dep}/{root}/proc/kallsyms/TIMER.0.0.7.8.all 10 1\n" },
		{ RECORD_SEPARATE_ALL, P "{root}/lib/l/TIMER.0.0.7.8.1 20 1\n",
		  P "{root}/proc/kallsyms/TIMER.0.0.7.8.1 10 1\n" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		BENCH(b);
		uint64_t app = cookie_file(b.cookies, 1, 1, 0, "/bin/p");

		b.config.separate = rows[i].separate;
		bench_start(&b);
		run_as(&b, 7, app);
		evbuf_sample(b.buffer, cookie_file(b.cookies, 1, 2, 0, "/lib/l"), 0x20, 0, 1);
		evbuf_kernel_sample(b.buffer, 0xffffffff81000010, 0, 1);
		CHECK_LISTING(&b, rows[i].library, rows[i].kernel);
	}
}

static void samples_are_kept_apart_by_cgroup(void)
{
	BENCH(b);
	uint64_t app = cookie_file(b.cookies, 1, 1, 0, "/bin/p");
	const uint64_t groups[] = { cookie_cgroup(b.cookies, "/a"), cookie_cgroup(b.cookies, "/"),
				    EVBUF_NO_COOKIE };
	struct evbuf_context context = { .tgid = 7, .tid = 7, .app = app };
	size_t i;

	b.config.separate = RECORD_SEPARATE_CGROUP;
	bench_start(&b);
	for (i = 0; i < ARRAY_SIZE(groups); i++) {
		context.cgroup = groups[i];
		evbuf_context(b.buffer, &context);
		evbuf_sample(b.buffer, app, 0x20, 0, 1);
		evbuf_sample(b.buffer, app, 0x20, 0, 1);
	}
	CHECK_LISTING(&b, "{cgroup}/a/{root}/bin/p/{dep}/{root}/bin/p/" T0 "20 2\n",
		      "{cgroup}/{root}/bin/p/{dep}/{root}/bin/p/" T0 "20 2\n",
		      "{cgroup}/(unknown)/{root}/bin/p/{dep}/{root}/bin/p/" T0 "20 2\n");
}

static void cgroups_are_left_aside_unless_asked_for(void)
{
	BENCH(b);
	uint64_t app = cookie_file(b.cookies, 1, 1, 0, "/bin/p");
	struct evbuf_context context = { .tgid = 7, .tid = 7, .app = app };

	b.config.separate = RECORD_SEPARATE_ALL;
	bench_start(&b);
	context.cgroup = cookie_cgroup(b.cookies, "/a");
	evbuf_context(b.buffer, &context);
	evbuf_sample(b.buffer, app, 0x20, 0, 1);
	CHECK_LISTING(&b, "{root}/bin/p/{dep}/{root}/bin/p/TIMER.0.0.7.7.0 20 1\n");
}

static void every_kernel_address_finds_an_image(void)
{
	BENCH(b);

	bench_start(&b);
	run_as(&b, 7, cookie_file(b.cookies, 1, 1, 0, "/bin/p"));
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
	run_as(&b, 7, cookie_file(b.cookies, 1, 1, 0, "/bin/p"));
	evbuf_kernel_sample(b.buffer, 0xffffffffc0100010, 0, 1);
	CHECK_EQ(evbuf_flush(b.buffer), 0);
	put_file(b.root, "proc/modules", "nfs 4096 1 - Live 0xffffffffc0100000\n");
	evbuf_code(b.buffer, EVBUF_MODULE_LOADED);
	evbuf_kernel_sample(b.buffer, 0xffffffffc0100010, 0, 1);
	CHECK_LISTING(&b, "{kern}/xfs/{dep}/{kern}/xfs/" T0 "10 1\n",
		      "{kern}/nfs/{dep}/{kern}/nfs/" T0 "10 1\n");
}

/* A BPF program is told with its address when it comes: the kernel's lists need not have it any
 * more when its samples are looked at, nor say where the one before it ended. */
static void a_bpf_program_that_is_told_is_found(void)
{
	BENCH(b);
	uint64_t first = cookie_code(b.cookies, "bpf_prog_2"), next;

	bench_start(&b);
	run_as(&b, 7, cookie_file(b.cookies, 1, 1, 0, "/bin/p"));
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
		run_as(&b, 7, cookie_file(b.cookies, 1, 1, 0, "/bin/p"));
		evbuf_kernel_sample(b.buffer, boots[i].text, 0, 1);
		evbuf_kernel_sample(b.buffer, boots[i].xfs, 0, 1);
		evbuf_kernel_sample(b.buffer, boots[i].program, 0, 1);
		CHECK_EQ(evbuf_flush(b.buffer), 0);
		CHECK_EQ(record_flush(b.rec, NULL), 0);
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
	run_as(&b, 7, cookie_file(b.cookies, 1, 1, 0, "/bin/p"));
	evbuf_kernel_sample(b.buffer, 0xffffffff81000fff, 0, 1);
	CHECK_LISTING(&b, "{kern}/no-vmlinux/{dep}/{kern}/no-vmlinux/" T0 "ffffffff81000fff 1\n");
}

static void the_symbols_of_the_boot_are_kept(void)
{
	BENCH(b);
	_cleanup_free_ char *samples = session_samples(b.session, "current");
	_cleanup_free_ char *text = NULL;

	bench_start(&b);
	run_as(&b, 7, cookie_file(b.cookies, 1, 1, 0, "/bin/p"));
	evbuf_kernel_sample(b.buffer, 0xffffffff81000000, 0, 1);
	(void)stats_of(&b);
	CHECK(path_read(samples, "/kallsyms", &text, NULL) > 0);
	CHECK(text && strstr(text, "# module xfs ffffffffc0100000 ffffffffc0101000\n"));
}

static void other_kinds_of_images_have_their_names(void)
{
	BENCH(b);
	_cleanup_free_ char *samples = session_samples(b.session, "current");
	_cleanup_free_ char *vdso = path_join(samples, "vdso");
	_cleanup_free_ char *text = NULL;
	uint64_t app = cookie_file(b.cookies, 1, 1, 0, "/bin/p");

	b.config.separate = RECORD_SEPARATE_KERNEL;
	bench_start(&b);
	run_as(&b, 7, app);
	evbuf_sample(b.buffer, cookie_anon(b.cookies, 7, 0x1000, 0x3000, ""), 0x1010, 0, 1);
	evbuf_sample(b.buffer, cookie_anon(b.cookies, 7, 0x5000, 0x6000, "[heap]"), 0x10, 0, 1);
	evbuf_sample(b.buffer, cookie_anon(b.cookies, 7, 0x8000, 0x9000, "[anon:a/b]"), 0x10, 0, 1);
	evbuf_sample(b.buffer, cookie_vdso(b.cookies), 0x600, 0, 1);
	run_as(&b, 2, cookie_thread(b.cookies, "kworker/0:1"));
	evbuf_kernel_sample(b.buffer, 0xffffffff81000000, 0, 1);
	text = listing(&b, "current");
	CHECK(strstr(text, P "{anon:anon}/7.0x1000.0x3000/" T0 "1010 1\n"));
	CHECK(strstr(text, P "{anon:[heap]}/7.0x5000.0x6000/" T0 "10 1\n"));
	CHECK(strstr(text, P "{anon:[anon:a_b]}/7.0x8000.0x9000/" T0 "10 1\n"));
	CHECK(strstr(text, P "{anon:[vdso]}/0.0x0.0x"));
	CHECK(strstr(text, "{kern}/kworker/{dep}/{root}/proc/kallsyms/" T0 "0 1\n"));
	CHECK(access(vdso, R_OK) == 0);
}

static void two_files_of_one_path_never_share_a_sample_file(void)
{
	BENCH(b);
	_cleanup_free_ char *text = NULL;
	char path[] = "/lib/l";
	const char *first;

	cookie_define(
		b.cookies,
		&(struct cookie_image){
			.cookie = 1, .kind = COOKIE_FILE, .device = 1, .inode = 1, .path = path });
	cookie_define(
		b.cookies,
		&(struct cookie_image){
			.cookie = 2, .kind = COOKIE_FILE, .device = 9, .inode = 1, .path = path });
	bench_start(&b);
	run_as(&b, 7, 1);
	evbuf_sample(b.buffer, 1, 0x10, 0, 1);
	evbuf_sample(b.buffer, 2, 0x10, 0, 1);
	text = listing(&b, "current");
	first = strstr(text, "{root}/lib/l/" T0 "10 1\n");
	CHECK(first != NULL);
	CHECK(strstr(text, "{root}/lib/l#") != NULL);
}

static void the_filter_keeps_only_its_applications(void)
{
	static const struct {
		const char *images;
		uint64_t kept;
	} rows[] = { { "/bin/p", 1 }, { "/bin/p,/bin/q", 2 }, { "/bin/*", 2 },
		     { "p", 1 },      { "/bin", 0 },	      { "/usr/bin/p,q", 1 } };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		BENCH(b);
		uint64_t p = cookie_file(b.cookies, 1, 1, 0, "/bin/p");
		uint64_t q = cookie_file(b.cookies, 1, 2, 0, "/bin/q");
		struct record_stats s;

		b.config.images = rows[i].images;
		bench_start(&b);
		run_as(&b, 7, p);
		evbuf_sample(b.buffer, p, 0x10, 0, 1);
		run_as(&b, 8, q);
		evbuf_sample(b.buffer, p, 0x10, 0, 1);
		s = stats_of(&b);
		if (!CHECK(s.samples == rows[i].kept))
			printf("# row \"%s\"\n", rows[i].images);
		CHECK_EQ(s.filtered, 2 - rows[i].kept);
	}
}

static void losses_have_their_own_counters(void)
{
	static const uint64_t words[] = { 0x10,
					  0, /* no context */
					  ESC,
					  EVBUF_XEN_ENTER,
					  0x10,
					  0, /* lost_kernel */
					  ESC,
					  EVBUF_KERNEL_ENTER,
					  0xffffffff81000000,
					  0, /* no app */
					  ESC,
					  EVBUF_USER_ENTER,
					  0x10,
					  0, /* no mapping */
					  ESC,
					  EVBUF_COOKIE_SWITCH,
					  99,
					  0x10,
					  0, /* no file */
					  ESC,
					  EVBUF_COOKIE_SWITCH,
					  1,
					  0x10,
					  2, /* counter */
					  ESC,
					  63,
					  0x10,
					  0, /* code; recorded */
					  ESC,
					  EVBUF_COOKIE_SWITCH,
					  2,
					  0x10,
					  0, /* no app, user */
					  ESC,
					  EVBUF_SPU_CTX_SWITCH,
					  ESC,
					  EVBUF_IBS_FETCH,
					  1,
					  2,
					  3,
					  4,
					  5,
					  6,
					  7,
					  0x10,
					  ESC };
	BENCH(b);
	char path[] = "/bin/p", label[] = "";
	struct record_stats s;

	cookie_define(b.cookies,
		      &(struct cookie_image){ .cookie = 1, .kind = COOKIE_FILE, .path = path });
	cookie_define(b.cookies,
		      &(struct cookie_image){
			      .cookie = 2, .kind = COOKIE_ANON, .path = label, .end = 0x1000 });
	bench_start(&b);
	CHECK_EQ(record_words(words, ARRAY_SIZE(words), b.rec), 0);
	s = stats_of(&b);
	CHECK_EQ(s.lost_no_context, 1);
	CHECK_EQ(s.lost_kernel, 1);
	CHECK_EQ(s.lost_no_app_for_kernel_sample, 1);
	CHECK_EQ(s.lost_no_mapping, 1);
	CHECK_EQ(s.lost_samplefile, 1);
	CHECK_EQ(s.lost_counter, 1);
	CHECK_EQ(s.lost_no_app_for_user_sample, 1);
	CHECK_EQ(s.samples, 2);
	/* code 63, two without meaning here, a PC without counter, the escape at the end */
	CHECK_EQ(s.incomplete_code, 5);
	CHECK_EQ(record_stats_total(&s), 8);
}

static void weights_count_and_saturate(void)
{
	BENCH(b);
	uint64_t app = cookie_file(b.cookies, 1, 1, 0, "/bin/p");

	bench_start(&b);
	run_as(&b, 7, app);
	evbuf_sample(b.buffer, app, 0x10, 0, 5);
	evbuf_sample(b.buffer, app, 0x10, 0, 1);
	evbuf_sample(b.buffer, app, 0x20, 0, UINT64_MAX / 2);
	CHECK_LISTING(&b, P "{root}/bin/p/" T0 "10 6\n", P "{root}/bin/p/" T0 "20 4294967295\n");
	CHECK_EQ(stats_of(&b).samples, UINT64_MAX / 2 + 6);
}

static void a_chain_makes_arcs_up_to_the_next_context(void)
{
	BENCH(b);
	uint64_t app = cookie_file(b.cookies, 1, 1, 0, "/bin/p");
	uint64_t lib = cookie_file(b.cookies, 1, 2, 0, "/lib/l");

	b.config.separate = RECORD_SEPARATE_KERNEL;
	bench_start(&b);
	run_as(&b, 7, app);
	evbuf_sample(b.buffer, app, 0x1, 0, 1);
	evbuf_code(b.buffer, EVBUF_TRACE_BEGIN);
	evbuf_kernel_sample(b.buffer, 0xffffffff81000010, 0, 3);
	evbuf_sample(b.buffer, lib, 0x20, 0, 1);
	evbuf_sample(b.buffer, 99, 0x30, 0, 1);
	evbuf_sample(b.buffer, lib, 0x40, 0, 1);
	evbuf_sample(b.buffer, app, 0x50, 0, 1);
	evbuf_code(b.buffer, EVBUF_TRACE_END);
	evbuf_sample(b.buffer, app, 0x60, 0, 1);
	CHECK_LISTING(&b, P "{root}/bin/p/" T0 "1 1\n", P "{root}/bin/p/" T0 "60 1\n",
		      P "{root}/proc/kallsyms/" T0 "10 3\n",
		      P "{root}/lib/l/{cg}/{root}/proc/kallsyms/" T0 "2000000010 3\n",
		      P "{root}/bin/p/{cg}/{root}/lib/l/" T0 "5000000040 3\n");
	CHECK_EQ(stats_of(&b).samples, 5);
	CHECK_EQ(stats_of(&b).arcs_no_mapping, 3);
}

struct chain_listing {
	const struct chain_names *names;
	struct strbuf text;
};

static int list_chain(uint32_t number, const struct chain *chain, void *data)
{
	struct chain_listing *l = data;
	const struct chain_context *c = chain_names_context_at(l->names, number);
	size_t i;

	strbuf_addf(&l->text, "%s %s %s %" PRId64 ":", chain_names_image_at(l->names, c->app)->name,
		    c->event, c->end, c->tgid);
	for (i = 0; i < chain->count; i++)
		strbuf_addf(&l->text, " %s+%" PRIx64,
			    chain_names_image_at(l->names, chain->frames[i].image)->name,
			    chain->frames[i].offset);
	strbuf_addf(&l->text, " %" PRIu64 "\n", chain->samples);
	return 0;
}

/* The stored chains of @session, one a line, are @expected. */
static void check_chains(struct bench *b, const char *session, const char *expected)
{
	_cleanup_free_ char *samples = session_samples(b->session, session);
	_cleanup_(chain_reader_closep) struct chain_reader *r = NULL;
	struct chain_listing l = { .text = STRBUF_INIT };

	CHECK_EQ(evbuf_flush(b->buffer), 0);
	CHECK_EQ(chain_reader_open(samples, &r, NULL), 0);
	if (!r)
		return;
	l.names = chain_reader_names(r);
	CHECK_EQ(chain_reader_each(r, list_chain, &l), 0);
	CHECK_STR(strbuf_text(&l.text), expected);
	strbuf_done(&l.text);
}

/* The application and what is separated stand with a chain; a session moved away keeps its own. */
static void whole_chains_are_stored(void)
{
	BENCH(b);
	uint64_t app = cookie_file(b.cookies, 1, 1, 0, "/bin/p");
	uint64_t lib = cookie_file(b.cookies, 1, 2, 0, "/lib/l");
	const struct evbuf_frame frames[] = {
		{ EVBUF_KERNEL, 0xffffffff81000010 }, { lib, 0x20 }, { 99, 0x30 }, { app, 0x40 }
	};

	b.config.separate = RECORD_SEPARATE_THREAD;
	bench_start(&b);
	run_as(&b, 7, app);
	evbuf_chain(b.buffer, frames, 2, &(struct evbuf_trace){ 1, 4, EVBUF_END_COMPLETE });
	evbuf_chain(b.buffer, frames, 4, &(struct evbuf_trace){ 0, 1, EVBUF_END_COMPLETE });
	evbuf_chain(b.buffer, frames + 2, 2, &(struct evbuf_trace){ 0, 1, EVBUF_END_COMPLETE });
	evbuf_sample(b.buffer, app, 0x10, 0, 1);
	check_chains(&b, "current",
		     "/bin/p OTHER.0.0 complete 7: /proc/kallsyms+10 /lib/l+20 4\n"
		     "/bin/p TIMER.0.0 no_mapping 7: /proc/kallsyms+10 /lib/l+20 1\n");
	CHECK_EQ(stats_of(&b).chain_ends[EVBUF_END_COMPLETE], 4);
	CHECK_EQ(stats_of(&b).chain_ends[EVBUF_END_NO_MAPPING], 1);
	CHECK_EQ(record_close_files(b.rec, NULL), 0);
	CHECK_EQ(session_rename(b.session, "current", "saved", NULL), 0);
	run_as(&b, 8, app);
	evbuf_chain(b.buffer, frames + 1, 1, &(struct evbuf_trace){ 0, 1, EVBUF_END_DEPTH });
	check_chains(&b, "current", "/bin/p TIMER.0.0 depth 8: /lib/l+20 1\n");
	check_chains(&b, "saved",
		     "/bin/p OTHER.0.0 complete 7: /proc/kallsyms+10 /lib/l+20 4\n"
		     "/bin/p TIMER.0.0 no_mapping 7: /proc/kallsyms+10 /lib/l+20 1\n");
	CHECK_EQ(stats_of(&b).chains_lost, 0);
}

static void chains_that_cannot_be_stored_are_counted(void)
{
	BENCH(b);
	uint64_t app = cookie_file(b.cookies, 1, 1, 0, "/bin/p");
	const struct evbuf_frame frames[] = { { app, 0x10 }, { app, 0x20 } };
	_cleanup_free_ char *samples = session_samples(b.session, "current");

	bench_start(&b);
	/* A file stands where the store's directory belongs. */
	put_file(samples, "chains", "");
	run_as(&b, 7, app);
	evbuf_chain(b.buffer, frames, 2, &(struct evbuf_trace){ 0, 3, EVBUF_END_COMPLETE });
	evbuf_chain(b.buffer, frames, 1, &(struct evbuf_trace){ 0, 2, EVBUF_END_COMPLETE });
	CHECK_LISTING(&b, "{root}/bin/p/{dep}/{root}/bin/p/" T0 "10 5\n",
		      "{root}/bin/p/{dep}/{root}/bin/p/{cg}/{root}/bin/p/" T0 "2000000010 3\n");
	CHECK_EQ(stats_of(&b).samples, 5);
	CHECK_EQ(stats_of(&b).chains_lost, 5);
	CHECK_EQ(stats_of(&b).chain_ends[EVBUF_END_COMPLETE], 5);
	/* What was in the way is gone, and the session begins anew. */
	CHECK_EQ(record_close_files(b.rec, NULL), 0);
	CHECK_EQ(session_remove(b.session, "current", NULL), 0);
	run_as(&b, 7, app);
	evbuf_chain(b.buffer, frames, 2, &(struct evbuf_trace){ 0, 1, EVBUF_END_COMPLETE });
	check_chains(&b, "current", "/bin/p TIMER.0.0 complete -1: /bin/p+10 /bin/p+20 1\n");
	CHECK_EQ(stats_of(&b).chains_lost, 5);
}

static void whole_chains_count_by_how_they_end(void)
{
	BENCH(b);
	uint64_t app = cookie_file(b.cookies, 1, 1, 0, "/bin/p");
	uint64_t lib = cookie_file(b.cookies, 1, 2, 0, "/lib/l");
	const struct evbuf_frame frames[] = { { EVBUF_KERNEL, 0xffffffff81000010 },
					      { lib, 0x20 },
					      { app, 0x30 } };

	b.config.separate = RECORD_SEPARATE_KERNEL;
	bench_start(&b);
	run_as(&b, 7, app);
	evbuf_chain(b.buffer, frames, 3, &(struct evbuf_trace){ 0, 4, EVBUF_END_COMPLETE });
	evbuf_chain(b.buffer, frames + 1, 1, &(struct evbuf_trace){ 0, 1, EVBUF_END_NO_TABLE });
	evbuf_sample(b.buffer, app, 0x1, 0, 1);
	evbuf_code(b.buffer, EVBUF_TRACE_BEGIN);
	evbuf_sample(b.buffer, app, 0x2, 0, 1);
	run_as(&b, 8, app);
	evbuf_sample(b.buffer, app, 0x3, 0, 1);
	CHECK_LISTING(&b, P "{root}/bin/p/" T0 "1 1\n", P "{root}/bin/p/" T0 "2 1\n",
		      P "{root}/bin/p/" T0 "3 1\n", P "{root}/lib/l/" T0 "20 1\n",
		      P "{root}/proc/kallsyms/" T0 "10 4\n",
		      P "{root}/lib/l/{cg}/{root}/proc/kallsyms/" T0 "2000000010 4\n",
		      P "{root}/bin/p/{cg}/{root}/lib/l/" T0 "3000000020 4\n");
	CHECK_EQ(stats_of(&b).samples, 8);
	CHECK_EQ(stats_of(&b).chain_ends[EVBUF_END_COMPLETE], 4);
	CHECK_EQ(stats_of(&b).chain_ends[EVBUF_END_NO_TABLE], 1);
	CHECK_EQ(stats_of(&b).chain_ends[EVBUF_END_UNKNOWN], 1);
}

/* Without an application each frame is in a file of its own image, and the kernel's have none. */
static void arcs_of_a_process_that_nobody_knows_are_counted(void)
{
	BENCH(b);
	uint64_t app = cookie_file(b.cookies, 1, 1, 0, "/bin/p");
	uint64_t lib = cookie_file(b.cookies, 1, 2, 0, "/lib/l");
	const struct evbuf_frame frames[] = { { EVBUF_KERNEL, 0xffffffff81000010 },
					      { lib, 0x20 },
					      { app, 0x30 } };

	b.config.separate = RECORD_SEPARATE_KERNEL;
	bench_start(&b);
	run_as(&b, 7, EVBUF_NO_COOKIE);
	evbuf_chain(b.buffer, frames, 3, &(struct evbuf_trace){ 0, 4, EVBUF_END_COMPLETE });
	evbuf_chain(b.buffer, frames + 1, 2, &(struct evbuf_trace){ 0, 1, EVBUF_END_COMPLETE });
	CHECK_LISTING(&b, "{root}/lib/l/{dep}/{root}/lib/l/" T0 "20 1\n",
		      "{root}/bin/p/{dep}/{root}/bin/p/{cg}/{root}/lib/l/" T0 "3000000020 5\n");
	CHECK_EQ(stats_of(&b).chain_ends[EVBUF_END_COMPLETE], 1);
	CHECK_EQ(stats_of(&b).arcs_no_mapping, 0);
}

static void arcs_are_in_the_session_that_is_moved_away(void)
{
	BENCH(b);
	uint64_t app = cookie_file(b.cookies, 1, 1, 0, "/bin/p");
	const struct evbuf_frame frames[] = { { app, 0x10 }, { app, 0x20 } };
	_cleanup_free_ char *saved = NULL, *current = NULL;

	bench_start(&b);
	run_as(&b, 7, app);
	evbuf_chain(b.buffer, frames, 2, &(struct evbuf_trace){ 0, 2, EVBUF_END_COMPLETE });
	CHECK_EQ(evbuf_flush(b.buffer), 0);
	CHECK_EQ(record_close_files(b.rec, NULL), 0);
	CHECK_EQ(session_rename(b.session, "current", "saved", NULL), 0);
	evbuf_chain(b.buffer, frames, 2, &(struct evbuf_trace){ 0, 5, EVBUF_END_COMPLETE });
	CHECK_EQ(evbuf_flush(b.buffer), 0);
	evbuf_free(b.buffer);
	record_free(b.rec);
	bench_start(&b);
	saved = listing(&b, "saved");
	current = listing(&b, "current");
	CHECK(strstr(saved, P "{root}/bin/p/{cg}/{root}/bin/p/" T0 "2000000010 2\n"));
	CHECK(strstr(current, P "{root}/bin/p/{cg}/{root}/bin/p/" T0 "2000000010 5\n"));
}

/* Chains whose callers are a number are those that are spelt out, for all applications, also after
 * the session was left, and after the number got other callers. */
static void callers_may_be_a_number(void)
{
	BENCH(b);
	uint64_t app = cookie_file(b.cookies, 1, 1, 0, "/bin/p");
	uint64_t other = cookie_file(b.cookies, 1, 2, 0, "/bin/q");
	uint64_t lib = cookie_file(b.cookies, 1, 3, 0, "/lib/l");
	const struct evbuf_frame frames[] = {
		{ EVBUF_KERNEL, 0xffffffff81000010 }, { lib, 0x20 }, { app, 0x30 }, { 99, 0x40 }
	};
	const struct evbuf_trace once = { .counter = 0, .weight = 1 };
	uint64_t incomplete;

	b.config.separate = RECORD_SEPARATE_KERNEL;
	bench_start(&b);
	run_as(&b, 7, app);
	evbuf_callers(b.buffer, 3, frames + 1, 2, EVBUF_END_COMPLETE);
	evbuf_called(b.buffer, frames, 3, &(struct evbuf_trace){ .counter = 0, .weight = 4 });
	evbuf_called(b.buffer, frames, 3, &once);
	evbuf_chain(b.buffer, frames, 3, &(struct evbuf_trace){ 0, 1, EVBUF_END_COMPLETE });
	run_as(&b, 8, other);
	evbuf_called(b.buffer, frames, 3, &once);
	evbuf_callers(b.buffer, 4, frames + 2, 2, EVBUF_END_COMPLETE);
	evbuf_called(b.buffer, &(struct evbuf_frame){ lib, 0x50 }, 4, &once);
	CHECK_LISTING(&b, P "{root}/proc/kallsyms/" T0 "10 6\n",
		      "{root}/bin/q/{dep}/{root}/proc/kallsyms/" T0 "10 1\n",
		      "{root}/bin/q/{dep}/{root}/lib/l/" T0 "50 1\n",
		      P "{root}/lib/l/{cg}/{root}/proc/kallsyms/" T0 "2000000010 6\n",
		      P "{root}/bin/p/{cg}/{root}/lib/l/" T0 "3000000020 6\n",
		      "{root}/bin/q/{dep}/{root}/lib/l/{cg}/{root}/proc/kallsyms/" T0
		      "2000000010 1\n",
		      "{root}/bin/q/{dep}/{root}/bin/p/{cg}/{root}/lib/l/" T0 "3000000020 1\n",
		      "{root}/bin/q/{dep}/{root}/bin/p/{cg}/{root}/lib/l/" T0 "3000000050 1\n");
	check_chains(&b, "current",
		     "/bin/p TIMER.0.0 complete -1: /proc/kallsyms+10 /lib/l+20 /bin/p+30 6\n"
		     "/bin/q TIMER.0.0 complete -1: /proc/kallsyms+10 /lib/l+20 /bin/p+30 1\n"
		     "/bin/q TIMER.0.0 no_mapping -1: /lib/l+50 /bin/p+30 1\n");
	CHECK_EQ(stats_of(&b).arcs_no_mapping, 1);

	CHECK_EQ(record_close_files(b.rec, NULL), 0);
	CHECK_EQ(session_remove(b.session, "current", NULL), 0);
	run_as(&b, 7, app);
	evbuf_called(b.buffer, frames, 3, &once);
	evbuf_callers(b.buffer, 3, frames + 2, 1, EVBUF_END_DEPTH);
	evbuf_called(b.buffer, frames, 3, &once);
	check_chains(&b, "current",
		     "/bin/p TIMER.0.0 complete -1: /proc/kallsyms+10 /lib/l+20 /bin/p+30 1\n"
		     "/bin/p TIMER.0.0 depth -1: /proc/kallsyms+10 /bin/p+30 1\n");
	incomplete = stats_of(&b).incomplete_code;
	evbuf_called(b.buffer, frames, 77, &once);
	evbuf_callers(b.buffer, EVBUF_LISTS_MAX, NULL, 0, EVBUF_END_DEPTH);
	evbuf_callers(b.buffer, 5, NULL, 0, EVBUF_END_COUNT_);
	CHECK_EQ(stats_of(&b).incomplete_code, incomplete + 3);
	CHECK_EQ(stats_of(&b).chain_ends[EVBUF_END_UNKNOWN], 1);
}

static void a_session_that_was_moved_away_begins_anew(void)
{
	BENCH(b);
	uint64_t app = cookie_file(b.cookies, 1, 1, 0, "/bin/p");
	_cleanup_free_ char *saved = NULL, *current = NULL;

	bench_start(&b);
	run_as(&b, 7, app);
	evbuf_sample(b.buffer, app, 0x10, 0, 1);
	CHECK_EQ(evbuf_flush(b.buffer), 0);
	CHECK_EQ(record_close_files(b.rec, NULL), 0);
	CHECK_EQ(record_open_files(b.rec, NULL), 0);
	CHECK_EQ(session_rename(b.session, "current", "saved", NULL), 0);
	evbuf_sample(b.buffer, app, 0x20, 0, 1);
	saved = listing(&b, "saved");
	current = listing(&b, "current");
	CHECK_STR(saved, P "{root}/bin/p/" T0 "10 1\n");
	CHECK_STR(current, P "{root}/bin/p/" T0 "20 1\n");
}

static void a_sample_file_that_fails_is_counted_and_tried_again(void)
{
	BENCH(b);
	uint64_t app = cookie_file(b.cookies, 1, 1, 0, "/bin/p");
	_cleanup_free_ char *samples = session_samples(b.session, "current");
	_cleanup_free_ char *obstacle = path_join(samples, "{root}");

	bench_start(&b);
	put_file(samples, "{root}", "in the way");
	run_as(&b, 7, app);
	evbuf_sample(b.buffer, app, 0x10, 0, 1);
	evbuf_sample(b.buffer, app, 0x10, 0, 1);
	CHECK_EQ(stats_of(&b).lost_samplefile, 2);
	CHECK_EQ(unlink(obstacle), 0);
	CHECK_EQ(record_flush(b.rec, NULL), 0);
	evbuf_sample(b.buffer, app, 0x20, 0, 1);
	CHECK_LISTING(&b, P "{root}/bin/p/" T0 "20 1\n");
	CHECK_EQ(stats_of(&b).samples, 3);
	CHECK_EQ(session_stat_get(samples, "lost_samplefile"), 2);
	CHECK_EQ(session_stat_get(samples, "total_samples"), 3);
}

/* --- random streams --- */

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state >> 16;
}

/* Words of whole records of all kinds; returns the weight of the samples that are no callers. */
static uint64_t random_stream(uint64_t *words, size_t *ret_count, uint64_t seed)
{
	static const uint64_t codes[] = { EVBUF_KERNEL_ENTER,  EVBUF_USER_ENTER, EVBUF_USER_ENTER,
					  EVBUF_MODULE_LOADED, EVBUF_TRACE_END,	 EVBUF_XEN_ENTER };
	uint64_t state = seed * 0x9e3779b97f4a7c15ULL + 1, in = 0, weight = 1, dice;
	size_t n = 0;

	while (n < 6000) {
		dice = next_random(&state) % 100;
		if (dice < 60) {
			words[n++] = next_random(&state) % 3000 * 4;
			words[n++] = next_random(&state) % 50 ? next_random(&state) % 2 : 7;
			in += weight;
			weight = 1;
			continue;
		}
		words[n++] = ESC;
		if (dice < 85) {
			words[n++] = EVBUF_COOKIE_SWITCH;
			words[n++] = next_random(&state) % 25;
		} else if (dice < 93) {
			words[n++] = EVBUF_CTX_SWITCH;
			words[n++] = next_random(&state) % 5;
			words[n++] = next_random(&state) % 12;
			words[n++] = ESC;
			words[n++] = EVBUF_CTX_TGID;
			words[n++] = next_random(&state) % 3;
		} else if (dice < 96) {
			words[n++] = EVBUF_WEIGHT;
			words[n++] = weight = 1 + next_random(&state) % 9;
		} else if (dice < 97) {
			words[n++] = EVBUF_CALLERS;
			words[n++] = next_random(&state) % 5;
			words[n++] = next_random(&state) % EVBUF_END_COUNT_;
			words[n++] = 1 + next_random(&state) % 3;
			words[n++] = ESC;
			words[n++] = EVBUF_CALLER;
			words[n++] = next_random(&state) % 25;
			words[n++] = next_random(&state) % 3000 * 4;
			words[n++] = ESC;
			words[n++] = EVBUF_CALLED_BY;
			words[n] = words[n - 9];
			n++;
		} else {
			words[n++] = codes[next_random(&state) % ARRAY_SIZE(codes)];
		}
	}
	*ret_count = n;
	return in;
}

static int add_up(const char *path, const struct sname *name, void *data)
{
	_cleanup_(sfile_closep) struct sfile *sf = NULL;
	const struct odb_node *nodes = NULL;
	uint64_t *sum = data;
	size_t i, count = 0;

	CHECK(!name->has_callee);
	CHECK_EQ(sfile_open(path, &sf, NULL), 0);
	if (sf)
		nodes = odb_nodes(sfile_odb(sf), &count);
	for (i = 0; i < count; i++)
		*sum += nodes[i].value;
	return 0;
}

static void define_images(struct bench *b)
{
	char none[] = "";
	uint64_t i;

	for (i = 1; i <= 20; i++) {
		_cleanup_free_ char *path = xasprintf("/bin/p%" PRIu64, i);

		cookie_define(b->cookies,
			      &(struct cookie_image){ .cookie = i,
						      .kind = i % 10 ? COOKIE_FILE : COOKIE_ANON,
						      .tgid = 1,
						      .start = 0,
						      .end = 0x10000 * i,
						      .device = 1,
						      .inode = i,
						      .path = i % 10 ? path : none });
	}
}

/* Feeds a stream in pieces of at most @piece words and holds files and counters together. */
static void balance(unsigned int separate, uint64_t seed, size_t piece, size_t mapped_max)
{
	static uint64_t words[6100];
	BENCH(b);
	_cleanup_free_ char *samples = session_samples(b.session, "current");
	uint64_t in, sum = 0, state = seed + 1;
	struct record_stats s;
	size_t i, n, count = 0;

	define_images(&b);
	b.config.separate = separate;
	b.config.mapped_bytes_max = mapped_max;
	bench_start(&b);
	in = random_stream(words, &count, seed);
	for (i = 0; i < count; i += n) {
		n = MIN(1 + next_random(&state) % piece, count - i);
		CHECK_EQ(record_words(words + i, n, b.rec), 0);
	}
	CHECK_EQ(record_flush(b.rec, NULL), 0);
	s = stats_of(&b);
	CHECK_EQ(session_walk(samples, add_up, NULL, &sum, NULL), 0);
	CHECK_EQ(record_stats_total(&s), in);
	CHECK_EQ(sum, s.samples - s.lost_samplefile);
	CHECK(s.samples > in / 2);
	CHECK(s.lost_samplefile && s.lost_no_context + s.lost_kernel && s.lost_counter);
	CHECK_EQ(session_stat_get(samples, "total_samples"), in);
	CHECK_EQ(s.incomplete_code, 0);
}

static void samples_in_are_samples_recorded_and_lost(void)
{
	static const unsigned int separations[] = { RECORD_SEPARATE_NONE, RECORD_SEPARATE_LIB,
						    RECORD_SEPARATE_ALL };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(separations); i++) {
		balance(separations[i], i, 6100, 0);
		balance(separations[i], i + 10, 7, 0);
	}
}

static void nothing_is_lost_where_few_files_can_be_open(void)
{
	balance(RECORD_SEPARATE_LIB, 1, 6100, 40000);
	balance(RECORD_SEPARATE_ALL, 2, 300, 10000);
}

/* The lines of @text in order; frees it. */
static char *sorted(char *text)
{
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;
	char **lines = NULL, *save = NULL, *line;
	size_t count = 0, room = 0, i, j;

	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		array_grow(&lines, count + 1, &room);
		for (j = count++; j && strcmp(lines[j - 1], line) > 0; j--)
			lines[j] = lines[j - 1];
		lines[j] = line;
	}
	for (i = 0; i < count; i++)
		strbuf_addf(&out, "%s\n", lines[i]);
	free(lines);
	free(text);
	return strbuf_take(&out);
}

static char *files_of(size_t piece, size_t mapped_max, unsigned int open_max)
{
	static uint64_t words[6100];
	BENCH(b);
	uint64_t state = 5;
	size_t i, n, count = 0;

	define_images(&b);
	b.config.separate = RECORD_SEPARATE_LIB;
	b.config.mapped_bytes_max = mapped_max;
	b.config.open_files_max = open_max;
	bench_start(&b);
	(void)random_stream(words, &count, 3);
	count = 4000;
	for (i = 0; i < count; i += n) {
		n = MIN(1 + next_random(&state) % piece, count - i);
		CHECK_EQ(record_words(words + i, n, b.rec), 0);
		if (open_max)
			CHECK(record_open_files(b.rec, NULL) <= open_max + 1);
	}
	return sorted(listing(&b, "current"));
}

static void limits_and_cuts_do_not_change_what_is_recorded(void)
{
	_cleanup_free_ char *whole = files_of(6100, 0, 0);
	_cleanup_free_ char *cut = files_of(3, 0, 0);
	_cleanup_free_ char *small = files_of(50, 30000, 0);
	_cleanup_free_ char *few = files_of(50, 0, 8);

	CHECK(strlen(whole) > 1000);
	CHECK_STR(cut, whole);
	CHECK_STR(small, whole);
	CHECK_STR(few, whole);
}

TESTS(T(separations_are_parsed), T(samples_are_kept_apart_by_cgroup),
      T(cgroups_are_left_aside_unless_asked_for), T(samples_are_kept_apart_as_asked),
      T(every_kernel_address_finds_an_image), T(a_module_that_is_loaded_is_found),
      T(a_bpf_program_that_is_told_is_found), T(boots_do_not_mix),
      T(hidden_addresses_are_counted_as_they_are), T(the_symbols_of_the_boot_are_kept),
      T(other_kinds_of_images_have_their_names), T(two_files_of_one_path_never_share_a_sample_file),
      T(the_filter_keeps_only_its_applications), T(losses_have_their_own_counters),
      T(weights_count_and_saturate), T(a_chain_makes_arcs_up_to_the_next_context),
      T(whole_chains_count_by_how_they_end), T(arcs_of_a_process_that_nobody_knows_are_counted),
      T(arcs_are_in_the_session_that_is_moved_away), T(callers_may_be_a_number),
      T(whole_chains_are_stored), T(chains_that_cannot_be_stored_are_counted),
      T(a_session_that_was_moved_away_begins_anew),
      T(a_sample_file_that_fails_is_counted_and_tried_again),
      T(samples_in_are_samples_recorded_and_lost), T(nothing_is_lost_where_few_files_can_be_open),
      T(limits_and_cuts_do_not_change_what_is_recorded))
