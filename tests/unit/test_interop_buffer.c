/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Event buffers that were fed to the original daemon must give the sample files that it wrote, call
 * graph files through the chains: the copies in tests/fixtures, and the recordings next to the tree
 * if there are any. */
#include "sample_lines.h"
#include "shared.h"

#include "base/parse.h"
#include "event/evderived.h"
#include "identity/cookie.h"
#include "record/record.h"

/* Lines that differ because the original is wrong. Its 0.9.9 lost an IBS sample that came last in a
 * buffer, and all op samples, whose memory it had not set: they were taken for fetch samples. The
 * rows of ibs-op are derived by hand from the table of events. */
#define WL "{root}/opt/interop/src/wl/{dep}/{root}/opt/interop/src/wl/"
#define WL_CALLS                                                                                   \
	"{root}/opt/interop/src/wl/{dep}/{root}/opt/interop/src/wl/{cg}/{root}/opt/interop/src/"   \
	"wl/"
static const struct {
	const char *name, *event; /* case, sample file */
	uint64_t key, count;
} added[] = {
	{ "ibs-fetch", "IBS_FETCH_ALL.250000.0", 0x13b0, 1 },
	{ "ibs-fetch", "IBS_FETCH_KILLED.250000.0", 0x13b0, 1 },
	{ "ibs-fetch", "IBS_FETCH_ATTEMPTED.250000.0", 0x13b0, 1 },
	{ "ibs-fetch", "IBS_FETCH_ABORTED.250000.0", 0x13b0, 1 },
	/* 1396: data1 0x90005 */
	{ "ibs-op", "IBS_OP_ALL.250000.3", 0x1396, 1 },
	{ "ibs-op", "IBS_OP_TAG_TO_RETIRE.250000.3", 0x1396, 9 },
	{ "ibs-op", "IBS_OP_COMP_TO_RET.250000.3", 0x1396, 5 },
	/* 139f: data1 0x38_00140007, a mispredicted taken branch */
	{ "ibs-op", "IBS_OP_ALL.250000.3", 0x139f, 1 },
	{ "ibs-op", "IBS_OP_TAG_TO_RETIRE.250000.3", 0x139f, 20 },
	{ "ibs-op", "IBS_OP_COMP_TO_RET.250000.3", 0x139f, 7 },
	{ "ibs-op", "IBS_OP_BRANCH_RETIRED.250000.3", 0x139f, 1 },
	{ "ibs-op", "IBS_OP_MISPREDICTED_BRANCH.250000.3", 0x139f, 1 },
	{ "ibs-op", "IBS_OP_TAKEN_BRANCH.250000.3", 0x139f, 1 },
	{ "ibs-op", "IBS_OP_MISPREDICTED_BRANCH_TAKEN.250000.3", 0x139f, 1 },
	/* 13a1: data1 0x30002, data2 3 (local DRAM), data3 0x37_00060085: a load that missed */
	{ "ibs-op", "IBS_OP_ALL.250000.3", 0x13a1, 1 },
	{ "ibs-op", "IBS_OP_TAG_TO_RETIRE.250000.3", 0x13a1, 3 },
	{ "ibs-op", "IBS_OP_COMP_TO_RET.250000.3", 0x13a1, 2 },
	{ "ibs-op", "IBS_OP_ALL_LOAD_STORE.250000.3", 0x13a1, 1 },
	{ "ibs-op", "IBS_OP_LOAD.250000.3", 0x13a1, 1 },
	{ "ibs-op", "IBS_OP_L1_DTLB_MISS_L2_DTLB_HIT.250000.3", 0x13a1, 1 },
	{ "ibs-op", "IBS_OP_DATA_CACHE_MISS.250000.3", 0x13a1, 1 },
	{ "ibs-op", "IBS_OP_L2_DTLB_4K.250000.3", 0x13a1, 1 },
	{ "ibs-op", "IBS_OP_DC_LOAD_LAT.250000.3", 0x13a1, 55 },
	{ "ibs-op", "IBS_OP_NB_LOCAL_ONLY.250000.3", 0x13a1, 1 },
	{ "ibs-op", "IBS_OP_NB_LOCAL_DRAM.250000.3", 0x13a1, 1 },
	{ "ibs-op", "IBS_OP_NB_LOCAL_CACHE_LAT.250000.3", 0x13a1, 55 },
	/* 13a4: data1 0x24_00020001 (a return), data3 0x46_00028102: a misaligned locked store */
	{ "ibs-op", "IBS_OP_ALL.250000.3", 0x13a4, 1 },
	{ "ibs-op", "IBS_OP_TAG_TO_RETIRE.250000.3", 0x13a4, 2 },
	{ "ibs-op", "IBS_OP_COMP_TO_RET.250000.3", 0x13a4, 1 },
	{ "ibs-op", "IBS_OP_BRANCH_RETIRED.250000.3", 0x13a4, 1 },
	{ "ibs-op", "IBS_OP_RETURNS.250000.3", 0x13a4, 1 },
	{ "ibs-op", "IBS_OP_ALL_LOAD_STORE.250000.3", 0x13a4, 1 },
	{ "ibs-op", "IBS_OP_STORE.250000.3", 0x13a4, 1 },
	{ "ibs-op", "IBS_OP_L1_DTLB_HITS.250000.3", 0x13a4, 1 },
	{ "ibs-op", "IBS_OP_DATA_HITS.250000.3", 0x13a4, 1 },
	{ "ibs-op", "IBS_OP_MISALIGNED_DATA_ACC.250000.3", 0x13a4, 1 },
	{ "ibs-op", "IBS_OP_LOCKED.250000.3", 0x13a4, 1 },
	{ "ibs-op", "IBS_OP_L1_DTLB_4K.250000.3", 0x13a4, 1 },
	/* 13a6: data1 1_00010001, data2 0x32 (remote cache, owned), data3 0xc8_0002088f: load and
	 * store that missed everywhere */
	{ "ibs-op", "IBS_OP_ALL.250000.3", 0x13a6, 1 },
	{ "ibs-op", "IBS_OP_TAG_TO_RETIRE.250000.3", 0x13a6, 1 },
	{ "ibs-op", "IBS_OP_COMP_TO_RET.250000.3", 0x13a6, 1 },
	{ "ibs-op", "IBS_OP_RESYNC.250000.3", 0x13a6, 1 },
	{ "ibs-op", "IBS_OP_ALL_LOAD_STORE.250000.3", 0x13a6, 1 },
	{ "ibs-op", "IBS_OP_LOAD.250000.3", 0x13a6, 1 },
	{ "ibs-op", "IBS_OP_STORE.250000.3", 0x13a6, 1 },
	{ "ibs-op", "IBS_OP_L1_L2_DTLB_MISS.250000.3", 0x13a6, 1 },
	{ "ibs-op", "IBS_OP_DATA_CACHE_MISS.250000.3", 0x13a6, 1 },
	{ "ibs-op", "IBS_OP_FORWARD.250000.3", 0x13a6, 1 },
	{ "ibs-op", "IBS_OP_DC_LOAD_LAT.250000.3", 0x13a6, 200 },
	{ "ibs-op", "IBS_OP_NB_REMOTE_ONLY.250000.3", 0x13a6, 1 },
	{ "ibs-op", "IBS_OP_NB_REMOTE_CACHE.250000.3", 0x13a6, 1 },
	{ "ibs-op", "IBS_OP_NB_CACHE_OWNED.250000.3", 0x13a6, 1 },
	{ "ibs-op", "IBS_OP_NB_REMOTE_CACHE_LAT.250000.3", 0x13a6, 200 },
	/* 13a8 has its RIP-invalid bit set: no event */
};

