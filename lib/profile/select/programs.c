/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/select/programs.h"

#include "base/mem.h"
#include "file/path.h"
#include "profile/select/gather.h"
#include "profile/select/region_name.h"

#include <string.h>

/* The label of memory without a name of its own: JIT code. */
static const char *const jit_label = "anon";

static bool is_jit(const char *label)
{
	return !strcmp(label, jit_label);
}

/* The number of the image that stands for the memory named @label of all processes that run image
 * number @app. */
static uint32_t add_program(struct gather *g, uint32_t app, const char *label)
{
	const struct gather_image *i = &g->images[app];
	const char *program = i->id.kind == SNAME_ROOT ? path_base(i->display) : i->id.name;
	_cleanup_free_ char *name = region_name(label, program);

	return gather_image(g, i->session,
			    &(struct sname_image){ .kind = SNAME_ANON, .name = name });
}

/* Whether image number @image is memory of a process whose program is image number @app. */
static bool is_region(const struct gather *g, uint32_t image, uint32_t app)
{
	const struct sname_image *id = &g->images[image].id;

	return id->kind == SNAME_ANON && id->tgid && g->images[app].id.kind != SNAME_ANON;
}

/* Finds out which program a region of a process belongs to. */
static void find(struct gather *g, uint32_t image, uint32_t app)
{
	uint32_t program;

	if (!is_region(g, image, app))
		return;
	if (g->images[image].program == GATHER_NONE) {
		program = add_program(g, app, g->images[image].id.name);
		g->images[image].program = program;
	}
	if (g->images[image].is_wanted)
		g->images[programs_shown(g, image)].is_wanted = true;
}

void programs_add(struct gather *g, uint32_t app)
{
	if (g->images[app].id.kind != SNAME_ANON && g->images[app].program == GATHER_NONE) {
		uint32_t program = add_program(g, app, jit_label);
		uint32_t same = programs_same(g, app);

		g->images[app].program = program;
		if (g->images[same].program == GATHER_NONE)
			g->images[same].program = program;
	}
}

void programs_note(struct gather *g, uint32_t image, uint32_t app)
{
	if (g->images[image].program == GATHER_NONE && is_region(g, image, app) &&
	    is_jit(g->images[image].id.name))
		g->images[image].program = g->images[app].program;
}

void programs_find(struct gather *g)
{
	size_t i;

	for (i = 0; i < g->image_count; i++)
		if (g->images[i].is_wanted)
			g->images[programs_shown(g, (uint32_t)i)].is_wanted = true;
	for (i = 0; i < g->file_count; i++) {
		const struct gather_file *f = &g->files[i];

		find(g, f->image, f->app);
		if (f->callee != GATHER_NONE)
			find(g, f->callee, f->app);
	}
}

uint32_t programs_same(const struct gather *g, uint32_t image)
{
	return g->images[image].same == GATHER_NONE ? image : g->images[image].same;
}

uint32_t programs_shown(const struct gather *g, uint32_t image)
{
	const struct gather_image *i = &g->images[image];

	return programs_same(g, i->id.kind == SNAME_ANON && i->program != GATHER_NONE ? i->program
										      : image);
}
