/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "base/arena.h"
#include "base/build_id.h"
#include "base/hash.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/opt.h"
#include "base/parallel.h"
#include "base/parse.h"
#include "base/procfs.h"
#include "base/radix.h"
#include "base/span.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>

static void numbers_are_whole_strings_in_range(void)
{
	static const struct {
		const char *text;
		int r;
		uint64_t value;
	} rows[] = {
		{ "0", 0, 0 },
		{ "4294967295", 0, 4294967295 },
		{ "0x10", 0, 16 },
		{ "18446744073709551615", 0, UINT64_MAX },
		{ "18446744073709551616", -ERANGE, 0 },
		{ "", -EINVAL, 0 },
		{ "-1", -EINVAL, 0 },
		{ "7 ", -EINVAL, 0 },
		{ "0x", -EINVAL, 0 },
		{ "0x11112222333344445", -EINVAL, 0 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t value = 0;

		if (parse_u64(rows[i].text, 0, UINT64_MAX, &value) != rows[i].r ||
		    value != rows[i].value) {
			printf("# row \"%s\"\n", rows[i].text);
			CHECK(false);
		}
	}
}

static void sizes_take_units(void)
{
	static const struct {
		const char *text;
		int r;
		uint64_t size;
	} rows[] = {
		{ "0", 0, 0 },
		{ "4096", 0, 4096 },
		{ "64K", 0, 65536 },
		{ "32M", 0, 32 << 20 },
		{ "2G", 0, 2LL << 30 },
		{ "3T", 0, 3LL << 40 },
		{ "18446744073709551615", 0, UINT64_MAX },
		{ "16777215T", 0, 16777215ULL << 40 },
		{ "16777216T", -ERANGE, 0 },
		{ "18446744073709551616", -ERANGE, 0 },
		{ "", -EINVAL, 0 },
		{ "K", -EINVAL, 0 },
		{ "2KB", -EINVAL, 0 },
		{ "2k", -EINVAL, 0 },
		{ "2 K", -EINVAL, 0 },
		{ "-1", -EINVAL, 0 },
		{ "1.5G", -EINVAL, 0 },
		{ "0x10", -EINVAL, 0 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t size = 0;

		if (!CHECK(parse_size(rows[i].text, &size) == rows[i].r && size == rows[i].size))
			printf("# row \"%s\"\n", rows[i].text);
	}
}

static void octal_numbers_end_where_digits_do(void)
{
	const char *mode = "0758", *none = "8", *large = "7777777777777777777777";
	uint64_t bits = 0;

	CHECK_EQ(parse_octal(&mode, &bits), 0);
	CHECK(bits == 075 && !strcmp(mode, "8"));
	CHECK_EQ(parse_octal(&none, &bits), -EINVAL);
	CHECK_EQ(parse_octal(&large, &bits), -ERANGE);
}

/* The point is one in each locale; a number that is refused leaves the text where it was. */
static void decimal_numbers_end_where_digits_do(void)
{
	static const struct {
		const char *text;
		int r;
		double value;
		const char *rest;
	} rows[] = {
		{ "12.50%", 0, 12.5, "%" },
		{ "0", 0, 0, "" },
		{ "007", 0, 7, "" },
		{ "0.001", 0, 0.001, "" },
		{ "1e9", 0, 1, "e9" },
		{ "1,5", 0, 1, ",5" },
		{ "1.2.3", 0, 1.2, ".3" },
		{ "", -EINVAL, 0, "" },
		{ ".5", -EINVAL, 0, ".5" },
		{ "3.", -EINVAL, 0, "3." },
		{ "3.x", -EINVAL, 0, "3.x" },
		{ " 5", -EINVAL, 0, " 5" },
		{ "-1", -EINVAL, 0, "-1" },
		{ "+1", -EINVAL, 0, "+1" },
		{ "inf", -EINVAL, 0, "inf" },
		{ "nan", -EINVAL, 0, "nan" },
		{ "99999999999999999999", -ERANGE, 0, "99999999999999999999" },
		{ "0.99999999999999999999", -ERANGE, 0, "0.99999999999999999999" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *at = rows[i].text;
		double value = 0;

		if (!CHECK(parse_decimal(&at, &value) == rows[i].r && value == rows[i].value &&
			   !strcmp(at, rows[i].rest)))
			printf("# row \"%s\": %g, then \"%s\"\n", rows[i].text, value, at);
	}
}

static void signed_numbers_reach_both_ends(void)
{
	int64_t value = 0;

	CHECK_EQ(parse_i64("-9223372036854775808", INT64_MIN, INT64_MAX, &value), 0);
	CHECK(value == INT64_MIN);
	CHECK_EQ(parse_i64("-2147483648", INT32_MIN, INT32_MAX, &value), 0);
	CHECK_EQ(parse_i64("2147483648", INT32_MIN, INT32_MAX, &value), -ERANGE);
}

static void map_finds_all_after_removals(void)
{
	struct map m = MAP_INIT;
	uintptr_t i;

	for (i = 1; i <= 1000; i++)
		CHECK(!map_set(&m, i * 16, (void *)i));
	for (i = 1; i <= 1000; i += 3)
		CHECK(map_remove(&m, i * 16) == (void *)i);
	for (i = 1; i <= 1000; i++)
		CHECK(map_get(&m, i * 16) == (i % 3 == 1 ? NULL : (void *)i));
	CHECK_EQ(m.count, 666);
	map_done(&m);
	CHECK(!map_get(&m, 16));
}

/* The values that the map has of @key, newest first, as digits. */
static uintptr_t values_of(const struct map *m, uint64_t key)
{
	uintptr_t value, all = 0;

	map_for_each_of(m, key, value) all = all * 10 + value;
	return all;
}

static void a_key_of_the_map_has_several_values(void)
{
	struct map m = MAP_INIT;
	uintptr_t i;

	CHECK_EQ(values_of(&m, 7), 0);
	for (i = 1; i <= 3; i++)
		map_add(&m, 7, (void *)i);
	CHECK_EQ(values_of(&m, 7), 321);
	CHECK(map_get(&m, 7) == (void *)3);
	CHECK(map_remove_value(&m, 7, (void *)2));
	CHECK(!map_remove_value(&m, 7, (void *)2));
	CHECK_EQ(values_of(&m, 7), 31);
	CHECK_EQ(m.count, 2);
	CHECK(map_set(&m, 7, (void *)4) == (void *)3);
	CHECK_EQ(values_of(&m, 7), 41);
	CHECK(map_remove(&m, 7) == (void *)4);
	CHECK_EQ(values_of(&m, 7), 1);
	map_done(&m);
}

static void values_of_a_key_keep_their_order_as_the_map_grows(void)
{
	struct map m = MAP_INIT;
	uintptr_t i;

	for (i = 1; i <= 4; i++)
		for (uint64_t key = 0; key < 500; key++)
			map_add(&m, key, (void *)i);
	for (uint64_t key = 0; key < 500; key += 2)
		CHECK(map_remove_value(&m, key, (void *)3));
	for (uint64_t key = 0; key < 500; key++)
		CHECK_EQ(values_of(&m, key), key % 2 ? 4321 : 421);
	map_done(&m);
}

static void span_never_leaves_its_bytes(void)
{
	static const uint8_t bytes[] = { 1, 0, 0, 0, 'a', 0, 'b' };
	struct span s = span_of(bytes, sizeof(bytes));
	uint32_t word;
	uint64_t quad;

	CHECK_EQ(span_u32(&s, &word), 0);
	CHECK_EQ(word, 1);
	CHECK_EQ(span_u64(&s, &quad), -EBADMSG);
	CHECK_STR(span_string(&s), "a");
	CHECK(!span_string(&s));
	CHECK_EQ(s.left, 1);
	CHECK_EQ(get_le64("\1\2\3\4\5\6\7\10"), 0x0807060504030201);
}

static void maps_lines_parse(void)
{
	char file[] =
		"7f0000-7f1000 r-xp 00002000 fe:01 1234                /usr/lib/a b.so (deleted)\n";
	char anon[] = "7f0000-7f1000 rwxp 00000000 00:00 0 \n";
	char bad[] = "7f0000 r-xp";
	struct maps_line m;

	CHECK_EQ(maps_line_parse(file, &m), 0);
	CHECK(m.start == 0x7f0000 && m.end == 0x7f1000 && m.offset == 0x2000 && m.executable);
	CHECK(m.major == 0xfe && m.minor == 1 && m.inode == 1234);
	CHECK_STR(m.path, "/usr/lib/a b.so (deleted)");
	CHECK_EQ(maps_line_parse(anon, &m), 0);
	CHECK_STR(m.path, "");
	CHECK_EQ(maps_line_parse(bad, &m), -EBADMSG);
}

static bool flag;
static const char *word;
static uint64_t number;
static const struct opt opts[] = { { 'f', "flag", OPT_FLAG, &flag, NULL, "set the flag", NULL },
				   { 'w', "word", OPT_STRING, &word, "WORD", "take a word", NULL },
				   { 0, "number", OPT_U64, &number, "N", "take a number", NULL },
				   { 0, "path", OPT_PATH, &word, "FILE", "take a path", NULL },
				   OPT_END };

static int parse(struct opt_cmdline cmdline, struct error *err, const char *line)
{
	_cleanup_free_ char *copy = xstrdup(line);
	char *argv[16] = { 0 };
	int argc = 0;

	flag = false;
	word = NULL;
	cmdline.opts = opts;
	for (char *part = strtok(copy, " "); part; part = strtok(NULL, " "))
		argv[argc++] = part;
	return opt_parse(&cmdline, argc, argv, err);
}

static void options_come_from_the_table(void)
{
	struct opt_cmdline plain = { .tool = "t" }, stop = { .tool = "t", .stop_at_operand = true };
	struct error err = ERROR_INIT;

	CHECK_EQ(parse(plain, &err, "t a --number=5 -f"), 3);
	CHECK(flag && number == 5);
	CHECK_EQ(parse(stop, &err, "t -f cmd --flg"), 2);
	CHECK_EQ(parse(plain, &err, "t --flog"), -EINVAL);
	CHECK_STR(err.text, "unknown option '--flog'; did you mean '--flag'?");
	/* Three letters of four are another option. */
	CHECK_EQ(parse(plain, &err, "t --fold"), -EINVAL);
	CHECK_STR(err.text, "unknown option '--fold'");
	CHECK_EQ(parse(plain, &err, "t --number=x"), -EINVAL);
	CHECK_STR(err.text, "--number: 'x' is not a number");
	CHECK_EQ(parse(plain, &err, "t -x"), -EINVAL);
	CHECK_STR(err.text, "unknown option '-x'");
	CHECK_EQ(parse(plain, &err, "t --word"), -EINVAL);
	CHECK_EQ(parse(plain, &err, "t --word= "), 2);
	CHECK_EQ(parse(plain, &err, "t --path= "), -EINVAL);
	CHECK_STR(err.text, "--path: an empty name");
	CHECK_EQ(parse(plain, &err, "t --help"), OPT_HELP);
	CHECK_EQ(parse(plain, &err, "t -h"), OPT_HELP);
	CHECK_EQ(parse(plain, &err, "t -?"), OPT_HELP);
}

static void build_ids_survive_the_text_form(void)
{
	struct build_id id = { .bytes = { 0xde, 0xad, 0x01 }, .size = 3 }, back = { 0 };
	char text[BUILD_ID_TEXT];

	CHECK_STR(build_id_text(&id, text), "dead01");
	CHECK_EQ(build_id_parse(text, &back), 0);
	CHECK(build_id_equal(&id, &back));
	CHECK_EQ(build_id_parse("abc", &back), -EINVAL);
	CHECK_EQ(build_id_parse("zz", &back), -EINVAL);
	CHECK(!build_id_equal(&(struct build_id){ 0 }, &(struct build_id){ 0 }));
}

static void files_are_written_whole(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "a/b/c"), *text = NULL;
	struct error err = ERROR_INIT;

	CHECK_EQ(path_write(path, "x", 0600, &err), -ENOENT);
	CHECK_EQ(path_make_parents(path, 0755, &err), 0);
	CHECK_EQ(path_write(path, "one\n", 0600, &err), 0);
	CHECK_EQ(path_write(path, "two\n", 0600, &err), 0);
	CHECK_EQ(path_read(dir, "/a/b/c", &text, &err), 4);
	CHECK_STR(text, "two\n");
}

static void long_errors_end_in_dots(void)
{
	struct error err = ERROR_INIT;
	char text[3000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	CHECK_EQ(error_set(&err, -EIO, "%s", text), -EIO);
	CHECK_EQ(strlen(err.text), sizeof(err.text) - 1);
	CHECK_STR(err.text + sizeof(err.text) - 4, "...");
}

static void numbers_are_written_as_printf_does(void)
{
	static const uint64_t values[] = {
		0, 9, 10, 15, 16, 255, UINT32_MAX, 1ULL << 32, UINT64_MAX
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		char expect[32], text[32] = "";

		(void)snprintf(expect, sizeof(expect), "%" PRIu64, values[i]);
		text[text_dec(values[i], text)] = '\0';
		CHECK_STR(text, expect);
		(void)snprintf(expect, sizeof(expect), "%" PRIx64, values[i]);
		text[text_hex(values[i], 1, text)] = '\0';
		CHECK_STR(text, expect);
		(void)snprintf(expect, sizeof(expect), "%08" PRIx64, values[i]);
		text[text_hex(values[i], 8, text)] = '\0';
		CHECK_STR(text, expect);
	}
}

static void text_wraps_at_blanks(void)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;

	text_wrap(&b, "one two three", 2, 9);
	CHECK_STR(strbuf_text(&b), "one two\n  three\n");
	CHECK_EQ(text_distance("symbls", "symbols"), 1);
}

static void control_characters_become_visible(void)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;

	text_visible(&b, "");
	CHECK_STR(strbuf_text(&b), "");
	text_visible(&b, "a\x1b[31m\n\x7f \xc3\xbc\xc2\x9b\xc2\xa0\xff");
	CHECK_STR(strbuf_text(&b), "a\\x1b[31m\\x0a\\x7f \xc3\xbc\\xc2\\x9b\xc2\xa0\xff");
	CHECK_EQ(text_width("\xc3\xbc\xe2\x82\xac!"), 3);
	strbuf_clear(&b);
	/* A terminal of 8 bits obeys 0x9b; in U+1F41B and after a lead byte that is cut short. */
	text_visible(&b, "\x9b\x33m \xf0\x9f\x90\x9b \xe2\x9bx");
	CHECK_STR(strbuf_text(&b), "\\x9b3m \xf0\x9f\x90\x9b \xe2\\x9bx");
}

static void lines_keep_tabs_and_their_end(void)
{
	static const struct {
		const char *line;
		size_t size;
		const char *visible;
	} rows[] = {
		{ "", 0, "" },
		{ "\tif (a)\t/* b */", 15, "\tif (a)\t/* b */" },
		{ "a\rb\r", 4, "a\\x0db\r" },
		{ "\t\x1b]0;title\a\t", 12, "\t\\x1b]0;title\\x07\t" },
		{ "a\0b\0", 4, "a\\x00b\\x00" },
		{ "cut here", 3, "cut" },
	};
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		strbuf_clear(&b);
		text_visible_line(&b, rows[i].line, rows[i].size);
		CHECK_STR(strbuf_text(&b), rows[i].visible);
	}
}

