/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tool as a user sees it: what it prints, how it exits, what it leaves. */
#include "test.h"

#include "base/strbuf.h"
#include "chains/chain_store.h"
#include "sfile/session.h"
#include "sfile/session_lock.h"
#include "sfile/sfile.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define SPEC  "TIMER.0.0.all.all.all"
#define OWN   "{root}/bin/a/{dep}/{root}/bin/a/" SPEC
#define OTHER "{root}/bin/a/{dep}/{root}/bin/\374/" SPEC

enum { CURRENT = 76 }; /* offset of the number of nodes */

/* A session of two files of 3 samples each. */
static char *make_session(const char *dir)
{
	static const char *const names[] = { OWN, OTHER };
	char *samples = session_samples(dir, "current");
	struct error err = ERROR_INIT;
	uint64_t key;
	size_t i;

	CHECK_EQ(session_create(dir, "current", &err), 0);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_free_ char *path = path_join(samples, names[i]);
		_cleanup_(sfile_closep) struct sfile *sf = NULL;

		if (!CHECK(sfile_create(path, &(struct sfile_header){ 0 }, &sf, &err) == 0))
			abort();
		for (key = 0; key < 3; key++)
			CHECK_EQ(odb_add(sfile_odb(sf), key, 1), 0);
	}
	return samples;
}

static void write_at(const char *samples, const char *name, off_t offset, const void *bytes,
		     size_t size)
{
	_cleanup_free_ char *path = path_join(samples, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0 || pwrite(fd, bytes, size, offset) != (ssize_t)size)
		abort();
	(void)close(fd);
}

