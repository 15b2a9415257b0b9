/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/kallsyms.h"

#include "base/mem.h"
#include "file/open_regular.h"
#include "file/path.h"
#include "symbol/internal/kallsyms_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* Symbols being written to a saved file. */
struct saving {
	const struct kallsyms_ranges *r;
	const struct kallsyms *old;	    /* what the file has already; or NULL */
	const struct kallsyms_range *range; /* whose heading was written last */
	bool loose;			    /* also those outside kernel and modules */
	const char *boot;		    /* to be named in a new file; or NULL */
	FILE *out;
};

/* What is added to addresses in the range when they are saved. */
static uint64_t moved_by(const struct kallsyms_range *range)
{
	if (range->symbol)
		return 0;
	return (*range->name ? KALLSYMS_MODULE_START : KALLSYMS_TEXT_START) - range->start;
}

static void save_symbol(const struct kallsyms_line *line, void *data)
{
	struct saving *s = data;
	const struct kallsyms_range *range = kallsyms_ranges_find(s->r, line->address);
	uint64_t by = range ? moved_by(range) : 0;

	if (!range || strcmp(range->name, line->module) || (range->symbol && !s->loose) ||
	    (s->old && kallsyms_has(s->old, range->name)))
		return;
	if (range != s->range && range->symbol)
		(void)fprintf(s->out, "# absolute %s\n", range->name);
	else if (range != s->range && *range->name)
		(void)fprintf(s->out, "# module %s %" PRIx64 " %" PRIx64 "\n", range->name,
			      range->start + by, range->end + by);
	else if (range != s->range)
		(void)fprintf(s->out, "# text %" PRIx64 " %" PRIx64 "\n", range->start + by,
			      range->end + by);
	s->range = range;
	(void)fprintf(s->out, "%016" PRIx64 " %c %s\n", line->address + by, line->type, line->name);
}

/* Copies the content of @path, if it exists; 0 or -errno. */
static int copy_old(const char *path, FILE *out, struct error *err)
{
	_cleanup_fclose_ FILE *in = open_regular_stream(path);
	char bytes[4096], last = '\n';
	size_t n;

	if (!in)
		return errno == ENOENT
			       ? 0
			       : error_set(err, -errno, "%s: %s", path, open_regular_why(-errno));
	for (; (n = fread(bytes, 1, sizeof(bytes), in)) > 0; last = bytes[n - 1])
		(void)fwrite(bytes, 1, n, out);
	if (last != '\n') /* the last line is incomplete after a kill */
		(void)fputc('\n', out);
	return ferror(in) ? error_errno(err, -errno, "%s", path) : 0;
}

/* Rewrites @path with its content and the symbols that it lacks. 0, or -errno and it is
 * unchanged. */
static int add_symbols(const char *path, const char *root, struct saving *saving, struct error *err)
{
	_cleanup_free_ char *temporary = xasprintf("%s.%d.tmp", path, (int)getpid());
	int r, status, fd = open_regular_new(temporary, O_WRONLY, 0644);
	bool is_new;
	FILE *out;

	out = fd < 0 ? NULL : xfdopen(fd, "w");
	if (!out)
		return error_errno(err, fd < 0 ? fd : -errno, "cannot create %s", temporary);
	saving->out = out;
	r = copy_old(path, out, err);
	is_new = ftello(out) == 0;
	if (r == 0)
		r = kallsyms_each_text(root, save_symbol, saving, err);
	/* What is before the first heading would be taken for symbols. */
	if (is_new && saving->boot)
		(void)fprintf(out, "# boot %s\n", saving->boot);
	errno = 0;
	if (r == 0 && (fflush(out) != 0 || ferror(out)))
		r = error_errno(err, errno ? -errno : -EIO, "cannot write %s", temporary);
	status = path_publish(fd, temporary, path, r);
	if (status < 0 && r == 0)
		r = error_errno(err, status, "cannot write %s", path);
	(void)fclose(out);
	return r;
}

/* Whether @old has kernel and modules of @r. */
static bool all_saved(const struct kallsyms_ranges *r, const struct kallsyms *old)
{
	size_t i;

	for (i = 0; i < r->count; i++)
		if (!r->ranges[i].symbol && !kallsyms_has(old, r->ranges[i].name))
			return false;
	return true;
}

int kallsyms_save(const char *root, const struct kallsyms_ranges *r, const char *boot,
		  const char *path, struct error *err)
{
	_cleanup_(kallsyms_freep) struct kallsyms *old = NULL;
	struct saving saving = { .r = r, .boot = boot };

	(void)kallsyms_load(path, &old, NULL); /* mostly there is none yet */
	if (old && all_saved(r, old))
		return 0;
	saving.old = old;
	return add_symbols(path, root, &saving, err);
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

	(void)kallsyms_load(path, &old, NULL);
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

int kallsyms_sync(const char *path)
{
	_cleanup_close_ int fd = open_regular(path, O_RDONLY);

	if (fd < 0)
		return fd;
	return fdatasync(fd) < 0 ? -errno : 0;
}

/* A confined report may not write files anywhere. */
static FILE *memory_file(void)
{
	_cleanup_close_ int fd = memfd_create("kallsyms", MFD_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w+");

	if (f)
		fd = -1;
	return f;
}

int kallsyms_load_live(const char *root, struct kallsyms **ret, struct error *err)
{
	struct kallsyms_ranges ranges = { 0 };
	_cleanup_fclose_ FILE *f = NULL;
	struct saving s;
	int r = kallsyms_ranges_read(root, &ranges, err);

	if (r < 0)
		return r;
	f = memory_file();
	s = (struct saving){ .r = &ranges, .loose = true, .out = f };
	if (ranges.hidden)
		r = error_set(err, -EACCES,
			      "kernel addresses are hidden: run as root, after 'sysctl "
			      "kernel.kptr_restrict=1' if it is 2, or 'sysctl "
			      "kernel.kptr_restrict=0 kernel.perf_event_paranoid=1'");
	else if (!f)
		r = error_errno(err, -errno, "cannot create a file in memory");
	else
		r = kallsyms_each_text(root, save_symbol, &s, err);
	kallsyms_ranges_done(&ranges);
	if (r < 0)
		return r;
	rewind(f);
	return kallsyms_load_stream(f, "/proc/kallsyms", ret, err);
}
