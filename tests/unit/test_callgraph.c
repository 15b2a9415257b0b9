/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "chains/chain_store.h"
#include "profile/profile.h"
#include "profile/binary/binary.h"
#include "profile/rows/callgraph.h"
#include "profile/select/classes.h"
#include "profile/select/gather.h"
#include "profile/select/by_image.h"
#include "profile/rows/populate.h"
#include "sfile/session.h"
#include "sfile/sfile.h"

enum { ROWS = 40, CLASSES = 2, RAW = 5000 };

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

/* Rows whose ids run against their order, and raw arcs between ids; what they add up to by row
 * numbers goes to @sums. */
static void make_graph(struct container *c, struct callgraph *graph,
		       uint64_t sums[ROWS][ROWS][CLASSES])
{
	struct samples *raw = &graph->raw;
	uint32_t state = 1, i;

	container_init(c, CLASSES);
	for (i = 0; i < ROWS; i++)
		(void)container_add_row(c, &(struct row){ .kind = ROW_UNNAMED });
	for (i = 0; i < ROWS; i++)
		c->rows[i].id = ROWS - 1 - i;
	*graph = (struct callgraph){ .class_count = CLASSES };
	array_grow(&raw->samples, RAW, &raw->room);
	for (i = 0; i < RAW; i++) {
		uint32_t from = next_random(&state) % ROWS, to = next_random(&state) % ROWS;
		uint32_t class = next_random(&state) % CLASSES, n = next_random(&state) % 5;

		from = from * from / ROWS; /* some call much, and row 0 in them all is called */
		raw->samples[raw->count++] = (struct sample){ (uint64_t)from << 32 | to, n, class };
		sums[ROWS - 1 - from][ROWS - 1 - to][class] += n;
	}
}

/* Both lists have each arc once, with the sums of all that stood for it. */
static void arcs_add_up_by_rows(void)
{
	static uint64_t sums[ROWS][ROWS][CLASSES];
	struct container c;
	struct callgraph graph;
	size_t row, i, class, wrong = 0, seen = 0;

	make_graph(&c, &graph, sums);
	callgraph_arrange(&graph, &c);
	for (row = 0; row < ROWS; row++) {
		for (i = graph.callees.first[row]; i < graph.callees.first[row + 1]; i++) {
			const struct arc *arc = &graph.callees.arcs[i];

			wrong += arc->caller != row;
			for (class = 0; class < CLASSES; class ++)
				wrong += arc->counts[class] != sums[row][arc->callee][class];
			seen++;
		}
		for (i = graph.callers.first[row]; i < graph.callers.first[row + 1]; i++) {
			const struct arc *arc = &graph.callers.arcs[i];

			wrong += arc->callee != row;
			for (class = 0; class < CLASSES; class ++)
				wrong += arc->counts[class] != sums[arc->caller][row][class];
		}
	}
	CHECK_EQ(wrong, 0);
	CHECK_EQ(seen, graph.count);
	CHECK_EQ(graph.callers.first[ROWS], graph.count);
	callgraph_done(&graph);
	container_done(&c);
}

static size_t count_disorder(const struct arc_list *list)
{
	size_t row, i, wrong = 0;

	for (row = 0; row < ROWS; row++) {
		for (i = list->first[row] + 1; i < list->first[row + 1]; i++) {
			const struct arc *a = &list->arcs[i - 1], *b = &list->arcs[i];
			uint32_t first = a->caller == b->caller ? a->callee : a->caller;
			uint32_t second = a->caller == b->caller ? b->callee : b->caller;

			uint64_t more = container_sum(a->counts, CLASSES);
			uint64_t less = container_sum(b->counts, CLASSES);

			wrong += more < less || (more == less && first >= second);
		}
	}
	return wrong;
}

/* Long lists are sorted in another way than short ones; both come out the same. */
static void the_arcs_of_a_row_stand_by_count_then_row(void)
{
	static uint64_t sums[ROWS][ROWS][CLASSES];
	struct container c;
	struct callgraph graph;
	size_t row, shortest = SIZE_MAX, longest = 0;

	make_graph(&c, &graph, sums);
	callgraph_arrange(&graph, &c);
	for (row = 0; row < ROWS; row++) {
		size_t n = graph.callees.first[row + 1] - graph.callees.first[row];

		shortest = MIN(shortest, n);
		longest = MAX(longest, n);
	}
	CHECK(shortest < 10 && longest > 30);
	CHECK_EQ(count_disorder(&graph.callees), 0);
	CHECK_EQ(count_disorder(&graph.callers), 0);
	callgraph_done(&graph);
	container_done(&c);
}

