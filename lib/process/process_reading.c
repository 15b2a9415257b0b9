/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "process/process_reading.h"

#include "base/clock.h"
#include "base/mem.h"
#include "file/procfs.h"
#include "stream/evbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* Mappings that are taken between two looks at the clock. */
enum { TAKEN_AT_ONCE = 512 };

/* What reading lines needs to know of those before. */
struct lines {
	struct process_reading *r;
	size_t seen; /* also of what is not executable */
	bool has_exe;
};

/* Takes back what the kernel does to a newline in a path, in place. */
static void unescape(char *path)
{
	char *at = path;

	while ((at = strstr(at, "\\012"))) {
		*at++ = '\n';
		memmove(at, at + 3, strlen(at + 3) + 1);
	}
}

/* Keeps @path, once for neighbours. */
static const char *keep_path(struct process_reading *r, const char *path)
{
	const char *last = r->count ? r->list[r->count - 1].path : NULL;
	_cleanup_free_ char *text = xstrdup(path);

	unescape(text);
	return last && !strcmp(last, text) ? last : arena_strdup(&r->paths, text);
}

static int read_line(const struct maps_line *line, void *data)
{
	struct lines *lines = data;
	struct process_reading *r = lines->r;
	const char *path;

	lines->seen++;
	if (!line->executable)
		return 0;
	if (r->count == PROCESS_READING_MAPPINGS || r->paths.bytes > PROCESS_READING_PATHS) {
		r->cut = true;
		return 1;
	}
	path = keep_path(r, line->path);
	array_grow(&r->list, r->count + 1, &r->room);
	r->list[r->count++] = (struct mapping_source){
		.start = line->start,
		.end = line->end,
		.offset = line->offset,
		.file = { (uint64_t)line->major << 32 | line->minor, line->inode },
		.path = path,
	};
	lines->has_exe = lines->has_exe || (line->inode && r->exe && !strcmp(path, r->exe));
	return 0;
}

/* The identity of a program none of whose mappings has its name: it was renamed, or runs under a
 * root of its own. What the kernel knows is enough: a file server is not asked. */
static struct file_identity identity_by_link(const char *root, uint32_t tid)
{
	_cleanup_free_ char *path = xasprintf("%s/proc/%u/exe", root ? root : "", tid);
	struct statx st;

	if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_INO, &st) < 0)
		return (struct file_identity){ 0 };
	return (struct file_identity){ .device =
					       (uint64_t)st.stx_dev_major << 32 | st.stx_dev_minor,
				       .inode = st.stx_ino };
}

/* A process without mappings: a thread of the kernel, or one that has exited. */
static int read_without_maps(struct process_reading *r, const char *root, uint32_t tid)
{
	struct procfs_stat st;
	int code = procfs_stat(root, tid, &st);

	if (code < 0)
		return code;
	r->kernel = st.kernel_thread;
	return st.kernel_thread ? 0 : -ESRCH;
}

struct process_reading *process_reading_new(const char *root, uint32_t tid)
{
	struct process_reading *r = xcalloc(1, sizeof(*r));
	struct lines lines = { .r = r };
	uint64_t begin_ns = clock_now_ns();

	r->exe = procfs_exe(root, tid);
	r->code = MIN(procfs_maps(root, tid, read_line, &lines), 0);
	(void)procfs_comm(root, tid, r->name);
	if (r->code == 0 && !lines.seen)
		r->code = read_without_maps(r, root, tid);
	else if (r->code == 0 && r->exe && !lines.has_exe)
		r->app = identity_by_link(root, tid);
	r->took_ns = clock_now_ns() - begin_ns;
	return r;
}

void process_reading_free(struct process_reading *r)
{
	if (!r)
		return;
	maps_unref(r->maps);
	free(r->list);
	free(r->exe);
	arena_done(&r->paths);
	free(r);
}

static void take_mapping(struct process_reading *r, const struct mapping_source *source,
			 struct cookie_table *cookies)
{
	struct mapping mapping;

	mapping_from(source, cookies, &mapping);
	maps_add(&r->maps, &mapping);
	if (mapping.cookie && !r->app_cookie && r->exe && !strcmp(source->path, r->exe))
		r->app_cookie = mapping.cookie;
}

/* Returns whether all mappings were taken before @until_ns. */
static bool take_mappings(struct process_reading *r, struct cookie_table *cookies,
			  uint64_t until_ns)
{
	while (r->next < r->count) {
		take_mapping(r, &r->list[r->next++], cookies);
		if (r->next % TAKEN_AT_ONCE == 0 && clock_now_ns() >= until_ns)
			break;
	}
	return r->next == r->count;
}

/* The cookie of what the process executes. */
static uint64_t app_of(const struct process_reading *r, struct cookie_table *cookies)
{
	if (r->app_cookie)
		return r->app_cookie;
	return r->app.inode ? cookie_file(cookies, &r->app, r->exe) : EVBUF_NO_COOKIE;
}

int process_reading_take(struct process_reading *r, struct process *p,
			 const struct process_target *to, uint64_t until_ns)
{
	if (r->code < 0)
		return r->code;
	if (!r->maps && !r->kernel)
		r->maps = maps_new();
	if (!take_mappings(r, to->cookies, until_ns))
		return -EAGAIN;
	if (!r->kernel) {
		p->exec = false;
		p->read_count = maps_count(r->maps);
	}
	p->kernel = r->kernel;
	p->app = r->kernel ? EVBUF_NO_COOKIE : app_of(r, to->cookies);
	process_rename(to->table, p, r->name);
	process_set_maps(to->table, p, STEAL(r->maps));
	return 0;
}
