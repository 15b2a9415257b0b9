/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call graph files: lib/profile/rows/internal/callgraph_collect.c and callgraph.c. The first byte
 * of the input selects the name of the file, and so the images; the rest is the file. */
#include "fuzz.h"

#include "file/path.h"
#include "profile/binary/binary.h"
#include "profile/rows/callgraph.h"
#include "profile/select/classes.h"
#include "profile/rows/container.h"
#include "profile/select/gather.h"
#include "profile/rows/populate.h"
#include "sfile/session.h"

#include <ftw.h>
#include <string.h>

/* Images at both ends: a small one, one without a file, memory. */
static const char *const files[] = {
	"{root}/a/{dep}/{root}/bin/true/{cg}/{root}/bin/true/T.0.0.all.all.all",
	"{root}/a/{dep}/{root}/bin/true/{cg}/{root}/gone/T.0.0.all.all.all",
	"{root}/a/{dep}/{root}/gone/{cg}/{root}/bin/true/T.0.0.all.all.all",
	"{root}/a/{dep}/{anon:x}/1.0x0.0x1000/{cg}/{root}/bin/true/T.0.0.all.all.all",
};

static void must(bool ok)
{
	if (!ok)
		abort();
}

/* Each arc is in both lists, and ends at rows that there are. */
static void check_lists(const struct callgraph *graph, const struct container *c)
{
	size_t i;

	must(graph->callees.first[c->count] == graph->count);
	must(graph->callers.first[c->count] == graph->count);
	for (i = 0; i < graph->count; i++) {
		must(graph->callees.arcs[i].caller < c->count);
		must(graph->callers.arcs[i].callee < c->count);
	}
}

static void read_graph(struct gather *g, const struct classes *classes)
{
	_cleanup_(binaries_freep) struct binaries *bs =
		binaries_new(g, &(struct binaries_config){ .keep = true });
	struct populate_config config = { .symbols = true };
	struct callgraph graph;
	struct container c;
	struct populate_job job = {
		.gather = g, .classes = classes, .binaries = bs, .config = &config, .out = &c
	};

	container_init(&c, classes->count);
	callgraph_collect(&job, &graph);
	callgraph_arrange(&graph, &c);
	callgraph_cut(&graph, g, &c, 1, 3);
	check_lists(&graph, &c);
	callgraph_done(&graph);
	container_done(&c);
}

static void report(const char *dir)
{
	_cleanup_(gather_freep) struct gather *g = NULL;
	struct spec spec = { 0 };
	struct classes classes;

	if (gather_files(&spec, dir, true, &g, NULL) < 0)
		return;
	must(classes_arrange(g, 0, &classes, NULL) == 0);
	read_graph(g, &classes);
	classes_done(&classes);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	return remove(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char dir[32] = "/dev/shm/opfuzz-XXXXXX";
	_cleanup_free_ char *samples = NULL, *path = NULL;

	if (size == 0 || (!mkdtemp(dir) && !mkdtemp(strcpy(dir, "/tmp/opfuzz-XXXXXX"))))
		return 0;
	samples = session_samples(dir, "current");
	path = path_join(samples, files[data[0] % ARRAY_SIZE(files)]);
	if (path_make_parents(path, 0700, NULL) == 0) {
		FILE *out = fopen(path, "we");

		if (out) {
			(void)fwrite(data + 1, 1, size - 1, out);
			(void)fclose(out);
			report(dir);
		}
	}
	(void)nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return 0;
}
