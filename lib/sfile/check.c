/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sfile/check.h"

#include "base/log.h"
#include "base/mem.h"
#include "file/holes.h"
#include "file/open_regular.h"
#include "file/path.h"
#include "sfile/sample_header.h"
#include "sfile/odb.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { DESCRIPTOR = 32, NODE = sizeof(struct odb_node), BUCKET = sizeof(uint32_t) };

/* The bytes of a file, and the parts of its structure found to be credible. */
struct view {
	struct span all;
	void *map; /* NULL for an empty file */
	struct stat st;
	size_t header_size;
	uint32_t size, current; /* from the descriptor, or derived in its place; 0: unknown */
	size_t room;		/* node slots that are completely inside the file */
};

static void view_done(struct view *v)
{
	if (v->map)
		(void)munmap(v->map, v->all.left);
}

static uint64_t file_length(const struct view *v, uint64_t size)
{
	return v->header_size + DESCRIPTOR + size * (NODE + BUCKET);
}

static bool is_power_of_two(uint32_t n)
{
	return n >= 2 && (n & (n - 1)) == 0;
}

static struct odb_node node_at(const struct view *v, uint32_t i)
{
	struct odb_node node;

	memcpy(&node, v->all.at + v->header_size + DESCRIPTOR + (size_t)i * NODE, NODE);
	return node;
}

/* Returns the first node of a bucket. Requires has_table(). */
static uint32_t head_at(const struct view *v, uint32_t bucket)
{
	uint32_t head;

	memcpy(&head,
	       v->all.at + v->header_size + DESCRIPTOR + (size_t)v->size * NODE +
		       (size_t)bucket * BUCKET,
	       BUCKET);
	return head;
}

static bool has_table(const struct view *v)
{
	return v->size && file_length(v, v->size) <= v->all.left;
}

static uint32_t bucket_of(const struct view *v, uint64_t key)
{
	return odb_bucket(key, v->size - 1);
}

static void note(struct check_result *r, enum check_problem problem, uint64_t count)
{
	r->problems |= 1u << problem;
	r->count[problem] += count;
}

/* Returns the number of slots, a power of two, that matches the file's length, or 0. */
static uint32_t size_of_length(const struct view *v)
{
	uint32_t size;

	for (size = 2; size && file_length(v, size) < v->all.left; size <<= 1)
		;
	return size && file_length(v, size) == v->all.left ? size : 0;
}

