/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/hash.h"
#include "base/mem.h"
#include "file/path.h"
#include "chains/chain.h"
#include "profile/select/gather.h"
#include "sfile/manifest.h"
#include "sfile/source_image.h"

#include <string.h>
#include <unistd.h>

static uint64_t hash_image(const struct sname_image *image)
{
	uint64_t hash = hash_text(image->name, strlen(image->name));

	hash = hash_add(hash, (uint64_t)image->kind << 32 | image->tgid);
	return hash_add(hash_add(hash, image->start), image->end);
}

/* Returns whether one name is the same file in two sessions of an archive, or without one. */
static bool same_file(const struct manifest_image *a, const struct manifest_image *b)
{
	return !a || !b || !a->version.build_id.size || !b->version.build_id.size ||
	       build_id_equal(&a->version.build_id, &b->version.build_id);
}

/* Whether two versions of a file are one, or nothing is known that distinguishes them. */
static bool same_version(const struct file_version *a, const struct file_version *b)
{
	if (a->build_id.size && b->build_id.size)
		return build_id_equal(&a->build_id, &b->build_id);
	return a->build_id.size == b->build_id.size && a->size == b->size && a->mtime == b->mtime;
}

/* Returns whether one name is the same in two archives. Memory of two processes is not; the
 * functions of scripts have no addresses that could differ. */
static bool same_elsewhere(const struct gather_image *a, const struct gather_image *b)
{
	if (a->id.kind == SNAME_ANON)
		return !a->id.tgid;
	if (!a->manifest || !b->manifest || source_image_is(a->manifest))
		return true;
	return same_version(&a->manifest->version, &b->manifest->version);
}

/* A copy of @text, which is @known if that is the same: most images are shown by their names. */
static const char *share(struct gather *g, const char *known, const char *text)
{
	return strcmp(known, text) ? arena_strdup(&g->arena, text) : known;
}

/* Names the image: by the path in the manifest, and for people with the mark. */
static void describe_image(struct gather *g, struct gather_image *image)
{
	struct sname_image shown = image->id;
	_cleanup_free_ char *plain = NULL, *display = NULL;
	const struct manifest_image *m = image->manifest;
	bool marked = shown.kind == SNAME_KERN || (m && m->path && strcmp(m->path, shown.name));

	image->suffix = marked ? sname_build_mark(image->id.name) : "";
	if (*image->suffix) {
		plain = xstrndup(shown.name, (size_t)(image->suffix - shown.name));
		shown.name = plain;
	}
	/* The recorder shortens long paths in names. */
	if (shown.kind == SNAME_ROOT && m && m->path && strlen(m->path) > strlen(shown.name))
		shown.name = (char *)m->path;
	display = sname_image_display(&shown);
	image->display = share(g, image->id.name, display);
	image->shown = image->display;
	if (*image->suffix) {
		_cleanup_free_ char *marked_display = xasprintf("%s%s", display, image->suffix);

		image->shown = arena_strdup(&g->arena, marked_display);
	}
	if (sname_image_is_kernel(&image->id)) {
		_cleanup_free_ char *kernel = xasprintf(SNAME_KERNEL_WORD "%s", image->suffix);

		image->kernel = arena_strdup(&g->arena, kernel);
	}
}

/* Appends the image and indexes it; returns its number. */
static uint32_t add_image(struct gather *g, const struct gather_image *image)
{
	uint32_t i = (uint32_t)g->image_count;

	array_grow(&g->images, g->image_count + 1, &g->image_room);
	g->images[i] = *image;
	g->image_count++;
	map_add(&g->image_by_hash, hash_image(&image->id), (void *)(uintptr_t)(i + 1));
	return i;
}

/* The number of the image in an archive or GATHER_NONE. */
static uint32_t find_image(const struct gather *g, const struct sname_image *id,
			   const struct manifest_image *entry, uint32_t archive)
{
	uintptr_t number;

	map_for_each_of(&g->image_by_hash, hash_image(id), number)
	{
		const struct gather_image *known = &g->images[number - 1];

		if (known->archive == archive && sname_image_equal(&known->id, id) &&
		    same_file(known->manifest, entry))
			return (uint32_t)number - 1;
	}
	return GATHER_NONE;
}

uint32_t gather_find_same(const struct gather *g, const struct gather_image *image)
{
	return find_image(g, &image->id, image->manifest, image->archive);
}

/* What the session's manifest says about the image, or NULL. */
static const struct manifest_image *manifest_of(const struct gather *g, uint32_t session,
						const struct sname_image *id)
{
	const struct manifest *manifest = g->sessions[session].manifest;

	return manifest && id->kind != SNAME_ANON ? manifest_find(manifest, id->name) : NULL;
}

