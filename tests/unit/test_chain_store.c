/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "base/strbuf.h"
#include "chains/chain_merge.h"
#include "chains/chain_read.h"
#include "chains/chain_table.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const struct sname_image images[] = {
	{ .kind = SNAME_ROOT, .name = "/bin/app" },
	{ .kind = SNAME_ROOT, .name = "/lib/a\tb\nc.so" },
	{ .kind = SNAME_KERN, .name = "no-vmlinux" },
	{ .kind = SNAME_ANON, .name = "[heap]", .tgid = 7, .start = 0x1000, .end = 0x2000 },
};

enum { APP, LIB, KERNEL, HEAP };

/* Adds a chain of @count words: image << 56 | offset, the innermost first. */
static int add(struct chain_store *s, const char *end, uint64_t samples, const uint64_t *words,
	       size_t count)
{
	struct chain_context context = { .event = "TIMER.0.0",
					 .end = end,
					 .task = { SNAME_ALL, SNAME_ALL, 3, NULL } };
	struct chain_frame frames[16];
	struct chain chain = { frames, count, samples };
	uint32_t id = 0;
	size_t i;

	CHECK(chain_store_turn(s, NULL) >= 0);
	CHECK_EQ(chain_store_image(s, &images[APP], false, &context.app, NULL), 0);
	CHECK_EQ(chain_store_context(s, &context, &id, NULL), 0);
	for (i = 0; i < count; i++) {
		frames[i].offset = words[i] << 8 >> 8;
		/* An address in the kernel has all upper bits set. */
		if (frames[i].offset >> 47)
			frames[i].offset |= UINT64_MAX << 48;
		CHECK_EQ(chain_store_image(s, &images[words[i] >> 56], false, &frames[i].image,
					   NULL),
			 0);
	}
	return chain_store_add(s, id, &chain, NULL);
}
#define ADD(s, end, samples, ...)                                                                  \
	CHECK_EQ(add((s), (end), (samples), (const uint64_t[]){ __VA_ARGS__ },                     \
		     sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t)),                      \
		 0)
#define AT(image, offset) ((uint64_t)(image) << 56 | (offset))
#define KERNEL_ADDRESS	  0xffff81000010ULL /* without its upper 16 bits */

struct listing {
	const struct chain_names *names;
	struct strbuf text;
	uint64_t samples, chains;
};

static int list(uint32_t context, const struct chain *chain, void *data)
{
	struct listing *l = data;
	const struct chain_context *c = chain_names_context_at(l->names, context);
	size_t i;

	strbuf_addf(&l->text, "%s %s %" PRId64 " %s:", chain_names_image_at(l->names, c->app)->name,
		    c->event, c->task.cpu, c->end);
	for (i = 0; i < chain->count; i++)
		strbuf_addf(&l->text, " %s+%" PRIx64,
			    chain_names_image_at(l->names, chain->frames[i].image)->name,
			    chain->frames[i].offset);
	strbuf_addf(&l->text, " %" PRIu64 "\n", chain->samples);
	l->samples += chain->samples;
	l->chains++;
	return 0;
}

/* All chains as text, one a line; caller frees. */
static char *listing(const char *dir)
{
	_cleanup_(chain_reader_closep) struct chain_reader *r = NULL;
	struct listing l = { .text = STRBUF_INIT };

	CHECK_EQ(chain_reader_open(dir, NULL, &r, NULL), 0);
	l.names = chain_reader_names(r);
	CHECK_EQ(chain_reader_each(r, list, &l), 0);
	return strbuf_take(&l.text);
}

static void check_listing(const char *dir, const char *expected)
{
	_cleanup_free_ char *text = listing(dir);

	CHECK_STR(text, expected);
}

static struct chain_store *open_store(const char *dir)
{
	struct chain_store *s = NULL;

	CHECK_EQ(chain_store_open(dir, &s, NULL), 0);
	return s;
}

static const char two[] = "/bin/app TIMER.0.0 3 complete: no-vmlinux+ffffffff81000010 "
			  "/bin/app+20 /bin/app+30 5\n"
			  "/bin/app TIMER.0.0 3 complete: /lib/a\tb\nc.so+8 /bin/app+30 1\n"
			  "/bin/app TIMER.0.0 3 depth: [heap]+10 1\n";