/* The fast way looks at eight bytes at a time: each byte at each place must be seen. */
static void a_length_of_time_has_two_units(void)
{
	static const struct {
		uint64_t seconds;
		const char *text;
	} rows[] = {
		{ 0, "" },
		{ 1, "1 s" },
		{ 119, "1 min 59 s" },
		{ 3600, "1 h" },
		{ 3605, "1 h" },
		{ 86400 + 7260, "1 day 2 h" },
		{ 30 * 86400, "30 days" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *text = text_duration(rows[i].seconds);

		CHECK_STR(text, rows[i].text);
	}
}

static void one_control_character_anywhere_is_seen(void)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	unsigned int byte, at;

	for (byte = 1; byte < 256; byte++) {
		for (at = 0; at < 19; at++) {
			bool control = byte < 0x20 || byte == 0x7f || (byte >= 0x80 && byte < 0xa0);
			char text[20] = "abcdefghijklmnopqrs", want[24];

			text[at] = (char)byte;
			strbuf_clear(&b);
			text_visible(&b, text);
			(void)snprintf(want, sizeof(want), control ? "%.*s\\x%02x%s" : "%.*s%c%s",
				       (int)at, text, byte, text + at + 1);
			CHECK_STR(strbuf_text(&b), want);
		}
	}
}