uint32_t gather_find_image(const struct gather *g, uint32_t session, const struct sname_image *id)
{
	return find_image(g, id, manifest_of(g, session, id), g->sessions[session].archive_number);
}

/* Marks an image of which another archive has another version, as the recorder does. */
static void mark_version(struct gather *g, struct gather_image *image)
{
	char id[BUILD_ID_TEXT];
	_cleanup_free_ char *shown = NULL, *kernel = NULL;

	if (*image->suffix || !image->manifest || !image->manifest->version.build_id.size)
		return;
	(void)build_id_text(&image->manifest->version.build_id, id);
	shown = xasprintf("%s#%.8s", image->display, id);
	image->shown = arena_strdup(&g->arena, shown);
	if (!image->kernel)
		return;
	kernel = xasprintf("%s#%.8s", image->kernel, id);
	image->kernel = arena_strdup(&g->arena, kernel);
}

/* Finds the first image of another archive that is the same as @image. */
static void find_elsewhere(struct gather *g, struct gather_image *image)
{
	bool is_other = false;
	uint32_t first = GATHER_NONE;
	uintptr_t number;

	map_for_each_of(&g->image_by_hash, hash_image(&image->id), number)
	{
		const struct gather_image *known = &g->images[number - 1];

		if (known->archive == image->archive || known->same != GATHER_NONE ||
		    !sname_image_equal(&known->id, &image->id))
			continue;
		if (same_elsewhere(known, image))
			first = MIN(first, (uint32_t)number - 1);
		else
			is_other = true;
	}
	image->same = first;
	if (first != GATHER_NONE) {
		image->shown = g->images[first].shown;
		image->kernel = g->images[first].kernel;
	} else if (is_other && image->id.kind != SNAME_ANON) {
		mark_version(g, image);
	}
}

uint32_t gather_image(struct gather *g, uint32_t session, const struct sname_image *id)
{
	struct gather_image image = { .id = *id,
				      .manifest = manifest_of(g, session, id),
				      .session = session,
				      .archive = g->sessions[session].archive_number,
				      .program = GATHER_NONE,
				      .same = GATHER_NONE };
	uint32_t known = gather_find_image(g, session, id);

	if (known != GATHER_NONE)
		return known;
	image.id.name = arena_strdup(&g->arena, id->name);
	describe_image(g, &image);
	find_elsewhere(g, &image);
	return add_image(g, &image);
}

uint32_t gather_image_of(struct gather *g, struct map *by_string, uint32_t session,
			 const struct sname_image *id)
{
	const uint64_t key = (uintptr_t)id->name;
	uintptr_t known;

	if (!by_string || id->kind == SNAME_ANON)
		return gather_image(g, session, id);
	known = (uintptr_t)map_get(by_string, key);
	if (!known) {
		known = (uintptr_t)gather_image(g, session, id) + 1;
		(void)map_set(by_string, key, (void *)known);
	}
	return (uint32_t)known - 1;
}

uint32_t gather_add_image(struct gather *g, const struct gather_image *image)
{
	struct gather_image copy = *image;

	copy.session = 0;
	copy.file = 0;
	copy.archive = 0;
	copy.program = copy.same = GATHER_NONE;
	return add_image(g, &copy);
}

const char *gather_image_name(const struct gather *g, uint32_t image, bool is_long)
{
	const struct gather_image *i = &g->images[image];

	return is_long || i->id.kind != SNAME_ROOT ? i->shown : i->kernel ?: path_base(i->shown);
}

bool gather_has_chains(const struct gather *g)
{
	bool has = false;
	size_t i;

	for (i = 0; i < g->session_count && !has; i++) {
		_cleanup_free_ char *chains = path_join(g->sessions[i].samples, CHAIN_DIRECTORY);

		has = access(chains, F_OK) == 0;
	}
	return has;
}

char *gather_code_path(const struct gather *g, const struct gather_file *f)
{
	const struct gather_image *image = &g->images[f->image];
	/* The file may be in idle/, but its code is not. */
	const struct sname name = { .app = g->images[f->app].id,
				    .image = image->id,
				    .event = f->event,
				    .count = f->count,
				    .unit_mask = f->unit_mask,
				    .task = f->task };
	_cleanup_free_ char *below = NULL;
	const char *end;

	if (image->id.kind != SNAME_ANON || f->callee != GATHER_NONE)
		return NULL;
	below = sname_mangle(&name);
	end = strrchr(below, '/');
	end = memrchr(below, '/', (size_t)(end - below));
	return xasprintf("%s/%.*s/%u.jo", g->sessions[f->session].samples, (int)(end - below),
			 below, image->id.tgid);
}
