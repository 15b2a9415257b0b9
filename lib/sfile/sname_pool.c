/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sfile/sname_pool.h"

#include "base/hash.h"

#include <string.h>

/* A piece of a path, borrowed. */
struct piece {
	const char *at;
	size_t length;
};

/* The pieces of APPLICATION/{dep}/IMAGE/EVENT. */
struct pieces {
	struct piece app, image, event;
};

/* A piece that was parsed. */
struct part {
	size_t length;
	struct sname_image image;  /* ->name is NULL if it is none */
	const struct sname *event; /* all but images; NULL if it is none */
	char text[];
};

/* Cuts a path into pieces; false if there may be other ways, or there is a cgroup or the name of a
 * thread. What each piece means does not depend on the others then. */
static bool cut(const char *path, struct pieces *ret)
{
	static const char dep[] = "/{dep}/", cg[] = "/{cg}/", root[] = "{root}/",
			  kern[] = "{kern}/";
	const char *middle = strstr(path, dep), *image, *slash = strrchr(path, '/');

	if (!middle || (strncmp(path, root, strlen(root)) && strncmp(path, kern, strlen(kern))))
		return false;
	image = middle + strlen(dep);
	if (slash <= image || strstr(middle + 1, dep) || strstr(path, cg))
		return false;
	*ret = (struct pieces){ { path, (size_t)(middle - path) },
				{ image, (size_t)(slash - image) },
				{ slash + 1, strlen(slash + 1) } };
	return true;
}

static const struct part *find(const struct sname_pool *p, struct piece piece)
{
	const struct part *part;

	map_for_each_of(&p->by_hash, hash_text(piece.at, piece.length),
			part) if (part->length == piece.length &&
				  !memcmp(part->text, piece.at, piece.length)) return part;
	return NULL;
}

/* The part for a piece; a new one if there is none. */
static struct part *part_of(struct sname_pool *p, struct piece piece)
{
	struct part *part = (struct part *)(uintptr_t)find(p, piece);

	if (part)
		return part;
	part = arena_alloc(&p->parts, sizeof(*part) + piece.length + 1);
	*part = (struct part){ .length = piece.length };
	memcpy(part->text, piece.at, piece.length);
	part->text[piece.length] = '\0';
	map_add(&p->by_hash, hash_text(piece.at, piece.length), part);
	return part;
}

/* Gives an image the string that its part has: all after "{root}" or "{kern}/". */
static struct sname_image shared_image(struct sname_pool *p, struct part *part,
				       const struct sname_image *image)
{
	const size_t length = strlen(image->name), before = part->length - length;
	const char *name = part->text + before;

	part->image = *image;
	part->image.name = length < part->length && !strcmp(name, image->name)
				   ? name
				   : intern(&p->strings, image->name);
	return part->image;
}

/* Remembers the parts of a name, and gives it their strings. */
static void share(struct sname_pool *p, const struct pieces *pieces, struct sname *name)
{
	struct part *app = part_of(p, pieces->app), *image = part_of(p, pieces->image),
		    *event = part_of(p, pieces->event);
	struct sname *kept;

	name->app = shared_image(p, app, &name->app);
	name->image = shared_image(p, image, &name->image);
	name->event = intern(&p->strings, name->event);
	if (event->event)
		return;
	event->event = kept = arena_alloc(&p->parts, sizeof(*kept));
	*kept = *name;
}

/* Gives a name strings of the pool. */
static void share_strings(struct sname_pool *p, struct sname *name)
{
	name->app.name = intern(&p->strings, name->app.name);
	name->image.name = intern(&p->strings, name->image.name);
	name->callee.name = intern(&p->strings, name->callee.name);
	name->event = intern(&p->strings, name->event);
	name->task.cgroup = intern(&p->strings, name->task.cgroup);
	name->task.comm = intern(&p->strings, name->task.comm);
}

/* Makes a name of parts that are known; false if one is not. */
static bool compose(const struct sname_pool *p, const struct pieces *pieces, struct sname *ret)
{
	const struct part *app = find(p, pieces->app), *image = app ? find(p, pieces->image) : NULL,
			  *event = image ? find(p, pieces->event) : NULL;

	if (!event || !app->image.name || !image->image.name || !event->event)
		return false;
	*ret = *event->event;
	ret->app = app->image;
	ret->image = image->image;
	return true;
}

int sname_pool_parse(struct sname_pool *p, const char *path, struct sname *ret, struct error *err)
{
	struct pieces pieces;
	const bool is_cut = cut(path, &pieces);
	struct sname name, own;
	int r;

	if (is_cut && compose(p, &pieces, ret))
		return 0;
	r = sname_parse(path, &own, err);
	if (r < 0)
		return r;
	name = own;
	if (is_cut)
		share(p, &pieces, &name);
	else
		share_strings(p, &name);
	sname_done(&own);
	*ret = name;
	return 0;
}

size_t sname_pool_pair(const char *path)
{
	static const char anon[] = "{anon:";
	struct pieces p;

	if (!cut(path, &p) || !strncmp(p.image.at, anon, strlen(anon)))
		return 0;
	return (size_t)(p.event.at - 1 - path);
}

void sname_pool_done(struct sname_pool *p)
{
	arena_done(&p->parts);
	map_done(&p->by_hash);
	intern_done(&p->strings);
}
