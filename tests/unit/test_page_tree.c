/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/profile/page/internal/page_tree.c, lib/profile/rows/call_tree.c */
#include "test.h"

#include "profile/page/internal/page_columns.h"
#include "profile/page/internal/page_moments.h"
#include "profile/page/internal/page_tree.h"
#include "profile/rows/task_list.h"

/* A root with 3 children of 5, 20 and 1 samples; the second has children of 4 and 6. */
static void make(struct call_tree *t)
{
	uint32_t second;

	call_tree_init(t, 0);
	t->nodes[call_tree_child(t, 0, 1)].self = 5;
	second = call_tree_child(t, 0, 2);
	t->nodes[second].self = 10;
	t->nodes[call_tree_child(t, second, 1)].self = 4;
	t->nodes[call_tree_child(t, second, 3)].self += 2;
	t->nodes[call_tree_child(t, second, 3)].self += 4;
	t->nodes[call_tree_child(t, 0, 4)].self = 1;
}

static void the_heaviest_comes_first(void)
{
	static const uint32_t whats[] = { 0, 2, 3, 1, 1, 4 }, depths[] = { 0, 1, 2, 2, 1, 1 };
	static const uint32_t places[] = { 0, 4, 1, 3, 2, 5 };
	struct call_tree calls;
	struct page_tree t = { .calls = &calls, .limits = { 100, 100 } };
	size_t i;

	make(&calls);
	page_tree_begin(&t);
	page_tree_arrange(&t, &(struct page_moments){ 0 });
	CHECK_EQ(t.shown, ARRAY_SIZE(whats));
	CHECK_EQ(t.totals[0], 26);
	for (i = 0; i < t.shown; i++) {
		CHECK_EQ(t.items[i].what, whats[i]);
		CHECK_EQ(t.items[i].depth, depths[i]);
		CHECK_EQ(t.places[i], places[i]);
	}
	CHECK_EQ(t.hidden, 0);
	page_tree_done(&t);
	call_tree_done(&calls);
}

static void what_is_too_small_is_added_up(void)
{
	struct call_tree calls;
	struct page_tree t = { .calls = &calls, .limits = { 2, 100 } };
	uint64_t sum = 0;
	size_t i;

	make(&calls);
	page_tree_begin(&t);
	page_tree_arrange(&t, &(struct page_moments){ 0 });
	CHECK_EQ(t.limit, 8); /* only the root and the second child have as many */
	CHECK_EQ(t.hidden, 4);
	CHECK_EQ(t.hidden_samples, 5 + 4 + 6 + 1);
	CHECK_EQ(t.shown, 4);
	for (i = 0; i < t.shown; i++)
		sum += t.items[i].self;
	CHECK_EQ(sum, 26);
	/* The samples of the child of the second child are shown by its sibling for the rest. */
	CHECK_EQ(t.items[t.places[3]].what, PAGE_TREE_REST);
	CHECK_EQ(t.items[t.places[3]].depth, 2);
	CHECK_EQ(t.items[t.places[5]].depth, 1);
	page_tree_done(&t);
	call_tree_done(&calls);
}

/* A long time has many moments, of which those of small nodes are added up, whether they are few
 * enough in the end or become too many on the way. */
static void moments_have_a_limit(void)
{
	enum { STEPS = 4 };
	static const uint32_t times[] = { 1, 3 };
	struct call_tree calls;
	size_t i, k;

	make(&calls);
	for (i = 0; i < ARRAY_SIZE(times); i++) {
		struct page_tree t = { .calls = &calls, .limits = { 100, 3 * STEPS } };
		struct page_moments moments = { 0 };
		uint32_t node, step, time, counts[4] = { 0 };

		page_tree_begin(&t);
		CHECK_EQ(t.limit, 1);
		for (time = 0; time < times[i]; time++)
			for (node = 1; node < calls.count; node++)
				for (step = 0; step < STEPS; step++)
					page_tree_add(&t, &moments,
						      (struct page_moment){ t.shown_by[node], step,
									    0, node });
		page_tree_arrange(&t, &moments);
		CHECK_EQ(t.limit, 8); /* the second child, and two for the rest */
		CHECK_EQ(t.shown, 4);
		CHECK_EQ(t.hidden, 4);
		CHECK_EQ(moments.count, 3 * STEPS);
		for (k = 0; k < moments.count; k++)
			counts[moments.list[k].place] += moments.list[k].samples;
		/* The second child, its own children, the other children. */
		CHECK_EQ(counts[1], 2 * STEPS * times[i]);
		CHECK_EQ(counts[2], (3 + 4) * STEPS * times[i]);
		CHECK_EQ(counts[3], (1 + 5) * STEPS * times[i]);
		page_tree_done(&t);
		page_moments_done(&moments);
	}
	call_tree_done(&calls);
}