static void add_two(struct chain_store *s)
{
	ADD(s, "complete", 3, AT(KERNEL, KERNEL_ADDRESS), AT(APP, 0x20), AT(APP, 0x30));
	ADD(s, "complete", 2, AT(KERNEL, KERNEL_ADDRESS), AT(APP, 0x20), AT(APP, 0x30));
	ADD(s, "complete", 1, AT(LIB, 8), AT(APP, 0x30));
	ADD(s, "depth", 1, AT(HEAP, 0x10));
}

static void what_is_added_is_read(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct chain_store *s = open_store(dir);
	struct chain_reader *r = NULL;

	CHECK_EQ(chain_reader_open("/nowhere", NULL, &r, NULL), -ENOENT);
	add_two(s);
	check_listing(dir, two); /* while the writer is at work */
	chain_store_close(s);
	check_listing(dir, two);
}

static void a_store_opened_again_goes_on(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct chain_store *s = open_store(dir);
	struct stat before, after;
	_cleanup_free_ char *nodes = path_join(dir, "chains/nodes.0");

	add_two(s);
	chain_store_close(s);
	CHECK_EQ(stat(nodes, &before), 0);
	s = open_store(dir);
	add_two(s);
	chain_store_close(s);
	CHECK_EQ(stat(nodes, &after), 0);
	CHECK_EQ(before.st_size, after.st_size);
	CHECK_EQ(before.st_size, 32 + 12 * (1 + 2 + 3 + 1 + 1)); /* header, 0, roots, chains */
	check_listing(dir, "/bin/app TIMER.0.0 3 complete: no-vmlinux+ffffffff81000010 "
			   "/bin/app+20 /bin/app+30 10\n"
			   "/bin/app TIMER.0.0 3 complete: /lib/a\tb\nc.so+8 /bin/app+30 2\n"
			   "/bin/app TIMER.0.0 3 depth: [heap]+10 2\n");
}

static void counts_saturate(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct chain_store *s = open_store(dir);

	ADD(s, "depth", UINT32_MAX - 1, AT(APP, 1));
	ADD(s, "depth", 1, AT(APP, 1));
	ADD(s, "depth", UINT64_MAX, AT(APP, 1));
	chain_store_close(s);
	check_listing(dir, "/bin/app TIMER.0.0 3 depth: /bin/app+1 4294967295\n");
}

static void sessions_are_merged_by_addition(void)
{
	_cleanup_directory_ char *a = test_directory();
	_cleanup_directory_ char *b = test_directory();
	struct chain_store *s = open_store(a);

	/* The other way round, so that images and contexts have other numbers. */
	ADD(s, "depth", 4, AT(HEAP, 0x10));
	ADD(s, "complete", 1, AT(LIB, 8), AT(APP, 0x30));
	chain_store_close(s);
	s = open_store(b);
	add_two(s);
	CHECK_EQ(chain_merge(a, s, NULL), 0);
	CHECK_EQ(chain_merge("/nowhere", s, NULL), -ENOENT);
	chain_store_close(s);
	check_listing(b, "/bin/app TIMER.0.0 3 complete: no-vmlinux+ffffffff81000010 "
			 "/bin/app+20 /bin/app+30 5\n"
			 "/bin/app TIMER.0.0 3 complete: /lib/a\tb\nc.so+8 /bin/app+30 2\n"
			 "/bin/app TIMER.0.0 3 depth: [heap]+10 5\n");
}

/* Many chains: the lookups grow, the files too; every sample is found again. */
static void many_chains_are_all_found(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct chain_store *s = open_store(dir);
	_cleanup_(chain_reader_closep) struct chain_reader *r = NULL;
	struct listing l = { .text = STRBUF_INIT };
	uint64_t i;

	for (i = 0; i < 20000; i++)
		ADD(s, "complete", 1 + i % 3, AT(APP, i % 9973), AT(LIB, i % 89), AT(APP, i % 7));
	chain_store_close(s);
	CHECK_EQ(chain_reader_open(dir, NULL, &r, NULL), 0);
	l.names = chain_reader_names(r);
	CHECK_EQ(chain_reader_each(r, list, &l), 0);
	CHECK_EQ(l.samples, 39999);
	CHECK_EQ(l.chains, 20000);
	strbuf_done(&l.text);
}

static int sum_up(uint32_t context _unused_, const struct chain *chain, void *data)
{
	uint64_t *sum = data;

	*sum += chain->samples;
	return 0;
}

