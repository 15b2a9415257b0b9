/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "base/mem.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "sfile/manifest.h"
#include "sfile/sname.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct manifest_image libc = {
	.path = "/usr/lib/libc.so.6",
	.version.build_id = { .bytes = { 0xaa, 0xbb, 0xcc, 0xdd, 0xee }, .size = 5 },
	.version.size = 1926256,
	.version.mtime = 1700000000,
	.file.device = 254ULL << 32 | 1,
	.file.inode = 1234,
	.file.generation = 7,
};

static struct manifest *open_manifest(const char *dir)
{
	struct error err = ERROR_INIT;
	struct manifest *m = NULL;

	CHECK_EQ(manifest_open(dir, true, &m, &err), 0);
	return m;
}

static void two_files_of_one_path_have_two_names(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(manifest_closep) struct manifest *m = open_manifest(dir);
	struct manifest_image other = libc;
	struct error err = ERROR_INIT;

	other.version.build_id.bytes[0] = 0x11;
	other.file.inode = 99;
	CHECK_STR(manifest_name(m, &libc, &err), "/usr/lib/libc.so.6");
	CHECK_STR(manifest_name(m, &other, &err), "/usr/lib/libc.so.6#11bbccdd");
	CHECK_STR(manifest_name(m, &libc, &err), "/usr/lib/libc.so.6");
	CHECK_STR(manifest_name(m, &other, &err), "/usr/lib/libc.so.6#11bbccdd");
	CHECK(manifest_find(m, "/usr/lib/libc.so.6#11bbccdd"));
}

