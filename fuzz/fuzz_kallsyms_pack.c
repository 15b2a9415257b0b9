/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The packed symbols of a session's kernel: lib/symbol/internal/kallsyms_pack.c. The input is a
 * file, and is also compressed as the lines of a good one. */
#include "fuzz.h"
#include "fuzz_directory.h"

#include "base/mem.h"
#include "symbol/internal/kallsyms_pack.h"
#include "symbol/kallsyms.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Returns the number of symbols; those of an image are in order. */
static size_t read_all(const char *path)
{
	_cleanup_(kallsyms_freep) struct kallsyms *k = NULL;
	size_t i, count = 0;

	if (kallsyms_load(path, &k, NULL) < 0)
		return 0;
	for (i = 0; i < kallsyms_image_count(k); i++) {
		const struct kallsyms_image *image = kallsyms_image_at(k, i);

		if (image->count > 1 &&
		    image->symbols[0].address > image->symbols[image->count - 1].address)
			abort();
		count += image->count;
	}
	return count;
}

static void try_file(const char *path, const char *packed, const uint8_t *data, size_t size)
{
	_cleanup_close_ int fd = open(packed, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd >= 0 && write(fd, data, size) == (ssize_t)size)
		(void)read_all(path);
}

/* What was packed is found again. */
static void try_lines(const char *path, const char *packed, const uint8_t *data, size_t size)
{
	static const char good[] = "\n1000 t function\n";
	struct kallsyms_packed *image = xcalloc(1, sizeof(*image));
	_cleanup_(kallsyms_pack_freep) struct kallsyms_pack *p = xcalloc(1, sizeof(*p));

	*image = (struct kallsyms_packed){ .name = xstrdup("xfs"),
					   .text = xmalloc(size + sizeof(good)),
					   .text_size = size + sizeof(good) - 1 };
	memcpy(image->text, data, size);
	memcpy(image->text + size, good, sizeof(good));
	p->images = image;
	p->count = 1;
	if (kallsyms_pack_write(p, packed, NULL) == 0 && !read_all(path))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *path = NULL, *packed = NULL;

	if (!make_directory())
		return 0;
	path = path_join(directory, "kallsyms");
	packed = xasprintf("%s" KALLSYMS_PACKED, path);
	try_file(path, packed, data, size);
	try_lines(path, packed, data, size);
	return 0;
}
