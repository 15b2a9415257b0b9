/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "helper/errands.h"
#include "helper/relief.h"
#include "identity/opener.h"
#include "jit/jit.h"
#include "parser/parser.h"
#include "record/code/jit_complaints.h"
#include "record/code/internal/jit_reader_state.h"
#include "record/code/jit_reader.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>

enum {
	MB = 1 << 20,
	PID = 0x7f000000, /* no process has it */
	LINE = 32,
};

/* Makes the /proc of a process of @uid below @root, with @count lines in its perf map. */
static struct jit_process *plant(struct jit_reader *r, const char *root, uint32_t uid, size_t count)
{
	static uint32_t pid = PID;
	_cleanup_free_ char *proc = xasprintf("%s/proc/%u", root, ++pid);
	_cleanup_free_ char *map = xasprintf("%s/root/tmp/perf-%u.map", proc, pid);
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	struct jit_process *p;
	size_t i;

	for (i = 0; i < count; i++)
		strbuf_addf(&text, "%08zx 00000010 f_%011zu\n", 0x1000 + i * 16, i);
	CHECK_EQ(text.length, count * LINE);
	CHECK_EQ(path_make_parents(map, 0755, NULL), 0);
	CHECK_EQ(path_write(map, text.text ?: "", 0644, NULL), 0);
	if (geteuid() == 0)
		CHECK_EQ(chown(proc, uid, uid), 0);
	p = jit_process_new(r, pid);
	CHECK(jit_process_search(p));
	CHECK(!jit_process_search(p));
	return p;
}

/* Reads until there is nothing that may be read; returns the number of calls. */
static size_t read_on(struct jit_reader *r, const struct jit_process *p)
{
	size_t calls = 0, before;

	do {
		before = jit_count(p->jit);
		jit_reader_sync(r, NULL, ++calls, false);
	} while (jit_count(p->jit) > before);
	return calls;
}

static struct jit_reader_stats stats_of(const struct jit_reader *r)
{
	struct jit_reader_stats stats;

	jit_reader_stats(r, &stats);
	return stats;
}

static void a_call_reads_so_much_and_the_next_goes_on(void)
{
	enum { COUNT = 12 * MB / LINE };
	_cleanup_directory_ char *root = test_directory();
	_cleanup_(jit_reader_freep) struct jit_reader *r =
		jit_reader_new(root, (uint64_t)1 << 40, NULL);
	_cleanup_(jit_process_freep) struct jit_process *p = plant(r, root, 1, COUNT);

	jit_reader_sync(r, NULL, 1, false);
	CHECK(jit_count(p->jit) > 0);
	CHECK(jit_count(p->jit) <= (JIT_SYNC_BYTES + 256 * 1024) / LINE);
	CHECK(p->unread);
	CHECK_EQ(p->known, 0);
	CHECK(read_on(r, p) > 1);
	CHECK_EQ(jit_count(p->jit), COUNT);
	CHECK(!p->unread);
	CHECK(p->known > 0);
}

static void each_process_and_each_user_has_its_turn(void)
{
	enum { COUNT = MB / LINE, OTHERS = 8 };
	_cleanup_directory_ char *root = test_directory();
	_cleanup_(jit_reader_freep) struct jit_reader *r =
		jit_reader_new(root, (uint64_t)1 << 40, NULL);
	struct jit_process *others[OTHERS], *p;
	size_t i, most = 0, least = SIZE_MAX, all = 0;

	for (i = 0; i < OTHERS; i++)
		others[i] = plant(r, root, 1, 8 * COUNT);
	p = plant(r, root, 2, COUNT);
	for (i = 1; jit_count(p->jit) < COUNT && i < 1000; i++)
		jit_reader_sync(r, NULL, i, false);
	CHECK_EQ(jit_count(p->jit), COUNT);
	for (i = 0; i < OTHERS; i++) {
		all += jit_count(others[i]->jit);
		most = MAX(most, jit_count(others[i]->jit));
		least = MIN(least, jit_count(others[i]->jit));
	}
	/* The call that finished it went on, up to its limit. */
	CHECK(most - least <= 2 * 256 * 1024 / LINE);
	if (geteuid() == 0)
		CHECK(all <= COUNT + (JIT_SYNC_BYTES + 2 * 256 * 1024) / LINE);
	for (i = 0; i < OTHERS; i++)
		jit_process_free(others[i]);
	jit_process_free(p);
}

