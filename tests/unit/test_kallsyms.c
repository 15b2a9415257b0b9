/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "symbol/internal/symbol_line.h"
#include "symbol/kallsyms.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>

static const char symbols[] = "0000000000000000 A fixed_percpu_data\n"
			      "ffffffff81000000 T _stext\n"
			      "ffffffff81000000 T _text\n"
			      "ffffffff81000000 T startup_64\n"
			      "ffffffff81000100 t do_idle\n"
			      "ffffffff81000100 T __do_idle_alias\n"
			      "ffffffff81000180 D not_code\n"
			      "ffffffff81000200 W schedule\n"
			      "not a line\n"
			      "ffffffff81001000 T _etext\n"
			      "ffffffff82000000 t in_init_text\n"
			      "ffffffffc0100010 t xfs_read\t[xfs]\n"
			      "ffffffffc0100400 t xfs_write\t[xfs]\n"
			      "ffffffffc0200000 t ext4_read\t[ext4]\n"
			      "ffffffffc0300000 t bpf_prog_1\t[bpf]\n"
			      "ffffffffc0300400 t bpf_prog_2\t[bpf]\n"
			      "ffffffffc0400000 t trampoline\t[__builtin__ftrace]\n";
static const char modules[] = "xfs 4096 1 - Live 0xffffffffc0100000 (E)\n"
			      "ext4 2097152 0 - Live 0xffffffffc0200000\n";

/* A root directory whose /proc has these files; NULL: none. */
static char *fake_root(const char *kallsyms, const char *module_list)
{
	char *root = test_directory();
	_cleanup_free_ char *proc = path_join(root, "proc");
	_cleanup_free_ char *k = path_join(proc, "kallsyms"), *m = path_join(proc, "modules");

	CHECK_EQ(path_make_dirs(proc, 0755, NULL), 0);
	if (kallsyms)
		CHECK_EQ(path_write(k, kallsyms, 0644, NULL), 0);
	if (module_list)
		CHECK_EQ(path_write(m, module_list, 0644, NULL), 0);
	return root;
}

static void lines_are_taken_apart(void)
{
	static const struct {
		const char *text;
		int r;
		uint64_t address;
		char type;
		const char *name, *module;
	} rows[] = {
		{ "ffffffff81000000 T _text\n", 0, 0xffffffff81000000, 'T', "_text", "" },
		{ "0000000000000010 t f\t[xfs]", 0, 0x10, 't', "f", "xfs" },
		{ "10 t f [bpf]", 0, 0x10, 't', "f", "bpf" },
		{ "10 t", -EBADMSG, 0, 0, NULL, NULL },
		{ "10 tt f", -EBADMSG, 0, 0, NULL, NULL },
		{ "1x t f", -EBADMSG, 0, 0, NULL, NULL },
		{ "10 t f xfs", -EBADMSG, 0, 0, NULL, NULL },
		{ "11112222333344445 t f", -EBADMSG, 0, 0, NULL, NULL },
		{ "", -EBADMSG, 0, 0, NULL, NULL },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *line = xstrdup(rows[i].text);
		struct kallsyms_line l;
		int r = kallsyms_line_parse(line, &l);

		if (!CHECK(r == rows[i].r))
			printf("# row \"%s\"\n", rows[i].text);
		if (r < 0)
			continue;
		CHECK_EQ(l.address, rows[i].address);
		CHECK_EQ(l.type, rows[i].type);
		CHECK_STR(l.name, rows[i].name);
		CHECK_STR(l.module, rows[i].module);
	}
}

static void module_lines_are_taken_apart(void)
{
	char good[] = "xfs 2027520 1 a,b, Live 0xffffffffc0a00000 (OE)\n";
	char bad[] = "xfs much 1 - Live 0xffffffffc0a00000\n", cut[] = "xfs 20 1 -";
	struct modules_line l;

	CHECK_EQ(modules_line_parse(good, &l), 0);
	CHECK_STR(l.name, "xfs");
	CHECK_EQ(l.size, 2027520);
	CHECK_EQ(l.address, 0xffffffffc0a00000);
	CHECK_EQ(modules_line_parse(bad, &l), -EBADMSG);
	CHECK_EQ(modules_line_parse(cut, &l), -EBADMSG);
}

