/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "history/segment_tree.h"

static char *to_other(const char *line, unsigned int rung, bool *ret_same)
{
	*ret_same = rung == 0 && !strcmp(line, "rare libc");
	if (!strncmp(line, "rare ", 5) && rung == 0)
		return xstrdup(*ret_same ? "other libc" : "other");
	return !strcmp(line, "other libc") && rung == 1 ? xstrdup("other") : NULL;
}

static uint32_t add(struct segment_tree *t, const char *line, uint64_t key, uint64_t samples)
{
	uint32_t number = segment_tree_line(t, line);
	uint32_t node = segment_tree_node(t, segment_tree_node(t, 0, number, 0), number, key);

	segment_tree_count(t, node, samples);
	return node;
}

static void rare_keys_fold_into_their_file(void)
{
	const struct segment_folding how = { 10, to_other };
	struct segment_tree t;
	_cleanup_free_ uint32_t *to = NULL;
	uint32_t hot, cold, colder, lost, libc, none;

	segment_tree_init(&t);
	hot = add(&t, "hot", 1, 100);
	cold = add(&t, "hot", 2, 9);
	colder = add(&t, "hot", 3, 1);
	lost = add(&t, "rare a", 1, 5);
	libc = add(&t, "rare libc", 77, 4);
	(void)add(&t, "other libc", 77, 8);
	none = add(&t, "none", 1, 0);
	to = segment_tree_fold(&t, &how);
	CHECK_EQ(to[hot], hot);
	CHECK_EQ(to[cold], to[colder]);
	CHECK_EQ(t.nodes[to[cold]].key, SEGMENT_RARE);
	CHECK_EQ(t.nodes[to[cold]].parent, t.nodes[hot].parent);
	CHECK_EQ(t.nodes[to[lost]].key, SEGMENT_RARE);
	CHECK_STR(t.lines[t.nodes[to[lost]].line], "other");
	/* Rare programs together are not rare in what they share. */
	CHECK_STR(t.lines[t.nodes[to[libc]].line], "other libc");
	CHECK_EQ(t.nodes[to[libc]].key, 77);
	CHECK_EQ(to[none], 0);
	segment_tree_done(&t);
}

TESTS(T(rare_keys_fold_into_their_file))