static void users_share_memory_and_get_it_back(void)
{
	enum { COUNT = 4 * MB / LINE };
	_cleanup_directory_ char *root = test_directory();
	_cleanup_(jit_reader_freep) struct jit_reader *r = jit_reader_new(root, 16 * MB, NULL);
	_cleanup_(jit_process_freep) struct jit_process *b = NULL;
	struct jit_process *a = plant(r, root, 1, COUNT);
	size_t had;

	(void)read_on(r, a);
	/* A user has half, of that one process three quarters, and what a portion takes. */
	CHECK(a->put_off);
	CHECK_EQ(stats_of(r).jit_put_off, 1);
	CHECK(a->bytes >= 6 * MB && a->bytes < 8 * MB);
	CHECK_EQ(jit_dropped(a->jit), 0);
	if (geteuid() != 0) {
		jit_process_free(a);
		return;
	}
	b = plant(r, root, 2, COUNT);
	(void)read_on(r, b);
	CHECK(b->put_off);
	CHECK_EQ(stats_of(r).jit_put_off, 2);
	CHECK(b->bytes > MB && b->bytes < 8 * MB);
	had = jit_count(b->jit);
	jit_process_free(a);
	(void)read_on(r, b);
	CHECK(jit_count(b->jit) > had);
	CHECK(b->bytes >= 6 * MB);
}

static void a_large_process_leaves_memory_to_others_of_its_user(void)
{
	enum { COUNT = 4 * MB / LINE };
	_cleanup_directory_ char *root = test_directory();
	_cleanup_(jit_reader_freep) struct jit_reader *r = jit_reader_new(root, 16 * MB, NULL);
	_cleanup_(jit_process_freep) struct jit_process *large = plant(r, root, 1, COUNT);
	_cleanup_(jit_process_freep) struct jit_process *small = NULL;

	(void)read_on(r, large);
	CHECK(large->put_off);
	small = plant(r, root, 1, 1000);
	(void)read_on(r, small);
	CHECK(!small->put_off);
	CHECK_EQ(jit_count(small->jit), 1000);
	CHECK(large->put_off);
}

struct said {
	size_t lines;
	char last[256];
};

static void listen(enum log_level level _unused_, const char *text, void *data)
{
	struct said *said = data;

	said->lines++;
	(void)snprintf(said->last, sizeof(said->last), "%s", text);
}

static void many_processes_do_not_flood_the_log(void)
{
	enum { COUNT = 40 };
	const uint64_t second = 1000000000;
	_cleanup_directory_ char *root = test_directory();
	_cleanup_(jit_reader_freep) struct jit_reader *r = jit_reader_new(root, 1, NULL);
	struct jit_process *p[COUNT];
	struct said said = { 0 };
	size_t i;

	log_to(LOG_LEVEL_WARNING, listen, &said);
	for (i = 0; i < COUNT; i++) {
		p[i] = plant(r, root, 1, 1);
		jit_reader_sync(r, NULL, second, false);
	}
	CHECK_EQ(stats_of(r).jit_put_off, COUNT);
	CHECK_EQ(said.lines, 1);
	CHECK(strstr(said.last, "gets no more names"));
	jit_reader_sync(r, NULL, 60 * second, false);
	CHECK_EQ(said.lines, 1);
	jit_reader_sync(r, NULL, 61 * second, false);
	CHECK_EQ(said.lines, 2);
	CHECK(strstr(said.last, ": 39 more times"));
	for (i = 0; i < COUNT; i++)
		jit_process_free(p[i]);
	/* Users are few, too. */
	for (i = 0; geteuid() == 0 && i < COUNT; i++) {
		p[i] = plant(r, root, 2 + (uint32_t)i, 1);
		jit_reader_sync(r, NULL, 62 * second, false);
		jit_process_free(p[i]);
	}
	CHECK(said.lines <= 2 + JIT_COMPLAINTS_USERS + 1);
	log_to(LOG_LEVEL_WARNING, NULL, NULL);
}

static void code_that_cannot_be_kept_is_counted(void)
{
	_cleanup_directory_ char *root = test_directory();
	_cleanup_(jit_reader_freep) struct jit_reader *r = jit_reader_new(root, 0, NULL);
	_cleanup_(jit_process_freep) struct jit_process *p = plant(r, root, 1, 10);
	_cleanup_free_ char *map =
		xasprintf("%s/proc/%u/root/tmp/perf-%u.map", root, p->tgid, p->tgid);
	FILE *more = fopen(map, "ae");

	(void)read_on(r, p);
	CHECK_EQ(stats_of(r).jit_dropped, 0);
	(void)fputs("1000 0 empty\nffffffffffffffff 10 nowhere\n", more);
	CHECK_EQ(fclose(more), 0);
	jit_reader_sync(r, NULL, 9, false);
	CHECK_EQ(stats_of(r).jit_dropped, 2);
	CHECK_EQ(jit_count(p->jit), 10);
}

