/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses the names of many sample files. They have parts in common, such as the path of a library:
 * each part is parsed, and stored, once. The pool owns all strings.
 *
 *	struct sname_pool p = SNAME_POOL_INIT;
 *	struct sname name;
 *	if (sname_pool_parse(&p, path, &name, err) == 0)	without sname_done()
 *		puts(name.image.name);
 *	sname_pool_done(&p);
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/intern.h"
#include "base/map.h"
#include "sfile/sname.h"

struct sname_pool {
	struct arena parts;
	struct map by_hash;    /* of a part's text */
	struct intern strings; /* of names that are not made of such parts */
};

#define SNAME_POOL_INIT ((struct sname_pool){ 0 })

/* Parses @path as sname_parse() does; the strings of *@ret are the pool's. 0 or -EBADMSG. */
int sname_pool_parse(struct sname_pool *p, const char *path, struct sname *ret, struct error *err);
/* The length of what @path begins with that says which application and image it is of, where that
 * is known without parsing it: its event follows after a slash. 0: it may be memory of a process,
 * or there is a cgroup or the name of a thread. */
size_t sname_pool_pair(const char *path);
/* Frees all; the pool is empty and usable again. */
void sname_pool_done(struct sname_pool *p);
