/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Feeds every file of a corpus directory to a fuzz target, so that the ordinary tests run it. Each
 * input is also cut at every length up to 512, and run with each of its first 512 bytes flipped:
 * with small files this finds most mistakes without a fuzzer. */
#include "fuzz.h"

#include "base/mem.h"
#include "file/path.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

/* A copy of exactly @size bytes, so that a sanitizer sees a read beyond them. */
static void feed(const uint8_t *data, size_t size)
{
	_cleanup_free_ uint8_t *copy = malloc(size);

	if (size)
		memcpy(copy, data, size);
	(void)LLVMFuzzerTestOneInput(copy, size);
}

static void feed_variants(uint8_t *data, size_t size)
{
	size_t i, some = MIN(size, (size_t)512);

	feed(data, size);
	for (i = 0; i < some; i++) {
		feed(data, i);
		data[i] ^= 0xff;
		feed(data, size);
		data[i] ^= 0xff;
	}
}

int main(int argc, char **argv)
{
	DIR *dir = argc > 1 ? opendir(argv[1]) : NULL;
	struct dirent *entry;
	unsigned int files = 0;

	if (!dir) {
		(void)fprintf(stderr, "usage: %s CORPUS_DIRECTORY\n", argv[0]);
		return 2;
	}
	while ((entry = readdir(dir))) {
		_cleanup_free_ char *path = path_join(argv[1], entry->d_name);
		_cleanup_free_ char *text = NULL;
		ssize_t size = entry->d_name[0] == '.' ? -1 : path_read(NULL, path, &text, NULL);

		if (size < 0)
			continue;
		feed_variants((uint8_t *)text, (size_t)size);
		files++;
	}
	(void)closedir(dir);
	printf("%u corpus files\n", files);
	return files ? 0 : 1;
}