/* It is known before the nodes are in order, so that it is the same each time that they are put in
 * order. */
static void the_limit_of_moments_stays(void)
{
	enum { STEPS = 4 };
	struct call_tree calls;
	struct page_tree t = { .calls = &calls, .limits = { 100, 3 * STEPS } };
	struct page_moments gathered = { 0 };
	uint32_t node, step, time;

	make(&calls);
	page_tree_begin(&t);
	for (node = 1; node < calls.count; node++)
		for (step = 0; step < STEPS; step++)
			page_tree_add(&t, &gathered,
				      (struct page_moment){ t.shown_by[node], step, 0, node });
	for (time = 0; time < 3; time++) {
		struct page_moments copy = { 0 };
		size_t i;

		page_tree_narrow(&t, &gathered, 100);
		CHECK_EQ(t.limit, 8);
		for (i = 0; i < gathered.count; i++)
			page_moments_add(&copy, gathered.list[i]);
		page_tree_arrange(&t, &copy);
		CHECK_EQ(t.limit, 8);
		CHECK_EQ(t.shown, 4);
		page_moments_done(&copy);
	}
	page_tree_done(&t);
	page_moments_done(&gathered);
	call_tree_done(&calls);
}

/* A page that became too large is put in order again, with fewer nodes and the same moments. */
static void it_gets_fewer_nodes(void)
{
	struct call_tree calls;
	struct page_tree t = { .calls = &calls, .limits = { 100, 100 } };
	struct page_moments gathered = { 0 };
	uint32_t node, counts[4] = { 0 };
	size_t i;

	make(&calls);
	page_tree_begin(&t);
	for (node = 1; node < calls.count; node++)
		page_tree_add(&t, &gathered, (struct page_moment){ t.shown_by[node], 0, 0, node });
	page_tree_arrange(&t, &(struct page_moments){ 0 });
	CHECK_EQ(t.shown, 6);
	page_tree_narrow(&t, &gathered, 6);
	CHECK_EQ(t.limit, 1);
	page_tree_narrow(&t, &gathered, 2);
	CHECK_EQ(gathered.count, 3);
	page_tree_arrange(&t, &gathered);
	CHECK_EQ(t.limit, 8);
	CHECK_EQ(t.shown, 4);
	CHECK_EQ(t.hidden, 4);
	CHECK_EQ(t.hidden_samples, 5 + 4 + 6 + 1);
	for (i = 0; i < gathered.count; i++)
		counts[gathered.list[i].place] += gathered.list[i].samples;
	CHECK_EQ(counts[1], 2);
	CHECK_EQ(counts[2], 3 + 4);
	CHECK_EQ(counts[3], 1 + 5);
	page_tree_done(&t);
	page_moments_done(&gathered);
	call_tree_done(&calls);
}

/* Also if a node has so many children that they are found in another way. */
static void children_are_found(void)
{
	enum { CHILDREN = 100 };
	struct call_tree t;
	uint32_t what, parent, count = 1;

	call_tree_init(&t, 0);
	for (what = 1; what <= CHILDREN; what++) {
		CHECK_EQ(call_tree_child(&t, 0, what), count++);
		CHECK_EQ(call_tree_child(&t, count - 1, what), count);
		count++;
	}
	for (what = 1; what <= CHILDREN; what++) {
		parent = call_tree_child(&t, 0, what);
		CHECK_EQ(parent, 2 * what - 1);
		CHECK_EQ(call_tree_child(&t, parent, what), 2 * what);
	}
	CHECK_EQ(t.count, count);
	call_tree_done(&t);
}

static void preorder_visits_each_node_once(void)
{
	static const uint32_t order[] = { 0, 5, 2, 4, 3, 1 };
	struct call_tree t;
	uint32_t node = 0;
	size_t i = 0;

	make(&t);
	do
		CHECK(i < ARRAY_SIZE(order) && order[i] == node);
	while (++i < ARRAY_SIZE(order) && (node = call_tree_next(&t, node)));
	CHECK_EQ(call_tree_next(&t, node), 0);
	call_tree_done(&t);
}