static void put_be32(uint8_t *bytes, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		bytes[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* A file at libc's path whose build-id begins with @digits; @number makes it unique. */
static struct manifest_image forge(uint32_t digits, uint32_t number)
{
	struct manifest_image image = libc;

	image.version.build_id.size = 20;
	put_be32(image.version.build_id.bytes, digits);
	put_be32(image.version.build_id.bytes + 4, number);
	return image;
}

static uint32_t digits_of(const char *name)
{
	const char *mark = strchr(name, '#');
	uint64_t digits = 0;

	CHECK(mark++);
	CHECK_EQ(parse_hex(&mark, &digits), 0);
	return (uint32_t)digits;
}

static void files_with_similar_build_ids_are_named_soon(void)
{
	enum { FILES = 20000 };
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(manifest_closep) struct manifest *m = open_manifest(dir);
	_cleanup_free_ uint32_t *digits = xcalloc(FILES, sizeof(*digits));
	struct manifest_image image;
	uint32_t i;

	CHECK_STR(manifest_name(m, &libc, NULL), libc.path);
	for (i = 0; i < FILES; i++) {
		image = forge(0x12345678, i);
		digits[i] = digits_of(manifest_name(m, &image, NULL));
	}
	CHECK_EQ(digits[0], 0x12345678);
	for (i = 0; i < FILES; i++) {
		image = forge(0x12345678, i);
		CHECK_EQ(digits_of(manifest_name(m, &image, NULL)), digits[i]);
	}
}

/* Forged files can take all names of another one. Then the search for its name ends. */
static void the_names_for_a_file_are_limited(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct manifest_image victim = forge(0x12345678, 0), taker;
	_cleanup_free_ uint32_t *taken = NULL;
	struct error err = ERROR_INIT;
	size_t count = 0, room = 0, i;
	bool ends = false;

	while (!ends && count < 1000) {
		_cleanup_free_ char *samples = xasprintf("%s/%zu", dir, count);
		_cleanup_(manifest_closep) struct manifest *m = NULL;
		const char *name;

		CHECK_EQ(path_make_dirs(samples, 0755, NULL), 0);
		m = open_manifest(samples);
		CHECK_STR(manifest_name(m, &libc, NULL), libc.path);
		for (i = 0; i < count; i++) {
			taker = forge(taken[i], 1);
			CHECK_EQ(digits_of(manifest_name(m, &taker, NULL)), taken[i]);
		}
		name = manifest_name(m, &victim, &err);
		ends = !name;
		array_grow(&taken, count + 1, &room);
		taken[count++] = name ? digits_of(name) : 0;
	}
	CHECK_EQ(count, 65);
	CHECK_STR(err.text,
		  "/usr/lib/libc.so.6: too many files of this path have similar build-ids");
}

static void a_build_id_decides_over_the_inode(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(manifest_closep) struct manifest *m = open_manifest(dir);
	struct manifest_image moved = libc;
	struct error err = ERROR_INIT;

	moved.file.inode = 4321;
	moved.version.mtime++;
	CHECK_STR(manifest_name(m, &libc, &err), "/usr/lib/libc.so.6");
	CHECK_STR(manifest_name(m, &moved, &err), "/usr/lib/libc.so.6");
}

static void without_build_ids_the_inode_decides(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(manifest_closep) struct manifest *m = open_manifest(dir);
	struct manifest_image a = libc, b, unknown = { .path = libc.path };
	struct error err = ERROR_INIT;
	const char *name;

	a.version.build_id.size = 0;
	b = a;
	b.file.inode = 5;
	CHECK_STR(manifest_name(m, &a, &err), a.path);
	CHECK_STR(manifest_name(m, &unknown, &err), a.path);
	name = manifest_name(m, &b, &err);
	CHECK(name && !strncmp(name, "/usr/lib/libc.so.6#", 19) && strlen(name) == 27);
}

static void without_build_id_ctime_tells_versions_apart(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(manifest_closep) struct manifest *m = open_manifest(dir);
	_cleanup_(manifest_closep) struct manifest *again = NULL;
	struct manifest_image a = libc, b;
	struct error err = ERROR_INIT;
	const char *name;

	a.version.build_id.size = 0;
	a.version.ctime_ns = 1700000000123456789;
	b = a;
	b.version.ctime_ns++;
	CHECK_STR(manifest_name(m, &a, &err), a.path);
	name = manifest_name(m, &b, &err);
	CHECK(name && !strncmp(name, "/usr/lib/libc.so.6#", 19));
	again = open_manifest(dir);
	CHECK_EQ(manifest_damaged(again), 0);
	CHECK_EQ(manifest_find(again, a.path)->version.ctime_ns, a.version.ctime_ns);
	CHECK_EQ(manifest_find(again, a.path)->version.mtime, a.version.mtime);
	CHECK_STR(manifest_name(again, &a, &err), a.path);
}

static void what_is_learnt_later_is_added(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(manifest_closep) struct manifest *m = open_manifest(dir);
	_cleanup_(manifest_closep) struct manifest *again = NULL;
	const struct manifest_image *found;
	struct manifest_image early = libc;
	struct error err = ERROR_INIT;

	early.version.build_id.size = 0;
	early.version.size = early.version.mtime = 0;
	CHECK_STR(manifest_name(m, &early, &err), libc.path);
	CHECK_STR(manifest_name(m, &libc, &err), libc.path);
	again = open_manifest(dir);
	found = manifest_find(again, libc.path);
	CHECK(found && build_id_equal(&found->version.build_id, &libc.version.build_id));
}

static void every_path_survives_the_file(void)
{
	static const char *const paths[] = { "/a b", "/tab\there",  "/new\nline", "/back\\slash\\n",
					     "-",    "/a#12345678", "/\xff\xfe" };
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(manifest_closep) struct manifest *m = open_manifest(dir);
	_cleanup_(manifest_closep) struct manifest *again = NULL;
	struct error err = ERROR_INIT;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		struct manifest_image image = libc;

		image.path = paths[i];
		CHECK_STR(manifest_name(m, &image, &err), paths[i]);
	}
	again = open_manifest(dir);
	CHECK_EQ(manifest_damaged(again), 0);
	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		const struct manifest_image *image = manifest_find(again, paths[i]);

		if (!CHECK(image))
			continue;
		CHECK_STR(image->path, paths[i]);
		CHECK(image->version.size == libc.version.size &&
		      image->version.mtime == libc.version.mtime &&
		      image->file.device == libc.file.device &&
		      image->file.inode == libc.file.inode &&
		      image->file.generation == libc.file.generation);
	}
}

