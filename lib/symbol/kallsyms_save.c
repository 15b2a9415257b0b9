/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/kallsyms.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "file/open_regular.h"
#include "file/path.h"
#include "symbol/internal/kallsyms_lines.h"
#include "symbol/internal/kallsyms_pack.h"
#include "symbol/internal/kallsyms_table.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

/* What is added to addresses in the range when they are saved. */
static uint64_t moved_by(const struct kallsyms_range *range)
{
	if (range->symbol)
		return 0;
	return (*range->name ? KALLSYMS_MODULE_START : KALLSYMS_TEXT_START) - range->start;
}

/* Adds the heading of an image. */
static void add_heading(const struct kallsyms_range *range, struct strbuf *to)
{
	uint64_t by = moved_by(range);

	if (range->symbol)
		strbuf_addf(to, "# absolute %s\n", range->name);
	else if (*range->name)
		strbuf_addf(to, "# module %s %" PRIx64 " %" PRIx64 "\n", range->name,
			    range->start + by, range->end + by);
	else
		strbuf_addf(to, "# text %" PRIx64 " %" PRIx64 "\n", range->start + by,
			    range->end + by);
}

static void add_symbol(const struct kallsyms_line *line, uint64_t address, struct strbuf *to)
{
	const char type[] = { ' ', line->type, ' ' };

	strbuf_addx(to, address, 16);
	strbuf_add(to, type, sizeof(type));
	strbuf_adds(to, line->name);
	strbuf_add(to, "\n", 1);
}

/* The lines of images, to be saved. */
struct saving {
	const struct kallsyms_ranges *r;
	struct strbuf *lines; /* of each range; empty: not to be saved */
};

static void save_symbol(const struct kallsyms_line *line, void *data)
{
	const struct saving *s = data;
	const struct kallsyms_range *range = kallsyms_ranges_find(s->r, line->address);
	struct strbuf *lines = range ? &s->lines[range - s->r->ranges] : NULL;

	if (lines && lines->length && !strcmp(range->name, line->module))
		add_symbol(line, line->address + moved_by(range), lines);
}

/* Takes over the images that @old has already; it may be NULL. */
static void keep_old(struct kallsyms_pack *to, struct kallsyms_pack *old)
{
	size_t i;

	for (i = 0; old && i < old->count; i++) {
		array_grow(&to->images, to->count + 1, &to->room);
		to->images[to->count] = old->images[i];
		to->images[to->count++].name = xstrdup(old->images[i].name);
	}
}

static void add_new(struct kallsyms_pack *to, const struct kallsyms_range *range,
		    struct strbuf *lines)
{
	uint64_t by = moved_by(range);
	size_t size = lines->length;

	array_grow(&to->images, to->count + 1, &to->room);
	to->images[to->count++] = (struct kallsyms_packed){ .name = xstrdup(range->name),
							    .start = range->start + by,
							    .end = range->end + by,
							    .text = strbuf_take(lines),
							    .text_size = size };
}