static void strings_take_numbers_and_formats_of_any_length(void)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	char want[400];

	strbuf_addu(&b, 0);
	strbuf_addu(&b, UINT64_MAX);
	CHECK_STR(strbuf_text(&b), "018446744073709551615");
	strbuf_cut(&b, 1);
	strbuf_addf(&b, "%s%300d", "x", 7);
	(void)snprintf(want, sizeof(want), "0x%300d", 7);
	CHECK_STR(strbuf_text(&b), want);
	CHECK_EQ(b.length, 302);
	strbuf_clear(&b);
	strbuf_addx(&b, 0, 0);
	strbuf_fill(&b, '-', 3);
	strbuf_addx(&b, 0xabc, 8);
	strbuf_addx(&b, UINT64_MAX, 2);
	CHECK_STR(strbuf_text(&b), "0---00000abcffffffffffffffff");
}

static void entries_are_sorted_and_stay_in_order(void)
{
	static const size_t counts[] = { 0, 1, 2, 48, 49, 5000 };
	struct radix_entry entries[5000], spare[5000];
	size_t row, i;

	for (row = 0; row < ARRAY_SIZE(counts); row++) {
		size_t n = counts[row];

		for (i = 0; i < n; i++)
			entries[i] = (struct radix_entry){ hash_u64(i) >> (i % 3 ? 54 : 0), i };
		radix_sort(entries, spare, n);
		for (i = 1; i < n; i++) {
			struct radix_entry *a = &entries[i - 1], *b = &entries[i];

			if (!CHECK(a->key < b->key || (a->key == b->key && a->value < b->value)))
				return;
		}
		for (i = 0; i < n; i++)
			CHECK_EQ(entries[i].key,
				 hash_u64(entries[i].value) >> (entries[i].value % 3 ? 54 : 0));
	}
}