static void samples_that_wait_are_shared_out_too(void)
{
	_cleanup_directory_ char *root = test_directory();
	_cleanup_(jit_reader_freep) struct jit_reader *r = jit_reader_new(root, 0, NULL);
	_cleanup_(jit_process_freep) struct jit_process *a = plant(r, root, 1, 1);
	_cleanup_(jit_process_freep) struct jit_process *b = plant(r, root, 2, 1);
	size_t i = 0;

	while (jit_process_may_wait(a) && i < 1 << 20)
		i++;
	CHECK(i > 10000 && i < 100000);
	if (geteuid() == 0)
		CHECK(jit_process_may_wait(b));
	jit_process_waited(a, 100);
	CHECK(jit_process_may_wait(a));
}

static const struct jit_code found = { .address = 0x9000, .size = 16, .late = true, .name = "f" };

static void code_that_was_found_waits_for_the_first_search(void)
{
	_cleanup_directory_ char *root = test_directory();
	_cleanup_(jit_reader_freep) struct jit_reader *r = jit_reader_new(root, 0, NULL);
	_cleanup_(jit_process_freep) struct jit_process *p = jit_process_new(r, PID);

	CHECK(!jit_process_needs_search(p));
	jit_process_find(p, &found);
	jit_reader_sync(r, NULL, 1, false);
	CHECK(jit_process_needs_search(p));
	CHECK(jit_process_expects(p, 0x9008));
	CHECK(!jit_process_expects(p, 0x9010));
	CHECK_EQ(jit_count(p->jit), 0);
	(void)jit_process_search(p);
	jit_reader_sync(r, NULL, 2, false);
	CHECK(!jit_process_expects(p, 0x9008));
	CHECK_EQ(jit_count(p->jit), 1);
	CHECK_EQ(p->bytes, jit_bytes(p->jit));
	CHECK(jit_find(p->jit, 0x9008, 1));
	jit_process_find(p, &(struct jit_code){ .address = 0xa000, .size = 16, .name = "g" });
	CHECK(jit_find(p->jit, 0xa000, 1));
	CHECK(jit_process_needs_search(p)); /* its agent may be loaded yet */
}

static void a_jitdump_is_better_than_code_that_was_found(void)
{
	static const uint32_t header[10] = { JIT_DUMP_MAGIC, 1, sizeof(header), 62 };
	_cleanup_directory_ char *root = test_directory();
	_cleanup_free_ char *dump = path_join(root, "jit.dump");
	_cleanup_(jit_reader_freep) struct jit_reader *r = jit_reader_new(root, 0, NULL);
	_cleanup_(jit_process_freep) struct jit_process *p = plant(r, root, 1, 10);
	FILE *f = fopen(dump, "we");

	CHECK_EQ(fwrite(header, sizeof(header), 1, f), 1);
	CHECK_EQ(fclose(f), 0);
	p->sources[p->source_count++] = jit_source_new(open(dump, O_RDONLY | O_CLOEXEC), dump);
	jit_process_find(p, &found);
	jit_reader_sync(r, NULL, 1, false);
	CHECK_EQ(jit_count(p->jit), 10);
	CHECK(jit_process_is_exact(p));
	jit_process_find(p, &found);
	CHECK(!jit_process_needs_search(p));
	CHECK_EQ(jit_count(p->jit), 10);
}

/* Its own files, as another process finds and reads them. */
static void an_opener_finds_and_reads_while_nobody_waits(void)
{
	enum { COUNT = MB / LINE };
	_cleanup_free_ char *map = xasprintf("/tmp/perf-%d.map", getpid());
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	_cleanup_(parser_freep) struct parser *parser = NULL;
	_cleanup_(opener_freep) struct opener *opener = NULL;
	_cleanup_(jit_reader_freep) struct jit_reader *r = NULL;
	_cleanup_(jit_process_freep) struct jit_process *p = NULL;
	size_t i;
	int root;

	for (i = 0; i < COUNT; i++)
		strbuf_addf(&text, "%08zx 00000010 f_%011zu\n", 0x1000 + i * 16, i);
	CHECK_EQ(parser_new(&parser, NULL), 0);
	CHECK_EQ(opener_new(parser, &opener, NULL), 0);
	r = jit_reader_new("", 0, opener);
	p = jit_process_new(r, (uint32_t)getpid());
	/* Also its root directory may be on a server that does not answer. */
	CHECK(jit_files_root(p->files) < 0);
	CHECK(!jit_process_search(p));
	jit_reader_sync(r, parser, 1, true);
	CHECK(jit_files_root(p->files) >= 0);
	CHECK_EQ(p->source_count, 0);
	CHECK_EQ(path_write(map, text.text, 0644, NULL), 0);
	for (i = 1; jit_count(p->jit) < COUNT && i < 100; i++) {
		(void)jit_process_search(p);
		jit_reader_sync(r, parser, i, true);
	}
	CHECK_EQ(unlink(map), 0);
	CHECK_EQ(p->source_count, 1);
	CHECK_EQ(jit_count(p->jit), COUNT);
	CHECK_EQ(p->dropped, 0);
	jit_reader_sync(r, parser, i, true);
	CHECK(p->known == i && !p->unread);
	root = jit_files_root(p->files);
	jit_process_free(STEAL(p));
	/* A thread closes them, which may take as long as it likes. */
	for (i = 0; fcntl(root, F_GETFD) >= 0 && i < 10000; i++)
		(void)poll(NULL, 0, 1);
	CHECK(fcntl(root, F_GETFD) < 0);
}