static void every_kernel_address_has_its_range(void)
{
	static const struct {
		uint64_t address;
		const char *name; /* NULL: none */
		const char *symbol;
	} rows[] = {
		{ 0xffffffff80ffffff, NULL, NULL },
		{ 0xffffffff81000000, "", NULL },
		{ 0xffffffff81000fff, "", NULL },
		{ 0xffffffff81001000, NULL, NULL },
		{ 0xffffffffc0100000, "xfs", NULL },
		{ 0xffffffffc0101000, NULL, NULL },
		{ 0xffffffffc0200fff, "ext4", NULL },
		{ 0xffffffffc02fffff, "ext4", NULL },
		{ 0xffffffffc0300000, "ext4", NULL },
		{ 0xffffffffc0400001, "__builtin__ftrace", "trampoline" },
		{ 0xffffffffc0410000, NULL, NULL },
	};
	_cleanup_directory_ char *root = fake_root(symbols, modules);
	struct kallsyms_ranges r;
	size_t i;

	CHECK_EQ(kallsyms_ranges_read(root, &r, NULL), 0);
	CHECK(!r.hidden);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct kallsyms_range *range = kallsyms_ranges_find(&r, rows[i].address);

		if (!CHECK(!range == !rows[i].name))
			printf("# address %#" PRIx64 "\n", rows[i].address);
		if (!range || !rows[i].name)
			continue;
		CHECK_STR(range->name, rows[i].name);
		CHECK_STR(range->symbol ?: "", rows[i].symbol ?: "");
	}
	kallsyms_ranges_done(&r);
}

static void modules_alone_are_read_again(void)
{
	_cleanup_directory_ char *root = fake_root(symbols, modules);
	_cleanup_free_ char *path = path_under(root, "/proc/modules");
	const struct kallsyms_range *range;
	struct kallsyms_ranges r;

	CHECK_EQ(kallsyms_ranges_read(root, &r, NULL), 0);
	CHECK(!kallsyms_modules_renew(root, &r));
	CHECK_EQ(path_write(path, "nfs 4096 1 - Live 0xffffffffc0100000\n", 0644, NULL), 0);
	CHECK(kallsyms_modules_renew(root, &r));
	range = kallsyms_ranges_find(&r, 0xffffffffc0100fff);
	CHECK(range && !strcmp(range->name, "nfs"));
	CHECK(!kallsyms_ranges_find(&r, 0xffffffffc0200fff));
	range = kallsyms_ranges_find(&r, 0xffffffff81000000);
	CHECK(range && !*range->name);
	range = kallsyms_ranges_find(&r, 0xffffffffc0400001);
	CHECK(range && range->symbol && !strcmp(range->symbol, "trampoline"));
	CHECK_EQ(unlink(path), 0);
	CHECK(!kallsyms_modules_renew(root, &r));
	CHECK(kallsyms_ranges_find(&r, 0xffffffffc0100fff));
	kallsyms_ranges_done(&r);
}

static void hidden_modules_start_with_their_first_symbol(void)
{
	static const char hidden[] = "xfs 4096 1 - Live 0x0000000000000000 (E)\n"
				     "unused 4096 0 - Live 0x0000000000000000\n"
				     "ext4 2097152 0 - Live 0x0000000000000000\n";
	_cleanup_directory_ char *root = fake_root(symbols, hidden),
				 *shown = fake_root(symbols, modules);
	struct kallsyms_ranges r, expected;
	size_t i;

	CHECK_EQ(kallsyms_ranges_read(root, &r, NULL), 0);
	CHECK_EQ(kallsyms_ranges_read(shown, &expected, NULL), 0);
	CHECK(!r.hidden);
	CHECK_EQ(r.count, expected.count);
	for (i = 0; i < r.count && i < expected.count; i++) {
		CHECK_STR(r.ranges[i].name, expected.ranges[i].name);
		CHECK_EQ(r.ranges[i].start, expected.ranges[i].start);
		CHECK_EQ(r.ranges[i].end, expected.ranges[i].end);
	}
	CHECK(!kallsyms_modules_renew(root, &r));
	CHECK_EQ(r.count, expected.count);
	kallsyms_ranges_done(&r);
	kallsyms_ranges_done(&expected);
}

