/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/internal/references.h"

#include "base/mem.h"
#include "chains/chain_names.h"
#include "chains/chain_read.h"
#include "history/history_names.h"
#include "sfile/idle.h"
#include "sfile/session.h"
#include "sfile/sname.h"

#include <errno.h>
#include <string.h>

/* The kernel's symbols, by which modules of the same kernel are found, too. */
static const char kernel_image[] = "/proc/kallsyms";

static void add_kernel_of(struct references *r, const char *module)
{
	const char *mark = strchr(module, '#');
	_cleanup_free_ char *name = xasprintf("%s%s", kernel_image, mark ? mark : "");

	(void)intern(&r->images, name);
}

static void add_image(struct references *r, const struct sname_image *image)
{
	switch (image->kind) {
	case SNAME_ROOT:
		(void)intern(&r->images, image->name);
		break;
	case SNAME_KERN:
		add_kernel_of(r, image->name);
		break;
	case SNAME_ANON:
		(void)map_set(&r->makers, image->tgid + UINT64_C(1), r);
		break;
	case SNAME_KIND_COUNT_:
		break;
	}
}

static void add_name(const struct sname *name, void *data)
{
	struct references *r = data;

	add_image(r, &name->app);
	add_image(r, &name->image);
	if (name->has_callee)
		add_image(r, &name->callee);
}

static int add_file(const char *path _unused_, const struct sname *name, void *data)
{
	add_name(name, data);
	return 0;
}

static void note_error(const char *path _unused_, const struct error *why, void *data)
{
	struct references *r = data;

	if (why->code != -EBADMSG) /* no name of a sample file */
		r->error = why->code;
}

/* Adds the images of the chains in @window; NULL: of their sum, in which others are folded. */
static int add_chains(const char *samples, const struct window *window, struct references *r)
{
	_cleanup_(chain_reader_closep) struct chain_reader *reader = NULL;
	int status = chain_reader_open(samples, window, &reader, NULL);
	const struct chain_names *names;
	uint32_t i;

	if (status < 0)
		return status == -ENOENT ? 0 : status;
	names = chain_reader_names(reader);
	for (i = 1; i <= chain_names_images(names); i++)
		add_image(r, chain_names_image_at(names, i));
	return 0;
}

int references_read(const char *samples, struct references *r)
{
	int status = session_walk(samples, add_file, note_error, r, NULL);

	if (status == 0)
		status = idle_walk(samples, 0, add_file, note_error, r, NULL);
	if (status == 0)
		status = history_each_name(samples, add_name, r);
	if (status == 0)
		status = add_chains(samples, NULL, r);
	if (status == 0)
		status = add_chains(samples, &WINDOW_ALL, r);
	return status < 0 ? status : r->error;
}

bool references_image(const struct references *r, const char *name)
{
	return intern_has(&r->images, name);
}

bool references_maker(const struct references *r, uint32_t tgid)
{
	return map_get(&r->makers, tgid + UINT64_C(1)) != NULL;
}

void references_done(struct references *r)
{
	intern_done(&r->images);
	map_done(&r->makers);
}