/* Of a caller that was itself called, the original kept the return address as the place where it
 * executes. We keep the call before it, which is in the caller even if it is the last
 * instruction. */
static const struct {
	const char *original, *right;
} lines[] = {
	{ WL_CALLS "CPU_CLK_UNHALTED.100000.0.all.all.all\t156000001540\t1",
	  WL_CALLS "CPU_CLK_UNHALTED.100000.0.all.all.all\t15600000153f\t1" },
};

static const struct {
	const char *name, *original, *right;
} statistics[] = {
	{ "ibs-fetch", "Nr. incomplete code structs: 1", "Nr. incomplete code structs: 0" },
	{ "ibs-fetch", "Nr. IBS derived events    : 20", "Nr. IBS derived events    : 24" },
	{ "ibs-op", "Nr. incomplete code structs: 2", "Nr. incomplete code structs: 0" },
	{ "ibs-op", "Nr. IBS derived events    : 0", "Nr. IBS derived events    : 49" },
};

/* Counters of the kernel driver, not of the daemon: not record's. */
static const char *const of_driver[] = {
	"Nr. samples lost due to buffer overflow",
	"Nr. samples lost due to no mapping",
	"Nr. samples lost due to no mm",
	"Nr. samples lost cpu buffer overflow",
	"Nr. samples received",
	"Nr. backtrace aborted",
	"Nr. samples lost invalid pc",
	"Nr. backtraces skipped due to no file mapping",
	"----",
};

