/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the program in the kernel finds about memory that may be a copy of text; skips where such a
 * program cannot be had. */
#include "test.h"

#include "driver/bpf/copy_store.h"
#include "driver/bpf/sampler.h"
#include "identity/opener.h"
#include "parser/parser.h"

#include <bpf/bpf.h>
#include <fcntl.h>
#include <sys/mman.h>

enum { PAGE = PARSER_PAGE_BYTES, FILE_PAGES = 6, AT_PAGE = 2, PAGES = 3, VERSION = 77 };

struct bench {
	struct parser *parser;
	struct opener *opener;
	struct sampler *sampler;
	struct copy_store *store;
	uint8_t *map; /* of a file, with its text in memory */
};

/* Puts a copy of the text at its place. */
static void move_text(uint8_t *map)
{
	static uint8_t bytes[PAGES * PAGE];
	uint8_t *at = map + AT_PAGE * PAGE;

	memcpy(bytes, at, sizeof(bytes));
	CHECK(mmap(at, sizeof(bytes), PROT_READ | PROT_WRITE,
		   MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == at);
	memcpy(at, bytes, sizeof(bytes));
}

static uint8_t *map_file(const char *directory)
{
	_cleanup_free_ char *path = xasprintf("%s/text", directory);
	_cleanup_close_ int fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	static uint8_t bytes[FILE_PAGES * PAGE];
	uint8_t *map;
	size_t i;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 2654435761U >> 13 ^ i / PAGE);
	CHECK(write(fd, bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes));
	map = mmap(NULL, sizeof(bytes), PROT_READ, MAP_PRIVATE, fd, 0);
	CHECK(map != MAP_FAILED);
	move_text(map);
	return map;
}

static int bench_init(struct bench *b, const char *directory)
{
	const struct sampler_config config = { .keys = 4096, .depth = 64, .tables = 256 };
	struct error err = ERROR_INIT;

	*b = (struct bench){ 0 };
	CHECK_EQ(parser_new(&b->parser, &err), 0);
	CHECK_EQ(opener_new(b->parser, &b->opener, &err), 0);
	if (sampler_new(&config, &b->sampler, &err) < 0) {
		test_skipped = "no BPF program can be loaded here";
		return -1;
	}
	b->store = copy_store_new(b->sampler, b->opener);
	b->map = map_file(directory);
	return 0;
}

static void bench_done(struct bench *b)
{
	copy_store_free(b->store);
	sampler_free(b->sampler);
	opener_free(b->opener);
	parser_free(b->parser);
	if (b->map)
		CHECK_EQ(munmap(b->map, FILE_PAGES * PAGE), 0);
}

static struct sample_doubt doubt_of(const struct bench *b)
{
	uint64_t start = (uintptr_t)b->map + AT_PAGE * PAGE;

	return (struct sample_doubt){ .kind = SAMPLE_DOUBT,
				      .version = VERSION,
				      .memory = { .region = { start, start + PAGES * PAGE },
						  .tgid = (uint32_t)getpid() } };
}

/* What the program finds about the memory; all 0: nothing. */
static struct sample_copy known(const struct bench *b)
{
	const struct sample_doubt doubt = doubt_of(b);
	struct sample_copy copy = { 0 };

	(void)bpf_map_lookup_elem(sampler_maps(b->sampler)->copies, &doubt.memory, &copy);
	return copy;
}

static void a_copy_is_one_until_it_has_changed(void)
{
	_cleanup_directory_ char *directory = test_directory();
	struct sample_doubt doubt;
	struct sample_copy copy;
	struct bench b;

	if (bench_init(&b, directory) == 0) {
		doubt = doubt_of(&b);
		copy_store_answer(b.store, &doubt);
		copy = known(&b);
		CHECK_EQ(copy.part, (uintptr_t)b.map);
		CHECK_EQ(copy.offset, AT_PAGE * PAGE);
		CHECK_EQ(copy.version, VERSION);
		CHECK(copy_store_holds(b.store));
		b.map[AT_PAGE * PAGE + 5] ^= 1;
		doubt.version++;
		copy_store_answer(b.store, &doubt);
		copy = known(&b);
		CHECK_EQ(copy.part, 0);
		CHECK_EQ(copy.version, VERSION + 1);
	}
	bench_done(&b);
}

/* Fills the map with other memory: copies if @part is not 0. */
static void fill(const struct bench *b, uint64_t part)
{
	uint32_t i;

	for (i = 1; i <= SAMPLE_COPIES_MAX; i++) {
		const struct sample_copy copy = { .key = { .tgid = i }, .part = part };

		CHECK_EQ(bpf_map_update_elem(sampler_maps(b->sampler)->copies, &copy.key, &copy,
					     BPF_ANY),
			 0);
	}
}

static void what_is_no_copy_makes_room_and_what_has_none_is_counted(void)
{
	_cleanup_directory_ char *directory = test_directory();
	struct sample_doubt doubt;
	struct bench b;

	if (bench_init(&b, directory) == 0) {
		doubt = doubt_of(&b);
		fill(&b, 1);
		copy_store_answer(b.store, &doubt);
		CHECK_EQ(known(&b).part, 0);
		CHECK_EQ(copy_store_refused(b.store), 1); /* unwind_moved_refused */
		fill(&b, 0);
		copy_store_answer(b.store, &doubt);
		CHECK_EQ(known(&b).part, (uintptr_t)b.map);
		CHECK_EQ(copy_store_refused(b.store), 1);
	}
	bench_done(&b);
}

static void too_much_at_once_is_counted(void)
{
	_cleanup_directory_ char *directory = test_directory();
	struct sample_doubt doubt;
	struct bench b;
	unsigned int i;

	if (bench_init(&b, directory) == 0) {
		doubt = doubt_of(&b);
		/* Of a process that does not exist, because that takes no time. */
		doubt.memory.tgid = INT32_MAX;
		for (i = 0; i < 10000 && !copy_store_late(b.store); i++) {
			doubt.memory.region.start += PAGE;
			copy_store_answer(b.store, &doubt);
		}
		CHECK(copy_store_late(b.store) > 0); /* unwind_moved_late */
	}
	bench_done(&b);
}

TESTS(T(too_much_at_once_is_counted), T(a_copy_is_one_until_it_has_changed),
      T(what_is_no_copy_makes_room_and_what_has_none_is_counted))