/* What has no time is in a step of its own, by task. */
static void what_has_no_time_is_added(void)
{
	struct page_moments timed = { 0 }, all = { 0 };

	page_moments_add(&timed, (struct page_moment){ 1, 0, 0, 3 });
	page_moments_add(&timed, (struct page_moment){ 1, 1, 0, 2 });
	page_moments_add(&timed, (struct page_moment){ 2, 1, 1, 4 });
	page_moments_add(&all, (struct page_moment){ 1, 0, 0, 6 });
	page_moments_add(&all, (struct page_moment){ 1, 0, 1, 7 });
	page_moments_add(&all, (struct page_moment){ 2, 0, 1, 1 });
	page_moments_add(&all, (struct page_moment){ 2, 0, 1, 3 });
	page_moments_add_rest(&timed, &all, 9);
	CHECK_EQ(timed.count, 5);
	CHECK(timed.list[3].place == 1 && timed.list[3].step == 9);
	CHECK(timed.list[3].task == 0 && timed.list[3].samples == 1);
	CHECK(timed.list[4].place == 1 && timed.list[4].step == 9);
	CHECK(timed.list[4].task == 1 && timed.list[4].samples == 7);
	page_moments_done(&timed);
	page_moments_done(&all);
}

/* However many of them there are at each place: lists are sorted in different ways. */
static void moments_are_merged_in_order(void)
{
	static const struct {
		uint32_t places, each;
	} rows[] = { { 1, 1 }, { 1000, 1 }, { 3, 500 }, { 50, 10 } };
	struct page_moments m;
	uint32_t seed = 1;
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t samples = 0;

		m = (struct page_moments){ 0 };
		for (k = 0; k < (size_t)rows[i].places * rows[i].each; k++) {
			seed = seed * 1664525 + 1013904223;
			page_moments_add(&m,
					 (struct page_moment){ (seed >> 20) % rows[i].places * 7,
							       (seed >> 16) % 13, (seed >> 8) % 2,
							       1 + k % 3 });
			samples += 1 + k % 3;
		}
		page_moments_merge(&m);
		for (k = 0; k < m.count; k++) {
			const struct page_moment *a = &m.list[k], *b = a + 1;

			samples -= a->samples;
			if (k + 1 == m.count)
				break;
			CHECK(a->place < b->place ||
			      (a->place == b->place &&
			       (a->step < b->step || (a->step == b->step && a->task < b->task))));
		}
		CHECK_EQ(samples, 0);
		page_moments_done(&m);
	}
}

/* Gathering gives the same moments as merging, in another order; with tasks, too. */
static void moments_are_gathered(void)
{
	enum { PLACES = 50, STEPS = 9, COUNT = 5000 };
	uint32_t tasks, seed = 1;
	size_t i, k;

	for (tasks = 1; tasks <= 2; tasks++) {
		struct page_moments m = { 0 }, merged = { 0 };

		for (i = 0; i < COUNT; i++) {
			seed = seed * 1664525 + 1013904223;
			page_moments_add(&m, (struct page_moment){ (seed >> 20) % PLACES,
								   (seed >> 16) % STEPS,
								   (seed >> 8) % tasks, 1 });
			page_moments_add(&merged, m.list[i]);
		}
		page_moments_gather(&m, PLACES);
		page_moments_merge(&merged);
		CHECK_EQ(m.count, merged.count);
		for (k = 1; tasks == 1 && k < m.count; k++)
			CHECK(m.list[k - 1].step <= m.list[k].step);
		page_moments_merge(&m);
		CHECK_EQ(m.count, merged.count);
		CHECK(!memcmp(m.list, merged.list, m.count * sizeof(*m.list)));
		page_moments_done(&m);
		page_moments_done(&merged);
	}
}

static void sums_of_moments_saturate(void)
{
	struct page_moments m = { 0 };

	page_moments_add(&m, (struct page_moment){ 1, 2, 0, UINT32_MAX - 1 });
	page_moments_add(&m, (struct page_moment){ 1, 2, 0, 5 });
	page_moments_merge(&m);
	CHECK_EQ(m.count, 1);
	CHECK_EQ(m.list[0].samples, UINT32_MAX);
	page_moments_done(&m);
}