static void a_graph_without_arcs_is_one(void)
{
	struct container c;
	struct callgraph graph = { .class_count = 1 };

	container_init(&c, 1);
	(void)container_add_row(&c, &(struct row){ .kind = ROW_UNNAMED });
	callgraph_arrange(&graph, &c);
	CHECK_EQ(graph.count, 0);
	CHECK_EQ(graph.callees.first[1], 0);
	CHECK_EQ(graph.callers.first[1], 0);
	callgraph_done(&graph);
	container_done(&c);
}

static void write_arcs(const char *samples, const char *below, const uint64_t *pairs)
{
	_cleanup_free_ char *path = path_join(samples, below);
	_cleanup_(sfile_closep) struct sfile *sf = NULL;

	CHECK_EQ(sfile_create(path, &(struct sfile_header){ .cpu_type = 4 }, &sf, NULL), 0);
	for (; sf && pairs[1]; pairs += 2)
		CHECK_EQ(odb_add(sfile_odb(sf), pairs[0], (uint32_t)pairs[1]), 0);
}

/* Twenty programs with arcs from the program to a library, in it, and back. */
static void write_session(const char *samples, const char *library, const char *program)
{
	static const uint64_t flat[] = { 0x1000, 2, 0, 0 };
	static const uint64_t arcs[] = { 0x100000001001, 3, 0, 0 };
	static const char *const event = "TIMER.0.0.all.all.all";
	size_t i;

	for (i = 0; i < 20; i++) {
		_cleanup_free_ char *app = xasprintf("{root}/bin/p%zu/{dep}/{root}", i);
		_cleanup_free_ char *own = xasprintf("%s%s/%s", app, library, event);
		_cleanup_free_ char *in =
			xasprintf("%s%s/{cg}/{root}%s/%s", app, library, library, event);
		_cleanup_free_ char *to =
			xasprintf("%s%s/{cg}/{root}%s/%s", app, program, library, event);
		_cleanup_free_ char *back =
			xasprintf("%s%s/{cg}/{root}%s/%s", app, library, program, event);

		write_arcs(samples, own, flat);
		write_arcs(samples, in, arcs);
		write_arcs(samples, to, arcs);
		write_arcs(samples, back, arcs);
	}
}

struct pipeline {
	struct profile *profile;
	struct container container;
	struct callgraph graph;
	struct populate_stats stats;
};

static bool run(const char *directory, const struct populate_config *config, struct pipeline *p)
{
	struct profile_config where = { .session_dir = directory,
					.binaries = { .keep = true },
					.calls = true,
					.chains = PROFILE_CHAINS_IF_ANY };
	struct populate_job job = { .config = config, .out = &p->container };
	struct error err = ERROR_INIT;

	*p = (struct pipeline){ 0 };
	if (!CHECK(profile_open(&where, 0, NULL, &p->profile, &err) == 0)) {
		printf("# %s\n", err.text);
		return false;
	}
	job.gather = p->profile->gather;
	job.classes = &p->profile->classes;
	job.by_image = &p->profile->by_image;
	job.binaries = p->profile->binaries;
	container_init(&p->container, p->profile->classes.count);
	populate_images(&job);
	callgraph_collect(&job, &p->graph);
	p->stats = job.stats;
	return true;
}

static void done(struct pipeline *p)
{
	callgraph_done(&p->graph);
	container_done(&p->container);
	profile_close(p->profile);
}

static uint64_t sum_of_arcs(const struct callgraph *graph)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < graph->raw.count; i++)
		sum += graph->raw.samples[i].count;
	return sum;
}

static void images_at_both_ends_are_opened_once(void)
{
	_cleanup_directory_ char *directory = test_directory();
	_cleanup_free_ char *samples = session_samples(directory, "current");
	_cleanup_free_ char *library =
		xasprintf("%s/tests/fixtures/elf/lib.so", getenv("OP_BUILD_ROOT"));
	_cleanup_free_ char *program =
		xasprintf("%s/tests/fixtures/elf/exe-pie", getenv("OP_BUILD_ROOT"));
	struct pipeline p;
	size_t rows;

	write_session(samples, library, program);
	if (run(directory, &(struct populate_config){ .symbols = true }, &p)) {
		CHECK_EQ(binaries_opened(p.profile->binaries), 2);
		CHECK_EQ(p.stats.read, 80);
		CHECK_EQ(sum_of_arcs(&p.graph), 20 * 9);
	}
	rows = p.container.count;
	done(&p);
	if (run(directory, &(struct populate_config){ .symbols = true, .merge_lib = true }, &p)) {
		CHECK_EQ(p.container.count * 20, rows);
		CHECK_EQ(sum_of_arcs(&p.graph), 20 * 9);
	}
	done(&p);
}

/* --- code after the last symbol before a gap --- */

/* Of lib-stripped.so: marked_first has the first offset, marked_second ends at the second. */
enum { IN_FIRST = 0x1100, AFTER_SECOND = 0x1117 };