static void mark_done(size_t i, unsigned int thread, void *data)
{
	unsigned char *done = data;

	CHECK(thread < parallel_threads());
	done[i]++;
}

static void parallel_work_is_done_once(void)
{
	unsigned char done[10000] = { 0 };
	size_t i, wrong = 0;

	parallel_each(0, mark_done, done);
	parallel_each(1, mark_done, done + 9999);
	parallel_each(9999, mark_done, done);
	for (i = 0; i < ARRAY_SIZE(done); i++)
		wrong += done[i] != 1;
	CHECK_EQ(wrong, 0);
}

static void joined_arenas_keep_both(void)
{
	struct arena a = ARENA_INIT, b = ARENA_INIT;
	const char *one, *two, *three;

	arena_join(&a, &b);
	one = arena_strdup(&b, "one");
	arena_join(&a, &b);
	two = arena_strdup(&b, "two");
	(void)arena_alloc(&b, 1 << 20);
	arena_join(&a, &b);
	three = arena_strdup(&a, "three");
	CHECK(!b.blocks);
	CHECK_STR(one, "one");
	CHECK_STR(two, "two");
	CHECK_STR(three, "three");
	arena_done(&a);
}

static void absolute_paths_have_no_dots(void)
{
	static const char *const rows[][2] = {
		{ "/a/b", "/a/b" },	  { "/./a//b/./c", "/a/b/c" }, { "/", "/" },
		{ "/a/../b", "/a/../b" }, { "/a/.b/c.", "/a/.b/c." },  { "/a/", "/a" },
	};
	_cleanup_free_ char *cwd = getcwd(NULL, 0), *below = path_join(cwd, "x/y");
	_cleanup_free_ char *relative = path_absolute("./x//y");
	size_t i;

	CHECK_STR(relative, below);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *got = path_absolute(rows[i][0]);

		CHECK_STR(got, rows[i][1]);
	}
}