/* Stands for files that cannot be closed for now. */
struct stuck {
	struct errand errand;
	int until; /* it can be read */
};

static void stick(struct errand *e)
{
	(void)poll(&(struct pollfd){ ((struct stuck *)e)->until, POLLIN, 0 }, 1, -1);
}

static void free_stuck(struct errand *e)
{
	free(e);
}

/* Else there would be no descriptors left. */
static void no_files_are_opened_while_many_cannot_be_closed(void)
{
	_cleanup_close_ int until = eventfd(0, EFD_CLOEXEC);
	_cleanup_(parser_freep) struct parser *parser = NULL;
	_cleanup_(opener_freep) struct opener *opener = NULL;
	_cleanup_(jit_reader_freep) struct jit_reader *r = NULL;
	_cleanup_(jit_process_freep) struct jit_process *p = NULL;
	size_t i;

	CHECK_EQ(parser_new(&parser, NULL), 0);
	CHECK_EQ(opener_new(parser, &opener, NULL), 0);
	r = jit_reader_new("", 0, opener);
	for (i = 0; !jit_reader_is_clogged(r) && i < 1000; i++) {
		struct stuck *s = xcalloc(1, sizeof(*s));

		*s = (struct stuck){ { .run = stick, .drop = free_stuck }, until };
		jit_reader_close(r, &s->errand);
	}
	CHECK_EQ(i, 64);
	p = jit_process_new(r, (uint32_t)getpid());
	jit_reader_sync(r, parser, 1, true);
	CHECK(p->searched);
	CHECK(jit_files_root(p->files) < 0);
	CHECK_EQ(eventfd_write(until, 1), 0);
	for (i = 0; jit_reader_is_clogged(r) && i < 10000; i++)
		(void)poll(NULL, 0, 1);
	(void)jit_process_search(p);
	jit_reader_sync(r, parser, 2, true);
	CHECK(jit_files_root(p->files) >= 0);
}

static void work(void *data _unused_)
{
}

/* If the caller's loop has turns, somebody may take over in them. */
static void a_turn_reads_less(void)
{
	enum { COUNT = 12 * MB / LINE, TURN_BYTES = JIT_SYNC_BYTES / 4 };
	_cleanup_directory_ char *root = test_directory();
	_cleanup_(relief_freep) struct relief *relief = relief_new(work, NULL);
	_cleanup_(jit_reader_freep) struct jit_reader *r =
		jit_reader_new(root, (uint64_t)1 << 40, NULL);
	_cleanup_(jit_process_freep) struct jit_process *p = plant(r, root, 1, COUNT);

	jit_reader_relieve(r, relief);
	jit_reader_sync(r, NULL, 1, false);
	CHECK(jit_count(p->jit) > 0);
	CHECK(jit_count(p->jit) <= (TURN_BYTES + 256 * 1024) / LINE);
	CHECK(read_on(r, p) > 1);
	CHECK_EQ(jit_count(p->jit), COUNT);
}

TESTS(T(a_call_reads_so_much_and_the_next_goes_on), T(a_turn_reads_less),
      T(each_process_and_each_user_has_its_turn), T(users_share_memory_and_get_it_back),
      T(a_large_process_leaves_memory_to_others_of_its_user),
      T(many_processes_do_not_flood_the_log), T(code_that_cannot_be_kept_is_counted),
      T(samples_that_wait_are_shared_out_too), T(code_that_was_found_waits_for_the_first_search),
      T(a_jitdump_is_better_than_code_that_was_found),
      T(an_opener_finds_and_reads_while_nobody_waits),
      T(no_files_are_opened_while_many_cannot_be_closed))
