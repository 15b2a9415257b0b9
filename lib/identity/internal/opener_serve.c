/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The worker of an opener: it looks at files, and may hang there. */
#include "base/mem.h"
#include "file/open_regular.h"
#include "identity/cookie_identify.h"
#include "identity/internal/opener_wire.h"
#include "parser/parser.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Adds a string to the answer; one that is too long is none that leads to the file. */
static void put_text(struct opener_answer *a, const char *text)
{
	size_t length = text ? strlen(text) : 0;

	a->has_text = text != NULL;
	if (length < sizeof(a->text))
		memcpy(a->text, text ?: "", length + 1);
}

static void identify(struct cookie_image *image, const struct cookie_mapped *where,
		     struct parser *parser, struct opener_answer *a)
{
	_cleanup_free_ char *host = NULL;

	image->version = (struct file_version){ 0 };
	image->verified = false;
	cookie_identify_file(image, where, parser);
	host = image->host;
	put_text(a, host);
	a->image = *image;
}

static void copy(const struct cookie_image *memory, const struct cookie_mapped *where,
		 struct parser *parser, struct opener_answer *a)
{
	_cleanup_free_ char *path = NULL;

	int r = text_copy_find(parser, memory, where, &a->copy);

	a->is_so = r > 0;
	a->is_gone = r < 0;
	path = a->is_so ? a->copy.path : NULL;
	put_text(a, path);
}

static int table(const struct cookie_image *image, const struct cookie_mapped *where,
		 struct parser *parser, struct opener_answer *a)
{
	_cleanup_close_ int fd = cookie_open_file(image, where);
	int r;

	if (fd < 0)
		return -ENOENT;
	r = parser_table_leave(parser, fd, where->tgid, &a->size);
	return r == -ENOENT ? -ENODATA : r;
}

/* Has the functions of a file read or, if @places is not NULL, the lines there. */
static int functions(const struct cookie_image *image, const struct cookie_mapped *where,
		     const struct parser_places *places, struct parser *parser,
		     struct opener_answer *a)
{
	_cleanup_close_ int fd = cookie_open_version(image, where);
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -ENOENT;
	a->owner = st.st_uid;
	r = places ? parser_lines_leave(parser, fd, where->tgid, places, &a->size)
		   : parser_functions_leave(parser, fd, where->tgid, &a->size);
	return r == -ENOENT ? -ENODATA : r;
}

static int code(uint32_t tgid, uint64_t page, struct opener_answer *a)
{
	_cleanup_free_ char *path = xasprintf("/proc/%u/mem", tgid);
	_cleanup_close_ int fd = open_regular(path, O_RDONLY);

	if (fd < 0)
		return fd;
	return pread(fd, a->page, sizeof(a->page), (off_t)page) == sizeof(a->page) ? 0 : -EIO;
}

static int open_root(uint32_t tgid, struct sandbox_reply *reply)
{
	int fd = jit_files_open_root("", tgid);

	if (fd < 0)
		return fd;
	reply->fd = fd;
	return 0;
}

static int find_jit(const struct opener_request *r, int root, struct sandbox_reply *reply)
{
	_cleanup_free_ char *path = NULL;
	int fd = jit_files_find("", root, &r->jit, &path);

	if (fd < 0)
		return fd;
	put_text(reply->memory, path);
	reply->fd = fd;
	return 0;
}

static int read_jit(const struct opener_request *r, int handle, struct parser *parser,
		    struct opener_answer *a)
{
	_cleanup_close_ int fd = open_regular_found(handle, O_RDONLY);

	return fd < 0 ? fd : parser_jit_leave(parser, fd, &r->state, r->now, &a->size);
}

void opener_serve(const void *request, size_t size, int fd, struct sandbox_reply *reply)
{
	const struct opener_request *r = request;
	struct cookie_mapped where = { "", r->tgid, r->start, r->end };
	struct cookie_image image = r->image;
	struct parser *parser = reply->data;
	struct opener_answer *a = reply->memory;

	if (size <= offsetof(struct opener_request, path) || ((const char *)request)[size - 1])
		return;
	parser_open_for_another(parser);
	image.path = (char *)r->path;
	image.host = NULL;
	memset(a, 0, sizeof(*a));
	switch ((enum opener_what)r->what) {
	case OPENER_CHANGED:
		a->is_so = cookie_file_changed(&image, &where);
		if (a->is_so)
			identify(&image, &where, parser, a);
		break;
	case OPENER_IDENTIFY:
	case OPENER_VERSION:
		identify(&image, &where, parser, a);
		break;
	case OPENER_COPY:
	case OPENER_COPIED:
		copy(&image, &where, parser, a);
		break;
	case OPENER_TABLE:
		reply->code = table(&image, &where, parser, a);
		break;
	case OPENER_FUNCTIONS:
		reply->code = functions(&image, &where, NULL, parser, a);
		break;
	case OPENER_LINES:
		reply->code = functions(&image, &where, &r->places, parser, a);
		break;
	case OPENER_CODE:
		reply->code = code(r->tgid, r->start, a);
		break;
	case OPENER_JIT_ROOT:
		reply->code = open_root(r->tgid, reply);
		break;
	case OPENER_JIT_FIND:
		reply->code = find_jit(r, fd, reply);
		break;
	case OPENER_JIT_READ:
		reply->code = read_jit(r, fd, parser, a);
		break;
	}
	reply->size = sizeof(*a);
}