static void where_the_host_has_it_survives_too(void)
{
	static const char *const hosts[] = { NULL, "", "/jail/usr/lib/libc\t.so.6" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(hosts); i++) {
		_cleanup_directory_ char *dir = test_directory();
		_cleanup_(manifest_closep) struct manifest *m = open_manifest(dir), *again = NULL;
		struct manifest_image image = libc;
		const struct manifest_image *read;

		image.host = hosts[i];
		(void)manifest_name(m, &image, NULL);
		again = open_manifest(dir);
		read = manifest_find(again, libc.path);
		if (CHECK(read && !read->host == !hosts[i]) && hosts[i])
			CHECK_STR(read->host, hosts[i]);
		CHECK_EQ(manifest_damaged(again), 0);
		/* Once it was seen, it is known. */
		image.host = "/seen";
		(void)manifest_name(again, &image, NULL);
		read = manifest_find(again, libc.path);
		CHECK_STR(read->host, hosts[i] && *hosts[i] ? hosts[i] : "/seen");
	}
}

static void damaged_lines_are_skipped_and_counted(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "images");
	_cleanup_(manifest_closep) struct manifest *m = NULL;
	struct error err = ERROR_INIT;

	CHECK_EQ(path_write(path,
			    "/a\t/a\tab12\t1\t2\t3:4:5:6\n"
			    "rubbish\n"
			    "/b\t/b\txyz\t1\t2\t3:4:5:6\n"
			    "/c\t/c\t-\t-\t-\t0:0:0\n"
			    "/d\\q\t/d\t-\t-\t-\t0:0:0:0\n"
			    "/e\t/e\t-\t-\t-\t0:0:0:0\n"
			    "/torn\t/to",
			    0644, &err),
		 0);
	m = open_manifest(dir);
	CHECK(manifest_find(m, "/a") && manifest_find(m, "/e"));
	CHECK(!manifest_find(m, "/b") && !manifest_find(m, "/c") && !manifest_find(m, "/d"));
	CHECK_EQ(manifest_damaged(m), 5);
	CHECK_STR(manifest_name(m, &libc, &err), libc.path);
	manifest_close(m);
	m = open_manifest(dir);
	CHECK(manifest_find(m, libc.path));
}

/* Cut anywhere, a line must not come back as a whole one with shorter numbers. */
static void a_torn_line_is_never_taken_for_a_whole_one(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "images");
	static const char whole[] = "/a\t/a\t-\t1\t2\t3:4:5:6\n";
	static const char torn[] = "/b\t/b\t-\t10\t20\t30:40:50:60";
	struct error err = ERROR_INIT;
	size_t n;

	for (n = 1; n < sizeof(torn); n++) {
		/* Long and short ones: a torn path can be longer than what is read at once. */
		_cleanup_free_ char *text =
			xasprintf("%s%.*s%*s", whole, (int)n, torn, n % 2 ? 0 : 1500, "");
		struct manifest *m;

		CHECK_EQ(path_write(path, text, 0644, &err), 0);
		manifest_close(open_manifest(dir));
		m = open_manifest(dir);
		CHECK(manifest_find(m, "/a") && !manifest_find(m, "/b"));
		CHECK_EQ(manifest_damaged(m), 0);
		manifest_close(m);
	}
}

static void rewriting_leaves_damaged_lines_out(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "images"), *text = NULL;
	static const char good[] = "/a\t/a\t-\t1\t2\t3:4:5:6\n/b\t/b\tabcd\t-\t-\t0:0:0:0\n";
	_cleanup_free_ char *damaged = xasprintf("/c\tcut\n%snonsense\n", good);
	_cleanup_(manifest_closep) struct manifest *m = NULL;
	struct error err = ERROR_INIT;

	CHECK_EQ(path_write(path, damaged, 0644, &err), 0);
	CHECK_EQ(manifest_open(dir, false, &m, &err), 0);
	CHECK_EQ(manifest_damaged(m), 2);
	CHECK_EQ(manifest_rewrite(m, &err), 0);
	CHECK(path_read(NULL, path, &text, &err) > 0);
	CHECK_STR(text, good);
}