static void arenas_keep_what_they_gave(void)
{
	struct arena a = ARENA_INIT;
	const char *texts[5000];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		uint64_t *aligned = arena_alloc(&a, sizeof(*aligned));

		CHECK_EQ((uintptr_t)aligned % _Alignof(max_align_t), 0);
		*aligned = UINT64_MAX;
		texts[i] = arena_strndup(&a, "0123456789012345678901234567890123456789", i % 40);
	}
	memset(arena_alloc(&a, 1 << 20), 0xff, 1 << 20);
	for (i = 0; i < ARRAY_SIZE(texts); i++)
		CHECK_EQ(strlen(texts[i]), i % 40);
	arena_done(&a);
	CHECK_STR(arena_strdup(&a, ""), "");
	arena_done(&a);
}

static void stat_lines_parse_whatever_the_name(void)
{
	struct procfs_stat st;

	CHECK_EQ(procfs_stat_parse("2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 24 "
				   "0 0 18446744073709551615 0\n",
				   &st),
		 0);
	CHECK(st.state == 'S' && st.parent == 0 && st.kernel_thread && st.threads == 1);
	CHECK_EQ(procfs_stat_parse("77 (a) Z (b c) R 5 77 77 0 -1 4194560 99 0 1 0 0 0 0 0 20 0 12 "
				   "0 33 31 358",
				   &st),
		 0);
	CHECK(st.state == 'R' && st.parent == 5 && !st.kernel_thread && st.threads == 12);
	CHECK_EQ(procfs_stat_parse("77 (cut) R 5 77", &st), -EBADMSG);
	CHECK_EQ(procfs_stat_parse("", &st), -EBADMSG);
}