static void code_outside_modules_reaches_a_little_past_its_symbols(void)
{
	_cleanup_directory_ char *root = fake_root(symbols, NULL);
	struct kallsyms_ranges r;
	const struct kallsyms_range *range;

	CHECK_EQ(kallsyms_ranges_read(root, &r, NULL), 0);
	range = kallsyms_ranges_find(&r, 0xffffffffc0300500);
	if (CHECK(range)) {
		CHECK_STR(range->name, "bpf");
		CHECK_STR(range->symbol, "bpf_prog_2");
		CHECK_EQ(range->start, 0xffffffffc0300400);
		CHECK_EQ(range->end, 0xffffffffc0310400);
	}
	kallsyms_ranges_done(&r);
}

static void addresses_of_zero_mean_hidden(void)
{
	_cleanup_directory_ char *root =
		fake_root("0000000000000000 T _text\n0000000000000000 T _etext\n", modules);
	struct kallsyms_ranges r;
	struct kallsyms *k = NULL;
	struct error err = ERROR_INIT;

	CHECK_EQ(kallsyms_ranges_read(root, &r, NULL), 0);
	CHECK(r.hidden);
	kallsyms_ranges_done(&r);
	CHECK_EQ(kallsyms_load_live(root, &k, &err), -EACCES);
	CHECK(strstr(err.text, "kptr_restrict"));
}

static void no_kallsyms_is_an_error_that_names_it(void)
{
	_cleanup_directory_ char *root = fake_root(NULL, NULL);
	struct kallsyms_ranges r;
	struct error err = ERROR_INIT;

	CHECK_EQ(kallsyms_ranges_read(root, &r, &err), -ENOENT);
	CHECK(strstr(err.text, "/proc/kallsyms"));
}

static void check_symbol(const struct kallsyms *k, const char *image, uint64_t key,
			 const char *name)
{
	const struct kallsyms_image *i = kallsyms_image(k, image);
	const struct kallsyms_symbol *s, *found = NULL;

	/* Of several at one address the first. */
	for (s = i ? i->symbols : NULL; s && s < i->symbols + i->count; s++)
		if (s->address <= i->start + key && (!found || s->address > found->address))
			found = s;
	CHECK_STR(found && (!i->end || i->start + key < i->end) ? found->name : "none", name);
}

static void saved_symbols_answer_by_key(void)
{
	_cleanup_directory_ char *root = fake_root(symbols, modules);
	_cleanup_free_ char *path = path_join(root, "saved");
	_cleanup_(kallsyms_freep) struct kallsyms *k = NULL;
	struct kallsyms_ranges r;

	CHECK_EQ(kallsyms_ranges_read(root, &r, NULL), 0);
	CHECK_EQ(kallsyms_save(root, &r, "one", path, NULL), 0);
	kallsyms_ranges_done(&r);
	CHECK_EQ(kallsyms_load(path, &k, NULL), 0);
	check_symbol(k, "", 0, "startup_64");
	check_symbol(k, "", 0x17f, "__do_idle_alias");
	check_symbol(k, "", 0xfff, "schedule");
	check_symbol(k, "", 0x1000, "none");
	check_symbol(k, "xfs", 0x3ff, "xfs_read");
	check_symbol(k, "xfs", 0xf, "none");
	check_symbol(k, "nfs", 0, "none");
	CHECK(!kallsyms_has(k, "__builtin__ftrace"));
}

