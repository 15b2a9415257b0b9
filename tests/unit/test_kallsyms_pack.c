/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The compressed file of a session with the symbols of kernel and modules. */
#include "test.h"

#include "base/log.h"
#include "symbol/kallsyms.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

static const char modules[] = "xfs 4096 1 - Live 0xffffffffc0100000\n";

static void put(const char *root, const char *file, const char *text)
{
	_cleanup_free_ char *path = path_join(root, file);

	CHECK_EQ(path_make_parents(path, 0755, NULL), 0);
	CHECK_EQ(path_write(path, text, 0644, NULL), 0);
}

/* A machine whose kernel has so many functions that packing makes a difference. */
static void put_machine(const char *root, const char *module_list)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	unsigned int i;

	strbuf_adds(&text, "ffffffff81000000 T _text\n");
	for (i = 1; i < 5000; i++)
		strbuf_addf(&text, "ffffffff810%05x t function_%u\n", i * 16, i);
	strbuf_adds(&text, "ffffffff81100000 T _etext\n"
			   "ffffffffc0100010 t xfs_read\t[xfs]\n"
			   "ffffffffc0200010 t nfs_read\t[nfs]\n");
	put(root, "proc/kallsyms", text.text);
	put(root, "proc/modules", module_list);
}

/* Saves the machine's symbols in the session called @name; caller frees its path of them. */
static char *save(const char *root, const char *name)
{
	_cleanup_free_ char *below = xasprintf("samples/%s/kallsyms", name);
	char *path = path_join(root, below);
	struct kallsyms_ranges r;

	CHECK_EQ(path_make_parents(path, 0755, NULL), 0);
	CHECK_EQ(kallsyms_ranges_read(root, &r, NULL), 0);
	CHECK_EQ(kallsyms_save(root, &r, "one", path, NULL), 0);
	kallsyms_ranges_done(&r);
	return path;
}

static struct stat packed_stat(const char *path)
{
	_cleanup_free_ char *packed = xasprintf("%s" KALLSYMS_PACKED, path);
	struct stat st = { 0 };

	CHECK_EQ(lstat(packed, &st), 0);
	return st;
}

/* Whether the saved symbols have the function at @key of the image. */
static bool has(const char *path, const char *name, uint64_t key, const char *function)
{
	_cleanup_(kallsyms_freep) struct kallsyms *k = NULL;
	const struct kallsyms_image *image;
	size_t i;

	image = kallsyms_load(path, &k, NULL) == 0 ? kallsyms_image(k, name) : NULL;
	for (i = 0; image && i < image->count; i++)
		if (image->symbols[i].address == image->start + key)
			return !strcmp(image->symbols[i].name, function);
	return false;
}

static void sessions_share_the_symbols_of_a_kernel(void)
{
	_cleanup_directory_ char *root = test_directory();
	_cleanup_free_ char *a, *b, *c, *gone = path_join(root, "samples/a");
	_cleanup_free_ char *samples = path_join(root, "samples");
	struct stat shared;
	uint64_t with_two, with_three;

	put_machine(root, modules);
	a = save(root, "a");
	CHECK_EQ(packed_stat(a).st_nlink, 1);
	b = save(root, "b");
	shared = packed_stat(b);
	CHECK_EQ(shared.st_nlink, 2);
	CHECK_EQ(shared.st_ino, packed_stat(a).st_ino);
	with_two = path_disk_bytes(samples, NULL, NULL);
	c = save(root, "c");
	/* The third has a directory and a line. */
	with_three = path_disk_bytes(samples, NULL, NULL);
	CHECK(with_three - with_two < (uint64_t)shared.st_blocks * 512);

	CHECK_EQ(path_remove_tree(gone, NULL), 0);
	CHECK_EQ(packed_stat(b).st_nlink, 2);
	CHECK(has(b, "", 16, "function_1") && has(b, "xfs", 0x10, "xfs_read"));
	CHECK(has(c, "", 0x1380 * 16, "function_4992"));
}

/* What is added to one session is not in the other, which had the same before. */
static void a_module_more_is_of_one_session(void)
{
	_cleanup_directory_ char *root = test_directory();
	_cleanup_free_ char *a, *b, *again;

	put_machine(root, modules);
	a = save(root, "a");
	b = save(root, "b");
	put(root, "proc/modules",
	    "nfs 4096 1 - Live 0xffffffffc0200000\nxfs 4096 1 - Live 0xffffffffc0100000\n");
	again = save(root, "b");
	CHECK_EQ(packed_stat(a).st_nlink, 1);
	CHECK_EQ(packed_stat(b).st_nlink, 1);
	CHECK(has(b, "nfs", 0x10, "nfs_read") && has(b, "xfs", 0x10, "xfs_read"));
	CHECK(has(b, "", 16, "function_1"));
	CHECK(!has(a, "nfs", 0x10, "nfs_read") && has(a, "xfs", 0x10, "xfs_read"));
}

/* Where another may write, the file might change. */
static void what_others_may_change_is_not_shared(void)
{
	_cleanup_directory_ char *root = test_directory();
	_cleanup_free_ char *a, *b, *packed = NULL;

	put_machine(root, modules);
	a = save(root, "a");
	packed = xasprintf("%s" KALLSYMS_PACKED, a);
	CHECK_EQ(chmod(packed, 0664), 0);
	b = save(root, "b");
	CHECK_EQ(packed_stat(b).st_nlink, 1);
	CHECK(has(b, "", 16, "function_1"));
}

