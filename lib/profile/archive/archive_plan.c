/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/archive/archive.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "file/path.h"
#include "elf/elf_build_id.h"
#include "elf/debugfile.h"
#include "elf/elffile.h"
#include "symbol/kallsyms.h"
#include "profile/select/file_counts.h"
#include "profile/archive/internal/plan.h"
#include "profile/binary/binary.h"
#include "profile/select/gather.h"
#include "sfile/manifest.h"
#include "sfile/session.h"
#include "sfile/setup.h"
#include "sfile/sfile.h"
#include "sfile/source_image.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* The part of a sample file's path below its session. */
static const char *below_session(const struct plan *p, const char *path)
{
	const char *below = path + strlen(p->session->samples);

	return below + strspn(below, "/");
}

static void add_jit(struct plan *p, const struct gather_file *f)
{
	_cleanup_free_ char *path = gather_code_path(p->gather, f);

	if (path && access(path, F_OK) == 0)
		plan_add_of_session(p, path, below_session(p, path));
}

/* --- images --- */

static void close_binary(struct binary *b)
{
	elffile_close(b->file);
	elffile_close(b->debug);
}

/* The first place to look for the debug file of @ef, whose path is @path. Caller frees. */
static char *debug_place(const struct elffile *ef, const struct elffile *debug, const char *path)
{
	const struct build_id *id = elffile_build_id(ef);
	char *place = elffile_build_id(debug) ? debugfile_place(id, "") : NULL;
	const char *link;
	uint32_t crc;

	if (place || !elffile_debuglink(ef, &link, &crc))
		return place;
	return xasprintf("%.*s.debug/%s", (int)(path_base(path) - path), path, link);
}

/* Adds the file with the common parts that dwz(1) has moved out of a file, which -g reads. */
static void add_common_debug(struct plan *p, const struct elffile *ef)
{
	_cleanup_(elffile_closep) struct elffile *common = NULL;
	_cleanup_free_ char *to = NULL;
	struct build_id id;

	if (!ef || debugfile_alt(ef, &id, &common) < 0)
		return;
	to = debugfile_place(&id, "");
	if (to)
		(void)plan_add(p, elffile_path(common), to);
}

/* Adds the package with split debug information that is next to a file. */
static void add_package(struct plan *p, const struct elffile *ef, const char *place)
{
	_cleanup_free_ char *from = xasprintf("%s.dwp", elffile_path(ef));
	_cleanup_free_ char *to = xasprintf("%s.dwp", place);

	if (access(from, R_OK) == 0)
		(void)plan_add(p, from, to);
}

static void leave_out(struct plan *p, const struct gather_image *image, const char *why)
{
	if (p->out->left_out++ < ARCHIVE_WARNINGS_MAX)
		log_warn("%s: %s; skipped", image->display, why);
}

/* Adds what was kept of a file that is gone. Returns false if that is nothing. */
static bool add_kept(struct plan *p, uint32_t index)
{
	_cleanup_free_ char *from = binaries_kept_path(p->binaries, index);
	_cleanup_free_ char *to =
		from ? xasprintf("%s/symbols/%s", ARCHIVE_SESSION_PLACE, path_base(from)) : NULL;
	struct archive_file *file = to ? plan_add(p, from, to) : NULL;

	if (file)
		file->flags = O_NOFOLLOW;
	return file;
}

static void add_image_file(struct plan *p, uint32_t index, const struct sfile_header *header)
{
	const struct gather_image *image = &p->gather->images[index];
	_cleanup_(close_binary) struct binary b = { 0 };
	_cleanup_free_ char *place = NULL;
	struct archive_file *file;

	if (!binary_find(p->binaries, index, header, &b)) {
		if (add_kept(p, index))
			return;
		leave_out(p, image,
			  b.why == BINARY_NO_FILE
				  ? "file not found"
				  : "the file there is not the one that was profiled");
		return;
	}
	file = plan_add(p, elffile_path(b.file), image->display);
	if (!file) {
		p->out->left_out++;
		return;
	}
	file->kind = ARCHIVE_IMAGE;
	file->image = index;
	file->header =
		memcpy(arena_alloc(&p->out->arena, sizeof(*header)), header, sizeof(*header));
	if (p->config->compact) /* the used parts of debug files go into the image */
		return;
	add_common_debug(p, b.file);
	add_package(p, b.file, image->display);
	place = b.debug ? debug_place(b.file, b.debug, image->display) : NULL;
	if (!place || !plan_add(p, elffile_path(b.debug), place))
		return;
	add_common_debug(p, b.debug);
	add_package(p, b.debug, place);
}

