/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stream/internal/cookie_chunk.h"

#include "base/mem.h"
#include "bpf/interpreter.h"
#include "identity/cookie.h"
#include "interpreter/function_line.h"
#include "stream/evbuf.h"

enum cookie_flag { COOKIE_IDENTIFIED = 1, COOKIE_VERIFIED = 2 };

void chunk_put_u32(struct strbuf *b, uint32_t value)
{
	strbuf_add(b, &value, sizeof(value));
}

void chunk_put_u64(struct strbuf *b, uint64_t value)
{
	strbuf_add(b, &value, sizeof(value));
}

void chunk_put_text(struct strbuf *b, const char *text)
{
	static const char zeros[8];

	strbuf_add(b, text, strlen(text) + 1);
	strbuf_add(b, zeros, -b->length & 7);
}

void chunk_skip_padding(struct span *in)
{
	while (in->left % 8 && *in->at == 0)
		(void)span_take(in, 1);
}

static void add_function(struct strbuf *b, const struct cookie_function *f)
{
	size_t i;

	chunk_put_u64(b, f->digest);
	chunk_put_u32(b, f->language);
	chunk_put_u32(b, f->bytes);
	chunk_put_text(b, f->name);
	for (i = 0; i < f->line_count; i++) {
		chunk_put_u32(b, f->lines[i].offset);
		chunk_put_u32(b, f->lines[i].line);
	}
}

void cookie_chunk_add(struct strbuf *b, const struct cookie_image *image)
{
	chunk_put_u64(b, image->cookie);
	chunk_put_u64(b, image->file.device);
	chunk_put_u64(b, image->file.inode);
	chunk_put_u64(b, image->file.generation);
	chunk_put_u64(b, image->version.size);
	chunk_put_u64(b, image->version.mtime);
	chunk_put_u64(b, image->start);
	chunk_put_u64(b, image->end);
	chunk_put_u32(b, image->tgid);
	chunk_put_u32(b, image->kind);
	chunk_put_u32(b, (image->identified ? COOKIE_IDENTIFIED : 0) |
				 (image->verified ? COOKIE_VERIFIED : 0));
	chunk_put_u32(b, image->version.build_id.size);
	strbuf_add(b, image->version.build_id.bytes, sizeof(image->version.build_id.bytes));
	chunk_put_text(b, image->path ? image->path : "");
	if (image->function)
		add_function(b, image->function);
	else if (image->host)
		chunk_put_text(b, image->host);
}

/* Reads a function; its name is borrowed, its lines are the caller's. 0 or -EBADMSG. */
static int read_function(struct span in, struct cookie_function *ret)
{
	struct cookie_function f = { 0 };
	size_t i;

	if (span_u64(&in, &f.digest) < 0 || span_u32(&in, &f.language) < 0 ||
	    span_u32(&in, &f.bytes) < 0 || !(f.digest & COOKIE_DIGEST_SET) ||
	    f.language >= INTERPRETER_COUNT_ || f.bytes > COOKIE_CODE_BYTES_MAX)
		return -EBADMSG;
	f.name = (char *)span_string(&in);
	if (!f.name)
		return -EBADMSG;
	chunk_skip_padding(&in);
	f.line_count = in.left / sizeof(*f.lines);
	f.lines = xcalloc(f.line_count, sizeof(*f.lines));
	for (i = 0; i < f.line_count; i++) {
		(void)span_u32(&in, &f.lines[i].offset);
		(void)span_u32(&in, &f.lines[i].line);
	}
	*ret = f;
	return 0;
}

/* Defines the function of a source file that @in describes. */
static int define_function(struct span in, struct cookie_image *image, struct cookie_table *cookies)
{
	struct cookie_function function;

	if (read_function(in, &function) < 0)
		return -EBADMSG;
	image->function = &function;
	cookie_define(cookies, image);
	free(function.lines);
	return 0;
}

int cookie_chunk_read(struct span in, struct cookie_table *cookies)
{
	struct cookie_image image = { 0 };
	uint32_t kind, flags, id_size;

	if (span_u64(&in, &image.cookie) < 0 || span_u64(&in, &image.file.device) < 0 ||
	    span_u64(&in, &image.file.inode) < 0 || span_u64(&in, &image.file.generation) < 0 ||
	    span_u64(&in, &image.version.size) < 0 || span_u64(&in, &image.version.mtime) < 0 ||
	    span_u64(&in, &image.start) < 0 || span_u64(&in, &image.end) < 0 ||
	    span_u32(&in, &image.tgid) < 0 || span_u32(&in, &kind) < 0 ||
	    span_u32(&in, &flags) < 0 || span_u32(&in, &id_size) < 0 ||
	    span_copy(&in, image.version.build_id.bytes, sizeof(image.version.build_id.bytes)) < 0)
		return -EBADMSG;
	image.path = (char *)span_string(&in);
	if (!image.path || kind >= COOKIE_KIND_COUNT_ || id_size > BUILD_ID_MAX ||
	    image.cookie == EVBUF_NO_COOKIE || image.cookie == EVBUF_INVALID_COOKIE)
		return -EBADMSG;
	chunk_skip_padding(&in);
	image.kind = kind;
	image.identified = flags & COOKIE_IDENTIFIED;
	image.verified = flags & COOKIE_VERIFIED;
	image.version.build_id.size = (uint8_t)id_size;
	if (kind == COOKIE_SOURCE && *image.path != '/')
		return -EBADMSG;
	if (kind == COOKIE_SOURCE && in.left)
		return define_function(in, &image, cookies);
	image.host = in.left ? (char *)span_string(&in) : NULL;
	cookie_define(cookies, &image);
	return 0;
}