/* Who may read a session may read its symbols. */
static void what_fewer_may_read_is_not_shared(void)
{
	_cleanup_directory_ char *root = test_directory();
	_cleanup_free_ char *a, *b, *c;
	mode_t before = umask(077);

	put_machine(root, modules);
	a = save(root, "a");
	(void)umask(022);
	b = save(root, "b");
	(void)umask(077);
	c = save(root, "c");
	(void)umask(before);
	CHECK_EQ(packed_stat(b).st_mode & 0777, 0644);
	CHECK_EQ(packed_stat(b).st_nlink, 1);
	CHECK_EQ(packed_stat(c).st_ino, packed_stat(a).st_ino);
}

/* A session of an earlier version has everything in the plain file, and goes on. */
static void a_plain_file_goes_on(void)
{
	_cleanup_directory_ char *root = test_directory();
	_cleanup_free_ char *a;

	put_machine(root, modules);
	put(root, "samples/a/kallsyms",
	    "# boot one\n# text ffffffff81000000 ffffffff81100000\n"
	    "ffffffff81000000 T _text\nffffffff81000010 t function_1\n");
	a = save(root, "a");
	CHECK(has(a, "", 16, "function_1"));
	CHECK(has(a, "xfs", 0x10, "xfs_read"));
	CHECK(packed_stat(a).st_size < 500);
}

static void check_refused(const char *path, const char *packed, size_t size, int expected)
{
	_cleanup_(kallsyms_freep) struct kallsyms *k = NULL;
	struct error err = ERROR_INIT;

	CHECK_EQ(truncate(packed, (off_t)size), 0);
	CHECK_EQ(kallsyms_load(path, &k, &err), expected);
	if (expected)
		CHECK(strstr(err.text, packed));
}

static void keep_text(enum log_level level, const char *text, void *data)
{
	(void)level;
	strbuf_adds(data, text);
}

/* A file that is cut anywhere but between two images is refused by name, and written again. */
static void a_damaged_file_is_named(void)
{
	_cleanup_directory_ char *root = test_directory();
	_cleanup_free_ char *a, *again, *packed = NULL;
	_cleanup_(strbuf_done) struct strbuf said = STRBUF_INIT;
	_cleanup_close_ int fd = -1;
	struct stat st;

	put_machine(root, modules);
	a = save(root, "a");
	packed = xasprintf("%s" KALLSYMS_PACKED, a);
	st = packed_stat(a);
	check_refused(a, packed, (size_t)st.st_size - 1, -EBADMSG);
	check_refused(a, packed, 1000, -EBADMSG);
	check_refused(a, packed, 20, -EBADMSG);
	again = save(root, "a");
	CHECK_EQ(packed_stat(a).st_size, st.st_size);
	CHECK(has(a, "", 16, "function_1"));
	/* In the lines: the checksum shows it. */
	fd = open(packed, O_WRONLY | O_CLOEXEC);
	CHECK_EQ(pwrite(fd, "\1\2\3\4", 4, 500), 4);
	log_to(LOG_LEVEL_WARNING, keep_text, &said);
	CHECK(!has(a, "", 16, "function_1"));
	CHECK(strstr(strbuf_text(&said), "a/kallsyms: the symbols of the kernel are damaged"));
	log_to(LOG_LEVEL_WARNING, NULL, NULL);
	CHECK(has(a, "xfs", 0x10, "xfs_read"));
}

static void put_bytes(const char *path, const struct strbuf *bytes)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	CHECK_EQ(write(fd, bytes->text, bytes->length), (ssize_t)bytes->length);
}

/* Adds an image whose lines, @size bytes, are all zeros. */
static void add_bomb(struct strbuf *to, const char *zeros, size_t size)
{
	size_t room = ZSTD_compressBound(size), packed_size;
	_cleanup_free_ char *packed = xmalloc(room);
	uint64_t header[5] = { 0, 0, 1, 0, htole64(size) };

	packed_size = ZSTD_compress(packed, room, zeros, size, 1);
	CHECK(!ZSTD_isError(packed_size));
	header[0] = htole64(ZSTD_MAGIC_SKIPPABLE_START | (uint64_t)32 << 32);
	header[3] = htole64(packed_size);
	strbuf_add(to, header, sizeof(header));
	strbuf_add(to, packed, packed_size);
}

/* A file of some kilobytes whose images unpack to more than a kernel has is refused before any is
 * unpacked. */
static void all_images_share_one_limit(void)
{
	enum { MAX = 64 << 20, MANY = 100 };
	_cleanup_directory_ char *root = test_directory();
	_cleanup_free_ char *path = path_join(root, "kallsyms"), *zeros = xcalloc(1, MAX),
			    *packed = xasprintf("%s" KALLSYMS_PACKED, path);
	_cleanup_(strbuf_done) struct strbuf bomb = STRBUF_INIT;
	struct error err = ERROR_INIT;
	size_t damaged;

	add_bomb(&bomb, zeros, MAX / 2);
	add_bomb(&bomb, zeros, MAX / 2);
	put_bytes(packed, &bomb);
	CHECK_EQ(kallsyms_check(path, &damaged, &err), 0);
	CHECK_EQ(damaged, 0);
	for (unsigned int i = 0; i < MANY; i++)
		add_bomb(&bomb, zeros, MAX / 64);
	put_bytes(packed, &bomb);
	CHECK_EQ(kallsyms_check(path, &damaged, &err), -EBADMSG);
}

TESTS(T(all_images_share_one_limit), T(sessions_share_the_symbols_of_a_kernel),
      T(a_module_more_is_of_one_session), T(what_others_may_change_is_not_shared),
      T(what_fewer_may_read_is_not_shared), T(a_plain_file_goes_on), T(a_damaged_file_is_named))