/* Returns whether @image can belong to the running kernel. */
static bool can_be_running(const struct plan *p, const struct gather_image *image)
{
	_cleanup_free_ char *name = xasprintf("/proc/kallsyms%s", image->suffix);
	const struct manifest *manifest = p->gather->sessions[image->session].manifest;
	const struct manifest_image *profiled = manifest ? manifest_find(manifest, name) : NULL;
	struct build_id running;

	if (!profiled || !profiled->version.build_id.size)
		return true;
	return elf_build_id_read_kernel(NULL, &running) == 0 &&
	       build_id_equal(&running, &profiled->version.build_id);
}

/* The path at which the code of a kernel or module is looked for; caller frees. NULL if the session
 * does not name the kernel, and for modules in memory, whose code is in the kernel's file. */
static char *code_place(const struct plan *p, const struct gather_image *image,
			const struct elffile *ef)
{
	unsigned int type = elffile_header(ef)->e_type;
	struct setup setup = { 0 };
	char *place = NULL;

	if (type == ET_CORE)
		return image->id.kind == SNAME_ROOT ? xstrdup("/proc/kcore") : NULL;
	if (setup_read(p->gather->sessions[image->session].samples, &setup, NULL) == 0 &&
	    setup.kernel && !strchr(setup.kernel, '/'))
		place = type == ET_REL
				? xasprintf("/lib/modules/%s/%s.ko", setup.kernel, image->display)
				: xasprintf("/usr/lib/debug/boot/vmlinux-%s", setup.kernel);
	setup_done(&setup);
	return place;
}

/* Adds the code of kernel and modules, if there is any, for a compact archive. */
static void add_code(struct plan *p, uint32_t index, const struct sfile_header *header)
{
	_cleanup_(binary_close) struct binary b = { 0 };
	_cleanup_free_ char *place = NULL;
	struct archive_file *file;

	if (!p->config->compact)
		return;
	binary_open(p->binaries, index, header, &b);
	place = b.file ? code_place(p, &p->gather->images[index], b.file) : NULL;
	file = place ? plan_add(p, elffile_path(b.file), place) : NULL;
	if (!file)
		return;
	file->kind = ARCHIVE_CODE;
	file->image = index;
	file->header =
		memcpy(arena_alloc(&p->out->arena, sizeof(*header)), header, sizeof(*header));
}

/* Adds the symbols of kernel and modules that the session has no copy of. */
static void add_kernel(struct plan *p, const struct gather_image *image)
{
	const char *samples = p->gather->sessions[image->session].samples;
	_cleanup_free_ char *saved = xasprintf("%s/kallsyms%s", samples, image->suffix);
	_cleanup_free_ char *packed = xasprintf("%s" KALLSYMS_PACKED, saved);
	_cleanup_free_ char *from = path_under(p->config->root, "/proc/kallsyms");
	struct archive_file *file;

	if (!strcmp(image->display, "no-vmlinux") || access(saved, F_OK) == 0 ||
	    access(packed, F_OK) == 0)
		return;
	if (p->config->root && *p->config->root) {
		if (access(from, F_OK) < 0) {
			leave_out(p, image, "the session has no copy of the kernel's symbols");
			return;
		}
		file = plan_add(p, from, "/proc/kallsyms");
		if (file) {
			file->kind = ARCHIVE_KALLSYMS;
			file->session = GATHER_NONE;
		}
		return;
	}
	if (can_be_running(p, image))
		p->out->live_kernel = true;
	else
		leave_out(p, image,
			  "the kernel that was profiled no longer runs, and the session has no "
			  "copy of its symbols");
}

