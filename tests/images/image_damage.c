/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * image_damage FILE...: reads damaged copies of ELF files as a report would: cut short, with some
 * bytes changed anywhere, or with some changed in the tables that say where things are. Prints only
 * the number of copies; the test is that it neither crashes nor hangs (under the sanitizers). The
 * damage of a file is the same each time.
 */
#include "base/hash.h"
#include "base/mem.h"
#include "elf/debugfile.h"
#include "symbol/elfsym.h"
#include "dwarf/lines.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { SIZE_MAX_ = 8 << 20, ROUNDS = 6, LOOK_UPS = 200, CHANGES = 64 };

struct damage {
	uint8_t *bytes;
	size_t size;
	uint64_t random;
};

static uint64_t next(struct damage *d)
{
	d->random = hash_add(d->random, 1);
	return d->random;
}

/* Changes @count bytes from @from on up to @to. */
static void change(struct damage *d, size_t from, size_t to, unsigned int count)
{
	while (count-- && from < to)
		d->bytes[from + next(d) % (to - from)] = (uint8_t)next(d);
}

static void harm(struct damage *d, unsigned int round)
{
	switch (round % 3) {
	case 0:
		d->size = next(d) % d->size;
		break;
	case 1:
		change(d, 0, d->size, CHANGES);
		break;
	default:
		change(d, 0, MIN(d->size, (size_t)4096), 4);
		change(d, d->size - MIN(d->size, (size_t)4096), d->size, 16);
	}
}

static size_t look_up(struct elffile *ef, const struct symtab *st, struct lines *lines)
{
	size_t i, n = symtab_count(st), found = 0;

	for (i = 0; i < n; i += n / LOOK_UPS + 1) {
		const struct symbol *s = symtab_at(st, i);
		const struct lines_call *calls;
		struct lines_place at;
		uint64_t offset;

		found += symtab_find(st, s->offset) != NULL;
		found += elffile_offset(ef, s->address, &offset);
		found += lines_find(lines, s->address, &at);
		found += lines_inlines(lines, s->address, &calls);
	}
	return found;
}

static size_t read_image(struct damage *d)
{
	_cleanup_(elffile_closep) struct elffile *ef = NULL, *inside = NULL;
	_cleanup_(symtab_freep) struct symtab *st = symtab_new();
	_cleanup_(lines_freep) struct lines *lines = NULL;

	if (elffile_open_memory(d->bytes, d->size, "damaged", &ef, NULL) < 0)
		return 0;
	if (debugfile_inside(ef, &inside) < 0)
		inside = NULL;
	(void)elfsym_load(ef, inside, ELFSYM_FILE_OFFSET, st);
	elfsym_load_plt(ef, st);
	symtab_settle(st);
	lines = lines_new(ef, NULL);
	return look_up(ef, st, lines);
}

/* Reads damaged copies of the file; their number. */
static size_t torment(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	_cleanup_free_ uint8_t *whole = NULL;
	struct stat st;
	unsigned int round;
	size_t found = 0;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size < 64 || st.st_size > SIZE_MAX_)
		return 0;
	whole = xmalloc((size_t)st.st_size);
	if (pread(fd, whole, (size_t)st.st_size, 0) != st.st_size)
		return 0;
	for (round = 0; round < ROUNDS; round++) {
		struct damage d = { xmemdup(whole, (size_t)st.st_size), (size_t)st.st_size,
				    hash_bytes(path, strlen(path)) + round };

		harm(&d, round);
		if (d.size)
			found += read_image(&d);
		free(d.bytes);
	}
	return found == SIZE_MAX ? 0 : ROUNDS;
}

int main(int argc, char **argv)
{
	size_t copies = 0;
	int i;

	for (i = 1; i < argc; i++) {
		(void)fprintf(stderr, "%s\n", argv[i]);
		copies += torment(argv[i]);
	}
	(void)printf("%zu damaged copies read\n", copies);
	return 0;
}
