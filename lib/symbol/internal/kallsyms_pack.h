/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to the room: the symbols of kernel and modules in a session, compressed. The file is
 * never changed, only replaced, so that the sessions of one directory can share it (link(2)).
 *
 * For each image it has a skippable frame of zstd with what is needed to find it (struct header in
 * kallsyms_pack.c) and a frame with its lines in the form of kallsyms.h: `zstdcat` prints them all.
 * A report finds the image that it needs, and mostly has its symbols cached, without unpacking.
 */
#pragma once

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct kallsyms_packed {
	char *name;	     /* "" for the kernel */
	uint64_t start, end; /* as in kallsyms.h */
	const void *bytes;   /* the lines, compressed; NULL: not yet */
	size_t size;
	char *text; /* the lines, if ->bytes is NULL */
	size_t text_size;
};

struct kallsyms_pack {
	struct kallsyms_packed *images;
	size_t count, room;
	size_t text_size; /* of all images of a file, which somebody else may have made */
	void *map;
	size_t map_size;
};

/* Maps the file @path and finds its images. 0, caller frees; -ENOENT if there is none, -EBADMSG,
 * or -errno. */
int kallsyms_pack_open(const char *path, struct kallsyms_pack **ret, struct error *err);
/* The same with the open file @fd, which stays the caller's; @path is for messages. */
int kallsyms_pack_map(int fd, const char *path, struct kallsyms_pack **ret, struct error *err);
/* NULL is fine. */
void kallsyms_pack_free(struct kallsyms_pack *p);
DEFINE_CLEANUP(struct kallsyms_pack *, kallsyms_pack_free);

/* Returns the ->text_size bytes of the image's lines, ended by a 0; caller frees. NULL if they are
 * damaged. */
char *kallsyms_pack_text(const struct kallsyms_packed *image);
/* Writes the images of @p, which are sorted by name, to @path, for other sessions to share: if one
 * in the directory of @path's directory has a file of the same name and content, with the owner,
 * group and mode of a new one, links that. 0 or -errno. */
int kallsyms_pack_write(struct kallsyms_pack *p, const char *path, struct error *err);
