/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "elf/internal/elfzstd.h"

#include "base/mem.h"
#include "base/span.h"

#include <errno.h>
#include <unistd.h>
#include <zstd.h>

/* The largest modules, with all debug information, have some ten megabytes. */
enum { UNPACKED_MAX = 512 << 20, WINDOW_LOG_MAX = 27 };

struct unpacking {
	int fd;
	off_t at;
	ZSTD_DCtx *zstd;
	char piece[16384]; /* as in the file */
	char *bytes;	   /* unpacked so far */
	size_t room, size;
};

bool elfzstd_is(int fd)
{
	uint8_t magic[4];

	return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	       get_le32(magic) == ZSTD_MAGICNUMBER;
}

/* Unpacks the bytes of @in. 1 if they ended a frame, 0, or -errno. */
static int unpack_piece(struct unpacking *u, ZSTD_inBuffer *in)
{
	ZSTD_outBuffer out;
	size_t left;

	do {
		array_grow(&u->bytes, u->size + ZSTD_DStreamOutSize(), &u->room);
		out = (ZSTD_outBuffer){ u->bytes, u->room, u->size };
		left = ZSTD_decompressStream(u->zstd, &out, in);
		u->size = out.pos;
		if (ZSTD_isError(left))
			return -EBADMSG;
		if (u->size > UNPACKED_MAX)
			return -EFBIG;
	} while (in->pos < in->size || out.pos == out.size);
	return left == 0;
}

static int unpack_all(struct unpacking *u)
{
	int ended = false;
	ssize_t n;

	if (ZSTD_isError(ZSTD_DCtx_setParameter(u->zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MAX)))
		return -ENOMEM;
	while ((n = pread(u->fd, u->piece, sizeof(u->piece), u->at)) > 0) {
		ZSTD_inBuffer in = { u->piece, (size_t)n, 0 };

		u->at += n;
		ended = unpack_piece(u, &in);
		if (ended < 0)
			return ended;
	}
	if (n < 0)
		return -errno;
	return ended ? 0 : -EBADMSG;
}

int elfzstd_unpack(int fd, void **ret, size_t *ret_size)
{
	struct unpacking u = { .fd = fd, .zstd = ZSTD_createDCtx() };
	int r = u.zstd ? unpack_all(&u) : -ENOMEM;

	(void)ZSTD_freeDCtx(u.zstd);
	if (r < 0) {
		free(u.bytes);
		return r;
	}
	*ret = u.bytes;
	*ret_size = u.size;
	return 0;
}