/* Code outside kernel and modules: the file says which it is, not the address. */
static void code_that_comes_and_goes_keeps_its_place(void)
{
	static const struct {
		char *name, *symbol;
		uint64_t key;
	} rows[] = {
		{ (char *)"bpf", (char *)"bpf_prog_1", KALLSYMS_SLOT },
		{ (char *)"bpf", (char *)"bpf_prog_2", 2 * KALLSYMS_SLOT },
		{ (char *)"bpf", (char *)"bpf_prog_1", KALLSYMS_SLOT },
		{ (char *)"__builtin__kprobes", (char *)"kprobe_insn_page", KALLSYMS_SLOT },
		{ (char *)"bpf", (char *)"bpf_prog_3", 3 * KALLSYMS_SLOT },
		{ (char *)"__builtin__kprobes", (char *)"kprobe_insn_page", KALLSYMS_SLOT },
	};
	_cleanup_directory_ char *root = fake_root(symbols, modules);
	_cleanup_free_ char *path = path_join(root, "saved");
	_cleanup_(kallsyms_freep) struct kallsyms *k = NULL;
	struct kallsyms_ranges r;
	uint64_t key;
	size_t i;

	CHECK_EQ(kallsyms_ranges_read(root, &r, NULL), 0);
	CHECK_EQ(kallsyms_save(root, &r, "one", path, NULL), 0);
	kallsyms_ranges_done(&r);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		/* One address for all: where one was, another can be next. */
		struct kallsyms_range range = { .name = rows[i].name,
						.symbol = rows[i].symbol,
						.start = 0xffffffffc0300000,
						.end = 0xffffffffc0300400 };

		CHECK_EQ(kallsyms_enter(path, "one", &range, &key, NULL), 0);
		CHECK_EQ(key, rows[i].key);
	}
	CHECK_EQ(kallsyms_load(path, &k, NULL), 0);
	check_symbol(k, "bpf", KALLSYMS_SLOT + 0x3ff, "bpf_prog_1");
	check_symbol(k, "bpf", 2 * KALLSYMS_SLOT, "bpf_prog_2");
	check_symbol(k, "bpf", 3 * KALLSYMS_SLOT, "bpf_prog_3");
	check_symbol(k, "__builtin__kprobes", KALLSYMS_SLOT + 8, "kprobe_insn_page");
	check_symbol(k, "xfs", 0x3ff, "xfs_read");
}

/* A session that was begun when places were addresses. */
static void addresses_of_old_files_take_no_place(void)
{
	_cleanup_directory_ char *root = fake_root(NULL, NULL);
	_cleanup_free_ char *path = path_join(root, "saved");
	struct kallsyms_range range = { .name = (char *)"bpf", .symbol = (char *)"bpf_prog_1" };
	uint64_t key = 0;

	CHECK_EQ(path_write(path, "# absolute bpf\nffffffffc0300000 t bpf_prog_1\n", 0644, NULL),
		 0);
	CHECK_EQ(kallsyms_enter(path, "one", &range, &key, NULL), 0);
	CHECK_EQ(key, (1 + KALLSYMS_UNSYNCED_MAX) * KALLSYMS_SLOT);
}

/* What a power cut takes from the file may be in sample files all the same: its place is not given
 * to other code. */
static void lost_places_are_not_used_again(void)
{
	static const struct {
		const char *boot;
		char *name, *symbol;
		uint64_t slot;
		bool is_lost;
	} rows[] = {
		{ "one", (char *)"bpf", (char *)"bpf_prog_1", 1, true },
		{ "two", (char *)"bpf", (char *)"bpf_prog_2", 17, false },
		{ "two", (char *)"bpf", (char *)"bpf_prog_3", 18, true },
		{ "two", (char *)"__builtin__kprobes", (char *)"kprobe_insn_page", 17, false },
		{ "three", (char *)"bpf", (char *)"bpf_prog_2", 17, false },
		{ "three", (char *)"bpf", (char *)"bpf_prog_1", 34, false },
		{ "three", (char *)"bpf", (char *)"bpf_prog_4", 35, false },
	};
	_cleanup_directory_ char *root = fake_root(symbols, modules);
	_cleanup_free_ char *path = path_join(root, "saved");
	struct kallsyms_ranges r;
	struct stat before;
	uint64_t key;
	size_t i;

	CHECK_EQ(kallsyms_ranges_read(root, &r, NULL), 0);
	CHECK_EQ(kallsyms_save(root, &r, "one", path, NULL), 0);
	kallsyms_ranges_done(&r);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct kallsyms_range range = { .name = rows[i].name, .symbol = rows[i].symbol };

		CHECK_EQ(stat(path, &before), 0);
		CHECK_EQ(kallsyms_enter(path, rows[i].boot, &range, &key, NULL), 0);
		CHECK_EQ(key, rows[i].slot * KALLSYMS_SLOT);
		if (rows[i].is_lost)
			CHECK_EQ(truncate(path, before.st_size), 0);
	}
	CHECK_EQ(kallsyms_sync(path), 0);
}

