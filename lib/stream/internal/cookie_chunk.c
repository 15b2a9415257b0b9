/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stream/internal/cookie_chunk.h"

#include "identity/cookie.h"
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
	if (image->host)
		chunk_put_text(b, image->host);
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
	image.host = in.left ? (char *)span_string(&in) : NULL;
	image.kind = kind;
	image.identified = flags & COOKIE_IDENTIFIED;
	image.verified = flags & COOKIE_VERIFIED;
	image.version.build_id.size = (uint8_t)id_size;
	cookie_define(cookies, &image);
	return 0;
}