/* A column is as narrow as its largest number allows, and padded; an empty one has no bytes. */
static void columns_are_narrow(void)
{
	static const struct {
		uint32_t most;
		size_t width;
		const char *bytes;
	} rows[] = { { 255, 1, "\1\2\377\0" },
		     { 256, 2, "\1\0\2\0\0\1\0\0" },
		     { 65535, 2, "\1\0\2\0\377\377\0\0" },
		     { 65536, 4, "\1\0\0\0\2\0\0\0\0\0\1\0" } };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct page_columns c = { 0 };
		uint32_t *numbers = page_columns_begin(&c, "some", 3);
		char *text = NULL;
		size_t size = 0;
		FILE *out;

		numbers[0] = 1;
		numbers[1] = 2;
		numbers[2] = rows[i].most;
		page_columns_end(&c);
		(void)page_columns_begin(&c, "none", 0);
		page_columns_end(&c);
		out = xmemstream(&text, &size);
		page_columns_print(&c, out);
		xmemstream_close(out, &text);
		CHECK_EQ(c.list[0].width, rows[i].width);
		CHECK_EQ(size, (3 * rows[i].width + 3) / 4 * 4);
		CHECK(!memcmp(text, rows[i].bytes, size));
		free(text);
		page_columns_done(&c);
	}
}

/* A column that is made again stays where it was. */
static void columns_are_replaced(void)
{
	static const char *const names[] = { "a", "b", "a" };
	struct page_columns c = { 0 };
	char *text = NULL;
	size_t size = 0, i;
	FILE *out;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		page_columns_begin(&c, names[i], 1)[0] = (uint32_t)i + 1;
		page_columns_end(&c);
	}
	out = xmemstream(&text, &size);
	page_columns_print(&c, out);
	xmemstream_close(out, &text);
	CHECK_EQ(size, 8);
	CHECK(!memcmp(text, "\3\0\0\0\2\0\0\0", 8));
	free(text);
	page_columns_done(&c);
}

/* A list that is full drops threads first, then all. */
static void a_full_list_merges_tasks(void)
{
	struct task_list t = { 0 };
	struct sname_task task = SNAME_TASK_ALL;
	uint32_t last = 0;

	CHECK_EQ(task_list_add(&t, &task), 0);
	CHECK(!task_list_separates(&t));
	task.cgroup = "/a";
	for (task.tid = 0; task.tid < TASK_LIST_ENOUGH; task.tid++)
		last = task_list_add(&t, &task);
	CHECK(task_list_separates(&t));
	CHECK_EQ(last, TASK_LIST_ENOUGH);
	CHECK(t.list[last].tid == SNAME_ALL && !strcmp(t.list[last].cgroup, "/a"));
	task.tid = 5;
	CHECK_EQ(task_list_add(&t, &task), 6);
	for (task.cpu = 0; task.cpu <= 2 * TASK_LIST_ENOUGH; task.cpu++)
		last = task_list_add(&t, &task);
	CHECK_EQ(last, 0);
	task_list_done(&t);
}

/* Numbers of tasks that do not fit into a key with the rest are compared. */
static void moments_are_merged_whatever_their_numbers(void)
{
	static const uint32_t tasks[] = { 1, UINT32_MAX };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tasks); i++) {
		struct page_moments m = { 0 };

		page_moments_add(&m, (struct page_moment){ 7, 2, tasks[i], 3 });
		page_moments_add(&m, (struct page_moment){ 7, 1, tasks[i], 1 });
		page_moments_add(&m, (struct page_moment){ 6, 4095, 0, 1 });
		page_moments_add(&m, (struct page_moment){ 7, 2, tasks[i], 5 });
		page_moments_merge(&m);
		CHECK_EQ(m.count, 3);
		CHECK_EQ(m.list[0].place, 6);
		CHECK_EQ(m.list[0].step, 4095);
		CHECK_EQ(m.list[1].step, 1);
		CHECK_EQ(m.list[2].task, tasks[i]);
		CHECK_EQ(m.list[2].samples, 8);
		page_moments_done(&m);
	}
}

TESTS(T(moments_are_merged_in_order), T(moments_are_gathered),
      T(moments_are_merged_whatever_their_numbers), T(sums_of_moments_saturate),
      T(columns_are_narrow), T(columns_are_replaced), T(what_has_no_time_is_added),
      T(a_full_list_merges_tasks), T(the_heaviest_comes_first), T(what_is_too_small_is_added_up),
      T(moments_have_a_limit), T(the_limit_of_moments_stays), T(it_gets_fewer_nodes),
      T(children_are_found), T(preorder_visits_each_node_once))