/* Runs opcheck in @dir; its exit status, and what it printed with "DIR/" cut out. */
static int run(const char *dir, const char *arguments, struct strbuf *out)
{
	const char *build = getenv("OP_BUILD_ROOT");
	_cleanup_free_ char *command = xasprintf("cd '%s' && '%s/tools/opcheck' %s 2>&1", dir,
						 build ? build : ".", arguments);
	char line[4096];
	FILE *f = popen(command, "re");
	int status;

	strbuf_clear(out);
	while (f && fgets(line, sizeof(line), f))
		strbuf_adds(out, line);
	status = f ? pclose(f) : -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool says(const struct strbuf *out, const char *text)
{
	if (strstr(strbuf_text(out), text))
		return true;
	printf("# not said: %s\n# but: %s\n", text, strbuf_text(out));
	return false;
}

static void a_whole_session_is_one_line(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;

	free(make_session(dir));
	CHECK_EQ(run(dir, ".", &out), 0);
	CHECK_STR(strbuf_text(&out), "2 sample files, 6 samples: no damage\n");
	CHECK_EQ(run(dir, "samples/current/", &out), 0);
	CHECK_STR(strbuf_text(&out), "2 sample files, 6 samples: no damage\n");
	CHECK_EQ(run(dir, "--verbose 'samples/current/" OWN "'", &out), 0);
	CHECK(says(&out, OWN ": undamaged: 3 nodes, 3 samples\n"
			     "1 sample file, 3 samples: no damage\n"));
	CHECK_EQ(run(dir, "--quiet .", &out), 0);
	CHECK_STR(strbuf_text(&out), "");
}

static void damage_is_named_and_repaired(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *samples = make_session(dir);
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;

	write_at(samples, OWN, CURRENT, "\0\0\0\0", 4);
	CHECK_EQ(run(dir, ".", &out), 1);
	CHECK(says(&out, "./samples/current/" OWN ": impossible size or number of nodes\n"));
	CHECK(says(&out, "6 samples: 1 damaged (opcheck --repair repairs"));
	CHECK_EQ(run(dir, "--quiet .", &out), 1);
	CHECK_EQ(run(dir, "--repair .", &out), 0);
	CHECK(says(&out, "impossible size or number of nodes; repaired\n"));
	CHECK(says(&out, "1 damaged: 1 repaired, 0 moved away, 0 left\n"));
	CHECK_EQ(run(dir, ".", &out), 0);
	CHECK(says(&out, "2 sample files, 6 samples: no damage\n"));
}

static void what_cannot_be_saved_is_moved_away(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *samples = make_session(dir);
	_cleanup_free_ char *first = path_join(samples, "damaged/" OWN);
	_cleanup_free_ char *second = path_join(samples, "damaged/" OWN ".2");
	_cleanup_free_ char *core = path_join(samples, "damaged/{root}/bin/core");
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;

	write_at(samples, OWN, 0, "XXXX", 4);
	write_at(samples, "{root}/bin/core", 0, "x", 1);
	CHECK_EQ(run(dir, "--repair .", &out), 0);
	CHECK(says(&out, OWN ": not a sample file: does not start with DAE; moved to ./samples/"));
	CHECK(says(&out, "2 damaged: 0 repaired, 2 moved away, 0 left\n"));
	CHECK_EQ(access(first, F_OK), 0);
	CHECK_EQ(access(core, F_OK), 0);
	/* Another of that name, given as a single file. */
	write_at(samples, OWN, 0, "XXXX", 4);
	CHECK_EQ(run(dir, "--repair 'samples/current/" OWN "'", &out), 0);
	CHECK_EQ(access(second, F_OK), 0);
	CHECK_EQ(run(dir, ".", &out), 0);
	CHECK(says(&out, "1 sample file, 3 samples: no damage\n"));
}

static void a_foreign_file_stays_where_it_is(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *samples = make_session(dir);
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;

	write_at(samples, OWN, 4, "\0\0\0\x13", 4);
	CHECK_EQ(run(dir, "--repair .", &out), 1);
	CHECK(says(&out, "convert it with opimport\n"));
	CHECK(says(&out, "1 damaged\n"));
}

static void a_lone_file_that_is_lost_is_left(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;

	write_at(dir, "lone", 0, "XXXX", 4);
	CHECK_EQ(run(dir, "--repair lone", &out), 1);
	CHECK(says(&out, "lone: not a sample file: does not start with DAE; not repaired: nothing "
			 "in it can be recovered; delete it\n"));
}

static void damaged_lines_of_the_manifest_go(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *samples = make_session(dir);
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;
	static const char text[] = "nonsense\n/a\t/a\t-\t1\t2\t3:4:5:6\n";

	write_at(samples, "images", 0, text, sizeof(text) - 1);
	CHECK_EQ(run(dir, ".", &out), 1);
	CHECK(says(&out, "images: 1 damaged line\n"));
	CHECK_EQ(run(dir, "-r .", &out), 0);
	CHECK_EQ(run(dir, ".", &out), 0);
}

static void add_chain(const char *samples)
{
	struct chain_context context = { .event = "TIMER.0.0",
					 .end = "complete",
					 .task = SNAME_TASK_ALL };
	struct chain_frame frames[] = { { 0, 0x10 }, { 0, 0x20 } };
	struct chain_store *s = NULL;
	uint32_t id = 0;

	CHECK_EQ(chain_store_open(samples, &s, NULL), 0);
	CHECK_EQ(chain_store_image(s, &(struct sname_image){ .kind = SNAME_ROOT, .name = "/bin/a" },
				   false, &context.app, NULL),
		 0);
	frames[0].image = frames[1].image = context.app;
	CHECK_EQ(chain_store_context(s, &context, &id, NULL), 0);
	CHECK_EQ(chain_store_add(s, id, &(struct chain){ frames, 2, 3 }, NULL), 0);
	chain_store_close(s);
}

static void call_chains_are_checked_too(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *samples = make_session(dir);
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;

	add_chain(samples);
	CHECK_EQ(run(dir, ".", &out), 0);
	CHECK_STR(strbuf_text(&out), "2 sample files, 6 samples: no damage\n");
	write_at(samples, "chains/slices.0", 0, "no slice", 8);
	CHECK_EQ(run(dir, ".", &out), 1);
	CHECK(says(&out, "/chains: slices with 8 damaged bytes, "));
	write_at(samples, "chains/nodes.0", 32 + 12 * 3 + 4, "\x63", 1);
	CHECK_EQ(run(dir, ".", &out), 1);
	CHECK(says(&out, "/chains: 1 node with 3 samples damaged"));
	CHECK_EQ(run(dir, "--repair .", &out), 0);
	CHECK(says(&out, "; repaired\n"));
	CHECK_EQ(run(dir, ".", &out), 0);
	/* Nothing in a file without a header can be saved. */
	write_at(samples, "chains/nodes.0", 0, "nonsense", 8);
	CHECK_EQ(run(dir, ".", &out), 1);
	CHECK(says(&out, "not a call-chain file\n"));
	CHECK_EQ(run(dir, "--repair .", &out), 0);
	CHECK(says(&out, "; moved to "));
	CHECK_EQ(run(dir, ".", &out), 0);
}

static void json_has_every_byte_of_a_path(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *samples = make_session(dir);
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;

	CHECK_EQ(run(dir, "--json .", &out), 0);
	CHECK_STR(strbuf_text(&out), "{\n  \"files\": [],\n  \"sample_files\": 2, \"nodes\": 6, "
				     "\"samples\": 6, \"left\": 0, \"repaired\": 0, \"moved\": 0, "
				     "\"not_looked_at\": 0\n}\n");
	write_at(samples, OTHER, CURRENT, "\0\0\0\0", 4);
	CHECK_EQ(run(dir, "--json .", &out), 1);
	CHECK(says(&out, "/{root}/bin/\\u00fc/" SPEC "\", \"action\": \"left\", \"nodes\": 3, "
			 "\"samples\": 3, \"problems\": [\"descriptor\"], \"text\": \"impossible"));
}

static void a_session_being_written_is_not_touched(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *samples = make_session(dir);
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;
	int lock = session_lock(dir, NULL);

	CHECK(lock >= 0);
	write_at(samples, OWN, CURRENT, "\3\0\0\0", 4);
	CHECK_EQ(run(dir, ".", &out), 0);
	CHECK(says(&out, "is being written; nodes and chains are not checked\n"));
	CHECK_EQ(run(dir, "--repair .", &out), 2);
	CHECK(says(&out, "not repaired: "));
	(void)close(lock);
	CHECK_EQ(run(dir, ".", &out), 1);
	CHECK(says(&out, "the writer died during an insertion\n"));
	CHECK_EQ(run(dir, "--repair .", &out), 0);
}

static void what_cannot_be_looked_at_is_trouble(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;

	CHECK_EQ(run(dir, "nothing", &out), 2);
	CHECK(says(&out, "opcheck: nothing: No such file or directory\n"));
	CHECK_EQ(run(dir, ".", &out), 2);
	CHECK(says(&out, "opcheck: .: neither a session directory nor a session\n"));
	CHECK_EQ(run(dir, "--nonsense", &out), 2);
}

static void the_session_of_this_directory_is_the_default(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *session = path_join(dir, "oprofile_data");
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;

	free(make_session(session));
	CHECK_EQ(run(dir, "", &out), 0);
	CHECK_STR(strbuf_text(&out), "2 sample files, 6 samples: no damage\n");
}

TESTS(T(a_whole_session_is_one_line), T(damage_is_named_and_repaired),
      T(what_cannot_be_saved_is_moved_away), T(a_foreign_file_stays_where_it_is),
      T(a_lone_file_that_is_lost_is_left), T(damaged_lines_of_the_manifest_go),
      T(call_chains_are_checked_too), T(json_has_every_byte_of_a_path),
      T(a_session_being_written_is_not_touched), T(what_cannot_be_looked_at_is_trouble),
      T(the_session_of_this_directory_is_the_default))
