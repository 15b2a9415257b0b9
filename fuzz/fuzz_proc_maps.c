/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What /proc says of processes: the lines that lib/file/procfs.c parses,
 * lib/process/maps.c, cpulist_parse(). */
#include "fuzz.h"

#include "base/mem.h"
#include "file/procfs.h"
#include "identity/cookie.h"
#include "perf/cpulist.h"
#include "process/maps.h"

#include <string.h>

/* The list stays sorted and without overlaps whatever is put in. */
static void check_order(const struct maps *maps)
{
	const struct mapping *m, *before = NULL;
	size_t count = 0;

	for (m = maps_next(maps, 0); m; before = m, m = maps_next(maps, m->end), count++)
		if (m->start >= m->end || (before && before->end > m->start))
			abort();
	if (count != maps_count(maps))
		abort();
}

static void add_line(char *text, struct cookie_table *cookies, struct maps **maps)
{
	struct maps_line line;
	struct mapping mapping;

	if (maps_line_parse(text, &line) < 0)
		return;
	mapping_from(&(struct mapping_source){ .start = line.start,
					       .end = line.end,
					       .offset = line.offset,
					       .file.device =
						       (uint64_t)line.major << 32 | line.minor,
					       .file.inode = line.inode,
					       .path = line.path },
		     cookies, &mapping);
	maps_add(maps, &mapping);
	if (line.start < line.end &&
	    (!maps_find(*maps, line.start) || maps_find(*maps, line.end - 1)->start != line.start))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = xstrndup((const char *)data, size);
	struct cookie_table *cookies = cookie_table_new();
	_cleanup_free_ unsigned int *cpus = NULL;
	struct maps *maps = maps_new();
	struct procfs_stat st;
	struct mount_line mount;
	char *at, *next;

	(void)procfs_stat_parse(text, &st);
	(void)cpulist_parse(text, &cpus);
	for (at = text; at; at = next) {
		next = strchr(at, '\n');
		if (next)
			*next++ = '\0';
		add_line(at, cookies, &maps);
		(void)mount_line_parse(at, &mount);
	}
	check_order(maps);
	maps_unref(maps);
	cookie_table_free(cookies);
	return 0;
}