/* A case while it runs. */
struct run {
	const char *name;
	char *input, *cookies, *args, *expected, *statistics; /* the files' texts */
	struct record_config config;
	struct evderived derived;
	struct event events[EVENT_MAX];
	struct cookie_table *table;
};

static char *take(const char *dir, const char *name)
{
	_cleanup_free_ char *path = path_join(dir, name);
	char *text = NULL;

	if (path_read(NULL, path, &text, NULL) < 0)
		return xstrdup("");
	return text;
}

static int define_cookie(const char *line, void *data)
{
	struct run *run = data;
	const char *at = line;
	struct cookie_image image = { .kind = COOKIE_FILE };

	if (parse_hex(&at, &image.cookie) == 0 && *at == ' ') {
		image.path = (char *)at + 1;
		cookie_define(run->table, &image);
	}
	return 0;
}

/* NAME:CODE:COUNTER:COUNT:UM:KERNEL:USER */
static int add_event(const char *text, void *data)
{
	struct run *run = data;
	struct event *e = &run->events[run->config.event_count++];
	unsigned int code, counter, um;

	memset(e, 0, sizeof(*e));
	e->kernel = e->user = true;
	CHECK_EQ(sscanf(text, "%63[^:]:%u:%u:%" SCNu64 ":%u", e->name, &code, &counter, &e->count,
			&um),
		 5);
	CHECK_EQ(counter, run->config.event_count - 1);
	e->code = code;
	e->unit_mask = um;
	return 0;
}

/* One of the original daemon's options. */
static void apply(struct run *run, char *arg)
{
	static const struct {
		const char *name;
		unsigned int bit;
	} bits[] = { { "--separate-lib=1", RECORD_SEPARATE_LIB },
		     { "--separate-kernel=1", RECORD_SEPARATE_KERNEL },
		     { "--separate-thread=1", RECORD_SEPARATE_THREAD },
		     { "--separate-cpu=1", RECORD_SEPARATE_CPU } };
	struct record_config *c = &run->config;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bits); i++)
		if (!strcmp(arg, bits[i].name))
			c->separate |= bits[i].bit;
	if (!strcmp(arg, "--no-vmlinux"))
		c->no_vmlinux = true;
	else if (!strncmp(arg, "--vmlinux=", 10))
		c->vmlinux = arg + 10;
	else if (!strncmp(arg, "--events=", 9))
		(void)parse_list(arg + 9, ',', add_event, run);
	else if (!strncmp(arg, "ibs:", 4))
		CHECK_EQ(evderived_parse(arg, &run->derived, NULL), 0);
	else if (!strncmp(arg, "--kernel-range=", 15))
		CHECK_EQ(sscanf(arg + 15, "%" SCNx64 ",%" SCNx64, &c->kernel_start, &c->kernel_end),
			 2);
}

