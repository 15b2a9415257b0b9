/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory of this process in the place of a part of a file: whose text it is, by its bytes. */
#include "test.h"

#include "identity/cookie.h"
#include "parser/parser.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { PAGE = PARSER_PAGE_BYTES, FILE_PAGES = 8, AT_PAGE = 3, PAGES = 3 };

DEFINE_CLEANUP(struct cookie_table *, cookie_table_free);

/* A file, and where it is mapped. */
struct text {
	char path[512];
	uint8_t bytes[FILE_PAGES * PAGE];
	uint8_t *map;
	struct stat st;
};

static void text_init(struct text *t, const char *directory)
{
	_cleanup_close_ int fd = -1;
	size_t i;

	(void)snprintf(t->path, sizeof(t->path), "%s/text", directory);
	fd = open(t->path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	for (i = 0; i < sizeof(t->bytes); i++)
		t->bytes[i] = (uint8_t)(i * 2654435761U >> 13 ^ i / PAGE);
	CHECK(write(fd, t->bytes, sizeof(t->bytes)) == (ssize_t)sizeof(t->bytes));
	CHECK_EQ(fstat(fd, &t->st), 0);
	t->map = mmap(NULL, sizeof(t->bytes), PROT_READ, MAP_PRIVATE, fd, 0);
	CHECK(t->map != MAP_FAILED);
}

/* Puts memory in the place of a part of the file: a memfd or anonymous memory. Returns its cookie.
 */
static uint64_t put_memory(struct cookie_table *cookies, struct text *t, const void *bytes,
			   bool is_memfd)
{
	uint8_t *at = t->map + AT_PAGE * PAGE;
	_cleanup_close_ int fd = is_memfd ? memfd_create("text", MFD_CLOEXEC) : -1;
	int flags = MAP_FIXED | (is_memfd ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS);
	struct file_identity file;
	struct stat st;

	CHECK_EQ(munmap(at, PAGES * PAGE), 0);
	CHECK(!is_memfd || write(fd, bytes, PAGES * PAGE) == PAGES * PAGE);
	CHECK(mmap(at, PAGES * PAGE, is_memfd ? PROT_READ | PROT_EXEC : PROT_READ | PROT_WRITE,
		   flags, fd, 0) == at);
	if (is_memfd) {
		CHECK_EQ(fstat(fd, &st), 0);
		file = file_identity_of(&st);
		return cookie_file(cookies, &file, "/memfd:text (deleted)");
	}
	memcpy(at, bytes, PAGES * PAGE);
	return cookie_anon(cookies, (uint32_t)getpid(), (uintptr_t)at, (uintptr_t)at + PAGES * PAGE,
			   "anon");
}

static const struct row {
	const char *name;
	size_t from;	/* byte of the file */
	size_t bytes;	/* copied, the rest is zero */
	size_t changed; /* byte of the memory; 0: none */
	bool found;
} rows[] = {
	{ "what was there", AT_PAGE *PAGE, PAGES *PAGE, 0, true },
	{ "as some linkers lay it out", (AT_PAGE - 1) * PAGE, PAGES *PAGE, 0, true },
	{ "without the end of the last page", AT_PAGE *PAGE, 2 * PAGE + 99, 0, true },
	{ "another part of the file", (AT_PAGE + 2) * PAGE, PAGES *PAGE, 0, false },
	{ "not from the start of a page", AT_PAGE *PAGE + 1, PAGES *PAGE, 0, false },
	{ "with a change", AT_PAGE *PAGE, PAGES *PAGE, PAGE + 1, false },
	{ "with a change at its end", AT_PAGE *PAGE, PAGES *PAGE, PAGES *PAGE - 1, false },
	{ "too little", AT_PAGE *PAGE, 16, 0, false },
	{ "nothing", AT_PAGE *PAGE, 0, 0, false },
};

static void check_row(const struct row *row, bool is_memfd, struct parser *parser)
{
	_cleanup_(cookie_table_freep) struct cookie_table *cookies = cookie_table_new();
	const struct cookie_mapped where = { .tgid = (uint32_t)getpid() };
	_cleanup_directory_ char *directory = test_directory();
	static uint8_t bytes[PAGES * PAGE];
	static struct text text;
	uint64_t cookie, original, offset = 7;

	text_init(&text, directory);
	memset(bytes, 0, sizeof(bytes));
	memcpy(bytes, text.bytes + row->from, row->bytes);
	if (row->changed)
		bytes[row->changed] ^= 1;
	cookie_table_parser(cookies, parser);
	cookie = put_memory(cookies, &text, bytes, is_memfd);
	original = cookie_original(cookies, cookie, &where, &offset);
	if (!CHECK((original != cookie) == row->found &&
		   offset == (row->found ? row->from : 0) + 7))
		printf("# %s, %s\n", row->name, is_memfd ? "memfd" : "anonymous");
	if (row->found) {
		CHECK_STR(cookie_lookup(cookies, original)->path, text.path);
		CHECK_EQ(cookie_lookup(cookies, original)->version.size, sizeof(text.bytes));
	}
	CHECK_EQ(munmap(text.map, sizeof(text.bytes)), 0);
}

static void a_copy_belongs_to_its_file(void)
{
	_cleanup_(parser_freep) struct parser *parser = NULL;
	struct error err = ERROR_INIT;
	size_t i;

	CHECK_EQ(parser_new(&parser, &err), 0);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		check_row(&rows[i], false, parser);
		check_row(&rows[i], true, NULL);
	}
	CHECK_EQ(parser_lost(parser), 0);
}

static void memory_of_a_process_that_is_gone_stays_what_it_is(void)
{
	_cleanup_(cookie_table_freep) struct cookie_table *cookies = cookie_table_new();
	const struct cookie_mapped where = { .tgid = UINT32_MAX / 2 };
	uint64_t cookie = cookie_anon(cookies, where.tgid, 0x1000, 0x2000, "anon"), offset = 7;

	CHECK_EQ(cookie_original(cookies, cookie, &where, &offset), cookie);
	CHECK_EQ(offset, 7);
}

/* Memory that a just-in-time compiler shares is one file to the kernel, of which it may make a part
 * executable. */
static void shared_memory_is_no_copy_of_itself(void)
{
	_cleanup_(parser_freep) struct parser *parser = NULL;
	_cleanup_(cookie_table_freep) struct cookie_table *cookies = cookie_table_new();
	const struct cookie_mapped where = { .tgid = (uint32_t)getpid() };
	uint8_t *memory = mmap(NULL, 2 * PAGES * PAGE, PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0),
		*code = memory + PAGES * PAGE;
	struct error err = ERROR_INIT;
	uint64_t cookie, offset = 7;

	CHECK_EQ(parser_new(&parser, &err), 0);
	cookie_table_parser(cookies, parser);
	CHECK(memory != MAP_FAILED);
	memset(memory, 0xc3, 2 * PAGES * PAGE);
	CHECK_EQ(mprotect(code, PAGES * PAGE, PROT_READ | PROT_EXEC), 0);
	cookie = cookie_anon(cookies, where.tgid, (uintptr_t)code, (uintptr_t)code + PAGES * PAGE,
			     "anon");
	CHECK_EQ(cookie_original(cookies, cookie, &where, &offset), cookie);
	CHECK_EQ(munmap(memory, 2 * PAGES * PAGE), 0);
}

TESTS(T(shared_memory_is_no_copy_of_itself), T(a_copy_belongs_to_its_file),
      T(memory_of_a_process_that_is_gone_stays_what_it_is))
