/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses the names of many sample files. They have parts in common, such as the path of a library:
 * each part is parsed, and stored, once. The pool owns all parts.
 *
 *	struct sname_pool p = SNAME_POOL_INIT;
 *	struct sname_parts name;
 *	if (sname_pool_parse(&p, path, &name, err) == 0)	without sname_done()
 *		puts(name.image->name);
 *	sname_pool_done(&p);
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/intern.h"
#include "base/map.h"
#include "sfile/sname.h"

struct sname_part;

struct sname_pool {
	struct arena parts;
	struct map by_hash; /* of a part's text */
	/* Those of the name that was parsed last, most of which the next one has, too. */
	const struct sname_part *last_app, *last_image, *last_event;
	/* Of names that are not made of such parts: */
	struct intern strings;
	struct map images, rests; /* by hash of their contents */
};

/* The parts of a name. Equal ones are one pointer, but for names that can be written in several
 * ways. */
struct sname_parts {
	const struct sname_image *app, *image;
	const struct sname *rest; /* all but these two, which are empty there */
};

#define SNAME_POOL_INIT ((struct sname_pool){ 0 })

/* Parses @path as sname_parse() does; the parts are the pool's. 0 or -EBADMSG. */
int sname_pool_parse(struct sname_pool *p, const char *path, struct sname_parts *ret,
		     struct error *err);
/* The name that consists of the parts, and has their strings. */
static inline struct sname sname_of_parts(const struct sname_parts *parts)
{
	struct sname name = *parts->rest;

	name.app = *parts->app;
	name.image = *parts->image;
	return name;
}
/* The length of what @path begins with that says which application and image it is of, where that
 * is known without parsing it: its event follows after a slash. 0: it may be memory of a process,
 * or there is a cgroup or the name of a thread. */
size_t sname_pool_pair(const char *path);
/* Frees all; the pool is empty and usable again. */
void sname_pool_done(struct sname_pool *p);