static void another_boot_adds_only_what_is_new(void)
{
	_cleanup_directory_ char *first = fake_root(symbols, modules);
	_cleanup_directory_ char *second =
		fake_root("ffffffff91000000 T _text\nffffffff91001000 T _etext\n"
			  "ffffffff91000100 t moved\n"
			  "ffffffffc0900010 t xfs_moved\t[xfs]\n"
			  "ffffffffc0100010 t nfs_read\t[nfs]\n",
			  "xfs 4096 1 - Live 0xffffffffc0900000\n"
			  "nfs 4096 1 - Live 0xffffffffc0100000\n");
	_cleanup_free_ char *path = path_join(first, "saved");
	_cleanup_(kallsyms_freep) struct kallsyms *k = NULL;
	const char *roots[] = { first, second, second };
	struct kallsyms_ranges r;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(roots); i++) {
		CHECK_EQ(kallsyms_ranges_read(roots[i], &r, NULL), 0);
		CHECK_EQ(kallsyms_save(roots[i], &r, "one", path, NULL), 0);
		kallsyms_ranges_done(&r);
	}
	CHECK_EQ(kallsyms_load(path, &k, NULL), 0);
	check_symbol(k, "", 0x100, "__do_idle_alias");
	check_symbol(k, "xfs", 0x10, "xfs_read");
	check_symbol(k, "nfs", 0x10, "nfs_read");
	CHECK_EQ(kallsyms_image(k, "nfs")->count, 1);
}

/* Whoever reads a session need not know it (kptr_restrict). */
static void a_saved_file_hides_where_the_kernel_is(void)
{
	_cleanup_directory_ char *root =
		fake_root("ffffffff9ac00000 T _text\nffffffff9ac00100 t idle\n"
			  "ffffffff9ac01000 T _etext\nffffffffc0912010 t xfs_read\t[xfs]\n"
			  "ffffffffc0b55000 t bpf_prog_1\t[bpf]\n",
			  "xfs 4096 1 - Live 0xffffffffc0912000\n");
	struct kallsyms_range code = { .name = (char *)"bpf",
				       .symbol = (char *)"bpf_prog_1",
				       .start = 0xffffffffc0b55000,
				       .end = 0xffffffffc0b55400 };
	_cleanup_free_ char *path = path_join(root, "saved"), *text = NULL;
	_cleanup_(kallsyms_freep) struct kallsyms *k = NULL;
	struct kallsyms_ranges r;
	uint64_t key, start;

	CHECK_EQ(kallsyms_ranges_read(root, &r, NULL), 0);
	CHECK_EQ(kallsyms_save(root, &r, "one", path, NULL), 0);
	kallsyms_ranges_done(&r);
	CHECK_EQ(kallsyms_enter(path, "one", &code, &key, NULL), 0);
	CHECK(path_read(NULL, path, &text, NULL) > 0);
	CHECK(!strstr(text, "9ac0") && !strstr(text, "c091") && !strstr(text, "c0b5"));
	CHECK_EQ(kallsyms_load(path, &k, NULL), 0);
	check_symbol(k, "", 0x100, "idle");
	check_symbol(k, "xfs", 0x10, "xfs_read");
	check_symbol(k, "bpf", key, "bpf_prog_1");
	CHECK(kallsyms_start(root, "", &start));
	CHECK_EQ(start, 0xffffffff9ac00000);
	CHECK(kallsyms_start(root, "xfs", &start));
	CHECK_EQ(start, 0xffffffffc0912000);
	CHECK(!kallsyms_start(root, "bpf", &start));
}

