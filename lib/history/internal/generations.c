/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/internal/generations.h"

#include "base/dirtree.h"
#include "base/macro.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/path.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char kernel_mark[] = "kernel", user_mark[] = "user";

char *generation_names_path(const char *dir, uint32_t number)
{
	return xasprintf("%s/%" PRIu32 ".names", dir, number);
}

char *generation_slices_path(const char *dir, uint32_t number)
{
	return xasprintf("%s/%" PRIu32 ".slices", dir, number);
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int open_directory(const char *path)
{
	return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* The number in the name of a file of slices; 0 if it is another file. */
static uint32_t number_of(const char *name)
{
	const char *at = name;
	uint64_t number;

	if (parse_dec(&at, &number) < 0 || number >= UINT32_MAX || strcmp(at, ".slices"))
		return 0;
	return (uint32_t)number;
}

uint32_t *generations_list(const char *dir, size_t *ret_count)
{
	_cleanup_close_ int fd = open_directory(dir);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	uint32_t *list = NULL;
	size_t count = 0, room = 0;
	struct dirent *entry;

	while (d && (entry = readdir(d))) {
		uint32_t number = number_of(entry->d_name);

		if (!number)
			continue;
		array_grow(&list, count + 1, &room);
		list[count++] = number;
	}
	if (d) {
		(void)closedir(d);
		fd = -1;
	}
	if (count)
		qsort(list, count, sizeof(*list), compare);
	*ret_count = count;
	return list;
}

uint32_t generations_next(const char *dir)
{
	size_t count;
	_cleanup_free_ uint32_t *list = generations_list(dir, &count);

	return count ? list[count - 1] + 1 : 1;
}

void generations_expire(const char *dir, int64_t since_s)
{
	_cleanup_close_ int fd = open_directory(dir);
	size_t count, i;
	_cleanup_free_ uint32_t *list = generations_list(dir, &count);

	for (i = 0; i < count; i++) {
		_cleanup_free_ char *slices = generation_slices_path(dir, list[i]);
		_cleanup_free_ char *names = generation_names_path(dir, list[i]);
		struct stat st;

		/* The slices first: without them the generation does not exist. */
		if (lstat(slices, &st) < 0 || st.st_mtim.tv_sec >= since_s)
			continue;
		(void)dirtree_remove(fd, path_base(slices), NULL);
		(void)dirtree_remove(fd, path_base(names), NULL);
	}
}

void generation_add_name(struct strbuf *out, const struct history_name *name, const char *path)
{
	const struct sfile_header *h = &name->header;

	strbuf_addf(out, "%s\t%" PRIu64 "\t%" PRIu32 "\t%" PRIu32 "\t%.0f\t",
		    h->is_kernel ? kernel_mark : user_mark, h->mtime, h->cpu_type, h->event,
		    h->cpu_mhz);
	text_add_field(out, path);
	strbuf_adds(out, "\n");
}

/* Parses the columns before the path; moves *@line past them. */
static int parse_header(char **line, struct sfile_header *ret)
{
	char *kind = strsep(line, "\t"), *column[4];
	static const uint64_t most[] = { UINT64_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX };
	uint64_t value[ARRAY_SIZE(column)];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(column); i++) {
		column[i] = strsep(line, "\t");
		if (!column[i] || parse_u64(column[i], 0, most[i], &value[i]) < 0)
			return -EBADMSG;
	}
	*ret = (struct sfile_header){ .version = SAMPLE_HEADER_VERSION,
				      .is_kernel = !strcmp(kind, kernel_mark),
				      .mtime = value[0],
				      .cpu_type = (uint32_t)value[1],
				      .event = (uint32_t)value[2],
				      .cpu_mhz = (double)value[3] };
	return ret->is_kernel || !strcmp(kind, user_mark) ? 0 : -EBADMSG;
}

int generation_parse_name(char *line, struct history_name *ret, char **ret_path)
{
	struct error err = ERROR_INIT;

	if (parse_header(&line, &ret->header) < 0 || !line || strchr(line, '\t') ||
	    text_unescape_field(line) < 0 || sname_parse(line, &ret->name, &err) < 0)
		return -EBADMSG;
	ret->header.count = (uint32_t)ret->name.count;
	ret->header.unit_mask = (uint32_t)ret->name.unit_mask;
	ret->header.anon_start = ret->name.image.start;
	*ret_path = line;
	return 0;
}
