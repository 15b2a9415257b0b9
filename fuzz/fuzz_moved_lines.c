/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A source as it was, and, after a byte of 0, as it is now: a function whose name is the first word
 * is looked for, and its lines by their texts. */
#include "fuzz.h"
#include "fuzz_directory.h"

#include "base/mem.h"
#include "profile/annotate/internal/moved_lines.h"
#include "profile/binary/sources.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINES_MAX = 4096 };

static struct sourcetext *open_text(const void *text, size_t size)
{
	_cleanup_free_ char *path = path_join(directory, "source");
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, text, size) != (ssize_t)size)
		abort();
	(void)close(fd);
	return sourcetext_open(path, getuid());
}

/* Lists the lines of @text; those without a text are not known. */
static size_t list_lines(const char *text, size_t size, const char *function, struct old_line *ret)
{
	size_t count = 0;

	while (size && count < LINES_MAX) {
		const char *end = memchr(text, '\n', size);
		const size_t length = end ? (size_t)(end - text) : size;

		ret[count] =
			(struct old_line){ (unsigned int)count + 1,
					   (uint32_t)source_line_hash(text, length), function };
		count++;
		text += end ? length + 1 : length;
		size -= end ? length + 1 : length;
	}
	return count;
}

/* What is found has the text, and is of one line only. */
static void check(const struct moved_lines *m, const struct old_line *old, size_t count,
		  const struct sourcetext *now)
{
	static bool is_taken[1 << 20];
	size_t i, size;

	memset(is_taken, 0, sizeof(is_taken));
	for (i = 0; i < count; i++) {
		const unsigned int line = moved_lines_find(m, old[i].line);
		const char *text;

		if (!line)
			continue;
		if (!sourcetext_line(now, line, &text, &size) ||
		    ((uint32_t)source_line_hash(text, size) ?: 1) != old[i].text ||
		    is_taken[line % ARRAY_SIZE(is_taken)])
			abort();
		is_taken[line % ARRAY_SIZE(is_taken)] = true;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct old_line old[LINES_MAX];
	const char *was = (const char *)data;
	const size_t length = strnlen(was, size);
	_cleanup_(sourcetext_freep) struct sourcetext *now = NULL;
	_cleanup_(moved_lines_freep) struct moved_lines *m = NULL;
	_cleanup_free_ char *function = NULL;
	size_t count;

	if (length == size || !make_directory())
		return 0;
	function = xstrndup(was, strcspn(was, " \n"));
	now = open_text(was + length + 1, size - length - 1);
	if (!now)
		return 0;
	count = list_lines(was, length, function, old);
	m = moved_lines_new(old, count, now);
	check(m, old, count, now);
	return 0;
}
