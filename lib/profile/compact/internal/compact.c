/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compact archives: see archive.h. */
#include "base/log.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "elf/elffile.h"
#include "symbol/kallsyms.h"
#include "profile/archive/archive.h"
#include "profile/binary/binary.h"
#include "profile/compact/internal/compact_image.h"
#include "profile/select/gather.h"
#include "profile/compact/pack.h"
#include "profile/select/used_offsets.h"
#include "sfile/sfile.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

struct compact {
	const struct archive *archive;
	const struct gather *gather;
	struct binaries *binaries;
	struct pack_writer *to;
	struct used_offsets_places used;
};

/* Closes a file without symbols, which binary_find() leaves to its caller. */
static void close_found(struct binary *b)
{
	if (!b->symtab) {
		elffile_close(b->file);
		elffile_close(b->debug);
	}
	binary_close(b);
}

static int write_image(struct compact *c, const struct archive_file *f, struct error *err)
{
	_cleanup_(close_found) struct binary b = { 0 };
	_cleanup_free_ void *bytes = NULL;
	size_t size;
	int r;

	binary_open(c->binaries, f->image, f->header, &b);
	if (!b.file && !binary_find(c->binaries, f->image, f->header, &b)) {
		/* The file was replaced after the files were listed. */
		log_warn("%s: the file is no longer the one that was profiled; skipped", f->from);
		return 0;
	}
	r = compact_image(&b, &c->used.of[f->image], f->header->is_kernel, &bytes, &size, err);
	if (r == 0)
		r = pack_add(c->to, f->to + 1, bytes, size, elffile_mtime(b.file), err);
	return r;
}

/* Writes the code of a kernel or module from where archive_plan() found it. */
static int write_code(struct compact *c, const struct archive_file *f, struct error *err)
{
	_cleanup_(binary_close) struct binary b = { 0 };
	_cleanup_free_ void *bytes = NULL;
	size_t size;
	bool is_kernel;

	binary_open(c->binaries, f->image, f->header, &b);
	if (!b.file)
		return 0;
	is_kernel = elffile_header(b.file)->e_type != ET_REL;
	if (compact_image(&b, &c->used.of[f->image], is_kernel, &bytes, &size, err) < 0) {
		log_warn("%s; its code is left out", err->text);
		return 0;
	}
	return pack_add(c->to, f->to + 1, bytes, size, elffile_mtime(b.file), err);
}

/* --- kernel symbols --- */

/* Returns whether @image is the one called @name of the kernel with the symbols @f. */
static bool is_of_kernel(const struct archive_file *f, const struct gather_image *image,
			 const char *name)
{
	const char *suffix = strrchr(f->to, '/') + 1 + strlen("kallsyms");
	bool is_kernel = image->kernel;

	if (!is_kernel && image->id.kind != SNAME_KERN)
		return false;
	if (f->session != GATHER_NONE &&
	    (image->session != f->session || strcmp(image->suffix, suffix)))
		return false;
	return !strcmp(is_kernel ? "" : image->display, name);
}

/* The used offsets of the kernel or module; NULL if it has no samples. Two images of one name
 * belong to two kernels. */
static const struct used_offsets *used_of_kernel(const struct compact *c,
						 const struct archive_file *f, const char *name)
{
	uint32_t i;

	for (i = 0; i < c->used.count; i++)
		if (is_of_kernel(f, &c->gather->images[i], name) && c->used.of[i].count)
			return &c->used.of[i];
	return NULL;
}

/* Index of the first symbol after the @i-th that has another address. */
static size_t next_address(const struct kallsyms_image *image, size_t i)
{
	uint64_t address = image->symbols[i].address;

	while (i < image->count && image->symbols[i].address == address)
		i++;
	return i;
}

/* Adds the used symbols. Symbols have no size: each ends where the next begins, so that is written,
 * too. */
static void add_symbols(const struct kallsyms_image *image, const struct used_offsets *used,
			struct strbuf *out)
{
	size_t i, next, at = 0;
	bool is_end = false;

	for (i = 0; i < image->count; i = next) {
		const struct kallsyms_symbol *sym = &image->symbols[i];
		bool is_used;

		next = next_address(image, i);
		while (at < used->count && image->start + used->offsets[at] < sym->address)
			at++;
		is_used = at < used->count &&
			  (next == image->count ||
			   image->start + used->offsets[at] < image->symbols[next].address);
		if (is_used || is_end)
			strbuf_addf(out, "%016" PRIx64 " T %s\n", sym->address, sym->name);
		is_end = is_used;
	}
}