/* Maps the file and reads its header. Returns 0, or -errno if it cannot be read. */
static int view_open(struct view *v, const char *path, struct check_result *r)
{
	_cleanup_close_ int fd = open_regular(path, O_RDONLY | O_NOFOLLOW);
	struct sfile_header header;
	int n;

	if (fd < 0) {
		(void)error_set(&r->why, fd, "cannot open %s: %s", path, open_regular_why(fd));
		if (fd != -EMEDIUMTYPE && fd != -EISDIR)
			return fd;
		note(r, CHECK_OTHER, 0);
		return 0;
	}
	if (fstat(fd, &v->st) < 0)
		return error_errno(&r->why, -errno, "cannot open %s", path);
	if (holes_prevail(fd, (uint64_t)v->st.st_size)) {
		note(r, CHECK_OTHER, 0);
		(void)error_set(&r->why, -EBADMSG, "%s: %s", path, holes_text);
		return 0;
	}
	if (v->st.st_size) {
		v->map = mmap(NULL, (size_t)v->st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (v->map == MAP_FAILED) {
			v->map = NULL;
			return error_errno(&r->why, -errno, "cannot map %s", path);
		}
	}
	v->all = span_of(v->map, (size_t)v->st.st_size);
	n = sample_header_decode(v->all, path, &header, &r->why);
	if (n < 0)
		note(r, sample_header_has_magic(v->all) ? CHECK_FOREIGN : CHECK_OTHER, 0);
	else
		v->header_size = (size_t)n;
	return 0;
}

/* Checks the descriptor's size against the file's length, and sets v->size and v->room. */
static void check_size(struct view *v, struct check_result *r)
{
	if (!is_power_of_two(v->size)) {
		note(r, CHECK_DESCRIPTOR, 0);
		v->size = size_of_length(v);
	} else if (v->all.left > file_length(v, v->size) &&
		   v->all.left <= file_length(v, 2 * (uint64_t)v->size)) {
		note(r, CHECK_GROWTH, 0);
	} else if (v->all.left != file_length(v, v->size)) {
		note(r, CHECK_LENGTH, 0);
	}
	v->room = MIN((v->all.left - v->header_size - DESCRIPTOR) / NODE, (size_t)v->size);
}

/* Derives the number of slots in use from the hash table. Returns 0 if no bucket is usable. */
static uint32_t count_by_table(const struct view *v)
{
	uint32_t bucket, i, last = 0;

	for (bucket = 0; bucket < v->size; bucket++) {
		i = head_at(v, bucket);
		if (i && i < v->size && bucket_of(v, node_at(v, i).key) == bucket)
			last = MAX(last, i);
	}
	return last ? last + 1 : 0;
}

/* Determines how many nodes are in use, and how many of those are inside the file. If neither size
 * nor length is credible, nodes cannot be distinguished from buckets. */
static void check_current(struct view *v, struct check_result *r)
{
	if (v->current < 1 || v->current > v->size) {
		note(r, CHECK_DESCRIPTOR, 0);
		v->current = has_table(v) ? count_by_table(v) : 0;
	}
	if (v->current > v->room) {
		note(r, CHECK_LOST, v->current - MAX(v->room, (size_t)1));
		v->current = (uint32_t)v->room;
	}
	r->repairable = v->current != 0;
}

/* Reads and checks the descriptor. Returns false if there is nothing more to check. */
static bool check_ends(struct view *v, struct check_result *r)
{
	if (r->problems)
		return false;
	if (v->all.left < v->header_size + DESCRIPTOR) {
		note(r, CHECK_LENGTH, 0);
		return false;
	}
	memcpy(&v->size, v->all.at + v->header_size, sizeof(v->size));
	memcpy(&v->current, v->all.at + v->header_size + sizeof(v->size), sizeof(v->current));
	check_size(v, r);
	check_current(v, r);
	return v->current != 0;
}

/* Follows one chain. Each node must belong to this bucket and have a lower index than the one that
 * links to it, so that no node is visited twice. Returns the number of nodes visited. */
static uint64_t follow_chain(const struct view *v, uint32_t bucket, struct check_result *r)
{
	uint32_t i = head_at(v, bucket), limit = v->current;
	struct odb_node node;
	uint64_t met = 0;

	if (i == v->current && i < v->room && bucket_of(v, node_at(v, i).key) == bucket) {
		note(r, CHECK_UNCOUNTED, 0);
		i = node_at(v, i).next;
	}
	for (; i && i < limit; limit = i, i = node.next, met++) {
		node = node_at(v, i);
		if (bucket_of(v, node.key) != bucket)
			break;
	}
	if (i)
		r->problems |= 1u << CHECK_CHAIN;
	return met;
}

static void check_chains(const struct view *v, struct check_result *r)
{
	uint64_t met = 0;
	uint32_t bucket;

	for (bucket = 0; bucket < v->size; bucket++)
		met += follow_chain(v, bucket, r);
	if (met != v->current - 1)
		note(r, CHECK_CHAIN, v->current - 1 - met);
}

static int by_key(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Sums the nodes' values, and counts duplicate keys and empty nodes. */
static void check_nodes(const struct view *v, struct check_result *r)
{
	_cleanup_free_ uint64_t *keys = xcalloc(v->current, sizeof(*keys));
	uint64_t empty = 0, twice = 0;
	size_t n = 0, i;

	for (i = 1; i < v->current; i++) {
		struct odb_node node = node_at(v, (uint32_t)i);

		empty += node.value == 0;
		r->samples += node.value;
		if (node.value)
			keys[n++] = node.key;
	}
	qsort(keys, n, sizeof(*keys), by_key);
	for (i = 1; i < n; i++)
		twice += keys[i] == keys[i - 1];
	r->nodes = n - twice;
	if (empty)
		note(r, CHECK_EMPTY, empty);
	if (twice)
		note(r, CHECK_DUPLICATE, twice);
}

/* Checks an open file. */
static void check_view(struct view *v, enum check_depth depth, struct check_result *r)
{
	if (!check_ends(v, r))
		return;
	/* Interrupted growth has moved nodes to new chains, so the old ones cannot be checked. */
	if (depth == CHECK_CHAINS && has_table(v) && !(r->problems & 1u << CHECK_GROWTH))
		check_chains(v, r);
	check_nodes(v, r);
	if (depth == CHECK_ENDS) {
		/* May be the work of an active writer: an insert in progress, or growth. */
		r->problems &= ~(1u << CHECK_GROWTH | 1u << CHECK_EMPTY | 1u << CHECK_DUPLICATE);
		r->count[CHECK_EMPTY] = r->count[CHECK_DUPLICATE] = 0;
	}
}

static int check_once(const char *path, enum check_depth depth, struct check_result *ret)
{
	_cleanup_(view_done) struct view v = { 0 };
	int r;

	*ret = (struct check_result){ .why = ERROR_INIT };
	r = view_open(&v, path, ret);
	if (r == 0)
		check_view(&v, depth, ret);
	return r;
}

int check_file(const char *path, enum check_depth depth, struct check_result *ret)
{
	int r, tries = depth == CHECK_ENDS ? 3 : 1;

	/* An active writer may have grown the file between two reads of it. */
	do {
		r = check_once(path, depth, ret);
	} while (r == 0 && ret->problems && --tries);
	return r;
}

/* Adds every node with samples, including one that was linked but not yet counted. */
static int copy_nodes(const struct view *v, const struct check_result *r, struct odb *db)
{
	uint32_t end = v->current + (r->problems & 1u << CHECK_UNCOUNTED ? 1 : 0), i;
	int error = 0;

	for (i = 1; i < end && error == 0; i++) {
		struct odb_node node = node_at(v, i);

		if (node.value)
			error = odb_add(db, node.key, node.value);
	}
	return error;
}

/* Writes the usable nodes to a new file at @path. */
static int write_copy(const struct view *v, const struct check_result *found, const char *path,
		      struct error *err)
{
	_cleanup_(odb_closep) struct odb *db = NULL;
	_cleanup_close_ int new = open_regular_new(path, O_RDWR, v->st.st_mode & 0666);
	int r = new < 0 ? new : odb_start(new, v->all.at, v->header_size);

	if (r < 0)
		return error_errno(err, r, "cannot write %s", path);
	r = odb_open_fd(new, path, ODB_WRITE, v->header_size, &db, err);
	if (r < 0)
		return r;
	(void)STEAL_FD(new); /* it is the database's now */
	r = copy_nodes(v, found, db);
	if (r == 0)
		r = odb_sync(db);
	return r < 0 ? error_errno(err, r, "cannot write %s", path) : 0;
}

int check_repair(const char *path, struct check_result *ret, struct error *err)
{
	_cleanup_(view_done) struct view v = { 0 };
	_cleanup_free_ char *copy =
		xasprintf("%.*s.repair.%d", (int)(path_base(path) - path), path, (int)gettid());
	int r, status;

	*ret = (struct check_result){ .why = ERROR_INIT };
	r = view_open(&v, path, ret);
	if (r < 0)
		return error_set(err, r, "%s", ret->why.text);
	check_view(&v, CHECK_CHAINS, ret);
	if (!ret->problems)
		return 0;
	if (!ret->repairable)
		return error_set(err, -EBADMSG, "%s: nothing in it can be recovered", path);
	r = write_copy(&v, ret, copy, err);
	status = path_put(copy, path, 0, r);
	if (status == 0 && path_sync_parent(path) < 0)
		log_warn("%s is repaired, but that may be lost in a power cut", path);
	return status < 0 && r == 0 ? error_errno(err, status, "cannot replace %s", path) : status;
}

static const struct {
	const char *name;
	const char *one, *many; /* text after a number; NULL: not counted */
	const char *text;	/* text without a number */
} problems[] = {
	[CHECK_OTHER] = { "other", NULL, NULL, "not a sample file" },
	[CHECK_FOREIGN] = { "foreign", NULL, NULL, "from another kind of machine or version" },
	[CHECK_DESCRIPTOR] = { "descriptor", NULL, NULL, "impossible size or number of nodes" },
	[CHECK_LENGTH] = { "length", NULL, NULL, "wrong length" },
	[CHECK_GROWTH] = { "growth", NULL, NULL, "the writer died while growing it" },
	[CHECK_UNCOUNTED] = { "uncounted", NULL, NULL, "the writer died during an insertion" },
	[CHECK_CHAIN] = { "chain", "node not in its chain", "nodes not in their chains",
			  "chains are corrupt" },
	[CHECK_DUPLICATE] = { "duplicate", "key twice", "keys twice", NULL },
	[CHECK_EMPTY] = { "empty", "empty node", "empty nodes", NULL },
	[CHECK_LOST] = { "lost", "node missing", "nodes missing", NULL },
};
static_assert(ARRAY_SIZE(problems) == CHECK_PROBLEM_COUNT_, "a text for each problem");

void check_describe(const struct check_result *result, struct strbuf *out)
{
	const char *separator = "";
	int i;

	for (i = 0; i < CHECK_PROBLEM_COUNT_; i++) {
		uint64_t n = result->count[i];

		if (!(result->problems & 1u << i))
			continue;
		strbuf_adds(out, separator);
		if (n && problems[i].many)
			strbuf_addf(out, "%" PRIu64 " %s", n,
				    n == 1 ? problems[i].one : problems[i].many);
		else
			strbuf_adds(out, problems[i].text ?: problems[i].many);
		separator = ", ";
	}
}

const char *check_problem_name(enum check_problem problem)
{
	return problems[problem].name;
}
