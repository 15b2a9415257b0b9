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
struct sname_part {
	size_t length;
	struct sname_image image; /* ->name is NULL if it is none */
	const struct sname *rest; /* all but images; NULL if it is none */
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

static bool is_text_of(const struct sname_part *part, struct piece piece)
{
	return part->length == piece.length && !memcmp(part->text, piece.at, piece.length);
}

/* The part for a piece, which may be @last; NULL: there is none. */
static const struct sname_part *find(const struct sname_pool *p, struct piece piece,
				     const struct sname_part *last)
{
	const struct sname_part *part;

	if (last && is_text_of(last, piece))
		return last;
	map_for_each_of(&p->by_hash, hash_text(piece.at, piece.length),
			part) if (is_text_of(part, piece)) return part;
	return NULL;
}

/* The part for a piece; a new one if there is none. */
static struct sname_part *part_of(struct sname_pool *p, struct piece piece)
{
	struct sname_part *part = (struct sname_part *)(uintptr_t)find(p, piece, NULL);

	if (part)
		return part;
	part = arena_alloc(&p->parts, sizeof(*part) + piece.length + 1);
	*part = (struct sname_part){ .length = piece.length };
	memcpy(part->text, piece.at, piece.length);
	part->text[piece.length] = '\0';
	map_add(&p->by_hash, hash_text(piece.at, piece.length), part);
	return part;
}

/* Makes an image of a part. Its name is all after "{root}" or "{kern}/". */
static const struct sname_image *image_of(struct sname_pool *p, struct sname_part *part,
					  const struct sname_image *image)
{
	const size_t length = strlen(image->name), before = part->length - length;
	const char *name = part->text + before;

	if (part->image.name)
		return &part->image;
	part->image = *image;
	part->image.name = length < part->length && !strcmp(name, image->name)
				   ? name
				   : intern(&p->strings, image->name);
	return &part->image;
}

/* A copy of all of a name but its images, with strings of the pool. */
static struct sname rest_of(struct sname_pool *p, const struct sname *name)
{
	struct sname rest = *name;

	rest.app = rest.image = (struct sname_image){ 0 };
	rest.callee.name = intern(&p->strings, rest.callee.name);
	rest.event = intern(&p->strings, rest.event);
	rest.task.cgroup = intern(&p->strings, rest.task.cgroup);
	rest.task.comm = intern(&p->strings, rest.task.comm);
	return rest;
}

/* Remembers the parts of a name. */
static void share(struct sname_pool *p, const struct pieces *pieces, const struct sname *name,
		  struct sname_parts *ret)
{
	struct sname_part *app = part_of(p, pieces->app), *image = part_of(p, pieces->image),
			  *event = part_of(p, pieces->event);
	const struct sname rest = rest_of(p, name);

	ret->app = image_of(p, app, &name->app);
	ret->image = image_of(p, image, &name->image);
	if (!event->rest)
		event->rest = memcpy(arena_alloc(&p->parts, sizeof(rest)), &rest, sizeof(rest));
	ret->rest = event->rest;
}

/* --- names that cannot be cut --- */

static const struct sname_image *known_image(struct sname_pool *p, const struct sname_image *image)
{
	const struct sname_image own = { image->kind, intern(&p->strings, image->name), image->tgid,
					 image->start, image->end };
	const uint64_t hash = hash_add(hash_add((uintptr_t)own.name, own.start),
				       (uint64_t)own.kind << 32 | own.tgid);
	struct sname_image *known;

	map_for_each_of(&p->images, hash, known) if (sname_image_equal(known, &own)) return known;
	known = arena_alloc(&p->parts, sizeof(own));
	*known = own;
	map_add(&p->images, hash, known);
	return known;
}

static bool same_rest(const struct sname *a, const struct sname *b)
{
	return a->event == b->event && a->count == b->count && a->unit_mask == b->unit_mask &&
	       a->has_callee == b->has_callee &&
	       (!a->has_callee || sname_image_equal(&a->callee, &b->callee)) &&
	       sname_task_equal(&a->task, &b->task);
}

static const struct sname *known_rest(struct sname_pool *p, const struct sname *name)
{
	const struct sname own = rest_of(p, name);
	const uint64_t hash = hash_add(hash_add(sname_task_hash(&own.task), (uintptr_t)own.event),
				       (uintptr_t)own.callee.name);
	struct sname *known;

	map_for_each_of(&p->rests, hash, known) if (same_rest(known, &own)) return known;
	known = arena_alloc(&p->parts, sizeof(own));
	*known = own;
	map_add(&p->rests, hash, known);
	return known;
}

/* --- parsing --- */

/* Makes a name of parts that are known; false if one is not. */
static bool compose(struct sname_pool *p, const struct pieces *pieces, struct sname_parts *ret)
{
	const struct sname_part *app = find(p, pieces->app, p->last_app),
				*image = app ? find(p, pieces->image, p->last_image) : NULL,
				*event = image ? find(p, pieces->event, p->last_event) : NULL;

	if (!event || !app->image.name || !image->image.name || !event->rest)
		return false;
	p->last_app = app;
	p->last_image = image;
	p->last_event = event;
	*ret = (struct sname_parts){ &app->image, &image->image, event->rest };
	return true;
}

int sname_pool_parse(struct sname_pool *p, const char *path, struct sname_parts *ret,
		     struct error *err)
{
	struct pieces pieces;
	const bool is_cut = cut(path, &pieces);
	struct sname name;
	int r;

	if (is_cut && compose(p, &pieces, ret))
		return 0;
	r = sname_parse(path, &name, err);
	if (r < 0)
		return r;
	if (is_cut)
		share(p, &pieces, &name, ret);
	else
		*ret = (struct sname_parts){ known_image(p, &name.app), known_image(p, &name.image),
					     known_rest(p, &name) };
	sname_done(&name);
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
	map_done(&p->images);
	map_done(&p->rests);
	*p = SNAME_POOL_INIT;
}