static void a_write_that_fails_is_reported(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(manifest_closep) struct manifest *m = NULL;
	struct error err = ERROR_INIT;

	CHECK_EQ(manifest_open(dir, false, &m, &err), 0);
	CHECK(!manifest_name(m, &libc, &err));
	CHECK(strstr(err.text, dir));
	CHECK(!manifest_find(m, libc.path));
}

/* Checks that the sample files of @name for itself exist below a directory of 1000 bytes. */
static void check_fits(const char *name)
{
	struct sname s = { .app = { .name = (char *)name },
			   .image = { .name = (char *)name },
			   .event = (char *)"CPU_CLK_UNHALTED",
			   .has_callee = true,
			   .callee = { .name = (char *)name } };
	_cleanup_free_ char *file = sname_mangle(&s);
	const char *at = file;

	CHECK(strlen(file) < 4096 - 1000);
	for (; *at; at += strcspn(at, "/") + (at[strcspn(at, "/")] == '/'))
		CHECK(strcspn(at, "/") <= 255 - strlen("#12345678"));
}

static void any_path_of_a_process_has_a_name_that_fits(void)
{
	static const struct {
		const char *part;
		size_t count;
	} rows[] = { { "/directory", 400 }, { "/\xc3\xa4", 1200 }, { "x", 254 }, { "/x", 2000 } };
	_cleanup_directory_ char *dir = test_directory();
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(manifest_closep) struct manifest *m = open_manifest(dir);
		_cleanup_(strbuf_done) struct strbuf path = STRBUF_INIT, other = STRBUF_INIT;
		_cleanup_free_ char *name = NULL;
		struct manifest_image image = libc;

		strbuf_adds(&path, "/start");
		strbuf_adds(&path, rows[i].part[0] == '/' ? "" : "/");
		for (k = 0; k < rows[i].count; k++)
			strbuf_adds(&path, rows[i].part);
		strbuf_addf(&other, "/start/other%s", strbuf_text(&path) + 6);
		image.path = strbuf_text(&path);
		name = xstrdup(manifest_name(m, &image, NULL));
		check_fits(name);
		CHECK(!strncmp(name, "/start/", 7));
		CHECK_STR(manifest_find(m, name)->path, image.path);
		CHECK_STR(manifest_name(m, &image, NULL), name);
		image.version.build_id.bytes[0]++;
		CHECK(!strncmp(manifest_name(m, &image, NULL), name, strlen(name)));
		CHECK(strcmp(manifest_name(m, &image, NULL), name));
		check_fits(manifest_name(m, &image, NULL));
		image.path = strbuf_text(&other);
		CHECK(strcmp(manifest_name(m, &image, NULL), name));
	}
}

static void fifo_is_refused_at_once(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "images");
	struct error err = ERROR_INIT;
	struct manifest *m = NULL;

	CHECK_EQ(mkfifo(path, 0600), 0);
	(void)alarm(20); /* an open that waits must not hang the test */
	CHECK_EQ(manifest_open(dir, false, &m, &err), -EMEDIUMTYPE);
	CHECK(strstr(err.text, "/images: not a regular file"));
	CHECK_EQ(manifest_open(dir, true, &m, &err), -EMEDIUMTYPE);
	(void)alarm(0);
}

TESTS(T(files_with_similar_build_ids_are_named_soon), T(the_names_for_a_file_are_limited),
      T(two_files_of_one_path_have_two_names), T(where_the_host_has_it_survives_too),
      T(a_build_id_decides_over_the_inode), T(without_build_ids_the_inode_decides),
      T(without_build_id_ctime_tells_versions_apart), T(what_is_learnt_later_is_added),
      T(every_path_survives_the_file), T(damaged_lines_are_skipped_and_counted),
      T(a_torn_line_is_never_taken_for_a_whole_one), T(rewriting_leaves_damaged_lines_out),
      T(a_write_that_fails_is_reported), T(any_path_of_a_process_has_a_name_that_fits),
      T(fifo_is_refused_at_once))
