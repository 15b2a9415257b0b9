/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "perf/cpulist.h"

#include "base/mem.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "file/path.h"

#include <errno.h>
#include <string.h>

enum { CPU_MAX = 1 << 16 };

struct list {
	unsigned int *cpus;
	size_t count, room;
};

/* Adds "5" or "0-3". */
static int add_range(const char *part, void *data)
{
	struct list *list = data;
	uint64_t first, last;

	if (parse_dec(&part, &first) < 0)
		return -EINVAL;
	last = first;
	if (*part == '-' && (part++, parse_dec(&part, &last) < 0))
		return -EINVAL;
	if (*part || last < first || last >= CPU_MAX ||
	    (list->count && first <= list->cpus[list->count - 1]))
		return -EINVAL;
	array_grow(&list->cpus, list->count + (size_t)(last - first) + 1, &list->room);
	for (; first <= last; first++)
		list->cpus[list->count++] = (unsigned int)first;
	return 0;
}

int cpulist_parse(const char *text, unsigned int **ret)
{
	_cleanup_free_ char *line = xstrndup(text, strcspn(text, "\n"));
	struct list list = { 0 };

	if (parse_list(line, ',', add_range, &list) < 0 || !list.count) {
		free(list.cpus);
		return -EINVAL;
	}
	*ret = list.cpus;
	return (int)list.count;
}

static int read_list(const char *root, const char *path, unsigned int **ret)
{
	_cleanup_free_ char *text = NULL;
	ssize_t r = path_read(root, path, &text, NULL);

	return r < 0 ? (int)r : cpulist_parse(text, ret);
}

int cpulist_online(const char *root, unsigned int **ret)
{
	return read_list(root, "/sys/devices/system/cpu/online", ret);
}

bool cpulist_has(const unsigned int *cpus, int n, unsigned int cpu)
{
	int i = 0;

	while (i < n && cpus[i] != cpu)
		i++;
	return i < n;
}

char *cpulist_offline(const char *root)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	_cleanup_free_ unsigned int *online = NULL, *present = NULL;
	int i, n = cpulist_online(root, &online);
	int all = read_list(root, "/sys/devices/system/cpu/present", &present);

	for (i = 0; i < all && n > 0; i++)
		if (!cpulist_has(online, n, present[i]))
			strbuf_addf(&text, "%s%u", text.length ? "," : "", present[i]);
	return text.length ? xstrdup(strbuf_text(&text)) : NULL;
}

int cpulist_first(const char *root, unsigned int *ret, struct error *err)
{
	_cleanup_free_ unsigned int *cpus = NULL;
	int n = cpulist_online(root, &cpus);

	if (n < 0)
		return error_errno(err, n, "cannot read which CPUs are online");
	*ret = cpus[0];
	return 0;
}