static int by_name(const void *a, const void *b)
{
	const struct kallsyms_packed *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* Rewrites the file @path with its images and those of @saving. */
static int save_images(const char *path, struct saving *saving, struct error *err)
{
	_cleanup_(kallsyms_pack_freep) struct kallsyms_pack *to = xcalloc(1, sizeof(*to)),
							    *old = NULL;
	size_t i;

	(void)kallsyms_pack_open(path, &old, NULL); /* mostly there is none yet */
	keep_old(to, old);
	for (i = 0; i < saving->r->count; i++)
		if (saving->lines[i].length)
			add_new(to, &saving->r->ranges[i], &saving->lines[i]);
	if (to->count)
		qsort(to->images, to->count, sizeof(*to->images), by_name);
	return kallsyms_pack_write(to, path, err);
}

/* Begins the file of other code. */
static int begin_plain(const char *path, const char *boot, struct error *err)
{
	_cleanup_free_ char *text = xasprintf("# boot %s\n", boot);

	return access(path, F_OK) == 0 ? 0 : path_write(path, text, 0644, err);
}

int kallsyms_save(const char *root, const struct kallsyms_ranges *r, const char *boot,
		  const char *path, struct error *err)
{
	_cleanup_(kallsyms_freep) struct kallsyms *old = NULL;
	_cleanup_free_ char *packed = xasprintf("%s" KALLSYMS_PACKED, path);
	struct saving saving = { .r = r };
	bool is_all = true;
	size_t i;
	int status = 0;

	(void)kallsyms_load(path, &old, NULL);
	saving.lines = xcalloc(r->count + 1, sizeof(*saving.lines));
	for (i = 0; i < r->count; i++) {
		const struct kallsyms_range *range = &r->ranges[i];

		if (range->symbol || (old && kallsyms_has(old, range->name)))
			continue;
		add_heading(range, &saving.lines[i]);
		is_all = false;
	}
	if (!is_all)
		status = kallsyms_each_text(root, save_symbol, &saving, err);
	if (!is_all && status == 0)
		status = save_images(packed, &saving, err);
	if (status == 0)
		status = begin_plain(path, boot, err);
	for (i = 0; i < r->count; i++)
		strbuf_done(&saving.lines[i]);
	free(saving.lines);
	return status;
}

/* Appends @line to @path, all of it or nothing, without a wait for the disk. 0 or -errno. */
static int append_line(const char *path, const char *line, struct error *err)
{
	_cleanup_close_ int fd = open_regular_or_create(path, O_RDWR | O_APPEND, 0644);
	_cleanup_free_ char *text = NULL;
	struct stat st;
	char last = '\n';
	ssize_t n;

	if (fd < 0)
		return error_set(err, fd, "%s: %s", path, open_regular_why(fd));
	if (fstat(fd, &st) < 0 || (st.st_size && pread(fd, &last, 1, st.st_size - 1) != 1))
		return error_errno(err, errno ? -errno : -EIO, "%s", path);
	/* The last line may be incomplete, if this machine has crashed. */
	text = xasprintf("%s%s", last == '\n' ? "" : "\n", line);
	n = write(fd, text, strlen(text));
	if (n == (ssize_t)strlen(text))
		return 0;
	n = n < 0 ? -errno : -ENOSPC;
	(void)!ftruncate(fd, st.st_size);
	return error_errno(err, (int)n, "cannot write %s", path);
}

/* Finds the slot of @range in @image, or the first one after all that are taken. Returns whether it
 * has one. */
static bool find_slot(const struct kallsyms_image *image, const struct kallsyms_range *range,
		      uint64_t *ret)
{
	size_t i;

	*ret = KALLSYMS_SLOT;
	for (i = 0; image && i < image->count; i++) {
		const struct kallsyms_symbol *symbol = &image->symbols[i];

		/* Earlier versions stored addresses; those of the kernel are negative. */
		if (symbol->address > INT64_MAX)
			break;
		if (!strcmp(symbol->name, range->symbol)) {
			*ret = symbol->address;
			return true;
		}
		*ret = (symbol->address | (KALLSYMS_SLOT - 1)) + 1;
	}
	return false;
}

int kallsyms_enter(const char *path, const char *boot, const struct kallsyms_range *range,
		   uint64_t *ret_key, struct error *err)
{
	_cleanup_(kallsyms_freep) struct kallsyms *old = NULL;
	_cleanup_free_ char *line = NULL, *remark = NULL;
	uint64_t key;
	bool goes_on;
	int r;

	(void)kallsyms_load_plain(path, &old, NULL);
	if (find_slot(old ? kallsyms_image(old, range->name) : NULL, range, &key)) {
		*ret_key = key;
		return 0;
	}
	goes_on = old && kallsyms_is_of_boot(old, range->name, boot);
	if (!goes_on) {
		/* The last lines of the boot before may be lost, but not what refers to them. */
		key += KALLSYMS_UNSYNCED_MAX * KALLSYMS_SLOT;
		remark = xasprintf("# boot %s %s\n", boot, range->name);
	}
	line = xasprintf("%s# absolute %s\n%016" PRIx64 " t %s\n", remark ?: "", range->name, key,
			 range->symbol);
	r = append_line(path, line, err);
	if (r == 0)
		*ret_key = key;
	return r;
}

int kallsyms_check(const char *path, size_t *ret_damaged, struct error *err)
{
	_cleanup_free_ char *packed = xasprintf("%s" KALLSYMS_PACKED, path);
	_cleanup_(kallsyms_pack_freep) struct kallsyms_pack *p = NULL;
	size_t i, damaged = 0;
	int r = kallsyms_pack_open(packed, &p, err);

	for (i = 0; r == 0 && i < p->count; i++) {
		_cleanup_free_ char *text = kallsyms_pack_text(&p->images[i]);

		damaged += !text;
	}
	if (r == 0 && !p->count)
		return error_set(err, -EBADMSG, "%s: empty", packed);
	if (r == 0)
		*ret_damaged = damaged;
	return r;
}

int kallsyms_sync(const char *path)
{
	_cleanup_close_ int fd = open_regular(path, O_RDONLY);

	if (fd < 0)
		return fd;
	return fdatasync(fd) < 0 ? -errno : 0;
}

/* --- the running kernel --- */

/* A plain copy being made. */
struct copying {
	const struct kallsyms_ranges *r;
	const struct kallsyms_range *range; /* whose heading was added last */
	struct strbuf *to;
};

static void copy_symbol(const struct kallsyms_line *line, void *data)
{
	struct copying *c = data;
	const struct kallsyms_range *range = kallsyms_ranges_find(c->r, line->address);

	if (!range || strcmp(range->name, line->module) != 0)
		return;
	if (range != c->range)
		add_heading(range, c->to);
	c->range = range;
	add_symbol(line, line->address + moved_by(range), c->to);
}

int kallsyms_copy_live(const char *root, struct strbuf *to, struct error *err)
{
	struct kallsyms_ranges ranges = { 0 };
	struct copying c = { .r = &ranges, .to = to };
	int r = kallsyms_ranges_read(root, &ranges, err);

	if (r < 0)
		return r;
	if (ranges.hidden)
		r = error_set(err, -EACCES,
			      "kernel addresses are hidden: run as root, after 'sysctl "
			      "kernel.kptr_restrict=1' if it is 2, or 'sysctl "
			      "kernel.kptr_restrict=0 kernel.perf_event_paranoid=1'");
	else
		r = kallsyms_each_text(root, copy_symbol, &c, err);
	kallsyms_ranges_done(&ranges);
	return r;
}

int kallsyms_load_live(const char *root, struct kallsyms **ret, struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	int r = kallsyms_copy_live(root, &text, err);

	return r < 0 ? r : kallsyms_take_text(&text, "/proc/kallsyms", ret, err);
}
