/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/operf/target_files.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "file/open_regular.h"
#include "file/path.h"
#include "file/procfs.h"
#include "elf/elffile.h"
#include "identity/opener.h"
#include "sfile/manifest.h"

#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

enum {
	LOADER_MS = 30000,  /* longer than finding libraries takes on any disk */
	SCRIPT_BYTES = 256, /* of the first line, as the kernel reads it */
	SCRIPTS_MAX = 5,    /* each run by the next one, as the kernel allows */
	LOOK_MS = 2000,	    /* for all files of processes; the opener adds its own limit once */
	PAST_MS = 80,	    /* for those that were sampled before */
};

struct reader {
	void (*each)(int fd, void *data);
	void *data;
	const struct target *target;
	struct opener *opener;
	uint32_t pid;	   /* process whose mapped files are passed on */
	uint64_t until_ns; /* no file of a process is looked at any more */
};

static void take(const struct reader *to, const char *path)
{
	_cleanup_close_ int fd = open_regular(path, O_RDONLY);

	if (fd >= 0)
		to->each(fd, to->data);
}

/* --- commands --- */

/* The dynamic loader (PT_INTERP) of the program at @path, NULL if it has none; caller frees. */
static char *interpreter_of(const char *path)
{
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	size_t i, size = 0, count = 0;
	const char *bytes;
	GElf_Phdr ph;

	if (elffile_open(path, &ef, NULL) < 0 || elf_getphdrnum(elffile_elf(ef), &count) < 0)
		return NULL;
	bytes = elf_rawfile(elffile_elf(ef), &size);
	for (i = 0; bytes && i < count; i++)
		if (gelf_getphdr(elffile_elf(ef), (int)i, &ph) && ph.p_type == PT_INTERP &&
		    ph.p_offset < size && ph.p_filesz <= size - ph.p_offset)
			return xstrndup(bytes + ph.p_offset, ph.p_filesz);
	return NULL;
}

/* Whether it is a dynamic loader that can list what it would map without running it. */
static bool can_list(const char *loader)
{
	const char *name = path_base(loader);

	return !strncmp(name, "ld-linux", 8) || !strncmp(name, "ld-musl", 7);
}

/* Starts the loader; returns a pipe with its list, or -1. */
static int start_loader(const struct target *target, char *loader, const char *path, pid_t *ret_pid)
{
	char *argv[] = { loader, (char[]){ "--list" }, (char *)path, NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	int ends[2], r;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	(void)posix_spawn_file_actions_init(&files);
	(void)posix_spawnattr_init(&how);
	(void)posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	(void)posix_spawn_file_actions_adddup2(&files, ends[1], 1);
	(void)posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
	(void)posix_spawnattr_setsigmask(&how, &target->mask);
	(void)posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK);
	r = posix_spawn(ret_pid, loader, &files, &how, argv, environ);
	(void)posix_spawnattr_destroy(&how);
	(void)posix_spawn_file_actions_destroy(&files);
	(void)close(ends[1]);
	if (r == 0)
		return ends[0];
	(void)close(ends[0]);
	return -1;
}

/* Reads the pipe to its end; NULL if that takes too long. Caller frees. */
static char *read_list(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	char bytes[4096];
	ssize_t n = 1;

	while (n > 0 && poll(&p, 1, LOADER_MS) > 0 && (n = read(fd, bytes, sizeof(bytes))) > 0)
		strbuf_add(&text, bytes, (size_t)n);
	return n == 0 ? strbuf_take(&text) : NULL;
}

/* The path in a line of the list, "NAME => PATH (ADDRESS)" or "PATH (ADDRESS)"; NULL if there is
 * none. */
static const char *listed_path(char *line)
{
	char *path = strchr(line, '/'), *end = strrchr(line, '(');

	if (!path || !end || end <= path)
		return NULL;
	while (isspace((unsigned char)end[-1]))
		end--;
	*end = '\0';
	return path;
}

