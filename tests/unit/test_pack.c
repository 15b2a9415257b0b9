/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/profile/compact/pack.c, unpack.c and pack_format.c: what is put in comes out, and what no
 * writer writes is refused by name. */
#include "test.h"

#include "base/strbuf.h"
#include "profile/compact/pack.h"
#include "profile/compact/internal/pack_format.h"

#include <errno.h>
#include <sys/stat.h>
#include <zstd.h>

/* A directory with a pack to be and a place to unpack to. */
struct places {
	char *directory, *pack, *out;
};

static struct places places_new(void)
{
	struct places p = { .directory = test_directory() };

	p.pack = path_join(p.directory, "kept.oparc");
	p.out = path_join(p.directory, "out");
	CHECK_EQ(mkdir(p.out, 0700), 0);
	return p;
}

static void places_done(struct places *p)
{
	test_directory_donep(&p->directory);
	free(p->pack);
	free(p->out);
}

/* Writes @size bytes, compressed, as the pack. */
static void write_compressed(const struct places *p, const void *bytes, size_t size)
{
	size_t room = ZSTD_compressBound(size);
	_cleanup_free_ char *compressed = xmalloc(room);
	_cleanup_fclose_ FILE *f = fopen(p->pack, "we");

	room = ZSTD_compress(compressed, room, bytes, size, 3);
	CHECK(!ZSTD_isError(room) && f && fwrite(compressed, 1, room, f) == room);
}

static void add_entry(struct strbuf *tar, const char *name, int kind, uint64_t size,
		      const char *content)
{
	static const char zeros[PACK_BLOCK];
	char block[PACK_BLOCK];

	pack_format_header(name, kind, size, 1600000000, block);
	strbuf_add(tar, block, sizeof(block));
	strbuf_adds(tar, content);
	strbuf_add(tar, zeros, pack_format_padded(strlen(content)) - strlen(content));
}

static void add_end(struct strbuf *tar)
{
	static const char zeros[2 * PACK_BLOCK];

	strbuf_add(tar, zeros, sizeof(zeros));
}

static void what_is_packed_comes_out_with_its_time(void)
{
	_cleanup_(places_done) struct places p = places_new();
	_cleanup_(pack_writer_freep) struct pack_writer *w = NULL;
	_cleanup_free_ char *zeros = xcalloc(1, 3 << 20), *text = NULL, *name = NULL, *path = NULL;
	struct error err = ERROR_INIT;
	struct stat st = { 0 };

	name = xasprintf("a/%0200d/{root}/b", 7);
	path = path_join(p.out, name);
	CHECK_EQ(pack_create(p.pack, &w, &err), 0);
	CHECK_EQ(pack_add(w, name, "hello", 5, 1234567890, &err), 0);
	CHECK_EQ(pack_add(w, "zeros", zeros, 3 << 20, 0, &err), 0);
	CHECK_EQ(pack_add(w, "empty", NULL, 0, 0, &err), 0);
	CHECK_EQ(pack_add_file(w, "status", "/proc/self/status", 0, 0, &err), 0);
	CHECK_EQ(pack_finish(w, &err), 0);
	CHECK_EQ(pack_unpack(p.pack, p.out, 0, &err), 0);
	CHECK_EQ(path_read(NULL, path, &text, &err), 5);
	CHECK_STR(text, "hello");
	CHECK(stat(path, &st) == 0 && st.st_mtime == 1234567890);
	free(path);
	path = path_join(p.out, "zeros");
	CHECK(stat(path, &st) == 0 && st.st_size == 3 << 20 && st.st_blocks == 0);
	free(path);
	path = path_join(p.out, "empty");
	CHECK(stat(path, &st) == 0 && st.st_size == 0);
	free(path);
	path = path_join(p.out, "status");
	CHECK(stat(path, &st) == 0 && st.st_size > 100);
}

static void unfinished_pack_leaves_nothing_and_none_is_replaced(void)
{
	_cleanup_(places_done) struct places p = places_new();
	struct pack_writer *w = NULL, *second = NULL;
	struct error err = ERROR_INIT;

	CHECK_EQ(pack_create(p.pack, &w, &err), 0);
	CHECK_EQ(pack_add(w, "../b", "x", 1, 0, &err), -EINVAL);
	CHECK_EQ(pack_add(w, "a", "x", 1, 0, &err), 0);
	pack_writer_free(w);
	CHECK(access(p.pack, F_OK) < 0);
	CHECK_EQ(pack_create(p.pack, &w, &err), 0);
	CHECK_EQ(pack_finish(w, &err), 0);
	pack_writer_free(w);
	CHECK_EQ(pack_create(p.pack, &second, &err), -EEXIST);
}