/* The process whose region the daemon found: a root whose /proc has it. */
static char *fake_root(void)
{
	char *root = test_directory();
	_cleanup_free_ char *dir = path_join(root, "proc/29573");
	_cleanup_free_ char *maps = path_join(dir, "maps");

	CHECK_EQ(path_make_dirs(dir, 0755, NULL), 0);
	CHECK_EQ(path_write(maps,
			    "00400000-00401000 r-xp 00000000 08:01 7 /opt/interop/src/wl\n"
			    "7f86db632000-7f86db642000 rwxp 00000000 00:00 0 \n",
			    0644, NULL),
		 0);
	return root;
}

static int feed_line(const char *line, void *data)
{
	uint64_t words[512], word;
	size_t count = 0;

	while (*line) {
		line += strspn(line, " ");
		if (!*line || parse_hex(&line, &word) < 0)
			break;
		words[count++] = word;
		CHECK(count < ARRAY_SIZE(words));
	}
	CHECK_EQ(record_words(words, count, data), 0);
	return 0;
}

struct listing {
	char **lines;
	size_t count, room;
};

static void add_line(struct listing *l, char *line)
{
	array_grow(&l->lines, l->count + 1, &l->room);
	l->lines[l->count++] = line;
}

static int list_file(const char *path, const struct sname *name, void *data)
{
	_cleanup_(sfile_closep) struct sfile *sf = NULL;
	_cleanup_free_ char *mangled = sname_mangle(name);
	const struct odb_node *nodes;
	size_t i, count;

	CHECK_EQ(sfile_open(path, &sf, NULL), 0);
	nodes = sf ? odb_nodes(sfile_odb(sf), &count) : NULL;
	for (i = 0; nodes && i < count; i++)
		add_line(data,
			 xasprintf("%s\t%" PRIx64 "\t%u", mangled, nodes[i].key, nodes[i].value));
	return 0;
}

static int take_line(const char *line, void *data)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lines); i++)
		if (!strcmp(line, lines[i].original))
			line = lines[i].right;
	if (*line != '#')
		add_line(data, xstrdup(line));
	return 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Both listings hold the same lines; frees them. */
static void compare(const char *name, struct listing *have, struct listing *want)
{
	size_t i = 0, j = 0;

	qsort(have->lines, have->count, sizeof(*have->lines), by_text);
	qsort(want->lines, want->count, sizeof(*want->lines), by_text);
	CHECK(want->count || !strcmp(name, "empty"));
	while (i < have->count || j < want->count) {
		int order = i == have->count   ? 1
			    : j == want->count ? -1
					       : strcmp(have->lines[i], want->lines[j]);

		if (order != 0) {
			test_failures++;
			printf("# %s: %s: %s\n", name, order < 0 ? "too much" : "missing",
			       order < 0 ? have->lines[i] : want->lines[j]);
		}
		i += order <= 0;
		j += order >= 0;
	}
	for (i = 0; i < have->count; i++)
		free(have->lines[i]);
	for (i = 0; i < want->count; i++)
		free(want->lines[i]);
	free(have->lines);
	free(want->lines);
}

static void check_files(const struct run *run, const char *samples)
{
	_cleanup_(strbuf_done) struct strbuf arcs = STRBUF_INIT;
	struct listing have = { 0 }, want = { 0 };
	size_t i;

	(void)parse_list(run->expected, '\n', take_line, &want);
	for (i = 0; i < ARRAY_SIZE(added); i++)
		if (!strcmp(added[i].name, run->name))
			add_line(&want, xasprintf(WL "%s.all.all.all\t%" PRIx64 "\t%" PRIu64,
						  added[i].event, added[i].key, added[i].count));
	CHECK_EQ(session_walk(samples, list_file, NULL, &have, NULL), 0);
	list_arcs(samples, '\t', &arcs);
	(void)parse_list(strbuf_text(&arcs), '\n', take_line, &have);
	compare(run->name, &have, &want);
}