/* Adds a chain of the program, or of the kernel below it. */
static void add_chain(struct chain_store *s, const char *program, const struct chain *chain,
		      struct chain_frame *frames)
{
	const struct sname_image images[] = { { .kind = SNAME_ROOT, .name = program },
					      { .kind = SNAME_KERN, .name = "no-vmlinux" } };
	struct chain_context context = { .event = "TIMER.0.0",
					 .end = "complete",
					 .task = SNAME_TASK_ALL };
	uint32_t id = 0;
	size_t i;

	CHECK_EQ(chain_store_image(s, &images[0], false, &context.app, NULL), 0);
	for (i = 0; i < chain->count; i++)
		CHECK_EQ(chain_store_image(s, &images[frames[i].offset >> 63],
					   frames[i].offset >> 63, &frames[i].image, NULL),
			 0);
	CHECK_EQ(chain_store_context(s, &context, &id, NULL), 0);
	CHECK_EQ(chain_store_add(s, id, chain, NULL), 0);
}

/* marked_first calls what executes after marked_second in 3 samples, and marked_second, whose last
 * instruction entered the kernel, in 5. */
static void write_leaf_and_entry(const char *samples, const char *program)
{
	static const uint64_t flat[] = { AFTER_SECOND, 3, 0, 0 };
	struct chain_frame leaf[] = { { .offset = AFTER_SECOND }, { .offset = IN_FIRST } };
	struct chain_frame entry[] = { { .offset = UINT64_MAX << 31 },
				       { .offset = AFTER_SECOND },
				       { .offset = IN_FIRST } };
	_cleanup_free_ char *own =
		xasprintf("{root}%s/{dep}/{root}%s/TIMER.0.0.all.all.all", program, program);
	struct chain_store *s = NULL;

	write_arcs(samples, own, flat);
	CHECK_EQ(chain_store_open(samples, &s, NULL), 0);
	add_chain(s, program, &(struct chain){ leaf, ARRAY_SIZE(leaf), 3 }, leaf);
	add_chain(s, program, &(struct chain){ entry, ARRAY_SIZE(entry), 5 }, entry);
	chain_store_close(s);
}

/* The samples of the arcs from marked_first to the row, a symbol's or another's. */
static uint64_t called_by_first(const struct pipeline *p, const char *callee)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < p->graph.raw.count; i++) {
		const struct sample *arc = &p->graph.raw.samples[i];
		const struct row *from = &p->container.rows[arc->offset >> 32];
		const struct row *to = &p->container.rows[arc->offset & UINT32_MAX];
		const char *name = to->kind == ROW_SYMBOL ? to->symbol->name : "";

		if (from->kind == ROW_SYMBOL && !strcmp(from->symbol->name, "marked_first") &&
		    !strcmp(name, callee))
			sum += arc->count;
	}
	return sum;
}

/* The samples of the program's rows of code in a symbol, or in none, by class. */
static uint64_t sum_of_rows(const struct chains *c, const char *symbol, size_t class)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < c->rows.count; i++) {
		const struct row *row = &c->rows.rows[i];
		const char *name = row->kind == ROW_SYMBOL ? row->symbol->name : "";

		if (!strcmp(name, symbol) && !c->is_kernel[row->image])
			sum += row->counts[class];
	}
	return sum;
}

static void check_chains(const struct chains *c)
{
	CHECK_EQ(sum_of_rows(c, "", CHAINS_SELF), 3);
	CHECK_EQ(sum_of_rows(c, "marked_second", CHAINS_INCLUSIVE), 5);
	CHECK_EQ(sum_of_rows(c, "marked_first", CHAINS_INCLUSIVE), 8);
}

static void only_code_that_entered_the_kernel_is_before_its_address(void)
{
	_cleanup_directory_ char *directory = test_directory();
	_cleanup_free_ char *samples = session_samples(directory, "current");
	_cleanup_free_ char *program =
		xasprintf("%s/tests/fixtures/elf-golden/lib-stripped.so", getenv("OP_BUILD_ROOT"));
	struct pipeline p;
	int as_tree;

	write_leaf_and_entry(samples, program);
	for (as_tree = 0; as_tree < 2; as_tree++) {
		if (!run(directory, &(struct populate_config){ .symbols = true }, &p))
			break;
		CHECK_EQ(called_by_first(&p, ""), 3);
		CHECK_EQ(called_by_first(&p, "marked_second"), 5);
		p.profile->chains.wants_tree = as_tree;
		CHECK_EQ(chains_collect(&p.profile->chains, p.profile->binaries, NULL), 0);
		check_chains(&p.profile->chains);
		done(&p);
	}
}

TESTS(T(arcs_add_up_by_rows), T(the_arcs_of_a_row_stand_by_count_then_row),
      T(a_graph_without_arcs_is_one), T(images_at_both_ends_are_opened_once),
      T(only_code_that_entered_the_kernel_is_before_its_address))