static size_t pairs_in(const char *dir)
{
	uint32_t *list = NULL;
	size_t count;

	CHECK_EQ(chain_pairs(dir, &list, &count, NULL), 0);
	free(list);
	return count;
}

/* After 750,000 nodes the next pair of files is begun; both are read, the last one goes on. */
static void a_full_pair_of_files_is_followed_by_another(void)
{
	enum { CHAINS = 751000 };
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *chains = path_join(dir, CHAIN_DIRECTORY);
	struct chain_frame frame = { 1, 0 };
	const struct chain chain = { &frame, 1, 1 };
	struct chain_store *s = open_store(dir);
	struct chain_reader *r = NULL;
	uint64_t sum = 0;
	int bad = 0;

	ADD(s, "complete", 1, AT(APP, 1)); /* number 1 of images and contexts */
	CHECK_EQ(pairs_in(chains), 1);
	for (frame.offset = 0; frame.offset < CHAINS; frame.offset++)
		bad |= chain_store_is_full(s) ? add(s, "complete", 1, &frame.offset, 1)
					      : chain_store_add(s, 1, &chain, NULL);
	CHECK_EQ(bad, 0);
	CHECK_EQ(pairs_in(chains), 2);
	CHECK(chain_store_memory(s) < 1 << 20);
	chain_store_close(s);
	s = open_store(dir);
	ADD(s, "complete", 1, AT(APP, 1));
	chain_store_close(s);
	CHECK_EQ(pairs_in(chains), 2);
	CHECK_EQ(chain_reader_open(dir, NULL, &r, NULL), 0);
	CHECK_EQ(chain_reader_each(r, sum_up, &sum), 0);
	chain_reader_close(r);
	CHECK_EQ(sum, CHAINS + 2);
}

static void list_arc(const struct chain_arc *arc, void *data)
{
	strbuf_addf(data, "%u: ", arc->context);
	if (arc->caller.image)
		strbuf_addf(data, "%u+%" PRIx64 " calls ", arc->caller.image, arc->caller.offset);
	strbuf_addf(data, "%u+%" PRIx64 " %" PRIu64 "\n", arc->callee.image, arc->callee.offset,
		    arc->samples);
}

static void check_arcs(const char *dir, const char *expected)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	_cleanup_(chain_reader_closep) struct chain_reader *r = NULL;

	CHECK_EQ(chain_reader_open(dir, NULL, &r, NULL), 0);
	if (r)
		chain_reader_arcs(r, list_arc, &text);
	CHECK_STR(strbuf_text(&text), expected);
}

static void arcs_shared_by_chains_are_reported_once(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(chain_store_closep) struct chain_store *s = open_store(dir);
	struct chain_frame frames[] = { { 2, 0xffffffff81000010 }, { 1, 0x20 }, { 1, 0x10 } };

	/* Numbers 1 and 2 of images, 1 and 2 of contexts. */
	ADD(s, "complete", 1, AT(APP, 1), AT(LIB, 1));
	ADD(s, "depth", 1, AT(APP, 1));
	CHECK_EQ(chain_store_add(s, 1, &(struct chain){ frames, 3, 5 }, NULL), 0);
	CHECK_EQ(chain_store_add(s, 1, &(struct chain){ frames + 1, 2, 2 }, NULL), 0);
	CHECK_EQ(chain_store_add(s, 2, &(struct chain){ frames, 2, 3 }, NULL), 0);
	CHECK_EQ(chain_store_add(s, 2, &(struct chain){ frames, 1, 9 }, NULL), 0);
	check_arcs(dir, "1: 2+1 1\n"
			"1: 2+1 calls 1+1 1\n"
			"2: 1+1 1\n"
			"1: 1+10 7\n"
			"1: 1+10 calls 1+20 7\n"
			"1: 1+20 calls 2+ffffffff81000010 5\n"
			"2: 1+20 3\n"
			"2: 1+20 calls 2+ffffffff81000010 3\n"
			"2: 2+ffffffff81000010 9\n");
	frames[0].offset = 0x30;
	CHECK_EQ(chain_store_add(s, 1, &(struct chain){ frames, 2, UINT64_MAX }, NULL), 0);
	CHECK_EQ(chain_store_add(s, 1, &(struct chain){ frames, 2, 1 }, NULL), 0);
	check_arcs(dir, "1: 2+1 1\n"
			"1: 2+1 calls 1+1 1\n"
			"2: 1+1 1\n"
			"1: 1+10 7\n"
			"1: 1+10 calls 1+20 7\n"
			"1: 1+20 calls 2+ffffffff81000010 5\n"
			"2: 1+20 3\n"
			"2: 1+20 calls 2+ffffffff81000010 3\n"
			"2: 2+ffffffff81000010 9\n"
			"1: 1+20 4294967295\n"
			"1: 1+20 calls 2+30 4294967295\n");
}

