/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The history of a session: lib/history/slice_file.c, generations.c, history.c. The input is a file
 * of names, preceded by its length in 16 bits; a byte; and, if that is 0, a file of slices, else
 * the content of one slice. */
#include "fuzz.h"

#include "base/mem.h"
#include "base/span.h"
#include "file/path.h"
#include "history/history.h"
#include "history/slice_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void put_file(const char *path, struct span bytes)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, bytes.at, bytes.left) != (ssize_t)bytes.left)
		abort();
}

static void put_slice(const char *path, struct span content)
{
	_cleanup_(slice_file_closep) struct slice_file *f = NULL;
	const struct slice slice = { .span = { 0, 10000 }, .samples = 1 };

	put_file(path, (struct span){ 0 });
	if (slice_file_open(path, &f, NULL) < 0 ||
	    slice_file_add(f, &slice, content.at, content.left, NULL) < 0)
		abort();
}

static int compare_keys(const void *pa, const void *pb)
{
	const struct history_count *a = pa, *b = pb;

	return (a->key > b->key) - (a->key < b->key);
}

/* Each key has counts, once. */
static void check_counts(const struct history_file *f)
{
	_cleanup_free_ struct history_count *sorted = xcalloc(f->count + 1, sizeof(*sorted));
	size_t i;

	if (f->count)
		memcpy(sorted, f->counts, f->count * sizeof(*sorted));
	qsort(sorted, f->count, sizeof(*sorted), compare_keys);
	for (i = 0; i < f->count; i++)
		if (!sorted[i].count || (i && sorted[i].key == sorted[i - 1].key))
			abort();
}

/* All counts are those of a file that has a name. */
static void read_all(const char *samples)
{
	_cleanup_(history_freep) struct history *h = NULL;
	size_t i;

	if (history_read(samples, &WINDOW_ALL, NULL, &h, NULL) < 0)
		return;
	for (i = 0; i < history_files(h); i++) {
		const struct history_file *f = history_file_at(h, i);
		const struct sname name = sname_of_parts(&f->name);
		_cleanup_free_ char *mangled = sname_mangle(&name);

		check_counts(f);
		if (!*mangled)
			abort();
	}
}

/* One directory for all inputs, because creating it costs more than the test. */
static char dir[] = "/tmp/opfuzz-XXXXXX";

static void remove_directory(void)
{
	(void)path_remove_tree(dir, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool made;
	_cleanup_free_ char *history = NULL, *names = NULL, *slices = NULL;
	struct span in = span_of(data, size), lines = { 0 };
	uint16_t length;
	uint8_t is_content;

	if (span_u16(&in, &length) < 0 || span_sub(&in, length, &lines) < 0 ||
	    span_u8(&in, &is_content) < 0)
		return 0;
	if (!made && (!mkdtemp(dir) || atexit(remove_directory)))
		abort();
	made = true;
	history = path_join(dir, HISTORY_DIRECTORY);
	names = path_join(history, "1.names");
	slices = path_join(history, "1.slices");
	(void)mkdir(history, 0700);
	put_file(names, lines);
	if (is_content)
		put_slice(slices, in);
	else
		put_file(slices, in);
	read_all(dir);
	return 0;
}
