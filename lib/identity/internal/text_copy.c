/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "identity/internal/text_copy.h"

#include "base/mem.h"
#include "file/open_regular.h"
#include "file/procfs.h"
#include "identity/cookie_identify.h"
#include "parser/parser.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum {
	PAGES_MAX = 256,      /* compared, evenly spaced in larger memory */
	PROOF_BYTES_MIN = 64, /* equal bytes that are not zero */
};

/* A mapping of a file. */
struct neighbour {
	uint64_t start, end, offset;
	struct file_identity file;
	char *path; /* NULL: none */
};

static void neighbour_done(struct neighbour *n)
{
	free(n->path);
	n->path = NULL;
}

/* The memory, and the mappings of files before and after it. */
struct search {
	const struct cookie_image *memory;
	uint64_t start, end, offset; /* of the memory, as it is mapped now */
	struct file_identity own;    /* the file that it is to the kernel; ->inode is 0: none */
	bool met;
	struct neighbour before, after;
};

static void search_done(struct search *s)
{
	neighbour_done(&s->before);
	neighbour_done(&s->after);
}

static uint64_t device_of(const struct maps_line *line)
{
	return (uint64_t)line->major << 32 | line->minor;
}

static bool is_memory(const struct cookie_image *memory, const struct maps_line *line)
{
	if (memory->kind == COOKIE_ANON)
		return line->start <= memory->start && memory->start < line->end;
	return line->executable && line->inode == memory->file.inode &&
	       device_of(line) == memory->file.device;
}

static void note_neighbour(struct neighbour *n, const struct maps_line *line)
{
	neighbour_done(n);
	*n = (struct neighbour){ .start = line->start,
				 .end = line->end,
				 .offset = line->offset,
				 .file = { .device = device_of(line), .inode = line->inode },
				 .path = xstrdup(line->path) };
}

static int look_at(const struct maps_line *line, void *data)
{
	struct search *s = data;

	if (!s->met && is_memory(s->memory, line)) {
		s->met = true;
		s->start = s->memory->kind == COOKIE_ANON ? s->memory->start : line->start;
		s->end = line->end;
		s->offset = s->memory->kind == COOKIE_ANON ? 0 : line->offset;
		s->own = (struct file_identity){ .device = device_of(line), .inode = line->inode };
		return 0;
	}
	if (!line->inode || *line->path != '/' || !strncmp(line->path, "/memfd:", 7))
		return 0;
	note_neighbour(s->met ? &s->after : &s->before, line);
	return s->met;
}

/* Compares the pages @memory with those of a file. The text may end within the last page that is
 * equal; what follows is zero. */
static bool is_copy(const uint8_t *memory, const uint8_t *file, size_t bytes)
{
	size_t i, equal = 0, proof = 0;

	while (equal < bytes && memory[equal] == file[equal])
		proof += memory[equal++] != 0;
	for (i = equal; i < bytes; i++)
		if (memory[i])
			return false;
	return proof >= PROOF_BYTES_MIN;
}

/* What is compared. */
struct comparison {
	struct parser *parser;
	struct parser_pages pages; /* of the memory */
	uint8_t *memory, *file;	   /* room for all of them */
	int fd;			   /* the file */
};

/* Whether the memory is a copy of what is at @offset in the file: in its first @count pages. */
static bool is_at(const struct comparison *c, uint64_t offset, uint32_t count)
{
	const struct parser_pages pages = { offset, c->pages.step, count };

	return parser_pages(c->parser, c->fd, &pages, c->file) == 0 &&
	       is_copy(c->memory, c->file, (size_t)count * PARSER_PAGE_BYTES);
}

/* Finds the offset in the file of @n at which the memory would be if the file was mapped as a
 * whole. Linkers shift each segment by no, one or sixteen pages against the one before. */
static bool find_offset(const struct comparison *c, const struct search *s,
			const struct neighbour *n, uint64_t *ret)
{
	static const unsigned int shifts[] = { 0, 1, 16 };
	bool is_before = n == &s->before;
	uint64_t offset, linear = n->offset + s->start - n->start;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(shifts); i++) {
		uint64_t shift = (uint64_t)shifts[i] * PARSER_PAGE_BYTES;

		offset = is_before ? linear - shift : linear + shift;
		if (offset > INT64_MAX || !is_at(c, offset, 1) || !is_at(c, offset, c->pages.count))
			continue;
		*ret = offset;
		return true;
	}
	return false;
}

static bool try_neighbour(struct comparison *c, const struct search *s, struct neighbour *n,
			  const struct cookie_mapped *where, struct text_copy *ret)
{
	const struct cookie_mapped mapped = { where->root, where->tgid, n->start, n->end };
	const struct cookie_image image = { .kind = COOKIE_FILE, .file = n->file, .path = n->path };
	/* Shared memory is another part of the same file. */
	bool is_own = n->file.inode == s->own.inode && n->file.device == s->own.device;
	_cleanup_close_ int fd = n->path && !is_own ? cookie_open_file(&image, &mapped) : -1;
	uint64_t offset;

	c->fd = fd;
	if (fd < 0 || !find_offset(c, s, n, &offset))
		return false;
	*ret = (struct text_copy){ .file = n->file,
				   .path = STEAL(n->path),
				   .shift = offset - s->offset,
				   .start = n->start,
				   .end = n->end };
	return true;
}

/* Every page of the memory, or as many as are compared. */
static struct parser_pages pages_of(const struct search *s)
{
	uint64_t count = (s->end - s->start) / PARSER_PAGE_BYTES;
	uint64_t apart = count / PAGES_MAX + 1;

	return (struct parser_pages){ s->start, apart * PARSER_PAGE_BYTES,
				      (uint32_t)((count + apart - 1) / apart) };
}

int text_copy_find(struct parser *parser, const struct cookie_image *memory,
		   const struct cookie_mapped *where, struct text_copy *ret)
{
	_cleanup_(search_done) struct search s = { .memory = memory };
	_cleanup_free_ char *path =
		xasprintf("%s/proc/%u/mem", where->root ? where->root : "", where->tgid);
	_cleanup_free_ uint8_t *room = NULL;
	_cleanup_close_ int fd = -1;
	struct comparison c = { .parser = parser };

	if (procfs_maps(where->root, where->tgid, look_at, &s) < 0 || !s.met)
		return -ESRCH;
	if (!s.before.path && !s.after.path)
		return 0;
	fd = open_regular(path, O_RDONLY);
	c.pages = pages_of(&s);
	if (!c.pages.count)
		return 0;
	room = xmalloc(2 * (size_t)c.pages.count * PARSER_PAGE_BYTES);
	c.memory = room;
	c.file = room + (size_t)c.pages.count * PARSER_PAGE_BYTES;
	if (fd < 0 || parser_pages(parser, fd, &c.pages, c.memory) < 0)
		return -ESRCH;
	return try_neighbour(&c, &s, &s.before, where, ret) ||
	       try_neighbour(&c, &s, &s.after, where, ret);
}