/* The child is killed while it adds. What it added before
 * is there, and the next writer goes on. */
static void a_killed_writer_loses_the_chain_it_was_adding(void)
{
	_cleanup_directory_ char *dir = test_directory();
	int ends[2], status;
	uint64_t told = 0, i, more;
	struct chain_store *s;
	struct listing l = { .text = STRBUF_INIT };
	struct chain_reader *r = NULL;
	struct chain_damage damage;
	pid_t pid;

	CHECK_EQ(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		s = open_store(dir);
		for (i = 1;; i++) {
			ADD(s, "complete", 1, AT(APP, i), AT(LIB, i % 1000), AT(APP, i % 3));
			if (write(ends[1], &i, sizeof(i)) < 0)
				_exit(1);
		}
	}
	(void)close(ends[1]);
	while (told < 3000 && read(ends[0], &told, sizeof(told)) > 0)
		;
	CHECK_EQ(kill(pid, SIGKILL), 0);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	while (read(ends[0], &more, sizeof(more)) > 0)
		told = more;
	(void)close(ends[0]);

	CHECK_EQ(chain_reader_open(dir, NULL, &r, NULL), 0);
	chain_reader_check(r, &damage);
	CHECK(!damage.any);
	l.names = chain_reader_names(r);
	CHECK_EQ(chain_reader_each(r, list, &l), 0);
	CHECK(l.samples >= told && l.samples <= told + 1);
	strbuf_done(&l.text);
	chain_reader_close(r);

	s = open_store(dir);
	ADD(s, "complete", 10, AT(APP, 1), AT(LIB, 1), AT(APP, 1));
	chain_store_close(s);
	l = (struct listing){ .text = STRBUF_INIT };
	CHECK_EQ(chain_reader_open(dir, NULL, &r, NULL), 0);
	l.names = chain_reader_names(r);
	CHECK_EQ(chain_reader_each(r, list, &l), 0);
	CHECK(l.samples >= told + 10 && l.samples <= told + 11);
	strbuf_done(&l.text);
	chain_reader_close(r);
}

/* Puts @size bytes at @offset of @dir/chains/@name. */
static void scribble(const char *dir, const char *name, const void *bytes, size_t size,
		     off_t offset)
{
	_cleanup_free_ char *path = xasprintf("%s/chains/%s", dir, name);
	int fd = open(path, O_WRONLY);

	CHECK_EQ(pwrite(fd, bytes, size, offset), size);
	(void)close(fd);
}

static void made(const char *dir)
{
	struct chain_store *s = open_store(dir);

	add_two(s);
	chain_store_close(s);
}

static void damage_is_found_and_repaired(void)
{
	static const uint32_t far = 4711;
	_cleanup_directory_ char *dir = test_directory();
	struct chain_reader *r = NULL;
	struct chain_damage damage;

	made(dir);
	/* The caller of the first chain's kernel frame (node 3 of 1 root, 2, 3, 4). */
	scribble(dir, "nodes.0", &far, sizeof(far), 32 + 12 * 3 + 4);
	CHECK_EQ(chain_reader_open(dir, NULL, &r, NULL), 0);
	chain_reader_check(r, &damage);
	chain_reader_close(r);
	CHECK(damage.any);
	CHECK_EQ(damage.nodes, 2);
	CHECK_EQ(damage.samples, 5);
	check_listing(dir, strchr(two, '\n') + 1);
	CHECK_EQ(chain_repair(dir, NULL), 0);
	CHECK_EQ(chain_reader_open(dir, NULL, &r, NULL), 0);
	chain_reader_check(r, &damage);
	chain_reader_close(r);
	CHECK(!damage.any);
	check_listing(dir, strchr(two, '\n') + 1);
}