/* A line of the original's statistics must be in ours. */
struct stat_check {
	const struct run *run;
	const char *text;
};

static int check_stat(const char *line, void *data)
{
	const struct stat_check *check = data;
	_cleanup_free_ char *whole = NULL;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(of_driver); i++)
		if (!strncmp(line, of_driver[i], strlen(of_driver[i])))
			return 0;
	for (i = 0; i < ARRAY_SIZE(statistics); i++)
		if (!strcmp(statistics[i].name, check->run->name) &&
		    !strcmp(statistics[i].original, line))
			line = statistics[i].right;
	whole = xasprintf("%s\n", line);
	if (!strstr(check->text, whole)) {
		test_failures++;
		printf("# %s: not in the statistics: %s\n", check->run->name, line);
	}
	return 0;
}

static void check_statistics(const struct run *run, const struct record *rec)
{
	_cleanup_free_ char *text = NULL;
	struct record_stats totals;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	record_stats(rec, &totals);
	record_print_stats(rec, &totals, out);
	(void)fclose(out);
	(void)parse_list(run->statistics, '\n', check_stat,
			 &(struct stat_check){ .run = run, .text = text });
}

static void run_case(const char *dir, const char *name)
{
	_cleanup_free_ char *base = path_join(dir, name);
	_cleanup_directory_ char *session = test_directory();
	_cleanup_directory_ char *root = fake_root();
	_cleanup_free_ char *samples = session_samples(session, "current");
	struct run run = { .name = name,
			   .input = take(base, "input.hex"),
			   .cookies = take(base, "cookies"),
			   .args = take(base, "args"),
			   .expected = take(base, "expected.tsv"),
			   .statistics = take(base, "statistics"),
			   .table = cookie_table_new() };
	struct record *rec = NULL;
	struct error err = ERROR_INIT;
	char *save = NULL, *arg;

	run.config.session_dir = session;
	run.config.session_name = "current";
	run.config.root = root;
	run.config.cookies = run.table;
	run.config.events = run.events;
	run.config.derived = &run.derived;
	(void)parse_list(run.cookies, '\n', define_cookie, &run);
	for (arg = strtok_r(run.args, " \n", &save); arg; arg = strtok_r(NULL, " \n", &save))
		apply(&run, arg);
	CHECK_EQ(record_new(&run.config, &rec, &err), 0);
	if (rec) {
		(void)parse_list(run.input, '\n', feed_line, rec);
		CHECK_EQ(record_flush(rec, true, &err), 0);
		check_files(&run, samples);
		check_statistics(&run, rec);
	}
	record_free(rec);
	cookie_table_free(run.table);
	free(run.input);
	free(run.cookies);
	free(run.args);
	free(run.expected);
	free(run.statistics);
}

static const char *const cases[] = { "flat-none", "flat-lib",  "anon",
				     "callgraph", "ibs-fetch", "ibs-op" };

static void copies_give_the_original_daemons_sample_files(void)
{
	_cleanup_free_ char *dir =
		path_join(getenv("OP_SOURCE_ROOT"), "tests/fixtures/eventbuffer");
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		run_case(dir, cases[i]);
}

static void recordings_give_the_original_daemons_sample_files(void)
{
	_cleanup_free_ char *dir = shared_path("interop/eventbuffer");
	size_t i;

	if (!dir)
		SKIP(SHARED_MISSING);
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		run_case(dir, cases[i]);
}

TESTS(T(copies_give_the_original_daemons_sample_files),
      T(recordings_give_the_original_daemons_sample_files))