static void names_that_leave_are_unsafe(void)
{
	static const struct {
		const char *name;
		bool safe;
	} cases[] = {
		{ "usr/bin/xz", true }, { "..b/c.", true },  { "a/...", true },	 { ".a", true },
		{ "", false },		{ "/usr", false },   { "..", false },	 { "a/..", false },
		{ "../a", false },	{ "a/../b", false }, { "a//b", false },	 { "a/", false },
		{ ".", false },		{ "./a", false },    { "a/./b", false },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		if (!CHECK(pack_name_is_safe(cases[i].name) == cases[i].safe))
			printf("# %s\n", cases[i].name);
}

static void what_no_writer_writes_is_refused(void)
{
	static const struct {
		const char *name;
		int kind;
		uint64_t size;
		const char *content, *why;
	} cases[] = {
		{ "../../etc/passwd", PACK_REGULAR, 1, "x",
		  "not unpacked: '../../etc/passwd' would be outside the archive" },
		{ "/etc/passwd", PACK_REGULAR, 1, "x",
		  "not unpacked: '/etc/passwd' would be outside the archive" },
		{ "link", '2', 0, "",
		  "link in it is not a regular file, so oparchive did not write it" },
		{ "link", '1', 0, "",
		  "link in it is not a regular file, so oparchive did not write it" },
		{ "tty", '3', 0, "",
		  "tty in it is not a regular file, so oparchive did not write it" },
		{ "huge", PACK_REGULAR, UINT64_C(1) << 60, "",
		  "not unpacked: it would be larger than 16 GiB or 4000000 files (at huge)" },
		{ "large", PACK_REGULAR, 1 << 30, "", "is cut short" },
		{ "n", PACK_EXTENDED, 20, "20 path=/etc/passwd\n",
		  "not unpacked: '/etc/passwd' would be outside the archive" },
		{ "n", PACK_EXTENDED, 9, "99 path=a", "a record is malformed" },
		{ "n", PACK_EXTENDED, 9, "9 mode=1\n", "a record is malformed" },
		{ "n", PACK_EXTENDED, 1 << 20, "", "a record is too long" },
		{ "twice", PACK_REGULAR, 1, "x", "contains twice twice" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(places_done) struct places p = places_new();
		_cleanup_(strbuf_done) struct strbuf tar = STRBUF_INIT;
		struct error err = ERROR_INIT;

		add_entry(&tar, cases[i].name, cases[i].kind, cases[i].size, cases[i].content);
		if (cases[i].size == strlen(cases[i].content)) {
			add_entry(&tar, "twice", PACK_REGULAR, 1, "y");
			add_end(&tar);
		}
		write_compressed(&p, tar.text, tar.length);
		CHECK_EQ(pack_unpack(p.pack, p.out, 0, &err), -EBADMSG);
		if (!CHECK(strstr(err.text, cases[i].why) &&
			   !strncmp(err.text, p.pack, strlen(p.pack))))
			printf("# %zu: %s\n", i, err.text);
	}
}

static void what_is_no_pack_is_refused(void)
{
	_cleanup_(places_done) struct places p = places_new();
	struct error err = ERROR_INIT;

	CHECK_EQ(path_write(p.pack, "no pack, but a text that is longer than a few bytes\n", 0600,
			    &err),
		 0);
	CHECK_EQ(pack_unpack(p.pack, p.out, 0, &err), -EBADMSG);
	CHECK(strstr(err.text, "not an archive of oparchive"));
	write_compressed(&p, "some text", 9);
	CHECK_EQ(pack_unpack(p.pack, p.out, 0, &err), -EBADMSG);
	CHECK(strstr(err.text, "is cut short"));
	CHECK_EQ(pack_unpack("/none", p.out, 0, &err), -ENOENT);
}

/* Some kilobytes that would fill a disk: by bytes or by directories. */
static void check_bombs(void)
{
	enum { LARGE = 80 << 20, ENTRIES = 60, LEVELS = 200 };
	_cleanup_(places_done) struct places bytes = places_new(), deep = places_new();
	_cleanup_free_ char *content = xmalloc(LARGE + 1);
	_cleanup_(strbuf_done) struct strbuf tar = STRBUF_INIT;
	struct error err = ERROR_INIT;
	int i, k;

	memset(content, 'x', LARGE);
	content[LARGE] = '\0';
	add_entry(&tar, "large", PACK_REGULAR, LARGE, content);
	add_end(&tar);
	write_compressed(&bytes, tar.text, tar.length);
	CHECK_EQ(pack_unpack(bytes.pack, bytes.out, 0, &err), -EFBIG);
	CHECK(strstr(err.text, "kept.oparc: not unpacked: it would take more than 64 MiB or "));
	free(bytes.out);
	bytes.out = path_join(bytes.directory, "more");
	CHECK_EQ(mkdir(bytes.out, 0700), 0);
	CHECK_EQ(pack_unpack(bytes.pack, bytes.out, LARGE, &err), 0);

	strbuf_clear(&tar);
	for (i = 0; i < ENTRIES; i++) {
		_cleanup_(strbuf_done) struct strbuf name = STRBUF_INIT;
		_cleanup_free_ char *record = NULL;

		strbuf_addf(&name, "%d", i);
		for (k = 0; k < LEVELS; k++)
			strbuf_adds(&name, "/a");
		record = pack_format_record("path", strbuf_text(&name));
		add_entry(&tar, "name", PACK_EXTENDED, strlen(record), record);
		add_entry(&tar, "short", PACK_REGULAR, 0, "");
	}
	add_end(&tar);
	write_compressed(&deep, tar.text, tar.length);
	CHECK_EQ(pack_unpack(deep.pack, deep.out, 0, &err), -EFBIG);
	CHECK(strstr(err.text, "files; --max-size=SIZE allows more"));
}

/* In memory if possible: on a disk thousands of directories take their time. */
static void bomb_is_limited(void)
{
	_cleanup_free_ char *before = getenv("TMPDIR") ? xstrdup(getenv("TMPDIR")) : NULL;

	if (access("/dev/shm", W_OK) == 0)
		(void)setenv("TMPDIR", "/dev/shm", 1);
	check_bombs();
	if (before)
		(void)setenv("TMPDIR", before, 1);
	else
		(void)unsetenv("TMPDIR");
}

/* Every byte that is cut off or turned is noticed: zstd's checksum is over all of it. */
static void damage_is_noticed_wherever_it_is(void)
{
	_cleanup_(places_done) struct places p = places_new();
	_cleanup_(pack_writer_freep) struct pack_writer *w = NULL;
	_cleanup_fclose_ FILE *f = NULL;
	char bytes[1 << 12], content[700];
	struct error err = ERROR_INIT;
	size_t size, i;

	for (i = 0; i < sizeof(content); i++)
		content[i] = (char)(i * i * 2654435761u >> 13);
	CHECK_EQ(pack_create(p.pack, &w, &err), 0);
	CHECK_EQ(pack_add(w, "a", content, sizeof(content), 0, &err), 0);
	CHECK_EQ(pack_finish(w, &err), 0);
	f = fopen(p.pack, "r+e");
	size = fread(bytes, 1, sizeof(bytes), f);
	CHECK(size > sizeof(content));
	for (i = 0; i < size; i += 7) {
		_cleanup_free_ char *cut = xasprintf("%s/cut", p.directory);
		FILE *to = fopen(cut, "we");

		CHECK(to && fwrite(bytes, 1, i, to) == i && fclose(to) == 0);
		CHECK_EQ(path_remove_tree(p.out, &err), 0);
		CHECK_EQ(mkdir(p.out, 0700), 0);
		if (!CHECK(pack_unpack(cut, p.out, 0, &err) == -EBADMSG))
			printf("# cut at %zu of %zu\n", i, size);
	}
	for (i = 6; i < size; i += 5) { /* after the field with the memory that zstd needs */
		_cleanup_free_ char *turned = xasprintf("%s/turned", p.directory);
		FILE *to = fopen(turned, "we");

		bytes[i] ^= 0x10;
		CHECK(to && fwrite(bytes, 1, size, to) == size && fclose(to) == 0);
		bytes[i] ^= 0x10;
		CHECK_EQ(path_remove_tree(p.out, &err), 0);
		CHECK_EQ(mkdir(p.out, 0700), 0);
		if (!CHECK(pack_unpack(turned, p.out, 0, &err) == -EBADMSG))
			printf("# turned at %zu of %zu\n", i, size);
	}
}

static void numbers_of_any_size_come_back(void)
{
	static const uint64_t sizes[] = { 0, 1, 077777777777, 0100000000000, INT64_MAX };
	struct pack_header h;
	char block[PACK_BLOCK];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		pack_format_header("name", PACK_REGULAR, sizes[i], 7, block);
		CHECK_EQ(pack_format_parse(block, &h), 0);
		CHECK_EQ(h.size, sizes[i]);
		CHECK_EQ(h.mtime, 7);
		CHECK_STR(h.name, "name");
		block[3]++;
		CHECK_EQ(pack_format_parse(block, &h), -EBADMSG);
	}
}

static void records_count_their_own_digits(void)
{
	static const size_t lengths[] = { 1, 89, 90, 91, 92, 988, 989, 990, 4000 };
	const char *value;
	size_t i, size;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		_cleanup_free_ char *text = xasprintf("%0*d", (int)lengths[i], 0);
		_cleanup_free_ char *record = pack_format_record("path", text);

		CHECK_EQ(strtoul(record, NULL, 10), strlen(record));
		CHECK(pack_format_find(record, strlen(record), "path", &value, &size));
		CHECK_EQ(size, lengths[i]);
		CHECK(!pack_format_find(record, strlen(record), "pat", &value, &size));
		CHECK(!pack_format_find(record, strlen(record) - 1, "path", &value, &size));
	}
}

TESTS(T(what_is_packed_comes_out_with_its_time),
      T(unfinished_pack_leaves_nothing_and_none_is_replaced), T(names_that_leave_are_unsafe),
      T(what_no_writer_writes_is_refused), T(what_is_no_pack_is_refused), T(bomb_is_limited),
      T(damage_is_noticed_wherever_it_is), T(numbers_of_any_size_come_back),
      T(records_count_their_own_digits))