/* Readers have arrays with the numbers of places, and of nodes. */
static void places_and_parents_that_do_not_exist_are_none(void)
{
	static const uint32_t far = UINT32_MAX - 5;
	_cleanup_directory_ char *dir = test_directory();
	struct chain_reader *r = NULL;
	struct chain_reader_tree tree;
	struct chain_frame frame;
	bool is_function;

	made(dir);
	scribble(dir, "nodes.0", &far, sizeof(far), 32 + 12 * 3 + 4);
	scribble(dir, "nodes.0", &far, sizeof(far), 32 + 12 * 4);
	CHECK_EQ(chain_reader_open(dir, NULL, &r, NULL), 0);
	tree = chain_reader_tree(r, 0);
	CHECK_EQ(tree.place_of[3], 0);
	CHECK(!chain_reader_frame(r, 0, tree.place_of[3], &frame, &is_function));
	CHECK(tree.place_of[2]);
	CHECK(chain_reader_frame(r, 0, tree.place_of[2], &frame, &is_function));
	CHECK_EQ(tree.parents[4], 0);
	CHECK_EQ(chain_reader_context(r, 0, tree.place_of[4]), 0);
	CHECK(chain_reader_context(r, 0, tree.place_of[1]));
	chain_reader_close(r);
}

static void files_cut_short_keep_what_is_left(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "chains/nodes.0");
	struct chain_reader *r = NULL;
	struct chain_damage damage;

	made(dir);
	CHECK_EQ(truncate(path, 32 + 12 * 5), 0);
	CHECK_EQ(chain_reader_open(dir, NULL, &r, NULL), 0);
	chain_reader_check(r, &damage);
	chain_reader_close(r);
	CHECK(damage.any);
	CHECK_EQ(damage.missing, 1);
	CHECK_EQ(truncate(path, 20), 0);
	CHECK_EQ(chain_reader_open(dir, NULL, &r, NULL), -EBADMSG);
}

/* As opposed to a whole pair, which may have been removed meanwhile. */
static void a_file_that_nodes_refer_to_is_missed(void)
{
	static const char *const names[] = { "places", "names" };
	_cleanup_directory_ char *dir = test_directory();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_free_ char *path = xasprintf("%s/chains/%s.0", dir, names[i]);
		_cleanup_(chain_reader_closep) struct chain_reader *r = NULL;
		struct chain_damage damage = { 0 };

		CHECK_EQ(path_remove_tree(dir, NULL), 0);
		made(dir);
		CHECK_EQ(unlink(path), 0);
		CHECK_EQ(chain_reader_open(dir, NULL, &r, NULL), 0);
		if (!r)
			continue;
		chain_reader_check(r, &damage);
		CHECK(damage.any);
		CHECK_EQ(damage.absent, 1);
		CHECK_STR(damage.absent_name, names[i]);
		CHECK_EQ(damage.samples, 7);
		CHECK(chain_reader_skipped(r).is_damaged);
		CHECK_EQ(chain_reader_skipped(r).invalid, 7);
	}
}

/* A writer that is stopped between making its files and writing to them. */
static void empty_files_have_no_chains(void)
{
	static const char *const names[] = { "nodes.0", "places.0" };
	_cleanup_directory_ char *dir = test_directory();
	size_t i;

	chain_store_close(open_store(dir));
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_free_ char *path = xasprintf("%s/chains/%s", dir, names[i]);
		struct chain_reader *r = NULL;
		struct chain_damage damage = { .any = true };

		CHECK_EQ(truncate(path, 0), 0);
		check_listing(dir, "");
		CHECK_EQ(chain_reader_open(dir, NULL, &r, NULL), 0);
		chain_reader_check(r, &damage);
		chain_reader_close(r);
		CHECK(!damage.any);
	}
	made(dir);
	check_listing(dir, two);
}

static void a_line_cut_short_is_taken_back(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "chains/names.0");
	struct stat st;

	made(dir);
	CHECK_EQ(stat(path, &st), 0);
	scribble(dir, "names.0", "image\troot\t0", 12, st.st_size);
	check_listing(dir, two);
	made(dir);
	scribble(dir, "names.0", "x", 1, 0);
	check_listing(dir, "");
}

static void only_a_pair_of_an_older_version_shares_its_names(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *own = path_join(dir, "chains/names.0"),
			    *shared = path_join(dir, "chains/names"),
			    *nodes = path_join(dir, "chains/nodes.0"),
			    *next = path_join(dir, "chains/names.1");

	made(dir);
	CHECK_EQ(rename(own, shared), 0);
	check_listing(dir, two);
	made(dir);
	CHECK_EQ(access(own, F_OK), -1);
	CHECK_EQ(unlink(nodes), 0);
	made(dir);
	CHECK_EQ(access(next, F_OK), 0);
}

