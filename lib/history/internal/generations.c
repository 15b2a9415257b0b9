/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/internal/generations.h"

#include "base/macro.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/text.h"
#include "file/holes.h"
#include "file/open_regular.h"
#include "history/history_kind.h"
#include "history/slice_file.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

static const char kernel_mark[] = "kernel", user_mark[] = "user";

/* Stands for the programs that were rarely sampled; no file has this name. */
static const char other_image[] = "/[other programs]";

char *generation_names_path(const char *dir, uint32_t number)
{
	return xasprintf("%s/%" PRIu32 ".names", dir, number);
}

char *generation_slices_path(const char *dir, uint32_t number)
{
	return xasprintf("%s/%" PRIu32 ".slices", dir, number);
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

int generation_parse_columns(char *columns, struct sfile_header *ret)
{
	char *kind = strsep(&columns, "\t"), *column[4];
	static const uint64_t most[] = { UINT64_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX };
	uint64_t value[ARRAY_SIZE(column)];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(column); i++) {
		column[i] = strsep(&columns, "\t");
		if (!column[i] || parse_u64(column[i], 0, most[i], &value[i]) < 0)
			return -EBADMSG;
	}
	*ret = (struct sfile_header){ .version = SAMPLE_HEADER_VERSION,
				      .is_kernel = !strcmp(kind, kernel_mark),
				      .mtime = value[0],
				      .cpu_type = (uint32_t)value[1],
				      .event = (uint32_t)value[2],
				      .cpu_mhz = (double)value[3] };
	return !columns && (ret->is_kernel || !strcmp(kind, user_mark)) ? 0 : -EBADMSG;
}

int generation_parse_name(char *line, struct history_name *ret, char **ret_path)
{
	struct error err = ERROR_INIT;
	char *tab = strrchr(line, '\t'), *path = tab ? tab + 1 : NULL;

	if (!tab)
		return -EBADMSG;
	*tab = '\0';
	if (generation_parse_columns(line, &ret->header) < 0 || text_unescape_field(path) < 0 ||
	    sname_parse(path, &ret->name, &err) < 0)
		return -EBADMSG;
	ret->header.count = (uint32_t)ret->name.count;
	ret->header.unit_mask = (uint32_t)ret->name.unit_mask;
	ret->header.anon_start = ret->name.image.start;
	*ret_path = path;
	return 0;
}

int generation_each_line(const char *path, generation_line *each, void *data)
{
	FILE *f = open_regular_stream(path);
	_cleanup_free_ char *line = NULL;
	size_t room = 0;
	ssize_t length;
	struct stat st;
	int r;

	if (!f)
		return -errno;
	r = fstat(fileno(f), &st) < 0 ? -errno : 0;
	if (r == 0 && !holes_prevail(fileno(f), (uint64_t)st.st_size))
		while ((length = xgetline(&line, &room, f)) > 0 && line[length - 1] == '\n') {
			line[length - 1] = '\0';
			each(strlen(line) == (size_t)length - 1 ? line : NULL, (size_t)length,
			     data);
		}
	if (ferror(f))
		r = -EIO;
	(void)fclose(f);
	return r;
}

/* --- counts --- */

/* Moves @n past the keys of a slice, to the counts; false if they are damaged. */
static bool skip_keys(struct slice_numbers *n)
{
	size_t total = 0, left;

	while (slice_get(n)) {
		left = slice_get(n);
		if (left > (size_t)(n->end - n->at))
			return false;
		for (total += left; left; left--)
			(void)slice_get(n);
	}
	return !n->damaged && total <= (size_t)(n->end - n->at);
}

bool generation_each_count(const struct generation_content *c, generation_count *each, void *data)
{
	struct slice_numbers keys = { c->bytes, c->bytes + c->size, false }, counts = keys;
	uint64_t line = 0, distance, left, key;

	if (!skip_keys(&counts))
		return false;
	while ((distance = slice_get(&keys))) {
		line += distance;
		if (distance > c->lines || line > c->lines)
			return false;
		for (left = slice_get(&keys), key = 0; left; left--) {
			uint64_t count = slice_get(&counts);

			key += slice_get(&keys);
			if (count)
				each((uint32_t)line, key, count, data);
		}
	}
	return !counts.damaged;
}

/* --- what is rare --- */

static bool is_other(const struct sname_image *image)
{
	return image->kind == SNAME_ROOT && !strcmp(image->name, other_image);
}

/* As generation_other(); @all: of all processes, threads, CPUs and cgroups. */
static char *other_line(const char *line, unsigned int rung, bool all, bool *ret_same)
{
	const struct sname_image other = { .kind = SNAME_ROOT, .name = other_image };
	_cleanup_free_ char *copy = xstrdup(line), *path = NULL;
	struct strbuf out = STRBUF_INIT;
	struct history_name parsed, name;
	char *as_parsed;

	if (generation_parse_name(copy, &parsed, &as_parsed) < 0)
		return NULL;
	if (is_other(&parsed.name.app) != (rung == 1) || is_other(&parsed.name.image)) {
		sname_done(&parsed.name);
		return NULL;
	}
	name = parsed;
	name.name.app = other;
	if (all)
		name.name.task = SNAME_TASK_ALL;
	/* The images of many programs stay what they are, at first: libraries and the kernel. */
	*ret_same = rung == 0 && parsed.name.image.kind != SNAME_ANON &&
		    !sname_image_equal(&parsed.name.image, &parsed.name.app);
	if (!*ret_same) {
		name.name.image = other;
		name.header = (struct sfile_header){ .version = SAMPLE_HEADER_VERSION,
						     .cpu_type = name.header.cpu_type,
						     .event = name.header.event,
						     .cpu_mhz = name.header.cpu_mhz };
	}
	path = sname_mangle(&name.name);
	generation_add_name(&out, &name, path);
	strbuf_cut(&out, out.length - 1);
	sname_done(&parsed.name);
	return strbuf_take(&out);
}

char *generation_other(const char *line, unsigned int rung, bool *ret_same)
{
	return other_line(line, rung, false, ret_same);
}

char *generation_other_task(const char *line, unsigned int rung, bool *ret_same)
{
	return other_line(line, rung, true, ret_same);
}

/* --- the kind --- */

static const void *image_of_line(const char *line, history_find_image *find, void *data)
{
	_cleanup_free_ char *copy = xstrdup(line);
	struct history_name name;
	const void *found;
	char *path;

	if (generation_parse_name(copy, &name, &path) < 0)
		return NULL;
	found = find(data, &name.name.image, name.header.is_kernel);
	sname_done(&name.name);
	return found;
}

const struct history_kind history_flat = {
	.directory = HISTORY_DIRECTORY,
	.mark = "flat.",
	.files = { { "", ".slices" }, { "", ".names" } },
	/* So that months take some 60 MB (bench/history), and top symbols stay right. */
	.parts = { 0, 1000000, 1000000, 200000 },
	.other = generation_other,
	.image = image_of_line,
	.to_segment = generation_to_segment,
};
