/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading numbers, times, options, and lines of the kernel. */
#include "test.h"

#include "base/opt.h"
#include "base/parse.h"
#include "base/text.h"
#include "file/procfs.h"

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
				   { 0, "wipe", OPT_FLAG, &flag, NULL, "wipe", NULL, true },
				   { 0, "drop", OPT_STRING, &word, "X", "drop X", NULL, true },
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
	struct opt_cmdline plain = { .tool = "t" }, stop = { .tool = "t", .stop_at_operand = true },
			   acts = { .tool = "t", .acts = true };
	struct error err = ERROR_INIT;

	CHECK_EQ(parse(plain, &err, "t a --number=5 -f"), 3);
	CHECK(flag && number == 5);
	CHECK_EQ(parse(stop, &err, "t -f cmd --flg"), 2);
	CHECK_EQ(parse(plain, &err, "t --flog"), -EINVAL);
	CHECK_STR(err.text, "unknown option '--flog'; did you mean '--flag'?");
	/* Three letters of four are another option. */
	CHECK_EQ(parse(plain, &err, "t --fold"), -EINVAL);
	CHECK_STR(err.text, "unknown option '--fold'");
	CHECK_EQ(parse(plain, &err, "t --wipee"), -EINVAL);
	CHECK_STR(err.text, "unknown option '--wipee'");
	CHECK_EQ(parse(acts, &err, "t -V"), OPT_VERSION);
	CHECK_EQ(parse(acts, &err, "t -V -f"), -EINVAL);
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

static void options_that_destroy_are_written_in_full(void)
{
	static const char *const refused[] = { "t --wip", "t --dro=x", "t --dro x",
					       "t --dro --drop" };
	struct opt_cmdline plain = { .tool = "t" };
	struct error err = ERROR_INIT;
	size_t i;

	CHECK_EQ(parse(plain, &err, "t --wipe"), 2);
	CHECK(flag);
	CHECK_EQ(parse(plain, &err, "t --drop=x"), 2);
	CHECK_EQ(parse(plain, &err, "t --drop --dro"), 3);
	CHECK_EQ(parse(plain, &err, "t --num=7"), 2);
	CHECK_EQ(number, 7);
	for (i = 0; i < ARRAY_SIZE(refused); i++)
		CHECK_EQ(parse(plain, &err, refused[i]), -EINVAL);
	CHECK_EQ(parse(plain, &err, "t --dro=x"), -EINVAL);
	CHECK_STR(err.text,
		  "option '--dro': '--drop' is not accepted abbreviated; write it in full");
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

TESTS(T(numbers_are_whole_strings_in_range), T(sizes_take_units),
      T(octal_numbers_end_where_digits_do), T(decimal_numbers_end_where_digits_do),
      T(signed_numbers_reach_both_ends), T(maps_lines_parse), T(options_come_from_the_table),
      T(options_that_destroy_are_written_in_full), T(numbers_are_written_as_printf_does),
      T(a_length_of_time_has_two_units), T(stat_lines_parse_whatever_the_name),
      T(mount_lines_parse_with_blanks_in_names))