static void add_image(struct plan *p, uint32_t index, const struct sfile_header *header)
{
	const struct gather_image *image = &p->gather->images[index];

	/* The functions of a source file are in the session, which is copied as a whole. */
	if (p->done[index] || source_image_is(image->manifest))
		return;
	p->done[index] = true;
	switch (image->id.kind) {
	case SNAME_ROOT:
		if (strcmp(image->display, "/proc/kallsyms")) {
			add_image_file(p, index, header);
			break;
		}
		add_kernel(p, image);
		add_code(p, index, header);
		break;
	case SNAME_KERN:
		add_kernel(p, image);
		add_code(p, index, header);
		break;
	case SNAME_ANON:
	case SNAME_KIND_COUNT_:
		break;
	}
}

/* Adds the image of a file's samples, with the image's time from the header. */
static void add_image_of(struct plan *p, const struct gather_file *f)
{
	struct sfile_header header;
	struct error err = ERROR_INIT;

	if (p->done[f->image])
		return;
	if (file_counts_read_header(f, &header, &err) < 0)
		log_warn("%s; its image is skipped", err.text);
	else
		add_image(p, f->image, &header);
}

/* Adds a file whose counts are in chains, or in the history. */
static void add_made(struct plan *p, const struct gather_file *f)
{
	_cleanup_free_ char *path = NULL, *batch = NULL;
	const char *below;
	struct error err = ERROR_INIT;

	if (file_counts_write(p->gather, f, p->config->made, &path, &err) < 0) {
		log_warn("%s; the archive is incomplete", err.text);
		return;
	}
	below = path + strlen(p->config->made) + 1 + strlen(p->session->name) + 1;
	if (f->past && p->session->idle) /* a file of that name may have come back */
		below = batch = xasprintf(SESSION_IDLE "/1.files/%s", below);
	plan_add_of_session(p, path, below);
}

/* Adds sample files first: only a callee's own file describes its image. */
static void add_sample_files(struct plan *p)
{
	const struct gather *g = p->gather;
	const struct sfile_header unknown = { 0 };
	bool has_chains = p->config->compact && p->config->chained; /* instead of arcs */
	size_t i;

	for (i = 0; i < g->file_count; i++) {
		const struct gather_file *f = &g->files[i];

		if (p->config->exclude_dependent && f->app != f->image)
			continue;
		p->session = &g->sessions[f->session];
		if (f->path)
			plan_add_of_session(p, f->path, below_session(p, f->path));
		else if (p->config->made && !p->config->is_list && !f->end &&
			 !(f->arcs && has_chains))
			add_made(p, f);
		add_jit(p, f);
		add_image_of(p, f);
	}
	for (i = 0; i < g->file_count; i++) {
		const struct gather_file *f = &g->files[i];

		if (f->callee != GATHER_NONE &&
		    !(p->config->exclude_dependent && f->app != f->image))
			add_image(p, f->callee, &unknown);
	}
}

/* Adds images without samples that contain callers of sampled code. */
static void add_chain_images(struct plan *p)
{
	const struct sfile_header unknown = { 0 };
	uint32_t i;

	for (i = 0; i < p->gather->image_count; i++)
		if (p->chained[i])
			add_image(p, i, &unknown);
}

void archive_plan(const struct gather *g, struct binaries *bs, const struct archive_config *config,
		  struct archive *ret)
{
	_cleanup_free_ bool *done = xcalloc(g->image_count, sizeof(*done));
	_cleanup_free_ bool *chained = xcalloc(g->image_count, sizeof(*chained));
	struct plan p = { .gather = g,
			  .binaries = bs,
			  .config = config,
			  .out = ret,
			  .done = done,
			  .chained = chained };

	*ret = (struct archive){ .gather = g, .exclude_dependent = config->exclude_dependent };
	plan_add_sessions(&p);
	add_sample_files(&p);
	if (config->chained)
		memcpy(chained, config->chained, g->image_count * sizeof(*chained));
	add_chain_images(&p);
}

void archive_done(struct archive *a)
{
	free(a->files);
	map_done(&a->by_target);
	arena_done(&a->arena);
}