static void other_files_are_refused(void)
{
	static const struct {
		off_t offset;
		uint32_t value;
		int r;
		const char *message;
	} rows[] = {
		{ 0, 1, -EBADMSG, "not a call-chain file" },
		{ 8, 0x04030201, -ENOTSUP, "other byte order" },
		{ 8, 0x01020305, -EBADMSG, "damaged header" },
		{ 12, 2, -ENOTSUP, "version 2" },
		{ 16, 1, -EBADMSG, "damaged header" },
		{ 20, 16, -EBADMSG, "damaged header" },
		{ 24, 0, -EBADMSG, "damaged header" },
	};
	_cleanup_directory_ char *dir = test_directory();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct chain_reader *r = NULL;
		struct chain_store *s = NULL;
		struct error err = ERROR_INIT;

		CHECK_EQ(path_remove_tree(dir, NULL), 0);
		made(dir);
		scribble(dir, "nodes.0", &rows[i].value, sizeof(rows[i].value), rows[i].offset);
		CHECK_EQ(chain_reader_open(dir, NULL, &r, &err), rows[i].r);
		if (!strstr(err.text, rows[i].message))
			printf("# row %zu: %s\n", i, err.text);
		CHECK(strstr(err.text, rows[i].message));
		CHECK_EQ(chain_store_open(dir, &s, NULL), rows[i].r);
	}
}

/* Every byte of every file turned over: nothing is read that is not there. */
static void no_byte_leads_astray(void)
{
	static const char *const names[] = { "names.0", "places.0", "nodes.0" };
	_cleanup_directory_ char *dir = test_directory();
	size_t n, i;

	for (n = 0; n < ARRAY_SIZE(names); n++)
		for (i = 0; i < 150; i++) {
			_cleanup_(chain_reader_closep) struct chain_reader *r = NULL;
			_cleanup_(chain_store_closep) struct chain_store *s = NULL;
			struct listing l = { .text = STRBUF_INIT };
			struct chain_damage damage;

			CHECK_EQ(path_remove_tree(dir, NULL), 0);
			made(dir);
			scribble(dir, names[n], "\xff", 1, (off_t)i);
			if (chain_reader_open(dir, NULL, &r, NULL) == 0) {
				l.names = chain_reader_names(r);
				(void)chain_reader_each(r, list, &l);
				chain_reader_check(r, &damage);
			}
			strbuf_done(&l.text);
			if (chain_store_open(dir, &s, NULL) == 0)
				ADD(s, "complete", 1, AT(APP, 5));
		}
}

/* The numbers of images end somewhere; nothing else does. */
static void too_many_images_are_refused(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct chain_store *s = open_store(dir);
	uint32_t number = 0, i;
	int r = 0;

	for (i = 0; i <= CHAIN_IMAGES_MAX && r == 0; i++) {
		_cleanup_free_ char *name = xasprintf("/bin/%u", i);

		r = chain_store_image(s, &(struct sname_image){ .kind = SNAME_ROOT, .name = name },
				      false, &number, NULL);
	}
	CHECK_EQ(r, -EOVERFLOW);
	CHECK_EQ(number, CHAIN_IMAGES_MAX);
	CHECK_EQ(chain_store_image(s, &(struct sname_image){ .kind = SNAME_ROOT, .name = "/bin/9" },
				   false, &number, NULL),
		 0);
	CHECK_EQ(number, 10);
	chain_store_close(s);
	s = open_store(dir);
	CHECK_EQ(chain_store_image(s, &images[APP], false, &number, NULL), -EOVERFLOW);
	chain_store_close(s);
}

TESTS(T(what_is_added_is_read), T(a_store_opened_again_goes_on), T(counts_saturate),
      T(arcs_shared_by_chains_are_reported_once), T(sessions_are_merged_by_addition),
      T(many_chains_are_all_found), T(a_full_pair_of_files_is_followed_by_another),
      T(a_killed_writer_loses_the_chain_it_was_adding), T(damage_is_found_and_repaired),
      T(places_and_parents_that_do_not_exist_are_none), T(files_cut_short_keep_what_is_left),
      T(a_file_that_nodes_refer_to_is_missed), T(empty_files_have_no_chains),
      T(a_line_cut_short_is_taken_back), T(only_a_pair_of_an_older_version_shares_its_names),
      T(other_files_are_refused), T(no_byte_leads_astray), T(too_many_images_are_refused))