static void mount_lines_parse_with_blanks_in_names(void)
{
	char plain[] = "36 35 8:1 / /mnt/a\\040b\\134c rw master:1 shared:2 - ext4 /dev/sda rw,x\n";
	char bare[] = "22 1 0:45 /box / ro - overlay overlay ro,lowerdir=/l\\040m:/n";
	static const char *const bad[] = { "", "36 35 8:1 / /mnt rw master:1 ext4 /dev/sda rw",
					   "36 35 8 / /mnt rw - ext4 /dev/sda rw",
					   "36 35 8:1 / /mnt rw - ext4 /dev/sda" };
	struct mount_line m;
	size_t i;

	CHECK_EQ(mount_line_parse(plain, &m), 0);
	CHECK(m.major == 8 && m.minor == 1);
	CHECK_STR(m.root, "/");
	CHECK_STR(m.point, "/mnt/a b\\c");
	CHECK_STR(m.type, "ext4");
	CHECK_STR(m.options, "rw,x");
	CHECK_EQ(mount_line_parse(bare, &m), 0);
	CHECK_STR(m.root, "/box");
	CHECK_STR(m.point, "/");
	CHECK_STR(m.options, "ro,lowerdir=/l m:/n");
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_free_ char *line = xstrdup(bad[i]);

		if (!CHECK(mount_line_parse(line, &m) == -EBADMSG))
			printf("# %s\n", bad[i]);
	}
}