static void add_heading(const struct kallsyms_image *image, struct strbuf *out)
{
	if (*image->name && !image->start)
		strbuf_addf(out, "# absolute %s\n", image->name);
	else if (*image->name)
		strbuf_addf(out, "# module %s %" PRIx64 " %" PRIx64 "\n", image->name, image->start,
			    image->end);
	else
		strbuf_addf(out, "# text %" PRIx64 " %" PRIx64 "\n", image->start, image->end);
}

static int put_kernel(struct compact *c, const struct archive_file *f, const struct kallsyms *k,
		      struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;
	struct stat st = { 0 };
	size_t i;

	for (i = 0; i < kallsyms_image_count(k); i++) {
		const struct kallsyms_image *image = kallsyms_image_at(k, i);
		const struct used_offsets *used = used_of_kernel(c, f, image->name);

		if (!used)
			continue;
		add_heading(image, &out);
		add_symbols(image, used, &out);
	}
	if (f->from)
		(void)stat(f->from, &st); /* without it the time is 0 */
	if (!out.length)
		return 0;
	return pack_add(c->to, f->to + 1, out.text, out.length, (uint64_t)st.st_mtime, err);
}

/* Returns @path without the ending of packed symbols, or NULL if it has another; caller frees. */
static char *unpacked_name(const char *path)
{
	size_t length = strlen(path), ending = strlen(KALLSYMS_PACKED);

	if (length < ending || strcmp(path + length - ending, KALLSYMS_PACKED) != 0)
		return NULL;
	return xstrndup(path, length - ending);
}

/* Writes the symbols of a session's kernel. It has them in a plain file, in a packed one or in
 * both, which are read together. */
static int write_kallsyms(struct compact *c, const struct archive_file *f, struct error *err)
{
	_cleanup_free_ char *from = unpacked_name(f->from), *to = unpacked_name(f->to);
	_cleanup_free_ char *packed = xasprintf("%s" KALLSYMS_PACKED, f->from);
	_cleanup_(kallsyms_freep) struct kallsyms *k = NULL;
	struct archive_file both = *f;

	if (from) {
		both.from = from;
		both.to = to;
	} else if (f->session != GATHER_NONE && access(packed, F_OK) == 0) {
		return 0;
	}
	if (kallsyms_load(both.from, &k, err) < 0) {
		log_warn("%s; skipped", err->text);
		return 0;
	}
	return put_kernel(c, &both, k, err);
}

/* Writes the running kernel's symbols. */
static int write_live_kernel(struct compact *c, struct error *err)
{
	const struct archive_file live = { .to = "/proc/kallsyms", .session = GATHER_NONE };
	_cleanup_(kallsyms_freep) struct kallsyms *k = NULL;

	if (kallsyms_load_live(NULL, &k, err) < 0) {
		log_warn("the kernel's symbols are left out: %s", err->text);
		return 0;
	}
	return put_kernel(c, &live, k, err);
}

static int write_file(struct compact *c, const struct archive_file *f, struct error *err)
{
	switch (f->kind) {
	case ARCHIVE_COPY:
		return pack_add_file(c->to, f->to + 1, f->from, f->flags, f->mtime, err);
	case ARCHIVE_IMAGE:
		return write_image(c, f, err);
	case ARCHIVE_CODE:
		return write_code(c, f, err);
	case ARCHIVE_KALLSYMS:
		return 0; /* kernel symbols follow the code, which refers to more of them */
	}
	return 0;
}

int archive_write_compact(const struct archive *a, struct gather *g, struct binaries *bs,
			  const char *path, struct error *err)
{
	_cleanup_(pack_writer_freep) struct pack_writer *to = NULL;
	struct compact c = { .archive = a, .gather = g, .binaries = bs };
	int r = pack_create(path, &to, err);
	size_t i;

	c.to = to;
	if (r == 0)
		used_offsets_collect(g, a->exclude_dependent, &c.used);
	for (i = 0; r == 0 && i < a->count; i++)
		r = write_file(&c, &a->files[i], err);
	for (i = 0; r == 0 && i < a->count; i++)
		if (a->files[i].kind == ARCHIVE_KALLSYMS)
			r = write_kallsyms(&c, &a->files[i], err);
	if (r == 0 && a->live_kernel)
		r = write_live_kernel(&c, err);
	used_offsets_done(&c.used);
	if (r == 0)
		r = gather_check_there(g, err);
	return r == 0 ? pack_finish(to, err) : r;
}