/* As after a power cut. */
static void code_is_entered_after_an_incomplete_line(void)
{
	_cleanup_directory_ char *root = fake_root(NULL, NULL);
	_cleanup_free_ char *path = path_join(root, "saved"), *text = NULL;
	struct kallsyms_range code = { .name = (char *)"bpf", .symbol = (char *)"bpf_prog_1" };
	uint64_t key;

	CHECK_EQ(path_write(path, "# text 1000 2000\n1000 T start\n11", 0644, NULL), 0);
	CHECK_EQ(kallsyms_enter(path, "one", &code, &key, NULL), 0);
	CHECK(path_read(NULL, path, &text, NULL) > 0);
	CHECK_STR(text, "# text 1000 2000\n1000 T start\n11\n"
			"# boot one bpf\n# absolute bpf\n0000000011000000 t bpf_prog_1\n");
}

static void modules_are_saved_after_an_incomplete_line(void)
{
	_cleanup_directory_ char *root = fake_root(symbols, modules);
	_cleanup_free_ char *path = path_join(root, "saved");
	_cleanup_(kallsyms_freep) struct kallsyms *k = NULL;
	struct kallsyms_ranges r;

	CHECK_EQ(path_write(path, "# text 1000 2000\n1000 T start\n11", 0644, NULL), 0);
	CHECK_EQ(kallsyms_ranges_read(root, &r, NULL), 0);
	CHECK_EQ(kallsyms_save(root, &r, "one", path, NULL), 0);
	kallsyms_ranges_done(&r);
	CHECK_EQ(kallsyms_load(path, &k, NULL), 0);
	CHECK_EQ(kallsyms_image(k, "")->count, 1);
	check_symbol(k, "xfs", 0x10, "xfs_read");
}

static void a_plain_copy_answers_for_the_kernel(void)
{
	_cleanup_directory_ char *root = fake_root(symbols, modules);
	_cleanup_free_ char *path = path_join(root, "proc/kallsyms");
	_cleanup_(kallsyms_freep) struct kallsyms *k = NULL;

	CHECK_EQ(kallsyms_load(path, &k, NULL), 0);
	CHECK_EQ(kallsyms_image_count(k), 1);
	check_symbol(k, "", 0x100, "__do_idle_alias");
}

static void the_running_kernel_is_read_with_its_modules(void)
{
	_cleanup_directory_ char *root = fake_root(symbols, modules);
	_cleanup_(kallsyms_freep) struct kallsyms *k = NULL;

	CHECK_EQ(kallsyms_load_live(root, &k, NULL), 0);
	check_symbol(k, "", 0x200, "schedule");
	check_symbol(k, "xfs", 0x400, "xfs_write");
}

/* Images are read one by one; of one that has not changed the digest is the same, whatever else
 * the file holds. */