/* Passes on the libraries that the loader maps for the program at @path. */
static void take_linked(const struct reader *to, char *loader, const char *path)
{
	_cleanup_close_ int fd = -1;
	_cleanup_free_ char *list = NULL;
	char *rest, *line;
	const char *linked;
	pid_t pid;

	if (!can_list(loader) || (fd = start_loader(to->target, loader, path, &pid)) < 0)
		return;
	list = read_list(fd);
	if (!list)
		(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	for (rest = list; rest && (line = strsep(&rest, "\n"));)
		if ((linked = listed_path(line)))
			take(to, linked);
}

/* The first line of the script at @path: its interpreter, and perhaps an argument. NULL if it is no
 * script. Caller frees. */
static char *script_line(const char *path)
{
	_cleanup_close_ int fd = open_regular(path, O_RDONLY);
	char line[SCRIPT_BYTES + 1] = "", *start = line + 2;
	ssize_t n = fd < 0 ? -1 : pread(fd, line, SCRIPT_BYTES, 0);

	if (n < 2 || strncmp(line, "#!", 2) != 0)
		return NULL;
	start += strspn(start, " \t");
	start[strcspn(start, "\n")] = '\0';
	return xstrdup(start);
}

static void take_program(const struct reader *to, const char *path)
{
	_cleanup_free_ char *loader = interpreter_of(path);

	take(to, path);
	if (loader)
		take_linked(to, loader, path);
}

/* The command that env(1) runs with these arguments: the first that is no option and sets no
 * variable. */
static const char *run_by_env(char *arguments)
{
	const char *word;

	while ((word = strsep(&arguments, " \t")))
		if (*word && *word != '-' && !strchr(word, '='))
			return word;
	return NULL;
}

/* Passes on the files of a program, or of what runs a script. */
static void take_command(const struct reader *to, const char *path, unsigned int scripts)
{
	_cleanup_free_ char *line = scripts ? script_line(path) : NULL, *found = NULL;
	char *arguments = line, *interpreter = strsep(&arguments, " \t");
	const char *name = NULL;

	if (!interpreter) {
		take_program(to, path);
		return;
	}
	take_command(to, interpreter, scripts - 1);
	if (!strcmp(path_base(interpreter), "env"))
		name = run_by_env(arguments);
	if (name && target_find_command(name, &found) == 0)
		take_command(to, found, scripts - 1);
}

/* --- processes --- */

/* Whether the file system of the file @image answers whoever opens it, and it is still that file.
 * After one that does not, no other is asked: the target waits for us, and its tables are also
 * loaded while it runs. */
static bool answers(struct reader *to, struct cookie_image *image,
		    const struct cookie_mapped *where)
{
	int r;

	if (clock_now_ns() >= to->until_ns)
		return false;
	r = opener_identify(to->opener, image, where);
	free(image->host);
	if (r < 0)
		to->until_ns = 0;
	return r == 0 && image->verified;
}

static bool mapped_answers(struct reader *to, const struct maps_line *line)
{
	struct cookie_image image = { .kind = COOKIE_FILE, .path = (char *)line->path };
	const struct cookie_mapped where = { "", to->pid, line->start, line->end };

	image.file.device = (uint64_t)line->major << 32 | line->minor;
	image.file.inode = line->inode;
	return !to->opener || answers(to, &image, &where);
}

static int take_mapping(const struct maps_line *line, void *data)
{
	struct reader *to = data;
	_cleanup_free_ char *path = NULL;

	if (!line->executable || !line->inode || !mapped_answers(to, line))
		return 0;
	path = xasprintf("/proc/%u/map_files/%" PRIx64 "-%" PRIx64, to->pid, line->start,
			 line->end);
	take(to, path);
	return 0;
}

static void take_process(struct reader *to, uint32_t pid)
{
	to->pid = pid;
	(void)procfs_maps("", pid, take_mapping, to);
}

/* Passes on the files of a process that runs or waits for a CPU. */
static void take_running(uint32_t pid, void *data)
{
	struct procfs_stat st;

	if (procfs_stat("", pid, &st) == 0 && st.state == 'R')
		take_process(data, pid);
}

void target_files(const struct target *target, struct opener *opener,
		  void (*each)(int fd, void *data), void *data)
{
	struct reader to = { .each = each,
			     .data = data,
			     .target = target,
			     .opener = opener,
			     .until_ns = clock_now_ns() + LOOK_MS * 1000000ULL };

	switch (target->kind) {
	case TARGET_COMMAND:
		take_command(&to, target->path, SCRIPTS_MAX);
		break;
	case TARGET_PROCESS:
		take_process(&to, (uint32_t)target->pid);
		for (size_t i = 0; i < target->other_count; i++)
			take_process(&to, (uint32_t)target->others[i]);
		break;
	case TARGET_SYSTEM:
		(void)procfs_pids("", take_running, &to);
		break;
	}
}

/* --- files of an earlier run --- */

static void take_sampled(const struct manifest_image *sampled, void *data)
{
	const char *path = sampled->host ?: sampled->path;
	struct cookie_image image = { .kind = COOKIE_FILE,
				      .path = (char *)path,
				      .file = sampled->file };
	struct reader *to = data;

	if (sampled->file.inode && *path && answers(to, &image, &(struct cookie_mapped){ "" }))
		take(to, path);
}

void target_files_sampled(const char *session_dir, struct opener *opener,
			  void (*each)(int fd, void *data), void *data)
{
	static const char *const profiles[] = { "samples/current", "samples/previous" };
	struct reader to = { .each = each,
			     .data = data,
			     .opener = opener,
			     .until_ns = clock_now_ns() + PAST_MS * 1000000ULL };
	size_t i;

	for (i = 0; opener && i < ARRAY_SIZE(profiles); i++) {
		_cleanup_free_ char *samples = path_join(session_dir, profiles[i]);
		_cleanup_(manifest_closep) struct manifest *m = NULL;

		if (manifest_open(samples, false, &m, NULL) == 0)
			manifest_each(m, take_sampled, &to);
	}
}