static void utf8_is_distinguished_from_other_bytes(void)
{
	static const struct {
		const char *text;
		bool is;
	} rows[] = {
		{ "", true },
		{ "a/b", true },
		{ "\xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80", true },
		{ "\xed\x9f\xbf \xee\x80\x80 \xf4\x8f\xbf\xbf", true },
		{ "\xfc", false },
		{ "\x80", false },
		{ "\xc3", false },
		{ "\xc0\xaf", false },
		{ "\xe2\x82", false },
		{ "\xe0\x80\xaf", false },
		{ "\xed\xa0\x80", false },
		{ "\xf0\x80\x80\x80", false },
		{ "\xf4\x90\x80\x80", false },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (!CHECK(text_is_utf8(rows[i].text) == rows[i].is))
			printf("# row %zu\n", i);
}

static void words_are_quoted_for_a_shell(void)
{
	static const char *const rows[][2] = { { "/a/b-c.d_e:f=g", "/a/b-c.d_e:f=g" },
					       { "image:a b", "'image:a b'" },
					       { "$(x);*", "'$(x);*'" },
					       { "it's", "'it'\\''s'" },
					       { "", "''" } };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;

		text_shell_word(&b, rows[i][0]);
		CHECK_STR(strbuf_text(&b), rows[i][1]);
	}
}

static void long_text_is_cut_by_characters(void)
{
	static const struct {
		const char *text;
		unsigned int width;
		const char *expect;
	} rows[] = {
		{ "main", 4, "main" },
		{ "mainly", 5, "ma..." },
		{ "main", 3, "..." },
		{ "\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc", 4, "\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc" },
		{ "\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc", 4, "\xc3\xbc..." },
		{ "\xff\xff\xff\xff\xff", 4, "\xff..." },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;

		strbuf_adds(&b, "longer before");
		strbuf_adds(&b, rows[i].text);
		text_cut(&b, strlen("longer before"), rows[i].width);
		CHECK_STR(strbuf_text(&b) + strlen("longer before"), rows[i].expect);
	}
}

static void equal_strings_become_one(void)
{
	struct intern names = INTERN_INIT;
	char copy[] = "memcpy";
	const char *first = intern(&names, "memcpy");
	unsigned int i;

	CHECK(!intern(&names, NULL));
	CHECK(first != copy && intern(&names, copy) == first);
	CHECK(intern(&names, "memcp") != first);
	for (i = 0; i < 10000; i++) {
		_cleanup_free_ char *other = xasprintf("%u", i);

		CHECK_STR(intern(&names, other), other);
	}
	copy[0] = 'M';
	CHECK_STR(first, "memcpy");
	CHECK(intern(&names, "memcpy") == first);
	intern_done(&names);
}

TESTS(T(a_length_of_time_has_two_units), T(equal_strings_become_one),
      T(mount_lines_parse_with_blanks_in_names), T(utf8_is_distinguished_from_other_bytes),
      T(stat_lines_parse_whatever_the_name), T(numbers_are_whole_strings_in_range),
      T(sizes_take_units), T(octal_numbers_end_where_digits_do),
      T(decimal_numbers_end_where_digits_do), T(signed_numbers_reach_both_ends),
      T(map_finds_all_after_removals), T(a_key_of_the_map_has_several_values),
      T(values_of_a_key_keep_their_order_as_the_map_grows), T(span_never_leaves_its_bytes),
      T(maps_lines_parse), T(options_come_from_the_table), T(build_ids_survive_the_text_form),
      T(files_are_written_whole), T(long_errors_end_in_dots), T(text_wraps_at_blanks),
      T(control_characters_become_visible), T(lines_keep_tabs_and_their_end),
      T(absolute_paths_have_no_dots), T(arenas_keep_what_they_gave),
      T(one_control_character_anywhere_is_seen), T(strings_take_numbers_and_formats_of_any_length),
      T(entries_are_sorted_and_stay_in_order), T(parallel_work_is_done_once),
      T(joined_arenas_keep_both), T(numbers_are_written_as_printf_does),
      T(long_text_is_cut_by_characters), T(words_are_quoted_for_a_shell))
