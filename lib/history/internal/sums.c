/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/internal/sums.h"

#include "base/macro.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "file/dirtree.h"
#include "file/path.h"
#include "history/history_kind.h"
#include "history/history_source.h"
#include "history/internal/publish.h"
#include "history/internal/segment_roll.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Generations that are added at a time: each has up to a million nodes. */
enum { AT_ONCE = 2 };

/* What is added up. */
struct adding {
	const char *dir;
	const struct history_kind *kind;
	struct strbuf *log;
	struct segment_rolling how;
	struct segment *sum;   /* so far; NULL: nothing */
	struct strbuf bytes;   /* of ->sum, if it is not that of a file */
	uint32_t first, until; /* generations that are added: from ->first on, before ->until */
	struct segment *inputs[1 + AT_ONCE]; /* the sum, and ->count generations */
	size_t count;
};

/* Opens the sum there is, if it can be read. 0, or -errno if nothing is known about it. */
static int open_sum(struct adding *a, uint32_t last)
{
	_cleanup_free_ char *path = source_sum_path(a->dir, last), *to = NULL;
	_cleanup_close_ int dir = -1;
	struct segment_counts counts;
	int r = segment_open(path, &a->sum, NULL);

	if (r == 0)
		r = segment_load(a->sum, NULL);
	if (r == 0 && segment_about(a->sum)->slices)
		r = segment_counts(a->sum, 0, &counts);
	if (r == 0)
		return 0;
	segment_free(a->sum);
	a->sum = NULL;
	if (r != -EBADMSG && r != -EFBIG)
		return r;
	to = xasprintf("%s.damaged", path);
	dir = open(a->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	r = dirtree_rename(dir, path_base(path), path_base(to), NULL);
	if (r < 0)
		return r;
	strbuf_addf(a->log, "%s is damaged; moved to %s\n", path, path_base(to));
	return 0;
}

/* Adds the generations in ->inputs to the sum. */
static int add_inputs(struct adding *a)
{
	struct strbuf bytes = STRBUF_INIT;
	struct segment *sum = NULL;
	size_t skip = !a->sum, i;
	int r;

	a->inputs[0] = a->sum;
	r = segment_roll(&a->how, a->inputs + skip, a->count + 1 - skip, &bytes);
	if (r == 0)
		r = segment_open_bytes(bytes.text, bytes.length, &sum, NULL);
	if (r == 0)
		r = segment_load(sum, NULL);
	if (r != 0) {
		segment_free(sum);
		strbuf_done(&bytes);
		return r > 0 ? -EIO : r; /* a slice that could be read a moment ago */
	}
	for (i = skip; i <= a->count; i++)
		segment_free(a->inputs[i]);
	a->count = 0;
	strbuf_done(&a->bytes);
	a->sum = sum;
	a->bytes = bytes;
	return 0;
}

/* Takes a generation, to be added. One that is damaged is left out. */
static int add_generation(struct adding *a, uint32_t number)
{
	struct segment *s = NULL;
	size_t damaged = 0;
	int r = a->kind->to_sum(a->dir, number, &s, &damaged);

	if (s)
		a->inputs[++a->count] = s;
	if (r == -EBADMSG || (r == 0 && damaged))
		strbuf_addf(a->log, "generation %" PRIu32 " of %s is damaged and left out%s\n",
			    number, a->dir, r ? "" : " in part");
	if (a->count == AT_ONCE)
		return add_inputs(a);
	return r == -EBADMSG ? 0 : r;
}

static int publish_sum(struct adding *a, uint32_t last)
{
	_cleanup_free_ char *path = source_sum_path(a->dir, last), *temporary = NULL;

	/* The sum of before, if all that is new is damaged. */
	if (!a->bytes.length) {
		int r = segment_roll(&a->how, &a->sum, 1, &a->bytes);

		if (r != 0)
			return r > 0 ? -EIO : r;
	}
	temporary = path_join(a->dir, "roll.tmp");
	return publish(path, temporary, &a->bytes, time(NULL));
}

/* Adds all generations that are complete, and publishes the sum. Returns how many, or -errno. */
static int add_all(struct adding *a)
{
	_cleanup_free_ struct history_source *list = NULL;
	size_t count = 0, i;
	int r = sources_list(a->dir, a->kind, &list, &count, NULL), added = 0;
	uint32_t last = 0;

	for (i = 0; i < count && r == 0; i++) {
		if (list[i].is_segment || list[i].first < a->first || list[i].first >= a->until)
			continue;
		a->how.about.last = last = list[i].first;
		r = add_generation(a, last);
		added++;
	}
	if (r == 0 && a->count)
		r = add_inputs(a);
	for (i = 1; i <= a->count; i++)
		segment_free(a->inputs[i]);
	if (r == 0 && added && a->sum)
		r = publish_sum(a, last);
	return r < 0 ? r : added;
}

/* Removes the sums that the last one replaces, once that is on the disk; its name may not be, if
 * that failed when it was written. */
static int remove_older(const char *dir, uint32_t last, struct strbuf *log)
{
	_cleanup_free_ char *path = source_sum_path(dir, last);
	int r = path_sync_parent(path);

	if (r == 0)
		sources_remove_sums(dir, last);
	else
		strbuf_addf(log, "%s: %s: the sum before is kept\n", path, strerror(-r));
	return r;
}

int sums_add(const struct sums_of *of, uint32_t live, struct strbuf *log)
{
	const struct history_kind *kind = of->kind;
	const char *dir = of->dir;
	struct adding a = { .dir = dir,
			    .kind = kind,
			    .log = log,
			    .how = { .about = { .level = HISTORY_LEVELS - 1 },
				     .slice_ms = INT64_MAX, /* one slice */
				     .part = kind->parts[1],
				     .other = kind->other,
				     .functions = of->functions },
			    .bytes = STRBUF_INIT,
			    .until = live };
	uint32_t last;
	int r = sources_sum(dir, &last, NULL);

	/* Not to be taken for none: the generations that are only in it would be lost. */
	if (r > 0) {
		a.first = last + 1;
		r = open_sum(&a, last);
		if (!a.sum) /* damaged: what is still there is added again */
			a.first = 0;
	}
	if (r == 0)
		r = add_all(&a);
	if (r < 0)
		strbuf_addf(log, "cannot add up what is in %s: %s\n", dir, strerror(-r));
	else if (sources_sum(dir, &last, NULL) > 0)
		r = remove_older(dir, last, log);
	segment_free(a.sum);
	strbuf_done(&a.bytes);
	return MIN(r, 0);
}