static void images_have_digests_of_their_own(void)
{
	static const char one[] = "# text 1000 2000\n1000 T start\n1100 t next\n"
				  "# module xfs 5000 6000\n5000 t xfs_read\n";
	static const char more[] = "# text 1000 2000\n1000 T start\n1100 t next\n"
				   "# module xfs 5000 6000\n5000 t xfs_write\n"
				   "# absolute bpf\n9000 t prog\n";
	_cleanup_(kallsyms_freep) struct kallsyms *a = NULL, *b = NULL;
	FILE *f = fmemopen((void *)one, strlen(one), "r"), *g;
	uint64_t x[2], y[2];

	CHECK_EQ(kallsyms_load_stream(f, "one", &a, NULL), 0);
	g = fmemopen((void *)more, strlen(more), "r");
	CHECK_EQ(kallsyms_load_stream(g, "more", &b, NULL), 0);
	CHECK(kallsyms_digest(a, "", x) && kallsyms_digest(b, "", y));
	CHECK(x[0] == y[0] && x[1] == y[1] && x[0] != x[1]);
	CHECK(kallsyms_digest(a, "xfs", x) && kallsyms_digest(b, "xfs", y));
	CHECK(x[0] != y[0] && x[1] != y[1]);
	CHECK(kallsyms_has(b, "bpf") && !kallsyms_has(a, "bpf"));
	CHECK(!kallsyms_digest(a, "bpf", x));
	check_symbol(b, "xfs", 0, "xfs_write");
	CHECK_EQ(kallsyms_image(b, "")->count, 2);
	(void)fclose(f);
	(void)fclose(g);
}

/* The loader has ways of its own for lines as they mostly are: what it takes for a symbol is what
 * kallsyms_line_parse() does. */
static void the_loader_reads_lines_alike(void)
{
	static const char good[] = "ffffffff8100abcd t name_9";
	char line[64], copy[64];
	unsigned int at, byte;

	for (at = 0; at < sizeof(good) - 1; at++) {
		for (byte = 1; byte < 256; byte++) {
			_cleanup_(kallsyms_freep) struct kallsyms *k = NULL;
			struct kallsyms_line want;
			char text[128];
			FILE *f;
			bool is;

			if (byte == '\n' || (at == 0 && byte == '#'))
				continue;
			(void)strcpy(line, good);
			line[at] = (char)byte;
			(void)strcpy(copy, line);
			is = kallsyms_line_parse(copy, &want) == 0 && strchr("tTwW", want.type);
			(void)snprintf(text, sizeof(text), "# text 0 0\n%s\n", line);
			f = fmemopen(text, strlen(text), "r");
			CHECK(is == (kallsyms_load_stream(f, "x", &k, NULL) == 0));
			(void)fclose(f);
			if (!is || !k)
				continue;
			CHECK_EQ(kallsyms_image(k, "")->symbols[0].address, want.address);
			CHECK_STR(kallsyms_image(k, "")->symbols[0].name, want.name);
		}
	}
}

/* A file that fills its last page may end in any word of a line. */
static void a_line_without_an_end_is_not_read_past_it(void)
{
	static const char *const lines[] = { "f", "ffffffff81000000", "ffffffff81000000 ",
					     "ffffffff81000000 t", "ffffffff81000000 t " };
	size_t page = (size_t)getpagesize(), i;
	char *end =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct symbol_line line;

	CHECK(end != MAP_FAILED);
	end += page;
	CHECK_EQ(mprotect(end, page, PROT_NONE), 0);
	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		const char *at = memcpy(end - strlen(lines[i]), lines[i], strlen(lines[i]));

		CHECK(!symbol_line_next(&at, end, false, &line));
	}
	CHECK_EQ(munmap(end - page, 2 * page), 0);
}

TESTS(T(a_saved_file_hides_where_the_kernel_is), T(code_is_entered_after_an_incomplete_line),
      T(modules_are_saved_after_an_incomplete_line), T(the_loader_reads_lines_alike),
      T(images_have_digests_of_their_own), T(lines_are_taken_apart),
      T(module_lines_are_taken_apart), T(every_kernel_address_has_its_range),
      T(modules_alone_are_read_again), T(hidden_modules_start_with_their_first_symbol),
      T(code_outside_modules_reaches_a_little_past_its_symbols), T(addresses_of_zero_mean_hidden),
      T(no_kallsyms_is_an_error_that_names_it), T(saved_symbols_answer_by_key),
      T(code_that_comes_and_goes_keeps_its_place), T(addresses_of_old_files_take_no_place),
      T(lost_places_are_not_used_again), T(another_boot_adds_only_what_is_new),
      T(a_plain_copy_answers_for_the_kernel), T(the_running_kernel_is_read_with_its_modules),
      T(a_line_without_an_end_is_not_read_past_it))
